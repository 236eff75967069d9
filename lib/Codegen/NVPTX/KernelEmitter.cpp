// SPDX-License-Identifier: Apache-2.0

#include "KernelEmitter.h"

#include "../Common/KernelWalker.h"
#include "AttentionEmitter.h"
#include "ProductEmitter.h"

#include "dlc/abi/Tensor.h"
#include "dlc/dialects/Kernel/KernelDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace dlc::codegen;
using namespace dlc::codegen::gpu;

/// What bodies may use of a machine: halves convert, products fuse with sums.
/// Vectors of the plan are of 16 bytes.
static TargetOptions bodyTarget() {
  TargetOptions target;
  target.features = {"f16c", "fma"};
  return target;
}

/// The capability that brought clusters of blocks.
static constexpr int kHopper = 90;

namespace {

/// One block works on one tile.
class KernelEmitter final : public KernelWalker {
public:
  KernelEmitter(OpBuilder &builder, FunctionOpInterface kernel,
                const TargetOptions &target, const GPUTarget &gpu)
      : KernelWalker(builder, kernel, target), gpu(gpu) {}

  FailureOr<GPUGrid> emit();

private:
  LLVM::LLVMFuncOp declare();
  LogicalResult bindArguments(Block &entry);
  void bindThreads();
  LogicalResult emitStructured(linalg::LinalgOp op,
                               ArrayRef<Value> initial) override;
  LogicalResult emitAttention(dlc::kernel::AttentionOp op) override;
  Value allocate(Location loc, int64_t bytes) override;
  Value sharedAt(Location loc, int64_t offset);
  bool fillsLast(const LoopPlan &plan);
  bool canShare(linalg::LinalgOp product, int64_t results, int64_t blocks);
  int64_t mostBlocksOf(linalg::LinalgOp op, const LoopPlan &plan,
                       ArrayRef<Value> initial);
  LogicalResult emitProduct(linalg::LinalgOp op, const LoopPlan &plan,
                            const ProductPlan &product,
                            ArrayRef<Value> initial);
  void store(Location loc, Value value, const View &view,
             Value offset) override;

  const GPUTarget &gpu;
  GPUGrid grid;
  Threads threads;
  Value tile, blockOfTile;
  arith::ConstantOp blocksOfTile; ///< How many is known at the end.
  int64_t cluster = 1;
  int64_t mostRegisters = 0;  ///< Of a thread; 0: as ptxas likes.
  std::optional<Share> share; ///< Of the sums, from where they are made.
  Value sharedSums;
  KeptRows kept;
  Operation *end = nullptr; ///< What comes last is in front of it.
  int64_t sharedBytes = 0;  ///< For as long as the block works.
  int64_t mostBytes = 0;    ///< With what was there for a while.
  int64_t lastOffset = 0;   ///< Of what was allocated last.
  int64_t lastBytes = 0;
  Value last;
  bool hasStored = false; ///< An operation has been emitted.
};

} // namespace

std::string gpu::symbolOf(StringRef name) {
  std::string text = name.str();
  for (char &c : text)
    if (!llvm::isAlnum(c) && c != '_')
      c = '$';
  return text;
}

void gpu::declareShared(OpBuilder &builder, Location loc) {
  LLVM::GlobalOp::create(
      builder, loc, LLVM::LLVMArrayType::get(builder.getI8Type(), 0),
      /*isConstant=*/false, LLVM::Linkage::External, kSharedSymbol, Attribute(),
      /*alignment=*/kSharedAlignment, kShared);
}

LLVM::LLVMFuncOp KernelEmitter::declare() {
  MLIRContext *context = builder.getContext();
  Type pointer = LLVM::LLVMPointerType::get(context);
  SmallVector<Type> arguments(kernel.getNumArguments(), pointer);
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), arguments);
  auto function =
      LLVM::LLVMFuncOp::create(builder, loc, symbolOf(kernel.getName()), type);
  function.setCConv(LLVM::CConv::PTX_Kernel);
  // As values in arenas and constants are.
  for (unsigned i = 0; i < arguments.size(); ++i)
    function.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(),
                        builder.getI64IntegerAttr(DLC_ALIGNMENT));
  // Where no output may lie in the memory of an input, nothing overlaps.
  auto shared = kernel->getAttrOfType<DenseI64ArrayAttr>("inPlace");
  if (!shared || shared.empty())
    for (unsigned i = 0; i < arguments.size(); ++i)
      function.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(),
                          builder.getUnitAttr());
  return function;
}

