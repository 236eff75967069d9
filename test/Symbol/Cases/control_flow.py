# SPDX-License-Identifier: Apache-2.0
"""Loops and branches, with bodies that are networks."""

import mxnet as mx
import numpy as np

from .recorder import case, normal, positive


def control_flow():
    data, state, weight = mx.sym.var("data"), mx.sym.var("state"), mx.sym.var("weight")

    def step(row, states):
        hidden = mx.sym.tanh(mx.sym.FullyConnected(row, weight=weight, num_hidden=3, no_bias=True, name="fc") + states[0])
        return hidden * 2, [hidden]

    out, states = mx.sym.contrib.foreach(step, data, [state])
    case(mx.sym.Group([out] + states), data=normal(4, 2, 3) / 2, state=normal(2, 3), weight=normal(3, 3) / 2)
    # The shape of the weight follows from the data through the body.
    case(out, data=normal(2, 2, 3) / 2, state=normal(2, 3))
    two, _ = mx.sym.contrib.foreach(lambda rows, s: ([rows[0] * rows[1], rows[0] - s], s + 1), [data, weight], state)
    case(mx.sym.Group(two), data=normal(3, 2), weight=normal(3, 2), state=normal(2))
    nested, _ = mx.sym.contrib.foreach(
        lambda row, s: (mx.sym.contrib.foreach(lambda x, t: (x * weight, t), row, [])[0], s), data, [])
    case(nested, data=normal(2, 3, 2), weight=normal(2))

    number, total = mx.sym.var("number"), mx.sym.var("total")
    for most in 4, 9:
        outs, finals = mx.sym.contrib.while_loop(lambda i, s: i < 4, lambda i, s: (
            [mx.sym.broadcast_mul(s, i)], [i + 1, s + mx.sym.broadcast_mul(weight, i)]),
                                                 [number, total], max_iterations=most)
        values = dict(number=np.zeros(1, "float32"), total=normal(2), weight=normal(2))
        # Rows behind the last step are undefined.
        case(mx.sym.Group((list(outs) if most == 4 else []) + list(finals)), **values)
    for sign in -1, 1:
        case(mx.sym.contrib.cond(mx.sym.sum(total) > 0, lambda: total * weight, lambda: total - weight),
             total=sign * positive(2, 3), weight=normal(2, 3))


def states_in_bodies():
    data, state = mx.sym.var("data"), mx.sym.var("state")

    def norm(x, name):
        return mx.sym.BatchNorm(x, fix_gamma=False, name=name)

    out, states = mx.sym.contrib.foreach(lambda row, s: (norm(row, "bn") + s[0], [s[0] * 0.5]), data, [state])
    case(mx.sym.Group([out] + states), data=normal(3, 2, 2), state=normal(2, 2))
    for sign in -1, 1:
        numbers = {"%s_%s" % (branch, name): positive(3) for branch in ("then", "other")
                   for name in ("gamma", "beta", "moving_mean", "moving_var")}
        case(mx.sym.contrib.cond(mx.sym.sum(state) > 0, lambda: norm(data, "then"), lambda: norm(data, "other") * 2),
             data=normal(2, 3), state=sign * positive(2), **numbers)
