// SPDX-License-Identifier: Apache-2.0
//
// Operations that write elements by index into a copy of their operand:
// scatter_elements, scatter_nd, tensor_scatter.

#include "Element.h"
#include "Families.h"
#include "Index.h"
#include "Walk.h"

#include <algorithm>
#include <cstring>

using namespace dlc::rt;
using namespace dlc::rt::ref;

//===----------------------------------------------------------------------===//
// Writing with a reduction
//===----------------------------------------------------------------------===//

namespace {
enum class Reduction { None, Add, Mul, Max, Min };

/// Writes elements of one tensor over those of another.
struct Writer {
  const TensorView &source, &target;
  Reduction reduction;

  Status write(uint64_t to, uint64_t from, int64_t count) const;
  template <typename E> void reduce(uint64_t to, uint64_t from) const;
};
} // namespace

static Status readReduction(const Attributes &attributes,
                            Reduction &reduction) {
  static constexpr std::string_view names[] = {"none", "add", "mul", "max",
                                               "min"};
  std::string_view name = attributes.getString("reduction", "none");
  for (size_t i = 0; i < std::size(names); ++i) {
    if (name == names[i]) {
      reduction = static_cast<Reduction>(i);
      return Status::ok();
    }
  }
  return DLC_INVALID("expected reduction none, add, mul, max or min, got %s",
                     std::string(name).c_str());
}

/// Integers wrap and NaN wins; bool adds as "or" and multiplies as "and".
template <typename E>
static typename E::Wide reduceOnce(Reduction reduction, typename E::Wide a,
                                   typename E::Wide b) {
  using Sum = Accumulator<E>;
  switch (reduction) {
  case Reduction::None:
    return b;
  case Reduction::Add:
    return static_cast<typename E::Wide>(Sum(a) + Sum(b));
  case Reduction::Mul:
    return static_cast<typename E::Wide>(Sum(a) * Sum(b));
  case Reduction::Max:
    return a < b || b != b ? b : a;
  case Reduction::Min:
    return b < a || b != b ? b : a;
  }
  return b;
}

template <typename E> void Writer::reduce(uint64_t to, uint64_t from) const {
  storeElement<E>(target.data, to,
                  reduceOnce<E>(reduction, loadElement<E>(target.data, to),
                                loadElement<E>(source.data, from)));
}

Status Writer::write(uint64_t to, uint64_t from, int64_t count) const {
  size_t size = sizeOf(source.type);
  if (count == 0)
    return Status::ok();
  if (reduction == Reduction::None) {
    std::memcpy(target.as<char>() + to * size, source.as<char>() + from * size,
                count * size);
    return Status::ok();
  }
  return dispatch(source.type, [&]<typename E>(E) {
    for (int64_t i = 0; i < count; ++i)
      reduce<E>(to + i, from + i);
    return Status::ok();
  });
}

/// All results here start as a copy of operand 0.
static void copyOperand(ComputeContext &context) {
  const TensorView &x = context.input(0);
  if (x.bytes())
    std::memcpy(context.output(0).data, x.data, x.bytes());
}

static Status checkScatter(const InferContext &context) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 3));
  DLC_RETURN_IF_ERROR(checkRankAtLeast(context, 0, 1));
  DLC_RETURN_IF_ERROR(checkType(context, 1, indexTypes));
  DLC_RETURN_IF_ERROR(checkSameType(context, 0, 2));
  Reduction reduction;
  return readReduction(context.attrs(), reduction);
}

static Status checkShape(const InferContext &context, size_t index,
                         std::span<const int64_t> expected) {
  const TensorType &type = context.operand(index).type;
  if (mayHaveShape(type, expected))
    return Status::ok();
  TensorType wanted{type.type, {expected.begin(), expected.end()}};
  return DLC_INVALID("operand %zu: expected %s, got %s", index,
                     toString(wanted).c_str(), toString(type).c_str());
}

//===----------------------------------------------------------------------===//
// scatter_elements
//===----------------------------------------------------------------------===//

