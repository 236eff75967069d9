// Reductions, scans, normalisations and pooling, away from ties.
// Each function is differentiated and compared with finite differences; values
// are between `test.low` and `test.high`.

func.func @reduce_sum(%x: tensor<2x3x4xf64>) -> tensor<3xf64> {
  %a = graph.constant dense<[0, -1]> : tensor<2xi64>
  %y = graph.reduce_sum %x, %a {keepdims = false} : (tensor<2x3x4xf64>, tensor<2xi64>) -> tensor<3xf64>
  return %y : tensor<3xf64>
}

func.func @reduce_sum_2(%x: tensor<2x3xf64>) -> tensor<1x1xf64> {
  %y = graph.reduce_sum %x : (tensor<2x3xf64>) -> tensor<1x1xf64>
  return %y : tensor<1x1xf64>
}

func.func @reduce_sum_3(%x: tensor<3x2x2xf64>) -> tensor<3x1x2xf64> {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_sum %x, %a : (tensor<3x2x2xf64>, tensor<1xi64>) -> tensor<3x1x2xf64>
  return %y : tensor<3x1x2xf64>
}

func.func @reduce_mean(%x: tensor<2x3x4xf64>) -> tensor<3xf64> {
  %a = graph.constant dense<[0, -1]> : tensor<2xi64>
  %y = graph.reduce_mean %x, %a {keepdims = false} : (tensor<2x3x4xf64>, tensor<2xi64>) -> tensor<3xf64>
  return %y : tensor<3xf64>
}

func.func @reduce_mean_2(%x: tensor<2x3xf64>) -> tensor<1x1xf64> {
  %y = graph.reduce_mean %x : (tensor<2x3xf64>) -> tensor<1x1xf64>
  return %y : tensor<1x1xf64>
}

func.func @reduce_mean_3(%x: tensor<3x2x2xf64>) -> tensor<3x1x2xf64> {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_mean %x, %a : (tensor<3x2x2xf64>, tensor<1xi64>) -> tensor<3x1x2xf64>
  return %y : tensor<3x1x2xf64>
}

func.func @reduce_max(%x: tensor<2x3x4xf64>) -> tensor<3xf64> {
  %a = graph.constant dense<[0, -1]> : tensor<2xi64>
  %y = graph.reduce_max %x, %a {keepdims = false} : (tensor<2x3x4xf64>, tensor<2xi64>) -> tensor<3xf64>
  return %y : tensor<3xf64>
}

func.func @reduce_max_2(%x: tensor<2x3xf64>) -> tensor<1x1xf64> {
  %y = graph.reduce_max %x : (tensor<2x3xf64>) -> tensor<1x1xf64>
  return %y : tensor<1x1xf64>
}

func.func @reduce_max_3(%x: tensor<3x2x2xf64>) -> tensor<3x1x2xf64> {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_max %x, %a : (tensor<3x2x2xf64>, tensor<1xi64>) -> tensor<3x1x2xf64>
  return %y : tensor<3x1x2xf64>
}

func.func @reduce_min(%x: tensor<2x3x4xf64>) -> tensor<3xf64> {
  %a = graph.constant dense<[0, -1]> : tensor<2xi64>
  %y = graph.reduce_min %x, %a {keepdims = false} : (tensor<2x3x4xf64>, tensor<2xi64>) -> tensor<3xf64>
  return %y : tensor<3xf64>
}

func.func @reduce_min_2(%x: tensor<2x3xf64>) -> tensor<1x1xf64> {
  %y = graph.reduce_min %x : (tensor<2x3xf64>) -> tensor<1x1xf64>
  return %y : tensor<1x1xf64>
}

func.func @reduce_min_3(%x: tensor<3x2x2xf64>) -> tensor<3x1x2xf64> {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_min %x, %a : (tensor<3x2x2xf64>, tensor<1xi64>) -> tensor<3x1x2xf64>
  return %y : tensor<3x1x2xf64>
}