void KernelEmitter::bindThreads() {
  Type word = builder.getI32Type();
  auto constant = [&](int32_t value) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getI32IntegerAttr(value));
  };
  // Masked, so that their range is known.
  threads.thread = arith::AndIOp::create(
      builder, loc,
      callIntrinsic(builder, loc, "llvm.nvvm.read.ptx.sreg.tid.x", word, {}),
      constant(kThreads - 1));
  threads.lane =
      arith::AndIOp::create(builder, loc, threads.thread, constant(kWarp - 1));
  threads.warp = arith::ShRUIOp::create(builder, loc, threads.thread,
                                        constant(llvm::Log2_64(kWarp)));
  Value block =
      callIntrinsic(builder, loc, "llvm.nvvm.read.ptx.sreg.ctaid.x", word, {});
  blocksOfTile =
      arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(1));
  blockOfTile = arith::RemUIOp::create(builder, loc, block, blocksOfTile);
  Value number = arith::DivUIOp::create(builder, loc, block, blocksOfTile);
  number = arith::RemUIOp::create(builder, loc, number,
                                  constant(static_cast<int32_t>(grid.blocks)));
  tile = arith::ExtUIOp::create(builder, loc, builder.getI64Type(), number);
}

LogicalResult KernelEmitter::bindArguments(Block &entry) {
  Type global = LLVM::LLVMPointerType::get(builder.getContext(), kGlobal);
  auto count = kernel->getAttrOfType<IntegerAttr>("outputs");
  const int64_t outputs = count ? count.getInt() : kernel.getNumArguments();
  for (auto [argument, pointer] :
       llvm::zip_equal(kernel.getArguments(), entry.getArguments())) {
    if (failed(checkArgument(argument)))
      return failure();
    Value base = LLVM::AddrSpaceCastOp::create(builder, loc, global, pointer);
    if (failed(bindMemRef(argument, base, {})))
      return failure();
    if (argument.getArgNumber() + outputs < kernel.getNumArguments())
      kept.addInput(base);
  }
  return success();
}

/// Left to itself, ptxas spills rather than to let fewer blocks at work: so
/// many registers let four be at work at once.
static constexpr int64_t kRegistersForFourBlocks = 64;

/// Of bodies of loops that are long: they have enough to do at once, and much
/// to remember.
static bool hasLongBody(Operation *tile) {
  constexpr int64_t many = 256;
  bool isLong = false;
  tile->walk([&](linalg::LinalgOp loops) {
    isLong |= llvm::range_size(loops.getBlock()->getOperations()) > many;
  });
  return isLong;
}

FailureOr<GPUGrid> KernelEmitter::emit() {
  grid.threads = kThreads;
  if (hasLongBody(kernel))
    mostRegisters = kRegistersForFourBlocks;
  if (scf::ForallOp forall = findGrid(kernel.getFunctionBody().front()))
    if (std::optional<ArrayRef<int64_t>> extents = forall.getStaticUpperBound())
      for (int64_t extent : *extents)
        grid.blocks *= extent;
  LLVM::LLVMFuncOp function = declare();
  OpBuilder::InsertionGuard guard(builder);
  Block *entry = function.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);
  if (failed(bindArguments(*entry)))
    return failure();
  bindThreads();
  end = LLVM::ReturnOp::create(builder, loc, ValueRange());
  builder.setInsertionPoint(end);
  if (failed(emitTile(tile)))
    return failure();
  grid.sharedBytes = mostBytes;
  SmallVector<Attribute> attributes = {
      builder.getStrArrayAttr({"nvvm.reqntid", std::to_string(kThreads)})};
  if (mostRegisters)
    attributes.push_back(builder.getStrArrayAttr(
        {"nvvm.maxnreg", std::to_string(mostRegisters)}));
  if (cluster > 1) {
    grid.blocks *= cluster;
    blocksOfTile.setValueAttr(
        builder.getI32IntegerAttr(static_cast<int32_t>(cluster)));
    attributes.push_back(builder.getStrArrayAttr(
        {"nvvm.cluster_dim", std::to_string(cluster) + ",1,1"}));
  }
  function.setPassthroughAttr(builder.getArrayAttr(attributes));
  return grid;
}

Value KernelEmitter::sharedAt(Location loc, int64_t offset) {
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext(), kShared);
  Value base = LLVM::AddressOfOp::create(builder, loc, pointer, kSharedSymbol);
  Value at = buildI64(builder, loc, offset);
  return LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{at});
}

