// SPDX-License-Identifier: Apache-2.0
//
// What other families have no place for: gradients that are given, mixed
// precision, checks, parts of images.

#include "Rules.h"

using namespace dlc;
using namespace dlc::symbol;
using llvm::Twine;
using mlir::Value;

//===-- Gradients that are given ------------------------------------------===//

/// `y` forward, and backward `factor` times what comes.
static void setWithSlope(LoweringContext &n, Value y, double factor) {
  Value x = n.in(0);
  if (!llvm::isa<mlir::FloatType>(GraphBuilder::elementOf(x)))
    return n.set(0, y);
  Value slope = n.b.op("expand", {n.scalarLike(x, factor), n.b.shapeOf(x)});
  n.set(0, n.b.op("replace_gradient", {y, x, slope}, {{"scaled", true}}));
}

static void lowerGradientMultiplier(LoweringContext &n) {
  setWithSlope(n, n.in(0), n.p.getFloat("scalar"));
}

/// Halves go away from zero.
static void lowerRoundThrough(LoweringContext &n) {
  Value x = n.in(0), magnitude = n.b.op("abs", {x});
  Value whole = n.b.op("floor", {magnitude});
  Value isUp = n.b.op("greater_equal",
                      {n.b.sub(magnitude, whole), n.scalarLike(x, 0.5)});
  Value y = n.b.mul(n.b.op("sign", {x}), n.b.add(whole, n.b.castLike(isUp, x)));
  setWithSlope(n, y, 1);
}

static void lowerSignThrough(LoweringContext &n) {
  setWithSlope(n, n.b.op("sign", {n.in(0)}), 1);
}

/// a x^2 + b x + c
static void lowerQuadratic(LoweringContext &n) {
  Value x = n.in(0);
  auto at = [&](const char *name) {
    return n.scalarLike(x, n.p.getFloat(name));
  };
  Value y = n.b.mul(n.b.add(n.b.mul(x, at("a")), at("b")), x);
  n.set(0, n.b.add(y, at("c")));
}

//===-- Several tensors ---------------------------------------------------===//

static rt::DataType wider(rt::DataType a, rt::DataType b, bool narrow) {
  bool isWider = rt::sizeOf(a) >= rt::sizeOf(b);
  return isWider != narrow ? a : b;
}

/// All become of the widest type, or of the narrowest.
static void relateMulticast(TypeRelation &r) {
  rt::DataType common = DLC_INVALID_TYPE;
  for (size_t i = 0; i < r.inputCount(); ++i) {
    if (r.input(i) == DLC_INVALID_TYPE)
      return;
    common = i ? wider(common, r.input(i), r.parameters.getBool("cast_narrow"))
               : r.input(i);
  }
  for (size_t i = 0; i < r.outputCount(); ++i)
    r.setOutput(i, common);
}

static void relateEach(ShapeRelation &r) {
  for (size_t i = 0; i < r.inputCount(); ++i)
    r.equate(i, i);
}

static void lowerMulticast(LoweringContext &n) {
  bool narrow = n.p.getBool("cast_narrow");
  mlir::Type common;
  for (Value x : n.inputs()) {
    mlir::Type type = GraphBuilder::elementOf(x);
    bool isWider = !common || type.getIntOrFloatBitWidth() >
                                  common.getIntOrFloatBitWidth();
    bool isSame = common && type.getIntOrFloatBitWidth() ==
                                common.getIntOrFloatBitWidth();
    if (!common || (!isSame && isWider != narrow))
      common = type;
  }
  for (size_t i = 0; i < n.inputCount(); ++i)
    n.set(i, n.b.cast(n.in(i), common));
}

static void givesFloat(TypeRelation &r) { r.setOutput(0, DLC_F32); }

