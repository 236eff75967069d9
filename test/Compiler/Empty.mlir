// SPDX-License-Identifier: Apache-2.0
//
// Functions with tensors without elements, which EmptyTest.cpp compiles, runs
// and compares with the definitions of their operations.

func.func @exp(%x: tensor<0x5xf32>) -> tensor<0x5xf32> {
  %y = graph.exp %x : tensor<0x5xf32>
  return %y : tensor<0x5xf32>
}
func.func @add_broadcast(%x: tensor<4x0xf32>, %b: tensor<1x1xf32>) -> tensor<4x0xf32> {
  %y = graph.add %x, %b : (tensor<4x0xf32>, tensor<1x1xf32>) -> tensor<4x0xf32>
  return %y : tensor<4x0xf32>
}
func.func @chain(%x: tensor<3x0xf32>) -> tensor<3x1xf32> {
  %a = graph.constant dense<1> : tensor<1xi64>
  %e = graph.exp %x : tensor<3x0xf32>
  %s = graph.reduce_sum %e, %a : (tensor<3x0xf32>, tensor<1xi64>) -> tensor<3x1xf32>
  %y = graph.exp %s : tensor<3x1xf32>
  return %y : tensor<3x1xf32>
}
func.func @sum_of_none(%x: tensor<3x0xf32>) -> tensor<3x1xf32> {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_sum %x, %a : (tensor<3x0xf32>, tensor<1xi64>) -> tensor<3x1xf32>
  return %y : tensor<3x1xf32>
}
func.func @sums_in_a_grid(%x: tensor<4096x0x8xf32>) -> tensor<4096x8xf32> {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_sum %x, %a {keepdims = false} : (tensor<4096x0x8xf32>, tensor<1xi64>) -> tensor<4096x8xf32>
  return %y : tensor<4096x8xf32>
}
func.func @product_of_none(%x: tensor<3x0xi32>) -> tensor<3xi32> {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_prod %x, %a {keepdims = false} : (tensor<3x0xi32>, tensor<1xi64>) -> tensor<3xi32>
  return %y : tensor<3xi32>
}
func.func @max_of_rows_of_none(%x: tensor<0x7xf32>) -> tensor<0x1xf32> {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_max %x, %a : (tensor<0x7xf32>, tensor<1xi64>) -> tensor<0x1xf32>
  return %y : tensor<0x1xf32>
}
func.func @mean_of_no_rows(%x: tensor<0x7xf32>) -> tensor<0xf32> {
  %a = graph.constant dense<1> : tensor<1xi64>
  %y = graph.reduce_mean %x, %a {keepdims = false} : (tensor<0x7xf32>, tensor<1xi64>) -> tensor<0xf32>
  return %y : tensor<0xf32>
}
func.func @arg_max(%x: tensor<0x7xf32>) -> tensor<0x1xi64> {
  %y = graph.arg_max %x {axis = 1 : i64} : (tensor<0x7xf32>) -> tensor<0x1xi64>
  return %y : tensor<0x1xi64>
}
func.func @softmax(%x: tensor<3x0xf32>) -> tensor<3x0xf32> {
  %y = graph.softmax %x : tensor<3x0xf32>
  return %y : tensor<3x0xf32>
}
func.func @softmax_of_no_rows(%x: tensor<0x9xf32>) -> tensor<0x9xf32> {
  %y = graph.softmax %x : tensor<0x9xf32>
  return %y : tensor<0x9xf32>
}
func.func @log_softmax(%x: tensor<2x0x3xf32>) -> tensor<2x0x3xf32> {
  %y = graph.log_softmax %x {axis = 1 : i64} : tensor<2x0x3xf32>
  return %y : tensor<2x0x3xf32>
}
func.func @max_pool(%x: tensor<0x3x8x8xf32>) -> tensor<0x3x4x4xf32> {
  %y = graph.max_pool %x {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<0x3x8x8xf32>) -> tensor<0x3x4x4xf32>
  return %y : tensor<0x3x4x4xf32>
}
func.func @avg_pool(%x: tensor<2x0x8x8xf32>) -> tensor<2x0x7x7xf32> {
  %y = graph.avg_pool %x {kernel_shape = array<i64: 2, 2>} : (tensor<2x0x8x8xf32>) -> tensor<2x0x7x7xf32>
  return %y : tensor<2x0x7x7xf32>
}
func.func @avg_pool_of_all(%x: tensor<0x3x8x8xf32>) -> tensor<0x3x1x1xf32> {
  %y = graph.avg_pool %x {kernel_shape = array<i64: 8, 8>} : (tensor<0x3x8x8xf32>) -> tensor<0x3x1x1xf32>
  return %y : tensor<0x3x1x1xf32>
}
func.func @matmul_of_no_terms(%x: tensor<3x0xf32>, %b: tensor<0x5xf32>) -> tensor<3x5xf32> {
  %y = graph.matmul %x, %b : (tensor<3x0xf32>, tensor<0x5xf32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}
func.func @matmul_of_no_rows(%x: tensor<0x4xf32>, %b: tensor<4x5xf32>) -> tensor<0x5xf32> {
  %y = graph.matmul %x, %b : (tensor<0x4xf32>, tensor<4x5xf32>) -> tensor<0x5xf32>
  return %y : tensor<0x5xf32>
}
func.func @matmul_of_no_batch(%x: tensor<0x3x4xf32>, %b: tensor<0x4x5xf32>) -> tensor<0x3x5xf32> {
  %y = graph.matmul %x, %b : (tensor<0x3x4xf32>, tensor<0x4x5xf32>) -> tensor<0x3x5xf32>
  return %y : tensor<0x3x5xf32>
}
func.func @matmul_of_no_terms_and_more(%x: tensor<3x0xf32>, %b: tensor<0x5xf32>, %c: tensor<5xf32>) -> tensor<3x5xf32> {
  %z = graph.matmul %x, %b : (tensor<3x0xf32>, tensor<0x5xf32>) -> tensor<3x5xf32>
  %a = graph.add %z, %c : (tensor<3x5xf32>, tensor<5xf32>) -> tensor<3x5xf32>
  %y = graph.relu %a : tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}
func.func @conv_of_no_batch(%x: tensor<0x3x8x8xf32>, %w: tensor<4x3x3x3xf32>, %b: tensor<4xf32>) -> tensor<0x4x6x6xf32> {
  %z = graph.conv %x, %w, %b : (tensor<0x3x8x8xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<0x4x6x6xf32>
  %y = graph.relu %z : tensor<0x4x6x6xf32>
  return %y : tensor<0x4x6x6xf32>
}
func.func @concat(%x: tensor<2x0xf32>, %z: tensor<2x5xf32>) -> tensor<2x5xf32> {
  %y = graph.concat %x, %z {axis = 1 : i64} : (tensor<2x0xf32>, tensor<2x5xf32>) -> tensor<2x5xf32>
  return %y : tensor<2x5xf32>
}
func.func @concat_of_none(%x: tensor<2x0xf32>, %z: tensor<3x0xf32>) -> tensor<5x0xf32> {
  %y = graph.concat %x, %z {axis = 0 : i64} : (tensor<2x0xf32>, tensor<3x0xf32>) -> tensor<5x0xf32>
  return %y : tensor<5x0xf32>
}
func.func @gather_of_no_indices(%x: tensor<4x6xf32>, %i: tensor<0xi64>) -> tensor<0x6xf32> {
  %y = graph.gather %x, %i : (tensor<4x6xf32>, tensor<0xi64>) -> tensor<0x6xf32>
  return %y : tensor<0x6xf32>
}
func.func @gather_in_none(%x: tensor<4x0xf32>, %i: tensor<3xi64>) -> tensor<3x0xf32> {
  %y = graph.gather %x, %i {axis = 0 : i64} : (tensor<4x0xf32>, tensor<3xi64>) -> tensor<3x0xf32>
  return %y : tensor<3x0xf32>
}
func.func @gather_elements(%x: tensor<4x6xf32>, %i: tensor<0x6xi64>) -> tensor<0x6xf32> {
  %y = graph.gather_elements %x, %i : (tensor<4x6xf32>, tensor<0x6xi64>) -> tensor<0x6xf32>
  return %y : tensor<0x6xf32>
}
func.func @gather_nd(%x: tensor<4x6xf32>, %i: tensor<0x2xi64>) -> tensor<0xf32> {
  %y = graph.gather_nd %x, %i : (tensor<4x6xf32>, tensor<0x2xi64>) -> tensor<0xf32>
  return %y : tensor<0xf32>
}
func.func @layer_norm_of_no_rows(%x: tensor<0x9xf32>, %s: tensor<9xf32>, %b: tensor<9xf32>) -> tensor<0x9xf32> {
  %y = graph.layer_norm %x, %s, %b : (tensor<0x9xf32>, tensor<9xf32>, tensor<9xf32>) -> tensor<0x9xf32>
  return %y : tensor<0x9xf32>
}
func.func @batch_norm(%x: tensor<0x3x4x4xf32>, %s: tensor<3xf32>, %b: tensor<3xf32>, %m: tensor<3xf32>) -> tensor<0x3x4x4xf32> {
  %v = graph.constant dense<0.7> : tensor<3xf32>
  %y = graph.batch_norm %x, %s, %b, %m, %v : (tensor<0x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<0x3x4x4xf32>
  return %y : tensor<0x3x4x4xf32>
}
func.func @lrn(%x: tensor<0x7x5x9xf32>) -> tensor<0x7x5x9xf32> {
  %y = graph.lrn %x {size = 5 : i64} : (tensor<0x7x5x9xf32>) -> tensor<0x7x5x9xf32>
  return %y : tensor<0x7x5x9xf32>
}
func.func @slice_of_nothing(%x: tensor<4x6xf32>) -> tensor<0x6xf32> {
  %s = graph.constant dense<4> : tensor<1xi64>
  %a = graph.constant dense<0> : tensor<1xi64>
  %t = graph.constant dense<1> : tensor<1xi64>
  %y = graph.slice %x, %s, %s, %a, %t : (tensor<4x6xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<0x6xf32>
  return %y : tensor<0x6xf32>
}
func.func @slice_backwards(%x: tensor<0x6xf32>) -> tensor<0x6xf32> {
  %s = graph.constant dense<-1> : tensor<1xi64>
  %e = graph.constant dense<-9> : tensor<1xi64>
  %a = graph.constant dense<0> : tensor<1xi64>
  %t = graph.constant dense<-1> : tensor<1xi64>
  %y = graph.slice %x, %s, %e, %a, %t : (tensor<0x6xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<0x6xf32>
  return %y : tensor<0x6xf32>
}
func.func @pad_of_nothing(%x: tensor<0x3xf32>) -> tensor<2x4xf32> {
  %p = graph.constant dense<[1, 0, 1, 1]> : tensor<4xi64>
  %a = graph.constant dense<[0, 1]> : tensor<2xi64>
  %z = graph.constant dense<0.5> : tensor<f32>
  %y = graph.pad %x, %p, %z, %a : (tensor<0x3xf32>, tensor<4xi64>, tensor<f32>, tensor<2xi64>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}
func.func @tile(%x: tensor<3x0xf32>) -> tensor<6x0xf32> {
  %r = graph.constant dense<[2, 3]> : tensor<2xi64>
  %y = graph.tile %x, %r : (tensor<3x0xf32>, tensor<2xi64>) -> tensor<6x0xf32>
  return %y : tensor<6x0xf32>
}
func.func @tile_to_nothing(%x: tensor<3x2xf32>) -> tensor<0x2xf32> {
  %r = graph.constant dense<[0, 1]> : tensor<2xi64>
  %y = graph.tile %x, %r : (tensor<3x2xf32>, tensor<2xi64>) -> tensor<0x2xf32>
  return %y : tensor<0x2xf32>
}
func.func @reshape(%x: tensor<0x6xf32>) -> tensor<3x0x2xf32> {
  %s = graph.constant dense<[3, 0, 2]> : tensor<3xi64>
  %z = graph.reshape %x, %s {allowzero = true} : (tensor<0x6xf32>, tensor<3xi64>) -> tensor<3x0x2xf32>
  %y = graph.relu %z : tensor<3x0x2xf32>
  return %y : tensor<3x0x2xf32>
}
func.func @transpose(%x: tensor<2x0x3xf32>) -> tensor<3x2x0xf32> {
  %y = graph.transpose %x {perm = array<i64: 2, 0, 1>} : (tensor<2x0x3xf32>) -> tensor<3x2x0xf32>
  return %y : tensor<3x2x0xf32>
}
func.func @expand(%x: tensor<1x3xf32>) -> tensor<0x3xf32> {
  %s = graph.constant dense<[0, 3]> : tensor<2xi64>
  %y = graph.expand %x, %s : (tensor<1x3xf32>, tensor<2xi64>) -> tensor<0x3xf32>
  return %y : tensor<0x3xf32>
}
func.func @space_to_depth(%x: tensor<1x0x4x4xf32>) -> tensor<1x0x2x2xf32> {
  %y = graph.space_to_depth %x {blocksize = 2 : i64} : (tensor<1x0x4x4xf32>) -> tensor<1x0x2x2xf32>
  return %y : tensor<1x0x2x2xf32>
}
func.func @depth_to_space(%x: tensor<0x8x3x5xf32>) -> tensor<0x2x6x10xf32> {
  %y = graph.depth_to_space %x {blocksize = 2 : i64, mode = "DCR"} : (tensor<0x8x3x5xf32>) -> tensor<0x2x6x10xf32>
  return %y : tensor<0x2x6x10xf32>
}
func.func @trilu(%x: tensor<2x0x3xf32>) -> tensor<2x0x3xf32> {
  %k = graph.constant dense<1> : tensor<i64>
  %y = graph.trilu %x, %k : (tensor<2x0x3xf32>, tensor<i64>) -> tensor<2x0x3xf32>
  return %y : tensor<2x0x3xf32>
}
func.func @eye_like(%x: tensor<0x3xf32>) -> tensor<0x3xf32> {
  %y = graph.eye_like %x {dtype = f32} : (tensor<0x3xf32>) -> tensor<0x3xf32>
  return %y : tensor<0x3xf32>
}
func.func @sum_over_no_axes(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %a = graph.constant dense<> : tensor<0xi64>
  %y = graph.reduce_sum %x, %a {noop_with_empty_axes = true} : (tensor<3x4xf32>, tensor<0xi64>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}