static Status inferScatterElements(const InferContext &context,
                                   std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkScatter(context));
  const TensorType &x = context.operand(0).type;
  const TensorType &indices = context.operand(1).type;
  int64_t axis = context.attrs().getInt("axis", 0);
  if (x.hasRank) {
    DLC_RETURN_IF_ERROR(normalizeAxis(axis, x.rank()));
    DLC_RETURN_IF_ERROR(checkRank(context, 1, x.rank()));
    DLC_RETURN_IF_ERROR(checkRank(context, 2, x.rank()));
  }
  if (indices.hasRank)
    DLC_RETURN_IF_ERROR(checkShape(context, 2, indices.shape));
  for (int64_t i = 0; x.hasRank && indices.hasRank && i < x.rank(); ++i)
    if (i != axis && x.shape[i] >= 0 && indices.shape[i] > x.shape[i])
      return DLC_INVALID("operand 1: expected dimension %" PRId64
                         " to be at most %" PRId64 ", got %" PRId64,
                         i, x.shape[i], indices.shape[i]);
  return addResultLike(context, results);
}

static Status computeScatterElements(ComputeContext &context) {
  const TensorView &x = context.input(0), &indices = context.input(1);
  Writer writer{context.input(2), context.output(0), Reduction::None};
  DLC_RETURN_IF_ERROR(readReduction(context.attrs(), writer.reduction));
  int64_t axis = context.attrs().getInt("axis", 0);
  DLC_RETURN_IF_ERROR(normalizeAxis(axis, x.rank()));
  copyOperand(context);
  if (writer.reduction == Reduction::None) {
    const size_t size = sizeOf(x.type);
    return forEachIndexed(
        x.shape, indices, axis, [&](uint64_t offset, int64_t position) {
          std::memcpy(writer.target.as<char>() + offset * size,
                      writer.source.as<char>() + position * size, size);
        });
  }
  return dispatch(x.type, [&]<typename E>(E) {
    return forEachIndexed(x.shape, indices, axis,
                          [&](uint64_t offset, int64_t position) {
                            writer.reduce<E>(offset, position);
                          });
  });
}

//===----------------------------------------------------------------------===//
// scatter_nd
//===----------------------------------------------------------------------===//

static Status inferScatterNd(const InferContext &context,
                             std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkScatter(context));
  DLC_RETURN_IF_ERROR(checkRankAtLeast(context, 1, 1));
  const TensorType &x = context.operand(0).type;
  const TensorType &indices = context.operand(1).type;
  if (!x.hasRank || !indices.hasRank || indices.shape.back() < 0)
    return addResultLike(context, results);
  int64_t tuple = indices.shape.back();
  if (tuple == 0 || tuple > x.rank())
    return DLC_INVALID("operand 1: expected tuples of 1 to %" PRId64
                       " indices, got %" PRId64,
                       x.rank(), tuple);
  std::vector<int64_t> updates(indices.shape.begin(), indices.shape.end() - 1);
  updates.insert(updates.end(), x.shape.begin() + tuple, x.shape.end());
  DLC_RETURN_IF_ERROR(checkShape(context, 2, updates));
  return addResultLike(context, results);
}

static Status computeScatterNd(ComputeContext &context) {
  const TensorView &x = context.input(0), &indices = context.input(1);
  Writer writer{context.input(2), context.output(0), Reduction::None};
  DLC_RETURN_IF_ERROR(readReduction(context.attrs(), writer.reduction));
  copyOperand(context);
  size_t tuple = indices.shape.back();
  int64_t tuples = extentOf(indices.shape, 0, indices.shape.size() - 1);
  int64_t count = extentOf(x.shape, tuple, x.shape.size());
  Walk to = rowMajorWalk(x.shape);
  for (int64_t t = 0; t < tuples; ++t) {
    uint64_t offset;
    DLC_RETURN_IF_ERROR(readIndexTuple(indices, t * tuple, x.shape, to.strides,
                                       0, tuple, offset));
    DLC_RETURN_IF_ERROR(writer.write(offset, t * count, count));
  }
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// tensor_scatter
//===----------------------------------------------------------------------===//

static Status checkTensorScatter(const InferContext &context) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 2, 3));
  DLC_RETURN_IF_ERROR(checkRankAtLeast(context, 0, 2));
  DLC_RETURN_IF_ERROR(checkSameType(context, 0, 1));
  DLC_RETURN_IF_ERROR(checkType(context, 2, indexTypes));
  DLC_RETURN_IF_ERROR(checkRank(context, 2, 1));
  std::string_view mode = context.attrs().getString("mode", "linear");
  if (mode != "linear" && mode != "circular")
    return DLC_INVALID("expected mode linear or circular, got %s",
                       std::string(mode).c_str());
  return Status::ok();
}

