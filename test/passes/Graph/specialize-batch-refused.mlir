// SPDX-License-Identifier: Apache-2.0
// RUN: dlc-opt %s --split-input-file --graph-specialize-batch=sizes=1,4 | FileCheck %s --implicit-check-not=@main_4
// RUN: dlc-opt %s --split-input-file --graph-specialize-batch=sizes=1,4 --remarks-filter=graph-specialize-batch -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Numbers that are the same for two sizes of the batch, and not for all. One
// that was rounded: whether the size is odd.

// CHECK-LABEL: func.func @main(
// REMARK: add computes with the size of the batch
func.func @main(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %half = graph.constant dense<0.5> : tensor<1xf32>
  %two = graph.constant dense<2> : tensor<1xi64>
  %n = graph.shape %x {end = 1 : i64} : (tensor<?x2xf32>) -> tensor<1xi64>
  %0 = graph.cast %n {to = f32} : (tensor<1xi64>) -> tensor<1xf32>
  %1 = graph.mul %0, %half : tensor<1xf32>
  %2 = graph.cast %1 {to = i64} : (tensor<1xf32>) -> tensor<1xi64>
  %3 = graph.mul %2, %two : tensor<1xi64>
  %4 = graph.sub %n, %3 : tensor<1xi64>
  %5 = graph.cast %4 {to = f32} : (tensor<1xi64>) -> tensor<1xf32>
  %6 = graph.add %x, %5 : (tensor<?x2xf32>, tensor<1xf32>) -> tensor<?x2xf32>
  return %6 : tensor<?x2xf32>
}

// -----

// A guard against what a size less two may be.

// CHECK-LABEL: func.func @main(
// REMARK: add computes with the size of the batch
func.func @main(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %none = graph.constant dense<-1> : tensor<1xi64>
  %zero = graph.constant dense<0> : tensor<1xi64>
  %two = graph.constant dense<2> : tensor<1xi64>
  %n = graph.shape %x {end = 1 : i64} : (tensor<?x2xf32>) -> tensor<1xi64>
  %0 = graph.sub %n, %two : tensor<1xi64>
  %1 = graph.equal %0, %none : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
  %2 = graph.select %1, %zero, %n : (tensor<1xi1>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %3 = graph.sub %2, %n : tensor<1xi64>
  %4 = graph.cast %3 {to = f32} : (tensor<1xi64>) -> tensor<1xf32>
  %5 = graph.add %x, %4 : (tensor<?x2xf32>, tensor<1xf32>) -> tensor<?x2xf32>
  return %5 : tensor<?x2xf32>
}

// -----

// Numbers of examples, at places that are data.

// CHECK-LABEL: func.func @main(
// REMARK: gather does not keep the examples of a batch apart
func.func @main(%x: tensor<?x2xi64>) -> tensor<?x2xi64> {
  %zero = graph.constant dense<0> : tensor<i64>
  %one = graph.constant dense<1> : tensor<i64>
  %first = graph.constant dense<0> : tensor<1xi64>
  %n = graph.shape %x {end = 1 : i64} : (tensor<?x2xi64>) -> tensor<1xi64>
  %0 = graph.squeeze %n, %first : (tensor<1xi64>, tensor<1xi64>) -> tensor<i64>
  %1 = graph.range %zero, %0, %one : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  %2 = graph.gather %1, %x : (tensor<?xi64>, tensor<?x2xi64>) -> tensor<?x2xi64>
  return %2 : tensor<?x2xi64>
}

// -----

// Nothing is left of an extent for a million examples, and something for two.

// CHECK-LABEL: func.func @main(
// REMARK: slice cuts other extents at the size of the batch
func.func @main(%x: tensor<?x8xf32>) -> tensor<?x1xf32> {
  %zero = graph.constant dense<0> : tensor<1xi64>
  %one = graph.constant dense<1> : tensor<1xi64>
  %three = graph.constant dense<3> : tensor<1xi64>
  %n = graph.shape %x {end = 1 : i64} : (tensor<?x8xf32>) -> tensor<1xi64>
  %0 = graph.mul %n, %three : tensor<1xi64>
  %1 = graph.sub %three, %0 : tensor<1xi64>
  %2 = graph.slice %x, %zero, %1, %one, %one : (tensor<?x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x?xf32>
  %3 = graph.reduce_sum %2, %one : (tensor<?x?xf32>, tensor<1xi64>) -> tensor<?x1xf32>
  return %3 : tensor<?x1xf32>
}
