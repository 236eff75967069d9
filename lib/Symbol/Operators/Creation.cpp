// SPDX-License-Identifier: Apache-2.0
//
// Tensors out of nothing but parameters.

#include "Rules.h"

#include <cmath>

using namespace dlc;
using namespace dlc::symbol;
using llvm::Twine;
using mlir::Value;

/// Dimensions of 0 are those that readers tell, as in the first states of
/// MXNet's recurrent cells; without any dimension all are.
static void relateFilled(ShapeRelation &r) {
  std::vector<int64_t> shape = r.parameters.getInts("shape");
  std::ranges::replace(shape, 0, rt::kUnknownDim);
  if (!shape.empty())
    r.setOutput(0, shape);
}

/// Large ones are a repetition, not a constant.
static void setFilled(LoweringContext &n, double value) {
  Ints shape = n.ints("shape");
  if (shape.empty() || llvm::is_contained(shape, 0)) {
    if (!isStatic(n.inferredShape()))
      return n.unsupported("a shape with unknown dimensions, which nothing "
                           "that reads it tells");
    shape.assign(n.inferredShape()->begin(), n.inferredShape()->end());
  }
  Value scalar = n.b.scalar(typeParameter(n, "dtype"), value);
  n.set(0, n.b.op("expand", {scalar, n.b.ints(shape)}));
}

template <int value> static void lowerFilled(LoweringContext &n) {
  setFilled(n, value);
}

static void lowerFull(LoweringContext &n) {
  setFilled(n, n.p.getFloat("value"));
}

/// Each number `repeat` times; without a stop, start is the stop.
static void lowerArange(LoweringContext &n) {
  if (n.p.getBool("infer_range"))
    return n.unsupported("parameter 'infer_range' of True");
  double start = n.p.getFloat("start"), step = n.p.getFloat("step"), stop = 0;
  if (n.p.isNone("stop"))
    std::swap(start, stop);
  else
    stop = n.p.getFloat("stop");
  double count = std::ceil((stop - start) / step);
  constexpr double most = 1 << 30;
  if (!(step != 0 && count > 0 && count <= most))
    return n.fail("expected numbers between 'start' and 'stop', got none or "
                  "too many");
  mlir::Type type = typeParameter(n, "dtype");
  auto length = static_cast<int64_t>(count);
  int64_t repeat = n.p.getInt("repeat");
  Value index = n.b.op(
      "range", {n.b.intScalar(0), n.b.intScalar(length), n.b.intScalar(1)});
  Value wide = n.b.cast(index, n.b.opBuilder().getF64Type());
  Value scaled = n.b.add(n.b.mul(wide, n.scalarLike(wide, step)),
                         n.scalarLike(wide, start));
  Value y = n.b.cast(scaled, type);
  if (repeat > 1) {
    Value all =
        n.b.op("expand", {n.b.unsqueeze(y, {1}), n.b.ints({length, repeat})});
    y = n.b.reshape(all, {length * repeat});
  }
  n.set(0, y);
}

//===-- Declarations ------------------------------------------------------===//

static std::vector<Parameter> filledParameters() {
  return {optional("shape", ParameterKind::Ints, "()", "The shape.")
              .within(0, kMaxExtent),
          ignored("ctx", ParameterKind::Text, ""),
          optional("dtype", ParameterKind::Type, "float32",
                   "Type of the elements.")};
}

static Operator filled(std::string_view name, std::string_view summary,
                       void (*lower)(LoweringContext &)) {
  return {.name = name,
          .summary = summary,
          .parameters = filledParameters(),
          .inputs = {},
          .relateShapes = relateFilled,
          .relateTypes = convertsToDtype,
          .lower = lower};
}

std::span<const Operator> dlc::symbol::creationOperators() {
  static const std::vector<Operator> rows = [] {
    Operator full = filled("_full", "One value everywhere", lowerFull);
    full.aliases = {"_npi_full"};
    full.parameters.push_back(
        required("value", ParameterKind::Float, "The value."));
    Operator arange = {
        .name = "_arange",
        .summary = "Numbers at equal distances",
        .parameters =
            {optional("start", ParameterKind::Float, "0", "The first."),
             optional("stop", ParameterKind::Float, "None",
                      "Where they end, exclusive; None: at `start`, from 0."),
             optional("step", ParameterKind::Float, "1", "The distance."),
             optional("repeat", ParameterKind::Int, "1",
                      "How often each number comes.")
                 .within(1, 1 << 20),
             optional("infer_range", ParameterKind::Bool, "False",
                      "End where the result's shape says; not supported."),
             ignored("ctx", ParameterKind::Text, ""),
             optional("dtype", ParameterKind::Type, "float32",
                      "Type of the elements.")},
        .inputs = {},
        .relateTypes = convertsToDtype,
        .lower = lowerArange};
    return std::vector<Operator>{filled("_zeros", "Zeros", lowerFilled<0>),
                                 filled("_ones", "Ones", lowerFilled<1>), full,
                                 arange};
  }();
  return rows;
}