/// Shared memory, at a place that is known: the launch asks for all of it.
Value KernelEmitter::allocate(Location loc, int64_t bytes) {
  lastOffset = sharedBytes;
  lastBytes = bytes;
  sharedBytes = static_cast<int64_t>(llvm::alignTo(sharedBytes + bytes, 16));
  mostBytes = std::max(mostBytes, sharedBytes);
  last = sharedAt(loc, lastOffset);
  return last;
}

/// Whether the sums, of f32, are all of the memory that was allocated last.
bool KernelEmitter::fillsLast(const LoopPlan &plan) {
  const LoopOperand &output = plan.operands[plan.accumulators[0].operand];
  std::optional<int64_t> results = staticCount(plan, plan.parallel);
  return results && last && output.view->base == last && !output.view->offset &&
         !output.constant && output.view->element.isF32() &&
         lastBytes == 4 * *results;
}

/// Tiles of factors are there until the sums are done, and may be where these
/// go then.
LogicalResult KernelEmitter::emitProduct(linalg::LinalgOp op,
                                         const LoopPlan &plan,
                                         const ProductPlan &product,
                                         ArrayRef<Value> initial) {
  const bool isGroup = product.unit == ProductUnit::Group;
  int64_t offset = initial[0] && fillsLast(plan) ? lastOffset : sharedBytes;
  if (isGroup)
    offset = static_cast<int64_t>(llvm::alignTo(offset, kSharedAlignment));
  mostBytes = std::max(mostBytes, offset + product.sharedBytes());
  ProductEmitter emitter(builder, op, plan, target, views, scalars, initial,
                         threads, product, sharedAt(op.getLoc(), offset),
                         blockOfTile);
  // Few sums and the places of whole vectors leave enough.
  constexpr int64_t all = 255, fewSums = 16;
  if (isGroup)
    mostRegisters = 2 * kRegistersForFourBlocks; // Of two blocks.
  else if (product.unit == ProductUnit::Tensor && product.sums() <= fewSums &&
           std::min(product.rows.width, product.columns.width) > 1)
    mostRegisters = kRegistersForFourBlocks;
  else
    mostRegisters = all;
  const int64_t results = product.rows.count * product.columns.count;
  const bool isShared =
      product.blocks > 1 && canShare(op, results, product.blocks);
  if (failed(emitter.emit(isShared)))
    return failure();
  if (product.blocks == 1) {
    emitter.mend();
    return success();
  }
  cluster = product.blocks;
  if (isShared) {
    const int64_t own = results / product.blocks;
    Value count = arith::ConstantOp::create(
        builder, loc, builder.getI32IntegerAttr(static_cast<int32_t>(own)));
    share = {arith::MulIOp::create(builder, loc, blockOfTile, count), own};
    sharedSums = last;
    builder.setInsertionPoint(end);
    emitter.finish();
    end = end->getPrevNode();
    builder.setInsertionPoint(end);
    emitter.setShare(*share);
    emitter.mend();
    return success();
  }
  // What follows is for the first block of the tile.
  enterIf(builder, loc, isZero(builder, loc, blockOfTile));
  emitter.mend();
  return success();
}

/// Whether one elementwise operation follows that walks the results of
/// `product` as they lie, so that each of `blocks` can have its part of them.
bool KernelEmitter::canShare(linalg::LinalgOp product, int64_t results,
                             int64_t blocks) {
  constexpr int64_t mostNeighbours = 8; // That a thread takes at once.
  Value sums = product.getDpsInitOperand(0)->get();
  if (results % (blocks * mostNeighbours))
    return false;
  linalg::LinalgOp only;
  for (Operation *next = product->getNextNode(); next;
       next = next->getNextNode()) {
    auto op = dyn_cast<linalg::LinalgOp>(next);
    if ((op && only) ||
        (!op && !isMemoryEffectFree(next) && !isa<memref::SubViewOp>(next)))
      return false;
    only = op ? op : only;
  }
  if (!only || only.getNumParallelLoops() != only.getNumLoops() ||
      llvm::product_of(only.getStaticLoopRanges()) != results)
    return false;
  return llvm::all_of(only->getOpOperands(), [&](OpOperand &use) {
    if (use.get() == sums)
      return only.isDpsInput(&use) &&
             only.getMatchingIndexingMap(&use).isIdentity();
    Value root = use.get();
    while (auto view = root.getDefiningOp<memref::SubViewOp>())
      root = view.getSource();
    return isa<BlockArgument>(root) || !isa<MemRefType>(root.getType());
  });
}

