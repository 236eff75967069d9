// SPDX-License-Identifier: Apache-2.0
//
// Choices of boxes one by one, the best first: non_max_suppression and
// suppress_boxes keep those that don't overlap a better one too much,
// match_pairs gives each to one partner.

#include "Families.h"
#include "Parameter.h"
#include "ShapeRule.h"

#include <algorithm>
#include <cinttypes>

using namespace dlc::rt;
using namespace dlc::rt::ref;

static constexpr TypeSet boxTypes{1u << DLC_F32 | 1u << DLC_F64, "f32 or f64"};
static constexpr TypeSet f32Type{1u << DLC_F32, "f32"};

static Status checkScalar(const InferContext &context, size_t index,
                          TypeSet types) {
  const TensorType &type = context.operand(index).type;
  DLC_RETURN_IF_ERROR(checkType(context, index, types));
  bool isOne = !type.hasRank || type.shape.empty() ||
               (type.rank() == 1 && (type.shape[0] < 0 || type.shape[0] == 1));
  if (isOne)
    return Status::ok();
  return DLC_INVALID("operand %zu: expected one value, got %s", index,
                     toString(type).c_str());
}

static Status checkBoxFormat(const Attributes &attributes) {
  int64_t format = attributes.getInt("center_point_box", 0);
  if (format == 0 || format == 1)
    return Status::ok();
  return DLC_INVALID("expected center_point_box 0 or 1, got %" PRId64, format);
}

//===----------------------------------------------------------------------===//
// Greedy suppression
//===----------------------------------------------------------------------===//

namespace {
template <typename T> struct Box {
  T low[2], high[2];
  T area;
  int64_t group = 0;
};

/// The boxes of one batch that were kept so far.
template <typename T> class Suppressor {
public:
  Suppressor(T threshold, bool isInclusive)
      : threshold(threshold), extra(isInclusive ? 1 : 0) {}

  /// Keeps the box unless one of its group overlaps it.
  bool keep(const Box<T> &box) {
    bool isFree = std::ranges::none_of(boxes, [&](const Box<T> &other) {
      return other.group == box.group && overlapOf(other, box) > threshold;
    });
    if (isFree)
      boxes.push_back(box);
    return isFree;
  }
  size_t size() const { return boxes.size(); }

private:
  T extentOf(const Box<T> &a, const Box<T> &b, int axis) const {
    T extent = std::min(a.high[axis], b.high[axis]) -
               std::max(a.low[axis], b.low[axis]) + extra;
    return extent > 0 ? extent : 0;
  }
  /// Intersection over union; a NaN, which is above no threshold, of two boxes
  /// without area.
  T overlapOf(const Box<T> &a, const Box<T> &b) const {
    T common = extentOf(a, b, 0) * extentOf(a, b, 1);
    return common / (a.area + b.area - common);
  }

  std::vector<Box<T>> boxes;
  T threshold, extra;
};
} // namespace

template <typename T>
static Box<T> makeBox(const T *numbers, bool isCentered, bool isInclusive) {
  T extra = isInclusive ? 1 : 0;
  Box<T> box;
  T extents[2];
  for (int i : {0, 1}) {
    T first = numbers[i], second = numbers[i + 2];
    box.low[i] = isCentered ? first - second / 2 : first;
    box.high[i] = isCentered ? first + second / 2 : second;
    extents[i] = isCentered ? second : second - first + extra;
  }
  box.area = extents[0] < 0 || extents[1] < 0 ? 0 : extents[0] * extents[1];
  return box;
}

//===----------------------------------------------------------------------===//
// non_max_suppression
//===----------------------------------------------------------------------===//

namespace {
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

static Status inferNonMaxSuppression(const InferContext &context,
                                     std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 5));
  for (size_t i : {0, 1}) {
    DLC_RETURN_IF_ERROR(checkType(context, i, f32Type));
    DLC_RETURN_IF_ERROR(checkRank(context, i, 3));
  }
  std::optional<int64_t> most;
  DLC_RETURN_IF_ERROR(readScalar(context, 2, most));
  DLC_RETURN_IF_ERROR(checkScalar(context, 3, f32Type));
  DLC_RETURN_IF_ERROR(checkScalar(context, 4, f32Type));
  const TensorType &boxes = context.operand(0).type;
  const TensorType &scores = context.operand(1).type;
  int64_t batches = scores.hasRank ? scores.shape[0] : kUnknownDim;
  int64_t count = scores.hasRank ? scores.shape[2] : kUnknownDim;
  int64_t wanted[] = {batches, count, 4};
  if (!mayHaveShape(boxes, wanted))
    return DLC_INVALID("operand 0: expected boxes of shape %s, got %s",
                       toString({DLC_F32, {batches, count, 4}}).c_str(),
                       toString(boxes).c_str());
  DLC_RETURN_IF_ERROR(checkBoxFormat(context.attrs()));
  return addResult(results, {DLC_I64, {kUnknownDim, 3}});
}

