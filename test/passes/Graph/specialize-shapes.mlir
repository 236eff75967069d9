// SPDX-License-Identifier: Apache-2.0
// RUN: split-file %s %t
// RUN: dlc-opt %t/lengths.mlir --graph-specialize-shapes=extents='length=16|32' | FileCheck %t/lengths.mlir
// RUN: dlc-opt %t/lengths.mlir --pass-pipeline='builtin.module(graph-specialize-shapes{extents=length=16|32},graph-specialize-batch{sizes=1,4})' | FileCheck %t/lengths.mlir --check-prefix=BATCH
// RUN: dlc-opt %t/lengths.mlir --graph-specialize-shapes=extents='length=16' | FileCheck %t/lengths.mlir --check-prefix=ONE
// RUN: dlc-opt %t/lengths.mlir --graph-specialize-shapes | FileCheck %t/lengths.mlir --check-prefix=NONE
// RUN: dlc-opt %t/image.mlir --graph-specialize-shapes=extents='x.2=8|6,#1.0=2,x.1=4|8' | FileCheck %t/image.mlir
// RUN: not dlc-opt %t/lengths.mlir --graph-specialize-shapes=extents='size=16' 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: error: expected an extent that the inputs leave open, one of 'batch', 'length', got 'size'
// RUN: not dlc-opt %t/known.mlir --graph-specialize-shapes=extents='size=16' 2>&1 | FileCheck %s --check-prefix=KNOWN
// KNOWN: error: expected an extent that the inputs leave open, and all are known, got 'size'
// RUN: not dlc-opt %t/lengths.mlir --graph-specialize-shapes=extents='length=16|8|16' 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: expected sizes of 'length', each once, got '16'
// RUN: not dlc-opt %t/lengths.mlir --graph-specialize-shapes=extents='length=0' 2>&1 | FileCheck %s --check-prefix=ZERO
// ZERO: error: expected sizes of 'length', each once, got '0'
// RUN: not dlc-opt %t/lengths.mlir --graph-specialize-shapes=extents='length=1,length=2' 2>&1 | FileCheck %s --check-prefix=AGAIN
// AGAIN: error: expected sizes of 'length' once, got them again
// RUN: not dlc-opt %t/state.mlir --graph-specialize-shapes=extents='length=1|2' 2>&1 | FileCheck %s --check-prefix=STATE
// STATE: error: expected one size of each extent, as a run leaves state to the next
// RUN: not dlc-opt %t/table.mlir --graph-specialize-shapes=extents='length=2|3' 2>&1 | FileCheck %s --check-prefix=MISFIT
// MISFIT: error: length=3: {{.*}}expected shapes that broadcast, got 3 and 2 in dimension 0
// RUN: dlc-opt %t/pair.mlir --graph-specialize-shapes=extents='x.0=2|3,y.0=3|2' | FileCheck %t/pair.mlir
// RUN: not dlc-opt %t/pair.mlir --graph-specialize-shapes=extents='x.0=2|3,y.0=3|4' 2>&1 | FileCheck %t/pair.mlir --check-prefix=ALONE
// RUN: dlc-opt %t/names.mlir --graph-specialize-shapes=extents='x.0=2|3,#0.0=4|5' | FileCheck %t/names.mlir
// RUN: dlc-opt %t/same.mlir --graph-specialize-shapes=extents='length=4' | FileCheck %t/same.mlir
// RUN: dlc-opt %t/both.mlir --graph-specialize-shapes=extents='length=4|8,size=4|8' --remarks-filter=graph-specialize-shapes 2>&1 | FileCheck %t/both.mlir
// RUN: dlc-opt %t/dense.mlir --graph-specialize-shapes=extents='length=1|2|3' --remarks-filter=graph-specialize-shapes 2>&1 | FileCheck %t/dense.mlir
// RUN: not dlc-opt %t/declared.mlir --graph-specialize-shapes=extents='length=4' 2>&1 | FileCheck %s --check-prefix=DECLARED
// DECLARED: error: expected a function with a body, got a declaration, whose extents have their sizes

