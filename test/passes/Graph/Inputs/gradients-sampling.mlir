// Resampling, regions, and operations on images.
// Each function is differentiated and compared with finite differences; values
// are between `test.low` and `test.high`.

//===-- Quantisation --------------------------------------------------------===//

func.func @dequantize(%s: tensor<f64>) -> tensor<2x3xf64> {
  %x = graph.constant dense<[[1, 2, 200], [7, 0, 255]]> : tensor<2x3xui8>
  %z = graph.constant dense<128> : tensor<ui8>
  %y = graph.dequantize_linear %x, %s, %z : (tensor<2x3xui8>, tensor<f64>, tensor<ui8>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @dequantize_one(%s: tensor<1xf64>) -> tensor<3xf64> {
  %x = graph.constant dense<[1, -2, 100]> : tensor<3xi32>
  %z = graph.constant dense<0> : tensor<1xi32>
  %y = graph.dequantize_linear %x, %s, %z : (tensor<3xi32>, tensor<1xf64>, tensor<1xi32>) -> tensor<3xf64>
  return %y : tensor<3xf64>
}

func.func @dequantize_axis(%s: tensor<3xf64>) -> tensor<2x3x2xf64> {
  %x = graph.constant dense<[[[1, 2], [-3, 4], [5, 127]], [[-128, 8], [9, 10], [-11, 12]]]> : tensor<2x3x2xi8>
  %z = graph.constant dense<[1, -2, 0]> : tensor<3xi8>
  %y = graph.dequantize_linear %x, %s, %z {axis = -2} : (tensor<2x3x2xi8>, tensor<3xf64>, tensor<3xi8>) -> tensor<2x3x2xf64>
  return %y : tensor<2x3x2xf64>
}

// The last block is short.
func.func @dequantize_blocks(%s: tensor<2x3xf64>) -> tensor<2x5xf64> {
  %x = graph.constant dense<[[1, 2, -3, 4, 5], [-6, 7, 8, 9, -10]]> : tensor<2x5xi16>
  %z = graph.constant dense<[[1, 0, -2], [0, 3, 0]]> : tensor<2x3xi16>
  %y = graph.dequantize_linear %x, %s, %z {axis = 1, block_size = 2} : (tensor<2x5xi16>, tensor<2x3xf64>, tensor<2x3xi16>) -> tensor<2x5xf64>
  return %y : tensor<2x5xf64>
}

// One block is more than there is.
func.func @dequantize_one_block(%s: tensor<2x1xf64>) -> tensor<2x3xf64> {
  %x = graph.constant dense<[[1, 2, -3], [-6, 7, 8]]> : tensor<2x3xi16>
  %z = graph.constant dense<[[1], [0]]> : tensor<2x1xi16>
  %y = graph.dequantize_linear %x, %s, %z {axis = 1, block_size = 9223372036854775807} : (tensor<2x3xi16>, tensor<2x1xf64>, tensor<2x1xi16>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

//===-- Resize --------------------------------------------------------------===//

func.func @resize_nearest(%x: tensor<1x2x3x2xf64>) -> tensor<1x2x6x6xf64> {
  %n = graph.none : none
  %s = graph.constant dense<[1, 2, 6, 6]> : tensor<4xi64>
  %y = graph.resize %x, %n, %n, %s : (tensor<1x2x3x2xf64>, none, none, tensor<4xi64>) -> tensor<1x2x6x6xf64>
  return %y : tensor<1x2x6x6xf64>
}

func.func @resize_nearest_2(%x: tensor<1x2x3xf64>) -> tensor<1x2x9xf64> {
  %n = graph.none : none
  %s = graph.constant dense<3.0> : tensor<1xf32>
  %y = graph.resize %x, %n, %s, %n {axes = array<i64: -1>, coordinate_transformation_mode = "asymmetric", nearest_mode = "floor"} : (tensor<1x2x3xf64>, none, tensor<1xf32>, none) -> tensor<1x2x9xf64>
  return %y : tensor<1x2x9xf64>
}

func.func @resize_nearest_3(%x: tensor<1x5x4xf64>) -> tensor<1x3x7xf64> {
  %n = graph.none : none
  %s = graph.constant dense<[3, 7]> : tensor<2xi64>
  %y = graph.resize %x, %n, %n, %s {axes = array<i64: 1, 2>, coordinate_transformation_mode = "align_corners", nearest_mode = "ceil"} : (tensor<1x5x4xf64>, none, none, tensor<2xi64>) -> tensor<1x3x7xf64>
  return %y : tensor<1x3x7xf64>
}

// Twice the extent, but not each element twice.
func.func @resize_nearest_4(%x: tensor<1x4xf64>) -> tensor<1x8xf64> {
  %n = graph.none : none
  %s = graph.constant dense<[1, 8]> : tensor<2xi64>
  %y = graph.resize %x, %n, %n, %s {coordinate_transformation_mode = "half_pixel", nearest_mode = "floor"} : (tensor<1x4xf64>, none, none, tensor<2xi64>) -> tensor<1x8xf64>
  return %y : tensor<1x8xf64>
}

func.func @resize_linear(%x: tensor<2x1x3x4xf64>) -> tensor<2x1x5x6xf64> {
  %n = graph.none : none
  %s = graph.constant dense<[2, 1, 5, 6]> : tensor<4xi64>
  %y = graph.resize %x, %n, %n, %s {mode = "linear"} : (tensor<2x1x3x4xf64>, none, none, tensor<4xi64>) -> tensor<2x1x5x6xf64>
  return %y : tensor<2x1x5x6xf64>
}

func.func @resize_linear_2(%x: tensor<1x1x5x4xf64>) -> tensor<1x1x2x6xf64> {
  %n = graph.none : none
  %s = graph.constant dense<[0.5, 1.5]> : tensor<2xf32>
  %y = graph.resize %x, %n, %s, %n {mode = "linear", axes = array<i64: 2, 3>, antialias = true} : (tensor<1x1x5x4xf64>, none, tensor<2xf32>, none) -> tensor<1x1x2x6xf64>
  return %y : tensor<1x1x2x6xf64>
}

func.func @resize_cubic(%x: tensor<1x4x3xf64>) -> tensor<1x6x5xf64> {
  %n = graph.none : none
  %s = graph.constant dense<[1, 6, 5]> : tensor<3xi64>
  %y = graph.resize %x, %n, %n, %s {mode = "cubic", coordinate_transformation_mode = "align_corners", exclude_outside = true} : (tensor<1x4x3xf64>, none, none, tensor<3xi64>) -> tensor<1x6x5xf64>
  return %y : tensor<1x6x5xf64>
}

func.func @resize_crop(%x: tensor<1x4x5xf64>) -> tensor<1x4x5xf64> {
  %n = graph.none : none
  %r = graph.constant dense<[0.0, 0.1, -0.2, 1.0, 0.8, 0.7]> : tensor<6xf32>
  %s = graph.constant dense<[1, 4, 5]> : tensor<3xi64>
  %y = graph.resize %x, %r, %n, %s {mode = "linear", coordinate_transformation_mode = "tf_crop_and_resize", extrapolation_value = 3.0 : f32} : (tensor<1x4x5xf64>, tensor<6xf32>, none, tensor<3xi64>) -> tensor<1x4x5xf64>
  return %y : tensor<1x4x5xf64>
}

//===-- Grids ---------------------------------------------------------------===//
// The kernel rounds coordinates to f32, and results are linear in them between
// elements: far differences are exact.

func.func @grid_sample(%x: tensor<1x2x3x4xf64>, %g: tensor<1x2x2x2xf64>) -> tensor<1x2x2x2xf64> attributes {test.low = -1.3, test.high = 1.3, test.step = 1.0e-3, test.tolerance = 1.0e-3} {
  %y = graph.grid_sample %x, %g : (tensor<1x2x3x4xf64>, tensor<1x2x2x2xf64>) -> tensor<1x2x2x2xf64>
  return %y : tensor<1x2x2x2xf64>
}

func.func @grid_sample_2(%x: tensor<2x1x3x4xf64>, %g: tensor<2x1x3x2xf64>) -> tensor<2x1x1x3xf64> attributes {test.low = -1.5, test.high = 1.5, test.step = 1.0e-3, test.tolerance = 1.0e-3} {
  %y = graph.grid_sample %x, %g {padding_mode = "border", align_corners = true} : (tensor<2x1x3x4xf64>, tensor<2x1x3x2xf64>) -> tensor<2x1x1x3xf64>
  return %y : tensor<2x1x1x3xf64>
}

func.func @grid_sample_3(%x: tensor<1x1x5xf64>, %g: tensor<1x5x1xf64>) -> tensor<1x1x5xf64> attributes {test.low = -2.0, test.high = 2.0, test.step = 1.0e-3, test.tolerance = 1.0e-3} {
  %y = graph.grid_sample %x, %g {padding_mode = "reflection"} : (tensor<1x1x5xf64>, tensor<1x5x1xf64>) -> tensor<1x1x5xf64>
  return %y : tensor<1x1x5xf64>
}

func.func @grid_sample_4(%x: tensor<1x1x3x4xf64>) -> tensor<1x1x1x3xf64> {
  %g = graph.constant dense<[[[[-0.7, 0.2], [0.9, -1.2], [0.1, 0.6]]]]> : tensor<1x1x3x2xf64>
  %y = graph.grid_sample %x, %g {mode = "cubic"} : (tensor<1x1x3x4xf64>, tensor<1x1x3x2xf64>) -> tensor<1x1x1x3xf64>
  return %y : tensor<1x1x1x3xf64>
}

func.func @grid_sample_5(%x: tensor<1x2x3x4xf64>) -> tensor<1x2x1x3xf64> {
  %g = graph.constant dense<[[[[-0.7, 0.2], [0.9, -1.2], [0.1, 0.6]]]]> : tensor<1x1x3x2xf64>
  %y = graph.grid_sample %x, %g {mode = "nearest"} : (tensor<1x2x3x4xf64>, tensor<1x1x3x2xf64>) -> tensor<1x2x1x3xf64>
  return %y : tensor<1x2x1x3xf64>
}

func.func @affine_grid(%t: tensor<2x2x3xf64>) -> tensor<2x3x2x2xf64> {
  %s = graph.constant dense<[2, 5, 3, 2]> : tensor<4xi64>
  %y = graph.affine_grid %t, %s : (tensor<2x2x3xf64>, tensor<4xi64>) -> tensor<2x3x2x2xf64>
  return %y : tensor<2x3x2x2xf64>
}

func.func @affine_grid_2(%t: tensor<1x3x4xf64>) -> tensor<1x2x3x2x3xf64> {
  %s = graph.constant dense<[1, 1, 2, 3, 2]> : tensor<5xi64>
  %y = graph.affine_grid %t, %s {align_corners = true} : (tensor<1x3x4xf64>, tensor<5xi64>) -> tensor<1x2x3x2x3xf64>
  return %y : tensor<1x2x3x2x3xf64>
}

//===-- Regions -------------------------------------------------------------===//

func.func @roi_align(%x: tensor<2x2x5x4xf64>) -> tensor<3x2x2x3xf64> {
  %r = graph.constant dense<[[0.3, 0.6, 3.1, 4.2], [-1.0, 2.0, 2.5, 6.5], [1.0, 1.0, 1.4, 1.2]]> : tensor<3x4xf64>
  %b = graph.constant dense<[1, 0, 1]> : tensor<3xi64>
  %y = graph.roi_align %x, %r, %b {output_height = 2 : i64, output_width = 3 : i64} : (tensor<2x2x5x4xf64>, tensor<3x4xf64>, tensor<3xi64>) -> tensor<3x2x2x3xf64>
  return %y : tensor<3x2x2x3xf64>
}

func.func @roi_align_2(%x: tensor<1x1x5x6xf64>) -> tensor<2x1x3x2xf64> {
  %r = graph.constant dense<[[0.6, 1.2, 6.2, 8.4], [2.0, 2.0, 2.8, 2.4]]> : tensor<2x4xf64>
  %b = graph.constant dense<0> : tensor<2xi64>
  %y = graph.roi_align %x, %r, %b {output_height = 3 : i64, output_width = 2 : i64, sampling_ratio = 2 : i64, spatial_scale = 0.5 : f32, coordinate_transformation_mode = "output_half_pixel"} : (tensor<1x1x5x6xf64>, tensor<2x4xf64>, tensor<2xi64>) -> tensor<2x1x3x2xf64>
  return %y : tensor<2x1x3x2xf64>
}

// The second region reaches beyond the image, the last has no samples.
func.func @roi_align_max(%x: tensor<2x2x5x4xf64>) -> tensor<4x2x2x3xf64> {
  %r = graph.constant dense<[[0.3, 0.6, 3.1, 4.2], [-1.9, 2.0, 2.5, 6.5], [1.0, 1.0, 1.4, 1.2], [3.0, 2.5, 1.0, 0.5]]> : tensor<4x4xf64>
  %b = graph.constant dense<[1, 0, 1, 0]> : tensor<4xi64>
  %y = graph.roi_align %x, %r, %b {mode = "max", output_height = 2 : i64, output_width = 3 : i64} : (tensor<2x2x5x4xf64>, tensor<4x4xf64>, tensor<4xi64>) -> tensor<4x2x2x3xf64>
  return %y : tensor<4x2x2x3xf64>
}

func.func @roi_align_max_2(%x: tensor<1x1x5x6xf64>) -> tensor<2x1x3x2xf64> {
  %r = graph.constant dense<[[0.6, 1.2, 6.2, 8.4], [2.0, 2.0, 2.8, 2.4]]> : tensor<2x4xf64>
  %b = graph.constant dense<0> : tensor<2xi64>
  %y = graph.roi_align %x, %r, %b {mode = "max", output_height = 3 : i64, output_width = 2 : i64, sampling_ratio = 2 : i64, spatial_scale = 0.5 : f32, coordinate_transformation_mode = "output_half_pixel"} : (tensor<1x1x5x6xf64>, tensor<2x4xf64>, tensor<2xi64>) -> tensor<2x1x3x2xf64>
  return %y : tensor<2x1x3x2xf64>
}

// The second region's bins lie outside of the image, some of them.
func.func @max_roi_pool(%x: tensor<2x2x5x6xf64>) -> tensor<3x2x2x3xf64> {
  %r = graph.constant dense<[[1.0, 0.0, 0.0, 4.0, 3.0], [0.0, 4.4, 3.6, 7.2, 6.4], [1.0, 2.5, 1.5, 2.5, 1.5]]> : tensor<3x5xf64>
  %y = graph.max_roi_pool %x, %r {pooled_shape = array<i64: 2, 3>} : (tensor<2x2x5x6xf64>, tensor<3x5xf64>) -> tensor<3x2x2x3xf64>
  return %y : tensor<3x2x2x3xf64>
}

func.func @max_roi_pool_2(%x: tensor<1x1x4x5xf64>) -> tensor<2x1x3x2xf64> {
  %r = graph.constant dense<[[0.0, -3.0, -1.0, 9.0, 7.0], [0.0, 1.0, 5.0, 3.0, 2.0]]> : tensor<2x5xf64>
  %y = graph.max_roi_pool %x, %r {pooled_shape = array<i64: 3, 2>, spatial_scale = 0.5 : f32} : (tensor<1x1x4x5xf64>, tensor<2x5xf64>) -> tensor<2x1x3x2xf64>
  return %y : tensor<2x1x3x2xf64>
}

//===-- Deformable convolution ----------------------------------------------===//

func.func @deform_conv(%x: tensor<1x2x3x3xf64>, %w: tensor<2x1x2x2xf64>, %o: tensor<1x16x2x2xf64>, %b: tensor<2xf64>, %m: tensor<1x8x2x2xf64>) -> tensor<1x2x2x2xf64> attributes {test.low = -1.3, test.high = 1.3} {
  %y = graph.deform_conv %x, %w, %o, %b, %m {group = 2 : i64, offset_group = 2 : i64} : (tensor<1x2x3x3xf64>, tensor<2x1x2x2xf64>, tensor<1x16x2x2xf64>, tensor<2xf64>, tensor<1x8x2x2xf64>) -> tensor<1x2x2x2xf64>
  return %y : tensor<1x2x2x2xf64>
}

func.func @deform_conv_2(%x: tensor<2x2x4x3xf64>, %w: tensor<1x2x2x1xf64>, %o: tensor<2x4x2x2xf64>) -> tensor<2x1x2x2xf64> attributes {test.low = -1.3, test.high = 1.3} {
  %n = graph.none : none
  %y = graph.deform_conv %x, %w, %o, %n, %n {strides = array<i64: 2, 3>, pads = array<i64: 1, 1, 0, 0>, dilations = array<i64: 2, 1>} : (tensor<2x2x4x3xf64>, tensor<1x2x2x1xf64>, tensor<2x4x2x2xf64>, none, none) -> tensor<2x1x2x2xf64>
  return %y : tensor<2x1x2x2xf64>
}

// Channels share offsets across groups.
func.func @deform_conv_3(%x: tensor<1x4x2x3xf64>, %w: tensor<2x2x1x2xf64>, %o: tensor<1x4x2x2xf64>, %m: tensor<1x2x2x2xf64>) -> tensor<1x2x2x2xf64> attributes {test.low = -1.3, test.high = 1.3} {
  %n = graph.none : none
  %y = graph.deform_conv %x, %w, %o, %n, %m {group = 2 : i64} : (tensor<1x4x2x3xf64>, tensor<2x2x1x2xf64>, tensor<1x4x2x2xf64>, none, tensor<1x2x2x2xf64>) -> tensor<1x2x2x2xf64>
  return %y : tensor<1x2x2x2xf64>
}

// Each channel has its own; most points lie far outside.
func.func @deform_conv_4(%x: tensor<2x2x3x2xf64>, %w: tensor<3x2x2x1xf64>, %o: tensor<2x8x2x1xf64>, %b: tensor<3xf64>) -> tensor<2x3x2x1xf64> attributes {test.low = -4.0, test.high = 4.0} {
  %n = graph.none : none
  %y = graph.deform_conv %x, %w, %o, %b, %n {offset_group = 2 : i64, strides = array<i64: 3, 2>, pads = array<i64: 0, 0, 2, 0>} : (tensor<2x2x3x2xf64>, tensor<3x2x2x1xf64>, tensor<2x8x2x1xf64>, tensor<3xf64>, none) -> tensor<2x3x2x1xf64>
  return %y : tensor<2x3x2x1xf64>
}

//===-- Blocks and determinants ---------------------------------------------===//

func.func @col2im(%x: tensor<2x8x6xf64>) -> tensor<2x2x4x3xf64> {
  %i = graph.constant dense<[4, 3]> : tensor<2xi64>
  %k = graph.constant dense<[2, 2]> : tensor<2xi64>
  %y = graph.col2im %x, %i, %k : (tensor<2x8x6xf64>, tensor<2xi64>, tensor<2xi64>) -> tensor<2x2x4x3xf64>
  return %y : tensor<2x2x4x3xf64>
}

func.func @col2im_2(%x: tensor<1x3x3xf64>) -> tensor<1x1x6xf64> {
  %i = graph.constant dense<[6]> : tensor<1xi64>
  %k = graph.constant dense<[3]> : tensor<1xi64>
  %y = graph.col2im %x, %i, %k {dilations = array<i64: 2>, strides = array<i64: 2>, pads = array<i64: 1, 2>} : (tensor<1x3x3xf64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x1x6xf64>
  return %y : tensor<1x1x6xf64>
}

//===-- Signals -------------------------------------------------------------===//

func.func @dft(%x: tensor<2x5x2xf64>) -> tensor<2x5x2xf64> {
  %n = graph.none : none
  %a = graph.constant dense<1> : tensor<i64>
  %y = graph.dft %x, %n, %a : (tensor<2x5x2xf64>, none, tensor<i64>) -> tensor<2x5x2xf64>
  return %y : tensor<2x5x2xf64>
}

func.func @dft_2(%x: tensor<4x2x1xf64>) -> tensor<4x2x2xf64> {
  %l = graph.constant dense<6> : tensor<i64>
  %a = graph.constant dense<0> : tensor<i64>
  %y = graph.dft %x, %l, %a {onesided = true} : (tensor<4x2x1xf64>, tensor<i64>, tensor<i64>) -> tensor<4x2x2xf64>
  return %y : tensor<4x2x2xf64>
}

func.func @dft_3(%x: tensor<1x6x2xf64>) -> tensor<1x4x2xf64> {
  %n = graph.none : none
  %l = graph.constant dense<4> : tensor<i64>
  %y = graph.dft %x, %l, %n {inverse = true} : (tensor<1x6x2xf64>, tensor<i64>, none) -> tensor<1x4x2xf64>
  return %y : tensor<1x4x2xf64>
}

func.func @dft_4(%x: tensor<1x4x2xf64>) -> tensor<1x6x1xf64> {
  %n = graph.none : none
  %y = graph.dft %x, %n, %n {inverse = true, onesided = true} : (tensor<1x4x2xf64>, none, none) -> tensor<1x6x1xf64>
  return %y : tensor<1x6x1xf64>
}

func.func @dft_5(%x: tensor<1x2x2xf64>) -> tensor<1x5x1xf64> {
  %n = graph.none : none
  %l = graph.constant dense<5> : tensor<i64>
  %y = graph.dft %x, %l, %n {inverse = true, onesided = true} : (tensor<1x2x2xf64>, tensor<i64>, none) -> tensor<1x5x1xf64>
  return %y : tensor<1x5x1xf64>
}

func.func @stft(%x: tensor<2x9x1xf64>, %w: tensor<4xf64>) -> tensor<2x3x3x2xf64> {
  %s = graph.constant dense<2> : tensor<i64>
  %n = graph.none : none
  %y = graph.stft %x, %s, %w, %n : (tensor<2x9x1xf64>, tensor<i64>, tensor<4xf64>, none) -> tensor<2x3x3x2xf64>
  return %y : tensor<2x3x3x2xf64>
}

func.func @stft_2(%x: tensor<1x7x2xf64>) -> tensor<1x2x3x2xf64> {
  %s = graph.constant dense<4> : tensor<i64>
  %l = graph.constant dense<3> : tensor<i64>
  %n = graph.none : none
  %y = graph.stft %x, %s, %n, %l {onesided = false} : (tensor<1x7x2xf64>, tensor<i64>, none, tensor<i64>) -> tensor<1x2x3x2xf64>
  return %y : tensor<1x2x3x2xf64>
}

// Frames overlap and leave the last element out.
func.func @stft_3(%x: tensor<1x9x1xf64>, %w: tensor<5xf64>) -> tensor<1x2x5x2xf64> {
  %s = graph.constant dense<3> : tensor<i64>
  %l = graph.constant dense<5> : tensor<i64>
  %y = graph.stft %x, %s, %w, %l {onesided = false} : (tensor<1x9x1xf64>, tensor<i64>, tensor<5xf64>, tensor<i64>) -> tensor<1x2x5x2xf64>
  return %y : tensor<1x2x5x2xf64>
}
