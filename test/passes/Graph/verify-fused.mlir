// RUN: dlc-opt %s --graph-verify=phase=fused --split-input-file --verify-diagnostics
// RUN: dlc-opt %s --graph-verify --split-input-file
// What a group holds is checked at the end of the fused phase, not before.

func.func @good(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = graph.fusion -> tensor<4xf32> {
    %0 = graph.relu %x : tensor<4xf32>
    %1 = graph.exp %0 : tensor<4xf32>
    graph.yield %1 : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

func.func @alone(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected two operations or more, got 1}}
  %y = graph.fusion -> tensor<4xf32> {
    %0 = graph.relu %x : tensor<4xf32>
    graph.yield %0 : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

func.func @constant(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = graph.fusion -> tensor<4xf32> {
    // expected-error @+1 {{expected operations with a Reference kernel in a group}}
    %w = graph.constant dense<1.0> : tensor<4xf32>
    %0 = graph.add %x, %w : tensor<4xf32>
    graph.yield %0 : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

func.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = graph.fusion -> tensor<?xf32> {
    // expected-error @+1 {{expected static types, or an elementwise operation, in a group, got 'tensor<?xf32>'}}
    %0 = graph.softmax %x : tensor<?xf32>
    %1 = graph.exp %0 : tensor<?xf32>
    graph.yield %1 : tensor<?xf32>
  }
  return %y : tensor<?xf32>
}

// -----

func.func @unused(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected a use of result #1, got none}}
  %y:2 = graph.fusion -> tensor<4xf32>, tensor<4xf32> {
    %0 = graph.relu %x : tensor<4xf32>
    %1 = graph.exp %0 : tensor<4xf32>
    graph.yield %1, %0 : tensor<4xf32>, tensor<4xf32>
  }
  return %y#0 : tensor<4xf32>
}

// -----

func.func @two_devices(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = graph.fusion -> tensor<4xf32> {
    %0 = graph.relu %x : tensor<4xf32>
    // expected-error @+1 {{expected a group on one device}}
    %1 = graph.exp %0 {device = #dlc.device<cpu:1>} : tensor<4xf32>
    graph.yield %1 : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
