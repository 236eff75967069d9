// RUN: dlc-opt %s --split-input-file --verify-diagnostics
// What the shape rules reject, each function named after the constraint of the
// description that it violates.

func.func @matmul_c1(%a: tensor<2x3xf32>, %b: tensor<3x5xf64>) {
  // expected-error @+1 {{'graph.matmul' op operand 1: expected f32 as operand 0, got f64}}
  %out = graph.matmul %a, %b : (tensor<2x3xf32>, tensor<3x5xf64>) -> tensor<2x5xf32>
  return
}

// -----

func.func @matmul_c2(%a: tensor<3xf32>, %b: tensor<3x5xf32>) {
  // expected-error @+1 {{'graph.matmul' op operand 0: expected rank at least 2, got 1}}
  %out = graph.matmul %a, %b : (tensor<3xf32>, tensor<3x5xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @matmul_c4(%a: tensor<2x2x3xf32>, %b: tensor<5x3x5xf32>) {
  // expected-error @+1 {{'graph.matmul' op expected shapes that broadcast, got 2 and 5 in dimension 0}}
  %out = graph.matmul %a, %b : (tensor<2x2x3xf32>, tensor<5x3x5xf32>) -> tensor<2x2x5xf32>
  return
}

// -----

func.func @conv_c1(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf64>) {
  // expected-error @+1 {{'graph.conv' op operand 1: expected f32 as operand 0, got f64}}
  %out = graph.conv %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf64>) -> tensor<1x4x6x6xf32>
  return
}

// -----

func.func @conv_c2(%x: tensor<1x3x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error @+1 {{'graph.conv' op operand 1: expected rank 3, got 4}}
  %out = graph.conv %x, %w : (tensor<1x3x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6xf32>
  return
}

// -----

// Data of one dimension more than weights is in blocks of channels, or wrong.

func.func @conv_c2_weights(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3xf32>) {
  // expected-error @+1 {{'graph.conv' op expected weights of rank 4, or of 24 channels / 1 groups for blocks of 8, got rank 3 and 3 channels}}
  %out = graph.conv %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x3xf32>) -> tensor<1x4x6x6xf32>
  return
}

// -----

func.func @conv_c4(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error @+1 {{'graph.conv' op attribute strides: expected values in [1, 2^31), got 0}}
  %out = graph.conv %x, %w {strides = array<i64: 0, 1>} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  return
}

// -----

func.func @conv_c2_blocked(%x: tensor<1x1x8x8x16x2xf32>, %w: tensor<4x16x3x3xf32>) {
  // expected-error @+1 {{'graph.conv' op operand 1: expected rank 6, got 4}}
  %out = graph.conv %x, %w : (tensor<1x1x8x8x16x2xf32>, tensor<4x16x3x3xf32>) -> tensor<1x4x6x6xf32>
  return
}

// -----

func.func @conv_c3_blocked(%x: tensor<1x2x8x8x16xf32>, %w: tensor<4x16x3x3xf32>) {
  // expected-error @+1 {{'graph.conv' op expected weights of rank 5, or of 32 channels / 1 groups for blocks of 16, got rank 4 and 16 channels}}
  %out = graph.conv %x, %w : (tensor<1x2x8x8x16xf32>, tensor<4x16x3x3xf32>) -> tensor<1x4x6x6xf32>
  return
}

// -----

// 24 channels are two blocks of 16.
func.func @conv_c3_many_blocks(%x: tensor<1x3x8x8x16xf32>, %w: tensor<4x24x3x3xf32>) {
  // expected-error @+1 {{'graph.conv' op expected weights of rank 5, or of 48 channels / 1 groups for blocks of 16, got rank 4 and 24 channels}}
  %out = graph.conv %x, %w : (tensor<1x3x8x8x16xf32>, tensor<4x24x3x3xf32>) -> tensor<1x4x6x6xf32>
  return
}

// -----

func.func @conv_c5(%x: tensor<1x3x8x8xf32>, %w: tensor<24x3x3x3xf32>) {
  // expected-error-re @+1 {{'graph.conv' op {{.*}}tensor<1x2x6x6x16xf32>}}
  %out = graph.conv %x, %w {channel_block = 16 : i64} : (tensor<1x3x8x8xf32>, tensor<24x3x3x3xf32>) -> tensor<1x1x6x6x16xf32>
  return
}

// -----

func.func @conv_c5_negative(%x: tensor<1x3x8x8xf32>, %w: tensor<24x3x3x3xf32>) {
  // expected-error @+1 {{'graph.conv' op attribute channel_block: expected at least 0, got -8}}
  %out = graph.conv %x, %w {channel_block = -8 : i64} : (tensor<1x3x8x8xf32>, tensor<24x3x3x3xf32>) -> tensor<1x3x6x6x8xf32>
  return
}

// -----

func.func @conv_c5_empty(%x: tensor<1x3x8x8x0xf32>, %w: tensor<4x0x3x3xf32>) {
  // expected-error @+1 {{'graph.conv' op operand 0: expected blocks of at least 1 channel, got 0}}
  %out = graph.conv %x, %w : (tensor<1x3x8x8x0xf32>, tensor<4x0x3x3xf32>) -> tensor<1x4x6x6xf32>
  return
}

// -----

// A plain result has the rank of the weights.
func.func @conv_blocked_result(%x: tensor<1x1x8x8x16xf32>, %w: tensor<16x16x3x3xf32>) {
  // expected-error-re @+1 {{'graph.conv' op {{.*}}tensor<1x16x6x6xf32>}}
  %out = graph.conv %x, %w : (tensor<1x1x8x8x16xf32>, tensor<16x16x3x3xf32>) -> tensor<1x1x6x6x16xf32>
  return
}

// -----

func.func @conv_transpose_c2(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error @+1 {{'graph.conv_transpose' op expected weights of 3 input channels, got 4}}
  %out = graph.conv_transpose %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x3x10x10xf32>
  return
}

// -----

func.func @einsum_c2(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.einsum' op operand 0: expected rank 3, got 2}}
  %out = graph.einsum %a {equation = "ijk->i"} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @reduce_sum_c2(%x: tensor<2x3xf32>) {
  %a = graph.constant dense<2> : tensor<1xi64>
  // expected-error @+1 {{'graph.reduce_sum' op expected an axis in [-2, 2), got 2}}
  %out = graph.reduce_sum %x, %a : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2x3xf32>
  return
}

// -----

func.func @arg_max_c2(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.arg_max' op expected an axis in [-2, 2), got 2}}
  %out = graph.arg_max %x {axis = 2 : i64} : (tensor<2x3xf32>) -> tensor<2x1xi64>
  return
}

// -----

func.func @cumsum_c2(%x: tensor<2x3xf32>) {
  %a = graph.constant dense<-3> : tensor<i64>
  // expected-error @+1 {{'graph.cumsum' op expected an axis in [-2, 2), got -3}}
  %out = graph.cumsum %x, %a : (tensor<2x3xf32>, tensor<i64>) -> tensor<2x3xf32>
  return
}

// -----

func.func @softmax_c2(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.softmax' op expected an axis in [-2, 2), got 2}}
  %out = graph.softmax %x {axis = 2 : i64} : tensor<2x3xf32>
  return
}

// -----

func.func @batch_norm_c2(%x: tensor<2x3xf32>, %s: tensor<4xf32>) {
  // expected-error @+1 {{'graph.batch_norm' op operand 1: expected 3 elements, one for each channel, got 4}}
  %out = graph.batch_norm %x, %s, %s, %s, %s : (tensor<2x3xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @layer_norm_c2(%x: tensor<2x3xf32>, %s: tensor<3xf32>) {
  // expected-error @+1 {{'graph.layer_norm' op expected an axis in [-2, 2), got 2}}
  %out = graph.layer_norm %x, %s {axis = 2 : i64} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @layer_norm_c3(%x: tensor<2x3xf32>, %s: tensor<4xf32>) {
  // expected-error @+1 {{'graph.layer_norm' op expected shapes that broadcast, got 3 and 4 in dimension 1}}
  %out = graph.layer_norm %x, %s : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @rms_norm_c3(%x: tensor<2x3xf32>, %s: tensor<4xf32>) {
  // expected-error @+1 {{'graph.rms_norm' op expected shapes that broadcast, got 3 and 4 in dimension 1}}
  %out = graph.rms_norm %x, %s : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @group_norm_c2(%x: tensor<2x3x4xf32>, %s: tensor<3xf32>) {
  // expected-error @+1 {{'graph.group_norm' op expected channels in 2 equal groups, got 3 channels}}
  %out = graph.group_norm %x, %s, %s {num_groups = 2 : i64} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @max_pool_c2(%x: tensor<1x3x8x8xf32>) {
  // expected-error @+1 {{'graph.max_pool' op operand 0: expected rank 3, got 4}}
  %out = graph.max_pool %x {kernel_shape = array<i64: 2>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x7x7xf32>
  return
}

// -----

func.func @avg_pool_c3(%x: tensor<1x3x8x8xf32>) {
  // expected-error @+1 {{'graph.avg_pool' op attribute strides: expected values in [1, 2^31), got 0}}
  %out = graph.avg_pool %x {kernel_shape = array<i64: 2, 2>, strides = array<i64: 0, 1>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x7x7xf32>
  return
}

// -----

func.func @reshape_c1(%x: tensor<2x3xf32>) {
  %s = graph.constant dense<[4, 2]> : tensor<2xi64>
  // expected-error @+1 {{'graph.reshape' op expected a shape for the elements of 2x3xf32: 6 can't be arranged as 8}}
  %out = graph.reshape %x, %s : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<4x2xf32>
  return
}

// -----

func.func @reshape_c2(%x: tensor<2x3xf32>) {
  %s = graph.constant dense<[-1, -1]> : tensor<2xi64>
  // expected-error @+1 {{'graph.reshape' op expected at most one -1, got 2}}
  %out = graph.reshape %x, %s : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return
}

// -----

func.func @flatten_c2(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.flatten' op expected an axis in [-2, 2], got 3}}
  %out = graph.flatten %x {axis = 3 : i64} : (tensor<2x3xf32>) -> tensor<6x1xf32>
  return
}

// -----

func.func @squeeze_c2(%x: tensor<2x3xf32>) {
  %a = graph.constant dense<1> : tensor<1xi64>
  // expected-error @+1 {{'graph.squeeze' op dimension 1: expected 1, got 3}}
  %out = graph.squeeze %x, %a : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2xf32>
  return
}

// -----

func.func @unsqueeze_c2(%x: tensor<2x3xf32>) {
  %a = graph.constant dense<[1, 1]> : tensor<2xi64>
  // expected-error @+1 {{'graph.unsqueeze' op expected distinct axes, got 1 twice}}
  %out = graph.unsqueeze %x, %a : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x1x1x3xf32>
  return
}

// -----

func.func @expand_c2(%x: tensor<2x3xf32>) {
  %s = graph.constant dense<[4, 3]> : tensor<2xi64>
  // expected-error @+1 {{'graph.expand' op expected shapes that broadcast, got 2 and 4 in dimension 0}}
  %out = graph.expand %x, %s : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<4x3xf32>
  return
}

// -----

func.func @tile_c2(%x: tensor<2x3xf32>) {
  %s = graph.constant dense<2> : tensor<1xi64>
  // expected-error @+1 {{'graph.tile' op expected 2 repeats, got 1}}
  %out = graph.tile %x, %s : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<4x3xf32>
  return
}

// -----

func.func @concat_c2(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) {
  // expected-error @+1 {{'graph.concat' op operand 1: expected dimension 1 to be 3, got 2x4xf32}}
  %out = graph.concat %x, %y {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @slice_c2(%x: tensor<8xf32>) {
  %a = graph.constant dense<0> : tensor<1xi64>
  // expected-error @+1 {{'graph.slice' op expected steps other than 0}}
  %out = graph.slice %x, %a, %a, %a, %a : (tensor<8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<0xf32>
  return
}

// -----

func.func @pad_c2(%x: tensor<8xf32>, %v: tensor<f32>) {
  %a = graph.constant dense<0> : tensor<1xi64>
  // expected-error @+1 {{'graph.pad' op expected 2 pads for 1 axes, got 1}}
  %out = graph.pad %x, %a, %v, %a : (tensor<8xf32>, tensor<1xi64>, tensor<f32>, tensor<1xi64>) -> tensor<8xf32>
  return
}

// -----

func.func @depth_to_space_c2(%x: tensor<1x3x2x2xf32>) {
  // expected-error @+1 {{'graph.depth_to_space' op expected a dimension that 4 divides, got 3}}
  %out = graph.depth_to_space %x {blocksize = 2 : i64} : (tensor<1x3x2x2xf32>) -> tensor<1x1x4x4xf32>
  return
}

// -----

func.func @gather_c2(%x: tensor<8xf32>, %i: tensor<2xi64>) {
  // expected-error @+1 {{'graph.gather' op expected an axis in [-1, 1), got 1}}
  %out = graph.gather %x, %i {axis = 1 : i64} : (tensor<8xf32>, tensor<2xi64>) -> tensor<2xf32>
  return
}

// -----

func.func @gather_elements_c2(%x: tensor<8xf32>, %i: tensor<2x2xi64>) {
  // expected-error @+1 {{'graph.gather_elements' op operand 1: expected rank 1, got 2}}
  %out = graph.gather_elements %x, %i : (tensor<8xf32>, tensor<2x2xi64>) -> tensor<2x2xf32>
  return
}

// -----

func.func @scatter_elements_c2(%x: tensor<8xf32>, %i: tensor<2xi64>) {
  // expected-error @+1 {{'graph.scatter_elements' op expected an axis in [-1, 1), got 1}}
  %out = graph.scatter_elements %x, %i, %x {axis = 1 : i64} : (tensor<8xf32>, tensor<2xi64>, tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @scatter_nd_c2(%x: tensor<8xf32>, %i: tensor<2x1xi64>) {
  // expected-error @+1 {{'graph.scatter_nd' op operand 2: expected 2xf32, got 8xf32}}
  %out = graph.scatter_nd %x, %i, %x : (tensor<8xf32>, tensor<2x1xi64>, tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @one_hot_c2(%i: tensor<3xi64>, %d: tensor<i64>, %v: tensor<2xf32>) {
  // expected-error @+1 {{'graph.one_hot' op expected an axis in [-2, 2), got 2}}
  %out = graph.one_hot %i, %d, %v {axis = 2 : i64} : (tensor<3xi64>, tensor<i64>, tensor<2xf32>) -> tensor<3x?xf32>
  return
}

// -----

func.func @top_k_c2(%x: tensor<8xf32>) {
  %k = graph.constant dense<9> : tensor<1xi64>
  // expected-error @+1 {{'graph.top_k' op expected k in [0, 8], got 9}}
  %p, %q = graph.top_k %x, %k : (tensor<8xf32>, tensor<1xi64>) -> (tensor<9xf32>, tensor<9xi64>)
  return
}

// -----

func.func @compress_c2(%x: tensor<8xf32>, %c: tensor<2x2xi1>) {
  // expected-error @+1 {{'graph.compress' op operand 1: expected rank 1, got 2}}
  %out = graph.compress %x, %c : (tensor<8xf32>, tensor<2x2xi1>) -> tensor<?xf32>
  return
}

// -----

func.func @resize_c2(%x: tensor<1x1x2x2xf32>) {
  %none = graph.none : none
  // expected-error @+1 {{'graph.resize' op expected either scales or sizes, got none}}
  %out = graph.resize %x, %none, %none, %none : (tensor<1x1x2x2xf32>, none, none, none) -> tensor<1x1x4x4xf32>
  return
}

// -----

func.func @cholesky_c1(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.cholesky' op expected square matrices, got 2x3xf32}}
  %out = graph.cholesky %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @eigh_c1(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.eigh' op expected square matrices, got 2x3xf32}}
  %out:2 = graph.eigh %x : (tensor<2x3xf32>) -> (tensor<2xf32>, tensor<2x3xf32>)
  return
}

// -----

func.func @inverse_c1(%x: tensor<3xf32>) {
  // expected-error @+1 {{'graph.inverse' op operand 0: expected rank at least 2, got 1}}
  %out = graph.inverse %x : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @log_det_c1(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.log_det' op expected square matrices, got 2x3xf32}}
  %out:2 = graph.log_det %x : (tensor<2x3xf32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

func.func @lq_c1(%x: tensor<3x2xf32>) {
  // expected-error @+1 {{'graph.lq' op expected no more rows than columns, got 3x2xf32}}
  %out:2 = graph.lq %x : (tensor<3x2xf32>) -> (tensor<3x3xf32>, tensor<3x2xf32>)
  return
}

// -----

func.func @triangular_solve_c1(%a: tensor<2x3x3xf32>, %b: tensor<4x3x1xf32>) {
  // expected-error @+1 {{'graph.triangular_solve' op operand 1: expected as many rows and matrices as 2x3x3xf32 has, got 4x3x1xf32}}
  %out = graph.triangular_solve %a, %b : (tensor<2x3x3xf32>, tensor<4x3x1xf32>) -> tensor<4x3x1xf32>
  return
}

// -----

func.func @triangular_solve_c2(%a: tensor<3x3xf32>, %b: tensor<2x1xf32>) {
  // expected-error @+1 {{'graph.triangular_solve' op operand 1: expected as many rows and matrices as 3x3xf32 has, got 2x1xf32}}
  %out = graph.triangular_solve %a, %b : (tensor<3x3xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  return
}

// -----

func.func @det_c1(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'graph.det' op expected square matrices, got 2x3xf32}}
  %out = graph.det %x : (tensor<2x3xf32>) -> tensor<f32>
  return
}

// -----

func.func @quantize_linear_c2(%x: tensor<2x3xf32>, %s: tensor<4xf32>, %z: tensor<4xui8>) {
  // expected-error @+1 {{'graph.quantize_linear' op operand 1: expected a scale, or scales of shape 3xf32, got 4xf32}}
  %out = graph.quantize_linear %x, %s, %z : (tensor<2x3xf32>, tensor<4xf32>, tensor<4xui8>) -> tensor<2x3xui8>
  return
}

// -----

func.func @range_c2(%a: tensor<i64>) {
  %z = graph.constant dense<0> : tensor<i64>
  // expected-error @+1 {{'graph.range' op expected a delta other than 0}}
  %out = graph.range %z, %z, %z : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  return
}

// -----

func.func @resolve_indices_c1(%i: tensor<3xf32>) {
  // expected-error @+1 {{operand #0 must be}}
  %out = graph.resolve_indices %i {extents = array<i64: 2>} : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @resolve_indices_c2(%i: tensor<3xi64>) {
  // expected-error @+1 {{'graph.resolve_indices' op expected one extent, or one per place along the last dimension of 3xi64, got 2}}
  %out = graph.resolve_indices %i {extents = array<i64: 2, 4>} : (tensor<3xi64>) -> tensor<3xi64>
  return
}

// -----

func.func @gather_c4(%x: tensor<8xf32>, %i: tensor<2xi64>) {
  // expected-error @+1 {{'graph.gather' op expected indices that are resolved, to be in bounds}}
  %out = graph.gather %x, %i {in_bounds = true} : (tensor<8xf32>, tensor<2xi64>) -> tensor<2xf32>
  return
}

// -----

func.func @gather_c4_of_another_extent(%x: tensor<8xf32>, %i: tensor<2xi64>) {
  %r = graph.resolve_indices %i {extents = array<i64: 9>} : (tensor<2xi64>) -> tensor<2xi64>
  // expected-error @+1 {{'graph.gather' op expected indices that are resolved, to be in bounds}}
  %out = graph.gather %x, %r {in_bounds = true} : (tensor<8xf32>, tensor<2xi64>) -> tensor<2xf32>
  return
}

// -----

func.func @gather_elements_c4(%x: tensor<8xf32>) {
  %i = graph.constant dense<[1, -1]> : tensor<2xi64>
  // expected-error @+1 {{'graph.gather_elements' op expected indices that are resolved, to be in bounds}}
  %out = graph.gather_elements %x, %i {in_bounds = true} : (tensor<8xf32>, tensor<2xi64>) -> tensor<2xf32>
  return
}

// -----

// What is not there is refused before its extents are read.

func.func @gather_c4_without_axis(%x: tensor<8xf32>, %i: tensor<2xi64>) {
  // expected-error @+1 {{'graph.gather' op expected an axis in [-1, 1), got 100000000}}
  %out = graph.gather %x, %i {axis = 100000000 : i64, in_bounds = true} : (tensor<8xf32>, tensor<2xi64>) -> tensor<2xf32>
  return
}

// -----

func.func @gather_c4_of_a_scalar(%x: tensor<f32>, %i: tensor<2xi64>) {
  // expected-error @+1 {{'graph.gather' op operand 0: expected rank at least 1, got 0}}
  %out = graph.gather %x, %i {axis = -1 : i64, in_bounds = true} : (tensor<f32>, tensor<2xi64>) -> tensor<2xf32>
  return
}

// -----

func.func @gather_nd_c4_without_batch(%x: tensor<8x4xf32>, %i: tensor<2x2xi64>) {
  // expected-error @+1 {{'graph.gather_nd' op expected batch_dims in [0, 1], got -5}}
  %out = graph.gather_nd %x, %i {batch_dims = -5 : i64, in_bounds = true} : (tensor<8x4xf32>, tensor<2x2xi64>) -> tensor<2xf32>
  return
}

// -----

func.func @gather_nd_c4_of_long_tuples(%x: tensor<8x4xf32>, %i: tensor<2x100000xi64>) {
  // expected-error @+1 {{'graph.gather_nd' op operand 1: expected tuples of 1 to 2 indices, got 100000}}
  %out = graph.gather_nd %x, %i {in_bounds = true} : (tensor<8x4xf32>, tensor<2x100000xi64>) -> tensor<2xf32>
  return
}

// -----

func.func @gather_nd_c4(%x: tensor<8x?xf32>, %i: tensor<2x2xi64>) {
  // expected-error @+1 {{'graph.gather_nd' op expected extents that are known, to be in bounds}}
  %out = graph.gather_nd %x, %i {in_bounds = true} : (tensor<8x?xf32>, tensor<2x2xi64>) -> tensor<2xf32>
  return
}

// -----

func.func @scatter_nd_c4(%x: tensor<8x4xf32>, %i: tensor<2x1xi64>, %u: tensor<2x4xf32>) {
  // expected-error @+1 {{'graph.scatter_nd' op expected indices that are resolved, to be in bounds}}
  %0 = graph.scatter_nd %x, %i, %u {in_bounds = true} : (tensor<8x4xf32>, tensor<2x1xi64>, tensor<2x4xf32>) -> tensor<8x4xf32>
  return
}
