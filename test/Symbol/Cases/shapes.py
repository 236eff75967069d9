# SPDX-License-Identifier: Apache-2.0
"""Shapes, parts and joins."""

import mxnet as mx
import numpy as np

from .recorder import case, normal, op, positive, raw, record, whole


def joins():
    op("Concat", normal(2, 2), normal(2, 3))
    op("Concat", normal(1, 2), normal(2, 2), normal(1, 2), dim=0)
    op("_rnn_param_concat", normal(3), normal(2), dim=0)
    op("stack", normal(2, 3), normal(2, 3), axis=1)
    op("add_n", normal(2, 3), normal(2, 3), normal(2, 3))
    op("SliceChannel", normal(2, 4), num_outputs=2)
    op("SliceChannel", normal(2, 3), num_outputs=3, axis=1, squeeze_axis=True)
    op("SliceChannel", normal(2, 3), num_outputs=1)


def shapes():
    data = normal(2, 3, 4)
    for shape in (6, 4), (0, -1), (-1, 0), (-2,), (-3, 4), (0, -3), (-4, 1, 2, -2), (0, 0, -4, -1, 2), (4, 0, 2):
        op("Reshape", data, shape=shape)
    for shape in (-1, 0), (0, -3), (6, 4), (-1, 4):
        op("Reshape", data, shape=shape, reverse=True)
    op("Flatten", data)
    op("transpose", data)
    op("transpose", data, axes=(1, 0, 2))
    op("SwapAxis", data, dim1=0, dim2=2)
    op("expand_dims", data, axis=1)
    op("expand_dims", data, axis=-1)
    op("squeeze", normal(1, 3, 1))
    op("squeeze", normal(1, 3, 1), axis=2)
    op("squeeze", normal(1, 1))
    op("broadcast_to", normal(1, 3, 1), shape=(2, 0, 4))
    op("broadcast_axis", normal(1, 3, 1), axis=(0, 2), size=(2, 2))
    op("broadcast_like", normal(1, 3), normal(2, 3))
    op("broadcast_like", normal(1, 3), normal(4, 2), lhs_axes=(0,), rhs_axes=(-1,))
    op("reshape_like", normal(6), normal(2, 3))
    op("reshape_like", normal(6, 2), normal(4, 2, 3), lhs_begin=0, lhs_end=1, rhs_begin=1, rhs_end=3)
    op("shape_array", data)
    op("size_array", data)


def movements():
    data = normal(2, 3, 4)
    op("slice", data, begin=(0, 1), end=(1, 3))
    op("slice", data, begin=(None, None, 3), end=(None, None, 0), step=(1, 2, -1))
    op("slice", data, begin=(-1, None), end=(None, -1))
    op("slice_axis", data, axis=2, begin=1, end=None)
    op("slice_axis", data, axis=-1, begin=-3, end=-1)
    op("slice_like", data, normal(1, 2, 3))
    op("slice_like", data, normal(1, 2), axes=(0,))
    for mode in "constant", "edge", "reflect":
        op("Pad", normal(1, 1, 3, 3), mode=mode, pad_width=(0, 0, 0, 0, 1, 2, 2, 0), constant_value=1.5)
    op("tile", normal(2, 2), reps=(2,))
    op("tile", normal(2, 2), reps=(2, 1, 2))
    op("repeat", normal(2, 2), repeats=2)
    op("repeat", normal(2, 2), repeats=3, axis=1)
    op("reverse", data, axis=(0, 2))
    op("depth_to_space", normal(1, 4, 2, 2), block_size=2)
    op("space_to_depth", normal(1, 1, 4, 2), block_size=2)


