// RUN: dlc compile %s --place a=cpu:1 --place b=cpu:2 --place c=null:3 --emit=placed | FileCheck %s --check-prefix=PLACED
// RUN: dlc compile %s --place a=cpu:1 --place b=cpu:2 --place c=null:3 --emit=fused | FileCheck %s --check-prefix=FUSED
// RUN: dlc compile %s --place a=cpu:1 --place b=cpu:2 --place c=null:3 --emit=plan | FileCheck %s --check-prefix=PLAN
// RUN: dlc run %s --random --threads 2 --outputs %t1.npz
// RUN: dlc run %s --random --threads 2 --place a=cpu:1 --place b=cpu:0 --place c=cpu:1 --outputs %t2.npz
// RUN: cmp %t1.npz %t2.npz
// RUN: dlc compile %s --place a=cpu:1 --place b=cpu:2 --place c=null:3 -o %t.dlc
// RUN: dlc run %t.dlc --random --threads 2 --outputs %t4.npz --trace %t.json
// RUN: cmp %t1.npz %t4.npz
// RUN: FileCheck %s --check-prefix=TRACE --input-file=%t.json
// RUN: not dlc compile %s --place a=cpu:1 --emit=placed 2>&1 | FileCheck %s --check-prefix=GROUP
// RUN: not dlc compile %s --place a=gpu --emit=placed 2>&1 | FileCheck %s --check-prefix=DEVICE
// RUN: not dlc compile %s --place cpu:1 --emit=placed 2>&1 | FileCheck %s --check-prefix=SYNTAX
// A program on four devices: one arena each, one copy for each value and device,
// on a stream of its own; kernels stay on one device, and what comes out is, bit
// for bit, what one device computes.

// GROUP: expected a device of group 'b', got those of a
// DEVICE: expected the device of a group like head=cpu:1, of kind cpu, cuda or null, got 'a=gpu'
// SYNTAX: expected --place GROUP=cpu:1, got 'cpu:1'

// PLACED-COUNT-4: graph.copy
// PLACED-NOT: graph.copy
// The relu that could be the product's epilogue is elsewhere, and so are not
// both of the two exponentials in one kernel.
// FUSED-LABEL: func.func @main
// FUSED-NOT: graph.fusion {{.*}}cpu:2{{.*}}cpu:1
// PLAN-COUNT-4: plan.arena @
// PLAN-COUNT-4: plan.launch @{{.*}}copy{{.*}} stream(1)
// TRACE-DAG: cpu:1
// TRACE-DAG: copy

func.func @main(%x: tensor<16x32xf32> {graph.name = "x"}, %w: tensor<32x32xf32> {graph.name = "w"})
    -> (tensor<16x32xf32> {graph.name = "y"}, tensor<16x32xf32> {graph.name = "z"}) {
  %0 = graph.matmul %x, %w {device = #dlc.device<cpu:0>} : (tensor<16x32xf32>, tensor<32x32xf32>) -> tensor<16x32xf32>
  // On cpu:1 from cpu:0, read by two operations.
  %1 = graph.relu %0 {graph.group = "a"} : tensor<16x32xf32>
  %2 = graph.mul %1, %0 {graph.group = "a"} : tensor<16x32xf32>
  // On cpu:2 from cpu:1; what follows is there too.
  %3 = graph.exp %2 {graph.group = "b"} : tensor<16x32xf32>
  %4 = graph.softmax %3 {axis = 1 : i64} : tensor<16x32xf32>
  // On null:3 from cpu:1 and cpu:2.
  %5 = graph.add %2, %4 {graph.group = "c"} : tensor<16x32xf32>
  %6 = graph.tanh %5 : tensor<16x32xf32>
  return %4, %6 : tensor<16x32xf32>, tensor<16x32xf32>
}
