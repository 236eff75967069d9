# SPDX-License-Identifier: Apache-2.0
"""Products of matrices, and parts of them."""

import numpy as np

from .recorder import normal, op, positive, raw


def numpy_products():
    raw("_np_dot", normal(2, 3), normal(3, 2))
    raw("_np_dot", normal(3), normal(3))
    raw("_np_dot", normal(2, 2, 3), normal(3))
    raw("_npi_matmul", normal(2, 2, 3), normal(3, 2))
    raw("_npi_matmul", normal(3), normal(3, 2))
    raw("_npi_tensordot", normal(2, 3, 2), normal(3, 2), a_axes_summed=(1, 0), b_axes_summed=(0, 1))
    raw("_npi_tensordot_int_axes", normal(2, 3), normal(3, 2), axes=1)
    raw("_npi_einsum", normal(2, 3), normal(3, 2), num_args=2, subscripts="ij,jk->ik")
    raw("_contrib_interleaved_matmul_selfatt_qk", normal(2, 2, 12), heads=2)
    raw("_contrib_interleaved_matmul_selfatt_valatt", normal(2, 2, 12), normal(4, 2, 2), heads=2)
    raw("_contrib_interleaved_matmul_encdec_qk", normal(2, 2, 4), normal(3, 2, 8), heads=2)
    raw("_contrib_interleaved_matmul_encdec_valatt", normal(3, 2, 8), normal(4, 2, 3), heads=2)
    raw("_contrib_div_sqrt_dim", normal(2, 5))


def matrices():
    for k in 0, 1, -1:
        raw("diag", normal(2, 3), k=k)
        raw("diag", normal(2), k=k)
        raw("_np_diag", normal(3, 3), k=k)
        raw("_np_diag", normal(2), k=k)
        raw("_linalg_extractdiag", normal(2, 3, 3), offset=k)
        raw("_linalg_makediag", normal(2, 2), offset=k)
    raw("diag", normal(2, 3, 2))
    raw("_np_diagonal", normal(2, 3, 2), offset=1, axis1=0, axis2=1)
    raw("_np_trace", normal(3, 3), offset=-1)
    raw("_np_diagflat", normal(2, 2), k=1)
    raw("_linalg_sumlogdiag", positive(2, 3, 3))
    raw("_linalg_syrk", normal(2, 3), alpha=0.5)
    raw("_linalg_syrk", normal(2, 3), transpose=True)
    raw("_linalg_trmm", normal(2, 2), normal(2, 3))
    raw("_linalg_trmm", normal(2, 2), normal(3, 2), rightside=True, lower=False, alpha=2)
    raw("_linalg_trmm", normal(2, 2), normal(2, 3), transpose=True)
    raw("_linalg_det", normal(2, 2, 2))
    raw("khatri_rao", normal(2, 3), normal(3, 3), num_args=2)


def triangles():
    for name in "_linalg_extracttrian", "_linalg_maketrian":
        for options in {}, {"offset": 1}, {"offset": -1}, {"lower": False}:
            raw(name, normal(2, 3, 3) if "extract" in name else normal(2, 3 if "offset" in options else 6), **options)


def factors():
    """Of matrices that are far from those that have none."""

    def definite(*shape):
        x = normal(*shape)
        return x @ np.swapaxes(x, -1, -2) + 2 * np.eye(shape[-2], dtype=x.dtype)

    def apart(rows, columns):
        return normal(2, rows, columns) * np.float32(0.25) + np.diag([1, -3, 6])[:rows, :columns].astype("float32")

    def symmetric():
        x = apart(3, 3)
        return (x + np.swapaxes(x, -1, -2)) / 2

    for lower in True, False:
        raw("_linalg_potrf", definite(2, 3, 3), lower=lower)
        raw("_npi_cholesky", definite(3, 3), lower=lower)
        factor = np.linalg.cholesky(definite(2, 3, 3))
        raw("_linalg_potri", factor if lower else np.swapaxes(factor, -1, -2).copy(), lower=lower)
        for transpose in False, True:
            raw("_linalg_trsm", apart(3, 3), normal(2, 3, 2), transpose=transpose, lower=lower)
            raw("_linalg_trsm", apart(3, 3), normal(2, 2, 3), transpose=transpose, lower=lower, rightside=True, alpha=2)
    def lower(x):
        """What is above the diagonal is not read."""
        return np.tril(x) + np.float32(7) * np.triu(np.ones_like(x), 1)

    raw("_linalg_potrf", lower(definite(2, 3, 3)))
    raw("_npi_cholesky", lower(definite(3, 3)))
    raw("_linalg_syevd", lower(symmetric()))
    raw("_npi_eigh", np.swapaxes(lower(symmetric()), -1, -2).copy(), UPLO="U")
    raw("_linalg_gelqf", apart(2, 3))
    raw("_linalg_gelqf", apart(3, 3))
    raw("_linalg_syevd", symmetric())
    raw("_linalg_inverse", apart(3, 3))
    raw("_linalg_inverse", apart(3, 3)[0])
    raw("_linalg_slogdet", apart(3, 3))
    raw("_linalg_slogdet", apart(3, 3)[0])
    raw("_npi_inv", apart(3, 3))
    raw("_npi_slogdet", apart(3, 3)[0])
    raw("_npi_solve", apart(3, 3), normal(2, 3, 2))
    raw("_npi_solve", apart(3, 3)[0], normal(3))
    raw("_npi_tensorinv", definite(6, 6).reshape(2, 3, 3, 2))
    raw("_npi_tensorinv", definite(6, 6).reshape(6, 3, 2), ind=1)
    raw("_npi_tensorsolve", definite(6, 6).reshape(2, 3, 3, 2), normal(2, 3))
    raw("_npi_tensorsolve", np.moveaxis(definite(6, 6).reshape(6, 3, 2), 2, 0).copy(), normal(6), a_axes=(0,))
    raw("_npi_eigvalsh", symmetric())
    for triangle in "L", "U":
        raw("_npi_eigh", symmetric(), UPLO=triangle)


def turned_products():
    """Of what is transposed the first or the last axis is the one that is summed over."""
    op("dot", normal(3, 2, 4), normal(3, 5), transpose_a=True)
    op("dot", normal(2, 3), normal(4, 5, 3), transpose_b=True)
    op("dot", normal(3, 2, 3), normal(2, 5, 3), transpose_a=True, transpose_b=True)
