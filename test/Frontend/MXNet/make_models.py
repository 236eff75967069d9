#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the networks of this folder's tests, with what MXNet computes.

usage: make_models.py FOLDER      (Python 3.8, mxnet==1.9.1, numpy<1.24)
"""

import os
import sys

# The operators' own code, not that of a library with restrictions and faults.
os.environ["MXNET_MKLDNN_ENABLED"] = "0"

import mxnet as mx
import numpy as np

folder = sys.argv[1]
random = np.random.RandomState(11)


def values(shape):
    return mx.nd.array(random.uniform(-1, 1, shape).round(3))


def network():
    data = mx.sym.var("data")
    conv = mx.sym.Convolution(data, kernel=(3, 3), stride=(2, 2), pad=(1, 1), num_filter=4, no_bias=True, name="conv")
    norm = mx.sym.BatchNorm(conv, fix_gamma=False, eps=1e-5, name="bn")
    relu = mx.sym.Activation(norm, act_type="relu", name="relu")
    branch = mx.sym.Convolution(relu, kernel=(1, 1), num_filter=4, name="branch")
    joined = mx.sym.Concat(relu, branch + relu, name="join")
    pool = mx.sym.Pooling(joined, global_pool=True, kernel=(1, 1), pool_type="avg", name="pool")
    flat = mx.sym.Flatten(mx.sym.Dropout(pool, p=0.5, name="drop"), name="flat")
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(flat, num_hidden=3, name="fc"), name="softmax")


net, shape = network(), (2, 2, 8, 8)
shapes, _, states = net.infer_shape(data=shape)
arguments = dict(zip(net.list_arguments(), map(values, shapes)))
auxiliary = dict(zip(net.list_auxiliary_states(), map(values, states)))
auxiliary["bn_moving_var"] = auxiliary["bn_moving_var"].abs() + 0.5
executor = net.bind(mx.cpu(), args=arguments, aux_states=auxiliary, grad_req="null")
output = executor.forward(is_train=False)[0].asnumpy()
np.save(os.path.join(folder, "data.npy"), arguments["data"].asnumpy())
np.save(os.path.join(folder, "softmax_output.npy"), output)
weights = {name: value for name, value in arguments.items() if name not in ("data", "softmax_label")}
prefix = os.path.join(folder, "net")
mx.model.save_checkpoint(prefix, 0, net, weights, auxiliary, remove_amp_cast=False)
# A list in which a state is called an argument, and one of another network.
wrong = {"arg:" + name: value for name, value in {**weights, **auxiliary}.items()}
mx.nd.save(os.path.join(folder, "wrong-group.params"), wrong)
mx.nd.save(os.path.join(folder, "other.params"), {"features.0.weight": arguments["fc_bias"]})
extra = {"arg:" + name: value for name, value in weights.items()}
extra.update({"aux:" + name: value for name, value in auxiliary.items()})
extra["arg:spare"] = arguments["fc_bias"]
mx.nd.save(os.path.join(folder, "extra.params"), extra)


def saved_by_structure(name, network, *shape):
    """A block, its symbol, its parameters with names by structure."""
    network.initialize(mx.init.Uniform(1))
    network.hybridize()
    data = mx.nd.array(random.uniform(-1, 1, shape).round(3))
    network(data)
    for key, value in network.collect_params().items():
        low = 0.5 if key.endswith("var") else -1
        value.set_data(mx.nd.array(random.uniform(low, 1, value.shape).round(3)))
    np.save(os.path.join(folder, name + "-data.npy"), data.asnumpy())
    np.save(os.path.join(folder, name + "-answer.npy"), network(data).asnumpy())
    network.export(os.path.join(folder, name))
    os.remove(os.path.join(folder, name + "-0000.params"))
    network.save_parameters(os.path.join(folder, name + ".params"))


class Residual(mx.gluon.HybridBlock):
    """Three layers of one shape, of which the flow of data alone does not tell
    the order: the last one is computed first."""

    def __init__(self, **attributes):
        super().__init__(**attributes)
        with self.name_scope():
            self.body = mx.gluon.nn.HybridSequential(prefix="")
            self.body.add(mx.gluon.nn.Dense(4, use_bias=False, in_units=4), mx.gluon.nn.BatchNorm(),
                          mx.gluon.nn.Dense(4, use_bias=False, in_units=4), mx.gluon.nn.BatchNorm())
            self.side = mx.gluon.nn.Dense(4, use_bias=False, in_units=4)

    def hybrid_forward(self, F, x):
        return F.relu(self.side(x) + self.body(x))


class Twins(mx.gluon.HybridBlock):
    """Two layers that only their names tell from each other."""

    def __init__(self, **attributes):
        super().__init__(**attributes)
        with self.name_scope():
            self.right = mx.gluon.nn.Dense(4, prefix="right_")
            self.left = mx.gluon.nn.Dense(4, prefix="left_")

    def hybrid_forward(self, F, x):
        return self.left(x) - self.right(x)


residual = mx.gluon.nn.HybridSequential(prefix="net_")
with residual.name_scope():
    residual.add(Residual(), Residual(), mx.gluon.nn.Dense(3))
saved_by_structure("blocks", residual, 2, 4)
saved_by_structure("twins", Twins(prefix="twins_"), 2, 4)
