# SPDX-License-Identifier: Apache-2.0
"""Functions of elements: of MXNet, of NumPy's names, and special ones."""

import mxnet as mx
import numpy as np

from .recorder import case, normal, op, positive, raw, whole


def activations():
    for kind in "relu", "sigmoid", "softrelu", "softsign", "tanh":
        op("Activation", normal(2, 3), act_type=kind)
    for kind in "elu", "gelu", "leaky":
        op("LeakyReLU", normal(2, 3), act_type=kind)
    # What the mask holds is chance.
    case(mx.sym.LeakyReLU(mx.sym.var("a"), act_type="rrelu", name="op")[0], a=normal(2, 3))
    op("LeakyReLU", np.abs(normal(2, 3)), act_type="selu")
    op("LeakyReLU", normal(2, 3), act_type="leaky", slope=0.1)
    op("LeakyReLU", normal(2, 3, 2), act_type="prelu")
    op("LeakyReLU", normal(2, 3, 2), normal(1), act_type="prelu")


def unary():
    for name in ("abs cbrt ceil cos cosh degrees erf exp expm1 fix floor negative radians rcbrt reciprocal relu rint "
                 "round sigmoid sign sin sinh softsign square tanh trunc arctan arcsinh _copy BlockGrad "
                 "make_loss zeros_like ones_like hard_sigmoid smooth_l1").split():
        op(name, normal(2, 4))
    for name in "log log10 log1p log2 rsqrt sqrt".split():
        op(name, positive(2, 4))
    for name in "arccos arcsin arctanh tan".split():
        op(name, normal(2, 4) / 4)
    op("arccosh", positive(2, 4) + 1)
    op("expm1", np.array([1e-6, -1e-4, 0.5, 20], "float32"))
    op("log1p", np.array([1e-6, -1e-4, 0.5, 1e6], "float32"))
    op("round", np.array([0.5, 1.5, -0.5, -2.5, 0.49999997], "float32"))
    op("rint", np.array([0.5, 1.5, -0.5, -2.5], "float32"))
    op("logical_not", whole(2, 3, high=2))
    op("clip", normal(2, 4), a_min=-1, a_max=1.5)
    op("Cast", normal(2, 3), dtype="int32")
    op("Cast", whole(2, 3, dtype="int32"), dtype="float64")
    op("amp_cast", normal(2, 3), dtype="float16")


def binary():
    a, b = normal(2, 3), normal(2, 3)
    b[0, 0] = a[0, 0]
    for name in ("add sub mul div mod maximum minimum hypot equal not_equal greater greater_equal lesser "
                 "lesser_equal").split():
        op("broadcast_" + name, a, b[:, :1])
        op("_" + name if name not in ("add", "sub", "mul", "div") else "elemwise_" + name, a, b)
    op("broadcast_power", np.abs(a), b[:1])
    op("_power", np.abs(a), b)
    for name in "and", "or", "xor":
        op("broadcast_logical_" + name, whole(2, 3, high=2), whole(2, 1, high=2))
        op("_logical_" + name, whole(2, 3, high=2), whole(2, 3, high=2))
        op("_logical_%s_scalar" % name, whole(2, 3, high=2), scalar=1)
    for name in ("plus minus rminus mul div rdiv mod rmod maximum minimum hypot equal not_equal greater "
                 "greater_equal lesser lesser_equal").split():
        op("_%s_scalar" % name, a, scalar=float(a[0, 1]))
    op("_power_scalar", np.abs(a), scalar=1.5)
    op("_rpower_scalar", a, scalar=2.5)
    op("_mod", a, np.zeros((2, 3), "float32"))
    op("_plus_scalar", whole(2, 3, dtype="int32"), scalar=2)
    op("elemwise_mul", whole(2, 3, dtype="int32"), whole(2, 3, dtype="int32"))


