// SPDX-License-Identifier: Apache-2.0
//
// MXNet's NumPy operators that move elements: shapes, joints and parts.

#include "Rules.h"

using namespace dlc;
using namespace dlc::symbol;
using llvm::Twine;
using mlir::Value;

static int64_t elements(llvm::ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t dim : shape)
    if (__builtin_mul_overflow(count, dim, &count))
      return -1;
  return count;
}

//===-- Shapes ------------------------------------------------------------===//

/// Takes the dimension -1 out of the others.
static void setReshaped(LoweringContext &n, Ints shape) {
  Ints from = n.shape(n.in(0), "reshaping data");
  if (n.b.failed())
    return;
  Ints known;
  for (int64_t dim : shape)
    if (dim != -1)
      known.push_back(dim);
  int64_t all = elements(from), rest = elements(known);
  if (known.size() + 1 < shape.size())
    return n.fail("parameter 'newshape': expected at most one -1");
  bool fits =
      known.size() == shape.size() ? rest == all : rest > 0 && all % rest == 0;
  if (!fits)
    return n.fail("parameter 'newshape': expected a shape of " + Twine(all) +
                  " elements");
  for (int64_t &dim : shape)
    dim = dim == -1 ? all / rest : dim;
  n.set(0, n.b.reshapeTo(n.in(0), shape));
}

static bool checkOrder(LoweringContext &n) {
  if (n.p.getText("order") == "C")
    return true;
  n.unsupported("parameter 'order' of " + Twine(n.p.getText("order")) +
                ", expected C");
  return false;
}

static void lowerReshape(LoweringContext &n) {
  if (checkOrder(n))
    setReshaped(n, n.ints("newshape"));
}

/// The codes of npx.reshape: -1 is inferred, -2 copies a dimension, -3 drops
/// one of extent 1, -4 copies the rest, -5 merges two, -6 splits one into the
/// two numbers that follow.
static void lowerReshapeX(LoweringContext &n) {
  if (!checkOrder(n))
    return;
  Ints from = n.shape(n.in(0), "reshaping data"), codes = n.ints("newshape");
  if (n.b.failed())
    return;
  bool isReversed = n.p.getBool("reverse");
  if (isReversed) {
    std::reverse(from.begin(), from.end());
    std::reverse(codes.begin(), codes.end());
  }
  auto bad = [&](const Twine &text) {
    n.fail("parameter 'newshape': " + text);
  };
  Ints shape;
  size_t at = 0;
  for (size_t i = 0; i < codes.size(); ++i) {
    int64_t code = codes[i];
    size_t needed = code == -5 ? 2 : code == -2 || code == -3 || code == -6;
    if (at + needed > from.size())
      return bad("expected code " + Twine(code) +
                 " to have dimensions of the data left");
    if (code == -2) {
      shape.push_back(from[at++]);
    } else if (code == -3) {
      if (from[at++] != 1)
        return bad("expected an extent of 1 for -3, got " +
                   Twine(from[at - 1]));
    } else if (code == -4) {
      shape.append(from.begin() + at, from.end());
      at = from.size();
    } else if (code == -5) {
      shape.push_back(elements(llvm::ArrayRef(from).slice(at, 2)));
      at += 2;
    } else if (code == -6) {
      if (i + 2 >= codes.size())
        return bad("expected two factors behind -6");
      // Both are read backwards where all is.
      int64_t a = codes[i + 1], b = codes[i + 2], whole = from[at++];
      if (a == -1 && b > 0)
        a = whole / b;
      else if (b == -1 && a > 0)
        b = whole / a;
      if (elements({a, b}) != whole || a < 0)
        return bad("expected two factors of " + Twine(whole) + " behind -6");
      shape.append({a, b});
      i += 2;
    } else if (code < -6) {
      return bad("expected numbers of at least -6, got " + Twine(code));
    } else {
      shape.push_back(code);
      ++at;
    }
  }
  if (isReversed)
    std::reverse(shape.begin(), shape.end());
  setReshaped(n, shape);
}

