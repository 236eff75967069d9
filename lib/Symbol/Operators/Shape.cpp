// SPDX-License-Identifier: Apache-2.0
//
// The same elements in another shape or order of dimensions, and shapes as
// values.

#include "Rules.h"

using namespace dlc;
using namespace dlc::symbol;
using llvm::Twine;
using mlir::Value;

//===-- Reshape -----------------------------------------------------------===//

namespace {
/// Reads the codes of Reshape's `shape` against the dimensions of the data: 0
/// copies one, -1 is inferred, -2 copies the rest, -3 merges two, -4 splits one
/// into the two numbers that follow.
class ReshapeReader {
public:
  ReshapeReader(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> codes)
      : dims(dims), codes(codes) {}

  bool read();
  Ints result;
  std::string message;

private:
  bool fail(const Twine &text) {
    message = "parameter 'shape': " + text.str();
    return false;
  }
  bool split();
  bool infer();
  bool needs(size_t count) {
    return at + count <= dims.size() ||
           fail("expected code " + Twine(codes[i]) +
                " to have dimensions of the data left");
  }

  llvm::ArrayRef<int64_t> dims, codes;
  size_t i = 0, at = 0; ///< In codes, in dims.
  std::optional<size_t> inferred;
};
} // namespace

bool ReshapeReader::split() {
  if (!needs(1))
    return false;
  if (i + 2 >= codes.size())
    return fail("expected two factors behind -4, got " +
                Twine(codes.size() - i - 1));
  int64_t a = codes[i + 1], b = codes[i + 2], whole = dims[at];
  if (a == -1 && b > 0 && whole % b == 0)
    a = whole / b;
  if (b == -1 && a > 0 && whole % a == 0)
    b = whole / a;
  int64_t product = 0;
  if (a <= 0 || b <= 0 || __builtin_mul_overflow(a, b, &product) ||
      product != whole)
    return fail("expected two factors of " + Twine(whole) + " behind -4, got " +
                Twine(codes[i + 1]) + " and " + Twine(codes[i + 2]));
  result.append({a, b});
  i += 2;
  ++at;
  return true;
}

bool ReshapeReader::infer() {
  if (!inferred)
    return true;
  int64_t known = 1, all = 1;
  for (auto [j, dim] : llvm::enumerate(result))
    if (j != *inferred && __builtin_mul_overflow(known, dim, &known))
      return fail("expected a size within 64 bits");
  for (int64_t dim : dims)
    if (__builtin_mul_overflow(all, dim, &all))
      return fail("expected a size within 64 bits");
  if (known == 0 || all % known)
    return fail("expected a size that divides " + Twine(all) + ", got " +
                Twine(known));
  result[*inferred] = all / known;
  return true;
}

bool ReshapeReader::read() {
  for (; i < codes.size(); ++i) {
    int64_t code = codes[i];
    if (code > 0) {
      result.push_back(code);
      ++at;
    } else if (code == 0) {
      if (!needs(1))
        return false;
      result.push_back(dims[at++]);
    } else if (code == -1) {
      if (inferred)
        return fail("expected at most one -1, got " +
                    Twine(llvm::count(codes, -1)));
      inferred = result.size();
      result.push_back(1);
      ++at;
    } else if (code == -2) {
      while (at < dims.size())
        result.push_back(dims[at++]);
    } else if (code == -3) {
      if (!needs(2))
        return false;
      int64_t merged = 0;
      if (__builtin_mul_overflow(dims[at], dims[at + 1], &merged))
        return fail("expected a size within 64 bits");
      result.push_back(merged);
      at += 2;
    } else if (code != -4) {
      return fail("expected numbers of at least -4, got " + Twine(code));
    } else if (!split()) {
      return false;
    }
  }
  return infer();
}