def parts():
    """Splits, and what came later."""
    for part in range(2):
        split = mx.sym._internal._split_v2(mx.sym.var("a"), name="op", indices=(0, 2), axis=1)
        case(split[part], a=normal(2, 5))
    raw("_split_v2", normal(4, 3), indices=(), axis=0, sections=2)
    raw("_split_v2", normal(2, 3), indices=(0, 1), axis=-2, squeeze_axis=True)
    raw("_npi_hsplit", normal(2, 4), indices=(0, 1, 3))
    raw("_npi_hsplit", normal(4), indices=(), sections=2)
    raw("_npi_dsplit", normal(1, 2, 4), axis=2, indices=(0, 3))
    # MXNet 1.9.1 fails to infer its types; it gives its data.
    data, mean = normal(2, 3), positive(3)
    record(mx.sym.IdentityAttachKLSparseReg(mx.sym.var("a"), name="op"), {"a": data}, {"op_moving_avg": mean}, [data])
    raw("_np_cumsum", normal(2, 3))
    raw("_np_cumsum", normal(2, 3), axis=1)
    raw("_np_cumsum", whole(2, 3, dtype="int32"), axis=0, dtype="float32")
    raw("_contrib_index_copy", normal(4, 2), whole(2, low=0, high=1, dtype="int32") + np.array([3, 1], "int32"), normal(2, 2))


def pads():
    data = normal(2, 3, 2)
    for mode, widths in (("constant", ((1, 0), (0, 2), (2, 1))), ("edge", ((1, 2), (0, 3), (1, 1))),
                         ("reflect", ((1, 0), (2, 2), (1, 0))), ("symmetric", ((2, 0), (3, 1), (0, 1)))):
        raw("_npi_pad", data, pad_width=widths, mode=mode)
    raw("_npi_pad", normal(2, 2), pad_width=((0, 1), (1, 1)), constant_value=2.5)


def numpy_shapes():
    data = normal(2, 3, 2)
    raw("_np_reshape", data, newshape=(3, -1))
    raw("_np_reshape", data, newshape=(12,))
    for shape in (-2, -1), (-5, 2), (-6, 1, 2, -4), (-2, -2, 1, 2), (4, 3):
        raw("_npx_reshape", data, newshape=shape)
    raw("_npx_reshape", normal(2, 1, 3), newshape=(-2, -3, -2))
    raw("_npx_reshape", data, newshape=(-1, -2), reverse=True)
    raw("_np_squeeze", normal(1, 3, 1))
    raw("_np_squeeze", normal(1, 3, 1), axis=0)
    raw("_np_transpose", data)
    raw("_np_transpose", data, axes=(1, 0, 2))
    raw("_np_moveaxis", data, source=(0,), destination=(2,))
    raw("_np_moveaxis", data, source=(0, 2), destination=(1, 0))
    raw("_np_roll", data, shift=(1,), axis=(1,))
    raw("_np_roll", normal(2, 3), shift=(-2,))
    raw("_npi_flip", data, axis=(0, 2))
    for k in 1, 2, 3:
        raw("_npi_rot90", normal(2, 3), k=k, axes=(0, 1))
    raw("_npi_rot90", data, k=1, axes=(0, 2))
    raw("_npi_diff", normal(2, 4), n=2)
    raw("_npi_diff", normal(3, 2), axis=0)
    raw("_npi_tril", normal(3, 3), k=-1)
    raw("_npi_tril", normal(3))
    raw("_npi_broadcast_to", normal(1, 3), shape=(2, 2, 3))
    a, b = normal(2, 2), normal(2, 2)
    raw("_npi_concatenate", a, b, num_args=2, axis=1)
    raw("_npi_concatenate", a, normal(3), num_args=2, axis="None")
    raw("_npi_stack", a, b, num_args=2, axis=1)
    raw("_npi_vstack", a, b, num_args=2)
    raw("_npi_vstack", normal(2), normal(2), num_args=2)
    raw("_npi_hstack", a, b, num_args=2)
    raw("_npi_dstack", a, b, num_args=2)
    raw("_npi_column_stack", normal(2), a, num_args=2)
    for name in "_np_atleast_1d", "_np_atleast_2d", "_np_atleast_3d":
        raw(name, normal(2), a, num_args=2)
