// SPDX-License-Identifier: Apache-2.0

#include "dlc/Symbol/Relation.h"

#include <algorithm>

using namespace dlc;
using namespace dlc::symbol;

bool symbol::isStatic(const Shape &shape) {
  return shape && std::ranges::none_of(*shape, [](int64_t dim) {
           return dim == rt::kUnknownDim;
         });
}

std::string symbol::toText(const Shape &shape) {
  if (!shape)
    return "?";
  std::string text = "(";
  for (size_t i = 0; i < shape->size(); ++i) {
    int64_t dim = (*shape)[i];
    text += i ? ", " : "";
    text += dim == rt::kUnknownDim ? "?" : std::to_string(dim);
  }
  return text + (shape->size() == 1 ? ",)" : ")");
}

std::string symbol::toText(rt::DataType type) {
  return type == DLC_INVALID_TYPE ? "?" : std::string(typeName(type));
}

bool symbol::unify(Shape &known, const Shape &found) {
  if (!found)
    return true;
  if (!known) {
    known = found;
    return true;
  }
  if (known->size() != found->size())
    return false;
  for (size_t i = 0; i < found->size(); ++i) {
    int64_t &dim = (*known)[i];
    int64_t other = (*found)[i];
    if (dim == rt::kUnknownDim)
      dim = other;
    else if (other != rt::kUnknownDim && other != dim)
      return false;
  }
  return true;
}

bool symbol::unify(rt::DataType &known, rt::DataType found) {
  if (known == DLC_INVALID_TYPE)
    known = found;
  return found == DLC_INVALID_TYPE || found == known;
}

static int64_t dimOf(const Shape &shape, int64_t axis) {
  if (!shape)
    return rt::kUnknownDim;
  auto rank = static_cast<int64_t>(shape->size());
  axis += axis < 0 ? rank : 0;
  return axis >= 0 && axis < rank ? (*shape)[axis] : rt::kUnknownDim;
}

int64_t ShapeRelation::inputDim(size_t index, int64_t axis) const {
  return index < inputCount() ? dimOf(input(index), axis) : rt::kUnknownDim;
}

int64_t ShapeRelation::outputDim(size_t index, int64_t axis) const {
  return index < outputCount() ? dimOf(output(index), axis) : rt::kUnknownDim;
}
