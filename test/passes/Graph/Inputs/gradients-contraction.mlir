// Products and convolutions.
// Each function is differentiated and compared with finite differences; values
// are between `test.low` and `test.high`.

func.func @matmul(%a: tensor<2x3xf64>, %b: tensor<3x4xf64>) -> tensor<2x4xf64> {
  %y = graph.matmul %a, %b : (tensor<2x3xf64>, tensor<3x4xf64>) -> tensor<2x4xf64>
  return %y : tensor<2x4xf64>
}

func.func @matmul_2(%a: tensor<2x5x3xf64>, %b: tensor<3x4xf64>) -> tensor<2x5x4xf64> {
  %y = graph.matmul %a, %b : (tensor<2x5x3xf64>, tensor<3x4xf64>) -> tensor<2x5x4xf64>
  return %y : tensor<2x5x4xf64>
}

func.func @matmul_3(%a: tensor<5x3xf64>, %b: tensor<2x3x4xf64>) -> tensor<2x5x4xf64> {
  %y = graph.matmul %a, %b : (tensor<5x3xf64>, tensor<2x3x4xf64>) -> tensor<2x5x4xf64>
  return %y : tensor<2x5x4xf64>
}

func.func @matmul_4(%a: tensor<2x1x2x3xf64>, %b: tensor<3x3x2xf64>) -> tensor<2x3x2x2xf64> {
  %y = graph.matmul %a, %b : (tensor<2x1x2x3xf64>, tensor<3x3x2xf64>) -> tensor<2x3x2x2xf64>
  return %y : tensor<2x3x2x2xf64>
}

func.func @conv(%x: tensor<2x2x5xf64>, %w: tensor<3x2x3xf64>, %b: tensor<3xf64>) -> tensor<2x3x3xf64> {
  %y = graph.conv %x, %w, %b : (tensor<2x2x5xf64>, tensor<3x2x3xf64>, tensor<3xf64>) -> tensor<2x3x3xf64>
  return %y : tensor<2x3x3xf64>
}

func.func @conv_2(%x: tensor<1x2x6x5xf64>, %w: tensor<3x2x3x2xf64>) -> tensor<1x3x2x4xf64> {
  %y = graph.conv %x, %w {strides = array<i64: 2, 1>} : (tensor<1x2x6x5xf64>, tensor<3x2x3x2xf64>) -> tensor<1x3x2x4xf64>
  return %y : tensor<1x3x2x4xf64>
}

func.func @conv_3(%x: tensor<1x2x6x6xf64>, %w: tensor<2x2x3x3xf64>, %b: tensor<2xf64>) -> tensor<1x2x3x3xf64> {
  %y = graph.conv %x, %w, %b {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x2x6x6xf64>, tensor<2x2x3x3xf64>, tensor<2xf64>) -> tensor<1x2x3x3xf64>
  return %y : tensor<1x2x3x3xf64>
}

func.func @conv_4(%x: tensor<1x1x7x6xf64>, %w: tensor<1x1x2x3xf64>) -> tensor<1x1x7x2xf64> {
  %y = graph.conv %x, %w {pads = array<i64: 1, 0, 2, 0>, dilations = array<i64: 3, 2>} : (tensor<1x1x7x6xf64>, tensor<1x1x2x3xf64>) -> tensor<1x1x7x2xf64>
  return %y : tensor<1x1x7x2xf64>
}

func.func @conv_5(%x: tensor<2x4x5xf64>, %w: tensor<6x2x2xf64>) -> tensor<2x6x4xf64> {
  %y = graph.conv %x, %w {group = 2 : i64} : (tensor<2x4x5xf64>, tensor<6x2x2xf64>) -> tensor<2x6x4xf64>
  return %y : tensor<2x6x4xf64>
}

