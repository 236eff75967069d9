// Elementwise operations away from their corners.
// Each function is differentiated and compared with finite differences; values
// are between `test.low` and `test.high`.

func.func @abs(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %y = graph.abs %x : tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @neg(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %y = graph.neg %x : tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @sign(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %y = graph.sign %x : tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @ceil(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %y = graph.ceil %x : tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @floor(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %y = graph.floor %x : tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @round(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %y = graph.round %x : tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @exp(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %y = graph.exp %x : tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @sin(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %y = graph.sin %x : tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @cos(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %y = graph.cos %x : tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @tanh(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %y = graph.tanh %x : tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @sinh(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %y = graph.sinh %x : tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @cosh(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %y = graph.cosh %x : tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @asinh(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %y = graph.asinh %x : tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @atan(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %y = graph.atan %x : tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @erf(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %y = graph.erf %x : tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @relu(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %y = graph.relu %x : tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @sigmoid(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %y = graph.sigmoid %x : tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @softplus(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %y = graph.softplus %x : tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @softsign(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %y = graph.softsign %x : tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @silu(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %y = graph.silu %x : tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @mish(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %y = graph.mish %x : tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @selu(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %y = graph.selu %x : tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @hard_swish(%x: tensor<2x3xf64>) -> tensor<2x3xf64>
    attributes {test.low = -4.1 : f64, test.high = 4.3 : f64} {
  %y = graph.hard_swish %x : tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @sqrt(%x: tensor<2x3xf64>) -> tensor<2x3xf64>
    attributes {test.low = 0.3 : f64, test.high = 2.5 : f64} {
  %y = graph.sqrt %x : tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @rsqrt(%x: tensor<2x3xf64>) -> tensor<2x3xf64>
    attributes {test.low = 0.3 : f64, test.high = 2.5 : f64} {
  %y = graph.rsqrt %x : tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @reciprocal(%x: tensor<2x3xf64>) -> tensor<2x3xf64>
    attributes {test.low = 0.3 : f64, test.high = 2.5 : f64} {
  %y = graph.reciprocal %x : tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @log(%x: tensor<2x3xf64>) -> tensor<2x3xf64>
    attributes {test.low = 0.3 : f64, test.high = 2.5 : f64} {
  %y = graph.log %x : tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @tan(%x: tensor<2x3xf64>) -> tensor<2x3xf64>
    attributes {test.low = -1.0 : f64, test.high = 1.0 : f64} {
  %y = graph.tan %x : tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @asin(%x: tensor<2x3xf64>) -> tensor<2x3xf64>
    attributes {test.low = -0.8 : f64, test.high = 0.8 : f64} {
  %y = graph.asin %x : tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @acos(%x: tensor<2x3xf64>) -> tensor<2x3xf64>
    attributes {test.low = -0.8 : f64, test.high = 0.8 : f64} {
  %y = graph.acos %x : tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @atanh(%x: tensor<2x3xf64>) -> tensor<2x3xf64>
    attributes {test.low = -0.8 : f64, test.high = 0.8 : f64} {
  %y = graph.atanh %x : tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @acosh(%x: tensor<2x3xf64>) -> tensor<2x3xf64>
    attributes {test.low = 1.2 : f64, test.high = 3.0 : f64} {
  %y = graph.acosh %x : tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @elu(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %y = graph.elu %x : tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @elu_2(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %y = graph.elu %x {alpha = 0.5 : f32} : tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @celu(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %y = graph.celu %x {alpha = 0.7 : f32} : tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @leaky_relu(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %y = graph.leaky_relu %x {alpha = 0.1 : f32} : tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @hard_sigmoid(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %y = graph.hard_sigmoid %x {alpha = 0.3 : f32, beta = 0.4 : f32} : tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @thresholded_relu(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %y = graph.thresholded_relu %x {alpha = 0.6 : f32} : tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @shrink(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %y = graph.shrink %x {bias = 0.2 : f32, lambd = 0.7 : f32} : tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @gelu(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %y = graph.gelu %x : tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @gelu_2(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %y = graph.gelu %x {approximate = "tanh"} : tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @swish(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %y = graph.swish %x {alpha = 1.5 : f32} : tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @swish_2(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %y = graph.swish %x : tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @cast(%x: tensor<2x3xf64>) -> tensor<2x3xf32>
    attributes {test.step = 0.01 : f64, test.tolerance = 0.001 : f64} {
  %y = graph.cast %x {to = f32} : (tensor<2x3xf64>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

func.func @cast_2(%x: tensor<2x3xf32>) -> tensor<2x3xf64>
    attributes {test.step = 0.01 : f64, test.tolerance = 0.001 : f64} {
  %y = graph.cast %x {to = f64} : (tensor<2x3xf32>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @add(%a: tensor<2x3xf64>, %b: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %y = graph.add %a, %b : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @add_2(%a: tensor<2x3xf64>, %b: tensor<3xf64>) -> tensor<2x3xf64> {
  %y = graph.add %a, %b : (tensor<2x3xf64>, tensor<3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @add_3(%a: tensor<4x1x3xf64>, %b: tensor<2x1xf64>) -> tensor<4x2x3xf64> {
  %y = graph.add %a, %b : (tensor<4x1x3xf64>, tensor<2x1xf64>) -> tensor<4x2x3xf64>
  return %y : tensor<4x2x3xf64>
}

func.func @add_4(%a: tensor<f64>, %b: tensor<2xf64>) -> tensor<2xf64> {
  %y = graph.add %a, %b : (tensor<f64>, tensor<2xf64>) -> tensor<2xf64>
  return %y : tensor<2xf64>
}

func.func @sub(%a: tensor<2x3xf64>, %b: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %y = graph.sub %a, %b : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @sub_2(%a: tensor<2x3xf64>, %b: tensor<3xf64>) -> tensor<2x3xf64> {
  %y = graph.sub %a, %b : (tensor<2x3xf64>, tensor<3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @sub_3(%a: tensor<4x1x3xf64>, %b: tensor<2x1xf64>) -> tensor<4x2x3xf64> {
  %y = graph.sub %a, %b : (tensor<4x1x3xf64>, tensor<2x1xf64>) -> tensor<4x2x3xf64>
  return %y : tensor<4x2x3xf64>
}

func.func @sub_4(%a: tensor<f64>, %b: tensor<2xf64>) -> tensor<2xf64> {
  %y = graph.sub %a, %b : (tensor<f64>, tensor<2xf64>) -> tensor<2xf64>
  return %y : tensor<2xf64>
}

func.func @mul(%a: tensor<2x3xf64>, %b: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %y = graph.mul %a, %b : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @mul_2(%a: tensor<2x3xf64>, %b: tensor<3xf64>) -> tensor<2x3xf64> {
  %y = graph.mul %a, %b : (tensor<2x3xf64>, tensor<3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @mul_3(%a: tensor<4x1x3xf64>, %b: tensor<2x1xf64>) -> tensor<4x2x3xf64> {
  %y = graph.mul %a, %b : (tensor<4x1x3xf64>, tensor<2x1xf64>) -> tensor<4x2x3xf64>
  return %y : tensor<4x2x3xf64>
}

func.func @mul_4(%a: tensor<f64>, %b: tensor<2xf64>) -> tensor<2xf64> {
  %y = graph.mul %a, %b : (tensor<f64>, tensor<2xf64>) -> tensor<2xf64>
  return %y : tensor<2xf64>
}

func.func @div(%a: tensor<2x3xf64>, %b: tensor<2x3xf64>) -> tensor<2x3xf64>
    attributes {test.low = 0.4 : f64, test.high = 2.6 : f64} {
  %y = graph.div %a, %b : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @div_2(%a: tensor<2x3xf64>, %b: tensor<3xf64>) -> tensor<2x3xf64>
    attributes {test.low = 0.4 : f64, test.high = 2.6 : f64} {
  %y = graph.div %a, %b : (tensor<2x3xf64>, tensor<3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @div_3(%a: tensor<4x1x3xf64>, %b: tensor<2x1xf64>) -> tensor<4x2x3xf64>
    attributes {test.low = 0.4 : f64, test.high = 2.6 : f64} {
  %y = graph.div %a, %b : (tensor<4x1x3xf64>, tensor<2x1xf64>) -> tensor<4x2x3xf64>
  return %y : tensor<4x2x3xf64>
}

func.func @div_4(%a: tensor<f64>, %b: tensor<2xf64>) -> tensor<2xf64>
    attributes {test.low = 0.4 : f64, test.high = 2.6 : f64} {
  %y = graph.div %a, %b : (tensor<f64>, tensor<2xf64>) -> tensor<2xf64>
  return %y : tensor<2xf64>
}

func.func @max(%a: tensor<2x3xf64>, %b: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %y = graph.max %a, %b : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @max_2(%a: tensor<2x3xf64>, %b: tensor<3xf64>) -> tensor<2x3xf64> {
  %y = graph.max %a, %b : (tensor<2x3xf64>, tensor<3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @max_3(%a: tensor<4x1x3xf64>, %b: tensor<2x1xf64>) -> tensor<4x2x3xf64> {
  %y = graph.max %a, %b : (tensor<4x1x3xf64>, tensor<2x1xf64>) -> tensor<4x2x3xf64>
  return %y : tensor<4x2x3xf64>
}

func.func @max_4(%a: tensor<f64>, %b: tensor<2xf64>) -> tensor<2xf64> {
  %y = graph.max %a, %b : (tensor<f64>, tensor<2xf64>) -> tensor<2xf64>
  return %y : tensor<2xf64>
}

func.func @min(%a: tensor<2x3xf64>, %b: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %y = graph.min %a, %b : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @min_2(%a: tensor<2x3xf64>, %b: tensor<3xf64>) -> tensor<2x3xf64> {
  %y = graph.min %a, %b : (tensor<2x3xf64>, tensor<3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @min_3(%a: tensor<4x1x3xf64>, %b: tensor<2x1xf64>) -> tensor<4x2x3xf64> {
  %y = graph.min %a, %b : (tensor<4x1x3xf64>, tensor<2x1xf64>) -> tensor<4x2x3xf64>
  return %y : tensor<4x2x3xf64>
}

func.func @min_4(%a: tensor<f64>, %b: tensor<2xf64>) -> tensor<2xf64> {
  %y = graph.min %a, %b : (tensor<f64>, tensor<2xf64>) -> tensor<2xf64>
  return %y : tensor<2xf64>
}

func.func @prelu(%a: tensor<2x3xf64>, %b: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %y = graph.prelu %a, %b : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @prelu_2(%a: tensor<2x3xf64>, %b: tensor<3xf64>) -> tensor<2x3xf64> {
  %y = graph.prelu %a, %b : (tensor<2x3xf64>, tensor<3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @prelu_3(%a: tensor<4x1x3xf64>, %b: tensor<2x1xf64>) -> tensor<4x2x3xf64> {
  %y = graph.prelu %a, %b : (tensor<4x1x3xf64>, tensor<2x1xf64>) -> tensor<4x2x3xf64>
  return %y : tensor<4x2x3xf64>
}

func.func @prelu_4(%a: tensor<f64>, %b: tensor<2xf64>) -> tensor<2xf64> {
  %y = graph.prelu %a, %b : (tensor<f64>, tensor<2xf64>) -> tensor<2xf64>
  return %y : tensor<2xf64>
}

func.func @mod(%a: tensor<2x3xf64>, %b: tensor<2x3xf64>) -> tensor<2x3xf64>
    attributes {test.low = 0.31 : f64, test.high = 3.4 : f64} {
  %y = graph.mod %a, %b : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @mod_2(%a: tensor<2x3xf64>, %b: tensor<3xf64>) -> tensor<2x3xf64>
    attributes {test.low = 0.31 : f64, test.high = 3.4 : f64} {
  %y = graph.mod %a, %b : (tensor<2x3xf64>, tensor<3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @mod_3(%a: tensor<4x1x3xf64>, %b: tensor<2x1xf64>) -> tensor<4x2x3xf64>
    attributes {test.low = 0.31 : f64, test.high = 3.4 : f64} {
  %y = graph.mod %a, %b : (tensor<4x1x3xf64>, tensor<2x1xf64>) -> tensor<4x2x3xf64>
  return %y : tensor<4x2x3xf64>
}

func.func @mod_4(%a: tensor<f64>, %b: tensor<2xf64>) -> tensor<2xf64>
    attributes {test.low = 0.31 : f64, test.high = 3.4 : f64} {
  %y = graph.mod %a, %b : (tensor<f64>, tensor<2xf64>) -> tensor<2xf64>
  return %y : tensor<2xf64>
}

func.func @pow(%a: tensor<2x3xf64>, %b: tensor<2x3xf64>) -> tensor<2x3xf64>
    attributes {test.low = 0.4 : f64, test.high = 2.6 : f64} {
  %y = graph.pow %a, %b : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @pow_2(%a: tensor<2x3xf64>, %b: tensor<3xf64>) -> tensor<2x3xf64>
    attributes {test.low = 0.4 : f64, test.high = 2.6 : f64} {
  %y = graph.pow %a, %b : (tensor<2x3xf64>, tensor<3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @pow_3(%a: tensor<4x1x3xf64>, %b: tensor<2x1xf64>) -> tensor<4x2x3xf64>
    attributes {test.low = 0.4 : f64, test.high = 2.6 : f64} {
  %y = graph.pow %a, %b : (tensor<4x1x3xf64>, tensor<2x1xf64>) -> tensor<4x2x3xf64>
  return %y : tensor<4x2x3xf64>
}

func.func @pow_4(%a: tensor<f64>, %b: tensor<2xf64>) -> tensor<2xf64>
    attributes {test.low = 0.4 : f64, test.high = 2.6 : f64} {
  %y = graph.pow %a, %b : (tensor<f64>, tensor<2xf64>) -> tensor<2xf64>
  return %y : tensor<2xf64>
}

func.func @mod_5(%a: tensor<2x3xf64>, %b: tensor<3xf64>) -> tensor<2x3xf64> {
  %y = graph.mod %a, %b {fmod = true} : (tensor<2x3xf64>, tensor<3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @pow_5(%a: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %b = graph.constant dense<[3, 2, 0]> : tensor<3xi64>
  %y = graph.pow %a, %b : (tensor<2x3xf64>, tensor<3xi64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @pow_6(%a: tensor<6xf64>) -> tensor<6xf64> {
  %b = graph.constant dense<2.0> : tensor<f64>
  %y = graph.pow %a, %b : (tensor<6xf64>, tensor<f64>) -> tensor<6xf64>
  return %y : tensor<6xf64>
}

func.func @mul_5(%a: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %y = graph.mul %a, %a : tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @select(%a: tensor<2x3xf64>, %b: tensor<3xf64>) -> tensor<2x3xf64> {
  %c = graph.constant dense<[[true, false, true]]> : tensor<1x3xi1>
  %y = graph.select %c, %a, %b : (tensor<1x3xi1>, tensor<2x3xf64>, tensor<3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @clamp(%x: tensor<3x5xf64>, %l: tensor<5xf64>, %h: tensor<3x1xf64>) -> tensor<3x5xf64> {
  %y = graph.clamp %x, %l, %h : (tensor<3x5xf64>, tensor<5xf64>, tensor<3x1xf64>) -> tensor<3x5xf64>
  return %y : tensor<3x5xf64>
}

func.func @mul_6(%x: tensor<3xf64>, %w: tensor<3xf64>) -> (tensor<3xf64>, tensor<3xf64>, tensor<3xf64>) {
  %y = graph.exp %x : tensor<3xf64>
  %z = graph.mul %y, %w : tensor<3xf64>
  return %y, %z, %x : tensor<3xf64>, tensor<3xf64>, tensor<3xf64>
}

func.func @copy(%x: tensor<3xf64>) -> tensor<3xf64> {
  %0 = graph.exp %x : tensor<3xf64>
  %1 = graph.copy %0 : (tensor<3xf64>) -> tensor<3xf64>
  return %1 : tensor<3xf64>
}
