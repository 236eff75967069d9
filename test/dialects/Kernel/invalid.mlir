// RUN: dlc-opt %s -split-input-file -verify-diagnostics
// One constraint of the Kernel dialect a case.

// expected-error@+1 {{expected all arguments to be memrefs or none}}
kernel.func @func_c1(%x: tensor<4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  kernel.return
}

// -----

// expected-error@+1 {{expected 1 to 1 outputs, got 2}}
kernel.func @func_c2(%x: memref<4xf32>) attributes {outputs = 2 : i64} {
  kernel.return
}

// -----

// expected-error@+1 {{expected the number of outputs exactly when arguments are memrefs}}
kernel.func @func_c2_missing(%x: memref<4xf32>) {
  kernel.return
}

// -----

// expected-error@+1 {{expected an in-place pair within 1 inputs and 1 outputs, got (1, 0)}}
kernel.func @func_c3(%x: tensor<4xf32>) -> tensor<4xf32> attributes {inPlace = array<i64: 1, 0>} {
  kernel.return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{expected config, entryOperands and workspace exactly with an entry}}
kernel.func @func_c4(%x: tensor<4xf32>) -> tensor<4xf32> attributes {entry = "cublaslt.matmul"} {
  kernel.return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{expected operands of an entry within 1 inputs, got 1}}
kernel.func @func_c4_operands(%x: tensor<4xf32>) -> tensor<4xf32> attributes {config = {}, entry = "cublaslt.matmul", entryOperands = array<i64: 0, 1>, workspace = 0 : i64} {
  kernel.return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{expected a workspace of at least 0 bytes, got -1}}
kernel.func @func_c4_workspace(%x: tensor<4xf32>) -> tensor<4xf32> attributes {config = {}, entry = "cublaslt.matmul", entryOperands = array<i64: 0>, workspace = -1 : i64} {
  kernel.return %x : tensor<4xf32>
}

// -----

kernel.func @return_c1(%x: tensor<4xf32>) -> tensor<5xf32> {
  // expected-error@+1 {{expected the kernel's result types 'tensor<5xf32>', got 'tensor<4xf32>'}}
  kernel.return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{expected a workspace of at least 0 bytes, got -1}}
kernel.library @workspace "cpu.conv" {} workspace(-1) : (tensor<4xf32>) -> tensor<4xf32>

// -----

func.func @call_c1(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected the name of a kernel, got @nothing}}
  kernel.call @nothing(%x) : (tensor<4xf32>) -> ()
  return
}

// -----

// expected-note@+1 {{the kernel is here}}
kernel.library @k "cpu.conv" {} : (tensor<4xf32>) -> tensor<4xf32>
func.func @call_c2(%x: tensor<5xf32>) {
  // expected-error@+1 {{expected the kernel's type '(tensor<4xf32>) -> tensor<4xf32>'}}
  kernel.call @k(%x) : (tensor<5xf32>) -> tensor<4xf32>
  return
}

// -----

kernel.func @attention_c1_types(%q: memref<8x16xf16>, %k: memref<4x16xbf16>, %v: memref<4x16xf16>, %y: memref<8x16xf16>) attributes {outputs = 1 : i64} {
  %first = arith.constant 0 : index
  // expected-error@+1 {{expected one element type, got 'memref<8x16xf16>' and 'memref<4x16xbf16>'}}
  kernel.attention %q, %k, %v into %y from %first {rows = 8 : i64, scale = 1.0 : f32} : memref<8x16xf16>, memref<4x16xbf16>, memref<4x16xf16> into memref<8x16xf16>
  kernel.return
}

// -----

kernel.func @attention_c1_shapes(%q: memref<8x16xf16>, %k: memref<4x32xf16>, %v: memref<4x16xf16>, %y: memref<8x16xf16>) attributes {outputs = 1 : i64} {
  %first = arith.constant 0 : index
  // expected-error@+1 {{expected M x K, N x K, N x P and M x P, got 'memref<8x16xf16>', 'memref<4x32xf16>', 'memref<4x16xf16>' and 'memref<8x16xf16>'}}
  kernel.attention %q, %k, %v into %y from %first {rows = 8 : i64, scale = 1.0 : f32} : memref<8x16xf16>, memref<4x32xf16>, memref<4x16xf16> into memref<8x16xf16>
  kernel.return
}