def numpy_elementwise():
    a, b = normal(2, 3), normal(2, 3)
    b[0, 0] = a[0, 0]
    for name in ("absolute cbrt ceil cos cosh degrees exp expm1 fix floor negative radians reciprocal rint sign sin sinh "
                 "square tanh trunc arctan arcsinh logical_not").split():
        raw("_npi_" + name, a)
    for name in "log log10 log1p log2 sqrt".split():
        raw("_npi_" + name, positive(2, 2))
    for name in "arccos arcsin arctanh tan".split():
        raw("_npi_" + name, normal(2, 2) / 4)
    raw("_npi_arccosh", positive(2, 2) + 1)
    raw("_npi_rint", np.array([0.5, 1.5, -0.5, -2.5], "float32"))
    odd = np.array([np.nan, np.inf, -np.inf, 1.5], "float32")
    for name in "isnan isinf isfinite isposinf isneginf nan_to_num".split():
        raw("_npi_" + name, odd)
    raw("_npi_isfinite", whole(2, dtype="int32"))
    raw("_npi_nan_to_num", odd, nan=2.5, posinf=7, neginf=-8)
    raw("_npi_bitwise_not", whole(3, low=-3, dtype="int32"))
    raw("_npi_around", np.array([1.25, -2.5, 0.5, 12.345], "float32"))
    raw("_npi_around", np.array([1.26, -2.54, 12.345], "float32"), decimals=1)
    raw("_npx_relu", a)
    raw("_npx_sigmoid", a)
    for name in "add subtract multiply true_divide mod".split():
        raw("_npi_" + name, a, b[:, :1])
        raw("_npi_" + name, whole(2, 2, low=1, dtype="int32"), whole(2, 2, low=1, dtype="int32"))
        raw("_npi_" + name, whole(2, 2, low=1, dtype="int32"), normal(2, 2))
    raw("_npi_power", np.abs(a), b[:1])
    for name in "copysign arctan2 hypot".split():
        raw("_npi_" + name, a, b[:, :1])
    raw("_npi_arctan2", np.array([0, 0, 1, -1, 2], "float32"), np.array([1, -1, 0, 0, -2], "float32"))
    raw("_npi_ldexp", a, whole(2, 3, low=-2))
    for name in "and", "or", "xor":
        raw("_npi_bitwise_" + name, whole(2, 2, low=-3, dtype="int32"), whole(2, 1, dtype="int32"))
        raw("_npi_bitwise_%s_scalar" % name, whole(2, 2, low=-3, dtype="int32"), scalar=5)
    for name in "equal not_equal greater greater_equal less less_equal".split():
        raw("_npi_" + name, a, b)
        raw("_npi_%s_scalar" % name, a, scalar=float(a[0, 1]), is_int=False)
        raw("_npi_%s_scalar" % name, whole(2, 2, dtype="int32"), scalar=1.5, is_int=False)
    for name in ("add subtract rsubtract multiply true_divide rtrue_divide mod rmod copysign rcopysign arctan2 rarctan2 "
                 "ldexp rldexp").split():
        raw("_npi_%s_scalar" % name, a, scalar=1.5, is_int=False)
        if "arctan" not in name and "ldexp" not in name and "copysign" not in name:
            raw("_npi_%s_scalar" % name, whole(2, 2, low=1, dtype="int32"), scalar=2, is_int=True)
            raw("_npi_%s_scalar" % name, whole(2, 2, low=1, dtype="int32"), scalar=2.5, is_int=False)
    raw("_npi_power_scalar", np.abs(a), scalar=1.5, is_int=False)
    raw("_npi_rpower_scalar", a, scalar=2.5, is_int=False)
    raw("_npi_where", whole(2, 3, high=2), a, b[:, :1])
    raw("_npi_where_lscalar", whole(2, 3, high=2), a, scalar=1.5)
    raw("_npi_where_rscalar", whole(2, 3, high=2), a, scalar=1.5)
    raw("_npi_where_scalar2", whole(2, 3, high=2), x=1.5, y=-2)


def special_functions():
    numbers = np.array([0.25, 0.5, 1, 1.5, 2.5, 7, 20.25, 34, -0.25, -0.75, -1.5, -2.75, -7.125], "float32")
    op("gamma", numbers)
    op("gammaln", numbers)
    op("gammaln", np.array([1e-3, 100, 1e6, 3e30, np.inf, -100.5, -4, 0], "float32"))
    op("gamma", np.array([1e-3, 36, -4, 0], "float32"))
    op("erfinv", np.array([0, 1e-4, -0.25, 0.5, -0.75, 0.9375, -0.99609375, 0.9999847, 1, -1, 1.5], "float32"))
    raw("_npx_gamma", normal(2, 3))
    raw("_npx_gammaln", normal(2, 3))
    raw("_npx_erfinv", normal(2, 3) / 4)


def contrib():
    raw("_contrib_quadratic", normal(2, 2), a=2, b=-1, c=0.5)
    raw("_contrib_gradientmultiplier", normal(2, 2), scalar=-0.5)
    raw("_contrib_round_ste", normal(2, 2))
    raw("_contrib_sign_ste", normal(2, 2))
    raw("_identity_with_attr_like_rhs", normal(2, 2), normal(2, 2))
    raw("amp_multicast", normal(2, dtype="float16"), normal(3), num_outputs=2)
    raw("amp_multicast", normal(2, dtype="float16"), normal(3), num_outputs=2, cast_narrow=True)
    raw("all_finite", normal(2, 2))
    raw("all_finite", np.array([1, np.inf], "float32"))
    raw("multi_all_finite", normal(2), normal(3), num_arrays=2)
    raw("multi_sum_sq", normal(2), normal(3), num_arrays=2)
    raw("Crop", normal(1, 2, 5, 6), num_args=1, h_w=(3, 2), offset=(1, 2))
    raw("Crop", normal(1, 2, 5, 6), normal(1, 1, 3, 4), num_args=2, center_crop=True)


def short_integers():
    """What 32 bits hold wraps around."""
    beyond = np.array([300.5, 255.9, 256, -0.9, -3.7, -200, 70000, 1e9, 3e9, -1e20, 2**31, -(2**31)], "float32")
    for dtype in ["uint8", "int8"]:
        op("Cast", beyond, dtype=dtype)
        op("Cast", beyond.astype("float64"), dtype=dtype)
    op("Cast", np.array([300, -3.5, 127.5, np.inf, 65504], "float16"), dtype="uint8")
