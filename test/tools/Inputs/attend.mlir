// Attention, convolution, sums and numbers of places over a length.
func.func @main(%x: tensor<?x?x8xf32> {graph.name = "x", graph.dims = ["batch", "length", ""]})
    -> (tensor<?x?x8xf32> {graph.name = "y"}, tensor<?x8xf32> {graph.name = "largest"}) {
  %zero = graph.constant dense<0> : tensor<1xi64>
  %one = graph.constant dense<1> : tensor<1xi64>
  %none = graph.constant dense<0> : tensor<i64>
  %step = graph.constant dense<1> : tensor<i64>
  %rows = graph.constant dense<[-1, 8]> : tensor<2xi64>
  %w = graph.constant dense<0.25> : tensor<8x1x3xf32>
  %b = graph.constant dense<0.5> : tensor<8xf32>
  %eight = graph.constant dense<8.0> : tensor<f32>
  %shape = graph.shape %x : (tensor<?x?x8xf32>) -> tensor<3xi64>
  %n = graph.gather %shape, %step {axis = 0 : i64} : (tensor<3xi64>, tensor<i64>) -> tensor<i64>
  %places = graph.range %none, %n, %step : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  %floats = graph.cast %places {to = f32} : (tensor<?xi64>) -> tensor<?xf32>
  %column = graph.unsqueeze %floats, %one : (tensor<?xf32>, tensor<1xi64>) -> tensor<?x1xf32>
  %tenths = graph.div %column, %eight : (tensor<?x1xf32>, tensor<f32>) -> tensor<?x1xf32>
  %0 = graph.add %x, %tenths : (tensor<?x?x8xf32>, tensor<?x1xf32>) -> tensor<?x?x8xf32>
  %sums = graph.cumsum %0, %step : (tensor<?x?x8xf32>, tensor<i64>) -> tensor<?x?x8xf32>
  %channels = graph.transpose %sums {perm = array<i64: 0, 2, 1>} : (tensor<?x?x8xf32>) -> tensor<?x8x?xf32>
  %windows = graph.conv %channels, %w, %b {pads = array<i64: 1, 1>, group = 8 : i64} : (tensor<?x8x?xf32>, tensor<8x1x3xf32>, tensor<8xf32>) -> tensor<?x8x?xf32>
  %q = graph.transpose %windows {perm = array<i64: 0, 2, 1>} : (tensor<?x8x?xf32>) -> tensor<?x?x8xf32>
  %flat = graph.reshape %q, %rows : (tensor<?x?x8xf32>, tensor<2xi64>) -> tensor<?x8xf32>
  %positive = graph.relu %flat : tensor<?x8xf32>
  %v = graph.reshape %positive, %shape : (tensor<?x8xf32>, tensor<3xi64>) -> tensor<?x?x8xf32>
  %k = graph.transpose %0 {perm = array<i64: 0, 2, 1>} : (tensor<?x?x8xf32>) -> tensor<?x8x?xf32>
  %scores = graph.matmul %q, %k : (tensor<?x?x8xf32>, tensor<?x8x?xf32>) -> tensor<?x?x?xf32>
  %weights = graph.softmax %scores {axis = -1 : i64} : tensor<?x?x?xf32>
  %y = graph.matmul %weights, %v : (tensor<?x?x?xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %largest = graph.reduce_max %y, %one {keepdims = false} : (tensor<?x?x8xf32>, tensor<1xi64>) -> tensor<?x8xf32>
  return %y, %largest : tensor<?x?x8xf32>, tensor<?x8xf32>
}
