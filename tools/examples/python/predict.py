#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a compiled network from Python, through dlc-c/Runtime.h.

usage: predict.py LIBDLC_RT.so NETWORK.dlc [NAME=ARRAY.npy ...]

Inputs that are not given are filled with ones; what the network leaves open of
their shapes is 1. Arrays need NumPy, of which any that has the type of an input
can be given to Network.run(); all else is in Python.
"""

import ctypes as C
import sys

# The types of dlc/abi/Tensor.h that NumPy and ctypes have, by their codes.
TYPES = {
    1: ("bool", C.c_bool), 2: ("int8", C.c_int8), 3: ("int16", C.c_int16), 4: ("int32", C.c_int32),
    5: ("int64", C.c_int64), 6: ("uint8", C.c_uint8), 7: ("uint16", C.c_uint16), 8: ("uint32", C.c_uint32),
    9: ("uint64", C.c_uint64), 12: ("float32", C.c_float), 13: ("float64", C.c_double)
}


class Tensor(C.Structure):
    _fields_ = [("data", C.c_void_p), ("shape", C.POINTER(C.c_int64)), ("rank", C.c_int32), ("type", C.c_int32)]


class Port(C.Structure):
    _fields_ = [("structSize", C.c_size_t), ("name", C.c_char_p), ("type", C.c_int32), ("rank", C.c_int32),
                ("shape", C.POINTER(C.c_int64))]


class PoolOptions(C.Structure):
    _fields_ = [("structSize", C.c_size_t), ("threads", C.c_uint32), ("spinMicroseconds", C.c_uint32),
                ("pinsWorkers", C.c_uint32)]


class Array:
    """Elements in memory of ctypes, row by row; `numpy.ctypeslib.as_array(a.elements).reshape(a.shape)` has them, too."""

    def __init__(self, code, shape, value=0):
        count = 1
        for extent in shape:
            count *= extent
        self.dtype, element = TYPES[code]
        self.shape, self.elements = tuple(shape), (element * count)(*[value] * count)
        self.address = C.addressof(self.elements)


class Network:
    """A program and an execution of it, which one thread may call at a time. A run takes so many threads; 0 are as many
    as there are processors. Whatever DLC refuses raises a RuntimeError with the reason."""

    def __init__(self, library, path, threads=0):
        self.dlc = C.CDLL(library)
        self.dlc.dlcStatusMessage.restype = C.c_char_p
        self.pool, self.program, self.execution = C.c_void_p(), C.c_void_p(), C.c_void_p()
        self.call("dlcProgramLoad", path.encode(), C.byref(self.program))
        if threads != 1:  # Without a pool the thread that calls computes alone.
            options = PoolOptions(C.sizeof(PoolOptions), threads, 50)
            self.call("dlcPoolCreate", C.byref(options), C.byref(self.pool))
        self.call("dlcExecutionCreate", self.program, self.pool, C.byref(self.execution))
        self.inputs, self.outputs = self.ports("Input"), self.ports("Output")

    def close(self):
        self.dlc.dlcExecutionDestroy(self.execution)
        self.dlc.dlcProgramDestroy(self.program)
        self.dlc.dlcPoolDestroy(self.pool)

    def call(self, name, *arguments):
        function = getattr(self.dlc, name)
        function.restype = C.c_void_p
        status = C.c_void_p(function(*arguments))
        if status:
            message = self.dlc.dlcStatusMessage(status).decode()
            self.dlc.dlcStatusDestroy(status)
            raise RuntimeError(message)

    def ports(self, kind):
        """Name, type and shape of each input, or output; -1 for an extent that is open."""
        result = []
        for i in range(getattr(self.dlc, f"dlcProgram{kind}Count")(self.program)):
            port = Port(C.sizeof(Port))
            self.call(f"dlcProgram{kind}", self.program, C.c_size_t(i), C.byref(port))
            name = port.name.decode()
            if port.type not in TYPES or port.rank < 0:
                raise RuntimeError(f"expected '{name}' to have a rank and a type of NumPy's")
            result.append((name, port.type, port.shape[:port.rank]))
        return result

    def run(self, arrays):
        """Takes arrays by the names of inputs, NumPy's or an Array; gives an Array for the name of each output."""
        kept = []  # What is bound has to stay.
        names = [name for name, _, _ in self.inputs]
        if sorted(arrays) != sorted(names):
            raise RuntimeError(f"expected arrays for {', '.join(names)}, got {', '.join(arrays) or 'none'}")
        for i, (name, code, _) in enumerate(self.inputs):
            array = arrays[name]
            if str(array.dtype) != TYPES[code][0]:
                raise RuntimeError(f"expected {TYPES[code][0]} for '{name}', got {array.dtype}")
            if not isinstance(array, Array):
                import numpy
                array = numpy.ascontiguousarray(array)
            address = array.address if isinstance(array, Array) else array.ctypes.data
            tensor = Tensor(address, (C.c_int64 * len(array.shape))(*array.shape), len(array.shape), code)
            self.call("dlcExecutionBindInput", self.execution, C.c_size_t(i), C.byref(tensor))
            kept.append((array, tensor))
        self.call("dlcExecutionRun", self.execution)
        results = {}
        for i, (name, code, _) in enumerate(self.outputs):
            tensor = Tensor()
            self.call("dlcExecutionOutput", self.execution, C.c_size_t(i), C.byref(tensor))
            results[name] = Array(code, tensor.shape[:tensor.rank])
            if tensor.data:
                C.memmove(results[name].address, tensor.data, C.sizeof(results[name].elements))
        return results


def main(library, path, *files):
    network = Network(library, path)
    arrays = {name: Array(code, [1 if extent < 0 else extent for extent in shape], 1)
              for name, code, shape in network.inputs}
    for text in files:
        name, _, file = text.partition("=")
        if name not in arrays:
            raise RuntimeError(f"expected one of {', '.join(arrays)}, got '{name}'")
        import numpy
        arrays[name] = numpy.load(file)
    for name, result in network.run(arrays).items():
        print(name, "x".join(map(str, result.shape)), *[f"{value:.6g}" for value in result.elements[:4]])
    network.close()


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
