// SPDX-License-Identifier: Apache-2.0
//
// graph-specialize-batch: a batch of any size is computed by functions for a
// few sizes.

#include "Forms.h"
#include "Knowledge.h"
#include "Rows.h"

#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Parts.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/dialects/Graph/Ports.h"
#include "dlc/dialects/Graph/Shapes.h"
#include "dlc/passes/Graph/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Pass/PassManager.h"

namespace dlc::graph {
#define GEN_PASS_DEF_SPECIALIZEBATCHPASS
#include "dlc/passes/Graph/Passes.h.inc"
} // namespace dlc::graph

using namespace mlir;
using namespace dlc;
using namespace dlc::graph;

/// Sizes that a function is read for, beside those of the functions that are
/// made of it: primes beyond what a model has in it as a limit or an extent,
/// which floats have and with which products of extents are in 32 bits.
static constexpr int64_t kProbes[] = {1'000'003, 1'000'033};

/// Examples at once, at most, where nobody says how many.
static constexpr int64_t kMostAtOnce = 256;

namespace {

struct SpecializeBatch
    : public graph::impl::SpecializeBatchPassBase<SpecializeBatch> {
  using SpecializeBatchPassBase::SpecializeBatchPassBase;

  LogicalResult initialize(MLIRContext *context) override;
  void runOnOperation() override;

private:
  void runOn(func::FuncOp function);
  OwningOpRef<func::FuncOp> makeFor(int64_t count, IRMapping *mapping);
  OwningOpRef<func::FuncOp> makeProbe(int64_t count, IRMapping &mapping);
  std::optional<SizedValues> findNumbers();
  std::optional<FoundRows> findRowsFor(int64_t count, const SizedValues &sized,
                                       const FoundRows *like);
  bool findBatched();
  func::FuncOp addPart(int64_t size, SymbolTable &symbols);
  bool specialize();
  void declare(ArrayRef<func::FuncOp> parts,
               ArrayRef<std::optional<Rows>> rows);
  LogicalResult infer(func::FuncOp function);
  LogicalResult inferQuietly(func::FuncOp function) {
    return graph::inferQuietly(function,
                               [&](func::FuncOp each) { return infer(each); });
  }
  bool refuse(const llvm::Twine &reason) {
    if (why.empty())
      why = reason.str();
    return false;
  }

  func::FuncOp main;             ///< Or that for one shape of others.
  SmallVector<unsigned> batched; ///< Arguments.
  std::string why;
};

} // namespace

LogicalResult SpecializeBatch::initialize(MLIRContext *context) {
  bool isAscending = sizes.empty() || sizes.front() == 1;
  for (size_t i = 1; i < sizes.size(); ++i)
    isAscending &= sizes[i - 1] < sizes[i];
  if (isAscending)
    return success();
  return emitError(UnknownLoc::get(context),
                   "graph-specialize-batch: expected sizes that begin with 1 "
                   "and ascend");
}

/// Finds the arguments whose first dimension is the batch: the only unknown
/// extent of the function, under one name where there are several.
bool SpecializeBatch::findBatched() {
  batched.clear();
  auto mayOpenFirst = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return isa<UnrankedTensorType>(type) ||
           (tensor && tensor.getRank() > 0 && tensor.isDynamicDim(0));
  };
  if (llvm::none_of(main.getArgumentTypes(), mayOpenFirst))
    return false; // There is no batch.
  StringAttr common;
  for (BlockArgument argument : main.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    const unsigned i = argument.getArgNumber();
    if (type && type.hasStaticShape())
      continue;
    if (!type || type.getNumDynamicDims() != 1 || !type.isDynamicDim(0))
      return refuse(graph::nameOf(givenName(main, i, false), i) +
                    " leaves more open than its first extent");
    auto names = main.getArgAttrOfType<ArrayAttr>(i, GraphDialect::kDimsAttr);
    auto name = names ? cast<StringAttr>(names[0]) : StringAttr();
    const bool isNamed = name && !name.empty();
    if (!batched.empty() && (!isNamed || name != common))
      return refuse("the first extents of inputs have several names, or none");
    common = isNamed ? name : StringAttr();
    batched.push_back(i);
  }
  if (batched.empty())
    return false; // Nothing is open.
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    if (main.getArgAttr(i, GraphDialect::kRandomAttr))
      return refuse("it draws random numbers");
  if (llvm::any_of(findUpdates(main), [](BlockArgument to) { return !!to; }))
    return refuse("a run leaves state to the next one");
  return true;
}