// An extent is the same in all of its places; what results share is known.
//--- lengths.mlir
func.func @main(
    %x: tensor<?x?x8xf32> {graph.name = "x", graph.dims = ["batch", "length", ""]},
    %y: tensor<?x?x8xf32> {graph.name = "y", graph.dims = ["batch", "length", ""]})
    -> (tensor<*xf32> {graph.name = "sum"}, tensor<*xf32> {graph.name = "last"}) {
  %axes = graph.constant dense<1> : tensor<1xi64>
  %0 = graph.add %x, %y : (tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<*xf32>
  %1 = graph.reduce_sum %0, %axes {keepdims = true} : (tensor<*xf32>, tensor<1xi64>) -> tensor<*xf32>
  return %0, %1 : tensor<*xf32>, tensor<*xf32>
}
// CHECK: func.func private @main(tensor<?x?x8xf32> {graph.dims = ["batch", "length", ""], graph.name = "x", graph.padded = array<i64: -1, 0, -1>},
// CHECK-SAME: -> (tensor<?x?x8xf32> {graph.name = "sum", graph.padded = array<i64: -1, 0, -1>}, tensor<?x1x8xf32> {graph.name = "last"}) attributes {graph.by_shape = [@main_16, @main_32]}
// CHECK: func.func @main_16(%{{.*}}: tensor<?x16x8xf32> {graph.dims = ["batch", "", ""], graph.name = "x"}, %{{.*}}: tensor<?x16x8xf32>
// CHECK: graph.add {{.*}} : tensor<?x16x8xf32>
// CHECK: func.func @main_32(%{{.*}}: tensor<?x32x8xf32>
// CHECK: graph.add {{.*}} : tensor<?x32x8xf32>

// BATCH: func.func private @main({{.*}}graph.by_shape = [@main_16, @main_32]
// BATCH: func.func private @main_16({{.*}}graph.by_rows = [@main_16_4, @main_16_1]
// BATCH: func.func private @main_32({{.*}}graph.by_rows = [@main_32_4, @main_32_1]
// BATCH: func.func @main_16_4(%{{.*}}: tensor<4x16x8xf32>
// BATCH: func.func @main_32_1(%{{.*}}: tensor<1x32x8xf32>

// ONE-NOT: by_shape
// ONE: func.func @main(%{{.*}}: tensor<?x16x8xf32> {graph.dims = ["batch", "", ""], graph.name = "x"}
// NONE: func.func @main(%{{.*}}: tensor<?x?x8xf32>

// Extents without names go by those of their inputs; the last varies fastest,
// in the order of the inputs.
//--- image.mlir
func.func @main(
    %x: tensor<1x?x?xf32> {graph.name = "x"}, %y: tensor<?xf32>) -> (tensor<1x?x?xf32>, tensor<?xf32>) {
  %0 = graph.relu %x : tensor<1x?x?xf32>
  %1 = graph.relu %y : tensor<?xf32>
  return %0, %1 : tensor<1x?x?xf32>, tensor<?xf32>
}
// CHECK: func.func private @main(tensor<1x?x?xf32> {graph.name = "x", graph.padded = array<i64: -1, 0, 1>}, tensor<?xf32>) -> (tensor<1x?x?xf32> {graph.padded = array<i64: -1, 0, 1>}, tensor<2xf32>)
// CHECK-SAME: graph.by_shape = [@main_4x8x2, @main_4x6x2, @main_8x8x2, @main_8x6x2]
// CHECK: func.func @main_4x8x2(%{{.*}}: tensor<1x4x8xf32> {graph.name = "x"}, %{{.*}}: tensor<2xf32>, %{{.*}}: tensor<i64> {graph.name = "size of x.1"}, %{{.*}}: tensor<i64> {graph.name = "size of x.2"}) -> (tensor<1x4x8xf32>, tensor<2xf32>)

//--- known.mlir
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

//--- state.mlir
func.func @main(
    %x: tensor<?xf32> {graph.dims = ["length"]}, %s: tensor<2xf32> {graph.name = "s"})
    -> (tensor<?xf32>, tensor<2xf32> {graph.name = "new s", graph.updates = "s"}) {
  %0 = graph.relu %s : tensor<2xf32>
  return %x, %0 : tensor<?xf32>, tensor<2xf32>
}

//--- table.mlir
func.func @main(%x: tensor<?xf32> {graph.dims = ["length"]}) -> tensor<?xf32> {
  %t = graph.constant dense<1.0> : tensor<2xf32>
  %0 = graph.add %x, %t : (tensor<?xf32>, tensor<2xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// Combinations that the model cannot have are left out, but no size is.
//--- pair.mlir
func.func @main(%x: tensor<?xf32> {graph.name = "x"}, %y: tensor<?xf32> {graph.name = "y"}) -> tensor<*xf32> {
  %0 = graph.add %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
// CHECK: graph.by_shape = [@main_2x2, @main_3x3]}
// CHECK-NOT: @main_2x3
// ALONE: error: x.0=2, y.0=3: {{.*}}expected shapes that broadcast, got 2 and 3 in dimension 0

// A name that the model has for another extent is that one's.
//--- names.mlir
func.func @main(%x: tensor<?xf32> {graph.name = "x"}, %y: tensor<?xf32> {graph.name = "y", graph.dims = ["x.0"]}) -> (tensor<?xf32>, tensor<?xf32>) {
  return %x, %y : tensor<?xf32>, tensor<?xf32>
}
// CHECK: graph.by_shape = [@main_2x4, @main_2x5, @main_3x4, @main_3x5]}
// CHECK: func.func @main_2x4(%{{.*}}: tensor<4xf32> {graph.name = "x"}, %{{.*}}: tensor<2xf32>

// What is returned as it came is known, too.
//--- same.mlir
func.func @main(%x: tensor<?xf32> {graph.name = "x", graph.dims = ["length"]}) -> (tensor<?xf32> {graph.dims = ["length"]}) {
  return %x : tensor<?xf32>
}
// CHECK: func.func @main(%{{.*}}: tensor<4xf32> {{.*}}) -> (tensor<4xf32> {graph.dims = [""]})

//--- declared.mlir
func.func private @main(tensor<?xf32>) -> tensor<?xf32> attributes {graph.by_shape = [@main_4]}
func.func @main_4(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// An extent that is the lesser of two is neither's.
//--- both.mlir
func.func @main(%x: tensor<?xf32> {graph.dims = ["length"]}, %y: tensor<?xf32> {graph.dims = ["size"]}) -> tensor<?xf32> {
  %zero = graph.constant dense<0> : tensor<1xi64>
  %one = graph.constant dense<1> : tensor<1xi64>
  %n = graph.shape %x : (tensor<?xf32>) -> tensor<1xi64>
  %0 = graph.slice %y, %zero, %n, %zero, %one : (tensor<?xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
// CHECK-DAG: sizes of length are not padded to larger ones
// CHECK-DAG: sizes of size are not padded to larger ones
// CHECK-NOT: graph.padded

// Where no size is left out there is nothing to pad.
//--- dense.mlir
func.func @main(%x: tensor<?xf32> {graph.dims = ["length"]}) -> tensor<?xf32> {
  %0 = graph.softmax %x {axis = 0 : i64} : tensor<?xf32>
  return %0 : tensor<?xf32>
}
// CHECK-DAG: sizes of length are not padded to larger ones: there are none between
// CHECK-DAG: func.func @main_3(
// CHECK-NOT: graph.padded