/// With `reverse` the codes match dimensions from the right; the factors of -4
/// then stand in front of it.
static bool readReshape(llvm::ArrayRef<int64_t> dims,
                        llvm::ArrayRef<int64_t> codes, bool isReversed,
                        Ints &result, std::string &message) {
  Ints ownDims(dims.begin(), dims.end()), ownCodes(codes.begin(), codes.end());
  if (isReversed) {
    std::reverse(ownDims.begin(), ownDims.end());
    std::reverse(ownCodes.begin(), ownCodes.end());
  }
  ReshapeReader reader(ownDims, ownCodes);
  if (!reader.read()) {
    message = reader.message;
    return false;
  }
  result = reader.result;
  if (isReversed)
    std::reverse(result.begin(), result.end());
  return true;
}

/// What files before 0.9 have: 0 is inferred; the first dimension may be kept.
static Ints legacyCodes(const Parameters &p) {
  Ints codes(llvm::ArrayRef<int64_t>(p.getInts("target_shape")));
  for (int64_t &code : codes)
    code = code == 0 ? -1 : code;
  if (p.getBool("keep_highest") && !codes.empty())
    codes[0] = 0;
  return codes;
}

static std::string textOf(llvm::ArrayRef<int64_t> dims) {
  return toText(Shape(std::vector<int64_t>(dims.begin(), dims.end())));
}

static void lowerReshape(LoweringContext &n) {
  Ints codes = n.ints("shape");
  bool isReversed = n.p.getBool("reverse");
  if (codes.empty()) {
    codes = legacyCodes(n.p);
    isReversed = false;
  }
  if (codes.empty())
    return n.fail("expected parameter 'shape', got none");
  Value x = n.in(0);
  bool isPlain = !isReversed &&
                 llvm::all_of(codes, [](int64_t code) { return code >= -1; });
  if (isPlain && !GraphBuilder::shapeIfStatic(x))
    return n.set(0, n.b.reshape(x, codes)); // 0 and -1 mean the same there.
  Ints dims = n.shape(x, "reshaping data"), result;
  if (n.b.failed())
    return;
  std::string message;
  if (!readReshape(dims, codes, isReversed, result, message))
    return n.fail(message);
  if (product(std::vector<int64_t>(dims.begin(), dims.end()), 0, dims.size()) !=
      product(std::vector<int64_t>(result.begin(), result.end()), 0,
              result.size()))
    return n.fail("parameter 'shape': expected as many elements as " +
                  textOf(dims) + " has, got " + textOf(result));
  n.set(0, n.b.reshapeTo(x, result));
}

//===-- Dimensions --------------------------------------------------------===//

static void lowerFlatten(LoweringContext &n) {
  if (n.rank(n.in(0)) < 1)
    return n.fail("expected data of at least 1 dimension, got a scalar");
  n.set(0, n.b.op("flatten", {n.in(0)}, {{"axis", 1}}));
}

/// Backwards: dimension axes[i] of the data is dimension i of the result.
static void relateTranspose(ShapeRelation &r) {
  const Shape &result = r.output(0);
  if (!result)
    return;
  auto rank = static_cast<int64_t>(result->size());
  std::vector<int64_t> axes = r.parameters.getInts("axes");
  if (axes.empty())
    for (int64_t i = rank - 1; i >= 0; --i)
      axes.push_back(i);
  if (static_cast<int64_t>(axes.size()) != rank)
    return; // Which the lowering says.
  std::vector<int64_t> data(rank, rt::kUnknownDim);
  for (int64_t i = 0; i < rank; ++i) {
    int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
    if (axis < 0 || axis >= rank)
      return;
    data[axis] = (*result)[i];
  }
  r.setInput(0, data);
}

static void lowerTranspose(LoweringContext &n) {
  int64_t rank = n.rank(n.in(0));
  Ints perm = n.ints("axes");
  if (perm.empty()) {
    perm = range(0, rank);
    std::reverse(perm.begin(), perm.end());
  }
  perm = n.axes(perm, rank);
  if (static_cast<int64_t>(perm.size()) != rank)
    return n.fail("parameter 'axes': expected " + Twine(rank) + " axes, got " +
                  Twine(perm.size()));
  n.set(0, n.b.transpose(n.in(0), perm));
}

