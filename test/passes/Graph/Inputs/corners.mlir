// Gradients where functions have corners, arguments are equal, or a branch that
// is not taken overflows. The gradients of results are 1, 2, 3, ...; those of
// the arguments `test.at` must be `test.expected`, once more differentiated
// where `test.order` is 2.

//===-- What MXNet 1.9.1 gives ---------------------------------------------===//

func.func @relu(%a: tensor<3xf64>) -> tensor<3xf64> attributes {
    test.at = [dense<[-1.0, 0.0, 2.0]> : tensor<3xf64>],
    test.expected = [dense<[0.0, 0.0, 3.0]> : tensor<3xf64>]} {
  %y = graph.relu %a : tensor<3xf64>
  return %y : tensor<3xf64>
}

func.func @abs(%a: tensor<3xf64>) -> tensor<3xf64> attributes {
    test.at = [dense<[-1.0, 0.0, 2.0]> : tensor<3xf64>],
    test.expected = [dense<[-1.0, 0.0, 3.0]> : tensor<3xf64>]} {
  %y = graph.abs %a : tensor<3xf64>
  return %y : tensor<3xf64>
}

func.func @sign(%a: tensor<3xf64>) -> tensor<3xf64> attributes {
    test.at = [dense<[-1.0, 0.0, 2.0]> : tensor<3xf64>],
    test.expected = [dense<[0.0, 0.0, 0.0]> : tensor<3xf64>]} {
  %y = graph.sign %a : tensor<3xf64>
  return %y : tensor<3xf64>
}

func.func @leaky_relu(%a: tensor<3xf64>) -> tensor<3xf64> attributes {
    test.at = [dense<[-1.0, 0.0, 2.0]> : tensor<3xf64>],
    test.expected = [dense<[0.25, 0.5, 3.0]> : tensor<3xf64>]} {
  %y = graph.leaky_relu %a {alpha = 0.25 : f32} : tensor<3xf64>
  return %y : tensor<3xf64>
}

func.func @elu(%a: tensor<3xf64>) -> tensor<3xf64> attributes {
    test.at = [dense<[-1.0, 0.0, 2.0]> : tensor<3xf64>],
    test.expected = [dense<[0.0919698603, 0.5, 3.0]> : tensor<3xf64>]} {
  %y = graph.elu %a {alpha = 0.25 : f32} : tensor<3xf64>
  return %y : tensor<3xf64>
}

func.func @prelu(%a: tensor<3xf64>, %b: tensor<3xf64>) -> tensor<3xf64> attributes {
    test.at = [dense<[-1.0, 0.0, 2.0]> : tensor<3xf64>, dense<0.25> : tensor<3xf64>],
    test.expected = [dense<[0.25, 0.5, 3.0]> : tensor<3xf64>, dense<[-1.0, 0.0, 0.0]> : tensor<3xf64>]} {
  %y = graph.prelu %a, %b : tensor<3xf64>
  return %y : tensor<3xf64>
}

func.func @hard_sigmoid(%a: tensor<4xf64>) -> tensor<4xf64> attributes {
    test.at = [dense<[-2.0, 0.0, 2.0, 1.0]> : tensor<4xf64>],
    test.expected = [dense<[0.0, 0.5, 0.0, 1.0]> : tensor<4xf64>]} {
  %y = graph.hard_sigmoid %a {alpha = 0.25 : f32, beta = 0.5 : f32} : tensor<4xf64>
  return %y : tensor<4xf64>
}

func.func @clamp(%a: tensor<4xf64>) -> tensor<4xf64> attributes {
    test.at = [dense<[-1.0, 0.0, 2.0, 3.0]> : tensor<4xf64>],
    test.expected = [dense<[1.0, 2.0, 3.0, 0.0]> : tensor<4xf64>]} {
  %l = graph.constant dense<-1.0> : tensor<f64>
  %h = graph.constant dense<2.0> : tensor<f64>
  %y = graph.clamp %a, %l, %h : (tensor<4xf64>, tensor<f64>, tensor<f64>) -> tensor<4xf64>
  return %y : tensor<4xf64>
}

func.func @max(%a: tensor<3xf64>, %b: tensor<3xf64>) -> tensor<3xf64> attributes {
    test.at = [dense<[1.0, 2.0, 3.0]> : tensor<3xf64>, dense<[1.0, 3.0, 2.0]> : tensor<3xf64>],
    test.expected = [dense<[1.0, 0.0, 3.0]> : tensor<3xf64>, dense<[0.0, 2.0, 0.0]> : tensor<3xf64>]} {
  %y = graph.max %a, %b : tensor<3xf64>
  return %y : tensor<3xf64>
}

