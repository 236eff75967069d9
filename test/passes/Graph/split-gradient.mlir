// RUN: dlc-opt %s --graph-split-gradient='part=forward arguments=1 results=1' --split-input-file | FileCheck %s --check-prefix=FORWARD
// RUN: dlc-opt %s --graph-split-gradient='part=backward arguments=1 results=1' --split-input-file | FileCheck %s --check-prefix=BACKWARD
// RUN: not dlc-opt %s --graph-split-gradient='arguments=3 results=1' --split-input-file 2>&1 | FileCheck %s --check-prefix=COUNTS
// COUNTS: expected at least 3 arguments and 1 results, got 2 and 2
// RUN: not dlc-opt %s --graph-split-gradient='part=forward arguments=1 results=2' --split-input-file 2>&1 | FileCheck %s --check-prefix=NEEDS
// NEEDS: expected the first 2 results to follow from the first 1 arguments, got result 1, which needs others

// Two values are saved, a result among them; arguments and constants are not.

// FORWARD-LABEL: func.func @saved
// FORWARD-SAME: (%[[X:.*]]: tensor<8xf32> {graph.name = "x"})
// FORWARD-SAME: -> (tensor<8xf32> {graph.name = "y"}, tensor<8xf32> {graph.name = "saved 0"}, tensor<8xf32> {graph.name = "saved 1"})
// FORWARD: %[[A:.*]] = graph.exp %[[X]]
// FORWARD: %[[B:.*]] = graph.mul %[[A]]
// FORWARD: %[[Y:.*]] = graph.exp %[[B]]
// FORWARD-NEXT: return %[[Y]], %[[A]], %[[Y]]
// BACKWARD-LABEL: func.func @saved
// BACKWARD-SAME: (%[[X:.*]]: tensor<8xf32> {graph.name = "x"}, %[[G:.*]]: tensor<8xf32> {graph.name = "grad of y"}, %[[A:.*]]: tensor<8xf32> {graph.name = "saved 0"}, %[[Y:.*]]: tensor<8xf32> {graph.name = "saved 1"})
// BACKWARD-SAME: -> (tensor<8xf32> {graph.name = "grad of x"})
// BACKWARD-NOT: graph.exp
// BACKWARD: %[[TWO:.*]] = graph.constant
// BACKWARD: graph.mul %[[G]], %[[Y]]
// BACKWARD: graph.mul %{{.*}}, %[[TWO]]
// BACKWARD: graph.mul %{{.*}}, %[[A]]
// BACKWARD: %[[LAST:.*]] = graph.mul %{{.*}}, %[[X]]
// BACKWARD-NEXT: return %[[LAST]]
func.func @saved(%x: tensor<8xf32> {graph.name = "x"}, %g: tensor<8xf32> {graph.name = "grad of y"})
    -> (tensor<8xf32> {graph.name = "y"}, tensor<8xf32> {graph.name = "grad of x"}) {
  %two = graph.constant dense<2.0> : tensor<f32>
  %a = graph.exp %x : tensor<8xf32>
  %b = graph.mul %a, %two : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %y = graph.exp %b : tensor<8xf32>
  %0 = graph.mul %g, %y : tensor<8xf32>
  %1 = graph.mul %0, %two : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %2 = graph.mul %1, %a : tensor<8xf32>
  %3 = graph.mul %2, %x : tensor<8xf32>
  return %y, %3 : tensor<8xf32>, tensor<8xf32>
}

// -----

// What only the way back reads is computed there, from the argument.

// FORWARD-LABEL: func.func @late
// FORWARD-NOT: graph.cos
// FORWARD: %[[Y:.*]] = graph.sin
// FORWARD-NEXT: return %[[Y]] :
// BACKWARD-LABEL: func.func @late
// BACKWARD: %[[C:.*]] = graph.cos
// BACKWARD-NEXT: %[[D:.*]] = graph.mul %{{.*}}, %[[C]]
// BACKWARD-NEXT: return %[[D]] :
func.func @late(%x: tensor<8xf32>, %g: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %y = graph.sin %x : tensor<8xf32>
  %c = graph.cos %x : tensor<8xf32>
  %d = graph.mul %g, %c : tensor<8xf32>
  return %y, %d : tensor<8xf32>, tensor<8xf32>
}

// -----

// A small value is saved rather than the large one that it is computed from.

// FORWARD-LABEL: func.func @small
// FORWARD: %[[A:.*]] = graph.exp
// FORWARD: %[[S:.*]] = graph.reduce_sum %[[A]]
// FORWARD: return %{{.*}}, %[[S]] : tensor<8x8xf32>, tensor<1x1xf32>
// BACKWARD-LABEL: func.func @small
// BACKWARD-SAME: %[[X:.*]]: tensor<8x8xf32>, %[[G:.*]]: tensor<8x8xf32>, %[[S:.*]]: tensor<1x1xf32>
// BACKWARD-NOT: graph.reduce_sum
// BACKWARD: graph.mul %[[G]], %[[S]]
func.func @small(%x: tensor<8x8xf32>, %g: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %axes = graph.constant dense<[0, 1]> : tensor<2xi64>
  %a = graph.exp %x : tensor<8x8xf32>
  %y = graph.sin %a : tensor<8x8xf32>
  %s = graph.reduce_sum %a, %axes {keepdims = true} : (tensor<8x8xf32>, tensor<2xi64>) -> tensor<1x1xf32>
  %d = graph.mul %g, %s : (tensor<8x8xf32>, tensor<1x1xf32>) -> tensor<8x8xf32>
  return %y, %d : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// What is computed again is so behind the first part, and with it what follows,
// though that is smaller: only then neither is saved.

// FORWARD-LABEL: func.func @repeated
// FORWARD-NOT: graph.less
// FORWARD: %[[Y:.*]] = graph.sin
// FORWARD-NEXT: return %[[Y]] :
// BACKWARD-LABEL: func.func @repeated
// BACKWARD-SAME: (%[[X:[^:]*]]: tensor<8xf32>, %[[G:[^:]*]]: tensor<8xf32>) ->
// BACKWARD: %[[A:.*]] = graph.exp %[[X]]
// BACKWARD: %[[C:.*]] = graph.less %[[A]]
// BACKWARD: graph.select %[[C]], %[[G]], %[[A]]
func.func @repeated(%x: tensor<8xf32>, %g: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %one = graph.constant dense<1.0> : tensor<f32>
  %a = graph.exp %x : tensor<8xf32>
  %y = graph.sin %a : tensor<8xf32>
  %again = graph.exp %x {graph.repeated = 0 : i64} : tensor<8xf32>
  %c = graph.less %again, %one : (tensor<8xf32>, tensor<f32>) -> tensor<8xi1>
  %d = graph.select %c, %g, %again : (tensor<8xi1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %y, %d : tensor<8xf32>, tensor<8xf32>
}
