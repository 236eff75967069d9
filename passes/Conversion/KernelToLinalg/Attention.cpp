// SPDX-License-Identifier: Apache-2.0

#include "Attention.h"

#include "Emitter.h"
#include "PlannerImpl.h"

#include "dlc/dialects/Graph/Shapes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"

#include <limits>

using namespace mlir;
using namespace dlc;
using namespace dlc::conversion;
using library::AttentionForm;
using library::Matrices;

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// Where the matrices lie, if that is in one tensor, once the operations of
/// `through` have been looked through.
static std::optional<Window> windowOf(const Matrices &matrices,
                                      ArrayRef<Operation *> through) {
  MLIRContext *context = matrices.value.getContext();
  Domain domain;
  Position at(matrices.rank());
  for (int64_t dim = 0; dim < matrices.rank(); ++dim)
    domain.loops.extents.push_back(matrices.extent(dim));
  domain.reduced.resize(matrices.rank());
  for (int64_t dim = 0; dim < matrices.rank(); ++dim)
    at[matrices.order[dim]] =
        domain.loops.extents[dim] == 1
            ? Index::number(domain.loops, 0)
            : Index::loop(domain.loops, static_cast<unsigned>(dim));
  // The builder refers to it, so it has to outlive the statement.
  const auto treatmentOf = [&](Value tensor, const Position &) {
    return llvm::is_contained(through, tensor.getDefiningOp())
               ? StageBuilder::Treatment::Compute
               : StageBuilder::Treatment::Read;
  };
  StageBuilder builder(context, matrices.value.getLoc(), domain, treatmentOf,
                       /*isForThreads=*/true);
  Value element = builder.element(matrices.value, at);
  Stage stage = builder.take();
  if (!element || stage.inputs.size() != 1 || !stage.captures.empty() ||
      element != stage.inputs[0].argument)
    return std::nullopt;
  const StageInput &input = stage.inputs[0];
  Window window{input.tensor, domain.loops.extents, {}, 0};
  window.counts.truncate(matrices.rank() - 2);
  window.strides.resize(matrices.rank());
  int64_t stride = 1;
  for (auto [index, extent] :
       llvm::reverse(llvm::zip_equal(input.at, shapeOf(input.tensor)))) {
    window.offset += index.constant * stride;
    for (int64_t dim = 0; dim < matrices.rank(); ++dim)
      window.strides[dim] += index.coefficients[dim] * stride;
    stride *= extent;
  }
  return window;
}

/// Elements that are copied at once.
static constexpr int64_t kTogether = 8;

/// Why a window is none whose rows are copied 16 bytes at once.
static std::string whyNotCopied(const Window &window) {
  ArrayRef<int64_t> strides(window.strides);
  if (strides.back() != 1)
    return "elements of a row are no neighbours";
  if (window.offset % kTogether ||
      llvm::any_of(strides.drop_back(), [](int64_t stride) {
        return stride % kTogether || stride < 0;
      }))
    return "rows begin at no multiple of 8 elements";
  return "";
}

