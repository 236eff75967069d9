#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints a chain of residual blocks: x + tanh(x w), each with its weights.

usage: make_chain.py BLOCKS
"""

import sys

count = int(sys.argv[1])
weights = "".join(f', %w{i}: tensor<32x32xf32> {{graph.name = "w{i}"}}' for i in range(count))
print(f"""func.func @main(%x0: tensor<32x32xf32> {{graph.name = "x"}}{weights})
    -> (tensor<32x32xf32> {{graph.name = "y"}}) {{""")
for i in range(count):
    print(f"""  %m{i} = graph.matmul %x{i}, %w{i} : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %r{i} = graph.tanh %m{i} : tensor<32x32xf32>
  %x{i + 1} = graph.add %x{i}, %r{i} : tensor<32x32xf32>""")
print(f"  return %x{count} : tensor<32x32xf32>\n}}")
