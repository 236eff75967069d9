func.func @main(%x: tensor<8x12xf32> {graph.name = "data"}, %w: tensor<4x12xf32> {graph.name = "weight"}) -> (tensor<8x4xf32> {graph.name = "scores"}) {
  %t = graph.transpose %w {perm = array<i64: 1, 0>} : (tensor<4x12xf32>) -> tensor<12x4xf32>
  %y = graph.matmul %x, %t : (tensor<8x12xf32>, tensor<12x4xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}