func.func @reduce_prod(%x: tensor<2x3x4xf64>) -> tensor<3xf64> {
  %a = graph.constant dense<[0, -1]> : tensor<2xi64>
  %y = graph.reduce_prod %x, %a {keepdims = false} : (tensor<2x3x4xf64>, tensor<2xi64>) -> tensor<3xf64>
  return %y : tensor<3xf64>
}

func.func @reduce_prod_2(%x: tensor<2x3xf64>) -> tensor<1x1xf64> {
  %y = graph.reduce_prod %x : (tensor<2x3xf64>) -> tensor<1x1xf64>
  return %y : tensor<1x1xf64>
}

func.func @reduce_prod_3(%x: tensor<3x2x2xf64>) -> tensor<3x1x2xf64> {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_prod %x, %a : (tensor<3x2x2xf64>, tensor<1xi64>) -> tensor<3x1x2xf64>
  return %y : tensor<3x1x2xf64>
}

func.func @reduce_prod_4(%x: tensor<2x3xf64>) -> tensor<2x1xf64> {
  %m = graph.constant dense<[[1.0, 0.0, 1.0], [0.0, 0.0, 1.0]]> : tensor<2x3xf64>
  %z = graph.mul %x, %m : tensor<2x3xf64>
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_prod %z, %a : (tensor<2x3xf64>, tensor<1xi64>) -> tensor<2x1xf64>
  return %y : tensor<2x1xf64>
}

func.func @cumsum(%x: tensor<2x3x2xf64>) -> tensor<2x3x2xf64> {
  %a = graph.constant dense<1> : tensor<i64>
  %y = graph.cumsum %x, %a : (tensor<2x3x2xf64>, tensor<i64>) -> tensor<2x3x2xf64>
  return %y : tensor<2x3x2xf64>
}

func.func @cumsum_2(%x: tensor<2x3x2xf64>) -> tensor<2x3x2xf64> {
  %a = graph.constant dense<1> : tensor<i64>
  %y = graph.cumsum %x, %a {exclusive = true} : (tensor<2x3x2xf64>, tensor<i64>) -> tensor<2x3x2xf64>
  return %y : tensor<2x3x2xf64>
}

func.func @cumsum_3(%x: tensor<2x3x2xf64>) -> tensor<2x3x2xf64> {
  %a = graph.constant dense<1> : tensor<i64>
  %y = graph.cumsum %x, %a {reverse = true} : (tensor<2x3x2xf64>, tensor<i64>) -> tensor<2x3x2xf64>
  return %y : tensor<2x3x2xf64>
}

func.func @cumsum_4(%x: tensor<2x3x2xf64>) -> tensor<2x3x2xf64> {
  %a = graph.constant dense<1> : tensor<i64>
  %y = graph.cumsum %x, %a {exclusive = true, reverse = true} : (tensor<2x3x2xf64>, tensor<i64>) -> tensor<2x3x2xf64>
  return %y : tensor<2x3x2xf64>
}

func.func @cumprod(%x: tensor<2x3x2xf64>) -> tensor<2x3x2xf64> {
  %a = graph.constant dense<1> : tensor<i64>
  %y = graph.cumprod %x, %a : (tensor<2x3x2xf64>, tensor<i64>) -> tensor<2x3x2xf64>
  return %y : tensor<2x3x2xf64>
}

func.func @cumprod_2(%x: tensor<2x3x2xf64>) -> tensor<2x3x2xf64> {
  %a = graph.constant dense<1> : tensor<i64>
  %y = graph.cumprod %x, %a {exclusive = true} : (tensor<2x3x2xf64>, tensor<i64>) -> tensor<2x3x2xf64>
  return %y : tensor<2x3x2xf64>
}

func.func @cumprod_3(%x: tensor<2x3x2xf64>) -> tensor<2x3x2xf64> {
  %a = graph.constant dense<1> : tensor<i64>
  %y = graph.cumprod %x, %a {reverse = true} : (tensor<2x3x2xf64>, tensor<i64>) -> tensor<2x3x2xf64>
  return %y : tensor<2x3x2xf64>
}

