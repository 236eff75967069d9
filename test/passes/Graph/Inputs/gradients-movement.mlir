// Movement, gathers and scatters.
// Each function is differentiated and compared with finite differences; values
// are between `test.low` and `test.high`.

func.func @reshape(%x: tensor<2x6xf64>) -> tensor<3x4xf64> {
  %s = graph.constant dense<[3, -1]> : tensor<2xi64>
  %y = graph.reshape %x, %s : (tensor<2x6xf64>, tensor<2xi64>) -> tensor<3x4xf64>
  return %y : tensor<3x4xf64>
}

func.func @flatten(%x: tensor<2x3x2xf64>) -> tensor<2x6xf64> {
  %y = graph.flatten %x : (tensor<2x3x2xf64>) -> tensor<2x6xf64>
  return %y : tensor<2x6xf64>
}

func.func @squeeze(%x: tensor<2x1x3xf64>) -> tensor<2x3xf64> {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.squeeze %x, %a : (tensor<2x1x3xf64>, tensor<1xi64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @unsqueeze(%x: tensor<2x3xf64>) -> tensor<1x2x1x3xf64> {
  %a = graph.constant dense<[0, 2]> : tensor<2xi64>
  %y = graph.unsqueeze %x, %a : (tensor<2x3xf64>, tensor<2xi64>) -> tensor<1x2x1x3xf64>
  return %y : tensor<1x2x1x3xf64>
}

func.func @transpose(%x: tensor<2x3x4xf64>) -> tensor<4x2x3xf64> {
  %y = graph.transpose %x {perm = array<i64: 2, 0, 1>} : (tensor<2x3x4xf64>) -> tensor<4x2x3xf64>
  return %y : tensor<4x2x3xf64>
}

func.func @expand(%x: tensor<3x1xf64>) -> tensor<2x3x4xf64> {
  %s = graph.constant dense<[2, 1, 4]> : tensor<3xi64>
  %y = graph.expand %x, %s : (tensor<3x1xf64>, tensor<3xi64>) -> tensor<2x3x4xf64>
  return %y : tensor<2x3x4xf64>
}

func.func @tile(%x: tensor<2x3xf64>) -> tensor<4x9xf64> {
  %s = graph.constant dense<[2, 3]> : tensor<2xi64>
  %y = graph.tile %x, %s : (tensor<2x3xf64>, tensor<2xi64>) -> tensor<4x9xf64>
  return %y : tensor<4x9xf64>
}

func.func @concat(%a: tensor<2x3xf64>, %b: tensor<2x1xf64>) -> tensor<2x7xf64> {
  %y = graph.concat %a, %b, %a {axis = -1 : i64} : (tensor<2x3xf64>, tensor<2x1xf64>, tensor<2x3xf64>) -> tensor<2x7xf64>
  return %y : tensor<2x7xf64>
}

func.func @split(%x: tensor<5x2xf64>) -> (tensor<2x2xf64>, tensor<3x2xf64>) {
  %s = graph.constant dense<[2, 3]> : tensor<2xi64>
  %p:2 = graph.split %x, %s {axis = 0 : i64} : (tensor<5x2xf64>, tensor<2xi64>) -> (tensor<2x2xf64>, tensor<3x2xf64>)
  return %p#0, %p#1 : tensor<2x2xf64>, tensor<3x2xf64>
}

func.func @split_2(%x: tensor<5x2xf64>) -> tensor<3x2xf64> {
  %s = graph.constant dense<[2, 3]> : tensor<2xi64>
  %p:2 = graph.split %x, %s {axis = 0 : i64} : (tensor<5x2xf64>, tensor<2xi64>) -> (tensor<2x2xf64>, tensor<3x2xf64>)
  return %p#1 : tensor<3x2xf64>
}

func.func @slice(%x: tensor<4x5xf64>) -> tensor<2x5xf64> {
  %s = graph.constant dense<[1]> : tensor<1xi64>
  %e = graph.constant dense<[3]> : tensor<1xi64>
  %a = graph.constant dense<[0]> : tensor<1xi64>
  %t = graph.constant dense<[1]> : tensor<1xi64>
  %y = graph.slice %x, %s, %e, %a, %t : (tensor<4x5xf64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x5xf64>
  return %y : tensor<2x5xf64>
}

func.func @slice_2(%x: tensor<4x7xf64>) -> tensor<4x3xf64> {
  %s = graph.constant dense<[1]> : tensor<1xi64>
  %e = graph.constant dense<[7]> : tensor<1xi64>
  %a = graph.constant dense<[-1]> : tensor<1xi64>
  %t = graph.constant dense<[2]> : tensor<1xi64>
  %y = graph.slice %x, %s, %e, %a, %t : (tensor<4x7xf64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<4x3xf64>
  return %y : tensor<4x3xf64>
}

func.func @slice_3(%x: tensor<3x6xf64>) -> tensor<2x2xf64> {
  %s = graph.constant dense<[0, -2]> : tensor<2xi64>
  %e = graph.constant dense<[3, -7]> : tensor<2xi64>
  %a = graph.constant dense<[0, 1]> : tensor<2xi64>
  %t = graph.constant dense<[2, -3]> : tensor<2xi64>
  %y = graph.slice %x, %s, %e, %a, %t : (tensor<3x6xf64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<2x2xf64>
  return %y : tensor<2x2xf64>
}

func.func @slice_4(%x: tensor<5xf64>) -> tensor<5xf64> {
  %s = graph.constant dense<[-1]> : tensor<1xi64>
  %e = graph.constant dense<[-9]> : tensor<1xi64>
  %a = graph.constant dense<[0]> : tensor<1xi64>
  %t = graph.constant dense<[-1]> : tensor<1xi64>
  %y = graph.slice %x, %s, %e, %a, %t : (tensor<5xf64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<5xf64>
  return %y : tensor<5xf64>
}

func.func @slice_5(%x: tensor<3x5xf64>) -> tensor<3x1xf64> {
  %s = graph.constant dense<[-1]> : tensor<1xi64>
  %e = graph.constant dense<[100]> : tensor<1xi64>
  %a = graph.constant dense<[1]> : tensor<1xi64>
  %t = graph.constant dense<[4]> : tensor<1xi64>
  %y = graph.slice %x, %s, %e, %a, %t : (tensor<3x5xf64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3x1xf64>
  return %y : tensor<3x1xf64>
}

func.func @slice_6(%x: tensor<5xf64>) -> tensor<1xf64> {
  %s = graph.constant dense<[2]> : tensor<1xi64>
  %e = graph.constant dense<[5]> : tensor<1xi64>
  %a = graph.constant dense<[0]> : tensor<1xi64>
  %t = graph.constant dense<[4611686018427387904]> : tensor<1xi64>
  %y = graph.slice %x, %s, %e, %a, %t : (tensor<5xf64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xf64>
  return %y : tensor<1xf64>
}

func.func @slice_7(%x: tensor<5xf64>) -> tensor<1xf64> {
  %s = graph.constant dense<[3]> : tensor<1xi64>
  %e = graph.constant dense<[-9]> : tensor<1xi64>
  %a = graph.constant dense<[0]> : tensor<1xi64>
  %t = graph.constant dense<[-9223372036854775807]> : tensor<1xi64>
  %y = graph.slice %x, %s, %e, %a, %t : (tensor<5xf64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xf64>
  return %y : tensor<1xf64>
}

func.func @pad(%x: tensor<2x3xf64>, %v: tensor<f64>) -> tensor<3x5xf64> {
  %p = graph.constant dense<[1, 0, 0, 2]> : tensor<4xi64>
  %a = graph.constant dense<[0, 1]> : tensor<2xi64>
  %y = graph.pad %x, %p, %v, %a {mode = "constant"} : (tensor<2x3xf64>, tensor<4xi64>, tensor<f64>, tensor<2xi64>) -> tensor<3x5xf64>
  return %y : tensor<3x5xf64>
}

func.func @pad_2(%x: tensor<4x3xf64>, %v: tensor<f64>) -> tensor<5x3xf64> {
  %p = graph.constant dense<[-1, 2]> : tensor<2xi64>
  %a = graph.constant dense<[0]> : tensor<1xi64>
  %y = graph.pad %x, %p, %v, %a {mode = "constant"} : (tensor<4x3xf64>, tensor<2xi64>, tensor<f64>, tensor<1xi64>) -> tensor<5x3xf64>
  return %y : tensor<5x3xf64>
}

func.func @pad_3(%x: tensor<2x4xf64>) -> tensor<2x7xf64> {
  %v = graph.constant dense<0.0> : tensor<f64>
  %p = graph.constant dense<[2, 1]> : tensor<2xi64>
  %a = graph.constant dense<[1]> : tensor<1xi64>
  %y = graph.pad %x, %p, %v, %a {mode = "reflect"} : (tensor<2x4xf64>, tensor<2xi64>, tensor<f64>, tensor<1xi64>) -> tensor<2x7xf64>
  return %y : tensor<2x7xf64>
}

// Wider than what is there: reflected again and again.
func.func @pad_7(%x: tensor<2x3xf64>) -> tensor<2x11xf64> {
  %v = graph.constant dense<0.0> : tensor<f64>
  %p = graph.constant dense<[5, 3]> : tensor<2xi64>
  %a = graph.constant dense<[1]> : tensor<1xi64>
  %y = graph.pad %x, %p, %v, %a {mode = "reflect"} : (tensor<2x3xf64>, tensor<2xi64>, tensor<f64>, tensor<1xi64>) -> tensor<2x11xf64>
  return %y : tensor<2x11xf64>
}

func.func @pad_8(%x: tensor<2x1xf64>) -> tensor<2x4xf64> {
  %v = graph.constant dense<0.0> : tensor<f64>
  %p = graph.constant dense<[2, 1]> : tensor<2xi64>
  %a = graph.constant dense<[1]> : tensor<1xi64>
  %y = graph.pad %x, %p, %v, %a {mode = "reflect"} : (tensor<2x1xf64>, tensor<2xi64>, tensor<f64>, tensor<1xi64>) -> tensor<2x4xf64>
  return %y : tensor<2x4xf64>
}

func.func @pad_4(%x: tensor<2x3xf64>) -> tensor<2x6xf64> {
  %v = graph.constant dense<0.0> : tensor<f64>
  %p = graph.constant dense<[1, 2]> : tensor<2xi64>
  %a = graph.constant dense<[1]> : tensor<1xi64>
  %y = graph.pad %x, %p, %v, %a {mode = "edge"} : (tensor<2x3xf64>, tensor<2xi64>, tensor<f64>, tensor<1xi64>) -> tensor<2x6xf64>
  return %y : tensor<2x6xf64>
}

func.func @pad_5(%x: tensor<2x3xf64>) -> tensor<2x6xf64> {
  %v = graph.constant dense<0.0> : tensor<f64>
  %p = graph.constant dense<[1, 2]> : tensor<2xi64>
  %a = graph.constant dense<[1]> : tensor<1xi64>
  %y = graph.pad %x, %p, %v, %a {mode = "wrap"} : (tensor<2x3xf64>, tensor<2xi64>, tensor<f64>, tensor<1xi64>) -> tensor<2x6xf64>
  return %y : tensor<2x6xf64>
}

func.func @depth_to_space(%x: tensor<1x8x1x2xf64>) -> tensor<1x2x2x4xf64> {
  %y = graph.depth_to_space %x {blocksize = 2 : i64, mode = "DCR"} : (tensor<1x8x1x2xf64>) -> tensor<1x2x2x4xf64>
  return %y : tensor<1x2x2x4xf64>
}

func.func @depth_to_space_2(%x: tensor<1x8x1x2xf64>) -> tensor<1x2x2x4xf64> {
  %y = graph.depth_to_space %x {blocksize = 2 : i64, mode = "CRD"} : (tensor<1x8x1x2xf64>) -> tensor<1x2x2x4xf64>
  return %y : tensor<1x2x2x4xf64>
}

func.func @space_to_depth(%x: tensor<1x2x2x4xf64>) -> tensor<1x8x1x2xf64> {
  %y = graph.space_to_depth %x {blocksize = 2 : i64} : (tensor<1x2x2x4xf64>) -> tensor<1x8x1x2xf64>
  return %y : tensor<1x8x1x2xf64>
}

func.func @reverse_sequence(%x: tensor<2x4xf64>) -> tensor<2x4xf64> {
  %l = graph.constant dense<[3, 1]> : tensor<2xi64>
  %y = graph.reverse_sequence %x, %l {batch_axis = 0 : i64, time_axis = 1 : i64} : (tensor<2x4xf64>, tensor<2xi64>) -> tensor<2x4xf64>
  return %y : tensor<2x4xf64>
}

func.func @trilu(%x: tensor<3x4xf64>) -> tensor<3x4xf64> {
  %k = graph.constant dense<0> : tensor<i64>
  %y = graph.trilu %x, %k {upper = true} : (tensor<3x4xf64>, tensor<i64>) -> tensor<3x4xf64>
  return %y : tensor<3x4xf64>
}

func.func @trilu_2(%x: tensor<3x4xf64>) -> tensor<3x4xf64> {
  %k = graph.constant dense<1> : tensor<i64>
  %y = graph.trilu %x, %k {upper = false} : (tensor<3x4xf64>, tensor<i64>) -> tensor<3x4xf64>
  return %y : tensor<3x4xf64>
}

func.func @trilu_3(%x: tensor<3x4xf64>) -> tensor<3x4xf64> {
  %k = graph.constant dense<-1> : tensor<i64>
  %y = graph.trilu %x, %k {upper = true} : (tensor<3x4xf64>, tensor<i64>) -> tensor<3x4xf64>
  return %y : tensor<3x4xf64>
}

func.func @gather(%x: tensor<4x3xf64>) -> tensor<4x3xf64> {
  %i = graph.constant dense<[2, 0, -1, 2]> : tensor<4xi64>
  %y = graph.gather %x, %i {axis = 0 : i64} : (tensor<4x3xf64>, tensor<4xi64>) -> tensor<4x3xf64>
  return %y : tensor<4x3xf64>
}

func.func @gather_2(%x: tensor<2x4x2xf64>) -> tensor<2x2x2x2xf64> {
  %i = graph.constant dense<[[1, 3], [3, -2]]> : tensor<2x2xi64>
  %y = graph.gather %x, %i {axis = 1 : i64} : (tensor<2x4x2xf64>, tensor<2x2xi64>) -> tensor<2x2x2x2xf64>
  return %y : tensor<2x2x2x2xf64>
}

func.func @gather_3(%x: tensor<3x4xf64>) -> tensor<3xf64> {
  %i = graph.constant dense<2> : tensor<i64>
  %y = graph.gather %x, %i {axis = -1 : i64} : (tensor<3x4xf64>, tensor<i64>) -> tensor<3xf64>
  return %y : tensor<3xf64>
}

func.func @gather_4(%x: tensor<4x3xf64>) -> tensor<3x3xf64> {
  %i = graph.constant dense<[2, 0, 2]> : tensor<3xi32>
  %y = graph.gather %x, %i : (tensor<4x3xf64>, tensor<3xi32>) -> tensor<3x3xf64>
  return %y : tensor<3x3xf64>
}

func.func @gather_elements(%x: tensor<3x3xf64>) -> tensor<2x3xf64> {
  %i = graph.constant dense<[[0, 2, 1], [0, -1, 1]]> : tensor<2x3xi64>
  %y = graph.gather_elements %x, %i {axis = 0 : i64} : (tensor<3x3xf64>, tensor<2x3xi64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @gather_elements_2(%x: tensor<3x3xf64>) -> tensor<3x2xf64> {
  %i = graph.constant dense<[[0, 0], [2, 1], [1, 1]]> : tensor<3x2xi64>
  %y = graph.gather_elements %x, %i {axis = 1 : i64} : (tensor<3x3xf64>, tensor<3x2xi64>) -> tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}

func.func @gather_nd(%x: tensor<3x4xf64>) -> tensor<3xf64> {
  %i = graph.constant dense<[[0, 1], [2, 3], [0, 1]]> : tensor<3x2xi64>
  %y = graph.gather_nd %x, %i : (tensor<3x4xf64>, tensor<3x2xi64>) -> tensor<3xf64>
  return %y : tensor<3xf64>
}

func.func @gather_nd_2(%x: tensor<3x4xf64>) -> tensor<2x4xf64> {
  %i = graph.constant dense<[[2], [-1]]> : tensor<2x1xi64>
  %y = graph.gather_nd %x, %i : (tensor<3x4xf64>, tensor<2x1xi64>) -> tensor<2x4xf64>
  return %y : tensor<2x4xf64>
}

func.func @gather_nd_3(%x: tensor<2x3x2xf64>) -> tensor<2x2xf64> {
  %i = graph.constant dense<[[2], [0]]> : tensor<2x1xi64>
  %y = graph.gather_nd %x, %i {batch_dims = 1 : i64} : (tensor<2x3x2xf64>, tensor<2x1xi64>) -> tensor<2x2xf64>
  return %y : tensor<2x2xf64>
}

func.func @scatter_elements(%x: tensor<3x3xf64>, %u: tensor<2x3xf64>) -> tensor<3x3xf64> {
  %i = graph.constant dense<[[0, 2, 1], [1, -2, 0]]> : tensor<2x3xi64>
  %y = graph.scatter_elements %x, %i, %u {reduction = "none"} : (tensor<3x3xf64>, tensor<2x3xi64>, tensor<2x3xf64>) -> tensor<3x3xf64>
  return %y : tensor<3x3xf64>
}

func.func @scatter_nd(%x: tensor<3x4xf64>, %u: tensor<2x4xf64>) -> tensor<3x4xf64> {
  %i = graph.constant dense<[[2], [0]]> : tensor<2x1xi64>
  %y = graph.scatter_nd %x, %i, %u {reduction = "none"} : (tensor<3x4xf64>, tensor<2x1xi64>, tensor<2x4xf64>) -> tensor<3x4xf64>
  return %y : tensor<3x4xf64>
}

func.func @scatter_elements_2(%x: tensor<3x3xf64>, %u: tensor<2x3xf64>) -> tensor<3x3xf64> {
  %i = graph.constant dense<[[0, 2, 1], [1, -2, 0]]> : tensor<2x3xi64>
  %y = graph.scatter_elements %x, %i, %u {reduction = "add"} : (tensor<3x3xf64>, tensor<2x3xi64>, tensor<2x3xf64>) -> tensor<3x3xf64>
  return %y : tensor<3x3xf64>
}

func.func @scatter_nd_2(%x: tensor<3x4xf64>, %u: tensor<2x4xf64>) -> tensor<3x4xf64> {
  %i = graph.constant dense<[[2], [0]]> : tensor<2x1xi64>
  %y = graph.scatter_nd %x, %i, %u {reduction = "add"} : (tensor<3x4xf64>, tensor<2x1xi64>, tensor<2x4xf64>) -> tensor<3x4xf64>
  return %y : tensor<3x4xf64>
}

func.func @scatter_elements_3(%x: tensor<3xf64>, %u: tensor<4xf64>) -> tensor<3xf64> {
  %i = graph.constant dense<[0, 2, 0, 0]> : tensor<4xi64>
  %y = graph.scatter_elements %x, %i, %u {reduction = "add"} : (tensor<3xf64>, tensor<4xi64>, tensor<4xf64>) -> tensor<3xf64>
  return %y : tensor<3xf64>
}

func.func @top_k(%x: tensor<2x4xf64>) -> tensor<2x2xf64> {
  %k = graph.constant dense<2> : tensor<1xi64>
  %v, %i = graph.top_k %x, %k : (tensor<2x4xf64>, tensor<1xi64>) -> (tensor<2x2xf64>, tensor<2x2xi64>)
  return %v : tensor<2x2xf64>
}

func.func @top_k_2(%x: tensor<2x4xf64>) -> tensor<2x2xf64> {
  %k = graph.constant dense<2> : tensor<1xi64>
  %v, %i = graph.top_k %x, %k {largest = false} : (tensor<2x4xf64>, tensor<1xi64>) -> (tensor<2x2xf64>, tensor<2x2xi64>)
  return %v : tensor<2x2xf64>
}

func.func @top_k_3(%x: tensor<4x2xf64>) -> tensor<2x2xf64> {
  %k = graph.constant dense<2> : tensor<1xi64>
  %v, %i = graph.top_k %x, %k {axis = 0 : i64} : (tensor<4x2xf64>, tensor<1xi64>) -> (tensor<2x2xf64>, tensor<2x2xi64>)
  return %v : tensor<2x2xf64>
}

// Of updates of one place the product, or an extreme.

func.func @scatter_elements_mul(%x: tensor<4xf64>, %u: tensor<4xf64>) -> tensor<4xf64> {
  %i = graph.constant dense<[1, 3, 1, 0]> : tensor<4xi64>
  %y = graph.scatter_elements %x, %i, %u {reduction = "mul"} : (tensor<4xf64>, tensor<4xi64>, tensor<4xf64>) -> tensor<4xf64>
  return %y : tensor<4xf64>
}

func.func @scatter_elements_max(%x: tensor<2x3xf64>, %u: tensor<2x2xf64>) -> tensor<2x3xf64> {
  %i = graph.constant dense<[[1, 1], [0, 2]]> : tensor<2x2xi64>
  %y = graph.scatter_elements %x, %i, %u {axis = 1 : i64, reduction = "max"} : (tensor<2x3xf64>, tensor<2x2xi64>, tensor<2x2xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @scatter_nd_mul(%x: tensor<3x2xf64>, %u: tensor<2x2xf64>) -> tensor<3x2xf64> {
  %i = graph.constant dense<[[2], [0]]> : tensor<2x1xi64>
  %y = graph.scatter_nd %x, %i, %u {reduction = "mul"} : (tensor<3x2xf64>, tensor<2x1xi64>, tensor<2x2xf64>) -> tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}

func.func @scatter_nd_min(%x: tensor<3x2xf64>, %u: tensor<2x2xf64>) -> tensor<3x2xf64> {
  %i = graph.constant dense<[[2], [2]]> : tensor<2x1xi64>
  %y = graph.scatter_nd %x, %i, %u {reduction = "min"} : (tensor<3x2xf64>, tensor<2x1xi64>, tensor<2x2xf64>) -> tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}

func.func @tensor_scatter(%x: tensor<2x4x2xf64>, %u: tensor<2x2x2xf64>) -> tensor<2x4x2xf64> {
  %i = graph.constant dense<[2, 1]> : tensor<2xi64>
  %y = graph.tensor_scatter %x, %u, %i : (tensor<2x4x2xf64>, tensor<2x2x2xf64>, tensor<2xi64>) -> tensor<2x4x2xf64>
  return %y : tensor<2x4x2xf64>
}

func.func @tensor_scatter_2(%x: tensor<2x4xf64>, %u: tensor<2x3xf64>) -> tensor<2x4xf64> {
  %i = graph.constant dense<[3, 0]> : tensor<2xi64>
  %y = graph.tensor_scatter %x, %u, %i {axis = 1 : i64, mode = "circular"} : (tensor<2x4xf64>, tensor<2x3xf64>, tensor<2xi64>) -> tensor<2x4xf64>
  return %y : tensor<2x4xf64>
}

func.func @tensor_scatter_3(%x: tensor<1x4xf64>, %u: tensor<1x2xf64>) -> tensor<1x4xf64> {
  %y = graph.tensor_scatter %x, %u {axis = -1 : i64} : (tensor<1x4xf64>, tensor<1x2xf64>) -> tensor<1x4xf64>
  return %y : tensor<1x4xf64>
}

//===-- Selection by a condition --------------------------------------------===//

func.func @compress(%x: tensor<2x4x2xf64>) -> tensor<2x2x2xf64> {
  %c = graph.constant dense<[true, false, true]> : tensor<3xi1>
  %y = graph.compress %x, %c {axis = 1 : i64} : (tensor<2x4x2xf64>, tensor<3xi1>) -> tensor<2x2x2xf64>
  return %y : tensor<2x2x2xf64>
}

func.func @compress_2(%x: tensor<2x3xf64>) -> tensor<3xf64> {
  %c = graph.constant dense<[false, true, true, false, true]> : tensor<5xi1>
  %y = graph.compress %x, %c : (tensor<2x3xf64>, tensor<5xi1>) -> tensor<3xf64>
  return %y : tensor<3xf64>
}

func.func @compress_3(%x: tensor<3x2x3xf64>) -> tensor<3x2x1xf64> {
  %c = graph.constant dense<[false, false, true]> : tensor<3xi1>
  %y = graph.compress %x, %c {axis = -1 : i64} : (tensor<3x2x3xf64>, tensor<3xi1>) -> tensor<3x2x1xf64>
  return %y : tensor<3x2x1xf64>
}

func.func @range(%start: tensor<f64>, %delta: tensor<f64>) -> tensor<4xf64>
    attributes {test.low = 1.0, test.high = 2.0} {
  %limit = graph.constant dense<6.0> : tensor<f64>
  %y = graph.range %start, %limit, %delta : (tensor<f64>, tensor<f64>, tensor<f64>) -> tensor<4xf64>
  return %y : tensor<4xf64>
}

func.func @one_hot(%v: tensor<2xf64>) -> tensor<4x3xf64> {
  %i = graph.constant dense<[2, 0, -1, 5]> : tensor<4xi64>
  %depth = graph.constant dense<3> : tensor<i64>
  %y = graph.one_hot %i, %depth, %v : (tensor<4xi64>, tensor<i64>, tensor<2xf64>) -> tensor<4x3xf64>
  return %y : tensor<4x3xf64>
}

func.func @one_hot_2(%v: tensor<2xf64>) -> tensor<3x2xf64> {
  %i = graph.constant dense<[2, 0]> : tensor<2xi64>
  %depth = graph.constant dense<3> : tensor<i64>
  %y = graph.one_hot %i, %depth, %v {axis = 0 : i64} : (tensor<2xi64>, tensor<i64>, tensor<2xf64>) -> tensor<3x2xf64>
  return %y : tensor<3x2xf64>
}
