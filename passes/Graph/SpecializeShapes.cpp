// SPDX-License-Identifier: Apache-2.0
//
// graph-specialize-shapes: what a model leaves open is computed by functions
// for the sizes that somebody asks for.

#include "dlc/abi/Version.h"
#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Parts.h"
#include "dlc/dialects/Graph/Ports.h"
#include "dlc/dialects/Graph/Shapes.h"
#include "dlc/passes/Graph/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/MapVector.h"

#include <set>

namespace dlc::graph {
#define GEN_PASS_DEF_SPECIALIZESHAPESPASS
#include "dlc/passes/Graph/Passes.h.inc"
} // namespace dlc::graph

using namespace mlir;
using namespace dlc;
using namespace dlc::graph;

namespace {

/// An extent under one name, in all of its places.
struct Extent {
  SmallVector<std::pair<unsigned, unsigned>> places; ///< Argument, dimension.
  SmallVector<int64_t> sizes; ///< Empty where it stays open.
};

/// Why a model cannot have some sizes.
struct Misfit {
  std::optional<Location> location;
  std::string text;
};

struct SpecializeShapes
    : public graph::impl::SpecializeShapesPassBase<SpecializeShapes> {
  using SpecializeShapesPassBase::SpecializeShapesPassBase;

  void runOnOperation() override;

private:
  void findExtents();
  LogicalResult readSizes(StringRef text);
  LogicalResult checkCombinations();
  template <typename Visit> void forEachSize(int64_t number, Visit visit);
  std::string describe(int64_t number);
  void fix(func::FuncOp function, int64_t number, std::string &suffix);
  func::FuncOp addPart(int64_t number, SymbolTable &symbols, Misfit &why);
  LogicalResult addParts(SmallVectorImpl<func::FuncOp> &parts);
  LogicalResult infer(func::FuncOp function);
  void declare(ArrayRef<func::FuncOp> parts);

  func::FuncOp main;
  llvm::MapVector<StringRef, Extent> open;
  std::vector<std::string> ownNames; ///< Of those that the model names not.
  int64_t combinations = 1;
};

} // namespace

/// An extent without a name is called after its input: "x.2", or "#0.2" where
/// another one has that name.
void SpecializeShapes::findExtents() {
  open.clear();
  ownNames.clear();
  SmallVector<std::pair<unsigned, unsigned>> unnamed;
  for (BlockArgument argument : main.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    const unsigned i = argument.getArgNumber();
    auto names = main.getArgAttrOfType<ArrayAttr>(i, GraphDialect::kDimsAttr);
    for (unsigned dim = 0; type && dim < type.getRank(); ++dim) {
      if (!type.isDynamicDim(dim))
        continue;
      auto name = names ? cast<StringAttr>(names[dim]) : StringAttr();
      if (name && !name.empty())
        open[name.getValue()].places.emplace_back(i, dim);
      else
        unnamed.emplace_back(i, dim);
    }
  }
  ownNames.reserve(unnamed.size()); // Names are referred to.
  for (auto [argument, dim] : unnamed) {
    auto nameAfter = [&](StringAttr input) {
      return (graph::nameOf(input, argument) + "." + llvm::Twine(dim)).str();
    };
    std::string name = nameAfter(givenName(main, argument, false));
    if (open.contains(name))
      name = nameAfter({});
    if (open.contains(name))
      continue; // It stays open.
    ownNames.push_back(std::move(name));
    open[ownNames.back()].places.emplace_back(argument, dim);
  }
}

/// "sequence=32|64".
LogicalResult SpecializeShapes::readSizes(StringRef text) {
  auto [name, list] = text.rsplit('=');
  auto found = open.find(name);
  if (found == open.end()) {
    std::string names;
    for (const auto &[known, extent] : open)
      names += (names.empty() ? "one of '" : ", '") + known.str() + "'";
    return main.emitError("expected an extent that the inputs leave open, ")
           << (names.empty() ? "and all are known" : names) << ", got '" << name
           << "'";
  }
  Extent &extent = found->second;
  if (!extent.sizes.empty())
    return main.emitError("expected sizes of '")
           << name << "' once, got them again";
  SmallVector<StringRef> sizes;
  list.split(sizes, '|');
  for (StringRef size : sizes) {
    int64_t number = 0;
    if (size.getAsInteger(10, number) || number < 1 ||
        llvm::is_contained(extent.sizes, number))
      return main.emitError("expected sizes of '")
             << name << "', each once, got '" << size << "'";
    extent.sizes.push_back(number);
  }
  return success();
}

/// An artifact has places for so many, and for state that one of them has.
LogicalResult SpecializeShapes::checkCombinations() {
  combinations = 1;
  for (const auto &[name, extent] : open)
    if (!extent.sizes.empty() && combinations <= DLC_ARTIFACT_PARTS)
      combinations *= std::ssize(extent.sizes);
  if (combinations > DLC_ARTIFACT_PARTS)
    return main.emitError("expected at most ")
           << DLC_ARTIFACT_PARTS << " combinations of sizes, got more";
  if (combinations > 1 &&
      llvm::any_of(findUpdates(main), [](BlockArgument to) { return !!to; }))
    return main.emitError(
        "expected one size of each extent, as a run leaves state to the next");
  return success();
}