func.func @cumprod_4(%x: tensor<2x3x2xf64>) -> tensor<2x3x2xf64> {
  %a = graph.constant dense<1> : tensor<i64>
  %y = graph.cumprod %x, %a {exclusive = true, reverse = true} : (tensor<2x3x2xf64>, tensor<i64>) -> tensor<2x3x2xf64>
  return %y : tensor<2x3x2xf64>
}

func.func @cumprod_5(%x: tensor<3xf64>) -> tensor<3xf64> {
  %m = graph.constant dense<[1.0, 0.0, 1.0]> : tensor<3xf64>
  %z = graph.mul %x, %m : tensor<3xf64>
  %a = graph.constant dense<0> : tensor<i64>
  %y = graph.cumprod %z, %a : (tensor<3xf64>, tensor<i64>) -> tensor<3xf64>
  return %y : tensor<3xf64>
}

func.func @softmax(%x: tensor<2x3x2xf64>) -> tensor<2x3x2xf64> {
  %y = graph.softmax %x {axis = 0 : i64} : tensor<2x3x2xf64>
  return %y : tensor<2x3x2xf64>
}

func.func @softmax_2(%x: tensor<2x3x2xf64>) -> tensor<2x3x2xf64> {
  %y = graph.softmax %x {axis = 1 : i64} : tensor<2x3x2xf64>
  return %y : tensor<2x3x2xf64>
}

func.func @softmax_3(%x: tensor<2x3x2xf64>) -> tensor<2x3x2xf64> {
  %y = graph.softmax %x {axis = -1 : i64} : tensor<2x3x2xf64>
  return %y : tensor<2x3x2xf64>
}

func.func @log_softmax(%x: tensor<2x3x2xf64>) -> tensor<2x3x2xf64> {
  %y = graph.log_softmax %x {axis = 0 : i64} : tensor<2x3x2xf64>
  return %y : tensor<2x3x2xf64>
}

func.func @log_softmax_2(%x: tensor<2x3x2xf64>) -> tensor<2x3x2xf64> {
  %y = graph.log_softmax %x {axis = 1 : i64} : tensor<2x3x2xf64>
  return %y : tensor<2x3x2xf64>
}

func.func @log_softmax_3(%x: tensor<2x3x2xf64>) -> tensor<2x3x2xf64> {
  %y = graph.log_softmax %x {axis = -1 : i64} : tensor<2x3x2xf64>
  return %y : tensor<2x3x2xf64>
}

func.func @hardmax(%x: tensor<2x3x2xf64>) -> tensor<2x3x2xf64> {
  %y = graph.hardmax %x {axis = 0 : i64} : tensor<2x3x2xf64>
  return %y : tensor<2x3x2xf64>
}

func.func @hardmax_2(%x: tensor<2x3x2xf64>) -> tensor<2x3x2xf64> {
  %y = graph.hardmax %x {axis = 1 : i64} : tensor<2x3x2xf64>
  return %y : tensor<2x3x2xf64>
}

func.func @hardmax_3(%x: tensor<2x3x2xf64>) -> tensor<2x3x2xf64> {
  %y = graph.hardmax %x {axis = -1 : i64} : tensor<2x3x2xf64>
  return %y : tensor<2x3x2xf64>
}

func.func @batch_norm(%x: tensor<2x3x2xf64>, %s: tensor<3xf64>, %b: tensor<3xf64>, %m: tensor<3xf64>, %v: tensor<3xf64>) -> tensor<2x3x2xf64>
    attributes {test.low = 0.3 : f64, test.high = 2.0 : f64} {
  %y = graph.batch_norm %x, %s, %b, %m, %v {epsilon = 0.1 : f32} : (tensor<2x3x2xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>) -> tensor<2x3x2xf64>
  return %y : tensor<2x3x2xf64>
}

