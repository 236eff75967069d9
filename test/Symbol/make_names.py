#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes names.txt: every name of an operator in MXNet 1.9.1.

usage: make_names.py OUTPUT      (Python 3.8, mxnet==1.9.1, numpy<1.24)

Names with aliases that the released build registers, without those of
gradients, and those that its sources have beside them: of operators that other
builds have, and the texts of macros that stand where a name would.
"""
import ctypes
import sys

from mxnet.base import _LIB, check_call, py_str

OF_OTHER_BUILDS = """_FusedOp _FusedOpHelper _FusedOpOutHelper _TensorRT _contrib_intgemm_fully_connected
_contrib_intgemm_maxabsolute _contrib_intgemm_prepare_data _contrib_intgemm_prepare_weight
_contrib_intgemm_take_weight _contrib_tvm_dot _contrib_tvm_dot_fallback _contrib_tvm_vadd _npi_deg2rad _npi_rad2deg
CuDNNBatchNorm""".split()
OF_MACROS = """__name _np_atleast_ _npi_ _random_pdf_ _sample_ dirichlet distr equal exponential
generalized_negative_binomial greater greater_equal less less_equal name negative_binomial not_equal poisson""".split()

count, array = ctypes.c_uint(), ctypes.POINTER(ctypes.c_char_p)()
check_call(_LIB.MXListAllOpNames(ctypes.byref(count), ctypes.byref(array)))
names = {py_str(array[i]) for i in range(count.value)}
names = {name for name in names if "backward" not in name}
names.update(OF_OTHER_BUILDS, OF_MACROS)
with open(sys.argv[1], "w") as file:
    file.write("".join(name + "\n" for name in sorted(names)))
