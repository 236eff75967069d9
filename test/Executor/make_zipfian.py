#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes zipfian.txt: what MXNet 1.9.1 draws with _sample_unique_zipfian.

usage: make_zipfian.py OUTPUT      (Python 3.8, mxnet==1.9.1, numpy<1.24)

Three of five classes, 20,000 times: "classes A B C COUNT" for each order, and
"trials N COUNT" for each number of draws that it took.
"""
import collections
import sys

import mxnet as mx

mx.random.seed(7)
classes, trials = mx.nd._internal._sample_unique_zipfian(range_max=5, shape=(20000, 3))
with open(sys.argv[1], "w") as file:
    for row, count in sorted(collections.Counter(map(tuple, classes.asnumpy().tolist())).items()):
        file.write("classes %d %d %d %d\n" % (*row, count))
    for number, count in sorted(collections.Counter(trials.asnumpy().tolist()).items()):
        file.write("trials %d %d\n" % (number, count))
