// Convolutions that have several algorithms and layouts.
func.func @main(%x: tensor<1x32x14x14xf32> {graph.name = "x"})
    -> (tensor<1x32x14x14xf32> {graph.name = "y"}) {
  %w = graph.constant dense<0.01> : tensor<32x32x3x3xf32>
  %0 = graph.conv %x, %w {pads = array<i64: 1, 1, 1, 1>}
      : (tensor<1x32x14x14xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x14x14xf32>
  %1 = graph.relu %0 : tensor<1x32x14x14xf32>
  %2 = graph.conv %1, %w {pads = array<i64: 1, 1, 1, 1>}
      : (tensor<1x32x14x14xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x14x14xf32>
  return %2 : tensor<1x32x14x14xf32>
}