/// 1 where every element of all operands is a finite number, else 0.
static void lowerAllFinite(LoweringContext &n) {
  if (n.inputCount() == 0)
    return n.fail("expected at least 1 operand, got none");
  Value all;
  for (Value x : n.inputs()) {
    if (!llvm::isa<mlir::FloatType>(GraphBuilder::elementOf(x)))
      return n.unsupported("a check of integers");
    Value isNot =
        n.b.op("logical_or", {n.b.op("is_inf", {x}), n.b.op("is_nan", {x})});
    Value isGood = n.b.op("logical_not", {isNot});
    Value one = n.b.reduce("reduce_min", n.b.cast(isGood, n.b.f32()),
                           range(0, n.rank(x)), false);
    all = all ? n.b.mul(all, one) : one;
  }
  n.set(0, n.b.reshape(all, {1}));
}

/// The sum of squares of each operand.
static void lowerSumsOfSquares(LoweringContext &n) {
  if (n.inputCount() == 0)
    return n.fail("expected at least 1 operand, got none");
  llvm::SmallVector<Value> parts;
  for (Value x : n.inputs()) {
    Value wide = n.b.cast(x, n.b.f32());
    Value sum = n.b.reduce("reduce_sum", n.b.mul(wide, wide),
                           range(0, n.rank(x)), false);
    parts.push_back(n.b.reshape(sum, {1}));
  }
  n.set(0, n.b.concat(parts, 0));
}

//===-- Parts of images ---------------------------------------------------===//

/// As large as the second operand or `h_w`, from `offset` on or in the middle.
static void lowerCrop(LoweringContext &n) {
  if (n.inputCount() < 1 || n.inputCount() > 2)
    return n.fail("expected 1 or 2 operands, got " + Twine(n.inputCount()));
  Value x = n.in(0);
  Ints from = n.shape(x, "a part of an image"), size = n.ints("h_w"),
       offset = n.ints("offset");
  if (n.b.failed())
    return;
  if (n.inputCount() == 2) {
    Ints like = n.shape(n.in(1), "a part of an image");
    if (like.size() == 4)
      size = {like[2], like[3]};
  }
  if (from.size() != 4 || size.size() != 2 || offset.size() != 2)
    return n.fail("expected data of 4 dimensions, and 2 values of 'h_w' and "
                  "'offset'");
  for (int64_t i : {0, 1}) {
    if (n.p.getBool("center_crop"))
      offset[i] = (from[i + 2] - size[i]) / 2;
    if (size[i] < 1 || offset[i] < 0 || offset[i] > from[i + 2] - size[i])
      return n.fail("expected a part inside of extent " + Twine(from[i + 2]) +
                    ", got " + Twine(size[i]) + " from " + Twine(offset[i]) +
                    " on");
    x = n.b.slice(x, i + 2, offset[i], offset[i] + size[i]);
  }
  n.set(0, x);
}

//===-- Declarations ------------------------------------------------------===//

static Operator elementwise(std::string_view name, std::string_view summary,
                            void (*lower)(LoweringContext &),
                            std::vector<Parameter> parameters = {}) {
  return {.name = name,
          .summary = summary,
          .parameters = std::move(parameters),
          .relateShapes = sameShapes,
          .lower = lower};
}

static Parameter factor(std::string_view name, std::string_view summary) {
  return optional(name, ParameterKind::Float, "0", summary);
}

/// Rows of the first operand replaced; of a place that is given twice the last
/// one counts.
static void lowerIndexCopy(LoweringContext &n) {
  if (n.rank(n.in(0)) < 1 || n.rank(n.in(1)) != 1)
    return n.fail("expected an 'old_tensor' with rows and an 'index_vector' of "
                  "1 dimension");
  Value places = n.b.unsqueeze(n.b.cast(n.in(1), n.b.i64()), {1});
  n.set(0, n.b.op("scatter_nd", {n.in(0), places, n.in(2)}));
}

static void indexCopyTypes(TypeRelation &r) {
  r.equateInputs(0, 2);
  r.equate(0, 0);
}