func.func @layer_norm(%x: tensor<2x3x4xf64>, %s: tensor<3x4xf64>, %b: tensor<4xf64>) -> tensor<2x3x4xf64> {
  %y = graph.layer_norm %x, %s, %b {axis = 1 : i64, epsilon = 0.1 : f32} : (tensor<2x3x4xf64>, tensor<3x4xf64>, tensor<4xf64>) -> tensor<2x3x4xf64>
  return %y : tensor<2x3x4xf64>
}

func.func @layer_norm_2(%x: tensor<2x4xf64>, %s: tensor<4xf64>) -> tensor<2x4xf64> {
  %y = graph.layer_norm %x, %s {epsilon = 0.1 : f32} : (tensor<2x4xf64>, tensor<4xf64>) -> tensor<2x4xf64>
  return %y : tensor<2x4xf64>
}

func.func @rms_norm(%x: tensor<2x4xf64>, %s: tensor<4xf64>) -> tensor<2x4xf64> {
  %y = graph.rms_norm %x, %s {epsilon = 0.1 : f32} : (tensor<2x4xf64>, tensor<4xf64>) -> tensor<2x4xf64>
  return %y : tensor<2x4xf64>
}

func.func @group_norm(%x: tensor<1x4x3xf64>, %s: tensor<4xf64>, %b: tensor<4xf64>) -> tensor<1x4x3xf64> {
  %y = graph.group_norm %x, %s, %b {num_groups = 1 : i64, epsilon = 0.1 : f32} : (tensor<1x4x3xf64>, tensor<4xf64>, tensor<4xf64>) -> tensor<1x4x3xf64>
  return %y : tensor<1x4x3xf64>
}

func.func @group_norm_2(%x: tensor<1x4x3xf64>, %s: tensor<4xf64>, %b: tensor<4xf64>) -> tensor<1x4x3xf64> {
  %y = graph.group_norm %x, %s, %b {num_groups = 2 : i64, epsilon = 0.1 : f32} : (tensor<1x4x3xf64>, tensor<4xf64>, tensor<4xf64>) -> tensor<1x4x3xf64>
  return %y : tensor<1x4x3xf64>
}

func.func @group_norm_3(%x: tensor<1x4x3xf64>, %s: tensor<4xf64>, %b: tensor<4xf64>) -> tensor<1x4x3xf64> {
  %y = graph.group_norm %x, %s, %b {num_groups = 4 : i64, epsilon = 0.1 : f32} : (tensor<1x4x3xf64>, tensor<4xf64>, tensor<4xf64>) -> tensor<1x4x3xf64>
  return %y : tensor<1x4x3xf64>
}

func.func @lrn(%x: tensor<1x4x2x2xf64>) -> tensor<1x4x2x2xf64> {
  %y = graph.lrn %x {size = 3 : i64, alpha = 0.5 : f32, bias = 1.5 : f32} : (tensor<1x4x2x2xf64>) -> tensor<1x4x2x2xf64>
  return %y : tensor<1x4x2x2xf64>
}

func.func @lrn_2(%x: tensor<1x4x2x2xf64>) -> tensor<1x4x2x2xf64> {
  %y = graph.lrn %x {size = 2 : i64, alpha = 0.5 : f32, beta = 0.6 : f32} : (tensor<1x4x2x2xf64>) -> tensor<1x4x2x2xf64>
  return %y : tensor<1x4x2x2xf64>
}

func.func @max_pool_gradient(%x: tensor<2x1x4x5xf64>, %g: tensor<2x1x3x3xf64>) -> tensor<2x1x4x5xf64> {
  %y = graph.max_pool_gradient %x, %g {kernel_shape = array<i64: 2, 3>} : (tensor<2x1x4x5xf64>, tensor<2x1x3x3xf64>) -> tensor<2x1x4x5xf64>
  return %y : tensor<2x1x4x5xf64>
}

func.func @max_pool_gradient_2(%x: tensor<1x1x2xf64>, %g: tensor<1x1x5xf64>) -> tensor<1x1x2xf64> {
  %y = graph.max_pool_gradient %x, %g {kernel_shape = array<i64: 2>, pads = array<i64: 2, 2>} : (tensor<1x1x2xf64>, tensor<1x1x5xf64>) -> tensor<1x1x2xf64>
  return %y : tensor<1x1x2xf64>
}

