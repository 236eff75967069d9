// RUN: dlc-opt %s --graph-fold-constants --remarks-filter='graph-.*' 2>&1 | FileCheck %s
// Rules about values hold when they are computed; folding, which computes, says
// what is wrong and leaves the operation to the run.

// CHECK: Function=gather_c3 | Reason="it cannot be computed: gather: expected an index in [-2, 2), got 2 at position 0"
func.func @gather_c3() -> tensor<1xf32> {
  %x = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %i = graph.constant dense<2> : tensor<1xi64>
  %y = graph.gather %x, %i : (tensor<2xf32>, tensor<1xi64>) -> tensor<1xf32>
  return %y : tensor<1xf32>
}

// CHECK: Function=resolve_indices_c3 | Reason="it cannot be computed: resolve_indices: expected an index in [-2, 2), got 2 at position 0"
func.func @resolve_indices_c3() -> tensor<1xi64> {
  %i = graph.constant dense<2> : tensor<1xi64>
  %y = graph.resolve_indices %i {extents = array<i64: 2>} : (tensor<1xi64>) -> tensor<1xi64>
  return %y : tensor<1xi64>
}

// CHECK: Function=gather_elements_c3 | Reason="it cannot be computed: gather_elements: expected an index in [-2, 2), got -3 at position 0"
func.func @gather_elements_c3() -> tensor<1xf32> {
  %x = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %i = graph.constant dense<-3> : tensor<1xi64>
  %y = graph.gather_elements %x, %i : (tensor<2xf32>, tensor<1xi64>) -> tensor<1xf32>
  return %y : tensor<1xf32>
}

// CHECK: Function=gather_nd_c3 | Reason="it cannot be computed: gather_nd: expected an index in [-2, 2), got 2 at position 0"
func.func @gather_nd_c3() -> tensor<1xf32> {
  %x = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %i = graph.constant dense<2> : tensor<1x1xi64>
  %y = graph.gather_nd %x, %i : (tensor<2xf32>, tensor<1x1xi64>) -> tensor<1xf32>
  return %y : tensor<1xf32>
}

// CHECK: Function=scatter_elements_c3 | Reason="it cannot be computed: scatter_elements: expected an index in [-2, 2), got -3 at position 0"
func.func @scatter_elements_c3() -> tensor<2xf32> {
  %x = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %u = graph.constant dense<3.0> : tensor<1xf32>
  %i = graph.constant dense<-3> : tensor<1xi64>
  %y = graph.scatter_elements %x, %i, %u : (tensor<2xf32>, tensor<1xi64>, tensor<1xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// CHECK: Function=scatter_nd_c3 | Reason="it cannot be computed: scatter_nd: expected an index in [-2, 2), got 2 at position 0"
func.func @scatter_nd_c3() -> tensor<2xf32> {
  %x = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %u = graph.constant dense<3.0> : tensor<1xf32>
  %i = graph.constant dense<2> : tensor<1x1xi64>
  %y = graph.scatter_nd %x, %i, %u : (tensor<2xf32>, tensor<1x1xi64>, tensor<1xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
