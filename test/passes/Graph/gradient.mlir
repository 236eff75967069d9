// RUN: dlc-opt %s --graph-gradient --split-input-file --verify-diagnostics | FileCheck %s
// One argument more per result, one result more per argument: their gradients.
// That the numbers are right is tested against finite differences.

// C = B * A; D = C + 1; the gradients of A and B.

// CHECK-LABEL: func.func @first
// CHECK-SAME: (%[[A:.*]]: tensor<2xf32> {graph.name = "A"}, %[[B:.*]]: tensor<2xf32> {graph.name = "B"}, %[[G:.*]]: tensor<2xf32> {graph.name = "grad of D"})
// CHECK-SAME: -> (tensor<2xf32> {graph.name = "D"}, tensor<2xf32> {graph.name = "grad of A"}, tensor<2xf32> {graph.name = "grad of B"})
func.func @first(%a: tensor<2xf32> {graph.name = "A"}, %b: tensor<2xf32> {graph.name = "B"}) -> (tensor<2xf32> {graph.name = "D"}) {
  // CHECK: %[[C:.*]] = graph.mul %[[B]], %[[A]]
  // CHECK: %[[D:.*]] = graph.add %[[C]]
  %c = graph.mul %b, %a : tensor<2xf32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %d = graph.add %c, %one : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  // CHECK: %[[GB:.*]] = graph.mul %[[G]], %[[A]]
  // CHECK: %[[GA:.*]] = graph.mul %[[G]], %[[B]]
  // CHECK: return %[[D]], %[[GA]], %[[GB]]
  return %d : tensor<2xf32>
}

// -----

// Terms are summed as they come; a tensor that was repeated gets the sum.

// CHECK-LABEL: func.func @sums
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>, %[[B:.*]]: tensor<3xf32>, %[[G:.*]]: tensor<2x3xf32>
func.func @sums(%x: tensor<2x3xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = graph.add %x, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %1 = graph.add %0, %x : tensor<2x3xf32>
  // CHECK: %[[I:.*]] = graph.constant dense<0> : tensor<1xi64>
  // CHECK: %[[S:.*]] = graph.reduce_sum %[[G]], %[[I]] : {{.*}} -> tensor<1x3xf32>
  // CHECK: %[[GB:.*]] = graph.reshape %[[S]]
  // CHECK: %[[GX:.*]] = graph.add %[[G]], %[[G]]
  // CHECK: return %{{.*}}, %[[GX]], %[[GB]]
  return %1 : tensor<2x3xf32>
}

// -----

// A value that is a result twice has two gradients, of which both count, and
// an argument that is a result has its own.

