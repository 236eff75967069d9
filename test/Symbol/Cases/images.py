# SPDX-License-Identifier: Apache-2.0
"""Samples, regions, windows and pixels of images."""

import numpy as np

from .recorder import normal, positive, random, raw


def spatial():
    data = normal(1, 2, 5, 6)
    for size in "()", "(3,)", "(2, 4)", "(7, 6)":
        raw("_contrib_AdaptiveAvgPooling2D", data, output_size=size)
    raw("_contrib_BilinearResize2D", data, height=3, width=9)
    raw("_contrib_BilinearResize2D", data, height=7, width=4, align_corners=False)
    raw("_contrib_BilinearResize2D", data, scale_height=2, scale_width=0.5)
    raw("_contrib_BilinearResize2D", data, normal(1, 1, 4, 4), mode="like")
    raw("_contrib_BilinearResize2D", data, mode="to_even_up")
    theta = np.array([[1, 0.25, 0.125, -0.25, 0.75, 0]], "float32")
    raw("GridGenerator", theta, transform_type="affine", target_shape=(3, 4))
    raw("GridGenerator", normal(1, 2, 3, 4), transform_type="warp")
    raw("BilinearSampler", data, np.clip(normal(1, 2, 3, 3), -1.5, 1.5) / 1.5)
    raw("SpatialTransformer", data, theta, target_shape=(4, 4), transform_type="affine", sampler_type="bilinear")
    raw("_contrib_ModulatedDeformableConvolution", normal(1, 2, 4, 4), normal(1, 8, 3, 3) / 4, positive(1, 4, 3, 3),
        normal(2, 2, 2, 2), kernel=(2, 2), num_filter=2, no_bias=True)
    rois = np.array([[0, 0, 0, 3, 3], [0, 1, 2, 5, 4]], "float32")
    raw("ROIPooling", data, rois, pooled_size=(2, 2), spatial_scale=1)
    raw("ROIPooling", data, rois, pooled_size=(2, 3), spatial_scale=0.5)
    raw("_contrib_ROIAlign", data, rois, pooled_size=(2, 2), spatial_scale=1, sample_ratio=2)
    raw("_contrib_ROIAlign", data, rois, pooled_size=(2, 2), spatial_scale=0.5, aligned=True)
    boxes = np.array([[0, 0, 2, 2], [1, 1, 3, 4], [5, 5, 6, 6]], "float32")
    raw("_contrib_box_iou", boxes, boxes[:2] + 0.5)
    raw("_contrib_box_iou", boxes[:, None], boxes, format="center")
    raw("_contrib_box_decode", normal(1, 3, 4) / 4, (boxes[None] + [[[0, 0, 1, 1]]]).astype("float32"), std0=0.1, std2=0.2)
    raw("_contrib_box_decode", normal(1, 3, 4), boxes[None], format="corner", clip=0.5)
    raw("_contrib_MultiBoxPrior", normal(1, 1, 2, 3), sizes=(0.5, 0.25), ratios=(1, 2, 0.5))
    raw("_contrib_MultiBoxPrior", normal(1, 1, 2, 2), sizes=(0.75,), clip=True, offsets=(0.25, 0.5), steps=(0.5, 0.25))


def neighbours():
    first, second = normal(1, 2, 4, 5), normal(1, 2, 4, 5)
    raw("Correlation", first, second)
    raw("Correlation", first, second, kernel_size=3, max_displacement=2, stride2=2, pad_size=2)
    raw("Correlation", first, second, max_displacement=3, stride1=2, stride2=2, pad_size=3, is_multiply=False)
    raw("_contrib_DeformableConvolution", normal(1, 2, 4, 4), normal(1, 8, 3, 3), normal(2, 2, 2, 2), kernel=(2, 2),
        num_filter=2, no_bias=True)
    raw("_contrib_DeformableConvolution", normal(1, 4, 4, 4), normal(1, 36, 2, 2) / 2, normal(2, 2, 3, 3), normal(2),
        kernel=(3, 3), num_filter=2, num_group=2, num_deformable_group=2, stride=(2, 2), pad=(1, 1), dilate=(1, 1))


