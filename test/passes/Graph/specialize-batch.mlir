// RUN: dlc-opt %s --split-input-file --graph-specialize-batch=sizes=1,4 | FileCheck %s
// RUN: dlc-opt %s --split-input-file --graph-specialize-batch=sizes=1,4 --remarks-filter=graph-specialize-batch -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: dlc-opt %s --split-input-file --graph-specialize-batch | FileCheck %s --check-prefix=OWN
// RUN: not dlc-opt %s --split-input-file --graph-specialize-batch=sizes=4,1 2>&1 | FileCheck %s --check-prefix=SIZES
// RUN: not dlc-opt %s --split-input-file --graph-specialize-batch=sizes=2,4 2>&1 | FileCheck %s --check-prefix=SIZES

// SIZES: graph-specialize-batch: expected sizes that begin with 1 and ascend

// Each row of a product, of a softmax along it and of a sum over it is made of
// the same row. What has no open extent is the same for all.

// CHECK-LABEL: func.func private @main(tensor<?x8xf32> {graph.dims = ["N", ""], graph.name = "x"}, tensor<4xf32>) -> (tensor<?x4xf32> {graph.dims = ["N", ""], graph.name = "y"}, tensor<?xf32>, tensor<4xf32>)
// CHECK-SAME: attributes {graph.by_rows = [@main_4, @main_1]}
// CHECK: func.func @main_4(%{{.*}}: tensor<4x8xf32> {graph.name = "x"}, %{{.*}}: tensor<4xf32>) -> (tensor<4x4xf32> {graph.name = "y"}, tensor<4xf32>, tensor<4xf32>)
// CHECK-SAME: attributes {graph.rows = 4 : i64}
// CHECK: graph.softmax %{{.*}} {axis = 1 : i64} : tensor<4x4xf32>
// CHECK: func.func @main_1(
// CHECK-SAME: attributes {graph.rows = 1 : i64}
// REMARK: specialized{{.*}}Sizes=2
func.func @main(%x: tensor<?x8xf32> {graph.name = "x", graph.dims = ["N", ""]}, %b: tensor<4xf32>) -> (tensor<?x4xf32> {graph.name = "y", graph.dims = ["N", ""]}, tensor<?xf32>, tensor<4xf32>) {
  %w = graph.constant dense<0.5> : tensor<8x4xf32>
  %axis = graph.constant dense<1> : tensor<1xi64>
  %0 = graph.matmul %x, %w : (tensor<?x8xf32>, tensor<8x4xf32>) -> tensor<?x4xf32>
  %1 = graph.add %0, %b : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  %2 = graph.softmax %1 {axis = 1 : i64} : tensor<?x4xf32>
  %3 = graph.reduce_sum %2, %axis {keepdims = false} : (tensor<?x4xf32>, tensor<1xi64>) -> tensor<?xf32>
  %4 = graph.relu %b : tensor<4xf32>
  return %2, %3, %4 : tensor<?x4xf32>, tensor<?xf32>, tensor<4xf32>
}

// -----

// Rows go elsewhere and come back: heads in front of a batch of products, as
// exporters write them, with shapes that are computed.