static void lowerSwapAxis(LoweringContext &n) {
  int64_t rank = n.rank(n.in(0));
  Ints perm = range(0, rank);
  int64_t a = n.axisOf("dim1", rank), b = n.axisOf("dim2", rank);
  if (n.b.failed())
    return;
  std::swap(perm[a], perm[b]);
  n.set(0, n.b.transpose(n.in(0), perm));
}

static void relateExpandDims(ShapeRelation &r) {
  Shape data = r.output(0);
  if (!data)
    return;
  if (auto axis = axisWithin(r.parameters.getInt("axis"), data->size())) {
    data->erase(data->begin() + *axis);
    r.setInput(0, data);
  }
}

static void lowerExpandDims(LoweringContext &n) {
  int64_t rank = n.rank(n.in(0));
  n.set(0, n.b.unsqueeze(n.in(0), {n.axisOf("axis", rank + 1)}));
}

static void lowerSqueeze(LoweringContext &n) {
  Value x = n.in(0);
  Ints axes;
  if (n.p.isNone("axis")) {
    Ints shape = n.shape(x, "squeezing data");
    for (auto [i, dim] : llvm::enumerate(shape))
      if (dim == 1)
        axes.push_back(static_cast<int64_t>(i));
    // A result has one dimension at least.
    if (!axes.empty() && axes.size() == shape.size())
      axes.pop_back();
  } else {
    axes = n.axes(n.ints("axis"), n.rank(x));
  }
  n.set(0, n.b.squeeze(x, axes));
}

static void lowerReshapeLike(LoweringContext &n) {
  Value x = n.in(0), like = n.in(1);
  Ints from = n.shape(x, "reshaping data"),
       to = n.shape(like, "reshaping like data");
  if (n.b.failed())
    return;
  auto bound = [&](const char *name, int64_t rank, int64_t fallback) {
    if (n.p.isNone(name))
      return fallback;
    int64_t value = n.p.getInt(name);
    value += value < 0 ? rank : 0;
    if (value < 0 || value > rank) {
      n.fail("parameter '" + Twine(name) + "': expected at most " +
             Twine(rank) + ", got " + Twine(n.p.getInt(name)));
      return int64_t(0);
    }
    return value;
  };
  auto rankFrom = static_cast<int64_t>(from.size()),
       rankTo = static_cast<int64_t>(to.size());
  int64_t lhsBegin = bound("lhs_begin", rankFrom, 0),
          lhsEnd = bound("lhs_end", rankFrom, rankFrom),
          rhsBegin = bound("rhs_begin", rankTo, 0),
          rhsEnd = bound("rhs_end", rankTo, rankTo);
  if (n.b.failed())
    return;
  if (lhsBegin > lhsEnd || rhsBegin > rhsEnd)
    return n.fail("expected ranges of dimensions that do not end before they "
                  "begin");
  Ints shape(from.begin(), from.begin() + lhsBegin);
  shape.append(to.begin() + rhsBegin, to.begin() + rhsEnd);
  shape.append(from.begin() + lhsEnd, from.end());
  n.set(0, n.b.reshapeTo(x, shape));
}

//===-- Repetition by shape -----------------------------------------------===//

static void lowerBroadcastTo(LoweringContext &n) {
  Value x = n.in(0);
  Ints shape = n.ints("shape");
  int64_t rank = n.rank(x);
  if (static_cast<int64_t>(shape.size()) != rank)
    return n.fail("parameter 'shape': expected " + Twine(rank) +
                  " dimensions, got " + Twine(shape.size()));
  // 0 keeps a dimension, as an extent of 1 does.
  for (int64_t &dim : shape)
    dim = dim == 0 ? 1 : dim;
  n.set(0, n.b.op("expand", {x, n.b.ints(shape)}));
}

