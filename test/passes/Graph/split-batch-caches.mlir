// With 0 parts: what takes less time in parts that caches hold.

// RUN: dlc-opt %s --split-input-file --graph-split-batch=parts=0 --canonicalize --cse | FileCheck %s
// RUN: dlc-opt %s --split-input-file --graph-split-batch=parts=0 --remarks-filter=graph-split-batch -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: dlc-opt %s --split-input-file --verify-numerics --graph-split-batch=parts=0 -o /dev/null
// RUN: dlc-opt %s --split-input-file --graph-split-batch=parts=0 -o %t.once
// RUN: dlc-opt %t.once --split-input-file --graph-split-batch=parts=0 -o %t.twice && diff %t.once %t.twice

// All that is large, with all that knows how between it, in parts of two
// examples; what says how many there are is theirs. The parts are joined where
// values have become small.

// REMARK: Function=all_kinds | Operations=10, Parts=4
// REMARK: Function=stages | Operations=7, Parts=4
// REMARK: Function=prime | Operations=4, Parts=3
// REMARK-NOT: SplitBatch

// CHECK-LABEL: func @all_kinds
// CHECK-SAME: (%[[X:.*]]: tensor<8x4x384x384xf32>,
// CHECK: %[[X0:.*]] = graph.slice %[[X]], {{.*}} {graph.part = 0 : i64} {{.*}} -> tensor<2x4x384x384xf32>
// CHECK-NEXT: %[[C0:.*]] = graph.conv %[[X0]], {{.*}} -> tensor<2x4x384x384xf32>
// CHECK-NEXT: %[[A0:.*]] = graph.relu %[[C0]]
// CHECK-NEXT: %[[J0:.*]] = graph.concat %[[A0]], %[[X0]] {axis = 1 : i64, graph.part = 0 : i64} {{.*}} -> tensor<2x8x384x384xf32>
// CHECK-NEXT: %[[M0:.*]] = graph.reduce_mean %[[J0]], {{.*}} -> tensor<2x8x1x1xf32>
// CHECK-NEXT: %[[S0:.*]] = graph.mul %[[J0]], %[[M0]]
// CHECK-NEXT: %[[R0:.*]] = graph.reshape %[[S0]], {{.*}} -> tensor<2x2x4x384x384xf32>
// CHECK-NEXT: %[[T0:.*]] = graph.slice %[[R0]], {{.*}} -> tensor<2x1x4x384x384xf32>
// CHECK-NEXT: %[[B0:.*]] = graph.reshape %[[T0]], {{.*}} -> tensor<2x4x384x384xf32>
// CHECK: %[[Z0:.*]] = graph.resize %[[B0]], {{.*}} -> tensor<2x4x192x192xf32>
// CHECK-NEXT: %[[P0:.*]] = graph.max_pool %[[Z0]] {{.*}} -> tensor<2x4x12x12xf32>
// CHECK: graph.slice %[[X]], {{.*}} {graph.part = 3 : i64}
// CHECK: %[[P3:.*]] = graph.max_pool {{.*}} -> tensor<2x4x12x12xf32>
// CHECK: %[[P:.*]] = graph.concat %[[P0]], {{.*}}, {{.*}}, %[[P3]] {axis = 0 : i64}
// CHECK-NEXT: %[[Y:.*]] = graph.conv %[[P]]
// CHECK-NEXT: return %[[Y]]
func.func @all_kinds(%x: tensor<8x4x384x384xf32>, %w: tensor<4x4x1x1xf32>, %v: tensor<4x4x3x3xf32>) -> tensor<8x4x10x10xf32> {
  %space = graph.constant dense<[2, 3]> : tensor<2xi64>
  %grouped = graph.constant dense<[8, 2, 4, 384, 384]> : tensor<5xi64>
  %flat = graph.constant dense<[-1, 4, 384, 384]> : tensor<4xi64>
  %zero = graph.constant dense<0> : tensor<1xi64>
  %one = graph.constant dense<1> : tensor<1xi64>
  %none = graph.none : none
  %sizes = graph.constant dense<[8, 4, 192, 192]> : tensor<4xi64>
  %0 = graph.conv %x, %w : (tensor<8x4x384x384xf32>, tensor<4x4x1x1xf32>) -> tensor<8x4x384x384xf32>
  %1 = graph.relu %0 : tensor<8x4x384x384xf32>
  %2 = graph.concat %1, %x {axis = 1 : i64} : (tensor<8x4x384x384xf32>, tensor<8x4x384x384xf32>) -> tensor<8x8x384x384xf32>
  %3 = graph.reduce_mean %2, %space : (tensor<8x8x384x384xf32>, tensor<2xi64>) -> tensor<8x8x1x1xf32>
  %4 = graph.mul %2, %3 : (tensor<8x8x384x384xf32>, tensor<8x8x1x1xf32>) -> tensor<8x8x384x384xf32>
  %5 = graph.reshape %4, %grouped : (tensor<8x8x384x384xf32>, tensor<5xi64>) -> tensor<8x2x4x384x384xf32>
  %6 = graph.slice %5, %zero, %one, %one, %one : (tensor<8x2x4x384x384xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<8x1x4x384x384xf32>
  %7 = graph.reshape %6, %flat : (tensor<8x1x4x384x384xf32>, tensor<4xi64>) -> tensor<8x4x384x384xf32>
  %8 = graph.resize %7, %none, %none, %sizes : (tensor<8x4x384x384xf32>, none, none, tensor<4xi64>) -> tensor<8x4x192x192xf32>
  %9 = graph.max_pool %8 {kernel_shape = array<i64: 16, 16>, strides = array<i64: 16, 16>} : (tensor<8x4x192x192xf32>) -> tensor<8x4x12x12xf32>
  %10 = graph.conv %9, %v : (tensor<8x4x12x12xf32>, tensor<4x4x3x3xf32>) -> tensor<8x4x10x10xf32>
  return %10 : tensor<8x4x10x10xf32>
}

// -----

// What caches hold stays whole, and so do two examples, which threads share.

// CHECK-LABEL: func @small
// CHECK-NOT: graph.part
func.func @small(%x: tensor<8x4x64x64xf32>, %y: tensor<2x4x512x512xf32>, %w: tensor<4x4x1x1xf32>) -> (tensor<8x4x64x64xf32>, tensor<2x4x512x512xf32>) {
  %0 = graph.conv %x, %w : (tensor<8x4x64x64xf32>, tensor<4x4x1x1xf32>) -> tensor<8x4x64x64xf32>
  %1 = graph.conv %y, %w : (tensor<2x4x512x512xf32>, tensor<4x4x1x1xf32>) -> tensor<2x4x512x512xf32>
  return %0, %1 : tensor<8x4x64x64xf32>, tensor<2x4x512x512xf32>
}

// -----

// Where a value between large ones needs the whole batch, there are two stages.

// CHECK-LABEL: func @stages
// CHECK: graph.max_pool {{.*}} {graph.part = 3 : i64, {{.*}} -> tensor<2x8x96x96xf32>
// CHECK: %[[ALL:.*]] = graph.concat {{.*}} {axis = 0 : i64} {{.*}} -> tensor<8x8x96x96xf32>
// CHECK-NEXT: %[[MEAN:.*]] = graph.reduce_mean %[[ALL]]
// CHECK: graph.conv {{.*}} {graph.part = 0 : i64}
// CHECK: graph.max_pool {{.*}} {graph.part = 3 : i64, {{.*}} -> tensor<2x8x96x96xf32>
func.func @stages(%x: tensor<8x8x96x96xf32>, %w: tensor<8x8x1x1xf32>) -> tensor<8x8x96x96xf32> {
  %batch = graph.constant dense<0> : tensor<1xi64>
  %none = graph.none : none
  %scales = graph.constant dense<[1.0, 1.0, 4.0, 4.0]> : tensor<4xf32>
  %0 = graph.resize %x, %none, %scales, %none : (tensor<8x8x96x96xf32>, none, tensor<4xf32>, none) -> tensor<8x8x384x384xf32>
  %1 = graph.conv %0, %w : (tensor<8x8x384x384xf32>, tensor<8x8x1x1xf32>) -> tensor<8x8x384x384xf32>
  %2 = graph.max_pool %1 {kernel_shape = array<i64: 4, 4>, strides = array<i64: 4, 4>} : (tensor<8x8x384x384xf32>) -> tensor<8x8x96x96xf32>
  %3 = graph.reduce_mean %2, %batch : (tensor<8x8x96x96xf32>, tensor<1xi64>) -> tensor<1x8x96x96xf32>
  %4 = graph.sub %2, %3 : (tensor<8x8x96x96xf32>, tensor<1x8x96x96xf32>) -> tensor<8x8x96x96xf32>
  %5 = graph.resize %4, %none, %scales, %none : (tensor<8x8x96x96xf32>, none, tensor<4xf32>, none) -> tensor<8x8x384x384xf32>
  %6 = graph.conv %5, %w : (tensor<8x8x384x384xf32>, tensor<8x8x1x1xf32>) -> tensor<8x8x384x384xf32>
  %7 = graph.max_pool %6 {kernel_shape = array<i64: 4, 4>, strides = array<i64: 4, 4>} : (tensor<8x8x384x384xf32>) -> tensor<8x8x96x96xf32>
  return %7 : tensor<8x8x96x96xf32>
}

// -----

// Seven examples are two, two and three, also where an operand says how many.

// CHECK-LABEL: func @prime
// CHECK: graph.unsqueeze {{.*}} {graph.part = 0 : i64} {{.*}} -> tensor<2x8x1x384x384xf32>
// CHECK: graph.unsqueeze {{.*}} {graph.part = 1 : i64} {{.*}} -> tensor<2x8x1x384x384xf32>
// CHECK: graph.slice {{.*}} {graph.part = 2 : i64} {{.*}} -> tensor<3x1x384x384xf32>
// CHECK: graph.unsqueeze {{.*}} {graph.part = 2 : i64} {{.*}} -> tensor<3x8x1x384x384xf32>
// CHECK: graph.expand {{.*}} {graph.part = 2 : i64} {{.*}} -> tensor<3x8x2x384x384xf32>
// CHECK: graph.reduce_max {{.*}} {graph.part = 2 : i64, {{.*}} -> tensor<3x8x2xf32>
// CHECK: graph.concat {{.*}} -> tensor<7x8x2xf32>
func.func @prime(%x: tensor<7x1x384x384xf32>, %w: tensor<8x1x1x1xf32>) -> tensor<7x8x2xf32> {
  %two = graph.constant dense<2> : tensor<1xi64>
  %shape = graph.constant dense<[7, 8, 2, 384, 384]> : tensor<5xi64>
  %space = graph.constant dense<[3, 4]> : tensor<2xi64>
  %0 = graph.conv %x, %w : (tensor<7x1x384x384xf32>, tensor<8x1x1x1xf32>) -> tensor<7x8x384x384xf32>
  %1 = graph.unsqueeze %0, %two : (tensor<7x8x384x384xf32>, tensor<1xi64>) -> tensor<7x8x1x384x384xf32>
  %2 = graph.expand %1, %shape : (tensor<7x8x1x384x384xf32>, tensor<5xi64>) -> tensor<7x8x2x384x384xf32>
  %3 = graph.reduce_max %2, %space {keepdims = false} : (tensor<7x8x2x384x384xf32>, tensor<2xi64>) -> tensor<7x8x2xf32>
  return %3 : tensor<7x8x2xf32>
}

// -----

// What is cut out of one large value and joined to another takes more memory
// than what is between them saves; sums of all elements of an example are
// decided about already.

// CHECK-LABEL: func @copied
// CHECK-NOT: graph.part
func.func @copied(%x: tensor<8x4x384x384xf32>, %w: tensor<4x4x1x1xf32>) -> (tensor<8x4x384x384xf32>, tensor<8x1x1x1xf32>) {
  %batch = graph.constant dense<0> : tensor<1xi64>
  %each = graph.constant dense<[1, 2, 3]> : tensor<3xi64>
  %0 = graph.cumsum %x, %batch : (tensor<8x4x384x384xf32>, tensor<1xi64>) -> tensor<8x4x384x384xf32>
  %1 = graph.conv %0, %w : (tensor<8x4x384x384xf32>, tensor<4x4x1x1xf32>) -> tensor<8x4x384x384xf32>
  %2 = graph.conv %1, %w : (tensor<8x4x384x384xf32>, tensor<4x4x1x1xf32>) -> tensor<8x4x384x384xf32>
  %3 = graph.conv %2, %w : (tensor<8x4x384x384xf32>, tensor<4x4x1x1xf32>) -> tensor<8x4x384x384xf32>
  %4 = graph.conv %3, %w : (tensor<8x4x384x384xf32>, tensor<4x4x1x1xf32>) -> tensor<8x4x384x384xf32>
  %5 = graph.conv %4, %w : (tensor<8x4x384x384xf32>, tensor<4x4x1x1xf32>) -> tensor<8x4x384x384xf32>
  %6 = graph.conv %5, %w : (tensor<8x4x384x384xf32>, tensor<4x4x1x1xf32>) -> tensor<8x4x384x384xf32>
  %7 = graph.conv %6, %w : (tensor<8x4x384x384xf32>, tensor<4x4x1x1xf32>) -> tensor<8x4x384x384xf32>
  %8 = graph.reduce_max %7, %each : (tensor<8x4x384x384xf32>, tensor<3xi64>) -> tensor<8x1x1x1xf32>
  return %7, %8 : tensor<8x4x384x384xf32>, tensor<8x1x1x1xf32>
}