static void lowerSqueeze(LoweringContext &n) {
  Ints shape = n.shape(n.in(0), "squeezing data"), axes;
  if (n.b.failed())
    return;
  auto rank = static_cast<int64_t>(shape.size());
  if (!n.p.isNone("axis"))
    axes = n.axes(n.ints("axis"), rank);
  else
    for (int64_t i = 0; i < rank; ++i)
      if (shape[i] == 1)
        axes.push_back(i);
  n.set(0, n.b.squeeze(n.in(0), axes));
}

static void lowerTranspose(LoweringContext &n) {
  int64_t rank = n.rank(n.in(0));
  Ints perm;
  if (!n.p.isNone("axes"))
    perm = n.axes(n.ints("axes"), rank);
  if (perm.empty()) {
    perm = range(0, rank);
    std::reverse(perm.begin(), perm.end());
  }
  if (static_cast<int64_t>(perm.size()) != rank)
    return n.fail("parameter 'axes': expected " + Twine(rank) +
                  " values, got " + Twine(perm.size()));
  n.set(0, n.b.transpose(n.in(0), perm));
}

static void lowerMoveAxis(LoweringContext &n) {
  int64_t rank = n.rank(n.in(0));
  Ints source = n.axes(n.ints("source"), rank),
       destination = n.axes(n.ints("destination"), rank);
  if (source.size() != destination.size())
    return n.fail("expected as many values of 'source' and 'destination'");
  if (n.b.failed())
    return;
  Ints perm(rank, -1);
  for (size_t i = 0; i < source.size(); ++i)
    perm[destination[i]] = source[i];
  Ints others;
  for (int64_t axis = 0; axis < rank; ++axis)
    if (!llvm::is_contained(source, axis))
      others.push_back(axis);
  size_t next = 0;
  for (int64_t &each : perm)
    if (each < 0)
      each = others[next++];
  n.set(0, n.b.transpose(n.in(0), perm));
}

/// Dimensions of extent 1 in front, in the middle of three, or behind.
template <int least> static void lowerAtLeast(LoweringContext &n) {
  for (size_t i = 0; i < n.inputCount(); ++i) {
    Value x = n.in(i);
    int64_t rank = n.rank(x);
    if (least == 3 && rank == 2)
      x = n.b.unsqueeze(x, {2});
    else if (least == 3 && rank == 1)
      x = n.b.unsqueeze(x, {0, 2});
    else if (rank < least)
      x = n.b.unsqueeze(x, range(0, least - rank));
    n.set(i, x);
  }
}

//===-- Order -------------------------------------------------------------===//

static Value rolled(LoweringContext &n, Value x, int64_t axis, int64_t shift) {
  int64_t extent = GraphBuilder::dimOf(x, axis);
  shift = extent ? ((shift % extent) + extent) % extent : 0;
  if (shift == 0)
    return x;
  return n.b.concat({n.b.slice(x, axis, extent - shift, INT64_MAX),
                     n.b.slice(x, axis, 0, extent - shift)},
                    axis);
}

static void lowerRoll(LoweringContext &n) {
  Value x = n.in(0);
  Ints shape = n.shape(x, "rolling data");
  if (n.b.failed())
    return;
  if (n.p.isNone("shift"))
    return n.fail("expected parameter 'shift', got None");
  Ints shifts = n.ints("shift");
  if (n.p.isNone("axis")) {
    if (shifts.size() != 1)
      return n.fail("parameter 'shift': expected 1 value without axes, got " +
                    Twine(shifts.size()));
    Value row = n.b.reshape(x, {-1});
    return n.set(0, n.b.reshapeTo(rolled(n, row, 0, shifts[0]), shape));
  }
  Ints axes = n.ints("axis");
  if (shifts.size() == 1)
    shifts.assign(axes.size(), shifts[0]);
  if (shifts.size() != axes.size())
    return n.fail("expected as many values of 'shift' and 'axis'");
  for (auto [axis, shift] : llvm::zip(axes, shifts))
    x = rolled(n, x, n.axis(axis, shape.size()), shift);
  n.set(0, x);
}

static Value flipped(LoweringContext &n, Value x, int64_t axis) {
  return n.b.slice(x, axis, INT64_MAX, INT64_MIN, -1);
}

