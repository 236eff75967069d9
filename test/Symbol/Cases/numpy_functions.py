# SPDX-License-Identifier: Apache-2.0
"""NumPy's statistics, polynomials, differences and multiples."""

import numpy as np

from .recorder import distinct, normal, positive, raw, whole


def statistics():
    data, weights = normal(2, 3), positive(2, 3)
    raw("_npi_average", data, weights)
    raw("_npi_average", data, positive(3), axis=(-1,), returned=True)
    raw("_npi_average", normal(2, 3, 2), positive(2, 3, 2), axis=(0, 2), returned=True)
    raw("_npi_average", data, axis=(0,), returned=True, weighted=False)
    raw("_npi_average", data, weighted=False)
    raw("_npi_average", whole(3, low=1, high=9, dtype="int32"), axis=(0,), weighted=False)
    # As np.linalg.norm calls it.
    raw("_npi_norm", normal(2, 3, 2), ord=2, axis=None, flag=-2)
    raw("_npi_norm", normal(2, 3), ord=2, axis=None, flag=-2, keepdims=True)
    raw("_npi_norm", normal(2, 3, 2), ord=2, axis=(0, 2), flag=1)
    raw("_npi_norm", normal(4))
    for order in 0, 1, 2, 3, -1:
        raw("_npi_norm", normal(2, 3) * whole(2, 3, low=1 - (order == 0), high=2), ord=order, axis=(1,), flag=-1,
            keepdims=order == 3)

    many, percentages = distinct(2, 5, 3), np.array([0, 25, 60, 97.5, 100], "float32")
    for kind in "linear", "lower", "higher", "midpoint", "nearest":
        raw("_npi_percentile", many, percentages, axis=(1,), interpolation=kind)
        raw("_npi_percentile", many, axis=(0, -1), interpolation=kind, keepdims=True, q_scalar=30)
    raw("_npi_percentile", distinct(7), q_scalar=40)
    raw("_npi_percentile", many, percentages, axis=(0, 2), keepdims=True)
    raw("_npi_percentile", distinct(5), np.array(75, "float32"))
    raw("_npi_percentile", whole(6, high=20, dtype="int32"), percentages)
    raw("_npi_percentile", distinct(5).astype("float64"), q_scalar=33)

    data = np.array([0.5, 1, 2, 2.5, 3, 10, -1, 4], "float32")
    raw("_histogram", data, np.array([0, 1, 2, 3], "float32"))
    raw("_histogram", data.reshape(2, 4), np.array([-1, 0, 2.25], "float32"))
    raw("_histogram", data, bin_cnt=4, range=(0, 4))
    raw("_npi_histogram", data, bin_cnt=5, range=(-1, 10))
    raw("_npi_histogram", data, bin_cnt=3, range=(2, 2))
    raw("_npi_histogram", normal(12), bin_cnt=7, range=(-2.25, 2))
    raw("_npi_histogram", whole(20, high=9, dtype="int32"), bin_cnt=4, range=(0.5, 7.5))
    raw("_npi_histogram", whole(20, high=9, dtype="int32"), np.array([1, 2, 7], "int32"))
    raw("_npi_histogram", normal(9).astype("float64"), bin_cnt=3, range=(-2, 2))


def arithmetic():
    raw("_npi_polyval", np.array([2, -1, 3], "float32"), normal(2, 2))
    raw("_npi_polyval", normal(4), np.array(0.5, "float32"))
    raw("_npi_polyval", np.array([2, -1, 3], "int32"), whole(3, dtype="int32"))
    data = normal(2, 3)
    raw("_npi_ediff1d", data)
    raw("_npi_ediff1d", data, to_begin_scalar=9, to_end_scalar=-1)
    raw("_npi_ediff1d", data, normal(3), normal(1, 2), to_begin_arr_given=True, to_end_arr_given=True)
    raw("_npi_ediff1d", data, normal(3), to_end_arr_given=True, to_begin_scalar=3)
    raw("_npi_ediff1d", whole(4, high=9, dtype="int32"), to_begin_scalar=2.5)
    raw("_npi_ediff1d", normal(1), to_end_scalar=4)
    raw("_npi_lcm", whole(4, 1, high=20, dtype="int32"), whole(3, low=-20, high=20, dtype="int32"))
    # The longest way of Euclid: neighbours among Fibonacci's numbers.
    raw("_npi_lcm", np.array([0, 0, 46368, 28657], "int32"), np.array([0, 3, 28657, 46368], "int32"))
    raw("_npi_lcm", whole(4, high=12, dtype="int8"), whole(4, low=1, high=8, dtype="int8"))
    raw("_npi_lcm_scalar", whole(4, high=20, dtype="int32"), scalar=-6)
    raw("_npi_lcm_scalar", np.array([4, 0, 7], "uint8"), scalar=100)
    raw("_npi_diag_indices_from", normal(3, 3))
    raw("_npi_diag_indices_from", normal(2, 2, 2))


def corners():
    """Infinities, nothing, and the ends of types."""
    infinite = np.array([2, -np.inf, 0, 1, -1], "float32")
    for q in 0, 10, 50, 100:
        raw("_npi_percentile", infinite, q_scalar=q)
    raw("_npi_percentile", infinite, q_scalar=0, interpolation="midpoint")
    nothing = np.zeros((0, 3), "float32")
    raw("_npi_percentile", nothing, axis=(1,), q_scalar=50)
    raw("_npi_percentile", np.zeros((3, 0, 2), "float32"), np.array([0, 50], "float32"), axis=(0,), keepdims=True)
    raw("_npi_average", np.array([-1, -2, -4], "int32"), weighted=False)
    raw("_npi_average", positive(2, 3).astype("float16"), positive(3).astype("float16"), axis=(1,), returned=True)
    for order in -1, -2, -0.5:
        raw("_npi_norm", np.array([[0, 2, 2], [0, 0, 0], [1, -2, 4]], "float32"), ord=order, axis=(1,), flag=-1)
    raw("_npi_histogram", np.array([1, 2, 2.5, 3], "float32"), np.array([3, 2, 1], "float32"))
