// SPDX-License-Identifier: Apache-2.0
//
// Tensors out of parameters and shapes: NumPy's, and MXNet's others.

#include "Rules.h"

#include <cmath>
#include <numbers>

using namespace dlc;
using namespace dlc::symbol;
using llvm::Twine;
using mlir::Value;

//===-- Filled ------------------------------------------------------------===//

template <int value> static void lowerFilled(LoweringContext &n) {
  Value scalar = n.b.scalar(typeParameter(n, "dtype"), value);
  n.set(0, n.b.op("expand", {scalar, n.b.ints(n.ints("shape"))}));
}

static void relateFullLike(TypeRelation &r) {
  if (r.parameters.isNone("dtype"))
    r.equate(0, 0);
  else
    r.setOutput(0, r.parameters.getType("dtype"));
}

static void lowerFullLike(LoweringContext &n) {
  Value x = n.in(0);
  mlir::Type type = n.p.isNone("dtype") ? GraphBuilder::elementOf(x)
                                        : typeParameter(n, "dtype");
  Value scalar = n.b.scalar(type, n.p.getFloat("fill_value"));
  n.set(0, n.b.op("expand", {scalar, n.b.shapeOf(x)}));
}

/// 0, 1, ..., count - 1 of f64, in which everything is computed.
static Value numbers(LoweringContext &n, int64_t count) {
  Value row = n.b.op(
      "range", {n.b.intScalar(0), n.b.intScalar(count), n.b.intScalar(1)});
  return n.b.cast(row, n.b.opBuilder().getF64Type());
}

static Value scaled(LoweringContext &n, Value x, double by, double plus) {
  return n.b.add(n.b.mul(x, n.scalarLike(x, by)), n.scalarLike(x, plus));
}

//===-- Matrices ----------------------------------------------------------===//

/// Ones where the column is `k` more than the row.
static void setEye(LoweringContext &n, int64_t rows, int64_t columns,
                   int64_t k) {
  if (rows > 1 << 15 || columns > 1 << 15)
    return n.fail("expected at most 32768 rows and columns, got " +
                  Twine(rows) + " and " + Twine(columns));
  auto places = [&](int64_t count) {
    return n.b.op("range",
                  {n.b.intScalar(0), n.b.intScalar(count), n.b.intScalar(1)});
  };
  Value row = n.b.unsqueeze(places(rows), {1});
  Value isOn =
      n.b.op("equal", {n.b.add(row, n.b.intScalar(k)), places(columns)});
  n.set(0, n.b.cast(isOn, typeParameter(n, "dtype")));
}

static void lowerEye(LoweringContext &n) {
  int64_t rows = n.p.getInt("N"), columns = rows;
  if (!n.p.isNone("M") && n.p.getInt("M") != 0)
    columns = n.p.getInt("M");
  setEye(n, rows, columns, n.p.getInt("k"));
}

static void lowerIdentityMatrix(LoweringContext &n) {
  Ints shape = n.ints("shape");
  if (shape.size() != 2 || shape[0] != shape[1])
    return n.fail("parameter 'shape': expected two equal extents");
  setEye(n, shape[0], shape[1], 0);
}

/// The coordinates of every place, along a first axis.
static void lowerIndices(LoweringContext &n) {
  Ints dims = n.ints("dimensions");
  if (dims.empty())
    return n.fail("parameter 'dimensions': expected some, got none");
  llvm::SmallVector<Value> parts;
  auto rank = static_cast<int64_t>(dims.size());
  Ints whole = dims;
  whole.insert(whole.begin(), 1);
  for (int64_t axis = 0; axis < rank; ++axis) {
    Value row = n.b.op("range", {n.b.intScalar(0), n.b.intScalar(dims[axis]),
                                 n.b.intScalar(1)});
    Ints ones(rank + 1, 1);
    ones[axis + 1] = dims[axis];
    parts.push_back(
        n.b.op("expand", {n.b.reshapeTo(row, ones), n.b.ints(whole)}));
  }
  n.set(0, n.b.cast(n.b.concat(parts, 0), typeParameter(n, "dtype")));
}