static void lowerFlip(LoweringContext &n) {
  Value x = n.in(0);
  for (int64_t axis : n.axes(n.ints("axis"), n.rank(x)))
    x = flipped(n, x, axis);
  n.set(0, x);
}

/// Quarters of a turn from the first axis towards the second.
static void lowerRotate(LoweringContext &n) {
  Value x = n.in(0);
  int64_t rank = n.rank(x), quarters = ((n.p.getInt("k") % 4) + 4) % 4;
  Ints axes = {0, 1};
  if (!n.p.isNone("axes"))
    axes = n.ints("axes");
  axes = n.axes(axes, rank);
  if (axes.size() != 2)
    return n.fail("parameter 'axes': expected 2 values, got " +
                  Twine(axes.size()));
  if (n.b.failed())
    return;
  Ints swap = range(0, rank);
  std::swap(swap[axes[0]], swap[axes[1]]);
  if (quarters == 2)
    x = flipped(n, flipped(n, x, axes[0]), axes[1]);
  else if (quarters == 1)
    x = n.b.transpose(flipped(n, x, axes[1]), swap);
  else if (quarters == 3)
    x = flipped(n, n.b.transpose(x, swap), axes[1]);
  n.set(0, x);
}

//===-- Joining -----------------------------------------------------------===//

static bool hasOperands(LoweringContext &n) {
  if (n.inputCount() > 0)
    return true;
  n.fail("expected at least 1 operand, got none");
  return false;
}

/// Without an axis of rows.
static void lowerConcatenate(LoweringContext &n) {
  if (!hasOperands(n))
    return;
  llvm::SmallVector<Value> parts(n.inputs());
  if (!n.p.isNone("axis"))
    return n.set(0, n.b.concat(parts, n.axisOf("axis", n.rank(parts.front()))));
  for (Value &part : parts)
    part = n.b.reshape(part, {-1});
  n.set(0, n.b.concat(parts, 0));
}

static void lowerStack(LoweringContext &n) {
  if (!hasOperands(n))
    return;
  int64_t axis = n.axisOf("axis", n.rank(n.in(0)) + 1);
  llvm::SmallVector<Value> parts;
  for (Value x : n.inputs())
    parts.push_back(n.b.unsqueeze(x, {axis}));
  n.set(0, n.b.concat(parts, axis));
}

/// Rows below each other; vectors are rows.
static void lowerVertical(LoweringContext &n) {
  if (!hasOperands(n))
    return;
  llvm::SmallVector<Value> parts;
  for (Value x : n.inputs())
    parts.push_back(n.rank(x) < 2 ? n.b.unsqueeze(x, range(0, 2 - n.rank(x)))
                                  : x);
  n.set(0, n.b.concat(parts, 0));
}

static void lowerHorizontal(LoweringContext &n) {
  if (!hasOperands(n))
    return;
  llvm::SmallVector<Value> parts;
  for (Value x : n.inputs())
    parts.push_back(n.rank(x) == 0 ? n.b.unsqueeze(x, {0}) : x);
  n.set(0, n.b.concat(parts, n.rank(parts.front()) == 1 ? 0 : 1));
}

/// Behind each other, along a third axis.
static void lowerDeep(LoweringContext &n) {
  if (!hasOperands(n))
    return;
  llvm::SmallVector<Value> parts;
  for (Value x : n.inputs()) {
    int64_t rank = n.rank(x);
    parts.push_back(rank == 0   ? n.b.unsqueeze(x, {0, 1, 2})
                    : rank == 1 ? n.b.unsqueeze(x, {0, 2})
                    : rank == 2 ? n.b.unsqueeze(x, {2})
                                : x);
  }
  n.set(0, n.b.concat(parts, 2));
}

/// Vectors are columns.
static void lowerColumns(LoweringContext &n) {
  if (!hasOperands(n))
    return;
  llvm::SmallVector<Value> parts;
  for (Value x : n.inputs()) {
    int64_t rank = n.rank(x);
    parts.push_back(rank == 0   ? n.b.unsqueeze(x, {0, 1})
                    : rank == 1 ? n.b.unsqueeze(x, {1})
                                : x);
  }
  n.set(0, n.b.concat(parts, 1));
}