/// Visits the extents that have sizes, with those of combination `number`, of
/// which the last varies fastest.
template <typename Visit>
void SpecializeShapes::forEachSize(int64_t number, Visit visit) {
  int64_t left = combinations;
  for (const auto &[name, extent] : open) {
    if (extent.sizes.empty())
      continue;
    left /= std::ssize(extent.sizes);
    visit(name, extent, extent.sizes[number / left % std::ssize(extent.sizes)]);
  }
}

/// Gives arguments of `function` the sizes of combination `number`. `suffix` is
/// "_32x64".
void SpecializeShapes::fix(func::FuncOp function, int64_t number,
                           std::string &suffix) {
  forEachSize(number, [&](StringRef, const Extent &extent, int64_t size) {
    suffix += (suffix.empty() ? "_" : "x") + std::to_string(size);
    for (auto [i, dim] : extent.places) {
      auto type = typeOf(function.getArgument(i));
      SmallVector<int64_t> shape(type.getShape());
      shape[dim] = size;
      function.getArgument(i).setType(type.clone(shape));
    }
  });
  function.setType(FunctionType::get(&getContext(),
                                     function.getBody().getArgumentTypes(),
                                     function.getResultTypes()));
  nameOpenDims(function);
}

LogicalResult SpecializeShapes::infer(func::FuncOp function) {
  OpPassManager manager(func::FuncOp::getOperationName());
  manager.addPass(createInferTypesPass());
  return runPipeline(manager, function);
}

/// The function of combination `number`; null, with the reason in `why`, where
/// the model cannot have it.
func::FuncOp SpecializeShapes::addPart(int64_t number, SymbolTable &symbols,
                                       Misfit &why) {
  func::FuncOp part = main.clone();
  std::string suffix;
  fix(part, number, suffix);
  part.setSymName(main.getSymName().str() + suffix);
  symbols.insert(part, getOperation().getBody()->end());
  ScopedDiagnosticHandler handler(&getContext(), [&](Diagnostic &fault) {
    if (why.text.empty()) {
      why.location = fault.getLocation();
      why.text = describe(number) + ": " + fault.str();
    }
    return success(); // Taken.
  });
  if (succeeded(infer(part)))
    return part;
  symbols.erase(part);
  return {};
}

/// "length=16, width=8".
std::string SpecializeShapes::describe(int64_t number) {
  std::string text;
  forEachSize(number, [&](StringRef name, const Extent &, int64_t size) {
    text +=
        (text.empty() ? "" : ", ") + name.str() + "=" + std::to_string(size);
  });
  return text;
}

/// Combinations that the model cannot have are left out, as of inputs that have
/// to agree, but each size is in one that it can.
LogicalResult SpecializeShapes::addParts(SmallVectorImpl<func::FuncOp> &parts) {
  SymbolTable symbols(getOperation());
  std::set<std::pair<StringRef, int64_t>> used;
  std::vector<Misfit> misfits(combinations);
  for (int64_t i = 0; i != combinations; ++i)
    if (func::FuncOp part = addPart(i, symbols, misfits[i])) {
      parts.push_back(part);
      forEachSize(i, [&](StringRef name, const Extent &, int64_t size) {
        used.emplace(name, size);
      });
    }
  for (int64_t i = 0; i != combinations; ++i) {
    bool isUsed = true;
    forEachSize(i, [&](StringRef name, const Extent &, int64_t size) {
      isUsed &= used.contains({name, size});
    });
    if (!isUsed)
      return emitError(*misfits[i].location, misfits[i].text);
  }
  return success();
}

/// Of two types what is the same in both.
static TensorType join(Type a, Type b) {
  auto first = cast<TensorType>(a), second = cast<TensorType>(b);
  if (!first.hasRank() || !second.hasRank() ||
      first.getRank() != second.getRank())
    return UnrankedTensorType::get(first.getElementType());
  SmallVector<int64_t> shape(first.getShape());
  for (auto [size, other] : llvm::zip_equal(shape, second.getShape()))
    if (size != other)
      size = ShapedType::kDynamic;
  return first.clone(shape);
}

/// Leaves of @main its signature, with results as far as they are the same in
/// all functions that compute it, and their names.
void SpecializeShapes::declare(ArrayRef<func::FuncOp> parts) {
  SmallVector<Type> results =
      llvm::to_vector(func::FuncOp(parts.front()).getResultTypes());
  for (func::FuncOp part : parts)
    for (auto [type, own] : llvm::zip_equal(results, part.getResultTypes()))
      type = join(type, own);
  declareByParts(main, results, kByShapeAttr, parts);
}

void SpecializeShapes::runOnOperation() {
  main = getOperation().lookupSymbol<func::FuncOp>("main");
  if (!main || extents.empty())
    return;
  if (main.isExternal()) {
    main.emitError("expected a function with a body, got a declaration, whose "
                   "extents have their sizes");
    return signalPassFailure();
  }
  findExtents();
  for (const std::string &text : extents)
    if (failed(readSizes(text)))
      return signalPassFailure();
  if (failed(checkCombinations()))
    return signalPassFailure();
  if (combinations == 1) {
    std::string suffix;
    fix(main, 0, suffix);
    if (failed(infer(main)))
      signalPassFailure();
    return;
  }
  SmallVector<func::FuncOp> parts;
  if (failed(addParts(parts)))
    return signalPassFailure();
  declare(parts);
}
