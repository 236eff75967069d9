// SPDX-License-Identifier: Apache-2.0
// RUN: dlc-opt %s --split-input-file --convert-graph-to-plan | FileCheck %s

// What functions compute for some shapes, by rows or not, is a program for all.

// CHECK-LABEL: plan.program @main by_shape([@main_3, @main_4]) {
// CHECK-NEXT: plan.input 0 "x" : memref<?x?xf32>
// CHECK-NEXT: plan.input 1 "seed" random : memref<2xi64>
// CHECK-NEXT: plan.output 0 "y" : memref<?x?xf32>
// CHECK-NEXT: }
// CHECK-LABEL: plan.program @main_3 {
// CHECK: plan.launch @relu3
// CHECK-LABEL: plan.program @main_4 by_rows([@main_4_1]) {
// CHECK-NEXT: plan.input 0 "x" : memref<?x4xf32>
// CHECK-LABEL: plan.program @main_4_1 rows(1) {
// CHECK: plan.launch @relu4
kernel.library @relu3 "reference.relu" {} : (tensor<5x3xf32>) -> tensor<5x3xf32>
kernel.library @relu4 "reference.relu" {} : (tensor<1x4xf32>) -> tensor<1x4xf32>
func.func private @main(tensor<?x?xf32> {graph.name = "x"}, tensor<2xi64> {graph.name = "seed", graph.random}) -> (tensor<?x?xf32> {graph.name = "y"}) attributes {graph.by_shape = [@main_3, @main_4]}
func.func @main_3(%x: tensor<5x3xf32> {graph.name = "x"}, %s: tensor<2xi64> {graph.name = "seed", graph.random}) -> (tensor<5x3xf32> {graph.name = "y"}) {
  %0 = kernel.call @relu3(%x) : (tensor<5x3xf32>) -> tensor<5x3xf32>
  return %0 : tensor<5x3xf32>
}
func.func private @main_4(tensor<?x4xf32> {graph.name = "x"}, tensor<2xi64> {graph.name = "seed", graph.random}) -> (tensor<?x4xf32> {graph.name = "y"}) attributes {graph.by_rows = [@main_4_1]}
func.func @main_4_1(%x: tensor<1x4xf32> {graph.name = "x"}, %s: tensor<2xi64> {graph.name = "seed", graph.random}) -> (tensor<1x4xf32> {graph.name = "y"}) attributes {graph.rows = 1 : i64} {
  %0 = kernel.call @relu4(%x) : (tensor<1x4xf32>) -> tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}

// -----

// What may be smaller, and the size that it has.
// CHECK-LABEL: plan.program @main by_shape([@main_4]) {
// CHECK-NEXT: plan.input 0 "x" padded([0, -1]) : memref<?x3xf32>
// CHECK-NEXT: plan.output 0 "y" padded([0, -1]) : memref<?x3xf32>
// CHECK-LABEL: plan.program @main_4 {
// CHECK-NEXT: plan.input 0 "x" : memref<4x3xf32>
// CHECK-NEXT: plan.input 1 "size" : memref<i64>
kernel.library @relu "reference.relu" {} : (tensor<4x3xf32>) -> tensor<4x3xf32>
func.func private @main(tensor<?x3xf32> {graph.name = "x", graph.padded = array<i64: 0, -1>}) -> (tensor<?x3xf32> {graph.name = "y", graph.padded = array<i64: 0, -1>}) attributes {graph.by_shape = [@main_4]}
func.func @main_4(%x: tensor<4x3xf32> {graph.name = "x"}, %n: tensor<i64> {graph.name = "size"}) -> (tensor<4x3xf32> {graph.name = "y"}) {
  %0 = kernel.call @relu(%x) : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}
