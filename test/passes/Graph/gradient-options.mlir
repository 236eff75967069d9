// RUN: not dlc-opt %s --pass-pipeline="builtin.module(func.func(graph-gradient{wrt=a}))" 2>&1 | FileCheck %s --check-prefix=WRT
// RUN: not dlc-opt %s --pass-pipeline="builtin.module(func.func(graph-gradient{heads=i}))" 2>&1 | FileCheck %s --check-prefix=HEADS
// RUN: not dlc-opt %s --pass-pipeline="builtin.module(func.func(graph-gradient{wrt=x add=w}))" 2>&1 | FileCheck %s --check-prefix=ADD
// RUN: not dlc-opt %s --pass-pipeline="builtin.module(func.func(graph-gradient{wrt=x,#0}))" 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: dlc-opt %s --pass-pipeline="builtin.module(func.func(graph-gradient{heads=y wrt=x},graph-gradient{heads=#2 wrt=x}))" | FileCheck %s
// RUN: dlc-opt %s --pass-pipeline="builtin.module(func.func(graph-gradient{heads=#0 wrt=x add=x}))" | FileCheck %s --check-prefix=SUM
// RUN: dlc-opt %s --graph-gradient --remarks-filter="graph-.*" 2>&1 | FileCheck %s --check-prefix=REMARK
// What options name must be there and of floats. Twice makes a second
// derivative; a former gradient is added to.

// WRT: error: expected an argument of floats (x, w), got 'a'
// HEADS: error: expected a result of floats (y), got 'i'
// TWICE: error: expected each argument once, got '#0' twice
// ADD: error: expected an argument of 'wrt' to add to, got 'w'
// REMARK: remark: {{.*}}Gradient{{.*}}graph-gradient{{.*}}Operations=2{{.*}}Zeros=0

// CHECK: func.func @main
// CHECK-SAME: {graph.name = "grad of y"}, %{{.*}}: tensor<2xf32> {graph.name = "grad of grad of x"})
// CHECK-SAME: {graph.name = "grad of x"}, tensor<2xf32> {graph.name = "grad of x 2"})

// SUM: func.func @main
// SUM-SAME: %[[G:.*]]: tensor<2xf32> {graph.name = "grad of y"}, %[[F:.*]]: tensor<2xf32> {graph.name = "sum of grad of x"})
// SUM-SAME: -> (tensor<2xf32> {graph.name = "y"}, tensor<2xi64> {graph.name = "i"}, tensor<2xf32> {graph.name = "grad of x", graph.updates = "sum of grad of x"})
// SUM: %[[T:.*]] = graph.add
// SUM-NEXT: %[[S:.*]] = graph.add %[[T]], %[[F]]
// SUM-NEXT: return %{{.*}}, %{{.*}}, %[[S]]
func.func @main(%x: tensor<2xf32> {graph.name = "x"}, %w: tensor<2xf32> {graph.name = "w"})
    -> (tensor<2xf32> {graph.name = "y"}, tensor<2xi64> {graph.name = "i"}) {
  %0 = graph.mul %x, %x : tensor<2xf32>
  %y = graph.mul %0, %w : tensor<2xf32>
  %i = graph.cast %x {to = i64} : (tensor<2xf32>) -> tensor<2xi64>
  return %y, %i : tensor<2xf32>, tensor<2xi64>
}