/// The same, through as many movements in front as are free and leave matrices
/// in one tensor whose rows can be copied; they become members.
static std::optional<Window> findWindow(const Matrices &matrices,
                                        function_ref<bool(Operation *)> isFree,
                                        SmallVectorImpl<Operation *> &members) {
  std::optional<Window> window = windowOf(matrices, {}), next = window;
  SmallVector<Operation *> through;
  size_t taken = 0;
  while (next) {
    Value tensor = next->tensor;
    Operation *maker = tensor.getDefiningOp();
    if (!maker || !tensor.hasOneUse() || maker->getNumResults() != 1 ||
        graph::getFusionKind(maker) != graph::FusionKind::Movement ||
        !graph::hasStaticTypes(maker) || !isFree(maker))
      break;
    through.push_back(maker);
    next = windowOf(matrices, through);
    if (!next || next->tensor == tensor)
      break;
    if (whyNotCopied(*next).empty()) {
      window = next;
      taken = through.size();
    }
  }
  llvm::append_range(members, ArrayRef(through).take_front(taken));
  return window;
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

static std::string whyNotOnGPU(const AttentionPlan &plan) {
  constexpr int64_t mostColumns = 128;
  const AttentionForm &form = plan.form;
  Type element = getElementTypeOrSelf(form.y.value.getType());
  if (!element.isF16() && !element.isBF16())
    return "attention as one kernel is of f16 and bf16";
  for (const Matrices *matrices : {&form.q, &form.k, &form.v})
    if (getElementTypeOrSelf(matrices->value.getType()) != element)
      return "operands of several types";
  // k is K x N in the form.
  for (int64_t columns : {form.q.columns(), form.v.columns()})
    if (columns % kTogether || columns > mostColumns || columns == 0)
      return "queries and values have up to 128 columns, in multiples of 8";
  constexpr int64_t most = std::numeric_limits<int32_t>::max() / 2;
  for (int64_t rows : {form.q.rows(), form.v.rows()})
    if (rows < 1 || rows > most)
      return "no rows, or too many";
  if (llvm::product_of(plan.q.counts) < 1 ||
      llvm::product_of(plan.k.counts) < 1)
    return "no matrices";
  for (const Window *window : {&plan.q, &plan.k, &plan.v, &plan.y})
    if (std::string why = whyNotCopied(*window); !why.empty())
      return why;
  for (const AttentionForm::Mask &mask : form.masks) {
    Type type = getElementTypeOrSelf(mask.value.getType());
    const bool isAdded = mask.form == library::MaskForm::Add;
    if (mask.value.getDefiningOp<graph::ConstantOp>() &&
        ShapedType::getNumElements(shapeOf(mask.value)) == 1)
      return "masks of one element";
    if (isAdded ? !type.isF16() && !type.isBF16() && !type.isF32()
                : !type.isInteger(1))
      return "masks of another type";
  }
  return "";
}

/// Rows of a tile: 128, or as many fewer as leave tiles enough for all of a
/// GPU; those who have fewer rows share out the keys.
static int64_t rowsOfTile(int64_t matrices, int64_t rows) {
  constexpr int64_t most = 128, least = 16;
  int64_t tile = most;
  while (tile > least &&
         (matrices * llvm::divideCeil(rows, tile) < kTilesOfGPU / 2 ||
          tile / 2 >= rows))
    tile /= 2;
  return tile;
}

/// Finds a mask that is an argument of which it is known that it is causal.
static void findCausal(AttentionPlan &plan) {
  for (auto [i, mask] : llvm::enumerate(plan.form.masks)) {
    auto argument = dyn_cast<BlockArgument>(mask.value);
    auto kernel =
        argument ? dyn_cast<kernel::FuncOp>(argument.getOwner()->getParentOp())
                 : kernel::FuncOp();
    auto triangle = kernel ? kernel.getArgAttrOfType<DenseI64ArrayAttr>(
                                 argument.getArgNumber(), kernel::kTriangleAttr)
                           : DenseI64ArrayAttr();
    if (!triangle || triangle.size() != 2 ||
        shapeOf(argument).take_back(2) !=
            ArrayRef(plan.form.maskShape).take_back(2) ||
        mask.form !=
            (triangle[1] ? library::MaskForm::Keep : library::MaskForm::Drop))
      continue;
    plan.causalMask = i;
    plan.causalOffset = triangle[0];
    return;
  }
}

/// A tile reads all keys and values of its matrix. Where tiles are too few for
/// a GPU, three kernels are better spread; by estimate, from what one processor
/// reads in some 15 us on.
static bool readsTooMuch(const AttentionPlan &plan) {
  constexpr int64_t mostBytes = int64_t(1) << 20;
  const AttentionForm &form = plan.form;
  const int64_t tiles =
      llvm::product_of(plan.q.counts) *
      static_cast<int64_t>(llvm::divideCeil(form.q.rows(), plan.rows));
  return tiles < kTilesOfGPU / 2 &&
         2 * form.v.rows() * (form.q.columns() + form.v.columns()) > mostBytes;
}

std::optional<AttentionPlan>
dlc::conversion::planAttention(graph::MatmulOp scores,
                               function_ref<bool(Operation *)> isFree,
                               std::string *why) {
  auto refuse = [&](const Twine &reason) {
    if (why)
      *why = reason.str();
    return std::nullopt;
  };
  std::optional<AttentionForm> form =
      library::findAttentionForm(scores, isFree);
  if (!form)
    return std::nullopt;
  AttentionPlan plan;
  plan.form = std::move(*form);
  Matrices keys = plan.form.k; // As rows.
  std::swap(keys.order.back(), keys.order.end()[-2]);
  std::pair<Window *, const Matrices *> windows[] = {
      {&plan.q, &plan.form.q}, {&plan.k, &keys}, {&plan.v, &plan.form.v}};
  for (auto [window, matrices] : windows) {
    std::optional<Window> found =
        findWindow(*matrices, isFree, plan.form.members);
    if (!found)
      return refuse("operands are not in one tensor");
    *window = std::move(*found);
  }
  std::optional<Window> result = windowOf(plan.form.y, {});
  if (!result)
    return refuse("the result is not in one tensor");
  plan.y = std::move(*result);
  if (std::string reason = whyNotOnGPU(plan); !reason.empty())
    return refuse(reason);
  plan.rows = rowsOfTile(llvm::product_of(plan.q.counts), plan.form.q.rows());
  if (readsTooMuch(plan))
    return refuse("few rows of queries, and many keys for each");
  findCausal(plan);
  return plan;
}

std::optional<AttentionPlan>
dlc::conversion::planAttention(ArrayRef<Operation *> group) {
  auto isProduct = llvm::IsaPred<graph::MatmulOp>;
  if (llvm::count_if(group, isProduct) != 2)
    return std::nullopt;
  std::optional<AttentionPlan> plan = planAttention(
      cast<graph::MatmulOp>(*llvm::find_if(group, isProduct)),
      [&](Operation *op) { return llvm::is_contained(group, op); });
  if (plan && plan->form.members.size() != group.size())
    return std::nullopt;
  return plan;
}

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

namespace {

class AttentionEmitter {
public:
  AttentionEmitter(kernel::FuncOp kernel, const AttentionPlan &plan)
      : kernel(kernel), plan(plan), builder(kernel.getContext()),
        loc(kernel.getLoc()) {}

  void emit();

private:
  Value memrefOf(Value tensor) const { return memrefs.lookup(tensor); }
  Value viewAt(Value memref, ArrayRef<int64_t> counts,
               ArrayRef<int64_t> strides, int64_t offset, bool isOfTile,
               ArrayRef<OpFoldResult> sizes);
  Value viewOf(const Window &window, Value memref, bool isOfTile, int64_t rows,
               int64_t columns);
  Value viewOfMask(const AttentionForm::Mask &mask);

  kernel::FuncOp kernel;
  const AttentionPlan &plan;
  OpBuilder builder;
  Location loc;
  llvm::DenseMap<Value, Value> memrefs; ///< By tensor of the old body.
  Value matrix, tile;                   ///< Indices of the grid.
  OpFoldResult rows;                    ///< Of this tile.
};

} // namespace

static MemRefType toMemRef(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return MemRefType::get(tensor.getShape(), tensor.getElementType());
}

/// `memref` as a matrix, of which the number is that of q's: with as many in
/// `counts`, or a part of them. `strides` are those of all dimensions; a row is
/// the first of the tile, or of all.
Value AttentionEmitter::viewAt(Value memref, ArrayRef<int64_t> counts,
                               ArrayRef<int64_t> strides, int64_t offset,
                               bool isOfTile, ArrayRef<OpFoldResult> sizes) {
  MLIRContext *context = builder.getContext();
  const int64_t shared =
      llvm::product_of(plan.q.counts) / llvm::product_of(counts);
  AffineExpr rest = getAffineSymbolExpr(0, context).floorDiv(shared);
  AffineExpr at = getAffineConstantExpr(offset, context);
  if (isOfTile)
    at = at +
         getAffineSymbolExpr(1, context) * (plan.rows * strides[counts.size()]);
  const auto *outermost =
      llvm::find_if(counts, [](int64_t count) { return count != 1; });
  for (const auto *count = counts.end(); count-- > outermost;) {
    const int64_t stride = strides[count - counts.begin()];
    at = at + (count == outermost ? rest : rest % *count) * stride;
    rest = rest.floorDiv(*count);
  }
  OpFoldResult start = affine::makeComposedFoldedAffineApply(
      builder, loc, AffineMap::get(0, 2, simplifyAffineExpr(at, 0, 2)),
      {matrix, tile});
  SmallVector<int64_t> extents, own(strides.take_back(sizes.size()));
  SmallVector<OpFoldResult> ownStrides;
  for (OpFoldResult size : sizes)
    extents.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  for (int64_t stride : own)
    ownStrides.push_back(builder.getIndexAttr(stride));
  auto type = MemRefType::get(
      extents, cast<MemRefType>(memref.getType()).getElementType(),
      StridedLayoutAttr::get(
          context, getConstantIntValue(start).value_or(ShapedType::kDynamic),
          own));
  return memref::ReinterpretCastOp::create(builder, loc, type, memref, start,
                                           sizes, ownStrides);
}

Value AttentionEmitter::viewOf(const Window &window, Value memref,
                               bool isOfTile, int64_t rowCount,
                               int64_t columns) {
  OpFoldResult sizes[] = {isOfTile ? rows : builder.getIndexAttr(rowCount),
                          builder.getIndexAttr(columns)};
  return viewAt(memref, window.counts, window.strides, window.offset, isOfTile,
                sizes);
}

/// Rows and columns of a mask; of what it broadcasts, one.
Value AttentionEmitter::viewOfMask(const AttentionForm::Mask &mask) {
  ArrayRef<int64_t> shape = shapeOf(mask.value);
  ArrayRef<int64_t> whole(plan.form.maskShape);
  const size_t missing = whole.size() - shape.size();
  // Dimensions in front, as the scores have them, with strides of 0 for what is
  // broadcast.
  SmallVector<int64_t> strides(whole.size());
  int64_t stride = 1;
  for (size_t dim = shape.size(); dim-- > 0;) {
    strides[missing + dim] = shape[dim] == 1 ? 0 : stride;
    stride *= shape[dim];
  }
  const bool hasRows = strides.end()[-2] != 0, hasColumns = strides.back() != 0;
  OpFoldResult one = builder.getIndexAttr(1);
  OpFoldResult sizes[] = {hasRows ? rows : one,
                          hasColumns ? builder.getIndexAttr(whole.back())
                                     : one};
  return viewAt(memrefOf(mask.value), whole.drop_back(2), strides, 0,
                /*isOfTile=*/hasRows, sizes);
}

static StringRef nameOf(library::MaskForm form) {
  switch (form) {
  case library::MaskForm::Add:
    return "add";
  case library::MaskForm::Keep:
    return "keep";
  case library::MaskForm::Drop:
    return "drop";
  }
}

void AttentionEmitter::emit() {
  auto *body = new Block();
  for (BlockArgument argument : kernel.getArguments())
    memrefs[argument] = body->addArgument(toMemRef(argument.getType()), loc);
  Value result = body->addArgument(toMemRef(plan.form.y.value.getType()), loc);
  builder.setInsertionPointToStart(body);
  const int64_t all = plan.form.q.rows();
  const int64_t tiles[] = {
      llvm::product_of(plan.q.counts),
      static_cast<int64_t>(llvm::divideCeil(all, plan.rows))};
  SmallVector<OpFoldResult> extents;
  for (int64_t extent : tiles)
    extents.push_back(builder.getIndexAttr(extent));
  auto grid = scf::ForallOp::create(builder, loc, extents, ValueRange(),
                                    /*mapping=*/std::nullopt);
  builder.setInsertionPointToStart(grid.getBody());
  matrix = grid.getInductionVar(0);
  tile = grid.getInductionVar(1);
  Value most = arith::ConstantIndexOp::create(builder, loc, plan.rows);
  Value first = arith::MulIOp::create(builder, loc, tile, most);
  rows = builder.getIndexAttr(std::min(all, plan.rows));
  if (all > plan.rows && all % plan.rows) {
    Value end = arith::ConstantIndexOp::create(builder, loc, all);
    Value left = arith::SubIOp::create(builder, loc, end, first);
    rows = arith::MinSIOp::create(builder, loc, left, most).getResult();
  }
  const int64_t keys = plan.form.v.rows(), depth = plan.form.q.columns(),
                columns = plan.form.v.columns();
  Value q = viewOf(plan.q, memrefOf(plan.q.tensor), true, all, depth);
  Value k = viewOf(plan.k, memrefOf(plan.k.tensor), false, keys, depth);
  Value v = viewOf(plan.v, memrefOf(plan.v.tensor), false, keys, columns);
  Value y = viewOf(plan.y, result, true, all, columns);
  SmallVector<Value> masks;
  SmallVector<StringRef> forms;
  IntegerAttr causal;
  for (auto [i, mask] : llvm::enumerate(plan.form.masks)) {
    if (i == plan.causalMask) {
      causal = builder.getI64IntegerAttr(plan.causalOffset);
      forms.push_back("causal");
      continue;
    }
    masks.push_back(viewOfMask(mask));
    forms.push_back(nameOf(mask.form));
  }
  kernel::AttentionOp::create(
      builder, loc, q, k, v, masks, y, first,
      builder.getF32FloatAttr(plan.form.scale * plan.form.queryScale),
      builder.getStrArrayAttr(forms),
      builder.getF32FloatAttr(
          plan.form.fill.value_or(-std::numeric_limits<float>::infinity())),
      causal, builder.getI64IntegerAttr(plan.rows));
  builder.setInsertionPointToEnd(body);
  kernel::ReturnOp::create(builder, loc);
  replaceBody(kernel, body, /*outputs=*/1, tiles, /*inPlace=*/{});
}

void dlc::conversion::emitAttention(kernel::FuncOp kernel,
                                    const AttentionPlan &plan) {
  AttentionEmitter(kernel, plan).emit();
}
