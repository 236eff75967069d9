// RUN: dlc-opt %s --dlc-to-graph | FileCheck %s --check-prefix=GRAPH
// RUN: dlc-opt %s --dlc-to-fused | FileCheck %s --check-prefix=FUSED
// RUN: dlc-opt %s --dlc-to-kernel | FileCheck %s --check-prefix=KERNEL
// RUN: dlc-opt %s --dlc-to-plan | FileCheck %s --check-prefix=PLAN
// RUN: dlc compile %s --emit=graph | FileCheck %s --check-prefix=GRAPH
// RUN: dlc compile %s --emit=fused | FileCheck %s --check-prefix=FUSED
// RUN: dlc compile %s --emit=kernel | FileCheck %s --check-prefix=KERNEL
// RUN: dlc compile %s --emit=plan | FileCheck %s --check-prefix=PLAN
// RUN: dlc compile %s --emit=import -o %t.mlir
// RUN: dlc compile %t.mlir --emit=plan | FileCheck %s --check-prefix=PLAN
// The pipelines of dlc-opt and the phases of dlc are the same, and the text of
// a phase is an input again.

// GRAPH-LABEL: func.func @main
// GRAPH-NEXT: %[[W:.*]] = graph.constant {{.*}} : tensor<16x8xf32>
// GRAPH-NEXT: %[[B:.*]] = graph.constant dense<3.000000e+00> : tensor<8xf32>
// GRAPH-NEXT: graph.matmul %{{.*}}, %[[W]]
// GRAPH-NEXT: graph.add %{{.*}}, %[[B]]
// GRAPH-NEXT: graph.relu
// GRAPH-NEXT: graph.exp {{.*}} : tensor<4x8xf32>
// GRAPH-NEXT: graph.mul
// GRAPH-NEXT: return

// FUSED: graph.fusion
// FUSED-NEXT: graph.matmul
// FUSED-NEXT: graph.add
// FUSED-NEXT: graph.relu
// FUSED-NEXT: graph.yield
// FUSED: graph.fusion
// FUSED-NEXT: graph.exp
// FUSED-NEXT: graph.mul
// FUSED-NEXT: graph.yield

// KERNEL: kernel.library @[[P:k.matmul_add_relu]] "cpu.matmul"
// KERNEL: kernel.func @[[E:k.exp_mul]](%{{.*}}: memref<4x8xf32>, %{{.*}}: memref<4x8xf32>)
// KERNEL: linalg.generic
// KERNEL-LABEL: func.func @main
// KERNEL: %[[R:.*]] = kernel.call @[[P]](
// KERNEL: kernel.call @[[E]](%[[R]]

// PLAN-LABEL: plan.program @main
// PLAN: plan.arena @cpu0 <cpu:0> size(128) lower_bound(128)
// PLAN: %[[X:.*]] = plan.input 0 "x" : memref<4x16xf32>
// PLAN: %[[Y:.*]] = plan.output 0 "y" : memref<4x8xf32>
// PLAN: %[[T:.*]] = plan.slice @cpu0[0 for 128] : memref<4x8xf32>
// PLAN: plan.launch @k.matmul_add_relu reads(%[[X]], {{.*}} writes(%[[T]] :
// PLAN: plan.launch @k.exp_mul reads(%[[T]] {{.*}} writes(%[[Y]] :

func.func @main(%x: tensor<4x16xf32> {graph.name = "x"}) -> (tensor<?x?xf32> {graph.name = "y"}) {
  %w = graph.constant dense<0.5> : tensor<16x8xf32>
  %one = graph.constant dense<1.0> : tensor<8xf32>
  %two = graph.constant dense<2.0> : tensor<8xf32>
  %b = graph.add %one, %two : tensor<8xf32>
  %0 = graph.matmul %x, %w : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<?x?xf32>
  %1 = graph.add %0, %b : (tensor<?x?xf32>, tensor<8xf32>) -> tensor<?x?xf32>
  %2 = graph.relu %1 : tensor<?x?xf32>
  %3 = graph.exp %2 : tensor<?x?xf32>
  %4 = graph.mul %3, %2 : tensor<?x?xf32>
  return %4 : tensor<?x?xf32>
}