func.func @conv_6(%x: tensor<1x3x4x4xf64>, %w: tensor<3x1x3x3xf64>, %b: tensor<3xf64>) -> tensor<1x3x4x4xf64> {
  %y = graph.conv %x, %w, %b {group = 3 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x3x4x4xf64>, tensor<3x1x3x3xf64>, tensor<3xf64>) -> tensor<1x3x4x4xf64>
  return %y : tensor<1x3x4x4xf64>
}

func.func @conv_7(%x: tensor<1x2x5x6xf64>, %w: tensor<1x2x2x3xf64>) -> tensor<1x1x3x3xf64> {
  %y = graph.conv %x, %w {auto_pad = "SAME_UPPER", strides = array<i64: 2, 2>} : (tensor<1x2x5x6xf64>, tensor<1x2x2x3xf64>) -> tensor<1x1x3x3xf64>
  return %y : tensor<1x1x3x3xf64>
}

func.func @conv_8(%x: tensor<1x1x5x6xf64>, %w: tensor<1x1x2x3xf64>) -> tensor<1x1x3x3xf64> {
  %y = graph.conv %x, %w {auto_pad = "SAME_LOWER", strides = array<i64: 2, 2>} : (tensor<1x1x5x6xf64>, tensor<1x1x2x3xf64>) -> tensor<1x1x3x3xf64>
  return %y : tensor<1x1x3x3xf64>
}

func.func @conv_9(%x: tensor<1x1x8xf64>, %w: tensor<1x1x2xf64>) -> tensor<1x1x2xf64> {
  %y = graph.conv %x, %w {strides = array<i64: 4>} : (tensor<1x1x8xf64>, tensor<1x1x2xf64>) -> tensor<1x1x2xf64>
  return %y : tensor<1x1x2xf64>
}

func.func @conv_10(%x: tensor<1x1x2x3x2xf64>, %w: tensor<2x1x2x2x1xf64>) -> tensor<1x2x1x2x2xf64> {
  %y = graph.conv %x, %w : (tensor<1x1x2x3x2xf64>, tensor<2x1x2x2x1xf64>) -> tensor<1x2x1x2x2xf64>
  return %y : tensor<1x2x1x2x2xf64>
}

func.func @conv_11(%x: tensor<1x2x9x8xf64>, %w: tensor<2x2x2x3xf64>) -> tensor<1x2x4x2xf64> {
  %y = graph.conv %x, %w {strides = array<i64: 2, 3>, dilations = array<i64: 3, 2>, pads = array<i64: 1, 0, 1, 1>} : (tensor<1x2x9x8xf64>, tensor<2x2x2x3xf64>) -> tensor<1x2x4x2xf64>
  return %y : tensor<1x2x4x2xf64>
}

func.func @conv_12(%x: tensor<1x4x8xf64>, %w: tensor<6x2x2xf64>) -> tensor<1x6x3xf64> {
  %y = graph.conv %x, %w {strides = array<i64: 3>, pads = array<i64: 0, 1>, group = 2 : i64} : (tensor<1x4x8xf64>, tensor<6x2x2xf64>) -> tensor<1x6x3xf64>
  return %y : tensor<1x6x3xf64>
}

func.func @conv_13(%x: tensor<1x1x5x9xf64>, %w: tensor<2x1x5x7xf64>) -> tensor<1x2x3x2xf64> {
  %y = graph.conv %x, %w {strides = array<i64: 2, 4>, pads = array<i64: 2, 1, 3, 2>} : (tensor<1x1x5x9xf64>, tensor<2x1x5x7xf64>) -> tensor<1x2x3x2xf64>
  return %y : tensor<1x2x3x2xf64>
}

func.func @conv_14(%x: tensor<1x2x4x4x5xf64>, %w: tensor<2x2x3x1x2xf64>) -> tensor<1x2x2x2x4xf64> {
  %y = graph.conv %x, %w {strides = array<i64: 2, 2, 1>, pads = array<i64: 1, 0, 0, 0, 0, 0>} : (tensor<1x2x4x4x5xf64>, tensor<2x2x3x1x2xf64>) -> tensor<1x2x2x2x4xf64>
  return %y : tensor<1x2x2x2x4xf64>
}

