# SPDX-License-Identifier: Apache-2.0
"""Densities of samples."""

import numpy as np

from .recorder import normal, op, positive, whole


def densities():
    def probability(*shape):
        return (whole(*shape, low=1, high=8) / 8).astype("float32")

    samples = {"uniform": normal(2, 3), "normal": normal(2, 3), "gamma": positive(2, 3), "exponential": positive(2, 3),
               "poisson": whole(2, 3, high=9), "negative_binomial": whole(2, 3, high=9),
               "generalized_negative_binomial": whole(2, 3, high=9)}
    parameters = {"uniform": [-positive(2), positive(2)], "normal": [normal(2), positive(2)],
                  "gamma": [positive(2), positive(2)], "exponential": [positive(2)], "poisson": [positive(2)],
                  "negative_binomial": [whole(2, low=1, high=6), probability(2)],
                  "generalized_negative_binomial": [positive(2), positive(2)]}
    for is_log in False, True:
        for name, own in parameters.items():
            op("random_pdf_" + name, samples[name], *own, is_log=is_log)
        rows = probability(2, 3, 4)
        op("random_pdf_dirichlet", rows / rows.sum(-1, keepdims=True), positive(2, 4), is_log=is_log)
    # Without dimensions of their own, and with two.
    op("random_pdf_gamma", positive(3), positive(3), positive(3))
    op("random_pdf_poisson", whole(2, 2, 3), positive(2, 2), is_log=True)
    op("random_pdf_gamma", np.array([[0.01, 30]], "float32"), np.array([25], "float32"), np.array([1], "float32"))
    op("random_pdf_dirichlet", np.array([0.25, 0.75], "float32"), positive(2))