func.func @max_pool(%x: tensor<1x2x6xf64>) -> tensor<1x2x3xf64> {
  %y = graph.max_pool %x {kernel_shape = array<i64: 2>, strides = array<i64: 2>} : (tensor<1x2x6xf64>) -> tensor<1x2x3xf64>
  return %y : tensor<1x2x3xf64>
}

func.func @max_pool_2(%x: tensor<2x1x4x5xf64>) -> tensor<2x1x3x3xf64> {
  %y = graph.max_pool %x {kernel_shape = array<i64: 2, 3>} : (tensor<2x1x4x5xf64>) -> tensor<2x1x3x3xf64>
  return %y : tensor<2x1x3x3xf64>
}

func.func @max_pool_3(%x: tensor<1x1x5x5xf64>) -> tensor<1x1x3x3xf64> {
  %y = graph.max_pool %x {kernel_shape = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x1x5x5xf64>) -> tensor<1x1x3x3xf64>
  return %y : tensor<1x1x3x3xf64>
}

func.func @max_pool_4(%x: tensor<1x1x6xf64>) -> tensor<1x1x3xf64> {
  %y = graph.max_pool %x {kernel_shape = array<i64: 3>, strides = array<i64: 2>, ceil_mode = true} : (tensor<1x1x6xf64>) -> tensor<1x1x3xf64>
  return %y : tensor<1x1x3xf64>
}

func.func @max_pool_5(%x: tensor<1x1x7xf64>) -> tensor<1x1x3xf64> {
  %y = graph.max_pool %x {kernel_shape = array<i64: 3>, dilations = array<i64: 2>} : (tensor<1x1x7xf64>) -> tensor<1x1x3xf64>
  return %y : tensor<1x1x3xf64>
}

func.func @max_pool_6(%x: tensor<1x1x7xf64>) -> tensor<1x1x5xf64> {
  %y = graph.max_pool %x {kernel_shape = array<i64: 3>, dilations = array<i64: 2>, pads = array<i64: 1, 1>} : (tensor<1x1x7xf64>) -> tensor<1x1x5xf64>
  return %y : tensor<1x1x5xf64>
}

func.func @max_pool_7(%x: tensor<1x1x5xf64>) -> tensor<1x1x3xf64> {
  %y = graph.max_pool %x {kernel_shape = array<i64: 2>, strides = array<i64: 2>, auto_pad = "SAME_UPPER"} : (tensor<1x1x5xf64>) -> tensor<1x1x3xf64>
  return %y : tensor<1x1x3xf64>
}

func.func @max_pool_8(%x: tensor<1x1x5xf64>) -> tensor<1x1x3xf64> {
  %y = graph.max_pool %x {kernel_shape = array<i64: 2>, strides = array<i64: 2>, auto_pad = "SAME_LOWER"} : (tensor<1x1x5xf64>) -> tensor<1x1x3xf64>
  return %y : tensor<1x1x3xf64>
}

func.func @max_pool_9(%x: tensor<1x1x4x3xf64>) -> tensor<1x1x1x1xf64> {
  %y = graph.max_pool %x {kernel_shape = array<i64: 4, 3>} : (tensor<1x1x4x3xf64>) -> tensor<1x1x1x1xf64>
  return %y : tensor<1x1x1x1xf64>
}

func.func @avg_pool(%x: tensor<1x2x6xf64>) -> tensor<1x2x3xf64> {
  %y = graph.avg_pool %x {kernel_shape = array<i64: 2>, strides = array<i64: 2>} : (tensor<1x2x6xf64>) -> tensor<1x2x3xf64>
  return %y : tensor<1x2x3xf64>
}

func.func @avg_pool_2(%x: tensor<2x1x4x5xf64>) -> tensor<2x1x3x3xf64> {
  %y = graph.avg_pool %x {kernel_shape = array<i64: 2, 3>} : (tensor<2x1x4x5xf64>) -> tensor<2x1x3x3xf64>
  return %y : tensor<2x1x3x3xf64>
}