/// As a cluster, where nothing was done before that must not be done twice, and
/// the sums are all that lies where they are.
int64_t KernelEmitter::mostBlocksOf(linalg::LinalgOp op, const LoopPlan &plan,
                                    ArrayRef<Value> initial) {
  constexpr int mostBlocks = 8;
  if (gpu.capability() < kHopper || plan.accumulators.size() != 1 ||
      cluster > 1 || !initial[0] || isa<scf::ForOp>(op->getParentOp()))
    return 1;
  // The first structured operation of the kernel but for what fills scratch.
  return fillsLast(plan) && !hasStored ? mostBlocks : 1;
}

/// One thread stores, and the others see it.
void KernelEmitter::store(Location loc, Value value, const View &view,
                          Value offset) {
  kept.forget(view.base);
  {
    OpBuilder::InsertionGuard guard(builder);
    enterIf(builder, loc, isZero(builder, loc, threads.thread));
    BodyEmitter body(builder, target, views, scalars);
    body.store(loc, value, view, offset, 0, 1, {});
  }
  buildBarrier(builder, loc);
}

LogicalResult KernelEmitter::emitStructured(linalg::LinalgOp op,
                                            ArrayRef<Value> initial) {
  FailureOr<LoopPlan> plan = planLoops(op, target, views);
  if (failed(plan))
    return failure();
  for (const LoopOperand &operand : plan->operands)
    if (operand.isOutput && operand.view)
      kept.forget(operand.view->base);
  // Threads take the place of vectors: what these were to walk is innermost,
  // and neighbours are neighbours in memory.
  plan->vectorDim.reset();
  plan->vectorIsReduced = false;
  plan->tileDim.reset();
  if (plan->accumulators.empty() && !plan->parallel.empty())
    plan->vectorDim = plan->parallel.back();
  std::optional<ProductPlan> product = planProduct(
      op, *plan, views, grid.blocks, mostBlocksOf(op, *plan, initial),
      kernel->hasAttr(dlc::kernel::kComputeAttr), gpu.hasWarpgroupProducts());
  hasStored = true;
  // To be mended, sums have to begin anew.
  if (product && (initial[0] || !product->isConditional()))
    return emitProduct(op, *plan, *product, initial);
  if (share) // As the sums lie.
    for (const LoopOperand &operand : plan->operands)
      if (operand.view && operand.view->base == sharedSums) {
        llvm::stable_sort(plan->parallel, [&](unsigned a, unsigned b) {
          return operand.strides[a] > operand.strides[b];
        });
        plan->vectorDim = plan->parallel.back();
      }
  Value exchange;
  if (int64_t bytes = ThreadEmitter::exchangeBytes(*plan))
    exchange = allocate(loc, bytes);
  ThreadEmitter emitter(builder, op, *plan, target, views, scalars, initial,
                        threads, exchange, &kept);
  if (share)
    emitter.setShare(*share);
  if (failed(emitter.emit()))
    return failure();
  buildBarrier(builder, loc);
  return success();
}

LogicalResult KernelEmitter::emitAttention(dlc::kernel::AttentionOp op) {
  auto columnsOf = [](Value memref) {
    return cast<MemRefType>(memref.getType()).getDimSize(1);
  };
  std::optional<AttentionPlan> plan =
      planAttention(static_cast<int64_t>(op.getRows()),
                    cast<MemRefType>(op.getK().getType()).getDimSize(0),
                    columnsOf(op.getQ()), columnsOf(op.getV()));
  if (!plan)
    return op.emitError("expected rows, keys and values for one block");
  Value shared = allocate(op.getLoc(), plan->sharedBytes());
  // Much is in registers, and one or two blocks at work.
  constexpr int64_t all = 255;
  mostRegisters = all;
  AttentionEmitter(builder, op, target, views, scalars, threads, *plan, shared)
      .emit();
  return success();
}

FailureOr<GPUGrid> gpu::emitKernel(OpBuilder &builder,
                                   FunctionOpInterface kernel,
                                   const GPUTarget &gpu) {
  if (!llvm::hasSingleElement(kernel.getFunctionBody()))
    return kernel.emitError("expected a body of one block");
  TargetOptions target = bodyTarget();
  return KernelEmitter(builder, kernel, target, gpu).emit();
}
