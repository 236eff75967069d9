// RUN: rm -f %t.mlir %t.dlc
// RUN: not dlc compile %s -o %t.dlc --reproducer %t.mlir > %t.log 2>&1
// RUN: FileCheck %s < %t.log
// RUN: grep "error:" %t.log | count 1
// RUN: not dlc-opt %t.mlir --run-reproducer 2>&1 | FileCheck %s --check-prefix=AGAIN
// RUN: not ls %t.dlc
// A failing pass leaves its input and pipeline, which dlc-opt runs as they are,
// and no artifact. One failure is one error.

// CHECK: error: {{.*}}expected a known rank for argument #0 'x', got 'tensor<*xf32>'
// CHECK-NEXT: note: repeat it with dlc-opt --run-reproducer {{.*}}.mlir
// AGAIN: error: {{.*}}expected a known rank for argument #0

// Without the option there is no file for a model that is refused.
// RUN: not dlc compile %s -o %t.dlc 2>&1 | FileCheck %s --check-prefix=REFUSED
// REFUSED: expected a known rank
// REFUSED-NOT: reproducer

// RUN: not dlc compile %s -o %t.dlc --reproducer %t.none/x.mlir 2>&1 | FileCheck %s --check-prefix=UNWRITABLE
// UNWRITABLE: error: {{.*}}.none/x.mlir: cannot create the file: No such file
func.func @main(%x: tensor<*xf32> {graph.name = "x"}) -> (tensor<*xf32> {graph.name = "y"}) {
  %0 = graph.relu %x : tensor<*xf32>
  return %0 : tensor<*xf32>
}
