// SPDX-License-Identifier: Apache-2.0
//
// Values that come from no operand, and facts about shapes.

#include "Simple.h"

using namespace dlc::onnx;
using mlir::DenseElementsAttr;
using mlir::RankedTensorType;
using mlir::Type;
using mlir::Value;

static void importConstant(NodeContext &n) {
  mlir::Builder &builder = n.b.opBuilder();
  auto vectorOf = [](size_t count, Type element) {
    return RankedTensorType::get(static_cast<int64_t>(count), element);
  };
  if (n.hasAttr("value"))
    return n.set(0, n.getTensor("value"));
  if (n.hasAttr("value_int"))
    return n.set(0, n.b.intScalar(n.getInt("value_int", 0)));
  if (n.hasAttr("value_ints"))
    return n.set(0, n.b.ints(n.getInts("value_ints")));
  if (n.hasAttr("value_float"))
    return n.set(
        0, n.b.scalar(builder.getF32Type(), n.getFloat("value_float", 0)));
  if (n.hasAttr("value_floats")) {
    llvm::SmallVector<float> values = n.getFloats("value_floats");
    return n.set(0, n.b.constant(DenseElementsAttr::get(
                        vectorOf(values.size(), builder.getF32Type()),
                        llvm::ArrayRef<float>(values))));
  }
  if (n.hasAttr("value_string") || n.hasAttr("value_strings"))
    return n.unsupported("strings");
  if (n.hasAttr("sparse_value"))
    return n.unsupported("sparse tensors");
  n.fail("expected an attribute with the value");
}

/// Sizes out of a model must be a shape that 64 bits can count.
static bool isShape(NodeContext &n, llvm::ArrayRef<int64_t> dims) {
  int64_t bytes = 16; // More than any element takes.
  for (int64_t dim : dims) {
    if (dim < 0) {
      n.fail("expected dims that are not negative, got " + llvm::Twine(dim));
      return false;
    }
    if (dim > 1 && __builtin_mul_overflow(bytes, dim, &bytes)) {
      n.fail("expected a size within 64 bits");
      return false;
    }
  }
  if (dims.size() > DLC_MAX_RANK) {
    n.unsupported("rank " + llvm::Twine(dims.size()) + ", expected at most " +
                  llvm::Twine(DLC_MAX_RANK));
    return false;
  }
  return true;
}

/// A known shape gives a splat, which takes no memory whatever its size.
static void importConstantOfShape(NodeContext &n) {
  Value value =
      n.hasAttr("value") ? n.getTensor("value") : n.b.scalar(n.b.f32(), 0);
  auto element = mlir::dyn_cast_or_null<DenseElementsAttr>(
      GraphBuilder::constantOf(value));
  if (!element)
    return;
  if (element.getNumElements() != 1)
    return n.fail("expected one element in attribute 'value', got " +
                  llvm::Twine(element.getNumElements()));
  std::optional<Ints> shape = GraphBuilder::intsOf(n.in(0));
  if (shape) {
    if (!isShape(n, *shape))
      return;
    auto type = RankedTensorType::get(*shape, element.getElementType());
    return n.set(0, n.b.constant(element.resizeSplat(type)));
  }
  auto scalarType = RankedTensorType::get({}, element.getElementType());
  Value scalar = n.b.constant(element.resizeSplat(scalarType));
  n.set(0, n.b.op("expand", {scalar, n.asI64(n.in(0))}));
}

static void importIdentity(NodeContext &n) { n.set(0, n.in(0)); }

static void importShape(NodeContext &n) {
  int64_t begin = n.getInt("start", 0);
  n.set(0, n.b.shapeOf(n.in(0), begin, n.getInt("end", INT64_MAX)));
}

static void importSize(NodeContext &n) {
  if (std::optional<Ints> shape = GraphBuilder::shapeIfStatic(n.in(0))) {
    int64_t count = 1;
    for (int64_t dim : *shape)
      count *= dim;
    return n.set(0, n.b.intScalar(count));
  }
  n.set(0, n.b.op("size", {n.in(0)}));
}

static void importEyeLike(NodeContext &n) {
  Type element = n.hasAttr("dtype") ? n.getElementType("dtype")
                                    : GraphBuilder::elementOf(n.in(0));
  if (!element)
    return;
  n.set(0, n.b.op("eye_like", {n.in(0)},
                  {{"k", n.getInt("k", 0)}, {"dtype", element}}));
}

/// f16 and bf16 count in f32 unless `stash_type` says otherwise (opset 27).
static void importRange(NodeContext &n) {
  Value start = asScalar(n, n.in(0)), limit = asScalar(n, n.in(1)),
        delta = asScalar(n, n.in(2));
  Type element = GraphBuilder::elementOf(start);
  bool wide = n.opset >= 27 && n.getInt("stash_type", 1) == 1 && element &&
              (element.isF16() || element.isBF16());
  if (!wide)
    return n.set(0, n.b.op("range", {start, limit, delta}));
  auto widen = [&](Value value) { return n.b.cast(value, n.b.f32()); };
  Value range = n.b.op("range", {widen(start), widen(limit), widen(delta)});
  n.set(0, n.b.cast(range, element));
}

static constexpr Operator rows[] = {
    {"Constant", 1, 0, 0, 1, importConstant},
    {"ConstantOfShape", 9, 1, 1, 1, importConstantOfShape},
    {"EyeLike", 9, 1, 1, 1, importEyeLike},
    {"Identity", 1, 1, 1, 1, importIdentity},
    {"Range", 11, 3, 3, 1, importRange},
    {"Shape", 1, 1, 1, 1, importShape},
    {"Size", 1, 1, 1, 1, importSize},
};

llvm::ArrayRef<Operator> dlc::onnx::constantOperators() { return rows; }
