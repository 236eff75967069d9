#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes operators.jsonl: what MXNet 1.9.1 computes for every operator.

usage: make_cases.py OUTPUT      (Python 3.8, mxnet==1.9.1, numpy<1.24)

The cases are in Cases, by family. Functions draw from one stream of numbers:
new ones go to the end, so that the numbers of others stay as they are. The last
bits of recurrent layers are the processor's.
"""

import json
import subprocess
import sys

from Cases import (USES_LIBRARY, control_flow, densities, detection, elementwise, images, indexing, layers, matrices,
                   numpy_functions, quantized, recorder, reductions, shapes)

OF_MXNET = (elementwise.activations, elementwise.unary, elementwise.binary, layers.contractions, layers.convolutions,
            layers.pools, layers.norms, layers.losses, shapes.joins, shapes.shapes, shapes.movements,
            reductions.reductions, indexing.indexing, indexing.creation, reductions.corners, layers.alignments,
            elementwise.numpy_elementwise, reductions.numpy_reductions, shapes.numpy_shapes, indexing.numpy_creation,
            matrices.numpy_products, reductions.orders, matrices.matrices, images.spatial, elementwise.contrib,
            shapes.parts, images.neighbours, control_flow.control_flow, densities.densities, detection.detections,
            control_flow.states_in_bodies, images.parts_of_regions, shapes.pads, images.small_regions,
            elementwise.special_functions, images.pixels, images.columns, indexing.sparse_arrays, matrices.triangles,
            numpy_functions.statistics, numpy_functions.arithmetic, images.sizes,
            images.halves, numpy_functions.corners, layers.shown_statistics,
            matrices.factors, matrices.turned_products,
            elementwise.short_integers)
OF_LIBRARY = (layers.recurrent, quantized.quantized, quantized.fused_layers, quantized.fused_attention,
              layers.fused_norms)

for make in OF_LIBRARY if USES_LIBRARY else OF_MXNET:
    make()
with open(sys.argv[1], "a" if USES_LIBRARY else "w") as file:
    for each in recorder.cases:
        file.write(json.dumps(each, separators=(",", ":")) + "\n")
print(len(recorder.cases), "cases")
if not USES_LIBRARY:
    subprocess.run([sys.executable, __file__, sys.argv[1], "library"], check=True)