// CHECK-LABEL: func.func private @main(tensor<?x6x8xf32>) -> tensor<?x6x8xf32>
// CHECK-LABEL: func.func @main_4(
// CHECK: graph.reshape %{{.*}} -> tensor<8x6x4xf32>
// CHECK: graph.matmul %{{.*}} -> tensor<8x6x6xf32>
// REMARK: specialized{{.*}}Sizes=2
func.func @main(%x: tensor<?x6x8xf32>) -> tensor<?x6x8xf32> {
  %two = graph.constant dense<2> : tensor<1xi64>
  %six = graph.constant dense<6> : tensor<1xi64>
  %four = graph.constant dense<4> : tensor<1xi64>
  %eight = graph.constant dense<8> : tensor<1xi64>
  %zero = graph.constant dense<0> : tensor<1xi64>
  %s = graph.shape %x : (tensor<?x6x8xf32>) -> tensor<3xi64>
  %n = graph.gather %s, %zero {axis = 0 : i64} : (tensor<3xi64>, tensor<1xi64>) -> tensor<1xi64>
  %nh = graph.mul %n, %two : tensor<1xi64>
  %apart = graph.concat %n, %six, %two, %four {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<4xi64>
  %flat = graph.concat %nh, %six, %four {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xi64>
  %back = graph.concat %n, %two, %six, %four {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<4xi64>
  %whole = graph.concat %n, %six, %eight {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xi64>
  %0 = graph.reshape %x, %apart : (tensor<?x6x8xf32>, tensor<4xi64>) -> tensor<?x?x?x?xf32>
  %1 = graph.transpose %0 {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  %2 = graph.reshape %1, %flat : (tensor<?x?x?x?xf32>, tensor<3xi64>) -> tensor<?x?x?xf32>
  %3 = graph.transpose %2 {perm = array<i64: 0, 2, 1>} : (tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %4 = graph.matmul %2, %3 : (tensor<?x?x?xf32>, tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %5 = graph.softmax %4 {axis = 2 : i64} : tensor<?x?x?xf32>
  %6 = graph.matmul %5, %2 : (tensor<?x?x?xf32>, tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %7 = graph.reshape %6, %back : (tensor<?x?x?xf32>, tensor<4xi64>) -> tensor<?x?x?x?xf32>
  %8 = graph.transpose %7 {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  %9 = graph.reshape %8, %whole : (tensor<?x?x?x?xf32>, tensor<3xi64>) -> tensor<?x6x8xf32>
  return %9 : tensor<?x6x8xf32>
}

// -----

// The batch may lie in another dimension meanwhile; what a shape makes of one
// number is the same for all; words are found by their numbers; a number that
// follows from an extent that is known is one.

// CHECK-LABEL: func.func private @main(tensor<?x5xi64> {graph.dims = ["N", ""]}, tensor<?x5xf32> {graph.dims = ["N", ""]}) -> tensor<?x5x4xf32>
// REMARK: specialized{{.*}}Sizes=2
func.func @main(%ids: tensor<?x5xi64> {graph.dims = ["N", ""]}, %mask: tensor<?x5xf32> {graph.dims = ["N", ""]}) -> tensor<?x5x4xf32> {
  %words = graph.constant dense<1.5> : tensor<9x4xf32>
  %one = graph.constant dense<1.0> : tensor<1xf32>
  %last = graph.constant dense<1> : tensor<i64>
  %axis = graph.constant dense<2> : tensor<1xi64>
  %0 = graph.gather %words, %ids {axis = 0 : i64} : (tensor<9x4xf32>, tensor<?x5xi64>) -> tensor<?x5x4xf32>
  %1 = graph.transpose %0 {perm = array<i64: 1, 0, 2>} : (tensor<?x5x4xf32>) -> tensor<5x?x4xf32>
  %2 = graph.relu %1 : tensor<5x?x4xf32>
  %3 = graph.transpose %2 {perm = array<i64: 1, 0, 2>} : (tensor<5x?x4xf32>) -> tensor<?x5x4xf32>
  %s = graph.shape %ids : (tensor<?x5xi64>) -> tensor<2xi64>
  %ones = graph.expand %one, %s : (tensor<1xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %length = graph.gather %s, %last {axis = 0 : i64} : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %scale = graph.cast %length {to = f32} : (tensor<i64>) -> tensor<f32>
  %4 = graph.mul %mask, %ones : (tensor<?x5xf32>, tensor<?x?xf32>) -> tensor<?x5xf32>
  %5 = graph.div %4, %scale : (tensor<?x5xf32>, tensor<f32>) -> tensor<?x5xf32>
  %6 = graph.unsqueeze %5, %axis : (tensor<?x5xf32>, tensor<1xi64>) -> tensor<?x5x1xf32>
  %7 = graph.mul %3, %6 : (tensor<?x5x4xf32>, tensor<?x5x1xf32>) -> tensor<?x5x4xf32>
  return %7 : tensor<?x5x4xf32>
}

// -----

// An axis of the batch mixes examples.

// CHECK-LABEL: func.func @main(%{{.*}}: tensor<?x4xf32>)
// CHECK-NOT: graph.by_rows
// REMARK: does not keep the examples of a batch apart
func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = graph.softmax %x {axis = 0 : i64} : tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

// CHECK-LABEL: func.func @main(%{{.*}}: tensor<?x4xf32>)
// REMARK: reduce_mean does not keep the examples of a batch apart
func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %axis = graph.constant dense<0> : tensor<1xi64>
  %0 = graph.reduce_mean %x, %axis : (tensor<?x4xf32>, tensor<1xi64>) -> tensor<1x4xf32>
  %1 = graph.sub %x, %0 : (tensor<?x4xf32>, tensor<1x4xf32>) -> tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}

// -----

// Rows in another order.

// CHECK-LABEL: func.func @main(%{{.*}}: tensor<?x4xf32>)
// REMARK: slice does not keep the examples of a batch apart
func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %begin = graph.constant dense<-1> : tensor<1xi64>
  %end = graph.constant dense<-9223372036854775808> : tensor<1xi64>
  %axis = graph.constant dense<0> : tensor<1xi64>
  %step = graph.constant dense<-1> : tensor<1xi64>
  %0 = graph.slice %x, %begin, %end, %axis, %step : (tensor<?x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

// Rows next to each other that are of two examples.

// CHECK-LABEL: func.func @main(%{{.*}}: tensor<?x6xf32>)
// REMARK: does not keep the examples of a batch apart
func.func @main(%x: tensor<?x6xf32>) -> tensor<6x?xf32> {
  %shape = graph.constant dense<[6, -1]> : tensor<2xi64>
  %0 = graph.reshape %x, %shape : (tensor<?x6xf32>, tensor<2xi64>) -> tensor<6x?xf32>
  return %0 : tensor<6x?xf32>
}

// -----

// A result that has the batch behind other dimensions.

// CHECK-LABEL: func.func @main(%{{.*}}: tensor<?x6xf32>)
// REMARK: a result has it elsewhere than in front
func.func @main(%x: tensor<?x6xf32>) -> tensor<6x?xf32> {
  %0 = graph.transpose %x {perm = array<i64: 1, 0>} : (tensor<?x6xf32>) -> tensor<6x?xf32>
  return %0 : tensor<6x?xf32>
}

// -----

// The number of examples is computed with.

// CHECK-LABEL: func.func @main(%{{.*}}: tensor<?x4xf32>)
// REMARK: div computes with the size of the batch
func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %zero = graph.constant dense<0> : tensor<i64>
  %s = graph.shape %x : (tensor<?x4xf32>) -> tensor<2xi64>
  %n = graph.gather %s, %zero {axis = 0 : i64} : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %f = graph.cast %n {to = f32} : (tensor<i64>) -> tensor<f32>
  %0 = graph.div %x, %f : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

// CHECK-LABEL: func.func @main(%{{.*}}: tensor<?x4xf32>)
// REMARK: gives the size of the batch
func.func @main(%x: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<2xi64>) {
  %s = graph.shape %x : (tensor<?x4xf32>) -> tensor<2xi64>
  return %x, %s : tensor<?x4xf32>, tensor<2xi64>
}

// -----

// Numbers of rows.

// CHECK-LABEL: func.func @main(%{{.*}}: tensor<?x4xf32>)
// REMARK: add does not keep the examples of a batch apart
func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %zero = graph.constant dense<0> : tensor<i64>
  %one = graph.constant dense<1> : tensor<i64>
  %axis = graph.constant dense<1> : tensor<1xi64>
  %s = graph.shape %x : (tensor<?x4xf32>) -> tensor<2xi64>
  %n = graph.gather %s, %zero {axis = 0 : i64} : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %r = graph.range %zero, %n, %one : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  %f = graph.cast %r {to = f32} : (tensor<?xi64>) -> tensor<?xf32>
  %c = graph.unsqueeze %f, %axis : (tensor<?xf32>, tensor<1xi64>) -> tensor<?x1xf32>
  %0 = graph.add %x, %c : (tensor<?x4xf32>, tensor<?x1xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

// A reshape that fits some batches only.

// CHECK-LABEL: func.func @main(%{{.*}}: tensor<?x6xf32>)
// REMARK: shapes do not fit a batch of 1000003
func.func @main(%x: tensor<?x6xf32>) -> tensor<?x?xf32> {
  %shape = graph.constant dense<[14, -1]> : tensor<2xi64>
  %0 = graph.reshape %x, %shape : (tensor<?x6xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

// A limit beyond any size that is looked at by chance; an axis that is there
// for one example alone; a part of a table, and of each row, that the number of
// examples says.

// CHECK-LABEL: func.func @main(%{{.*}}: tensor<?x4xf32>)
// REMARK: slice does not keep the examples of a batch apart
func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %zero = graph.constant dense<0> : tensor<1xi64>
  %end = graph.constant dense<5000> : tensor<1xi64>
  %one = graph.constant dense<1> : tensor<1xi64>
  %0 = graph.slice %x, %zero, %end, %zero, %one : (tensor<?x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

// CHECK-LABEL: func.func @main(%{{.*}}: tensor<?x1x3x3xf32>)
// REMARK: squeeze does not keep the examples of a batch apart
func.func @main(%x: tensor<?x1x3x3xf32>) -> tensor<*xf32> {
  %0 = graph.squeeze %x : (tensor<?x1x3x3xf32>) -> tensor<*xf32>
  %1 = graph.softmax %0 {axis = 1 : i64} : tensor<*xf32>
  return %1 : tensor<*xf32>
}

// -----

// CHECK-LABEL: func.func @main(%{{.*}}: tensor<?x3xf32>, %{{.*}}: tensor<9x3xf32>)
// REMARK: shapes do not fit a batch of 1000003
func.func @main(%x: tensor<?x3xf32>, %table: tensor<9x3xf32>) -> tensor<?x3xf32> {
  %zero = graph.constant dense<0> : tensor<1xi64>
  %one = graph.constant dense<1> : tensor<1xi64>
  %s = graph.shape %x {end = 1 : i64} : (tensor<?x3xf32>) -> tensor<1xi64>
  %end = graph.add %s, %one : tensor<1xi64>
  %row = graph.slice %table, %s, %end, %zero, %one : (tensor<9x3xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x3xf32>
  %0 = graph.add %x, %row : tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @main(%{{.*}}: tensor<?x60xf32>)
// REMARK: shapes do not fit a batch of 1000003
func.func @main(%x: tensor<?x60xf32>) -> tensor<?x3xf32> {
  %one = graph.constant dense<1> : tensor<1xi64>
  %three = graph.constant dense<3> : tensor<1xi64>
  %s = graph.shape %x {end = 1 : i64} : (tensor<?x60xf32>) -> tensor<1xi64>
  %end = graph.add %s, %three : tensor<1xi64>
  %0 = graph.slice %x, %s, %end, %one, %one : (tensor<?x60xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// One token of each example.

// CHECK-LABEL: func.func private @main(tensor<?x5x4xf32> {graph.dims = ["N", "", ""]}) -> tensor<?x4xf32>
// REMARK: specialized{{.*}}Sizes=2
func.func @main(%x: tensor<?x5x4xf32> {graph.dims = ["N", "", ""]}) -> tensor<?x4xf32> {
  %two = graph.constant dense<2> : tensor<i64>
  %0 = graph.gather %x, %two {axis = 1 : i64} : (tensor<?x5x4xf32>, tensor<i64>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

// Sequences of examples, with the batch behind steps and directions.

// CHECK-LABEL: func.func private @main(tensor<?x5x3xf32>) -> (tensor<?x5x1x4xf32>, tensor<?x1x4xf32>)
// REMARK: specialized{{.*}}Sizes=2
func.func @main(%x: tensor<?x5x3xf32>) -> (tensor<?x5x1x4xf32>, tensor<?x1x4xf32>) {
  %none = graph.none : none
  %w = graph.constant dense<0.5> : tensor<1x12x3xf32>
  %r = graph.constant dense<0.25> : tensor<1x12x4xf32>
  %0 = graph.transpose %x {perm = array<i64: 1, 0, 2>} : (tensor<?x5x3xf32>) -> tensor<5x?x3xf32>
  %y, %h = graph.gru %0, %w, %r, %none, %none, %none {hidden_size = 4 : i64} : (tensor<5x?x3xf32>, tensor<1x12x3xf32>, tensor<1x12x4xf32>, none, none, none) -> (tensor<5x1x?x4xf32>, tensor<1x?x4xf32>)
  %1 = graph.transpose %y {perm = array<i64: 2, 0, 1, 3>} : (tensor<5x1x?x4xf32>) -> tensor<?x5x1x4xf32>
  %2 = graph.transpose %h {perm = array<i64: 1, 0, 2>} : (tensor<1x?x4xf32>) -> tensor<?x1x4xf32>
  return %1, %2 : tensor<?x5x1x4xf32>, tensor<?x1x4xf32>
}

// -----

// Examples that data tells.

// CHECK-LABEL: func.func @main(%{{.*}}: tensor<?x4xf32> {{.*}}, %{{.*}}: tensor<?xi64>
// REMARK: gather does not keep the examples of a batch apart
func.func @main(%x: tensor<?x4xf32> {graph.dims = ["N", ""]}, %i: tensor<?xi64> {graph.dims = ["N"]}) -> tensor<?x4xf32> {
  %0 = graph.gather %x, %i {axis = 0 : i64} : (tensor<?x4xf32>, tensor<?xi64>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

// A shape that is another for every third size.

// CHECK-LABEL: func.func @main(%{{.*}}: tensor<?x6xf32>)
// REMARK: reshape has a shape that is computed of the size of the batch
func.func @main(%x: tensor<?x6xf32>) -> tensor<?x?xf32> {
  %zero = graph.constant dense<0> : tensor<1xi64>
  %three = graph.constant dense<3> : tensor<1xi64>
  %six = graph.constant dense<6> : tensor<1xi64>
  %all = graph.constant dense<-1> : tensor<1xi64>
  %n = graph.shape %x {end = 1 : i64} : (tensor<?x6xf32>) -> tensor<1xi64>
  %d = graph.div %n, %three : tensor<1xi64>
  %m = graph.mul %d, %three : tensor<1xi64>
  %is = graph.equal %m, %n : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
  %columns = graph.select %is, %three, %six : (tensor<1xi1>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %shape = graph.concat %all, %columns {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %0 = graph.reshape %x, %shape : (tensor<?x6xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

// A state for each example, made of one for all, behind a guard of exporters.

// CHECK-LABEL: func.func private @main(tensor<?x5x3xf32>) -> tensor<?x1x4xf32>
// REMARK: specialized{{.*}}Sizes=2
func.func @main(%x: tensor<?x5x3xf32>) -> tensor<?x1x4xf32> {
  %none = graph.none : none
  %one = graph.constant dense<1> : tensor<1xi64>
  %ones = graph.constant dense<1> : tensor<3xi64>
  %open = graph.constant dense<-1> : tensor<3xi64>
  %four = graph.constant dense<4> : tensor<1xi64>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %w = graph.constant dense<0.5> : tensor<1x12x3xf32>
  %r = graph.constant dense<0.25> : tensor<1x12x4xf32>
  %n = graph.shape %x {end = 1 : i64} : (tensor<?x5x3xf32>) -> tensor<1xi64>
  %s = graph.concat %one, %n, %four {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xi64>
  %is = graph.equal %s, %open : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1>
  %shape = graph.select %is, %ones, %s : (tensor<3xi1>, tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64>
  %state = graph.expand %zero, %shape : (tensor<f32>, tensor<3xi64>) -> tensor<?x?x?xf32>
  %0 = graph.transpose %x {perm = array<i64: 1, 0, 2>} : (tensor<?x5x3xf32>) -> tensor<5x?x3xf32>
  %y, %h = graph.gru %0, %w, %r, %none, %none, %state {hidden_size = 4 : i64} : (tensor<5x?x3xf32>, tensor<1x12x3xf32>, tensor<1x12x4xf32>, none, none, tensor<?x?x?xf32>) -> (tensor<5x1x?x4xf32>, tensor<1x?x4xf32>)
  %1 = graph.transpose %h {perm = array<i64: 1, 0, 2>} : (tensor<1x?x4xf32>) -> tensor<?x1x4xf32>
  return %1 : tensor<?x1x4xf32>
}

// -----

// The first axis of two inputs, with a name and without: they may differ.

// CHECK-LABEL: func.func @main(%{{.*}}: tensor<?x4xf32>
// CHECK-NOT: graph.by_rows
// REMARK: the first extents of inputs have several names, or none
func.func @main(%x: tensor<?x4xf32>, %z: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = graph.add %x, %z : tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

// More than the batch is open.

// CHECK-LABEL: func.func @main(%{{.*}}: tensor<?x?xf32>
// CHECK-NOT: graph.by_rows
// REMARK: tokens leaves more open than its first extent
func.func @main(%x: tensor<?x?xf32> {graph.name = "tokens"}) -> tensor<?x?xf32> {
  %0 = graph.relu %x : tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

// State that one run leaves to the next.

// CHECK-LABEL: func.func @main(%{{.*}}: tensor<?x4xf32>
// CHECK-NOT: graph.by_rows
// REMARK: a run leaves state to the next one
func.func @main(%x: tensor<?x4xf32>, %s: tensor<4xf32> {graph.name = "s"}) -> (tensor<?x4xf32>, tensor<4xf32> {graph.updates = "s"}) {
  %0 = graph.add %x, %s : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  %1 = graph.relu %s : tensor<4xf32>
  return %0, %1 : tensor<?x4xf32>, tensor<4xf32>
}

// -----

// Known shapes stay as they are.

// CHECK-LABEL: func.func @main(%{{.*}}: tensor<2x4xf32>)
// CHECK-NOT: graph.by_rows
func.func @main(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = graph.relu %x : tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

// Without sizes of others: more examples at once where one product has more
// weights than anybody multiplies by so few.

// CHECK-LABEL: func.func private @main(tensor<?x512xf32>)
// OWN-LABEL: func.func private @main(tensor<?x512xf32>)
// OWN-SAME: graph.by_rows = [@main_96, @main_64, @main_48, @main_32, @main_24, @main_16, @main_4, @main_1]
// OWN: func.func @main_64
// OWN: func.func @main_16
// OWN: func.func @main_4
// OWN: func.func @main_1
func.func @main(%x: tensor<?x512xf32>) -> tensor<?x512xf32> {
  %w = graph.constant dense<0.5> : tensor<512x512xf32>
  %0 = graph.matmul %x, %w : (tensor<?x512xf32>, tensor<512x512xf32>) -> tensor<?x512xf32>
  return %0 : tensor<?x512xf32>
}

// -----

// Nothing is read of a value without elements.

// CHECK-LABEL: func.func @main(%{{.*}}: tensor<?x0xf32>) -> tensor<?x0xf32>
func.func @main(%x: tensor<?x0xf32>) -> tensor<?x0xf32> {
  %repeats = graph.constant dense<[1, 3]> : tensor<2xi64>
  %0 = graph.tile %x, %repeats : (tensor<?x0xf32>, tensor<2xi64>) -> tensor<?x0xf32>
  return %0 : tensor<?x0xf32>
}

// -----

// Sizes that an image is stretched to say what shape it has then, and no more.

// CHECK-LABEL: func.func private @main(tensor<?x2x4x4xf32>) -> tensor<?x2x6x8xf32>
// CHECK-LABEL: func.func @main_4(
// CHECK: graph.resize %{{.*}} -> tensor<4x2x6x8xf32>
// REMARK: specialized{{.*}}Sizes=2
func.func @main(%x: tensor<?x2x4x4xf32>) -> tensor<?x2x6x8xf32> {
  %image = graph.constant dense<[6, 8]> : tensor<2xi64>
  %none = graph.none : none
  %s = graph.shape %x {end = 2 : i64} : (tensor<?x2x4x4xf32>) -> tensor<2xi64>
  %sizes = graph.concat %s, %image {axis = 0 : i64} : (tensor<2xi64>, tensor<2xi64>) -> tensor<4xi64>
  %0 = graph.resize %x, %none, %none, %sizes {mode = "linear"} : (tensor<?x2x4x4xf32>, none, none, tensor<4xi64>) -> tensor<?x2x6x8xf32>
  return %0 : tensor<?x2x6x8xf32>
}

// -----

// Others are computed with.

// CHECK-LABEL: func.func @main(
// CHECK-NOT: @main_4
// REMARK: resize{{.*}} computes with the size of the batch
func.func @main(%x: tensor<?x2x4x4xf32>) -> tensor<?x2x?x?xf32> {
  %image = graph.constant dense<[6, 8]> : tensor<2xi64>
  %none = graph.none : none
  %s = graph.shape %x {end = 2 : i64} : (tensor<?x2x4x4xf32>) -> tensor<2xi64>
  %sizes = graph.concat %s, %image {axis = 0 : i64} : (tensor<2xi64>, tensor<2xi64>) -> tensor<4xi64>
  %0 = graph.resize %x, %none, %none, %sizes {mode = "linear", keep_aspect_ratio_policy = "not_larger"} : (tensor<?x2x4x4xf32>, none, none, tensor<4xi64>) -> tensor<?x2x?x?xf32>
  return %0 : tensor<?x2x?x?xf32>
}

// -----

// One more row is made of those of several examples.

// CHECK-LABEL: func.func @main(
// CHECK-NOT: @main_4
// REMARK: does not keep the examples of a batch apart
func.func @main(%x: tensor<?x2x4x4xf32>) -> tensor<?x2x4x4xf32> {
  %rest = graph.constant dense<[2, 4, 4]> : tensor<3xi64>
  %one = graph.constant dense<1> : tensor<1xi64>
  %none = graph.none : none
  %s = graph.shape %x {end = 1 : i64} : (tensor<?x2x4x4xf32>) -> tensor<1xi64>
  %n = graph.add %s, %one : tensor<1xi64>
  %sizes = graph.concat %n, %rest {axis = 0 : i64} : (tensor<1xi64>, tensor<3xi64>) -> tensor<4xi64>
  %0 = graph.resize %x, %none, %none, %sizes {mode = "linear"} : (tensor<?x2x4x4xf32>, none, none, tensor<4xi64>) -> tensor<?x2x4x4xf32>
  return %0 : tensor<?x2x4x4xf32>
}

// -----

// So do repeats: a position for each example.

// CHECK-LABEL: func.func private @main(tensor<?x2x4xf32>) -> tensor<?x2x4xf32>
// CHECK-LABEL: func.func @main_4(
// REMARK: specialized{{.*}}Sizes=2
func.func @main(%x: tensor<?x2x4xf32>) -> tensor<?x2x4xf32> {
  %c = graph.constant dense<[[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]]> : tensor<1x2x4xf32>
  %one = graph.constant dense<1> : tensor<1xi64>
  %n = graph.shape %x {end = 1 : i64} : (tensor<?x2x4xf32>) -> tensor<1xi64>
  %repeats = graph.concat %n, %one, %one {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xi64>
  %0 = graph.tile %c, %repeats : (tensor<1x2x4xf32>, tensor<3xi64>) -> tensor<?x?x?xf32>
  %1 = graph.add %x, %0 : (tensor<?x2x4xf32>, tensor<?x?x?xf32>) -> tensor<?x2x4xf32>
  return %1 : tensor<?x2x4xf32>
}

// -----

// Examples that are repeated as often as there are some meet.

// CHECK-LABEL: func.func @main(
// CHECK-NOT: @main_4
// REMARK: is not computed by parts
func.func @main(%x: tensor<?x4xf32>) -> tensor<?x?xf32> {
  %one = graph.constant dense<1> : tensor<1xi64>
  %n = graph.shape %x {end = 1 : i64} : (tensor<?x4xf32>) -> tensor<1xi64>
  %repeats = graph.concat %n, %one {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %0 = graph.tile %x, %repeats : (tensor<?x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %1 = graph.relu %0 : tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}