func.func @avg_pool_3(%x: tensor<1x1x5x5xf64>) -> tensor<1x1x3x3xf64> {
  %y = graph.avg_pool %x {kernel_shape = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x1x5x5xf64>) -> tensor<1x1x3x3xf64>
  return %y : tensor<1x1x3x3xf64>
}

func.func @avg_pool_4(%x: tensor<1x1x6xf64>) -> tensor<1x1x3xf64> {
  %y = graph.avg_pool %x {kernel_shape = array<i64: 3>, strides = array<i64: 2>, ceil_mode = true} : (tensor<1x1x6xf64>) -> tensor<1x1x3xf64>
  return %y : tensor<1x1x3xf64>
}

func.func @avg_pool_5(%x: tensor<1x1x7xf64>) -> tensor<1x1x3xf64> {
  %y = graph.avg_pool %x {kernel_shape = array<i64: 3>, dilations = array<i64: 2>} : (tensor<1x1x7xf64>) -> tensor<1x1x3xf64>
  return %y : tensor<1x1x3xf64>
}

func.func @avg_pool_6(%x: tensor<1x1x7xf64>) -> tensor<1x1x5xf64> {
  %y = graph.avg_pool %x {kernel_shape = array<i64: 3>, dilations = array<i64: 2>, pads = array<i64: 1, 1>} : (tensor<1x1x7xf64>) -> tensor<1x1x5xf64>
  return %y : tensor<1x1x5xf64>
}

func.func @avg_pool_7(%x: tensor<1x1x5xf64>) -> tensor<1x1x3xf64> {
  %y = graph.avg_pool %x {kernel_shape = array<i64: 2>, strides = array<i64: 2>, auto_pad = "SAME_UPPER"} : (tensor<1x1x5xf64>) -> tensor<1x1x3xf64>
  return %y : tensor<1x1x3xf64>
}

func.func @avg_pool_8(%x: tensor<1x1x5xf64>) -> tensor<1x1x3xf64> {
  %y = graph.avg_pool %x {kernel_shape = array<i64: 2>, strides = array<i64: 2>, auto_pad = "SAME_LOWER"} : (tensor<1x1x5xf64>) -> tensor<1x1x3xf64>
  return %y : tensor<1x1x3xf64>
}

func.func @avg_pool_9(%x: tensor<1x1x4x3xf64>) -> tensor<1x1x1x1xf64> {
  %y = graph.avg_pool %x {kernel_shape = array<i64: 4, 3>} : (tensor<1x1x4x3xf64>) -> tensor<1x1x1x1xf64>
  return %y : tensor<1x1x1x1xf64>
}

func.func @lp_pool(%x: tensor<1x2x6xf64>) -> tensor<1x2x3xf64> {
  %y = graph.lp_pool %x {kernel_shape = array<i64: 2>, strides = array<i64: 2>} : (tensor<1x2x6xf64>) -> tensor<1x2x3xf64>
  return %y : tensor<1x2x3xf64>
}

func.func @lp_pool_2(%x: tensor<2x1x4x5xf64>) -> tensor<2x1x3x3xf64> {
  %y = graph.lp_pool %x {kernel_shape = array<i64: 2, 3>} : (tensor<2x1x4x5xf64>) -> tensor<2x1x3x3xf64>
  return %y : tensor<2x1x3x3xf64>
}

func.func @lp_pool_3(%x: tensor<1x1x5x5xf64>) -> tensor<1x1x3x3xf64> {
  %y = graph.lp_pool %x {kernel_shape = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x1x5x5xf64>) -> tensor<1x1x3x3xf64>
  return %y : tensor<1x1x3x3xf64>
}