static Box<float> boxAt(const Question &question, int64_t batch,
                        int64_t index) {
  const float *b = question.boxes + (batch * question.boxCount + index) * 4;
  if (question.isCentered)
    return makeBox(b, /*isCentered=*/true, /*isInclusive=*/false);
  // Corners may come in any order.
  float corners[4] = {std::min(b[0], b[2]), std::min(b[1], b[3]),
                      std::max(b[0], b[2]), std::max(b[1], b[3])};
  return makeBox(corners, /*isCentered=*/false, /*isInclusive=*/false);
}

static void selectOfClass(const Question &question, int64_t batch,
                          int64_t classIndex, Selection &selection) {
  const float *scores =
      question.scores +
      (batch * question.classes + classIndex) * question.boxCount;
  // A NaN is no better than any threshold, so the order below is total.
  std::vector<int64_t> candidates;
  for (int64_t i = 0; i < question.boxCount; ++i)
    if (scores[i] > question.scoreThreshold)
      candidates.push_back(i);
  std::ranges::sort(candidates, [&](int64_t a, int64_t b) {
    return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
  });
  Suppressor<float> kept(question.overlapThreshold, /*isInclusive=*/false);
  for (int64_t candidate : candidates) {
    if (static_cast<int64_t>(kept.size()) >= question.most)
      return;
    if (kept.keep(boxAt(question, batch, candidate)))
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

//===----------------------------------------------------------------------===//
// suppress_boxes
//===----------------------------------------------------------------------===//

/// Makes `known` the dimensions of operand `index`, as far as there are any.
static Status mergeShape(const InferContext &context, size_t index,
                         std::span<int64_t> known) {
  const TensorType &type = context.operand(index).type;
  if (!context.isPresent(index) || !type.hasRank)
    return Status::ok();
  for (size_t axis = 0; axis < known.size(); ++axis)
    if (!mergeDim(known[axis], type.shape[axis]))
      return DLC_INVALID("operand %zu: expected %" PRId64
                         " in dimension %zu, got %" PRId64,
                         index, known[axis], axis, type.shape[axis]);
  return Status::ok();
}

static Status inferSuppressBoxes(const InferContext &context,
                                 std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 3, 4));
  DLC_RETURN_IF_ERROR(checkType(context, 0, boxTypes));
  DLC_RETURN_IF_ERROR(checkRank(context, 0, 3));
  DLC_RETURN_IF_ERROR(checkType(context, 1, boolType));
  DLC_RETURN_IF_ERROR(checkRank(context, 1, 2));
  DLC_RETURN_IF_ERROR(checkScalar(context, 2, boxTypes));
  DLC_RETURN_IF_ERROR(checkSameType(context, 0, 2));
  DLC_RETURN_IF_ERROR(checkType(context, 3, i64Type));
  DLC_RETURN_IF_ERROR(checkRank(context, 3, 2));
  int64_t shape[] = {kUnknownDim, kUnknownDim, 4};
  DLC_RETURN_IF_ERROR(mergeShape(context, 0, shape));
  std::span<int64_t> pair = std::span(shape).first(2);
  DLC_RETURN_IF_ERROR(mergeShape(context, 1, pair));
  DLC_RETURN_IF_ERROR(mergeShape(context, 3, pair));
  DLC_RETURN_IF_ERROR(checkBoxFormat(context.attrs()));
  if (context.attrs().getInt("inclusive", 0) &&
      context.attrs().getInt("center_point_box", 0))
    return DLC_INVALID("expected corners to be inclusive, got centers");
  return addResult(results, {DLC_BOOL, {shape[0], shape[1]}});
}

