// RUN: dlc-opt %s --split-input-file --verify-diagnostics | FileCheck %s
// Devices, targets and layouts, good and bad.

// CHECK: device = #dlc.device<cuda:1>
// CHECK-SAME: layout = #dlc.layout<"nchw16c">
// CHECK-SAME: target = #dlc.target<"x86-64-v3", features = ["avx2", "fma"]>
module attributes {dlc.all = {
  device = #dlc.device<cuda:1>, layout = #dlc.layout<"nchw16c">,
  target = #dlc.target<"x86-64-v3", features = ["avx2", "fma"]>}} {}

// -----

// CHECK: #dlc.device<null:0>
// CHECK-SAME: #dlc.target<"host">
module attributes {dlc.all = [#dlc.device<null:0>, #dlc.target<"host">]} {}

// -----

// device_c1
// expected-error @+1 {{expected a device number from 0 to 32767, got -1}}
module attributes {dlc.device = #dlc.device<cpu:-1>} {}

// -----

// target_c1
// expected-error @+1 {{expected a target name, got an empty string}}
module attributes {dlc.target = #dlc.target<"">} {}

// -----

// target_c2
// expected-error @+1 {{expected a feature name without sign, got "+avx2"}}
module attributes {dlc.target = #dlc.target<"host", features = ["+avx2"]>} {}

// -----

// layout_c1
// expected-error @+1 {{expected each dimension once, got 'c' twice}}
module attributes {dlc.layout = #dlc.layout<"ncchw">} {}

// -----

// layout_c2
// expected-error @+1 {{expected a block of one of 'nchw', got 'd'}}
module attributes {dlc.layout = #dlc.layout<"nchw16d">} {}

// -----

// expected-error @+1 {{expected a block size of at least 2 and a dimension, got "nchw1c"}}
module attributes {dlc.layout = #dlc.layout<"nchw1c">} {}
