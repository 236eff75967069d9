func.func @main(%x: tensor<2x?xf32> {graph.name = "x", graph.dims = ["", "length"]}) -> (tensor<1x1xf32>, tensor<1xf32>) {
  %axes = graph.constant dense<[0, 1]> : tensor<2xi64>
  %zero = graph.constant dense<0> : tensor<1xi64>
  %v = graph.reduce_sum %x, %axes {keepdims = true} : (tensor<2x?xf32>, tensor<2xi64>) -> tensor<1x1xf32>
  %o = graph.squeeze %v, %zero : (tensor<1x1xf32>, tensor<1xi64>) -> tensor<1xf32>
  return %v, %o : tensor<1x1xf32>, tensor<1xf32>
}