/// A copy of the function for so many examples, with types as far as they are
/// known before inference.
OwningOpRef<func::FuncOp> SpecializeBatch::makeFor(int64_t count,
                                                   IRMapping *mapping) {
  IRMapping own;
  OwningOpRef<func::FuncOp> copy =
      cast<func::FuncOp>(main->clone(mapping ? *mapping : own));
  for (unsigned i : batched) {
    auto type = typeOf(copy->getArgument(i));
    SmallVector<int64_t> shape(type.getShape());
    shape[0] = count;
    copy->getArgument(i).setType(type.clone(shape));
  }
  for (unsigned i = 0; i < copy->getNumArguments(); ++i)
    copy->removeArgAttr(i, GraphDialect::kDimsAttr);
  for (unsigned i = 0; i < copy->getNumResults(); ++i)
    copy->removeResultAttr(
        i, StringAttr::get(&getContext(), GraphDialect::kDimsAttr));
  copy->setType(FunctionType::get(&getContext(),
                                  copy->getBody().getArgumentTypes(),
                                  copy->getResultTypes()));
  return copy;
}

LogicalResult SpecializeBatch::infer(func::FuncOp function) {
  OpPassManager manager(func::FuncOp::getOperationName());
  manager.addPass(createInferTypesPass());
  return runPipeline(manager, function);
}

/// The function for so many examples with inferred types, outside of the
/// module; null where the model cannot have so many.
OwningOpRef<func::FuncOp> SpecializeBatch::makeProbe(int64_t count,
                                                     IRMapping &mapping) {
  OwningOpRef<func::FuncOp> probe = makeFor(count, &mapping);
  if (succeeded(inferProbe(getOperation(), *probe,
                           [&](func::FuncOp each) { return infer(each); })))
    return probe;
  refuse("shapes do not fit a batch of " + llvm::Twine(count));
  return {};
}

/// The numbers that differ by the size of the batch.
std::optional<SizedValues> SpecializeBatch::findNumbers() {
  OwningOpRef<func::FuncOp> copies[2];
  IRMapping mappings[2];
  Knowledge knowledge[2];
  for (int i : {0, 1}) {
    copies[i] = makeProbe(kProbes[i], mappings[i]);
    if (!copies[i])
      return std::nullopt;
    knowledge[i].learn(*copies[i]);
  }
  auto elementsIn = [&](int i) {
    return [&, i](Value value) {
      return knowledge[i].elementsOf(mappings[i].lookup(value));
    };
  };
  return findDiffering(main, findSized(main), elementsIn(0), elementsIn(1),
                       [](OpOperand &) { return false; });
}

/// The rows of the function for so many examples, where these do not meet, and
/// where it is what it is for the size that `like` was found for.
std::optional<FoundRows> SpecializeBatch::findRowsFor(int64_t count,
                                                      const SizedValues &sized,
                                                      const FoundRows *like) {
  IRMapping mapping;
  OwningOpRef<func::FuncOp> probe = makeProbe(count, mapping);
  if (!probe)
    return std::nullopt;
  SizedValues own;
  for (Value value : sized.all)
    own.all.insert(mapping.lookup(value));
  for (Value value : sized.linear)
    own.linear.insert(mapping.lookup(value));
  for (Value value : sized.divided)
    own.divided.insert(mapping.lookup(value));
  std::optional<FoundRows> found =
      findRows(*probe, batched, count, own, like, why);
  if (found && like &&
      (found->all != like->all ||
       (!found->dividends.empty() && found->dividends != like->dividends))) {
    refuse("shapes are others for a batch of " + llvm::Twine(count));
    return std::nullopt;
  }
  return found;
}

/// Leaves of @main its signature, where results have as many rows as there are
/// examples, and the functions that compute it.
void SpecializeBatch::declare(ArrayRef<func::FuncOp> parts,
                              ArrayRef<std::optional<Rows>> rows) {
  func::FuncOp first = parts.front();
  SmallVector<Type> results;
  for (auto [type, each] : llvm::zip_equal(first.getResultTypes(), rows)) {
    auto tensor = cast<RankedTensorType>(type);
    SmallVector<int64_t> shape(tensor.getShape());
    if (each)
      shape[0] = ShapedType::kDynamic;
    results.push_back(tensor.clone(shape));
  }
  declareByParts(main, results, kByRowsAttr, parts);
}

