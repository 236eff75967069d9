// RUN: dlc-opt %s --convert-kernel-to-call | FileCheck %s
// Kernels of a GPU are told which of their booleans are a triangle at every call.

// CHECK: kernel.func @keep(%{{.*}}: tensor<3x3xi1> {kernel.triangle = array<i64: 0, 1>}, %{{.*}}: tensor<2x3xi1> {kernel.triangle = array<i64: 1, 0>})
kernel.func @keep(%a: tensor<3x3xi1>, %b: tensor<2x3xi1>) -> tensor<3x3xi1> attributes {kernel.runs_on = "cuda"} {
  %0 = graph.logical_not %a : tensor<3x3xi1>
  kernel.return %0 : tensor<3x3xi1>
}

// Not of others, of several, or of what a caller gives.
// CHECK: kernel.func @none(%{{.*}}: tensor<3x3xi1>, %{{.*}}: tensor<2x3xi1>)
kernel.func @none(%a: tensor<3x3xi1>, %b: tensor<2x3xi1>) -> tensor<3x3xi1> attributes {kernel.runs_on = "cuda"} {
  %0 = graph.logical_or %a, %a : tensor<3x3xi1>
  kernel.return %0 : tensor<3x3xi1>
}

// Nor of a host, whose calls have attributes.
// CHECK: kernel.func @host(%{{.*}}: tensor<3x3xi1>)
kernel.func @host(%a: tensor<3x3xi1>) -> tensor<3x3xi1> {
  %0 = graph.logical_not %a : tensor<3x3xi1>
  kernel.return %0 : tensor<3x3xi1>
}

func.func @main(%x: tensor<2x3xi1>) -> (tensor<3x3xi1>, tensor<3x3xi1>, tensor<3x3xi1>, tensor<3x3xi1>, tensor<3x3xi1>) {
  %low = graph.constant dense<[[true, false, false], [true, true, false], [true, true, true]]> : tensor<3x3xi1>
  %lower = graph.constant dense<[[true, true, false], [true, true, true], [true, true, true]]> : tensor<3x3xi1>
  %high = graph.constant dense<[[false, false, true], [false, false, false]]> : tensor<2x3xi1>
  %0 = kernel.call @keep(%low, %high) : (tensor<3x3xi1>, tensor<2x3xi1>) -> tensor<3x3xi1>
  %1 = kernel.call @keep(%low, %high) : (tensor<3x3xi1>, tensor<2x3xi1>) -> tensor<3x3xi1>
  %2 = kernel.call @none(%low, %x) : (tensor<3x3xi1>, tensor<2x3xi1>) -> tensor<3x3xi1>
  %3 = kernel.call @none(%lower, %x) : (tensor<3x3xi1>, tensor<2x3xi1>) -> tensor<3x3xi1>
  %4 = kernel.call @host(%low) : (tensor<3x3xi1>) -> tensor<3x3xi1>
  return %0, %1, %2, %3, %4 : tensor<3x3xi1>, tensor<3x3xi1>, tensor<3x3xi1>, tensor<3x3xi1>, tensor<3x3xi1>
}