func.func @lp_pool_4(%x: tensor<1x1x6xf64>) -> tensor<1x1x3xf64> {
  %y = graph.lp_pool %x {kernel_shape = array<i64: 3>, strides = array<i64: 2>, ceil_mode = true} : (tensor<1x1x6xf64>) -> tensor<1x1x3xf64>
  return %y : tensor<1x1x3xf64>
}

func.func @lp_pool_5(%x: tensor<1x1x7xf64>) -> tensor<1x1x3xf64> {
  %y = graph.lp_pool %x {kernel_shape = array<i64: 3>, dilations = array<i64: 2>} : (tensor<1x1x7xf64>) -> tensor<1x1x3xf64>
  return %y : tensor<1x1x3xf64>
}

func.func @lp_pool_6(%x: tensor<1x1x7xf64>) -> tensor<1x1x5xf64> {
  %y = graph.lp_pool %x {kernel_shape = array<i64: 3>, dilations = array<i64: 2>, pads = array<i64: 1, 1>} : (tensor<1x1x7xf64>) -> tensor<1x1x5xf64>
  return %y : tensor<1x1x5xf64>
}

func.func @lp_pool_7(%x: tensor<1x1x5xf64>) -> tensor<1x1x3xf64> {
  %y = graph.lp_pool %x {kernel_shape = array<i64: 2>, strides = array<i64: 2>, auto_pad = "SAME_UPPER"} : (tensor<1x1x5xf64>) -> tensor<1x1x3xf64>
  return %y : tensor<1x1x3xf64>
}

func.func @lp_pool_8(%x: tensor<1x1x5xf64>) -> tensor<1x1x3xf64> {
  %y = graph.lp_pool %x {kernel_shape = array<i64: 2>, strides = array<i64: 2>, auto_pad = "SAME_LOWER"} : (tensor<1x1x5xf64>) -> tensor<1x1x3xf64>
  return %y : tensor<1x1x3xf64>
}

func.func @lp_pool_9(%x: tensor<1x1x4x3xf64>) -> tensor<1x1x1x1xf64> {
  %y = graph.lp_pool %x {kernel_shape = array<i64: 4, 3>} : (tensor<1x1x4x3xf64>) -> tensor<1x1x1x1xf64>
  return %y : tensor<1x1x1x1xf64>
}

func.func @avg_pool_10(%x: tensor<1x2x6xf64>) -> tensor<1x2x3xf64> {
  %y = graph.avg_pool %x {kernel_shape = array<i64: 2>, strides = array<i64: 2>, count_include_pad = true} : (tensor<1x2x6xf64>) -> tensor<1x2x3xf64>
  return %y : tensor<1x2x3xf64>
}

func.func @avg_pool_11(%x: tensor<2x1x4x5xf64>) -> tensor<2x1x3x3xf64> {
  %y = graph.avg_pool %x {kernel_shape = array<i64: 2, 3>, count_include_pad = true} : (tensor<2x1x4x5xf64>) -> tensor<2x1x3x3xf64>
  return %y : tensor<2x1x3x3xf64>
}

func.func @avg_pool_12(%x: tensor<1x1x5x5xf64>) -> tensor<1x1x3x3xf64> {
  %y = graph.avg_pool %x {kernel_shape = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, count_include_pad = true} : (tensor<1x1x5x5xf64>) -> tensor<1x1x3x3xf64>
  return %y : tensor<1x1x3x3xf64>
}

func.func @avg_pool_13(%x: tensor<1x1x6xf64>) -> tensor<1x1x3xf64> {
  %y = graph.avg_pool %x {kernel_shape = array<i64: 3>, strides = array<i64: 2>, ceil_mode = true, count_include_pad = true} : (tensor<1x1x6xf64>) -> tensor<1x1x3xf64>
  return %y : tensor<1x1x3xf64>
}

func.func @avg_pool_14(%x: tensor<1x1x7xf64>) -> tensor<1x1x3xf64> {
  %y = graph.avg_pool %x {kernel_shape = array<i64: 3>, dilations = array<i64: 2>, count_include_pad = true} : (tensor<1x1x7xf64>) -> tensor<1x1x3xf64>
  return %y : tensor<1x1x3xf64>
}

