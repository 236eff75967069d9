// SPDX-License-Identifier: Apache-2.0
//
// MXNet's NumPy reductions: over all axes they give scalars.

#include "Rules.h"

using namespace dlc;
using namespace dlc::symbol;
using llvm::Twine;
using mlir::Value;

static Ints reducedAxes(LoweringContext &n, int64_t rank) {
  return n.p.isNone("axis") ? range(0, rank) : n.axes(n.ints("axis"), rank);
}

//===-- Types -------------------------------------------------------------===//

static rt::DataType typeOfSum(TypeRelation &r) {
  if (!r.parameters.isNone("dtype"))
    return r.parameters.getType("dtype");
  return r.input(0) == DLC_BOOL ? DLC_I64 : r.input(0);
}

static void sumTypes(TypeRelation &r) { r.setOutput(0, typeOfSum(r)); }

static void meanTypes(TypeRelation &r) {
  rt::DataType type = r.input(0);
  bool isFloat = type == DLC_F16 || type == DLC_F32 || type == DLC_F64;
  if (!r.parameters.isNone("dtype"))
    r.setOutput(0, r.parameters.getType("dtype"));
  else if (type != DLC_INVALID_TYPE)
    r.setOutput(0, isFloat ? type : DLC_F32);
}

static void givesBool(TypeRelation &r) { r.setOutput(0, DLC_BOOL); }
static void givesI64(TypeRelation &r) { r.setOutput(0, DLC_I64); }

//===-- Lowerings ---------------------------------------------------------===//

/// The type that elements of `x` are added or multiplied in.
static mlir::Type sumType(LoweringContext &n, Value x) {
  if (!n.p.isNone("dtype"))
    return typeParameter(n, "dtype");
  mlir::Type type = GraphBuilder::elementOf(x);
  return type.isInteger(1) ? n.b.i64() : type;
}

template <Mnemonic name, Mnemonic combine>
static void lowerSum(LoweringContext &n) {
  Value x = n.in(0);
  mlir::Type type = sumType(n, x);
  Value y = n.b.reduce(name.str(), n.b.cast(x, type), reducedAxes(n, n.rank(x)),
                       n.p.getBool("keepdims"));
  if (!n.p.isNone("initial"))
    y = n.b.op(combine.str(), {y, n.scalarLike(y, n.p.getFloat("initial"))});
  n.set(0, y);
}

template <Mnemonic name, Mnemonic combine>
static void lowerExtreme(LoweringContext &n) {
  Value y = n.b.reduce(name.str(), n.in(0), reducedAxes(n, n.rank(n.in(0))),
                       n.p.getBool("keepdims"));
  if (!n.p.isNone("initial"))
    y = n.b.op(combine.str(), {y, n.scalarLike(y, n.p.getFloat("initial"))});
  n.set(0, y);
}

static void lowerMean(LoweringContext &n) {
  Value x = n.in(0);
  mlir::Type type = GraphBuilder::elementOf(x);
  if (!n.p.isNone("dtype"))
    type = typeParameter(n, "dtype");
  else if (!llvm::isa<mlir::FloatType>(type))
    type = n.b.f32();
  if (!n.p.isNone("initial"))
    return n.unsupported("parameter 'initial' of a mean");
  n.set(0, n.b.reduce("reduce_mean", n.b.cast(x, type),
                      reducedAxes(n, n.rank(x)), n.p.getBool("keepdims")));
}

/// Variance with the divisor less `ddof`.
static Value variance(LoweringContext &n, Value &mean, int64_t ddof,
                      const char *axes) {
  Value x = n.in(0);
  Ints reduced =
      n.p.isNone(axes) ? range(0, n.rank(x)) : n.axes(n.ints(axes), n.rank(x));
  Ints shape = n.shape(x, "a variance");
  if (n.b.failed())
    return {};
  int64_t count = 1;
  for (int64_t axis : reduced)
    count *= shape[axis];
  bool keeps = n.p.getBool("keepdims");
  Value center = n.b.reduce("reduce_mean", x, reduced, true);
  Value distance = n.b.sub(x, center);
  Value sum =
      n.b.reduce("reduce_sum", n.b.mul(distance, distance), reduced, keeps);
  mean = keeps ? center : n.b.reduce("reduce_mean", x, reduced, false);
  return n.b.div(sum, n.scalarLike(sum, static_cast<double>(count - ddof)));
}

template <bool isRoot> static void lowerVariance(LoweringContext &n) {
  if (!llvm::isa<mlir::FloatType>(GraphBuilder::elementOf(n.in(0))))
    return n.unsupported("a variance of integers");
  n.expectDefault("dtype");
  Value mean, y = variance(n, mean, n.p.getInt("ddof"), "axis");
  n.set(0, isRoot ? n.b.op("sqrt", {y}) : y);
  n.set(1, mean);
}

static void lowerMoments(LoweringContext &n) {
  if (!llvm::isa<mlir::FloatType>(GraphBuilder::elementOf(n.in(0))))
    return n.unsupported("moments of integers");
  Value mean, y = variance(n, mean, 0, "axes");
  n.set(0, mean);
  n.set(1, y);
}

template <Mnemonic name> static void lowerTruth(LoweringContext &n) {
  Value x = n.b.cast(n.in(0), n.b.boolean());
  n.set(0, n.b.reduce(name.str(), x, reducedAxes(n, n.rank(x)),
                      n.p.getBool("keepdims")));
}

