// An attention as PyTorch's layers with `batch_first` are exported: the sequence
// in front, of which a reshape makes one dimension with the batch.
func.func @main(%x: tensor<?x5x8xf32> {graph.name = "x"}) -> (tensor<?x5x8xf32> {graph.name = "y"}) {
  %w = graph.constant dense<[[0.5, -0.25, 0.125, 0.0, 1.0, -0.5, 0.25, 0.75]]> : tensor<1x8xf32>
  %v = graph.constant dense<[[0.25], [0.5], [-0.75], [1.0], [0.125], [-0.5], [0.375], [-1.0]]> : tensor<8x1xf32>
  %b = graph.constant dense<[0.5, 0.25, -0.5, 1.0, 0.0, 0.75, -0.25, 0.125]> : tensor<8xf32>
  %rows = graph.constant dense<[-1, 8]> : tensor<2xi64>
  %heads = graph.constant dense<[5, -1, 4]> : tensor<3xi64>
  %apart = graph.constant dense<[5, -1, 8]> : tensor<3xi64>
  %0 = graph.transpose %x {perm = array<i64: 1, 0, 2>} : (tensor<?x5x8xf32>) -> tensor<5x?x8xf32>
  %1 = graph.reshape %0, %heads : (tensor<5x?x8xf32>, tensor<3xi64>) -> tensor<5x?x4xf32>
  %2 = graph.transpose %1 {perm = array<i64: 1, 0, 2>} : (tensor<5x?x4xf32>) -> tensor<?x5x4xf32>
  %3 = graph.transpose %1 {perm = array<i64: 1, 2, 0>} : (tensor<5x?x4xf32>) -> tensor<?x4x5xf32>
  %4 = graph.matmul %2, %3 : (tensor<?x5x4xf32>, tensor<?x4x5xf32>) -> tensor<?x5x5xf32>
  %5 = graph.softmax %4 {axis = 2 : i64} : tensor<?x5x5xf32>
  %6 = graph.matmul %5, %2 : (tensor<?x5x5xf32>, tensor<?x5x4xf32>) -> tensor<?x5x4xf32>
  %7 = graph.transpose %6 {perm = array<i64: 1, 0, 2>} : (tensor<?x5x4xf32>) -> tensor<5x?x4xf32>
  %8 = graph.reshape %7, %rows : (tensor<5x?x4xf32>, tensor<2xi64>) -> tensor<?x8xf32>
  %9 = graph.matmul %8, %v : (tensor<?x8xf32>, tensor<8x1xf32>) -> tensor<?x1xf32>
  %10 = graph.matmul %9, %w : (tensor<?x1xf32>, tensor<1x8xf32>) -> tensor<?x8xf32>
  %11 = graph.add %10, %b : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %12 = graph.layer_norm %11, %b, %b : (tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %13 = graph.reshape %12, %apart : (tensor<?x8xf32>, tensor<3xi64>) -> tensor<5x?x8xf32>
  %14 = graph.transpose %13 {perm = array<i64: 1, 0, 2>} : (tensor<5x?x8xf32>) -> tensor<?x5x8xf32>
  return %14 : tensor<?x5x8xf32>
}