template <typename T> static void suppressBoxes(ComputeContext &context) {
  const TensorView &boxes = context.input(0);
  const auto *isCandidate = context.input(1).as<uint8_t>();
  const auto *groups =
      context.isPresent(3) ? context.input(3).as<int64_t>() : nullptr;
  auto *isKept = context.output(0).as<uint8_t>();
  bool isCentered = context.attrs().getInt("center_point_box", 0) == 1;
  bool isInclusive = context.attrs().getInt("inclusive", 0) != 0;
  for (int64_t batch = 0; batch < boxes.shape[0]; ++batch) {
    Suppressor<T> kept(*context.input(2).as<T>(), isInclusive);
    for (int64_t i = 0; i < boxes.shape[1]; ++i) {
      int64_t at = batch * boxes.shape[1] + i;
      Box<T> box = makeBox(boxes.as<T>() + at * 4, isCentered, isInclusive);
      if (groups)
        box.group = groups[at];
      isKept[at] = isCandidate[at] && kept.keep(box);
    }
  }
}

static Status computeSuppressBoxes(ComputeContext &context) {
  DLC_RETURN_IF_ERROR(checkOutputs(context, inferSuppressBoxes));
  if (context.output(0).size() == 0)
    return Status::ok();
  if (context.input(0).type == DLC_F64)
    suppressBoxes<double>(context);
  else
    suppressBoxes<float>(context);
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// match_pairs
//===----------------------------------------------------------------------===//

static Status inferMatchPairs(const InferContext &context,
                              std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 2));
  DLC_RETURN_IF_ERROR(checkType(context, 0, boxTypes));
  DLC_RETURN_IF_ERROR(checkRank(context, 0, 3));
  DLC_RETURN_IF_ERROR(checkScalar(context, 1, boxTypes));
  DLC_RETURN_IF_ERROR(checkSameType(context, 0, 1));
  if (int64_t limit = context.attrs().getInt("limit", 0); limit < 0)
    return DLC_INVALID("expected a limit of at least 0, got %" PRId64, limit);
  int64_t shape[] = {kUnknownDim, kUnknownDim, kUnknownDim};
  DLC_RETURN_IF_ERROR(mergeShape(context, 0, shape));
  DLC_RETURN_IF_ERROR(addResult(results, {DLC_I64, {shape[0], shape[1]}}));
  return addResult(results, {DLC_I64, {shape[0], shape[2]}});
}

/// Fills the places of one batch, which hold -1.
template <typename T>
static void matchPairs(const T *scores, T threshold, int64_t limit,
                       std::span<int64_t> columns, std::span<int64_t> rows) {
  auto width = static_cast<int64_t>(rows.size());
  auto count = static_cast<int64_t>(columns.size()) * width;
  std::vector<int64_t> pairs;
  for (int64_t i = 0; i < count; ++i)
    if (scores[i] > threshold)
      pairs.push_back(i);
  std::ranges::sort(pairs, [&](int64_t a, int64_t b) {
    return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
  });
  int64_t made = 0;
  for (int64_t pair : pairs) {
    int64_t &column = columns[pair / width], &row = rows[pair % width];
    if (column >= 0 || row >= 0)
      continue;
    column = pair % width;
    row = pair / width;
    if (++made == limit)
      return;
  }
}

template <typename T> static void matchPairs(ComputeContext &context) {
  const TensorView &scores = context.input(0);
  int64_t height = scores.shape[1], width = scores.shape[2];
  std::span columns(context.output(0).as<int64_t>(), context.output(0).size());
  std::span rows(context.output(1).as<int64_t>(), context.output(1).size());
  std::ranges::fill(columns, -1);
  std::ranges::fill(rows, -1);
  for (int64_t i = 0; scores.size() && i < scores.shape[0]; ++i)
    matchPairs(scores.as<T>() + i * height * width, *context.input(1).as<T>(),
               context.attrs().getInt("limit", 0),
               columns.subspan(i * height, height),
               rows.subspan(i * width, width));
}

static Status computeMatchPairs(ComputeContext &context) {
  DLC_RETURN_IF_ERROR(checkOutputs(context, inferMatchPairs));
  if (context.input(0).type == DLC_F64)
    matchPairs<double>(context);
  else
    matchPairs<float>(context);
  return Status::ok();
}

std::span<const Operation> ref::detectionOperations() {
  static constexpr Operation table[] = {
      {"match_pairs", inferMatchPairs, computeMatchPairs},
      {"non_max_suppression", inferNonMaxSuppression, computeNonMaxSuppression,
       /*allocatesResults=*/true},
      {"suppress_boxes", inferSuppressBoxes, computeSuppressBoxes},
  };
  return table;
}
