// RUN: dlc-opt %s --graph-fold-constants | FileCheck %s
// RUN: dlc-opt %s --graph-fold-constants=max-bytes=16 --remarks-filter='graph-.*' 2>&1 | FileCheck %s --check-prefix=LIMIT
// Constant subgraphs are computed; what holds one value all over takes no room.

// CHECK-LABEL: func.func @arithmetic
func.func @arithmetic() -> tensor<2xi64> {
  %a = graph.constant dense<[1, 2]> : tensor<2xi64>
  %b = graph.mul %a, %a : tensor<2xi64>
  %c = graph.add %b, %a : tensor<2xi64>
  // CHECK-NEXT: %[[C:.*]] = graph.constant dense<[2, 6]> : tensor<2xi64>
  // CHECK-NEXT: return %[[C]]
  return %c : tensor<2xi64>
}

// The weights of the light models: 400 MB if they were written out.
// CHECK-LABEL: func.func @lazy
func.func @lazy() -> tensor<10000x10000xf32> {
  %v = graph.constant dense<0.5> : tensor<1xf32>
  %s = graph.constant dense<[10000, 5000]> : tensor<2xi64>
  %w = graph.expand %v, %s : (tensor<1xf32>, tensor<2xi64>) -> tensor<10000x5000xf32>
  %w2 = graph.mul %w, %w : tensor<10000x5000xf32>
  %i2_1 = graph.constant dense<[1, 2]> : tensor<2xi64>
  %t = graph.tile %w2, %i2_1 : (tensor<10000x5000xf32>, tensor<2xi64>) -> tensor<10000x10000xf32>
  %y = graph.transpose %t {perm = array<i64: 1, 0>} : (tensor<10000x10000xf32>) -> tensor<10000x10000xf32>
  // CHECK-NEXT: graph.constant dense<2.500000e-01> : tensor<10000x10000xf32>
  // CHECK-NEXT: return
  return %y : tensor<10000x10000xf32>
}

// Padding brings in another value, so it is not a splat.
// CHECK-LABEL: func.func @pad
func.func @pad() -> tensor<4xf32> {
  %v = graph.constant dense<1.0> : tensor<2xf32>
  %p = graph.constant dense<[1, 1]> : tensor<2xi64>
  %z = graph.constant dense<0.0> : tensor<f32>
  %a = graph.constant dense<[0]> : tensor<1xi64>
  %y = graph.pad %v, %p, %z, %a : (tensor<2xf32>, tensor<2xi64>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
  // CHECK-NEXT: graph.constant dense<[0.000000e+00, 1.000000e+00, 1.000000e+00, 0.000000e+00]>
  return %y : tensor<4xf32>
}

// Two results, booleans, and operands that are not known.
// CHECK-LABEL: func.func @mixed
func.func @mixed(%x: tensor<4xf32>) -> (tensor<2xi1>, tensor<4xf32>, tensor<2xf32>) {
  %v = graph.constant dense<[3.0, 1.0, 2.0, 5.0]> : tensor<4xf32>
  %sizes = graph.constant dense<[2, 2]> : tensor<2xi64>
  %p:2 = graph.split %v, %sizes : (tensor<4xf32>, tensor<2xi64>) -> (tensor<2xf32>, tensor<2xf32>)
  %l = graph.less %p#0, %p#1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  %y = graph.add %x, %v : tensor<4xf32>
  // CHECK-DAG: %[[V:.*]] = graph.constant dense<[3.000000e+00, 1.000000e+00, 2.000000e+00, 5.000000e+00]>
  // CHECK-DAG: %[[P:.*]] = graph.constant dense<[2.000000e+00, 5.000000e+00]>
  // CHECK-DAG: %[[L:.*]] = graph.constant dense<[false, true]>
  // CHECK-DAG: %[[Y:.*]] = graph.add %{{.*}}, %[[V]]
  // CHECK: return %[[L]], %[[Y]], %[[P]]
  return %l, %y, %p#1 : tensor<2xi1>, tensor<4xf32>, tensor<2xf32>
}

// The number of elements depends on data, but the data is known.
// CHECK-LABEL: func.func @data
func.func @data() -> tensor<2x2xf32> {
  %v = graph.constant dense<[[0.0, 7.0], [8.0, 0.0]]> : tensor<2x2xf32>
  %n = graph.non_zero %v : (tensor<2x2xf32>) -> tensor<2x?xi64>
  %f = graph.cast %n {to = f32} : (tensor<2x?xi64>) -> tensor<2x?xf32>
  %y = graph.add %f, %v : (tensor<2x?xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // CHECK: graph.constant dense<{{\[}}[0.000000e+00, 8.000000e+00], [9.000000e+00, 0.000000e+00]]>
  return %y : tensor<2x2xf32>
}

// LIMIT: KeepConstantOperation | Category:graph-fold-constants | Function=limit
// LIMIT-SAME: 32 bytes are more than max-bytes=16
// LIMIT-LABEL: func.func @limit
// LIMIT: graph.add
func.func @limit() -> tensor<8xf32> {
  %v = graph.constant dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32>
  %y = graph.add %v, %v : tensor<8xf32>
  return %y : tensor<8xf32>
}
