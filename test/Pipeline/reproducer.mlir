// RUN: rm -f %t.mlir %t.dlc
// RUN: not dlc compile %s -o %t.dlc --reproducer %t.mlir 2>&1 | FileCheck %s
// RUN: not dlc-opt %t.mlir --run-reproducer 2>&1 | FileCheck %s --check-prefix=AGAIN
// RUN: not ls %t.dlc
// A failing pass leaves its input and pipeline, which dlc-opt runs as they are,
// and no artifact.

// CHECK: error: {{.*}}expected a known rank for argument #0, got 'tensor<*xf32>'
// CHECK: reproducer generated at `{{.*}}.mlir`
// AGAIN: error: {{.*}}expected a known rank for argument #0
func.func @main(%x: tensor<*xf32> {graph.name = "x"}) -> (tensor<*xf32> {graph.name = "y"}) {
  %0 = graph.relu %x : tensor<*xf32>
  return %0 : tensor<*xf32>
}
