func.func @main(%x: tensor<8x12xf32> {graph.name = "data"}, %w: tensor<4x12xf32> {graph.name = "weight"}) -> (tensor<16x2xf32> {graph.name = "scores"}) {
  %t = graph.transpose %w {perm = array<i64: 1, 0>} : (tensor<4x12xf32>) -> tensor<12x4xf32>
  %p = graph.matmul %x, %t : (tensor<8x12xf32>, tensor<12x4xf32>) -> tensor<8x4xf32>
  %shape = graph.constant dense<[16, 2]> : tensor<2xi64>
  %y = graph.reshape %p, %shape : (tensor<8x4xf32>, tensor<2xi64>) -> tensor<16x2xf32>
  return %y : tensor<16x2xf32>
}
