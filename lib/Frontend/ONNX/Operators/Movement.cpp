// SPDX-License-Identifier: Apache-2.0
//
// Operators that arrange elements: reshapes, slices, concatenations, padding.

#include "Simple.h"

using namespace dlc::onnx;
using mlir::Value;

//===-- Views -------------------------------------------------------------===//

static void importReshapeV1(NodeContext &n) {
  n.ignore({"consumed_inputs"});
  n.set(0, n.b.reshape(n.in(0), n.getInts("shape")));
}

static void importReshape(NodeContext &n) {
  n.set(0, n.b.op("reshape", {n.in(0), n.asI64(n.in(1))},
                  {{"allowzero", n.getBool("allowzero", false)}}));
}

static void importFlatten(NodeContext &n) {
  n.set(0, n.b.op("flatten", {n.in(0)}, {{"axis", n.getInt("axis", 1)}}));
}

static void importSqueezeV1(NodeContext &n) {
  Value x = n.in(0);
  n.set(0, n.hasAttr("axes") ? n.b.squeeze(x, n.getInts("axes"))
                             : n.b.op("squeeze", {x}));
}

static void importSqueeze(NodeContext &n) {
  Value x = n.in(0);
  n.set(0, n.has(1) ? n.b.op("squeeze", {x, n.asI64(n.in(1))})
                    : n.b.op("squeeze", {x}));
}

static void importUnsqueezeV1(NodeContext &n) {
  if (!n.hasAttr("axes"))
    return n.fail("expected attribute 'axes'");
  n.set(0, n.b.unsqueeze(n.in(0), n.getInts("axes")));
}

static void importUnsqueeze(NodeContext &n) {
  n.set(0, n.b.op("unsqueeze", {n.in(0), n.asI64(n.in(1))}));
}

static void importTranspose(NodeContext &n) {
  Ints perm = n.getInts("perm");
  if (!n.hasAttr("perm")) {
    perm = firstInts(n.rank(n.in(0)));
    std::reverse(perm.begin(), perm.end());
  }
  n.set(0, n.b.transpose(n.in(0), perm));
}

//===-- Repetition --------------------------------------------------------===//

static void importExpand(NodeContext &n) {
  n.set(0, n.b.op("expand", {n.in(0), n.asI64(n.in(1))}));
}

static void importTile(NodeContext &n) {
  n.set(0, n.b.op("tile", {n.in(0), n.asI64(n.in(1))}));
}

/// One repetition count for one axis; both of the type of the data.
static void importTileV1(NodeContext &n) {
  Ints tiles = n.constantInts(1, "'tiles'");
  Ints axis = n.constantInts(2, "'axis'");
  if (tiles.size() != 1 || axis.size() != 1)
    return n.fail("expected scalars in inputs 'tiles' and 'axis'");
  int64_t rank = n.rank(n.in(0));
  int64_t position = n.axis(axis.front(), rank);
  Ints repeats(rank, 1);
  if (position < rank)
    repeats[position] = tiles.front();
  n.set(0, n.b.op("tile", {n.in(0), n.b.ints(repeats)}));
}

//===-- Concatenation and splitting ---------------------------------------===//

static void importConcat(NodeContext &n) {
  if (n.opset >= 4 && !n.hasAttr("axis"))
    return n.fail("expected attribute 'axis'");
  llvm::SmallVector<Value> parts;
  for (size_t i = 0; i < n.inputCount(); ++i)
    parts.push_back(n.in(i));
  n.set(0, n.b.concat(parts, n.getInt("axis", 1)));
}

/// Sizes of `count` equal parts. Only opset 18 lets the last one be smaller.
static Value equalSizes(NodeContext &n, int64_t axis, int64_t count) {
  Value x = n.in(0);
  axis = n.axis(axis, n.rank(x));
  int64_t extent = GraphBuilder::dimOf(x, axis);
  bool mayDiffer = n.opset >= 18;
  if (!mlir::ShapedType::isDynamic(extent)) {
    int64_t size = (extent + count - 1) / count;
    int64_t last = extent - size * (count - 1);
    if (last < 0 || (!mayDiffer && last != size)) {
      n.fail("expected dimension " + llvm::Twine(axis) + " of size " +
             llvm::Twine(extent) + " to split into " + llvm::Twine(count) +
             " parts");
      return {};
    }
    Ints sizes(count, size);
    sizes.back() = last;
    return n.b.ints(sizes);
  }
  Value whole = n.b.shapeOf(x, axis, axis + 1);
  Value rounded = n.b.add(whole, n.b.ints({mayDiffer ? count - 1 : 0}));
  Value size = n.b.div(rounded, n.b.ints({count}));
  Value others = n.b.mul(size, n.b.ints({count - 1}));
  llvm::SmallVector<Value> sizes(count - 1, size);
  sizes.push_back(n.b.sub(whole, others));
  return n.b.concat(sizes, 0);
}

