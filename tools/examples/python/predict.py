#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a compiled network from Python, through dlc-c/Runtime.h.

usage: predict.py LIBDLC_RT.so NETWORK.dlc

Every input is filled with ones. With NumPy, an array `x` of type float32 is
Tensor(x.ctypes.data, (C.c_int64 * x.ndim)(*x.shape), x.ndim, F32).
"""

import ctypes as C
import sys

if len(sys.argv) != 3:
    sys.exit(__doc__)
F32 = 12  # DLC_F32 of dlc/abi/Tensor.h.
dlc = C.CDLL(sys.argv[1])
dlc.dlcStatusMessage.restype = C.c_char_p


class Tensor(C.Structure):
    _fields_ = [("data", C.c_void_p), ("shape", C.POINTER(C.c_int64)), ("rank", C.c_int32), ("type", C.c_int32)]


class Port(C.Structure):
    _fields_ = [("structSize", C.c_size_t), ("name", C.c_char_p), ("type", C.c_int32), ("rank", C.c_int32),
                ("shape", C.POINTER(C.c_int64))]


def call(name, *arguments):
    function = getattr(dlc, name)
    function.restype = C.c_void_p
    status = C.c_void_p(function(*arguments))
    if status:
        message = dlc.dlcStatusMessage(status).decode()
        dlc.dlcStatusDestroy(status)
        raise RuntimeError(message)


def ports(program, kind):
    """Name and shape of each input, or output."""
    for i in range(getattr(dlc, f"dlcProgram{kind}Count")(program)):
        port = Port(C.sizeof(Port))
        call(f"dlcProgram{kind}", program, C.c_size_t(i), C.byref(port))
        if port.type != F32 or any(extent < 0 for extent in port.shape[:port.rank]):
            raise RuntimeError(f"expected float32 of one shape as {port.name.decode()}")
        yield i, port.name.decode(), port.shape[:port.rank]


program, execution = C.c_void_p(), C.c_void_p()
call("dlcProgramLoad", sys.argv[2].encode(), C.byref(program))
call("dlcExecutionCreate", program, None, C.byref(execution))
arrays = {}  # What is bound has to stay.
for kind, value in ("Input", 1.0), ("Output", 0.0):
    for i, name, shape in ports(program, kind):
        count = 1
        for extent in shape:
            count *= extent
        values = (C.c_float * count)(*[value] * count)
        tensor = Tensor(C.addressof(values), (C.c_int64 * len(shape))(*shape), len(shape), F32)
        call(f"dlcExecutionBind{kind}", execution, C.c_size_t(i), C.byref(tensor))
        arrays[name] = values, tensor
call("dlcExecutionRun", execution)
for _, name, shape in ports(program, "Output"):
    print(name, "x".join(map(str, shape)), *[f"{value:.6g}" for value in arrays[name][0][:4]])
dlc.dlcExecutionDestroy(execution)
dlc.dlcProgramDestroy(program)
