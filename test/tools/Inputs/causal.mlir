// Attention of rows that see what is not behind them.
func.func @main(%q: tensor<70x130x16xf16> {graph.name = "q"}, %k: tensor<70x130x16xf16> {graph.name = "k"}, %v: tensor<70x130x16xf16> {graph.name = "v"}) -> (tensor<70x130x16xf16> {graph.name = "y"}) {
  %zero = graph.constant dense<0> : tensor<i64>
  %one = graph.constant dense<1> : tensor<i64>
  %end = graph.constant dense<130> : tensor<i64>
  %column = graph.constant dense<[130, 1]> : tensor<2xi64>
  %f = graph.constant dense<-6.0e+04> : tensor<f16>
  %s = graph.constant dense<0.125> : tensor<f16>
  %i = graph.range %zero, %end, %one : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<130xi64>
  %j = graph.reshape %i, %column : (tensor<130xi64>, tensor<2xi64>) -> tensor<130x1xi64>
  %c = graph.less_equal %i, %j : (tensor<130xi64>, tensor<130x1xi64>) -> tensor<130x130xi1>
  %kt = graph.transpose %k {perm = array<i64: 0, 2, 1>} : (tensor<70x130x16xf16>) -> tensor<70x16x130xf16>
  %0 = graph.matmul %q, %kt : (tensor<70x130x16xf16>, tensor<70x16x130xf16>) -> tensor<70x130x130xf16>
  %1 = graph.mul %0, %s : (tensor<70x130x130xf16>, tensor<f16>) -> tensor<70x130x130xf16>
  %2 = graph.select %c, %1, %f : (tensor<130x130xi1>, tensor<70x130x130xf16>, tensor<f16>) -> tensor<70x130x130xf16>
  %3 = graph.softmax %2 : tensor<70x130x130xf16>
  %y = graph.matmul %3, %v : (tensor<70x130x130xf16>, tensor<70x130x16xf16>) -> tensor<70x130x16xf16>
  return %y : tensor<70x130x16xf16>
}