static void split(NodeContext &n, Value sizes) {
  auto count = static_cast<int64_t>(n.node.outputs.size());
  int64_t axis = n.getInt("axis", 0);
  if (n.opset >= 18 && n.hasAttr("num_outputs")) {
    int64_t declared = n.getInt("num_outputs", count);
    if (sizes || declared != count)
      return n.fail("expected attribute 'num_outputs' alone and equal to the "
                    "number of outputs, " +
                    llvm::Twine(count) + ", got " + llvm::Twine(declared));
  }
  if (count == 0)
    return n.fail("expected at least one output");
  if (!sizes)
    sizes = equalSizes(n, axis, count);
  if (sizes && NodeContext::lengthOf(sizes) != count)
    return n.fail("expected " + llvm::Twine(count) +
                  " sizes, one per output, got " +
                  llvm::Twine(NodeContext::lengthOf(sizes)));
  n.setAll(n.b.ops("split", {n.in(0), sizes}, {{"axis", axis}}));
}

static void importSplitV1(NodeContext &n) {
  Value sizes = n.has(1) ? n.asI64(n.in(1)) : Value();
  if (n.hasAttr("split"))
    sizes = n.b.ints(n.getInts("split"));
  split(n, sizes);
}

static void importSplit(NodeContext &n) {
  split(n, n.has(1) ? n.asI64(n.in(1)) : Value());
}

//===-- Slices ------------------------------------------------------------===//

static void importSliceV1(NodeContext &n) {
  Ints starts = n.getInts("starts"), ends = n.getInts("ends");
  Ints axes = n.getInts("axes");
  if (!n.hasAttr("axes"))
    axes = firstInts(static_cast<int64_t>(starts.size()));
  Ints steps(starts.size(), 1);
  n.set(0, n.b.op("slice", {n.in(0), n.b.ints(starts), n.b.ints(ends),
                            n.b.ints(axes), n.b.ints(steps)}));
}

static void importSlice(NodeContext &n) {
  Value starts = n.asI64(n.in(1)), ends = n.asI64(n.in(2));
  int64_t count = NodeContext::lengthOf(starts);
  if (count < 0 && (!n.has(3) || !n.has(4)))
    return n.unsupported("starts of unknown length");
  Value axes = n.has(3) ? n.asI64(n.in(3)) : n.b.ints(firstInts(count));
  Value steps = n.has(4) ? n.asI64(n.in(4))
                         : n.b.ints(Ints(std::max<int64_t>(count, 0), 1));
  n.set(0, n.b.op("slice", {n.in(0), starts, ends, axes, steps}));
}

//===-- Padding -----------------------------------------------------------===//

static llvm::StringRef padMode(NodeContext &n) {
  if (n.opset >= 19)
    return n.getChoice("mode", "constant",
                       {"constant", "reflect", "edge", "wrap"});
  return n.getChoice("mode", "constant", {"constant", "reflect", "edge"});
}

/// Versions 1 and 2: everything is an attribute.
static void importPadV1(NodeContext &n) {
  llvm::StringRef name = n.opset < 2 ? "paddings" : "pads";
  if (!n.hasAttr(name))
    return n.fail("expected attribute '" + name + "'");
  Value pads = n.b.ints(n.getInts(name));
  Value value = n.b.scalarLike(n.in(0), n.getFloat("value", 0.0f));
  Value axes = n.b.ints(firstInts(n.rank(n.in(0))));
  n.set(0, n.b.op("pad", {n.in(0), pads, value, axes}, {{"mode", padMode(n)}}));
}

static void importPad(NodeContext &n) {
  Value value = n.has(2) ? asScalar(n, n.in(2)) : n.b.scalarLike(n.in(0), 0);
  Value axes =
      n.has(3) ? n.asI64(n.in(3)) : n.b.ints(firstInts(n.rank(n.in(0))));
  n.set(0, n.b.op("pad", {n.in(0), n.asI64(n.in(1)), value, axes},
                  {{"mode", padMode(n)}}));
}