// -----

kernel.func @attention_c2_forms(%q: memref<8x16xf16>, %k: memref<4x16xf16>, %v: memref<4x16xf16>, %m: memref<4xf16>, %y: memref<8x16xf16>) attributes {outputs = 1 : i64} {
  %first = arith.constant 0 : index
  // expected-error@+1 {{expected a form for each of 1 masks, got 0}}
  kernel.attention %q, %k, %v masked(%m) into %y from %first {rows = 8 : i64, scale = 1.0 : f32} : memref<8x16xf16>, memref<4x16xf16>, memref<4x16xf16> masked(memref<4xf16>) into memref<8x16xf16>
  kernel.return
}

// -----

kernel.func @attention_c2_types(%q: memref<8x16xf16>, %k: memref<4x16xf16>, %v: memref<4x16xf16>, %m: memref<4xf16>, %y: memref<8x16xf16>) attributes {outputs = 1 : i64} {
  %first = arith.constant 0 : index
  // expected-error@+1 {{expected a mask for keep that broadcasts to M x N, got 'memref<4xf16>'}}
  kernel.attention %q, %k, %v masked(%m) into %y from %first {forms = ["keep"], rows = 8 : i64, scale = 1.0 : f32} : memref<8x16xf16>, memref<4x16xf16>, memref<4x16xf16> masked(memref<4xf16>) into memref<8x16xf16>
  kernel.return
}

// -----

kernel.func @attention_c2_shapes(%q: memref<8x16xf16>, %k: memref<4x16xf16>, %v: memref<4x16xf16>, %m: memref<8xf16>, %y: memref<8x16xf16>) attributes {outputs = 1 : i64} {
  %first = arith.constant 0 : index
  // expected-error@+1 {{expected a mask for add that broadcasts to M x N, got 'memref<8xf16>'}}
  kernel.attention %q, %k, %v masked(%m) into %y from %first {forms = ["add"], rows = 8 : i64, scale = 1.0 : f32} : memref<8x16xf16>, memref<4x16xf16>, memref<4x16xf16> masked(memref<8xf16>) into memref<8x16xf16>
  kernel.return
}

// -----

kernel.func @attention_c3(%q: memref<8x16xf16>, %k: memref<4x16xf16>, %v: memref<4x16xf16>, %y: memref<8x16xf16>) attributes {outputs = 1 : i64} {
  %first = arith.constant 0 : index
  // expected-error@+1 {{expected rows for all of 'memref<8x16xf16>', got 4}}
  kernel.attention %q, %k, %v into %y from %first {rows = 4 : i64, scale = 1.0 : f32} : memref<8x16xf16>, memref<4x16xf16>, memref<4x16xf16> into memref<8x16xf16>
  kernel.return
}

// -----

kernel.func @attention_c4(%q: memref<8x16xf16>, %k: memref<4x16xf16>, %v: memref<4x16xf16>, %y: memref<8x16xf16>) attributes {outputs = 1 : i64} {
  %first = arith.constant 0 : index
  // expected-error@+1 {{expected an offset for one causal form}}
  kernel.attention %q, %k, %v into %y from %first {forms = ["causal"], rows = 8 : i64, scale = 1.0 : f32} : memref<8x16xf16>, memref<4x16xf16>, memref<4x16xf16> into memref<8x16xf16>
  kernel.return
}

// -----

kernel.func @attention_c5_columns(%q: memref<8x12xf16>, %k: memref<4x12xf16>, %v: memref<4x16xf16>, %y: memref<8x16xf16>) attributes {outputs = 1 : i64} {
  %first = arith.constant 0 : index
  // expected-error@+1 {{expected dense rows of multiples of 8 elements that lie as many apart, got 'memref<8x12xf16>'}}
  kernel.attention %q, %k, %v into %y from %first {rows = 8 : i64, scale = 1.0 : f32} : memref<8x12xf16>, memref<4x12xf16>, memref<4x16xf16> into memref<8x16xf16>
  kernel.return
}

// -----

