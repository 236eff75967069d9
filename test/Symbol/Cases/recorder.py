# SPDX-License-Identifier: Apache-2.0
"""The recorder: values of inputs, and what MXNet answers to a symbol.

One case a line: the symbol as MXNet saves it, its arguments and auxiliary
states by name as [type, shape, elements], and its outputs for inference.
"""

import json

import mxnet as mx
import numpy as np

random = np.random.RandomState(7)
cases = []

# Values of inputs.


def normal(*shape, dtype="float32"):
    """Numbers with few digits, away from 0 and from halves."""
    values = random.uniform(-3, 3, shape)
    return (np.round(values * 8) / 8 + 1 / 32).astype(dtype)


def positive(*shape):
    return np.abs(normal(*shape)) + np.float32(0.25)


def whole(*shape, low=0, high=4, dtype="float32"):
    return random.randint(low, high, shape).astype(dtype)


def distinct(*shape):
    values = np.arange(int(np.prod(shape)), dtype="float32")
    random.shuffle(values)
    return values.reshape(shape) - 2.5


def small(*shape, dtype="int8"):
    low, high = (-128, 128) if dtype == "int8" else (0, 256)
    return random.randint(low, high, shape).astype(dtype)


def one(value):
    return np.array([value], "float32")


# What becomes a case.


def encode(array):
    array = np.asarray(array)
    values = array.reshape(-1).tolist()
    if array.dtype.kind == "f":
        values = [float("%.9g" % v) if np.isfinite(v) else str(v) for v in values]
    return [str(array.dtype), list(array.shape), values]


def record(symbol, arguments, states, outputs):
    cases.append({
        "symbol": json.loads(symbol.tojson()),
        "inputs": {name: encode(value) for name, value in arguments.items()},
        "states": {name: encode(value) for name, value in states.items()},
        "outputs": [encode(value) for value in outputs],
        "names": symbol.list_outputs(),
    })


def case(symbol, **values):
    """Runs a symbol; variables that are not given get random values."""
    shapes = {name: value.shape for name, value in values.items()}
    arg_shapes, _, aux_shapes = symbol.infer_shape_partial(**shapes)
    arguments, states = {}, {}
    for name, shape in zip(symbol.list_arguments(), arg_shapes):
        arguments[name] = mx.nd.array(values.get(name, normal(*[abs(dim) for dim in shape])),
                                      dtype=values[name].dtype if name in values else "float32")
    for name, shape in zip(symbol.list_auxiliary_states(), aux_shapes):
        value = positive(*shape) if name.endswith("var") else normal(*shape)
        states[name] = mx.nd.array(values.get(name, value))
    executor = symbol.bind(mx.cpu(), args=arguments, aux_states=states, grad_req="null")
    outputs = executor.forward(is_train=False)
    record(symbol, {name: value.asnumpy() for name, value in arguments.items()},
           {name: value.asnumpy() for name, value in states.items()}, [value.asnumpy() for value in outputs])


def op(name, *arrays, **attributes):
    """Applies an operator to variables called a, b, ... with these values."""
    names = [chr(ord("a") + i) for i in range(len(arrays))]
    function = getattr(mx.sym, name, None) or getattr(mx.sym.contrib, name.replace("_contrib_", ""), None) \
        or getattr(mx.sym._internal, name)
    symbol = function(*[mx.sym.var(n) for n in names], name="op", **attributes)
    case(symbol, **dict(zip(names, arrays)))


def raw(name, *arrays, **attributes):
    """The same through the file, for operators that Python hides."""
    count = len(arrays)
    nodes = [{"op": "null", "name": chr(ord("a") + i), "inputs": []} for i in range(count)]
    nodes.append({"op": name, "name": "op", "attrs": {key: str(value) for key, value in attributes.items()},
                  "inputs": [[i, 0, 0] for i in range(count)]})
    file = {"nodes": nodes, "arg_nodes": list(range(count)), "node_row_ptr": list(range(count + 2)),
            "heads": [[count, 0, 0]], "attrs": {"mxnet_version": ["int", 10901]}}
    is_numpy = name.startswith("_np")
    if is_numpy:
        file["attrs"]["is_np_shape"] = ["int", 1]
    with mx.util.np_shape(is_numpy):
        case(every_output(file), **{node["name"]: array for node, array in zip(nodes, arrays)})


def every_output(file):
    """The symbol of a file with all outputs of its last node that it shows."""
    symbol = mx.sym.load_json(json.dumps(file))
    count = sum(name.startswith("op_") for name in symbol.get_internals().list_outputs())
    last = file["heads"][0][0]
    return mx.sym.load_json(json.dumps(dict(file, heads=[[last, i, 0] for i in range(count)])))


def fused(name, body, *arrays, **attributes):
    """An operator that is its subgraph."""
    count = len(arrays)
    nodes = [{"op": "null", "name": chr(ord("a") + i), "inputs": []} for i in range(count)]
    inner = json.loads(body.tojson())
    nodes.append({"op": name, "name": "op", "attrs": {key: str(value) for key, value in attributes.items()},
                  "inputs": [[i, 0, 0] for i in range(count)],
                  "subgraphs": [{key: inner[key] for key in ("nodes", "arg_nodes", "node_row_ptr", "heads")}]})
    file = {"nodes": nodes, "arg_nodes": list(range(count)), "node_row_ptr": list(range(count + 2)),
            "heads": [[count, 0, 0]], "attrs": {"mxnet_version": ["int", 10901]}}
    case(every_output(file), **{node["name"]: array for node, array in zip(nodes, arrays)})