/// The coordinates of every place of the data, along a last axis.
static void lowerIndexArray(LoweringContext &n) {
  Ints dims = n.shape(n.in(0), "places of data");
  auto rank = static_cast<int64_t>(dims.size());
  Ints axes = range(0, rank);
  if (!n.p.isNone("axes"))
    axes = n.axes(n.ints("axes"), rank);
  if (n.b.failed())
    return;
  if (axes.empty())
    return n.fail("expected data of at least 1 dimension, got a scalar");
  llvm::SmallVector<Value> parts;
  Ints whole = dims;
  whole.push_back(1);
  for (int64_t axis : axes) {
    Value row = n.b.op("range", {n.b.intScalar(0), n.b.intScalar(dims[axis]),
                                 n.b.intScalar(1)});
    Ints ones(rank + 1, 1);
    ones[axis] = dims[axis];
    parts.push_back(
        n.b.op("expand", {n.b.reshapeTo(row, ones), n.b.ints(whole)}));
  }
  n.set(0, n.b.concat(parts, rank));
}

//===-- Rows of numbers ---------------------------------------------------===//

static void lowerArange(LoweringContext &n) {
  double start = n.p.getFloat("start"), step = n.p.getFloat("step"), stop = 0;
  if (n.p.isNone("stop"))
    std::swap(start, stop);
  else
    stop = n.p.getFloat("stop");
  double count = std::ceil((stop - start) / step);
  if (!(step != 0 && count >= 0 && count <= 1 << 30))
    return n.fail("expected numbers between 'start' and 'stop', got too many");
  Value row = numbers(n, static_cast<int64_t>(count));
  n.set(0, n.b.cast(scaled(n, row, step, start), typeParameter(n, "dtype")));
}

/// `num` numbers from `start` to `stop`, which is one of them or not.
static Value spaced(LoweringContext &n) {
  int64_t count = n.p.getInt("num");
  double start = n.p.getFloat("start"), stop = n.p.getFloat("stop");
  int64_t steps = n.p.getBool("endpoint") ? count - 1 : count;
  double step = steps > 0 ? (stop - start) / static_cast<double>(steps) : 0;
  return scaled(n, numbers(n, count), step, start);
}

static void lowerLinspace(LoweringContext &n) {
  n.set(0, n.b.cast(spaced(n), typeParameter(n, "dtype")));
}

static void lowerLogspace(LoweringContext &n) {
  Value exponents = spaced(n);
  Value base = n.scalarLike(exponents, n.p.getFloat("base"));
  n.set(0,
        n.b.cast(n.b.op("pow", {base, exponents}), typeParameter(n, "dtype")));
}

/// The data's shape, or the extent of one axis; each number `repeat` times.
static void lowerArangeLike(LoweringContext &n) {
  Value x = n.in(0);
  Ints shape = n.shape(x, "numbers like data");
  if (n.b.failed())
    return;
  if (!n.p.isNone("axis")) {
    int64_t axis = n.axisOf("axis", static_cast<int64_t>(shape.size()));
    if (n.b.failed())
      return;
    shape = {shape[axis]};
  }
  int64_t count = 1, repeat = n.p.getInt("repeat");
  for (int64_t dim : shape)
    count *= dim;
  Value places = n.b.op(
      "range", {n.b.intScalar(0), n.b.intScalar(count), n.b.intScalar(1)});
  places = n.b.op("div", {places, n.b.intScalar(repeat)});
  Value y = scaled(n, n.b.cast(places, n.b.opBuilder().getF64Type()),
                   n.p.getFloat("step"), n.p.getFloat("start"));
  n.set(0, n.b.reshapeTo(n.b.castLike(y, x), shape));
}