func.func @avg_pool_15(%x: tensor<1x1x7xf64>) -> tensor<1x1x5xf64> {
  %y = graph.avg_pool %x {kernel_shape = array<i64: 3>, dilations = array<i64: 2>, pads = array<i64: 1, 1>, count_include_pad = true} : (tensor<1x1x7xf64>) -> tensor<1x1x5xf64>
  return %y : tensor<1x1x5xf64>
}

func.func @avg_pool_16(%x: tensor<1x1x5xf64>) -> tensor<1x1x3xf64> {
  %y = graph.avg_pool %x {kernel_shape = array<i64: 2>, strides = array<i64: 2>, auto_pad = "SAME_UPPER", count_include_pad = true} : (tensor<1x1x5xf64>) -> tensor<1x1x3xf64>
  return %y : tensor<1x1x3xf64>
}

func.func @avg_pool_17(%x: tensor<1x1x5xf64>) -> tensor<1x1x3xf64> {
  %y = graph.avg_pool %x {kernel_shape = array<i64: 2>, strides = array<i64: 2>, auto_pad = "SAME_LOWER", count_include_pad = true} : (tensor<1x1x5xf64>) -> tensor<1x1x3xf64>
  return %y : tensor<1x1x3xf64>
}

func.func @avg_pool_18(%x: tensor<1x1x4x3xf64>) -> tensor<1x1x1x1xf64> {
  %y = graph.avg_pool %x {kernel_shape = array<i64: 4, 3>, count_include_pad = true} : (tensor<1x1x4x3xf64>) -> tensor<1x1x1x1xf64>
  return %y : tensor<1x1x1x1xf64>
}

func.func @lp_pool_10(%x: tensor<1x2x5xf64>) -> tensor<1x2x3xf64> {
  %y = graph.lp_pool %x {kernel_shape = array<i64: 3>, p = 3 : i64} : (tensor<1x2x5xf64>) -> tensor<1x2x3xf64>
  return %y : tensor<1x2x3xf64>
}

func.func @max_pool_with_indices(%x: tensor<1x2x3x4xf64>) -> tensor<1x2x2x3xf64> {
  %y, %i = graph.max_pool_with_indices %x {kernel_shape = array<i64: 2, 2>, storage_order = 0 : i64} : (tensor<1x2x3x4xf64>) -> (tensor<1x2x2x3xf64>, tensor<1x2x2x3xi64>)
  return %y : tensor<1x2x2x3xf64>
}

func.func @max_pool_with_indices_2(%x: tensor<1x2x3x4xf64>) -> tensor<1x2x2x3xf64> {
  %y, %i = graph.max_pool_with_indices %x {kernel_shape = array<i64: 2, 2>, storage_order = 1 : i64} : (tensor<1x2x3x4xf64>) -> (tensor<1x2x2x3xf64>, tensor<1x2x2x3xi64>)
  return %y : tensor<1x2x2x3xf64>
}

func.func @max_unpool(%x: tensor<1x1x2x2xf64>) -> tensor<1x1x4x4xf64> {
  %i = graph.constant dense<[[[[5, 2], [8, 15]]]]> : tensor<1x1x2x2xi64>
  %y = graph.max_unpool %x, %i {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x1x2x2xf64>, tensor<1x1x2x2xi64>) -> tensor<1x1x4x4xf64>
  return %y : tensor<1x1x4x4xf64>
}

func.func @max_unpool_2(%x: tensor<1x1x2x2xf64>) -> tensor<1x1x5x6xf64> {
  %i = graph.constant dense<[[[[5, 2], [8, 15]]]]> : tensor<1x1x2x2xi64>
  %s = graph.constant dense<[1, 1, 5, 6]> : tensor<4xi64>
  %y = graph.max_unpool %x, %i, %s {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x1x2x2xf64>, tensor<1x1x2x2xi64>, tensor<4xi64>) -> tensor<1x1x5x6xf64>
  return %y : tensor<1x1x5x6xf64>
}