static void lowerBroadcastAxis(LoweringContext &n) {
  Value x = n.in(0);
  int64_t rank = n.rank(x);
  Ints axes = n.axes(n.ints("axis"), rank), sizes = n.ints("size");
  if (n.b.failed())
    return;
  if (axes.size() != sizes.size())
    return n.fail("parameter 'size': expected " + Twine(axes.size()) +
                  " values, one for each axis, got " + Twine(sizes.size()));
  Ints shape(rank, 1);
  for (auto [axis, size] : llvm::zip(axes, sizes)) {
    int64_t extent = GraphBuilder::dimOf(x, axis);
    if (extent != 1 && !mlir::ShapedType::isDynamic(extent))
      return n.fail("expected extent 1 of axis " + Twine(axis) + ", got " +
                    Twine(extent));
    shape[axis] = size;
  }
  n.set(0, n.b.op("expand", {x, n.b.ints(shape)}));
}

static void lowerBroadcastLike(LoweringContext &n) {
  Value x = n.in(0), like = n.in(1);
  if (n.p.isNone("lhs_axes") != n.p.isNone("rhs_axes"))
    return n.fail("expected parameters 'lhs_axes' and 'rhs_axes' both or none, "
                  "got one");
  int64_t rank = n.rank(x), rankLike = n.rank(like);
  if (n.p.isNone("lhs_axes")) {
    if (rank != rankLike)
      return n.fail("expected operands of one number of dimensions, got " +
                    Twine(rank) + " and " + Twine(rankLike));
    return n.set(0, n.b.op("expand", {x, n.b.shapeOf(like)}));
  }
  Ints lhs = n.axes(n.ints("lhs_axes"), rank),
       rhs = n.axes(n.ints("rhs_axes"), rankLike);
  if (lhs.size() != rhs.size())
    return n.fail("expected as many 'lhs_axes' as 'rhs_axes', got " +
                  Twine(lhs.size()) + " and " + Twine(rhs.size()));
  Ints dims = n.shape(like, "broadcasting like data"), shape(rank, 1);
  if (n.b.failed())
    return;
  for (auto [a, b] : llvm::zip(lhs, rhs))
    shape[a] = dims[b];
  n.set(0, n.b.op("expand", {x, n.b.ints(shape)}));
}

//===-- Shapes as values --------------------------------------------------===//

static void givesI64(TypeRelation &r) { r.setOutput(0, DLC_I64); }

static void lowerShapeArray(LoweringContext &n) {
  n.set(0, n.b.shapeOf(n.in(0)));
}

static void lowerSizeArray(LoweringContext &n) {
  n.set(0, n.b.reshape(n.b.op("size", {n.in(0)}), {1}));
}

//===-- Declarations ------------------------------------------------------===//

