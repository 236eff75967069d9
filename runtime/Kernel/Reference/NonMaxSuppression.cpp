// SPDX-License-Identifier: Apache-2.0
//
// non_max_suppression: the best boxes of each class that don't overlap a
// better one too much.

#include "Families.h"
#include "Parameter.h"
#include "ShapeRule.h"

#include <algorithm>
#include <cinttypes>

using namespace dlc::rt;
using namespace dlc::rt::ref;

namespace {
struct Box {
  float yMin, xMin, yMax, xMax;
};

/// The values of the operands and attributes.
struct Question {
  const float *boxes, *scores;
  int64_t batches, classes, boxCount;
  int64_t most;
  float overlapThreshold, scoreThreshold;
  bool isCentered;
};

/// Rows [batch, class, box] of the result.
using Selection = std::vector<int64_t>;
} // namespace

static Status checkScalar(const InferContext &context, size_t index) {
  const TensorType &type = context.operand(index).type;
  DLC_RETURN_IF_ERROR(checkType(context, index, {1u << DLC_F32, "f32"}));
  bool isOne = !type.hasRank || type.shape.empty() ||
               (type.rank() == 1 && (type.shape[0] < 0 || type.shape[0] == 1));
  if (isOne)
    return Status::ok();
  return DLC_INVALID("operand %zu: expected one value, got %s", index,
                     toString(type).c_str());
}

static Status inferNonMaxSuppression(const InferContext &context,
                                     std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 5));
  for (size_t i : {0, 1}) {
    DLC_RETURN_IF_ERROR(checkType(context, i, {1u << DLC_F32, "f32"}));
    DLC_RETURN_IF_ERROR(checkRank(context, i, 3));
  }
  std::optional<int64_t> most;
  DLC_RETURN_IF_ERROR(readScalar(context, 2, most));
  DLC_RETURN_IF_ERROR(checkScalar(context, 3));
  DLC_RETURN_IF_ERROR(checkScalar(context, 4));
  const TensorType &boxes = context.operand(0).type;
  const TensorType &scores = context.operand(1).type;
  int64_t batches = scores.hasRank ? scores.shape[0] : kUnknownDim;
  int64_t count = scores.hasRank ? scores.shape[2] : kUnknownDim;
  int64_t wanted[] = {batches, count, 4};
  if (!mayHaveShape(boxes, wanted))
    return DLC_INVALID("operand 0: expected boxes of shape %s, got %s",
                       toString({DLC_F32, {batches, count, 4}}).c_str(),
                       toString(boxes).c_str());
  int64_t format = context.attrs().getInt("center_point_box", 0);
  if (format != 0 && format != 1)
    return DLC_INVALID("expected center_point_box 0 or 1, got %" PRId64,
                       format);
  return addResult(results, {DLC_I64, {kUnknownDim, 3}});
}

static Box boxAt(const Question &question, int64_t batch, int64_t index) {
  const float *b = question.boxes + (batch * question.boxCount + index) * 4;
  if (question.isCentered)
    return {b[1] - b[3] / 2, b[0] - b[2] / 2, b[1] + b[3] / 2, b[0] + b[2] / 2};
  return {std::min(b[0], b[2]), std::min(b[1], b[3]), std::max(b[0], b[2]),
          std::max(b[1], b[3])};
}

/// Intersection over union; 0 for boxes without area.
static float overlapOf(const Box &a, const Box &b) {
  float width = std::min(a.xMax, b.xMax) - std::max(a.xMin, b.xMin);
  float height = std::min(a.yMax, b.yMax) - std::max(a.yMin, b.yMin);
  float areaA = (a.xMax - a.xMin) * (a.yMax - a.yMin);
  float areaB = (b.xMax - b.xMin) * (b.yMax - b.yMin);
  if (!(width > 0 && height > 0 && areaA > 0 && areaB > 0))
    return 0;
  float common = width * height;
  return common / (areaA + areaB - common);
}

static void selectOfClass(const Question &question, int64_t batch,
                          int64_t classIndex, Selection &selection) {
  const float *scores =
      question.scores +
      (batch * question.classes + classIndex) * question.boxCount;
  // A NaN is no better than any threshold, so the order below is total.
  std::vector<int64_t> candidates, kept;
  for (int64_t i = 0; i < question.boxCount; ++i)
    if (scores[i] > question.scoreThreshold)
      candidates.push_back(i);
  std::ranges::sort(candidates, [&](int64_t a, int64_t b) {
    return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
  });
  for (int64_t candidate : candidates) {
    if (static_cast<int64_t>(kept.size()) >= question.most)
      return;
    Box box = boxAt(question, batch, candidate);
    bool overlaps = std::ranges::any_of(kept, [&](int64_t other) {
      return overlapOf(box, boxAt(question, batch, other)) >
             question.overlapThreshold;
    });
    if (overlaps)
      continue;
    kept.push_back(candidate);
    selection.insert(selection.end(), {batch, classIndex, candidate});
  }
}

static Status computeNonMaxSuppression(ComputeContext &context) {
  const TensorView &scores = context.input(1);
  Question question{context.input(0).as<float>(),
                    scores.as<float>(),
                    scores.shape[0],
                    scores.shape[1],
                    scores.shape[2],
                    context.intsOf(2).front(),
                    *context.input(3).as<float>(),
                    *context.input(4).as<float>(),
                    context.attrs().getInt("center_point_box", 0) == 1};
  Selection selection;
  for (int64_t batch = 0; scores.size() && batch < question.batches; ++batch)
    for (int64_t i = 0; i < question.classes; ++i)
      selectOfClass(question, batch, i, selection);
  int64_t shape[] = {static_cast<int64_t>(selection.size() / 3), 3};
  DLC_RETURN_IF_ERROR(context.allocate(0, shape));
  std::ranges::copy(selection, context.output(0).as<int64_t>());
  return Status::ok();
}

std::span<const Operation> ref::detectionOperations() {
  static constexpr Operation table[] = {
      {"non_max_suppression", inferNonMaxSuppression, computeNonMaxSuppression},
  };
  return table;
}
