// Factors, inverses and determinants. Where one is only of some matrices, the
// argument is brought there: symmetric and positive definite ones, or those with
// eigenvalues far from each other.

func.func @det(%x: tensor<2x3x3xf64>) -> tensor<2xf64> {
  %y = graph.det %x : (tensor<2x3x3xf64>) -> tensor<2xf64>
  return %y : tensor<2xf64>
}

func.func @det_2(%x: tensor<1x1xf64>) -> tensor<f64> {
  %y = graph.det %x : (tensor<1x1xf64>) -> tensor<f64>
  return %y : tensor<f64>
}

// Without an inverse.
func.func @det_3(%x: tensor<1x2xf64>) -> tensor<f64> {
  %s = graph.constant dense<[2, 2]> : tensor<2xi64>
  %e = graph.expand %x, %s : (tensor<1x2xf64>, tensor<2xi64>) -> tensor<2x2xf64>
  %c = graph.constant dense<[[1.0, 0.0], [1.0, 0.0]]> : tensor<2x2xf64>
  %m = graph.mul %e, %c : tensor<2x2xf64>
  %y = graph.det %m : (tensor<2x2xf64>) -> tensor<f64>
  return %y : tensor<f64>
}

func.func @log_det(%x: tensor<2x3x3xf64>) -> (tensor<2xf64>, tensor<2xf64>) {
  %c = graph.constant dense<[[4.0, 0.0, 0.0], [0.0, -4.0, 0.0], [0.0, 0.0, 4.0]]> : tensor<3x3xf64>
  %m = graph.add %x, %c : (tensor<2x3x3xf64>, tensor<3x3xf64>) -> tensor<2x3x3xf64>
  %s, %l = graph.log_det %m : (tensor<2x3x3xf64>) -> (tensor<2xf64>, tensor<2xf64>)
  return %s, %l : tensor<2xf64>, tensor<2xf64>
}

func.func @inverse(%x: tensor<2x3x3xf64>) -> tensor<2x3x3xf64> {
  %c = graph.constant dense<[[4.0, 0.0, 0.0], [0.0, -4.0, 0.0], [0.0, 0.0, 4.0]]> : tensor<3x3xf64>
  %m = graph.add %x, %c : (tensor<2x3x3xf64>, tensor<3x3xf64>) -> tensor<2x3x3xf64>
  %y = graph.inverse %m : (tensor<2x3x3xf64>) -> tensor<2x3x3xf64>
  return %y : tensor<2x3x3xf64>
}

func.func @cholesky(%x: tensor<2x3x3xf64>) -> tensor<2x3x3xf64> {
  %c = graph.constant dense<[[12.0, 0.0, 0.0], [0.0, 11.0, 0.0], [0.0, 0.0, 13.0]]> : tensor<3x3xf64>
  %t = graph.transpose %x {perm = array<i64: 0, 2, 1>} : (tensor<2x3x3xf64>) -> tensor<2x3x3xf64>
  %a = graph.add %x, %t : tensor<2x3x3xf64>
  %m = graph.add %a, %c : (tensor<2x3x3xf64>, tensor<3x3xf64>) -> tensor<2x3x3xf64>
  %y = graph.cholesky %m : (tensor<2x3x3xf64>) -> tensor<2x3x3xf64>
  return %y : tensor<2x3x3xf64>
}

func.func @triangular_solve(%a: tensor<2x3x3xf64>, %b: tensor<2x3x2xf64>) -> tensor<2x3x2xf64> {
  %c = graph.constant dense<[[4.0, 0.0, 0.0], [0.0, -4.0, 0.0], [0.0, 0.0, 4.0]]> : tensor<3x3xf64>
  %m = graph.add %a, %c : (tensor<2x3x3xf64>, tensor<3x3xf64>) -> tensor<2x3x3xf64>
  %y = graph.triangular_solve %m, %b : (tensor<2x3x3xf64>, tensor<2x3x2xf64>) -> tensor<2x3x2xf64>
  return %y : tensor<2x3x2xf64>
}

func.func @triangular_solve_2(%a: tensor<3x3xf64>, %b: tensor<3x2xf64>) -> tensor<3x2xf64> {
  %c = graph.constant dense<[[4.0, 0.0, 0.0], [0.0, -4.0, 0.0], [0.0, 0.0, 4.0]]> : tensor<3x3xf64>
  %m = graph.add %a, %c : tensor<3x3xf64>
  %y = graph.triangular_solve %m, %b {transposed = true, upper = true} : (tensor<3x3xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}

func.func @triangular_solve_3(%a: tensor<3x3xf64>, %b: tensor<3x2xf64>) -> tensor<3x2xf64> {
  %c = graph.constant dense<[[4.0, 0.0, 0.0], [0.0, -4.0, 0.0], [0.0, 0.0, 4.0]]> : tensor<3x3xf64>
  %m = graph.add %a, %c : tensor<3x3xf64>
  %y = graph.triangular_solve %m, %b {transposed = true} : (tensor<3x3xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}

func.func @eigh(%x: tensor<2x3x3xf64>) -> (tensor<2x3xf64>, tensor<2x3x3xf64>) {
  %c = graph.constant dense<[[8.0, 0.0, 0.0], [0.0, -4.0, 0.0], [0.0, 0.0, 20.0]]> : tensor<3x3xf64>
  %t = graph.transpose %x {perm = array<i64: 0, 2, 1>} : (tensor<2x3x3xf64>) -> tensor<2x3x3xf64>
  %a = graph.add %x, %t : tensor<2x3x3xf64>
  %m = graph.add %a, %c : (tensor<2x3x3xf64>, tensor<3x3xf64>) -> tensor<2x3x3xf64>
  %l, %v = graph.eigh %m : (tensor<2x3x3xf64>) -> (tensor<2x3xf64>, tensor<2x3x3xf64>)
  return %l, %v : tensor<2x3xf64>, tensor<2x3x3xf64>
}

func.func @lq(%x: tensor<2x2x3xf64>) -> (tensor<2x2x2xf64>, tensor<2x2x3xf64>) {
  %c = graph.constant dense<[[4.0, 0.0, 0.0], [0.0, -4.0, 0.0]]> : tensor<2x3xf64>
  %m = graph.add %x, %c : (tensor<2x2x3xf64>, tensor<2x3xf64>) -> tensor<2x2x3xf64>
  %l, %q = graph.lq %m : (tensor<2x2x3xf64>) -> (tensor<2x2x2xf64>, tensor<2x2x3xf64>)
  return %l, %q : tensor<2x2x2xf64>, tensor<2x2x3xf64>
}
