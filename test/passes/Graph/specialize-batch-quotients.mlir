// SPDX-License-Identifier: Apache-2.0
// RUN: dlc-opt %s --split-input-file --graph-specialize-batch=sizes=1,4 | FileCheck %s

// Windows of all images become a batch, whose number divided by that of an
// image's is that of images.
// CHECK-LABEL: func private @main(tensor<?x4x6xf32>
// CHECK-SAME: graph.by_rows
func.func @main(%x: tensor<?x4x6xf32>) -> tensor<?x4x6xf32> {
  %i0 = graph.constant dense<0> : tensor<1xi64>
  %i4 = graph.constant dense<4> : tensor<1xi64>
  %i6 = graph.constant dense<6> : tensor<1xi64>
  %flat_shape = graph.constant dense<[-1, 6]> : tensor<2xi64>
  %flat = graph.reshape %x, %flat_shape : (tensor<?x4x6xf32>, tensor<2xi64>) -> tensor<?x6xf32>
  %y = graph.relu %flat : tensor<?x6xf32>
  %shape = graph.shape %y : (tensor<?x6xf32>) -> tensor<2xi64>
  %rows = graph.gather %shape, %i0 : (tensor<2xi64>, tensor<1xi64>) -> tensor<1xi64>
  %n = graph.div %rows, %i4 : tensor<1xi64>
  %back = graph.concat %n, %i4, %i6 {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xi64>
  %z = graph.reshape %y, %back : (tensor<?x6xf32>, tensor<3xi64>) -> tensor<?x4x6xf32>
  return %z : tensor<?x4x6xf32>
}

// -----

// Half of the images is rounded for an odd number.
// CHECK-LABEL: func @main(%{{.*}}: tensor<?x4xf32>
// CHECK-NOT: graph.by_rows
func.func @main(%x: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?xf32>) {
  %i0 = graph.constant dense<0> : tensor<1xi64>
  %i1 = graph.constant dense<1> : tensor<1xi64>
  %i2 = graph.constant dense<2> : tensor<1xi64>
  %one = graph.constant dense<1.0> : tensor<f32>
  %shape = graph.shape %x : (tensor<?x4xf32>) -> tensor<2xi64>
  %n = graph.gather %shape, %i0 : (tensor<2xi64>, tensor<1xi64>) -> tensor<1xi64>
  %more = graph.add %n, %i1 : tensor<1xi64>
  %half = graph.div %more, %i2 : tensor<1xi64>
  %y = graph.relu %x : tensor<?x4xf32>
  %z = graph.expand %one, %half : (tensor<f32>, tensor<1xi64>) -> tensor<?xf32>
  return %y, %z : tensor<?x4xf32>, tensor<?xf32>
}
