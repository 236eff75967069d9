#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the samples in *.seeds with NumPy and with MXNet's own library.

usage: make_samples.py LIBMXNET_SO     (libmxnet.so of mxnet 1.9.1 from PyPI)

V0 and V1 records are made by hand: no released MXNet that runs here writes
them; 1.9.1 reads them back, which this script checks.
"""

import ctypes
import os
import struct
import sys

import numpy as np

CPU, CODES = 1, {"float32": 0, "float64": 1, "float16": 2, "uint8": 3, "int32": 4,
                 "int8": 5, "int64": 6, "bool": 7}
mxnet = ctypes.CDLL(sys.argv[1])
mxnet.MXGetLastError.restype = ctypes.c_char_p
Handle = ctypes.c_void_p


def check(code):
    if code:
        sys.exit(mxnet.MXGetLastError().decode())


def dims(values):
    return (ctypes.c_uint32 * max(1, len(values)))(*values)


def dense(array, code=None):
    array, handle = np.ascontiguousarray(array).reshape(np.shape(array)), Handle()
    code = CODES[array.dtype.name] if code is None else code
    check(mxnet.MXNDArrayCreateEx(dims(array.shape), array.ndim, CPU, 0, 0, code,
                                  ctypes.byref(handle)))
    check(mxnet.MXNDArraySyncCopyFromCPU(handle, array.ctypes.data_as(Handle),
                                         ctypes.c_size_t(array.size)))
    return handle


def sparse(layout, shape, values, *indices):
    """Without indices: an array that was never set."""
    handle, count = Handle(), layout
    shapes = [d for i in indices for d in i.shape] or [0] * count
    check(mxnet.MXNDArrayCreateSparseEx(
        layout, dims(shape), len(shape), CPU, 0, 0 if indices else 1,
        CODES[values.dtype.name], count, (ctypes.c_int * count)(*[6] * count),
        dims([1] * count), dims(shapes), ctypes.byref(handle)))
    for slot, block in enumerate([values, *indices] if indices else [], start=-1):
        check(mxnet.MXNDArraySyncCopyFromNDArray(handle, dense(block), slot))
    return handle


def save(path, arrays, names=None):
    keys = names and (ctypes.c_char_p * len(names))(*[n.encode() for n in names])
    check(mxnet.MXNDArraySave(path.encode(), len(arrays),
                              (Handle * len(arrays))(*arrays), keys))


def set_numpy_shapes(on):
    check(mxnet.MXSetIsNumpyShape(on, ctypes.byref(ctypes.c_int())))


def save_legacy(path, records, names):
    with open(path, "wb") as file:
        file.write(struct.pack("<3Q", 0x112, 0, len(records)) + b"".join(records))
        file.write(struct.pack("<Q", len(names)))
        for name in names:
            file.write(struct.pack("<Q", len(name)) + name.encode())
    outputs = [ctypes.byref(t()) for t in (ctypes.c_uint, Handle, ctypes.c_uint, Handle)]
    check(mxnet.MXNDArrayLoad(path.encode(), *outputs))


def save_dictionary(path, tensors):
    """As nnvm.compiler.save_param_dict does, by hand: no release of NNVM runs here."""
    with open(path, "wb") as file:
        file.write(struct.pack("<3Q", 0xF7E58D4F05049CB7, 0, len(tensors)))
        for name in tensors:
            file.write(struct.pack("<Q", len(name)) + name.encode())
        file.write(struct.pack("<Q", len(tensors)))
        for array in tensors.values():
            kind = "iuf".index(array.dtype.kind)
            file.write(struct.pack("<2Q3i2BH", 0xDD5E40F096B4A13F, 0, CPU, 0, array.ndim,
                                   kind, 8 * array.itemsize, 1))
            file.write(struct.pack(f"<{array.ndim + 1}q", *array.shape, array.nbytes))
            file.write(array.tobytes())


def params(folder):
    arrays = [dense(np.arange(6).reshape(2, 3).astype(t)) for t in CODES]
    bfloat16 = np.arange(6, dtype=np.float32).view(np.uint32) >> 16
    arrays.append(dense(bfloat16.astype(np.uint16).reshape(2, 3), 12))
    save(folder + "types.params", arrays, ["arg:" + t for t in CODES] + ["aux:bfloat16"])
    save(folder + "unnamed.params", [dense(np.float32([1, 2, 3])), dense(np.int32([[4], [5]]))])
    save(folder + "empty.params", [])
    i64, f32, f64 = np.int64, np.float32, np.float64
    save(folder + "sparse.params", [
        sparse(1, (5, 2), f32([[1, 2], [3, 4]]), i64([1, 3])), sparse(1, (5, 2), f32([])),
        sparse(2, (3, 4), f64([1, 2, 3]), i64([0, 1, 1, 3]), i64([2, 0, 3])),
        sparse(2, (3, 4), f64([]))], ["rows", "no rows", "csr", "no csr"])
    set_numpy_shapes(1)
    save(folder + "numpy.params", [dense(f32(7)), dense(np.zeros((0, 3), f32)),
                                   dense(i64([[1, 2], [3, 4]]))], ["scalar", "empty", "matrix"])
    set_numpy_shapes(0)
    tail = struct.pack("<3i2f", CPU, 0, 0, 5, 6)
    save_legacy(folder + "v0.params", [struct.pack("<3I", 2, 1, 2) + tail], ["fc_weight"])
    save_legacy(folder + "v1.params", [struct.pack("<Ii2q", 0xF993FAC8, 2, 1, 2) + tail],
                ["fc_weight"])
    save_dictionary(folder + "dictionary.params", {
        "fc_weight": f32([[1, 2, 3], [4, 5, 6]]), "scalar": i64(7)})


def numpy(folder_npy, folder_npz):
    matrix = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.save(folder_npy + "matrix.npy", matrix)
    np.save(folder_npy + "columns.npy", np.asfortranarray(matrix))
    np.save(folder_npy + "scalar.npy", np.int64(-7))
    np.save(folder_npy + "bools.npy", np.array([True, False]))
    np.save(folder_npy + "texts.npy", np.array([["a", "\xe4\u20ac"], ["", "\U0001f600x"]]))
    np.save(folder_npy + "bytes.npy", np.array([b"one", b"\xff\x00z"]))
    np.savez(folder_npz + "stored.npz", a=matrix, b=np.int8([1, 2]))
    np.savez_compressed(folder_npz + "deflated.npz", a=matrix, b=np.zeros(100))
    np.savez(folder_npz + "empty.npz")


os.chdir(os.path.dirname(os.path.abspath(__file__)))
for name in ("Npy", "Npz", "Params"):
    os.makedirs(name + "Fuzzer.seeds", exist_ok=True)
params("ParamsFuzzer.seeds/")
numpy("NpyFuzzer.seeds/", "NpzFuzzer.seeds/")
