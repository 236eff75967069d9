# SPDX-License-Identifier: Apache-2.0
"""Boxes: what of them is kept, matched and proposed."""

import numpy as np

from .recorder import distinct, normal, positive, random, raw, whole


def detections():
    def boxes(*shape):
        """Corners in the unit square, of which many overlap."""
        low = random.randint(0, 10, shape + (2,)) / 16
        return np.concatenate([low, low + random.randint(3, 8, shape + (2,)) / 16], -1)

    def rows(*shape, classes=3):
        """Classes, scores of which some are equal, and boxes."""
        ids = random.randint(-1, classes, shape + (1,))
        return np.concatenate([ids, random.randint(0, 12, shape + (1,)) / 8, boxes(*shape)], -1).astype("float32")

    data = rows(2, 9)
    nms = "_contrib_box_nms"
    raw(nms, data)
    raw(nms, data, id_index=0, overlap_thresh=0.25)
    raw(nms, data, id_index=0, force_suppress=True, background_id=1, valid_thresh=0.3)
    raw(nms, data, topk=4, overlap_thresh=0.1)
    raw(nms, data, topk=0, out_format="center")
    raw(nms, data, valid_thresh=5)
    raw(nms, data, overlap_thresh=0)
    raw(nms, data, overlap_thresh=0.3, out_format="center")
    raw(nms, np.round(data * 16 - 3), in_format="center", overlap_thresh=0.2, valid_thresh=0)
    raw(nms, np.round(data * 16 - 3), in_format="center", out_format="corner", overlap_thresh=0.2, id_index=0)
    raw(nms, data.reshape(1, 2, 3, 3, 6)[..., [2, 3, 4, 5, 1]], coord_start=0, score_index=4, overlap_thresh=0.2)
    raw(nms, data[0].astype("float64"), overlap_thresh=0.2)
    holes = data[0].copy()
    holes[[1, 4], 1] = np.nan
    holes[2, 1] = np.inf
    holes[5, 4:] = holes[5, 2:4] - 1
    raw(nms, holes, overlap_thresh=0.2)

    matching = "_contrib_bipartite_matching"
    scores = (random.randint(0, 8, (2, 4, 3)) / 8).astype("float32")
    raw(matching, scores, threshold=0.3)
    raw(matching, scores, threshold=0.6, is_ascend=True)
    raw(matching, scores[0], threshold=0, topk=1)
    raw(matching, scores[1].T.copy(), threshold=2)

    anchors = boxes(1, 8).astype("float32")
    logits = normal(2, 3, 8)
    logits[0, :, :4] = logits[0, :, :1]
    chances = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    moves = normal(2, 32) / 4
    detection = "_contrib_MultiBoxDetection"
    raw(detection, chances, moves, anchors)
    raw(detection, chances, moves, anchors, threshold=0.4, nms_threshold=0.3, force_suppress=True, clip=False)
    raw(detection, chances, moves, anchors, nms_topk=3, nms_threshold=0.2, variances=(0.2, 0.1, 0.3, 0.2))
    raw(detection, chances, moves, anchors, nms_topk=5, threshold=0.5, background_id=1)
    raw(detection, chances, moves, anchors, nms_threshold=2, threshold=0.4)
    raw(detection, chances, moves, anchors, threshold=1)
    raw(detection, chances, 0 * moves, anchors[:, [0, 0, 1, 1, 2, 2, 3, 3]], nms_threshold=1)
    raw(detection, np.where(chances > 0.6, np.nan, chances), moves, anchors)

    labels = np.concatenate([whole(2, 3, 1), boxes(2, 3)], -1).astype("float32")
    labels[0, 2:] = -1
    target = "_contrib_MultiBoxTarget"
    raw(target, anchors, labels, logits)
    raw(target, anchors, labels, logits, overlap_threshold=0.2, negative_mining_ratio=1.5, ignore_label=-2)
    raw(target, anchors, labels, logits, negative_mining_ratio=3, negative_mining_thresh=0.4, variances=(1, 1, 0.5, 2))
    raw(target, anchors, labels, logits, overlap_threshold=-1)
    raw(target, anchors, np.full((1, 2, 5), -1, "float32"), logits[:1])
    raw(target, anchors, np.concatenate([labels[:, :1], labels[:, :1], labels], 1), logits)

    samples = np.array([[1, -1, 0, 1], [0.25, 1, 0.75, -1]], "float32")
    raw("_contrib_box_encode", samples, whole(2, 4, high=3), boxes(2, 4).astype("float32"),
        boxes(2, 3).astype("float32"), normal(4) / 8, positive(4))

    maps = dict(scales="(2, 4)", ratios="(0.5, 1)", feature_stride=8, rpn_min_size=4)
    chances, moves = positive(2, 8, 2, 3) / 4, normal(2, 16, 2, 3) / 8
    info = np.array([[16, 24, 1], [9, 22, 1.5]], "float32")
    one = [chances[:1], moves[:1], info[:1]]
    for name, arrays in ("_contrib_Proposal", one), ("_contrib_MultiProposal", [chances, moves, info]):
        raw(name, *arrays, rpn_pre_nms_top_n=20, rpn_post_nms_top_n=6, output_score=True, **maps)
        raw(name, *arrays, rpn_pre_nms_top_n=0, rpn_post_nms_top_n=12, threshold=0.3, **maps)
    raw("_contrib_Proposal", *one, rpn_post_nms_top_n=9, iou_loss=True, output_score=True, **maps)
    raw("_contrib_Proposal", *one, rpn_post_nms_top_n=5, output_score=True, scales="(2,)", ratios="(0.5, 1, 2, 3)",
        feature_stride=8, rpn_min_size=20)

    # Of which differences tell the gradient.
    alone = rows(8)
    alone[:, 1] = distinct(8) + 3
    raw(nms, alone, overlap_thresh=0.21)