template <Mnemonic name> static void lowerArg(LoweringContext &n) {
  Value x = n.in(0);
  int64_t rank = n.rank(x);
  bool keeps = n.p.getBool("keepdims");
  if (!n.p.isNone("axis"))
    return n.set(
        0, n.b.op(name.str(), {x},
                  {{"axis", n.axisOf("axis", rank)}, {"keepdims", keeps}}));
  Value row = n.b.reshape(x, {-1});
  Value y = n.b.op(name.str(), {row}, {{"axis", 0}, {"keepdims", true}});
  n.set(0, n.b.reshape(y, Ints(keeps ? rank : 0, 1)));
}

static void lowerCumsum(LoweringContext &n) {
  Value x = n.in(0);
  mlir::Type type = sumType(n, x);
  int64_t axis = 0;
  if (n.p.isNone("axis"))
    x = n.b.reshape(x, {-1});
  else
    axis = n.axisOf("axis", n.rank(x));
  n.set(0, n.b.op("cumsum", {n.b.cast(x, type), n.b.intScalar(axis)}));
}

//===-- Declarations ------------------------------------------------------===//

static Parameter axisParameter(std::string_view name = "axis") {
  return optional(name, ParameterKind::Ints, "None",
                  "The axes; None means all.");
}

static Parameter keepParameter() {
  return optional("keepdims", ParameterKind::Bool, "False",
                  "Leave reduced dimensions, with extent 1.");
}

static Operator reduction(std::string_view name,
                          std::vector<std::string_view> aliases,
                          std::string_view summary, bool hasType,
                          void (*types)(TypeRelation &),
                          void (*lower)(LoweringContext &)) {
  Operator op = {.name = name,
                 .aliases = std::move(aliases),
                 .summary = summary,
                 .details = "Over all axes the result is a scalar.",
                 .parameters = {axisParameter(), keepParameter()},
                 .inputs = {{"a"}},
                 .relateTypes = types,
                 .lower = lower};
  if (hasType)
    op.parameters.push_back(optional("dtype", ParameterKind::Type, "None",
                                     "Type that is computed in, and of the "
                                     "result; None: that of the data."));
  op.parameters.push_back(optional("initial", ParameterKind::Float, "None",
                                   "Counts as one more element."));
  return op;
}

static Operator truth(std::string_view name,
                      std::vector<std::string_view> aliases,
                      std::string_view summary,
                      void (*lower)(LoweringContext &)) {
  return {.name = name,
          .aliases = std::move(aliases),
          .summary = summary,
          .parameters = {axisParameter(), keepParameter()},
          .relateTypes = givesBool,
          .lower = lower};
}

static Operator argument(std::string_view name, std::string_view summary,
                         void (*lower)(LoweringContext &)) {
  return {.name = name,
          .summary = summary,
          .details = "The first of equal ones; int64.",
          .parameters = {optional("axis", ParameterKind::Int, "None",
                                  "The axis; None: all elements in a row."),
                         keepParameter()},
          .relateTypes = givesI64,
          .lower = lower};
}

static Operator moments(std::string_view name, std::string_view summary,
                        std::string_view output,
                        void (*lower)(LoweringContext &)) {
  return {.name = name,
          .summary = summary,
          .parameters = {axisParameter(),
                         optional("dtype", ParameterKind::Type, "None",
                                  "Another type is not supported."),
                         optional("ddof", ParameterKind::Int, "0",
                                  "What the divisor is less than the number "
                                  "of elements."),
                         keepParameter()},
          .inputs = {{"a"}},
          .outputs = {{output}, {.name = "mean", .isVisible = never()}},
          .lower = lower};
}

std::span<const Operator> dlc::symbol::numpyReductionOperators() {
  static const std::vector<Operator> rows = {
      reduction("_np_sum", {}, "Sum of elements", true, sumTypes,
                lowerSum<"reduce_sum", "add">),
      reduction("_np_prod", {"_np_product"}, "Product of elements", true,
                sumTypes, lowerSum<"reduce_prod", "mul">),
      reduction("_npi_mean", {}, "Mean of elements", true, meanTypes,
                lowerMean),
      reduction("_np_max", {"_np_amax"}, "Largest element", false, nullptr,
                lowerExtreme<"reduce_max", "max">),
      reduction("_np_min", {"_np_amin"}, "Smallest element", false, nullptr,
                lowerExtreme<"reduce_min", "min">),
      truth("_np_all", {}, "Whether no element is 0", lowerTruth<"reduce_min">),
      truth("_np_any", {"_np_sometrue"}, "Whether some element is not 0",
            lowerTruth<"reduce_max">),
      argument("_npi_argmax", "Place of the largest element",
               lowerArg<"arg_max">),
      argument("_npi_argmin", "Place of the smallest element",
               lowerArg<"arg_min">),
      moments("_npi_std", "Standard deviation", "std", lowerVariance<true>),
      moments("_npi_var", "Variance", "var", lowerVariance<false>),
      {.name = "_np_cumsum",
       .aliases = {"cumsum"},
       .summary = "Running sum",
       .parameters = {optional("axis", ParameterKind::Int, "None",
                               "The axis; None: all elements in a row."),
                      optional("dtype", ParameterKind::Type, "None",
                               "Type that is computed in, and of the result; "
                               "None: that of the data.")},
       .inputs = {{"a"}},
       .relateTypes = sumTypes,
       .lower = lowerCumsum},
      {.name = "moments",
       .summary = "Mean and variance of elements",
       .parameters = {axisParameter("axes"), keepParameter()},
       .outputs = {{"output0"}, {"output1"}},
       .lower = lowerMoments},
  };
  return rows;
}
