// RUN: not dlc-opt %s --graph-recompute=budget=-7 2>&1 | FileCheck %s --check-prefix=BUDGET
// RUN: not dlc-opt %s --graph-fuse-operators=values=-3 2>&1 | FileCheck %s --check-prefix=VALUES
// RUN: not dlc-opt %s --graph-alter-layout=channel-block=-1 2>&1 | FileCheck %s --check-prefix=BLOCK
// Options out of range are refused before any function is looked at.

// BUDGET: error: graph-recompute: expected a budget of at least -1, got -7
// VALUES: error: graph-fuse-operators: expected at least 0 values, got -3
// BLOCK: error: graph-alter-layout: expected at least 0 channels of a block, or -1 with generated, got -1
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