static void relateIndexCopy(ShapeRelation &r) {
  r.equate(0, 0);
  const Shape &old = r.input(0);
  if (!old || old->empty())
    return;
  std::vector<int64_t> rows = *old;
  rows[0] = r.inputDim(1, 0);
  r.setInput(2, rows);
  r.setInput(1, std::vector{r.inputDim(2, 0)});
}

std::span<const Operator> dlc::symbol::contribOperators() {
  static const std::vector<Operator> rows = {
      {.name = "_contrib_index_copy",
       .summary = "Rows replaced by others",
       .inputs = {{"old_tensor"}, {"index_vector"}, {"new_tensor"}},
       .relateShapes = relateIndexCopy,
       .relateTypes = indexCopyTypes,
       .lower = lowerIndexCopy},
      elementwise("_contrib_quadratic", "a x^2 + b x + c", lowerQuadratic,
                  {factor("a", "Factor of the square."),
                   factor("b", "Factor of x."), factor("c", "Summand.")}),
      elementwise("_contrib_gradientmultiplier",
                  "The operand, of which the gradient is scaled",
                  lowerGradientMultiplier,
                  {optional("scalar", ParameterKind::Float, "1",
                            "Factor of the gradient."),
                   ignored("is_int", ParameterKind::Bool, "True")}),
      elementwise("_contrib_round_ste",
                  "Nearest integer, through which gradients pass",
                  lowerRoundThrough),
      elementwise("_contrib_sign_ste",
                  "-1, 0 or 1, through which gradients pass", lowerSignThrough),
      {.name = "_identity_with_attr_like_rhs",
       .summary = "The first operand, of the shape of the second",
       .inputs = {{"lhs"}, {"rhs"}},
       .relateShapes = sameShapes,
       .lower = lowerIdentity},
      {.name = "amp_multicast",
       .summary = "Conversions to one type that mixed precision put in",
       .parameters = {required("num_outputs", ParameterKind::Int,
                               "Number of operands.")
                          .within(1, kMaxOperands),
                      optional("cast_narrow", ParameterKind::Bool, "False",
                               "To the narrowest type, not the widest.")},
       .inputs = {},
       .inputCount = "num_outputs",
       .outputCount = "num_outputs",
       .relateShapes = relateEach,
       .relateTypes = relateMulticast,
       .lower = lowerMulticast},
      {.name = "all_finite",
       .summary = "1 where every element is a finite number, else 0",
       .parameters = {ignored("init_output", ParameterKind::Bool, "True")},
       .relateTypes = givesFloat,
       .lower = lowerAllFinite},
      {.name = "multi_all_finite",
       .summary = "1 where every element of all operands is a finite number, "
                  "else 0",
       .parameters = {optional("num_arrays", ParameterKind::Int, "1",
                               "Number of operands.")
                          .within(1, kMaxOperands),
                      ignored("init_output", ParameterKind::Bool, "True")},
       .inputs = {},
       .inputCount = "num_arrays",
       .relateTypes = givesFloat,
       .lower = lowerAllFinite},
      {.name = "multi_sum_sq",
       .summary = "The sum of squares of each operand",
       .parameters = {required("num_arrays", ParameterKind::Int,
                               "Number of operands.")
                          .within(1, kMaxOperands)},
       .inputs = {},
       .inputCount = "num_arrays",
       .relateTypes = givesFloat,
       .lower = lowerSumsOfSquares},
      {.name = "Crop",
       .summary = "A part of images",
       .parameters = {required("num_args", ParameterKind::Int,
                               "1, or 2 where an operand has the size.")
                          .within(1, 2),
                      optional("offset", ParameterKind::Ints, "(0, 0)",
                               "Where it begins.")
                          .within(0, kMaxExtent),
                      optional("h_w", ParameterKind::Ints, "(0, 0)",
                               "Its extents.")
                          .within(0, kMaxExtent),
                      optional("center_crop", ParameterKind::Bool, "False",
                               "Take the middle.")},
       .inputs = {},
       .inputCount = "num_args",
       .relateTypes = keepsType,
       .lower = lowerCrop},
  };
  return rows;
}