//===-- Parts -------------------------------------------------------------===//

/// The extents between `indices`, where the last of them is open.
static void lowerDiff(LoweringContext &n) {
  Value x = n.in(0);
  int64_t axis = n.axisOf("axis", n.rank(x));
  for (int64_t i = 0; i < n.p.getInt("n") && !n.b.failed(); ++i)
    x = n.b.sub(n.b.slice(x, axis, 1, INT64_MAX), n.b.slice(x, axis, 0, -1));
  n.set(0, x);
}

static void lowerTril(LoweringContext &n) {
  Value x = n.in(0);
  if (n.rank(x) == 1) { // The vector in every row.
    Ints shape = n.shape(x, "a triangle");
    if (n.b.failed())
      return;
    x = n.b.op("expand", {x, n.b.ints({shape[0], shape[0]})});
  }
  if (n.rank(x) < 2)
    return n.fail("expected data of at least 1 dimension, got a scalar");
  n.set(0, n.b.op("trilu", {x, n.b.intScalar(n.p.getInt("k"))},
                  {{"upper", false}}));
}

static void lowerBroadcastTo(LoweringContext &n) {
  Value x = n.in(0);
  Ints shape = n.ints("shape");
  int64_t rank = n.rank(x);
  if (rank > static_cast<int64_t>(shape.size()))
    return n.fail("parameter 'shape': expected at least " + Twine(rank) +
                  " values, got " + Twine(shape.size()));
  for (size_t i = 0; i < shape.size(); ++i) {
    int64_t own =
        static_cast<int64_t>(i) + rank - static_cast<int64_t>(shape.size());
    if (shape[i] < 0) // The data's own.
      shape[i] = own >= 0 ? GraphBuilder::dimOf(x, own) : 1;
  }
  n.set(0, n.b.op("expand", {x, n.b.ints(shape)}));
}

//===-- Declarations ------------------------------------------------------===//

static Operator joint(std::string_view name, std::string_view summary,
                      void (*lower)(LoweringContext &),
                      std::vector<Parameter> parameters = {},
                      std::string_view output = "output") {
  Operator op = {.name = name,
                 .summary = summary,
                 .parameters = {optional("num_args", ParameterKind::Int, "0",
                                         "Number of operands; filled in when "
                                         "composing.")
                                    .within(0, kMaxOperands)},
                 .inputs = {},
                 .inputCount = "num_args",
                 .outputs = {{output}},
                 .lower = lower};
  for (Parameter &parameter : parameters)
    op.parameters.push_back(std::move(parameter));
  return op;
}

template <int least>
static Operator atLeast(std::string_view name, std::string_view summary) {
  Operator op = joint(name, summary, lowerAtLeast<least>);
  op.outputCount = "num_args";
  op.parameters.front() =
      required("num_args", ParameterKind::Int, "Number of operands.")
          .within(1, kMaxOperands);
  return op;
}

static Parameter order() {
  return optional("order", ParameterKind::Text, "C",
                  "Order of elements; others are not supported.");
}