/// a + b cos(2 pi i / (M - 1)) + c cos(4 pi i / (M - 1)), in thousandths.
template <int a, int b, int c> static void lowerWindow(LoweringContext &n) {
  if (n.p.isNone("M"))
    return n.fail("expected parameter 'M', got None");
  int64_t count = n.p.getInt("M");
  mlir::Type type = typeParameter(n, "dtype");
  if (count <= 1)
    return n.set(0, n.b.splat({std::max<int64_t>(count, 0)}, type, 1));
  double turn = 2 * std::numbers::pi / static_cast<double>(count - 1);
  Value row = numbers(n, count);
  Value once = n.b.op("cos", {scaled(n, row, turn, 0)});
  Value twice = n.b.op("cos", {scaled(n, row, 2 * turn, 0)});
  Value y = n.b.add(scaled(n, once, b / 1000.0, a / 1000.0),
                    scaled(n, twice, c / 1000.0, 0));
  n.set(0, n.b.cast(y, type));
}

/// The places of a diagonal: one row for each dimension.
static void lowerDiagonalPlaces(LoweringContext &n) {
  Ints shape = n.shape(n.in(0), "data");
  if (n.b.failed())
    return;
  if (shape.size() < 2)
    return n.fail("input 'data': expected at least 2 dimensions, got " +
                  Twine(shape.size()));
  for (int64_t extent : shape)
    if (extent != shape[0])
      return n.fail("input 'data': expected dimensions of equal extents, got " +
                    Twine(shape[0]) + " and " + Twine(extent));
  Value row = n.b.op(
      "range", {n.b.intScalar(0), n.b.intScalar(shape[0]), n.b.intScalar(1)});
  n.set(0, n.b.op("expand", {row, n.b.ints({static_cast<int64_t>(shape.size()),
                                            shape[0]})}));
}

static void givesPlaces(TypeRelation &r) { r.setOutput(0, DLC_I64); }

//===-- Declarations ------------------------------------------------------===//

static Parameter dtype(std::string_view fallback = "float32") {
  return optional("dtype", ParameterKind::Type, fallback,
                  "Type of the elements.");
}

static Operator creation(std::string_view name,
                         std::vector<std::string_view> aliases,
                         std::string_view summary,
                         std::vector<Parameter> parameters,
                         void (*lower)(LoweringContext &)) {
  parameters.push_back(ignored("ctx", ParameterKind::Text, ""));
  return {.name = name,
          .aliases = std::move(aliases),
          .summary = summary,
          .parameters = std::move(parameters),
          .inputs = {},
          .relateTypes = convertsToDtype,
          .lower = lower};
}

static Parameter shape() {
  return optional("shape", ParameterKind::Ints, "()",
                  "The shape; () is that of a scalar.")
      .within(0, kMaxExtent);
}

static std::vector<Parameter> eyeParameters(std::string_view columns) {
  return {required("N", ParameterKind::Int, "Rows.").within(0, kMaxExtent),
          optional("M", ParameterKind::Int, columns,
                   "Columns; 0 and None: as many as rows.")
              .orNone()
              .within(0, kMaxExtent),
          optional("k", ParameterKind::Int, "0", "Which diagonal.")
              .within(-kMaxExtent, kMaxExtent),
          dtype()};
}

static std::vector<Parameter> spacedParameters() {
  return {required("start", ParameterKind::Float, "The first."),
          required("stop", ParameterKind::Float, "The last."),
          required("num", ParameterKind::Int, "How many.").within(0, 1 << 30),
          optional("endpoint", ParameterKind::Bool, "True",
                   "The last is one of them."),
          dtype()};
}

static std::vector<Parameter> windowParameters() {
  return {optional("M", ParameterKind::Int, "None", "How many elements.")
              .orNone()
              .within(-kMaxExtent, 1 << 30),
          dtype()};
}