static std::vector<Operator> makeDimensionRows() {
  constexpr auto ints = ParameterKind::Ints;
  return {
      {.name = "Flatten",
       .aliases = {"_npx_batch_flatten", "flatten"},
       .summary = "A matrix with a row for each sample",
       .lower = lowerFlatten},
      {.name = "Reshape",
       .aliases = {"reshape"},
       .summary = "The same elements in another shape",
       .details =
           "In `shape`, 0 copies a dimension of the data, -1 is inferred, "
           "-2 copies all that are left, -3 merges two, -4 splits one "
           "into the two factors that follow, of which one may be -1.",
       .parameters =
           {optional("shape", ints, "()", "Dimensions and codes.").atLeast(-4),
            optional("reverse", ParameterKind::Bool, "False",
                     "Match from the right; the factors of -4 stand before "
                     "it."),
            optional("target_shape", ints, "()",
                     "What old files have for `shape`; 0 is inferred.")
                .atLeast(0),
            optional("keep_highest", ParameterKind::Bool, "False",
                     "With `target_shape`: keep the first dimension.")},
       .lower = lowerReshape},
      {.name = "SwapAxis",
       .aliases = {"_npi_swapaxes", "swapaxes"},
       .summary = "Two dimensions exchanged",
       .parameters = {optional("dim1", ParameterKind::Int, "0", "The one."),
                      optional("dim2", ParameterKind::Int, "0", "The other.")},
       .lower = lowerSwapAxis},
      {.name = "expand_dims",
       .aliases = {"_npi_expand_dims"},
       .summary = "One more dimension, of extent 1",
       .parameters = {required("axis", ParameterKind::Int,
                               "Its place in the result.")},
       .relateShapes = relateExpandDims,
       .lower = lowerExpandDims},
      {.name = "squeeze",
       .summary = "Dimensions of extent 1 left out",
       .parameters = {optional("axis", ints, "None",
                               "Which ones; None: all. One remains where all "
                               "are of extent 1.")},
       .lower = lowerSqueeze},
      {.name = "transpose",
       .summary = "Dimensions in another order",
       .parameters = {optional("axes", ints, "()",
                               "Dimension i of the result is axes[i] of the "
                               "data; () reverses them.")},
       .relateShapes = relateTranspose,
       .lower = lowerTranspose},
  };
}

static std::vector<Operator> makeLikeRows() {
  constexpr auto ints = ParameterKind::Ints;
  auto bound = [](std::string_view name, std::string_view summary) {
    return optional(name, ParameterKind::Int, "None", summary);
  };
  return {
      {.name = "broadcast_axis",
       .aliases = {"broadcast_axes"},
       .summary = "Elements repeated along axes of extent 1",
       .parameters =
           {optional("axis", ints, "()", "The axes."),
            optional("size", ints, "()", "An extent for each.").atLeast(0)},
       .lower = lowerBroadcastAxis},
      {.name = "broadcast_like",
       .summary = "The first operand repeated to the shape of the second",
       .parameters = {optional("lhs_axes", ints, "None",
                               "Axes of the first operand that grow; None: all "
                               "of extent 1."),
                      optional("rhs_axes", ints, "None",
                               "Axes of the second that they grow to.")},
       .inputs = {{"lhs"}, {"rhs"}},
       .relateTypes = keepsType,
       .lower = lowerBroadcastLike},
      {.name = "broadcast_to",
       .summary = "Elements repeated to a shape",
       .parameters = {optional("shape", ints, "()",
                               "The shape; 0 keeps a dimension.")
                          .atLeast(0)},
       .lower = lowerBroadcastTo},
      {.name = "reshape_like",
       .aliases = {"_npx_reshape_like"},
       .summary = "The first operand in the shape of the second",
       .details = "With bounds, dimensions [lhs_begin, lhs_end) become "
                  "[rhs_begin, rhs_end) of the second.",
       .parameters = {bound("lhs_begin", "First dimension that changes."),
                      bound("lhs_end", "The one behind the last."),
                      bound("rhs_begin", "First dimension to take."),
                      bound("rhs_end", "The one behind the last.")},
       .inputs = {{"lhs"}, {"rhs"}},
       .relateTypes = keepsType,
       .lower = lowerReshapeLike},
      {.name = "shape_array",
       .aliases = {"_npx_shape_array"},
       .summary = "The dimensions as numbers",
       .relateTypes = givesI64,
       .lower = lowerShapeArray},
      {.name = "size_array",
       .summary = "The number of elements, of shape (1,)",
       .relateTypes = givesI64,
       .lower = lowerSizeArray},
  };
}

std::span<const Operator> dlc::symbol::shapeOperators() {
  static const std::vector<Operator> rows = [] {
    std::vector<Operator> rows = makeDimensionRows();
    for (Operator &row : makeLikeRows())
      rows.push_back(std::move(row));
    return rows;
  }();
  return rows;
}