/// Crops or pads the axes around their middle; an odd element goes to the end
/// when padding, and comes off the end when cropping. The arithmetic folds
/// when shapes are known.
static void importCenterCropPad(NodeContext &n) {
  GraphBuilder &b = n.b;
  Value x = n.in(0), sizes = n.asI64(n.in(1));
  int64_t rank = n.rank(x);
  Ints axes =
      n.hasAttr("axes") ? n.axes(n.getInts("axes"), rank) : firstInts(rank);
  Value axesValue = b.ints(axes);
  Value extents = b.op("gather", {b.shapeOf(x), axesValue}, {{"axis", 0}});
  Value zero = b.intScalar(0), two = b.intScalar(2);
  Value surplus = b.op("max", {b.sub(extents, sizes), zero});
  Value begins = b.div(surplus, two);
  Value ends = b.add(begins, b.op("min", {extents, sizes}));
  Value steps = b.ints(Ints(axes.size(), 1));
  Value cropped = b.op("slice", {x, begins, ends, axesValue, steps});
  Value missing = b.op("max", {b.sub(sizes, extents), zero});
  Value before = b.div(missing, two);
  Value pads = b.concat({before, b.sub(missing, before)}, 0);
  n.set(0, b.op("pad", {cropped, pads, b.scalarLike(x, 0), axesValue}));
}

//===-- Others ------------------------------------------------------------===//

static void importDepthToSpace(NodeContext &n) {
  llvm::StringRef mode = "DCR";
  if (n.opset >= 11)
    mode = n.getChoice("mode", "DCR", {"DCR", "CRD"});
  n.set(0, n.b.op("depth_to_space", {n.in(0)},
                  {{"blocksize", n.getInt("blocksize", 0)}, {"mode", mode}}));
}

static void importSpaceToDepth(NodeContext &n) {
  if (n.opset >= 28 && n.getChoice("mode", "DCR", {"DCR", "CRD"}) == "CRD")
    return n.unsupported("SpaceToDepth of mode CRD");
  n.set(0, n.b.op("space_to_depth", {n.in(0)},
                  {{"blocksize", n.getInt("blocksize", 0)}}));
}

static void importReverseSequence(NodeContext &n) {
  n.set(0, n.b.op("reverse_sequence", {n.in(0), n.asI64(n.in(1))},
                  {{"batch_axis", n.getInt("batch_axis", 1)},
                   {"time_axis", n.getInt("time_axis", 0)}}));
}

static void importTrilu(NodeContext &n) {
  Value k = n.has(1) ? asScalar(n, n.asI64(n.in(1))) : n.b.intScalar(0);
  n.set(0,
        n.b.op("trilu", {n.in(0), k}, {{"upper", n.getBool("upper", true)}}));
}

static constexpr Operator rows[] = {
    {"CenterCropPad", 18, 2, 2, 1, importCenterCropPad},
    {"Concat", 1, 1, kAny, 1, importConcat},
    {"DepthToSpace", 1, 1, 1, 1, importDepthToSpace},
    {"Expand", 8, 2, 2, 1, importExpand},
    {"Flatten", 1, 1, 1, 1, importFlatten},
    {"Pad", 1, 1, 1, 1, importPadV1},
    {"Pad", 11, 2, 3, 1, importPad},
    {"Pad", 18, 2, 4, 1, importPad},
    {"Reshape", 1, 1, 1, 1, importReshapeV1},
    {"Reshape", 5, 2, 2, 1, importReshape},
    {"ReverseSequence", 10, 2, 2, 1, importReverseSequence},
    {"Slice", 1, 1, 1, 1, importSliceV1},
    {"Slice", 10, 3, 5, 1, importSlice},
    {"SpaceToDepth", 1, 1, 1, 1, importSpaceToDepth},
    {"Split", 1, 1, 2, kAny, importSplitV1},
    {"Split", 2, 1, 1, kAny, importSplitV1},
    {"Split", 13, 1, 2, kAny, importSplit},
    {"Squeeze", 1, 1, 1, 1, importSqueezeV1},
    {"Squeeze", 13, 1, 2, 1, importSqueeze},
    {"Tile", 1, 3, 3, 1, importTileV1},
    {"Tile", 6, 2, 2, 1, importTile},
    {"Transpose", 1, 1, 1, 1, importTranspose},
    {"Trilu", 14, 1, 2, 1, importTrilu},
    {"Unsqueeze", 1, 1, 1, 1, importUnsqueezeV1},
    {"Unsqueeze", 13, 2, 2, 1, importUnsqueeze},
};

llvm::ArrayRef<Operator> dlc::onnx::movementOperators() { return rows; }