def parts_of_regions():
    rois = np.array([[0, 0, 0, 3, 3], [1, 1.5, 2, 5, 4], [0, 2, 1, 1, 0], [1, 7, 6, 9, 9]], "float32")
    raw("_contrib_PSROIPooling", normal(2, 4, 4, 6), rois, spatial_scale=1, output_dim=1, pooled_size=2)
    raw("_contrib_PSROIPooling", normal(2, 8, 3, 4), rois, spatial_scale=0.5, output_dim=2, pooled_size=3, group_size=2)
    raw("_contrib_ROIAlign", normal(2, 6, 3, 4), rois[:2], pooled_size=(2, 3), spatial_scale=0.5, sample_ratio=2,
        position_sensitive=True)
    raw("_contrib_ROIAlign", normal(2, 4, 5, 5), rois[:2], pooled_size=(2, 2), spatial_scale=1, position_sensitive=True,
        aligned=True)
    turned = np.array([[0, 3, 2.5, 4, 3, 0], [1, 2.5, 3, 5, 2.5, 30], [1, 4, 1, 3, 6, -75], [0, 0.25, 5, 0.5, 9, 190]],
                      "float32")
    raw("_contrib_RROIAlign", normal(2, 2, 4, 5), turned, pooled_size=(2, 2), spatial_scale=1, sampling_ratio=2)
    raw("_contrib_RROIAlign", normal(2, 1, 4, 4), turned, pooled_size=(3, 2), spatial_scale=0.75, sampling_ratio=1)


def small_regions():
    """Of which differences tell the gradient."""
    rois = np.array([[0, 0, 1, 3, 2], [0, 1, 0, 2, 1]], "float32")
    raw("_contrib_PSROIPooling", normal(1, 4, 3, 4), rois, spatial_scale=1, output_dim=1, pooled_size=2)


def pixels():
    def image(*shape, dtype="uint8"):
        return random.randint(0, 256, shape).astype(dtype)

    raw("_image_to_tensor", image(3, 4, 3))
    raw("_image_to_tensor", image(2, 3, 2, 1, dtype="float32"))
    raw("_image_normalize", normal(3, 2, 4), mean=(0.5, 0.25, 1), std=(2, 0.5, 0.25))
    raw("_image_normalize", normal(2, 1, 3, 2), mean=(0.5,), std=(2,))
    raw("_image_crop", image(5, 6, 3), x=1, y=2, width=3, height=2)
    raw("_image_crop", normal(2, 4, 3, 1), x=0, y=1, width=3, height=3)
    # Of odd extents MXNet forgets the middle.
    for name in "_image_flip_left_right", "_image_flip_top_bottom":
        raw(name, image(2, 4, 3))
        raw(name, normal(4, 2, 1))
    # NumPy's names are of the same.
    raw("_npx__image_normalize", normal(3, 2, 2), mean=(0.5,), std=(2,))


def columns():
    raw("im2col", normal(2, 2, 4, 5), kernel=(2, 3))
    raw("im2col", normal(1, 2, 5, 4), kernel=(3, 2), stride=(2, 1), dilate=(1, 2), pad=(1, 1))
    raw("col2im", normal(2, 12, 9), kernel=(2, 3), output_size=(4, 5))
    raw("col2im", normal(1, 12, 12), kernel=(3, 2), stride=(2, 1), dilate=(1, 2), pad=(1, 1), output_size=(5, 4))
    raw("col2im", normal(1, 4, 6), kernel=(2, 2), stride=(2, 2), output_size=(5, 6))


def sizes():
    image = random.randint(0, 256, (5, 4, 3)).astype("uint8")
    # Width and height; larger, smaller, by half, and both.
    for size in (7, 6), (3, 2), (2, 5), (4, 5), (9, 1):
        raw("_image_resize", image, size=size)
        raw("_image_resize", normal(5, 4, 2), size=size)
        raw("_image_resize", image, size=size, interp=0)
    raw("_image_resize", random.randint(0, 256, (2, 6, 4, 1)).astype("uint8"), size=(2, 3))
    raw("_image_resize", image, size=(3,), keep_ratio=True)
    raw("_image_resize", normal(3, 5, 1), size=(4,), keep_ratio=True)
    raw("_npx__image_resize", normal(2, 1, 1), size=(3,))


def halves():
    """Exactly half, for which OpenCV has ways of its own by channels; and the
    same size."""
    for channels in 1, 2, 3, 4, 5:
        raw("_image_resize", random.randint(0, 256, (6, 8, channels)).astype("uint8"), size=(4, 3))
    raw("_image_resize", random.randint(0, 256, (2, 4, 6, 2)).astype("uint8"), size=(3, 2))
    raw("_image_resize", random.randint(0, 256, (4, 6, 2)).astype("uint8"), size=(3, 4))
    raw("_image_resize", normal(4, 6, 2), size=(3, 2))
    raw("_image_resize", normal(4, 4, 5), size=(2, 2))
    infinite = normal(3, 3, 1)
    infinite[0, 0] = infinite[2, 1] = np.inf
    raw("_image_resize", infinite, size=(3, 3))
    raw("_image_resize", random.randint(0, 256, (3, 4, 2)).astype("uint8"), size=(4, 3))