// CHECK-LABEL: func.func @heads
// CHECK-SAME: %[[X:.*]]: tensor<2xf32>, %[[G0:.*]]: tensor<2xf32> {graph.name = "grad of #0"}, %[[G1:.*]]: tensor<2xf32> {graph.name = "grad of #1"}, %[[G2:.*]]: tensor<2xf32> {graph.name = "grad of #2"}
func.func @heads(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %0 = graph.neg %x : tensor<2xf32>
  // CHECK: %[[S:.*]] = graph.add %[[G0]], %[[G1]]
  // CHECK: %[[N:.*]] = graph.neg %[[S]]
  // CHECK: %[[GX:.*]] = graph.add %[[G2]], %[[N]]
  // CHECK: return %{{.*}}, %{{.*}}, %{{.*}}, %[[GX]]
  return %0, %0, %x : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// -----

// What no path leads to has a gradient of zeros; integers have none.

// CHECK-LABEL: func.func @zeros
func.func @zeros(%x: tensor<2xf32>, %y: tensor<3xf32>, %i: tensor<2xi64>) -> (tensor<2xf32>, tensor<2xi64>) {
  // CHECK-SAME: -> (tensor<2xf32>, tensor<2xi64>, tensor<2xf32> {graph.name = "grad of #0"}, tensor<3xf32> {graph.name = "grad of #1"})
  %0 = graph.exp %x : tensor<2xf32>
  %1 = graph.add %i, %i : tensor<2xi64>
  // CHECK: %[[Z:.*]] = graph.constant dense<0.000000e+00> : tensor<3xf32>
  // CHECK: return %{{.*}}, %{{.*}}, %{{.*}}, %[[Z]]
  return %0, %1 : tensor<2xf32>, tensor<2xi64>
}

// -----

// A stopped gradient leaves only the other path.

// CHECK-LABEL: func.func @stopped
// CHECK-SAME: %[[X:.*]]: tensor<2xf32>, %[[G:.*]]: tensor<2xf32>
func.func @stopped(%x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK: %[[S:.*]] = graph.stop_gradient
  %0 = graph.exp %x : tensor<2xf32>
  %1 = graph.stop_gradient %0 : tensor<2xf32>
  %2 = graph.mul %1, %x : tensor<2xf32>
  // CHECK: %[[GX:.*]] = graph.mul %[[G]], %[[S]]
  // CHECK-NEXT: return %{{.*}}, %[[GX]]
  return %2 : tensor<2xf32>
}

// -----

// Composite operations without a gradient of their own are decomposed; what is
// not on the way stays. The way back stays on its operation's device.

// CHECK-LABEL: func.func @composite
func.func @composite(%x: tensor<2x4xf32>, %s: tensor<4xf32>, %i: tensor<1xi64>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  // CHECK-NOT: graph.layer_norm
  // CHECK: graph.rsqrt
  %0 = graph.layer_norm %x, %s : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  // CHECK: graph.layer_norm
  %c = graph.constant dense<1.0> : tensor<2x4xf32>
  %k = graph.constant dense<1.0> : tensor<4xf32>
  %1 = graph.layer_norm %c, %k : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return %0, %1 : tensor<2x4xf32>, tensor<2x4xf32>
}

// -----

// CHECK-LABEL: func.func @device
func.func @device(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = graph.tanh %x {device = #dlc.device<cuda:1>} : tensor<2xf32>
  // CHECK: graph.mul %{{.*}}, %{{.*}} {device = #dlc.device<cuda:1>}
  // CHECK: graph.sub %{{.*}}, %{{.*}} {device = #dlc.device<cuda:1>}
  // CHECK: graph.mul %{{.*}}, %{{.*}} {device = #dlc.device<cuda:1>}
  // CHECK-NEXT: return
  return %0 : tensor<2xf32>
}

// -----

// What an operation is decomposed into stays there, too.

// CHECK-LABEL: func.func @composite_device
func.func @composite_device(%x: tensor<2x4xf32>, %s: tensor<4xf32>) -> tensor<2x4xf32> {
  // CHECK: graph.rsqrt %{{.*}} {device = #dlc.device<cuda:1>}
  // CHECK: graph.mul %{{.*}} {device = #dlc.device<cuda:1>}
  %0 = graph.layer_norm %x, %s {device = #dlc.device<cuda:1>} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

// What a region reads from outside has a gradient that nobody builds.

func.func @region(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{'graph.fusion' op has no gradient: its regions read values from outside}}
  %0 = graph.fusion -> tensor<2xf32> {
    %1 = graph.exp %x : tensor<2xf32>
    graph.yield %1 : tensor<2xf32>
  }
  return %0 : tensor<2xf32>
}

// -----

// Names that are taken get a number.

// CHECK-LABEL: func.func @names
// CHECK-SAME: {graph.name = "grad of y 2"})
func.func @names(%x: tensor<2xf32> {graph.name = "grad of y"}) -> (tensor<2xf32> {graph.name = "y"}) {
  %y = graph.exp %x : tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

// What is made of simpler operations has the gradient of those, which needs
// types.

func.func @composite(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %i = graph.constant dense<[1]> : tensor<1xi64>
  // expected-error @+1 {{'graph.reduce_mean' op has no gradient: its types are not known well enough for that of what it is made of}}
  %y = graph.reduce_mean %x, %i {keepdims = true} : (tensor<?x?xf32>, tensor<1xi64>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// -----

// A mean of nothing is no number, but what is empty has an empty gradient.

// CHECK-LABEL: func.func @empty
// CHECK: graph.reduce_mean
// CHECK: %[[ZERO:.*]] = graph.constant {{.*}} : tensor<3x0xf32>
// CHECK: return %{{.*}}, %[[ZERO]]
func.func @empty(%x: tensor<3x0xf32>) -> tensor<3xf32> {
  %i = graph.constant dense<[1]> : tensor<1xi64>
  %y = graph.reduce_mean %x, %i {keepdims = false} : (tensor<3x0xf32>, tensor<1xi64>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

// Rounding to integers has no gradient, not 0.

func.func @quantized(%x: tensor<4xf32>, %s: tensor<f32>, %z: tensor<i8>) -> tensor<4xf32> {
  // expected-error @+1 {{'graph.quantize_linear' op has no gradient: what is rounded to integers has none}}
  %q = graph.quantize_linear %x, %s, %z : (tensor<4xf32>, tensor<f32>, tensor<i8>) -> tensor<4xi8>
  %y = graph.dequantize_linear %q, %s, %z : (tensor<4xi8>, tensor<f32>, tensor<i8>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Nor by the scale: steps move with that, too.

func.func @scale(%x: tensor<4xf32>, %s: tensor<f32>, %z: tensor<i8>) -> tensor<4xf32> {
  %t = graph.stop_gradient %x : tensor<4xf32>
  // expected-error @+1 {{'graph.quantize_linear' op has no gradient: what is rounded to integers has none}}
  %q = graph.quantize_linear %t, %s, %z : (tensor<4xf32>, tensor<f32>, tensor<i8>) -> tensor<4xi8>
  %y = graph.dequantize_linear %q, %s, %z : (tensor<4xi8>, tensor<f32>, tensor<i8>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// A gradient that is given needs none of what is rounded.

// CHECK-LABEL: func.func @straight
// CHECK-SAME: %[[X:[^:]*]]: tensor<4xf32>, %[[G:[^:]*]]: tensor<4xf32>
// CHECK: %[[GX:.*]] = graph.mul %[[G]],
// CHECK: return %{{.*}}, %[[GX]]
func.func @straight(%x: tensor<4xf32>) -> tensor<4xf32> {
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<0> : tensor<i8>
  %one = graph.constant dense<1.0> : tensor<4xf32>
  %q = graph.quantize_linear %x, %s, %z : (tensor<4xf32>, tensor<f32>, tensor<i8>) -> tensor<4xi8>
  %y = graph.dequantize_linear %q, %s, %z : (tensor<4xi8>, tensor<f32>, tensor<i8>) -> tensor<4xf32>
  %r = graph.replace_gradient %y, %x, %one {scaled = true} : tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @none(%x: tensor<8xf32>) -> tensor<?xf32> {
  // expected-error @+1 {{'graph.unique' op has no gradient: none is defined for this operation}}
  %y:4 = graph.unique %x : (tensor<8xf32>) -> (tensor<?xf32>, tensor<?xi64>, tensor<8xi64>, tensor<?xi64>)
  return %y#0 : tensor<?xf32>
}

// -----

// The same operation is no error where nothing is differentiated through it.

// CHECK-LABEL: func.func @aside
func.func @aside(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<?xf32>) {
  %c = graph.constant dense<1.0> : tensor<8xf32>
  // CHECK: graph.unique
  %y:4 = graph.unique %c : (tensor<8xf32>) -> (tensor<?xf32>, tensor<?xi64>, tensor<8xi64>, tensor<?xi64>)
  %0 = graph.exp %x : tensor<4xf32>
  return %0, %y#0 : tensor<4xf32>, tensor<?xf32>
}

// -----

// Regions of any size have any number of samples.

func.func @samples(%x: tensor<1x3x8x8xf32>, %r: tensor<5x4xf32>, %b: tensor<5xi64>) -> tensor<5x3x1x1xf32> {
  // expected-error @+1 {{'graph.roi_align' op has no gradient: expected a sampling_ratio or constant regions in the mode max, which say how many samples there are}}
  %y = graph.roi_align %x, %r, %b {mode = "max"} : (tensor<1x3x8x8xf32>, tensor<5x4xf32>, tensor<5xi64>) -> tensor<5x3x1x1xf32>
  return %y : tensor<5x3x1x1xf32>
}

// -----

func.func @policy(%x: tensor<1x1x2x3xf32>) -> tensor<1x1x4x6xf32> {
  %n = graph.none : none
  %s = graph.constant dense<[4, 9]> : tensor<2xi64>
  // expected-error @+1 {{'graph.resize' op has no gradient: expected a keep_aspect_ratio_policy of stretch, got not_larger}}
  %y = graph.resize %x, %n, %n, %s {axes = array<i64: 2, 3>, keep_aspect_ratio_policy = "not_larger"} : (tensor<1x1x2x3xf32>, none, none, tensor<2xi64>) -> tensor<1x1x4x6xf32>
  return %y : tensor<1x1x4x6xf32>
}

// -----

func.func @blocked(%x: tensor<1x1x4x16xf32>, %w: tensor<4x16x3xf32>) -> tensor<1x4x2xf32> {
  // expected-error @+1 {{'graph.conv' op has no gradient: expected channels that are not in blocks}}
  %y = graph.conv %x, %w : (tensor<1x1x4x16xf32>, tensor<4x16x3xf32>) -> tensor<1x4x2xf32>
  return %y : tensor<1x4x2xf32>
}

// -----

func.func @equation(%x: tensor<3x3xf32>) -> tensor<f32> {
  // expected-error @+1 {{'graph.einsum' op has no gradient: expected an equation without a letter twice in one term, got "ii->"}}
  %y = graph.einsum %x {equation = "ii->"} : (tensor<3x3xf32>) -> tensor<f32>
  return %y : tensor<f32>
}

// -----

func.func @dynamic(%x: tensor<?x3xf32>, %b: tensor<3xf32>) -> tensor<?x3xf32> {
  // expected-error @+1 {{'graph.add' op has no gradient: expected static shapes}}
  %y = graph.add %x, %b : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}

// -----

// expected-error @+1 {{expected an argument of floats, found #0 of i64}}
func.func @integers(%x: tensor<3xi64>) -> tensor<3xf32> {
  %y = graph.cast %x {to = f32} : (tensor<3xi64>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

// A replaced gradient is the given one, whatever comes from above, or their
// product; what the value is made of gets none by this.

// CHECK-LABEL: func.func @replaced
// CHECK-SAME: %[[X:[^:]*]]: tensor<2xf32>, %[[H:[^:]*]]: tensor<2xf32>, %[[G:[^:]*]]: tensor<2xf32>
func.func @replaced(%x: tensor<2xf32>, %h: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK: %[[Z:.*]] = graph.constant dense<0.000000e+00> : tensor<2xf32>
  // CHECK: return %{{.*}}, %[[H]], %[[Z]]
  %0 = graph.exp %x : tensor<2xf32>
  %1 = graph.replace_gradient %0, %x, %h : tensor<2xf32>
  return %1 : tensor<2xf32>
}

// -----

// CHECK-LABEL: func.func @scaled
// CHECK-SAME: %[[X:[^:]*]]: tensor<2xf32>, %[[G:[^:]*]]: tensor<2xf32>
func.func @scaled(%x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK: %[[E:.*]] = graph.exp
  // CHECK: %[[P:.*]] = graph.mul %[[G]], %[[E]]
  // CHECK: return %{{.*}}, %[[P]]
  %0 = graph.exp %x : tensor<2xf32>
  %1 = graph.replace_gradient %x, %x, %0 {scaled = true} : tensor<2xf32>
  return %1 : tensor<2xf32>
}

// -----

// What updates an argument is no head unless it is called so.

// CHECK-LABEL: func.func @updates
// CHECK-SAME: %{{.*}}: tensor<2xf32> {graph.name = "grad of y"}) ->
func.func @updates(%x: tensor<2xf32> {graph.name = "x"}, %s: tensor<2xf32> {graph.name = "s"})
    -> (tensor<2xf32> {graph.name = "y"}, tensor<2xf32> {graph.name = "n", graph.updates = "s"}) {
  %0 = graph.exp %x : tensor<2xf32>
  %1 = graph.add %s, %x : tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}

// -----

// The way back is in the group of its operation, and the function tells that it
// has one.

// CHECK-LABEL: func.func @grouped
// CHECK-SAME: attributes {graph.gradient}
func.func @grouped(%x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK: %[[Y:.*]] = graph.exp
  %0 = graph.exp %x {graph.group = "head"} : tensor<2xf32>
  // CHECK-NEXT: graph.mul %{{.*}}, %[[Y]] {graph.group = "head"}
  return %0 : tensor<2xf32>
}

// -----

// Nothing passes back through tensors without elements.

// CHECK-LABEL: func.func @nothing(
// CHECK-NOT: graph.conv
// CHECK: graph.conv
// CHECK-NOT: graph.conv
// CHECK: return
func.func @nothing(%x: tensor<2x2x16x0xf32>, %w: tensor<4x2x1x3xf32>) -> tensor<2x4x8x0xf32> {
  %y = graph.conv %x, %w {auto_pad = "SAME_UPPER", strides = array<i64: 2, 1>} : (tensor<2x2x16x0xf32>, tensor<4x2x1x3xf32>) -> tensor<2x4x8x0xf32>
  return %y : tensor<2x4x8x0xf32>
}

// -----

// A window of padding alone sees the bias.

// CHECK-LABEL: func.func @nothing_but_padding(
// CHECK-NOT: graph.conv
// CHECK: graph.conv
// CHECK-NOT: graph.conv
// CHECK: graph.reduce_sum
func.func @nothing_but_padding(%x: tensor<1x2x0xf32>, %w: tensor<4x2x2xf32>, %b: tensor<4xf32>) -> tensor<1x4x1xf32> {
  %y = graph.conv %x, %w, %b {pads = array<i64: 1, 1>} : (tensor<1x2x0xf32>, tensor<4x2x2xf32>, tensor<4xf32>) -> tensor<1x4x1xf32>
  return %y : tensor<1x4x1xf32>
}