static std::vector<Operator> makeShapeRows() {
  return {
      {.name = "_np_reshape",
       .summary = "The same elements in another shape",
       .parameters = {required("newshape", ParameterKind::Ints,
                               "The shape; one -1 is inferred.")
                          .within(-1, kMaxExtent),
                      order()},
       .inputs = {{"a"}},
       .lower = lowerReshape},
      {.name = "_npx_reshape",
       .aliases = {"_npi_reshape"},
       .summary = "The same elements in another shape, in codes",
       .details = "-1 is inferred, -2 copies a dimension, -3 drops one of "
                  "extent 1, -4 copies the rest, -5 merges two, -6 splits one "
                  "into the two numbers that follow.",
       .parameters = {required("newshape", ParameterKind::Ints, "The codes.")
                          .within(-6, kMaxExtent),
                      optional("reverse", ParameterKind::Bool, "False",
                               "Read dimensions and codes from the right."),
                      order()},
       .inputs = {{"a"}},
       .lower = lowerReshapeX},
      {.name = "_np_squeeze",
       .summary = "Without dimensions of extent 1",
       .parameters = {optional("axis", ParameterKind::Ints, "None",
                               "The axes; None means all of extent 1.")},
       .inputs = {{"a"}},
       .lower = lowerSqueeze},
      {.name = "_np_transpose",
       .summary = "Dimensions in another order",
       .parameters = {optional("axes", ParameterKind::Ints, "None",
                               "The order; None turns it around.")},
       .inputs = {{"a"}},
       .lower = lowerTranspose},
      {.name = "_np_moveaxis",
       .summary = "Some dimensions at other places",
       .parameters = {required("source", ParameterKind::Ints, "The axes."),
                      required("destination", ParameterKind::Ints,
                               "Where they go.")},
       .inputs = {{"a"}},
       .lower = lowerMoveAxis},
      atLeast<1>("_np_atleast_1d", "Operands of at least 1 dimension"),
      atLeast<2>("_np_atleast_2d", "Operands of at least 2 dimensions"),
      atLeast<3>("_np_atleast_3d", "Operands of at least 3 dimensions"),
      {.name = "_npi_broadcast_to",
       .summary = "Repetition to a shape",
       .parameters = {optional("shape", ParameterKind::Ints, "()",
                               "The shape; -1 keeps a dimension.")
                          .within(-1, kMaxExtent)},
       .inputs = {{"array"}},
       .lower = lowerBroadcastTo},
  };
}

static std::vector<Operator> makeOrderRows() {
  return {
      {.name = "_np_roll",
       .summary = "Elements moved around axes",
       .parameters = {optional("shift", ParameterKind::Ints, "None",
                               "How far along each axis."),
                      optional("axis", ParameterKind::Ints, "None",
                               "The axes; None: all elements in a row.")},
       .lower = lowerRoll},
      {.name = "_npi_flip",
       .summary = "Axes turned around",
       .parameters = {required("axis", ParameterKind::Ints, "The axes.")},
       .relateShapes = sameShapes,
       .lower = lowerFlip},
      {.name = "_npi_rot90",
       .summary = "Rotation by quarters of a turn",
       .parameters = {optional("k", ParameterKind::Int, "1", "How many."),
                      optional("axes", ParameterKind::Ints, "None",
                               "From the first towards the second; None: the "
                               "first two.")},
       .lower = lowerRotate},
      {.name = "_npi_diff",
       .summary = "Differences of neighbours",
       .parameters =
           {optional("n", ParameterKind::Int, "1", "How often.").within(0, 64),
            optional("axis", ParameterKind::Int, "-1", "Along which axis.")},
       .inputs = {{"a"}},
       .lower = lowerDiff},
      {.name = "_npi_tril",
       .summary = "The lower triangle of matrices",
       .parameters = {optional("k", ParameterKind::Int, "0",
                               "The diagonal that it ends at.")
                          .within(-kMaxExtent, kMaxExtent)},
       .lower = lowerTril},
  };
}

std::span<const Operator> dlc::symbol::numpyShapeOperators() {
  static const std::vector<Operator> rows = [] {
    std::vector<Operator> rows = makeShapeRows();
    for (Operator &row : makeOrderRows())
      rows.push_back(std::move(row));
    Parameter axis = optional("axis", ParameterKind::Int, "0", "The axis.");
    Parameter dim = ignored("dim", ParameterKind::Int, "1");
    Parameter orNone = optional("axis", ParameterKind::Int, "0",
                                "The axis; None: elements in a row.")
                           .orNone();
    for (Operator &row : std::vector<Operator>{
             joint("_npi_concatenate", "Operands one behind the other",
                   lowerConcatenate, {orNone}, "out"),
             joint("_npi_stack", "Operands along a new axis", lowerStack,
                   {axis}),
             joint("_npi_vstack", "Operands below each other", lowerVertical),
             joint("_npi_hstack", "Operands beside each other", lowerHorizontal,
                   {dim}, "out"),
             joint("_npi_dstack", "Operands behind each other", lowerDeep,
                   {dim}, "out"),
             joint("_npi_column_stack", "Operands as columns", lowerColumns)})
      rows.push_back(std::move(row));
    return rows;
  }();
  return rows;
}