std::span<const Operator> dlc::symbol::numpyCreationOperators() {
  static const std::vector<Operator> rows = [] {
    std::vector<Parameter> log = spacedParameters();
    log.push_back(optional("base", ParameterKind::Float, "10",
                           "What has the numbers as exponents."));
    return std::vector<Operator>{
        creation("_npi_zeros", {}, "Zeros", {shape(), dtype()}, lowerFilled<0>),
        creation("_npi_ones", {}, "Ones", {shape(), dtype()}, lowerFilled<1>),
        creation("_npi_eye", {}, "Ones on a diagonal", eyeParameters("None"),
                 lowerEye),
        creation("_eye", {}, "Ones on a diagonal", eyeParameters("0"),
                 lowerEye),
        creation("_npi_identity", {}, "Ones on the diagonal",
                 {shape(), dtype()}, lowerIdentityMatrix),
        creation("_npi_indices", {}, "Coordinates of all places",
                 {required("dimensions", ParameterKind::Ints, "The extents.")
                      .within(0, 1 << 15),
                  dtype("int32")},
                 lowerIndices),
        creation(
            "_npi_arange", {}, "Numbers at equal distances",
            {optional("start", ParameterKind::Float, "0", "The first."),
             optional("stop", ParameterKind::Float, "None",
                      "Where they end, exclusive; None: at `start`, from 0."),
             optional("step", ParameterKind::Float, "1", "The distance."),
             ignored("repeat", ParameterKind::Int, "1"),
             ignored("infer_range", ParameterKind::Bool, "False"), dtype()},
            lowerArange),
        creation("_linspace", {"_npi_linspace"},
                 "As many numbers at equal distances", spacedParameters(),
                 lowerLinspace),
        creation("_npi_logspace", {}, "Powers at equal ratios", log,
                 lowerLogspace),
        creation("_npi_hanning", {}, "The Hann window", windowParameters(),
                 lowerWindow<500, -500, 0>),
        creation("_npi_hamming", {}, "The Hamming window", windowParameters(),
                 lowerWindow<540, -460, 0>),
        creation("_npi_blackman", {}, "The Blackman window", windowParameters(),
                 lowerWindow<420, -500, 80>),
        {.name = "_npi_diag_indices_from",
         .summary = "Places of the diagonal of the data, a row for each "
                    "dimension",
         .relateTypes = givesPlaces,
         .lower = lowerDiagonalPlaces},
        {.name = "_npi_full_like",
         .summary = "One value in the data's shape",
         .parameters = {required("fill_value", ParameterKind::Float,
                                 "The value."),
                        ignored("ctx", ParameterKind::Text, ""),
                        optional("dtype", ParameterKind::Type, "None",
                                 "Type of the result; None: the data's.")},
         .inputs = {{"a"}},
         .relateShapes = sameShapes,
         .relateTypes = relateFullLike,
         .lower = lowerFullLike},
        {.name = "_contrib_arange_like",
         .aliases = {"_npx_arange_like"},
         .summary = "Numbers at equal distances in the data's shape",
         .parameters = {optional("start", ParameterKind::Float, "0",
                                 "The first."),
                        optional("step", ParameterKind::Float, "1",
                                 "The distance."),
                        optional("repeat", ParameterKind::Int, "1",
                                 "How often each number comes.")
                            .within(1, 1 << 20),
                        ignored("ctx", ParameterKind::Text, ""),
                        optional("axis", ParameterKind::Int, "None",
                                 "As many as this axis has; None: as the "
                                 "data has.")},
         .lower = lowerArangeLike},
        {.name = "_contrib_index_array",
         .summary = "Coordinates of every place of the data",
         .parameters = {optional("axes", ParameterKind::Ints, "None",
                                 "Those of which axes; None: of all.")},
         .relateTypes = [](TypeRelation &r) { r.setOutput(0, DLC_I64); },
         .lower = lowerIndexArray},
    };
  }();
  return rows;
}