func.func @min(%a: tensor<3xf64>, %b: tensor<3xf64>) -> tensor<3xf64> attributes {
    test.at = [dense<[1.0, 2.0, 3.0]> : tensor<3xf64>, dense<[1.0, 3.0, 2.0]> : tensor<3xf64>],
    test.expected = [dense<[1.0, 2.0, 0.0]> : tensor<3xf64>, dense<[0.0, 0.0, 3.0]> : tensor<3xf64>]} {
  %y = graph.min %a, %b : tensor<3xf64>
  return %y : tensor<3xf64>
}

func.func @reduce_max(%a: tensor<2x3xf64>) -> tensor<2xf64> attributes {
    test.at = [dense<[[1.0, 3.0, 3.0], [2.0, 2.0, 0.0]]> : tensor<2x3xf64>],
    test.expected = [dense<[[0.0, 1.0, 1.0], [2.0, 2.0, 0.0]]> : tensor<2x3xf64>]} {
  %i = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_max %a, %i {keepdims = false} : (tensor<2x3xf64>, tensor<1xi64>) -> tensor<2xf64>
  return %y : tensor<2xf64>
}

func.func @reduce_min(%a: tensor<2x3xf64>) -> tensor<2xf64> attributes {
    test.at = [dense<[[3.0, 1.0, 1.0], [2.0, 2.0, 5.0]]> : tensor<2x3xf64>],
    test.expected = [dense<[[0.0, 1.0, 1.0], [2.0, 2.0, 0.0]]> : tensor<2x3xf64>]} {
  %i = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_min %a, %i {keepdims = false} : (tensor<2x3xf64>, tensor<1xi64>) -> tensor<2xf64>
  return %y : tensor<2xf64>
}

func.func @max_pool(%a: tensor<1x1x1x4xf64>) -> tensor<1x1x1x3xf64> attributes {
    test.at = [dense<[[[[2.0, 2.0, 1.0, 1.0]]]]> : tensor<1x1x1x4xf64>],
    test.expected = [dense<[[[[1.0, 2.0, 3.0, 0.0]]]]> : tensor<1x1x1x4xf64>]} {
  %y = graph.max_pool %a {kernel_shape = array<i64: 1, 2>} : (tensor<1x1x1x4xf64>) -> tensor<1x1x1x3xf64>
  return %y : tensor<1x1x1x3xf64>
}

func.func @max_pool_padded(%a: tensor<1x1x1x4xf64>) -> tensor<1x1x1x5xf64> attributes {
    test.at = [dense<[[[[2.0, 2.0, 1.0, 1.0]]]]> : tensor<1x1x1x4xf64>],
    test.expected = [dense<[[[[3.0, 3.0, 4.0, 5.0]]]]> : tensor<1x1x1x4xf64>]} {
  %y = graph.max_pool %a {kernel_shape = array<i64: 1, 2>, pads = array<i64: 0, 1, 0, 1>} : (tensor<1x1x1x4xf64>) -> tensor<1x1x1x5xf64>
  return %y : tensor<1x1x1x5xf64>
}

//===-- Where e^x or a power is infinite ------------------------------------===//

func.func @elu_far(%a: tensor<2xf32>) -> tensor<2xf32> attributes {
    test.at = [dense<[100.0, -200.0]> : tensor<2xf32>],
    test.expected = [dense<[1.0, 0.0]> : tensor<2xf32>], test.order = 2 : i64} {
  %y = graph.elu %a {alpha = 0.5 : f32} : tensor<2xf32>
  return %y : tensor<2xf32>
}

func.func @selu_far(%a: tensor<2xf32>) -> tensor<2xf32> attributes {
    test.at = [dense<[100.0, -200.0]> : tensor<2xf32>],
    test.expected = [dense<[1.0507009873, 0.0]> : tensor<2xf32>], test.order = 2 : i64} {
  %y = graph.selu %a : tensor<2xf32>
  return %y : tensor<2xf32>
}

func.func @celu_far(%a: tensor<2xf32>) -> tensor<2xf32> attributes {
    test.at = [dense<[100.0, -200.0]> : tensor<2xf32>],
    test.expected = [dense<[1.0, 0.0]> : tensor<2xf32>], test.order = 2 : i64} {
  %y = graph.celu %a {alpha = 0.5 : f32} : tensor<2xf32>
  return %y : tensor<2xf32>
}

func.func @gelu_far(%a: tensor<2xf16>) -> tensor<2xf16> attributes {
    test.at = [dense<[300.0, -300.0]> : tensor<2xf16>],
    test.expected = [dense<[1.0, 0.0]> : tensor<2xf16>]} {
  %y = graph.gelu %a {approximate = "tanh"} : tensor<2xf16>
  return %y : tensor<2xf16>
}

