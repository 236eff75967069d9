// SPDX-License-Identifier: Apache-2.0
// What decoders that are exported without a mask make of the places of tokens:
// where sequences begin that were packed into one, of which there is one.
// RUN: dlc-opt %s --graph-specialize-shapes=usual --graph-specialize-batch -o - 2>&1 | FileCheck %s
// RUN: dlc-opt %s --graph-specialize-shapes=extents='length=8' --graph-specialize-batch | FileCheck %s --check-prefix=FIXED

// CHECK-LABEL: func.func private @main(
// CHECK-SAME: graph.padded = array<i64: -1, 0>
// CHECK-SAME: graph.by_shape = [@main_8, @main_16,
// CHECK: func.func private @main_8({{.*}}graph.by_rows = [
// FIXED: func.func private @main({{.*}}graph.by_rows = [
func.func @main(%x: tensor<?x?xf32> {graph.dims = ["batch", "length"]}) -> tensor<?x?xf32> {
  %s0 = graph.constant dense<0> : tensor<i64>
  %s1 = graph.constant dense<1> : tensor<i64>
  %last = graph.constant dense<-1> : tensor<i64>
  %i0 = graph.constant dense<0> : tensor<1xi64>
  %i1 = graph.constant dense<1> : tensor<1xi64>
  %im1 = graph.constant dense<-1> : tensor<1xi64>
  %batch = graph.shape %x {end = 1 : i64} : (tensor<?x?xf32>) -> tensor<1xi64>
  %examples = graph.squeeze %batch : (tensor<1xi64>) -> tensor<i64>
  %length = graph.shape %x {start = 1 : i64, end = 2 : i64} : (tensor<?x?xf32>) -> tensor<1xi64>
  %tokens = graph.squeeze %length : (tensor<1xi64>) -> tensor<i64>

  // The places, for each example, and how far each is from the one before.
  %range = graph.range %s0, %tokens, %s1 : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  %row = graph.unsqueeze %range, %i0 : (tensor<?xi64>, tensor<1xi64>) -> tensor<1x?xi64>
  %shape = graph.concat %batch, %i1 {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %places = graph.expand %row, %shape : (tensor<1x?xi64>, tensor<2xi64>) -> tensor<?x?xi64>
  %first = graph.slice %places, %i0, %i1, %i1, %i1 : (tensor<?x?xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x?xi64>
  %before = graph.sub %first, %s1 : (tensor<?x?xi64>, tensor<i64>) -> tensor<?x?xi64>
  %all = graph.concat %before, %places {axis = -1 : i64} : (tensor<?x?xi64>, tensor<?x?xi64>) -> tensor<?x?xi64>
  %next = graph.add %length, %i1 : tensor<1xi64>
  %low = graph.slice %all, %i0, %length, %im1, %i1 : (tensor<?x?xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x?xi64>
  %high = graph.slice %all, %i1, %next, %im1, %i1 : (tensor<?x?xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x?xi64>
  %steps = graph.sub %high, %low : tensor<?x?xi64>
  %isNext = graph.equal %steps, %s1 : (tensor<?x?xi64>, tensor<i64>) -> tensor<?x?xi1>
  %begins = graph.logical_not %isNext : tensor<?x?xi1>
  %ones = graph.cast %begins {to = i64} : (tensor<?x?xi1>) -> tensor<?x?xi64>
  %sequence = graph.cumsum %ones, %last : (tensor<?x?xi64>, tensor<i64>) -> tensor<?x?xi64>

  // Read by the numbers of examples and of places.
  %numbers = graph.range %s0, %examples, %s1 : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  %column = graph.unsqueeze %numbers, %i1 : (tensor<?xi64>, tensor<1xi64>) -> tensor<?x1xi64>
  %both = graph.max %column, %row : (tensor<?x1xi64>, tensor<1x?xi64>) -> tensor<?x?xi64>
  %size = graph.shape %both : (tensor<?x?xi64>) -> tensor<2xi64>
  %b = graph.expand %column, %size : (tensor<?x1xi64>, tensor<2xi64>) -> tensor<?x?xi64>
  %l = graph.expand %row, %size : (tensor<1x?xi64>, tensor<2xi64>) -> tensor<?x?xi64>
  %b1 = graph.unsqueeze %b, %im1 : (tensor<?x?xi64>, tensor<1xi64>) -> tensor<?x?x1xi64>
  %l1 = graph.unsqueeze %l, %im1 : (tensor<?x?xi64>, tensor<1xi64>) -> tensor<?x?x1xi64>
  %at = graph.concat %b1, %l1 {axis = -1 : i64} : (tensor<?x?x1xi64>, tensor<?x?x1xi64>) -> tensor<?x?x2xi64>
  %own = graph.gather_nd %sequence, %at : (tensor<?x?xi64>, tensor<?x?x2xi64>) -> tensor<?x?xi64>
  %number = graph.cast %own {to = f32} : (tensor<?x?xi64>) -> tensor<?x?xf32>
  %y = graph.add %x, %number : tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
