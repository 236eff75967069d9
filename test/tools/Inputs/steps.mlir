// What learns from pooled images, and from words by a recurrent layer.
func.func @main(%x: tensor<2x3x9x8xf32> {graph.name = "x"}, %words: tensor<5x2xi64> {graph.name = "words"}, %table: tensor<11x4xf32> {graph.name = "table"}, %w: tensor<1x12x4xf32> {graph.name = "w"}, %r: tensor<1x12x3xf32> {graph.name = "r"}) -> (tensor<2x3x4x4xf32> {graph.name = "pooled"}, tensor<1x2x3xf32> {graph.name = "state"}) {
  %none = graph.none : none
  %0 = graph.tanh %x : tensor<2x3x9x8xf32>
  %1 = graph.max_pool %0 {kernel_shape = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 0, 1, 0, 0>} : (tensor<2x3x9x8xf32>) -> tensor<2x3x4x4xf32>
  %2 = graph.gather %table, %words : (tensor<11x4xf32>, tensor<5x2xi64>) -> tensor<5x2x4xf32>
  %y, %h, %c = graph.lstm %2, %w, %r, %none, %none, %none, %none, %none {hidden_size = 3 : i64} : (tensor<5x2x4xf32>, tensor<1x12x4xf32>, tensor<1x12x3xf32>, none, none, none, none, none) -> (tensor<5x1x2x3xf32>, tensor<1x2x3xf32>, tensor<1x2x3xf32>)
  return %1, %h : tensor<2x3x4x4xf32>, tensor<1x2x3xf32>
}