static Status readSequenceAxis(const Attributes &attributes, int64_t rank,
                               int64_t &axis) {
  axis = attributes.getInt("axis", -2);
  DLC_RETURN_IF_ERROR(normalizeAxis(axis, rank));
  if (axis == 0)
    return DLC_INVALID("expected a sequence axis other than 0, the batch");
  return Status::ok();
}

static Status inferTensorScatter(const InferContext &context,
                                 std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkTensorScatter(context));
  const TensorType &cache = context.operand(0).type;
  const TensorType &update = context.operand(1).type;
  const TensorType &starts = context.operand(2).type;
  if (!cache.hasRank)
    return addResultLike(context, results);
  int64_t axis;
  DLC_RETURN_IF_ERROR(readSequenceAxis(context.attrs(), cache.rank(), axis));
  DLC_RETURN_IF_ERROR(checkRank(context, 1, cache.rank()));
  TensorType result = cache;
  for (int64_t i = 0; update.hasRank && i < cache.rank(); ++i) {
    bool fits = i == axis
                    ? cache.shape[i] < 0 || update.shape[i] <= cache.shape[i]
                    : mergeDim(result.shape[i], update.shape[i]);
    if (!fits)
      return DLC_INVALID("operand 1: expected dimension %" PRId64
                         " to be %s%" PRId64 ", got %" PRId64,
                         i, i == axis ? "at most " : "", cache.shape[i],
                         update.shape[i]);
  }
  if (context.isPresent(2) && starts.hasRank &&
      !mergeDim(result.shape[0], starts.shape[0]))
    return DLC_INVALID("operand 2: expected %" PRId64 " values, got %" PRId64,
                       result.shape[0], starts.shape[0]);
  return addResult(results, std::move(result));
}

/// The place in the cache of step `step` of a sequence written at `start`.
static Status placeOf(int64_t start, int64_t step, int64_t extent,
                      bool isCircular, int64_t &place) {
  if (isCircular) {
    // |start| may be near 2^63: reduce before adding.
    place = (start % extent + step) % extent;
    if (place < 0)
      place += extent;
    return Status::ok();
  }
  if (start < 0 || start >= extent - step)
    return DLC_INVALID("expected to write within [0, %" PRId64 "), got %" PRId64
                       " plus step %" PRId64,
                       extent, start, step);
  place = start + step;
  return Status::ok();
}

static Status computeTensorScatter(ComputeContext &context) {
  const TensorView &cache = context.input(0), &update = context.input(1);
  Writer writer{update, context.output(0), Reduction::None};
  int64_t axis;
  DLC_RETURN_IF_ERROR(readSequenceAxis(context.attrs(), cache.rank(), axis));
  copyOperand(context);
  if (update.size() == 0)
    return Status::ok();
  std::vector<int64_t> starts(cache.shape[0]);
  if (context.isPresent(2))
    starts = context.intsOf(2);
  bool isCircular = context.attrs().getString("mode", "linear") == "circular";
  int64_t steps = update.shape[axis], extent = cache.shape[axis];
  int64_t perBatch = extentOf(cache.shape, 1, axis);
  int64_t count = extentOf(cache.shape, axis + 1, cache.shape.size());
  for (int64_t prefix = 0; prefix < cache.shape[0] * perBatch; ++prefix) {
    for (int64_t step = 0; step < steps; ++step) {
      int64_t place;
      DLC_RETURN_IF_ERROR(
          placeOf(starts[prefix / perBatch], step, extent, isCircular, place));
      DLC_RETURN_IF_ERROR(writer.write((prefix * extent + place) * count,
                                       (prefix * steps + step) * count, count));
    }
  }
  return Status::ok();
}

std::span<const Operation> ref::scatterOperations() {
  static constexpr Operation table[] = {
      {"scatter_elements", inferScatterElements, computeScatterElements},
      {"scatter_nd", inferScatterNd, computeScatterNd},
      {"tensor_scatter", inferTensorScatter, computeTensorScatter},
  };
  return table;
}
