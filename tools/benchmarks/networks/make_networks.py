#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the networks of memory.py and training.py: MXNet's zoo (Apache 2.0).

usage: make_networks.py FOLDER      (Python 3.8, mxnet==1.9.1, numpy<1.24)

Only their structure: there are no weights in the files.
"""

import gzip
import os
import sys

import mxnet as mx
from mxnet.gluon.model_zoo import vision

NAMES = ("resnet18_v1", "resnet50_v1", "mobilenetv2_1.0", "densenet121", "inceptionv3",
         "vgg16")

if len(sys.argv) != 2:
    print(__doc__, file=sys.stderr)
    sys.exit(2)
for name in NAMES:
    network = vision.get_model(name, prefix="net_")
    path = os.path.join(sys.argv[1], name + "-symbol.json.gz")
    with open(path, "wb") as file:
        # Without a time, so that the same network is the same file.
        with gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
            packed.write(network(mx.sym.var("data")).tojson().encode())
