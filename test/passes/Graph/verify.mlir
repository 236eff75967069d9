// RUN: dlc-opt %s --graph-verify --split-input-file --verify-diagnostics
// RUN: not dlc-opt %s --graph-verify=phase=placed --split-input-file 2>&1 | FileCheck %s --check-prefix=PLACED
// RUN: not dlc-opt %s --graph-verify=phase=import --split-input-file 2>&1 | FileCheck %s --check-prefix=IMPORT
// The end of the graph phase is checked, every violation reported. Import
// promises less, later phases more.

func.func @good(%x: tensor<?x4xf32> {graph.name = "x"}) -> (tensor<?x4xf32> {graph.name = "x"}) {
  %y = graph.relu %x : tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// -----

// expected-error @+1 {{expected a known rank for argument #0 'x', got 'tensor<*xf32>'}}
func.func @ranks(%x: tensor<*xf32> {graph.name = "x"}) {
  // Results may have a rank that only data tells.
  %y = graph.relu %x : tensor<*xf32>
  return
}

// -----

// expected-error @+2 {{expected unique names, got "x" for argument #0 and #1}}
// expected-error @+1 {{expected unique names, got "y" for result #0 and #1}}
func.func @names(%a: tensor<1xf32> {graph.name = "x"}, %b: tensor<1xf32> {graph.name = "x"})
    -> (tensor<1xf32> {graph.name = "y"}, tensor<1xf32> {graph.name = "y"}) {
  return %a, %b : tensor<1xf32>, tensor<1xf32>
}

// -----

func.func @dialect(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected operations of the graph dialect}}
  %b = arith.negf %a : tensor<4xf32>
  return %b : tensor<4xf32>
}

// -----

// PLACED: expected operand #0 on cuda:0, where the operation is, got cpu:0
// IMPORT-NOT: cuda:0
func.func @device(%a: tensor<4xf32>) -> tensor<4xf32> {
  %b = graph.relu %a {device = #dlc.device<cpu:0>} : tensor<4xf32>
  %c = graph.relu %b {device = #dlc.device<cuda:0>} : tensor<4xf32>
  return %c : tensor<4xf32>
}

// -----

// IMPORT: expected a #dlc.device, got device "cpu:0"
func.func @device_text(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected a #dlc.device, got device "cpu:0"}}
  %b = graph.relu %a {device = "cpu:0"} : tensor<4xf32>
  return %b : tensor<4xf32>
}

// -----

// expected-error @+1 {{expected the name of an argument that result #0 updates, got "y"}}
func.func @updates_nothing(%x: tensor<4xf32> {graph.name = "x"}) -> (tensor<4xf32> {graph.updates = "y"}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{expected result #0 to have the type of argument "x", which it updates, 'tensor<4xf32>', got 'tensor<4xi1>'}}
func.func @updates_type(%x: tensor<4xf32> {graph.name = "x"}) -> (tensor<4xi1> {graph.updates = "x"}) {
  %0 = graph.is_nan %x : (tensor<4xf32>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// -----

// expected-error @+1 {{expected one update of argument "x", got results #0 and #1}}
func.func @updates_twice(%x: tensor<4xf32> {graph.name = "x"})
    -> (tensor<4xf32> {graph.updates = "x"}, tensor<4xf32> {graph.updates = "x"}) {
  return %x, %x : tensor<4xf32>, tensor<4xf32>
}

// -----

// PLACED: expected operand #1 on cpu:1, where the operation is, got cpu:0
// PLACED-NOT: expected operand
func.func @crossing(%a: tensor<4xf32> {graph.device = #dlc.device<cpu:1>}) -> tensor<4xf32> {
  %b = graph.copy %a : (tensor<4xf32>) -> tensor<4xf32>
  %c = graph.add %a, %b {device = #dlc.device<cpu:1>} : tensor<4xf32>
  return %c : tensor<4xf32>
}
