// SPDX-License-Identifier: Apache-2.0

#include "ShapeRule.h"

#include <algorithm>
#include <cinttypes>

using namespace dlc::rt;
using namespace dlc::rt::ref;

/// Checks rank, dimensions and size in bytes; unknown dimensions count as 1.
static Status checkTensorType(const TensorType &type) {
  if (!isComputable(type.type))
    return DLC_INVALID("expected a plain element type, got %d",
                       static_cast<int>(type.type));
  if (!type.hasRank)
    return Status::ok();
  if (type.shape.size() > DLC_MAX_RANK)
    return DLC_INVALID("expected rank at most %d, got %zu", DLC_MAX_RANK,
                       type.shape.size());
  int64_t bytes = static_cast<int64_t>(sizeOf(type.type));
  bool overflows = false;
  for (int64_t dim : type.shape) {
    if (dim < kUnknownDim)
      return DLC_INVALID("expected dimensions of at least 0, got %" PRId64,
                         dim);
    // Zeros are skipped: the strides of an empty tensor must not overflow.
    if (dim > 0)
      overflows |= __builtin_mul_overflow(bytes, dim, &bytes);
  }
  if (overflows)
    return DLC_INVALID("expected a size that fits 63 bits, got %s",
                       toString(type).c_str());
  return Status::ok();
}

static std::string placeOf(const char *what, size_t index) {
  return what + std::to_string(index);
}

Status ref::checkOperands(const InferContext &context, size_t least,
                          size_t most) {
  size_t count = context.operandCount();
  if (count < least || count > most) {
    if (most == SIZE_MAX)
      return DLC_INVALID("expected at least %zu operand%s, got %zu", least,
                         least == 1 ? "" : "s", count);
    if (least == most)
      return DLC_INVALID("expected %zu operand%s, got %zu", least,
                         least == 1 ? "" : "s", count);
    return DLC_INVALID("expected %zu to %zu operands, got %zu", least, most,
                       count);
  }
  for (size_t i = 0; i < count; ++i) {
    const Operand &operand = context.operand(i);
    if (!operand.isPresent() && i >= least)
      continue;
    if (!operand.isPresent())
      return DLC_INVALID("operand %zu: expected a tensor, got none", i);
    DLC_RETURN_IF_ERROR(
        checkTensorType(operand.type).withContext(placeOf("operand ", i)));
  }
  return Status::ok();
}

Status ref::checkType(const InferContext &context, size_t index,
                      TypeSet types) {
  const Operand &operand = context.operand(index);
  if (!operand.isPresent() || types.contains(operand.type.type))
    return Status::ok();
  return DLC_INVALID("operand %zu: expected %s, got %s", index,
                     types.description,
                     std::string(nameOf(operand.type.type)).c_str());
}

Status ref::checkSameType(const InferContext &context, size_t a, size_t b) {
  const Operand &first = context.operand(a), &second = context.operand(b);
  if (!first.isPresent() || !second.isPresent() ||
      first.type.type == second.type.type)
    return Status::ok();
  return DLC_INVALID("operand %zu: expected %s as operand %zu, got %s", b,
                     std::string(nameOf(first.type.type)).c_str(), a,
                     std::string(nameOf(second.type.type)).c_str());
}

Status ref::checkRank(const InferContext &context, size_t index, int64_t rank) {
  const Operand &operand = context.operand(index);
  if (!operand.isPresent() || !operand.type.hasRank ||
      operand.type.rank() == rank)
    return Status::ok();
  return DLC_INVALID("operand %zu: expected rank %" PRId64 ", got %" PRId64,
                     index, rank, operand.type.rank());
}

Status ref::checkRankAtLeast(const InferContext &context, size_t index,
                             int64_t least) {
  const Operand &operand = context.operand(index);
  if (!operand.isPresent() || !operand.type.hasRank ||
      operand.type.rank() >= least)
    return Status::ok();
  return DLC_INVALID("operand %zu: expected rank at least %" PRId64
                     ", got %" PRId64,
                     index, least, operand.type.rank());
}

Status ref::normalizeAxis(int64_t &axis, int64_t rank) {
  if (axis < -rank || axis >= rank)
    return DLC_INVALID("expected an axis in [%" PRId64 ", %" PRId64
                       "), got %" PRId64,
                       -rank, rank, axis);
  if (axis < 0)
    axis += rank;
  return Status::ok();
}

Status ref::normalizeAxes(std::span<int64_t> axes, int64_t rank) {
  uint32_t seen = 0;
  for (int64_t &axis : axes) {
    DLC_RETURN_IF_ERROR(normalizeAxis(axis, rank));
    if (seen >> axis & 1)
      return DLC_INVALID("expected distinct axes, got %" PRId64 " twice", axis);
    seen |= 1u << axis;
  }
  return Status::ok();
}

bool ref::mergeDim(int64_t &dim, int64_t other) {
  if (dim < 0)
    dim = other;
  return other < 0 || dim == other;
}

bool ref::mayHaveShape(const TensorType &type, std::span<const int64_t> shape) {
  if (!type.hasRank)
    return true;
  if (type.shape.size() != shape.size())
    return false;
  for (size_t i = 0; i < shape.size(); ++i) {
    int64_t dim = shape[i];
    if (!mergeDim(dim, type.shape[i]))
      return false;
  }
  return true;
}

bool ref::broadcastDim(int64_t &dim, int64_t other) {
  if (dim == 1 || (dim < 0 && other != 1))
    dim = other;
  return other < 0 || other == 1 || other == dim;
}

Status ref::broadcastInto(TensorType &shape, const TensorType &other) {
  if (!shape.hasRank || !other.hasRank) {
    shape.shape.clear();
    shape.hasRank = false;
    return Status::ok();
  }
  size_t rank = std::max(shape.shape.size(), other.shape.size());
  shape.shape.insert(shape.shape.begin(), rank - shape.shape.size(), 1);
  size_t missing = rank - other.shape.size();
  for (size_t i = missing; i < rank; ++i) {
    int64_t &dim = shape.shape[i], with = other.shape[i - missing];
    if (!broadcastDim(dim, with))
      return DLC_INVALID("expected shapes that broadcast, got %" PRId64
                         " and %" PRId64 " in dimension %zu",
                         dim, with, i);
  }
  return Status::ok();
}

std::optional<int64_t> ref::multiplyDims(int64_t a, int64_t b) {
  if (a < 0 || b < 0)
    return kUnknownDim;
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product))
    return std::nullopt;
  return product;
}

std::optional<int64_t> ref::addDims(int64_t a, int64_t b) {
  if (a < 0 || b < 0)
    return kUnknownDim;
  int64_t sum;
  if (__builtin_add_overflow(a, b, &sum))
    return std::nullopt;
  return sum;
}

TensorType ref::unrankedOf(DataType type) { return {type, {}, false}; }

Status ref::addResult(std::vector<TensorType> &results, TensorType type) {
  DLC_RETURN_IF_ERROR(
      checkTensorType(type).withContext(placeOf("result ", results.size())));
  results.push_back(std::move(type));
  return Status::ok();
}

Status ref::addResultLike(const InferContext &context,
                          std::vector<TensorType> &results) {
  return addResult(results, context.operand(0).type);
}

Status ref::inferAlongAxis(const InferContext &context,
                           std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 1));
  DLC_RETURN_IF_ERROR(checkType(context, 0, floatTypes));
  const TensorType &type = context.operand(0).type;
  int64_t axis = context.attrs().getInt("axis", -1);
  if (type.hasRank)
    DLC_RETURN_IF_ERROR(normalizeAxis(axis, type.rank()));
  return addResultLike(context, results);
}
