// RUN: dlc-opt %s --convert-graph-to-plan | FileCheck %s

// What functions compute for some rows is a program for any number of them.

// CHECK-LABEL: plan.program @main by_rows([@main_4, @main_1]) {
// CHECK-NEXT: plan.input 0 "x" : memref<?x3xf32>
// CHECK-NEXT: plan.output 0 "y" : memref<?x3xf32>
// CHECK-NEXT: }
// CHECK-LABEL: plan.program @main_4 rows(4) {
// CHECK: plan.launch @relu4
// CHECK-LABEL: plan.program @main_1 rows(1) {
// CHECK: plan.launch @relu1
kernel.library @relu4 "reference.relu" {} : (tensor<4x3xf32>) -> tensor<4x3xf32>
kernel.library @relu1 "reference.relu" {} : (tensor<1x3xf32>) -> tensor<1x3xf32>
func.func private @main(tensor<?x3xf32> {graph.name = "x"}) -> (tensor<?x3xf32> {graph.name = "y"}) attributes {graph.by_rows = [@main_4, @main_1]}
func.func @main_4(%x: tensor<4x3xf32> {graph.name = "x"}) -> (tensor<4x3xf32> {graph.name = "y"}) attributes {graph.rows = 4 : i64} {
  %0 = kernel.call @relu4(%x) : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}
func.func @main_1(%x: tensor<1x3xf32> {graph.name = "x"}) -> (tensor<1x3xf32> {graph.name = "y"}) attributes {graph.rows = 1 : i64} {
  %0 = kernel.call @relu1(%x) : (tensor<1x3xf32>) -> tensor<1x3xf32>
  return %0 : tensor<1x3xf32>
}