/// Whether reading the constants of products takes more than a fifth of the
/// time that multiplying does with it, by the model of the runtime: 100 flops
/// or 10 bytes in a nanosecond.
static bool waitsForWeights(func::FuncOp function) {
  constexpr double flopsOfByte = 10, share = 0.2;
  double flops = 0, bytes = 0;
  for (Operation &op : function.getBody().front()) {
    auto sum = dyn_cast<ReductionOpInterface>(op);
    if (getFusionKind(&op) != FusionKind::Anchor || !sum)
      continue;
    auto terms = sum.getFoldedExtents();
    if (!terms)
      continue;
    flops += 2.0 *
             static_cast<double>(typeOf(op.getResult(0)).getNumElements()) *
             static_cast<double>(llvm::product_of(*terms));
    for (Value operand : op.getOperands())
      if (getConstantElements(operand))
        bytes += static_cast<double>(bytesOf(operand.getType()));
  }
  return bytes * flopsOfByte > share * (bytes * flopsOfByte + flops);
}

/// The next number of examples: 24, 32, 48, 64 and so on.
static int64_t largerThan(int64_t size) {
  return llvm::isPowerOf2_64(size) ? size / 2 * 3 : size / 3 * 4;
}

/// The function for so many examples, in the module; null where it cannot be.
func::FuncOp SpecializeBatch::addPart(int64_t size, SymbolTable &symbols) {
  func::FuncOp part = makeFor(size, nullptr).release();
  part.setSymName((main.getSymName() + "_" + llvm::Twine(size)).str());
  symbols.insert(part);
  part->setAttr(kRowsAttr, Builder(&getContext()).getI64IntegerAttr(size));
  if (succeeded(inferQuietly(part)) &&
      llvm::all_of(part.getResultTypes(), graph::isStatic))
    return part;
  part.erase();
  refuse("shapes do not fit a batch of " + llvm::Twine(size));
  return {};
}

bool SpecializeBatch::specialize() {
  if (failed(inferQuietly(main)))
    return refuse("types do not fit"); // The next pass says so.
  if (!findBatched())
    return false;
  if (!main.getBody().hasOneBlock())
    return refuse("several blocks");
  const std::optional<SizedValues> known = findNumbers();
  if (!known)
    return false;
  const SizedValues &sized = *known;
  std::optional<FoundRows> rows;
  for (int64_t count : kProbes)
    if (!(rows = findRowsFor(count, sized, rows ? &*rows : nullptr)))
      return false;
  if (llvm::any_of(rows->results, [](const std::optional<Rows> &result) {
        return result && (result->dim != 0 || result->runs != 1);
      }))
    return refuse("a result has it elsewhere than in front");
  SymbolTable symbols(getOperation());
  SmallVector<int64_t> wanted(sizes.begin(), sizes.end());
  if (wanted.empty())
    wanted = {1, 4, 16};
  SmallVector<func::FuncOp> parts; // The smallest first.
  for (size_t i = 0; i < wanted.size(); ++i) {
    func::FuncOp part = findRowsFor(wanted[i], sized, &*rows)
                            ? addPart(wanted[i], symbols)
                            : func::FuncOp();
    if (!part) {
      for (func::FuncOp other : parts)
        other.erase();
      return false;
    }
    parts.push_back(part);
    // Of one's own choice: more examples, as long as they share much time.
    if (sizes.empty() && i + 1 == wanted.size() && wanted[i] < kMostAtOnce &&
        waitsForWeights(part))
      wanted.push_back(largerThan(wanted[i]));
  }
  std::reverse(parts.begin(), parts.end());
  for (func::FuncOp part : parts) // In the order that they are named in.
    part->moveBefore(getOperation().getBody(), getOperation().getBody()->end());
  declare(parts, rows->results);
  return true;
}

void SpecializeBatch::runOn(func::FuncOp function) {
  main = function;
  why.clear();
  if (!main || main.isExternal())
    return;
  const Location location = main.getLoc();
  auto options = remark::RemarkOpts::name("SpecializeBatch")
                     .category("graph-specialize-batch")
                     .function(main.getName());
  if (specialize())
    remark::passed(location, options)
        << remark::add("specialized")
        << remark::metric("Sizes",
                          main->getAttrOfType<ArrayAttr>(kByRowsAttr).size());
  else if (!why.empty())
    remark::missed(location, options) << remark::reason(
        "a batch of any size is not computed by parts: {0}", why);
}

void SpecializeBatch::runOnOperation() {
  auto whole = getOperation().lookupSymbol<func::FuncOp>("main");
  if (!whole)
    return;
  auto parts = whole->getAttrOfType<ArrayAttr>(kByShapeAttr);
  if (!parts)
    return runOn(whole);
  for (auto name : parts.getAsRange<FlatSymbolRefAttr>())
    runOn(getOperation().lookupSymbol<func::FuncOp>(name.getAttr()));
}