func.func @conv_weight_gradient(%x: tensor<2x2x5xf64>, %g: tensor<2x3x3xf64>) -> tensor<3x2x3xf64> {
  %w = graph.conv_weight_gradient %x, %g {kernel_shape = array<i64: 3>} : (tensor<2x2x5xf64>, tensor<2x3x3xf64>) -> tensor<3x2x3xf64>
  return %w : tensor<3x2x3xf64>
}

func.func @conv_weight_gradient_2(%x: tensor<1x2x6x5xf64>, %g: tensor<1x4x3x4xf64>) -> tensor<4x1x3x2xf64> {
  %w = graph.conv_weight_gradient %x, %g {kernel_shape = array<i64: 3, 2>, strides = array<i64: 2, 1>, pads = array<i64: 1, 0, 1, 0>, group = 2 : i64} : (tensor<1x2x6x5xf64>, tensor<1x4x3x4xf64>) -> tensor<4x1x3x2xf64>
  return %w : tensor<4x1x3x2xf64>
}

func.func @conv_weight_gradient_3(%x: tensor<1x1x7xf64>, %g: tensor<1x2x8xf64>) -> tensor<2x1x2xf64> {
  %w = graph.conv_weight_gradient %x, %g {kernel_shape = array<i64: 2>, dilations = array<i64: 3>, pads = array<i64: 2, 0>} : (tensor<1x1x7xf64>, tensor<1x2x8xf64>) -> tensor<2x1x2xf64>
  return %w : tensor<2x1x2xf64>
}

func.func @conv_transpose(%x: tensor<1x2x4xf64>, %w: tensor<2x3x3xf64>, %b: tensor<3xf64>) -> tensor<1x3x6xf64> {
  %y = graph.conv_transpose %x, %w, %b : (tensor<1x2x4xf64>, tensor<2x3x3xf64>, tensor<3xf64>) -> tensor<1x3x6xf64>
  return %y : tensor<1x3x6xf64>
}

func.func @conv_transpose_2(%x: tensor<1x2x3x3xf64>, %w: tensor<2x2x3x3xf64>) -> tensor<1x2x5x5xf64> {
  %y = graph.conv_transpose %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x2x3x3xf64>, tensor<2x2x3x3xf64>) -> tensor<1x2x5x5xf64>
  return %y : tensor<1x2x5x5xf64>
}

func.func @conv_transpose_3(%x: tensor<1x2x3x2xf64>, %w: tensor<2x1x2x2xf64>) -> tensor<1x1x6x5xf64> {
  %y = graph.conv_transpose %x, %w {strides = array<i64: 2, 2>, output_padding = array<i64: 0, 1>} : (tensor<1x2x3x2xf64>, tensor<2x1x2x2xf64>) -> tensor<1x1x6x5xf64>
  return %y : tensor<1x1x6x5xf64>
}

func.func @conv_transpose_4(%x: tensor<1x4x3xf64>, %w: tensor<4x2x2xf64>) -> tensor<1x4x4xf64> {
  %y = graph.conv_transpose %x, %w {group = 2 : i64} : (tensor<1x4x3xf64>, tensor<4x2x2xf64>) -> tensor<1x4x4xf64>
  return %y : tensor<1x4x4xf64>
}

func.func @conv_transpose_5(%x: tensor<1x1x3xf64>, %w: tensor<1x1x3xf64>) -> tensor<1x1x7xf64> {
  %y = graph.conv_transpose %x, %w {dilations = array<i64: 2>} : (tensor<1x1x3xf64>, tensor<1x1x3xf64>) -> tensor<1x1x7xf64>
  return %y : tensor<1x1x7xf64>
}

