// RUN: dlc-opt %s --plan-verify | dlc-opt | FileCheck %s --implicit-check-not=" random :"
// RUN: not dlc run %s --seed 1 2>&1 | FileCheck %s --check-prefix=PLAN
// RUN: not dlc compile %s -o %t.dlc 2>&1 | FileCheck %s --check-prefix=PLAN
// Text from before states of random numbers had a mark: it is read as it was
// written, without guesses by names, and no tool makes a program of it.

// PLAN: unmarked-random.mlir:[[@LINE+1]]:1: expected functions of Graph operations, as up to the phase fused, got kernel.library
kernel.library @draw "reference.random_uniform" {stream = 0 : i64} : (tensor<2xi64>, tensor<1xi64>) -> tensor<4xf32>
kernel.func @next(%arg0: memref<2xi64>, %arg1: memref<2xi64> {kernel.constant}, %arg2: memref<2xi64>) attributes {grid = array<i64: 1>, inPlace = array<i64: 0, 0, 1, 0>, outputs = 1 : i64} {
  scf.forall (%i) in (1) {
    linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%arg0, %arg1 : memref<2xi64>, memref<2xi64>) outs(%arg2 : memref<2xi64>) {
    ^bb0(%a: i64, %b: i64, %out: i64):
      %0 = arith.addi %a, %b : i64
      linalg.yield %0 : i64
    }
  }
  kernel.return
}

// CHECK-LABEL: plan.program @main
plan.program @main {
  // CHECK: %[[R:.*]] = plan.input 0 "random" : memref<2xi64>
  %r = plan.input 0 "random" : memref<2xi64>
  %y = plan.output 0 "y" : memref<4xf32>
  // CHECK: %[[N:.*]] = plan.output 1 "new random" updates(0) : memref<2xi64>
  %n = plan.output 1 "new random" updates(0) : memref<2xi64>
  %one = plan.constant dense<[0, 1]> : tensor<2xi64> at(0) : memref<2xi64>
  %four = plan.constant dense<4> : tensor<1xi64> at(64) : memref<1xi64>
  // CHECK: plan.launch @draw reads(%[[R]]
  plan.launch @draw reads(%r, %four : memref<2xi64>, memref<1xi64>) writes(%y : memref<4xf32>) stream(0)
  // CHECK: plan.launch @next reads(%[[R]], {{.*}} writes(%[[N]]
  plan.launch @next reads(%r, %one : memref<2xi64>, memref<2xi64>) writes(%n : memref<2xi64>) stream(0)
}