func.func @gelu_far_2(%a: tensor<2xf16>) -> tensor<2xf16> attributes {
    test.at = [dense<[300.0, -300.0]> : tensor<2xf16>],
    test.expected = [dense<[1.0, 0.0]> : tensor<2xf16>], test.order = 2 : i64} {
  %y = graph.gelu %a {approximate = "tanh"} : tensor<2xf16>
  return %y : tensor<2xf16>
}

//===-- What rules promise beyond that --------------------------------------===//
// Windows of nothing but padding count nothing; 0^0 and products with zeros
// have gradients that are numbers, where MXNet has NaN. Below 0 that of selu is
// gamma alpha e^x, where MXNet has another function.

func.func @selu(%a: tensor<3xf64>) -> tensor<3xf64> attributes {
    test.at = [dense<[-1.0, 0.0, 2.0]> : tensor<3xf64>],
    test.expected = [dense<[0.6467686051, 3.5161986311, 3.1521029472]> : tensor<3xf64>]} {
  %y = graph.selu %a : tensor<3xf64>
  return %y : tensor<3xf64>
}

func.func @max_pool_apart(%a: tensor<1x1x2xf64>) -> tensor<1x1x5xf64> attributes {
    test.at = [dense<[[[1.0, 2.0]]]> : tensor<1x1x2xf64>],
    test.expected = [dense<[[[2.0, 7.0]]]> : tensor<1x1x2xf64>]} {
  %y = graph.max_pool %a {kernel_shape = array<i64: 2>, pads = array<i64: 2, 2>} : (tensor<1x1x2xf64>) -> tensor<1x1x5xf64>
  return %y : tensor<1x1x5xf64>
}

func.func @pow(%a: tensor<3xf64>, %b: tensor<3xf64>) -> tensor<3xf64> attributes {
    test.at = [dense<[0.0, 0.0, 2.0]> : tensor<3xf64>, dense<[0.0, 2.0, 0.0]> : tensor<3xf64>],
    test.expected = [dense<[0.0, 0.0, 0.0]> : tensor<3xf64>, dense<[0.0, 0.0, 2.0794415417]> : tensor<3xf64>]} {
  %y = graph.pow %a, %b : tensor<3xf64>
  return %y : tensor<3xf64>
}

func.func @reduce_prod(%a: tensor<2x3xf64>) -> tensor<2xf64> attributes {
    test.at = [dense<[[0.0, 2.0, 3.0], [0.0, 0.0, 3.0]]> : tensor<2x3xf64>],
    test.expected = [dense<[[6.0, 0.0, 0.0], [0.0, 0.0, 0.0]]> : tensor<2x3xf64>]} {
  %i = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_prod %a, %i {keepdims = false} : (tensor<2x3xf64>, tensor<1xi64>) -> tensor<2xf64>
  return %y : tensor<2xf64>
}

//===-- The first of equals -------------------------------------------------===//

func.func @max_roi_pool(%a: tensor<1x1x2x3xf64>) -> tensor<1x1x1x2xf64> attributes {
    test.at = [dense<[[[[1.0, 3.0, 5.0], [3.0, 3.0, 5.0]]]]> : tensor<1x1x2x3xf64>],
    test.expected = [dense<[[[[0.0, 1.0, 2.0], [0.0, 0.0, 0.0]]]]> : tensor<1x1x2x3xf64>]} {
  %r = graph.constant dense<[[0.0, 0.0, 0.0, 2.0, 1.0]]> : tensor<1x5xf64>
  %y = graph.max_roi_pool %a, %r {pooled_shape = array<i64: 1, 2>} : (tensor<1x1x2x3xf64>, tensor<1x5xf64>) -> tensor<1x1x1x2xf64>
  return %y : tensor<1x1x1x2xf64>
}

// Samples at the centres of four elements: a quarter of the first.
func.func @roi_align_max(%a: tensor<1x1x2x2xf64>) -> tensor<1x1x1x1xf64> attributes {
    test.at = [dense<[[[[1.0, 3.0], [3.0, 2.0]]]]> : tensor<1x1x2x2xf64>],
    test.expected = [dense<[[[[0.0, 0.25], [0.0, 0.0]]]]> : tensor<1x1x2x2xf64>]} {
  %r = graph.constant dense<[[0.0, 0.0, 2.0, 2.0]]> : tensor<1x4xf64>
  %b = graph.constant dense<0> : tensor<1xi64>
  %y = graph.roi_align %a, %r, %b {mode = "max", sampling_ratio = 1 : i64} : (tensor<1x1x2x2xf64>, tensor<1x4xf64>, tensor<1xi64>) -> tensor<1x1x1x1xf64>
  return %y : tensor<1x1x1x1xf64>
}