kernel.func @attention_c5_rows(%q: memref<8x16xf16>, %k: memref<4x16xf16, strided<[20, 1]>>, %v: memref<4x16xf16>, %y: memref<8x16xf16>) attributes {outputs = 1 : i64} {
  %first = arith.constant 0 : index
  // expected-error@+1 {{that lie as many apart, got 'memref<4x16xf16, strided<[20, 1]>>'}}
  kernel.attention %q, %k, %v into %y from %first {rows = 8 : i64, scale = 1.0 : f32} : memref<8x16xf16>, memref<4x16xf16, strided<[20, 1]>>, memref<4x16xf16> into memref<8x16xf16>
  kernel.return
}

// -----

kernel.func @attention_c5_keys(%q: memref<8x16xf16>, %k: memref<0x16xf16>, %v: memref<0x16xf16>, %y: memref<8x16xf16>) attributes {outputs = 1 : i64} {
  %first = arith.constant 0 : index
  // expected-error@+1 {{expected keys, got 'memref<0x16xf16>'}}
  kernel.attention %q, %k, %v into %y from %first {rows = 8 : i64, scale = 1.0 : f32} : memref<8x16xf16>, memref<0x16xf16>, memref<0x16xf16> into memref<8x16xf16>
  kernel.return
}

// -----

// expected-error@+1 {{expected vectors of whole tiles of 64 elements}}
kernel.func @func_c5_tiles(%x: memref<100xf32>, %y: memref<100xf32>) attributes {anyShape = 64 : i64, outputs = 1 : i64} {
  kernel.return
}

// -----

// expected-error@+1 {{expected vectors of whole tiles of 64 elements}}
kernel.func @func_c5_rank(%x: memref<2x64xf32>, %y: memref<128xf32>) attributes {anyShape = 64 : i64, outputs = 1 : i64} {
  kernel.return
}

// -----

// expected-error@+1 {{expected vectors of whole tiles of 64 elements}}
kernel.func @func_c5_alike(%x: memref<64xf32>, %y: memref<128xf32>) attributes {anyShape = 64 : i64, outputs = 1 : i64} {
  kernel.return
}

// -----

// expected-error@+1 {{expected vectors of whole tiles of 0 elements}}
kernel.func @func_c5_none(%x: memref<64xf32>, %y: memref<64xf32>) attributes {anyShape = 0 : i64, outputs = 1 : i64} {
  kernel.return
}

// -----

// expected-error@+1 {{expected nothing in place of any shape}}
kernel.func @func_c5_in_place(%x: memref<64xf32>, %y: memref<64xf32>) attributes {anyShape = 64 : i64, inPlace = array<i64: 0, 0>, outputs = 1 : i64} {
  kernel.return
}

// -----

// expected-error@+1 {{expected an epilogue of a kernel of any shape, got one of '(tensor<4xf32>) -> tensor<4xf32>'}}
kernel.func @func_c6_shape(%x: tensor<4xf32>) -> tensor<4xf32> attributes {epilogue = {activation = "relu"}} {
  kernel.return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{expected an epilogue of an activation, alpha and beta, got {alpha = 1.000000e+00 : f32}}}
kernel.func @func_c6_activation(%x: tensor<*xf32>) -> tensor<*xf32> attributes {epilogue = {alpha = 1.0 : f32}} {
  kernel.return %x : tensor<*xf32>
}

// -----

// expected-error@+1 {{expected an epilogue of an activation, alpha and beta, got {activation = "relu", group = 2 : i64}}}
kernel.func @func_c6_others(%x: tensor<*xf32>) -> tensor<*xf32> attributes {epilogue = {activation = "relu", group = 2 : i64}} {
  kernel.return %x : tensor<*xf32>
}

// -----

// expected-error@+1 {{expected an epilogue of requantize, multiplier, offset and zero_point, got {activation = "requantize", zero_point = 1.000000e+00 : f32}}}
kernel.func @func_c6_rounding(%x: tensor<*xi32>) -> tensor<*xi32> attributes {epilogue = {activation = "requantize", zero_point = 1.0 : f32}} {
  kernel.return %x : tensor<*xi32>
}

// -----

// expected-note@+1 {{the kernel is here}}
kernel.func @of_floats(%x: tensor<*xf32>) -> tensor<*xf32> {
  kernel.return %x : tensor<*xf32>
}
func.func @call_of_integers(%x: tensor<4xi32>) -> tensor<4xi32> {
  // expected-error@+1 {{expected the kernel's type}}
  %0 = kernel.call @of_floats(%x) : (tensor<4xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}