func.func @conv_transpose_6(%x: tensor<1x1x3x3xf64>, %w: tensor<1x1x3x3xf64>) -> tensor<1x1x6x6xf64> {
  %y = graph.conv_transpose %x, %w {strides = array<i64: 2, 2>, output_shape = array<i64: 6, 6>} : (tensor<1x1x3x3xf64>, tensor<1x1x3x3xf64>) -> tensor<1x1x6x6xf64>
  return %y : tensor<1x1x6x6xf64>
}

func.func @conv_transpose_7(%x: tensor<1x1x3x3xf64>, %w: tensor<1x1x3x3xf64>) -> tensor<1x1x6x6xf64> {
  %y = graph.conv_transpose %x, %w {strides = array<i64: 2, 2>, auto_pad = "SAME_UPPER"} : (tensor<1x1x3x3xf64>, tensor<1x1x3x3xf64>) -> tensor<1x1x6x6xf64>
  return %y : tensor<1x1x6x6xf64>
}

func.func @einsum(%a: tensor<2x3xf64>, %b: tensor<3x4xf64>) -> tensor<2x4xf64> {
  %y = graph.einsum %a, %b {equation = "ij,jk->ik"} : (tensor<2x3xf64>, tensor<3x4xf64>) -> tensor<2x4xf64>
  return %y : tensor<2x4xf64>
}

func.func @einsum_2(%a: tensor<2x3x4xf64>, %b: tensor<2x4x2xf64>) -> tensor<2x3x2xf64> {
  %y = graph.einsum %a, %b {equation = "bij,bjk->bik"} : (tensor<2x3x4xf64>, tensor<2x4x2xf64>) -> tensor<2x3x2xf64>
  return %y : tensor<2x3x2xf64>
}

func.func @einsum_3(%a: tensor<2x3xf64>) -> tensor<3xf64> {
  %y = graph.einsum %a {equation = "ij->j"} : (tensor<2x3xf64>) -> tensor<3xf64>
  return %y : tensor<3xf64>
}

func.func @einsum_4(%a: tensor<2x3xf64>) -> tensor<3x2xf64> {
  %y = graph.einsum %a {equation = "ij->ji"} : (tensor<2x3xf64>) -> tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}

func.func @einsum_5(%a: tensor<3xf64>, %b: tensor<2xf64>) -> tensor<3x2xf64> {
  %y = graph.einsum %a, %b {equation = "i,j->ij"} : (tensor<3xf64>, tensor<2xf64>) -> tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}

func.func @einsum_6(%a: tensor<2x3xf64>, %b: tensor<3x2xf64>, %c: tensor<2xf64>) -> tensor<f64> {
  %y = graph.einsum %a, %b, %c {equation = "ij,ji,i->"} : (tensor<2x3xf64>, tensor<3x2xf64>, tensor<2xf64>) -> tensor<f64>
  return %y : tensor<f64>
}

func.func @einsum_7(%a: tensor<2x3xf64>, %b: tensor<3x4xf64>) -> tensor<2x4xf64> {
  %y = graph.einsum %a, %b {equation = "ij, jk"} : (tensor<2x3xf64>, tensor<3x4xf64>) -> tensor<2x4xf64>
  return %y : tensor<2x4xf64>
}

func.func @einsum_ellipsis(%a: tensor<2x2x3xf64>, %b: tensor<3x4xf64>) -> tensor<2x2x4xf64> {
  %y = graph.einsum %a, %b {equation = "...ij,jk->...ik"} : (tensor<2x2x3xf64>, tensor<3x4xf64>) -> tensor<2x2x4xf64>
  return %y : tensor<2x2x4xf64>
}

// Letters whose extents broadcast.

func.func @einsum_8(%a: tensor<1x3xf64>, %b: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %y = graph.einsum %a, %b {equation = "ij,ij->ij"} : (tensor<1x3xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @einsum_9(%a: tensor<2x1xf64>, %b: tensor<1x3xf64>) -> tensor<2xf64> {
  %y = graph.einsum %a, %b {equation = "ij,ij->i"} : (tensor<2x1xf64>, tensor<1x3xf64>) -> tensor<2xf64>
  return %y : tensor<2xf64>
}
