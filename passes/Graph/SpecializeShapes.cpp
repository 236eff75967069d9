// SPDX-License-Identifier: Apache-2.0
//
// graph-specialize-shapes: what a model leaves open is computed by functions
// for the sizes that somebody asks for.

#include "Forms.h"
#include "NumberReads.h"
#include "Padding.h"

#include "dlc/abi/Version.h"
#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Parts.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/dialects/Graph/Ports.h"
#include "dlc/dialects/Graph/Shapes.h"
#include "dlc/passes/Graph/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/MapVector.h"

#include <numeric>
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
  /// Its number among those for which smaller sizes are padded.
  std::optional<unsigned> padded;
};

/// A function for one combination.
struct Part {
  func::FuncOp function;
  IRMapping mapping; ///< From @main.
  int64_t number;
};

/// Lengths of sequences, where nobody says which.
constexpr int64_t kUsualSizes[] = {8,   16,  24,  32,  40,  48,  56,
                                   64,  80,  96,  112, 128, 160, 192,
                                   224, 256, 320, 384, 448, 512};

/// Of a batch whose examples meet, so that it is not computed by rows.
constexpr int64_t kUsualBatches[] = {1, 2, 4, 8, 16, 32, 64};

/// Sizes of what stays open, while a function is read: primes that no model has
/// as a limit or an extent, of which a few make no more elements than there are
/// numbers.
constexpr int64_t kProbes[] = {1009, 1013, 1019, 1021};

/// Others, beside which nothing in a model is small, or large.
constexpr int64_t kOnes[] = {1, 1, 1, 1}, kFew[] = {2, 3, 5, 7},
                  kMany[] = {10007, 1031, 1033, 1039};

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
  int64_t sizeIn(const Part &part, const Extent &extent);
  std::string describe(int64_t number);
  void fix(func::FuncOp function, int64_t number, std::string &suffix);
  std::optional<Part> addPart(int64_t number, SymbolTable &symbols,
                              Misfit &why);
  LogicalResult addParts(std::vector<Part> &parts);
  LogicalResult infer(func::FuncOp function);
  OwningOpRef<func::FuncOp> withOpen(func::FuncOp function, int64_t open);
  bool isOutside(func::FuncOp function);
  std::optional<FunctionCopy> copyFor(const Part &part, const Extent &extent,
                                      int64_t size, ArrayRef<int64_t> probes,
                                      std::optional<int64_t> others = {});
  SmallVector<int64_t> findSmaller(ArrayRef<Part> parts, const Part &part,
                                   const Extent &extent);
  std::optional<PaddingProbes> makeProbes(const Part &part,
                                          const Extent &extent, int64_t size,
                                          ArrayRef<int64_t> smaller,
                                          ArrayRef<int64_t> others,
                                          bool mayLack, std::string &why);
  bool isSoFor(const Part &part, const Extent &extent,
               ArrayRef<int64_t> smaller, const FoundPadding &found,
               std::string &why);
  bool padExtent(ArrayRef<Part> parts, Extent &extent,
                 std::vector<FoundPadding> &found, std::string &why);
  void addMask(const Part &part, Value size, int64_t extent,
               const PaddingMask &mask);
  void pad(std::vector<Part> &parts);
  void declare(ArrayRef<Part> parts);
  std::pair<Extent *, Extent *> findBatchAndLength();
  bool giveBatchSizes();
  bool addUsualParts(Extent &extent, ArrayRef<int64_t> usual,
                     std::vector<Part> &parts);
  bool isWholeByRows(func::FuncOp function);
  Part addOpenPart();
  void specializeUsual();

  func::FuncOp main;
  llvm::MapVector<StringRef, Extent> open;
  std::vector<std::string> ownNames; ///< Of those that the model names not.
  int64_t combinations = 1;
  unsigned paddedExtents = 0;
  /// Of each dimension of each result, the number of its padded extent or -1.
  SmallVector<SmallVector<int64_t>> paddedResults;
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

/// The size that `extent` has in `part`.
int64_t SpecializeShapes::sizeIn(const Part &part, const Extent &extent) {
  int64_t found = 0;
  forEachSize(part.number, [&](StringRef, const Extent &other, int64_t size) {
    found = &other == &extent ? size : found;
  });
  return found;
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

/// The same with `open` for each extent that stays open; null where the model
/// cannot have that.
OwningOpRef<func::FuncOp> SpecializeShapes::withOpen(func::FuncOp function,
                                                     int64_t open) {
  OwningOpRef<func::FuncOp> probe = function.clone();
  for (BlockArgument argument : probe->getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type)
      continue;
    SmallVector<int64_t> shape(type.getShape());
    std::replace(shape.begin(), shape.end(), ShapedType::kDynamic, open);
    argument.setType(type.clone(shape));
  }
  probe->setType(FunctionType::get(&getContext(),
                                   probe->getBody().getArgumentTypes(),
                                   probe->getResultTypes()));
  nameOpenDims(*probe);
  if (failed(inferProbe(getOperation(), *probe,
                        [&](func::FuncOp each) { return infer(each); })))
    return {};
  return probe;
}

/// Whether an index is none, which this says: one that follows from sizes, and
/// has nothing of what stays open, nor has what it points into.
bool SpecializeShapes::isOutside(func::FuncOp function) {
  const bool isOpen = !llvm::all_of(function.getArgumentTypes(), isStatic);
  OwningOpRef<func::FuncOp> probe;
  std::optional<OutsideIndex> outside;
  for (int64_t open : {kProbes[0], int64_t(2), int64_t(1)}) {
    probe = withOpen(function, open);
    auto found = probe ? findOutsideIndex(*probe) : std::nullopt;
    if (!found || (outside && (outside->index != found->index ||
                               outside->extent != found->extent)))
      return false;
    outside = found;
    if (!isOpen)
      break;
  }
  outside->op->emitError("expected an index in [")
      << -outside->extent << ", " << outside->extent << "), got "
      << outside->index;
  return true;
}

/// The function of combination `number`; nullopt, with the reason in `why`,
/// where the model cannot have it.
std::optional<Part>
SpecializeShapes::addPart(int64_t number, SymbolTable &symbols, Misfit &why) {
  Part part{{}, {}, number};
  part.function = cast<func::FuncOp>(main->clone(part.mapping));
  std::string suffix;
  fix(part.function, number, suffix);
  part.function.setSymName(main.getSymName().str() + suffix);
  symbols.insert(part.function, getOperation().getBody()->end());
  ScopedDiagnosticHandler handler(&getContext(), [&](Diagnostic &fault) {
    if (why.text.empty()) {
      why.location = fault.getLocation();
      why.text = describe(number) + ": " + fault.str();
    }
    return success(); // Taken.
  });
  if (succeeded(infer(part.function)) && !isOutside(part.function))
    return part;
  symbols.erase(part.function);
  return std::nullopt;
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
LogicalResult SpecializeShapes::addParts(std::vector<Part> &parts) {
  SymbolTable symbols(getOperation());
  std::set<std::pair<StringRef, int64_t>> used;
  std::vector<Misfit> misfits(combinations);
  for (int64_t i = 0; i != combinations; ++i)
    if (std::optional<Part> part = addPart(i, symbols, misfits[i])) {
      parts.push_back(std::move(*part));
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
void SpecializeShapes::declare(ArrayRef<Part> parts) {
  SmallVector<func::FuncOp> functions;
  SmallVector<Type> results;
  for (const Part &part : parts) {
    functions.push_back(part.function);
    ArrayRef<Type> own = functions.back().getResultTypes();
    if (results.empty())
      results.assign(own.begin(), own.end());
    for (auto [type, other] : llvm::zip_equal(results, own))
      type = join(type, other);
  }
  Builder builder(&getContext());
  for (const auto &[name, extent] : open) {
    if (!extent.padded)
      continue;
    for (auto [argument, dim] : extent.places) {
      SmallVector<int64_t> dims(typeOf(main.getArgument(argument)).getRank(),
                                -1);
      if (auto known =
              main.getArgAttrOfType<DenseI64ArrayAttr>(argument, kPaddedAttr))
        dims.assign(known.asArrayRef().begin(), known.asArrayRef().end());
      dims[dim] = *extent.padded;
      main.setArgAttr(argument, kPaddedAttr,
                      builder.getDenseI64ArrayAttr(dims));
    }
  }
  for (auto [i, dims] : llvm::enumerate(paddedResults)) {
    auto type = dyn_cast<RankedTensorType>(results[i]);
    if (!type || llvm::all_of(dims, [](int64_t each) { return each < 0; }))
      continue;
    // Also where all parts have the same: a run may have less.
    SmallVector<int64_t> shape(type.getShape());
    for (auto [extent, padded] : llvm::zip_equal(shape, dims))
      if (padded >= 0)
        extent = ShapedType::kDynamic;
    results[i] = type.clone(shape);
    main.setResultAttr(i, kPaddedAttr, builder.getDenseI64ArrayAttr(dims));
  }
  declareByParts(main, results, kByShapeAttr, functions);
}

//===----------------------------------------------------------------------===//
// Padding
//===----------------------------------------------------------------------===//

/// A copy of @main of the sizes of `part`, but for `extent`, and `probes` for
/// what stays open; with `others` those of all other extents are that.
std::optional<FunctionCopy>
SpecializeShapes::copyFor(const Part &part, const Extent &extent, int64_t size,
                          ArrayRef<int64_t> probes,
                          std::optional<int64_t> others) {
  FunctionCopy copy;
  copy.function = cast<func::FuncOp>(main->clone(copy.mapping));
  func::FuncOp function = *copy.function;
  auto set = [&](const Extent &which, int64_t to) {
    for (auto [i, dim] : which.places) {
      auto type = typeOf(function.getArgument(i));
      SmallVector<int64_t> shape(type.getShape());
      shape[dim] = to;
      function.getArgument(i).setType(type.clone(shape));
    }
  };
  forEachSize(part.number, [&](StringRef, const Extent &other, int64_t own) {
    set(other, own);
  });
  for (const auto &[name, other] : open) {
    if (others)
      set(other, *others);
    if (others || !other.sizes.empty())
      continue;
    if (probes.empty())
      return std::nullopt;
    set(other, probes.front());
    probes = probes.drop_front();
  }
  set(extent, size);
  function.setType(FunctionType::get(&getContext(),
                                     function.getBody().getArgumentTypes(),
                                     function.getResultTypes()));
  nameOpenDims(function);
  if (failed(inferProbe(getOperation(), function,
                        [&](func::FuncOp each) { return infer(each); })))
    return std::nullopt;
  return copy;
}

/// The sizes of `extent` that `part` is to compute beside its own, the largest
/// first: those down to that of the next smaller part. A run takes the part
/// with the least of each extent.
SmallVector<int64_t> SpecializeShapes::findSmaller(ArrayRef<Part> parts,
                                                   const Part &part,
                                                   const Extent &extent) {
  const int64_t size = sizeIn(part, extent);
  int64_t next = 0;
  for (const Part &other : parts) {
    const int64_t own = sizeIn(other, extent);
    bool isAlike = own < size;
    forEachSize(part.number,
                [&](StringRef, const Extent &each, int64_t wanted) {
                  isAlike &= &each == &extent || sizeIn(other, each) == wanted;
                });
    if (isAlike)
      next = std::max(next, own);
  }
  SmallVector<int64_t> sizes;
  for (int64_t smaller = size - 1; smaller > next; --smaller)
    sizes.push_back(smaller);
  return sizes;
}

/// For `extent` of `size`, and those `smaller`, where what stays open are
/// `others`. With `mayLack`, of smaller ones those that the model can have.
std::optional<PaddingProbes>
SpecializeShapes::makeProbes(const Part &part, const Extent &extent,
                             int64_t size, ArrayRef<int64_t> smaller,
                             ArrayRef<int64_t> others, bool mayLack,
                             std::string &why) {
  PaddingProbes probes;
  auto refuse = [&](int64_t size) {
    why = "shapes do not fit a size of " + std::to_string(size);
    return std::nullopt;
  };
  auto own = copyFor(part, extent, size, others);
  if (!own)
    return refuse(size);
  for (int64_t each : smaller) {
    if (each < 1 || each >= size || llvm::is_contained(probes.sizes, each))
      continue;
    auto copy = copyFor(part, extent, each, others);
    if (!copy && !mayLack)
      return refuse(each);
    if (!copy)
      continue;
    probes.sizes.push_back(each);
    probes.smaller.push_back(std::move(*copy));
  }
  auto open = copyFor(part, extent, ShapedType::kDynamic, others);
  auto any = copyFor(part, extent, size, others, ShapedType::kDynamic);
  if (probes.sizes.empty() || !open || !any) {
    why = "shapes do not fit any size";
    return std::nullopt;
  }
  probes.size = size;
  probes.own = std::move(*own);
  probes.open = std::move(*open);
  probes.others = std::move(*any);
  if (auto least = copyFor(part, extent, size, others, 1))
    probes.least = std::move(*least);
  return probes;
}

static bool isPrime(int64_t number) {
  for (int64_t divisor = 2; divisor * divisor <= number; ++divisor)
    if (number % divisor == 0)
      return false;
  return number > 1;
}

/// Whether what was found for `part`, and the sizes `smaller` than its own,
/// does not hold by chance, as where a step of the model is a multiple of a
/// size: it is the same for two primes, with one, few and many of what stays
/// open.
bool SpecializeShapes::isSoFor(const Part &part, const Extent &extent,
                               ArrayRef<int64_t> smaller,
                               const FoundPadding &found, std::string &why) {
  SmallVector<int64_t> sizes =
      llvm::to_vector(llvm::make_filter_range(smaller, isPrime));
  sizes.resize(2, sizeIn(part, extent));
  sizes.push_back(sizes.front());
  const ArrayRef<int64_t> others[] = {kOnes, kFew, kMany};
  for (auto [size, open] : llvm::zip_equal(sizes, others)) {
    const SmallVector<int64_t> below = {size - 1, size - 2, size / 2, 1};
    std::string lacks;
    auto probes = makeProbes(part, extent, size, below, open,
                             /*mayLack=*/true, lacks);
    if (!probes)
      continue; // The model cannot have it.
    auto again = findPadding(main, *probes, extent.places, why);
    if (again && *again != found)
      why = "what it takes differs by the size";
    if (!again || *again != found)
      return false;
  }
  return true;
}

/// Finds, for each of `parts`, what it takes to pad `extent`. Results have it
/// in the same dimensions in all, and in these no other extent.
bool SpecializeShapes::padExtent(ArrayRef<Part> parts, Extent &extent,
                                 std::vector<FoundPadding> &found,
                                 std::string &why) {
  const FoundPadding *like = nullptr;
  const Part *largest = nullptr;
  SmallVector<int64_t> belowLargest;
  found.assign(parts.size(), {});
  for (auto [part, own] : llvm::zip_equal(parts, found)) {
    SmallVector<int64_t> sizes = findSmaller(parts, part, extent);
    if (sizes.empty())
      continue; // There is no size between.
    auto probes = makeProbes(part, extent, sizeIn(part, extent), sizes, kProbes,
                             /*mayLack=*/false, why);
    std::optional<FoundPadding> padding;
    if (probes)
      padding = findPadding(main, *probes, extent.places, why);
    if (!padding)
      return false;
    own = std::move(*padding);
    if (like && like->results != own.results) {
      why = "results have it in other dimensions for other sizes";
      return false;
    }
    if (like && *like != own) {
      why = "what it takes differs by the size";
      return false;
    }
    like = &own;
    if (!largest || sizeIn(part, extent) > sizeIn(*largest, extent)) {
      largest = &part;
      belowLargest = std::move(sizes);
    }
  }
  if (!like) {
    why = "there are none between";
    return false;
  }
  if (!isSoFor(*largest, extent, belowLargest, *like, why))
    return false;
  auto isKnownIn = [](Type type, unsigned dim) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && !tensor.isDynamicDim(dim);
  };
  for (const Part &part : parts) {
    func::FuncOp function = part.function;
    for (auto [type, dims] :
         llvm::zip_equal(function.getResultTypes(), like->results))
      for (unsigned dim : dims)
        if (!isKnownIn(type, dim)) {
          why = "a result's shape depends on what else stays open";
          return false;
        }
  }
  for (auto [dims, others] : llvm::zip_equal(like->results, paddedResults))
    for (unsigned dim : dims)
      if (dim < others.size() && others[dim] >= 0) {
        why = "a result has it where it has another one, too";
        return false;
      }
  return true;
}

/// Puts `mask` in front of the operand in `part`, whose argument `size` has the
/// number of elements that there are.
void SpecializeShapes::addMask(const Part &part, Value size, int64_t extent,
                               const PaddingMask &mask) {
  Operation *op = part.mapping.lookup(mask.op);
  Value operand = op->getOperand(mask.operand);
  const int64_t behind = typeOf(operand).getRank() - 1 - mask.dim;
  OpBuilder builder(op);
  const Location loc = op->getLoc();
  SmallVector<int64_t> shape(behind + 1, 1);
  shape[0] = extent;
  SmallVector<int64_t> places(extent);
  std::iota(places.begin(), places.end(), 0);
  auto type = RankedTensorType::get(shape, builder.getI64Type());
  Value place = ConstantOp::create(
      builder, loc,
      makeElements(type, ArrayRef(reinterpret_cast<const char *>(places.data()),
                                  places.size() * sizeof(int64_t))));
  Value exists = LessOp::create(builder, loc, place, size);
  const Type element = typeOf(operand).getElementType();
  Attribute value = mask.neutral;
  if (auto integer = dyn_cast<IntegerAttr>(mask.neutral)) // It has no sign.
    value = IntegerAttr::get(element, integer.getValue());
  Value neutral = ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(RankedTensorType::get({}, element),
                             ArrayRef<Attribute>(value)));
  op->setOperand(mask.operand, SelectOp::create(builder, loc, operand.getType(),
                                                exists, operand, neutral));
}

/// Whether a run of the function depends on its inputs alone.
static bool isPlain(func::FuncOp function, std::string &why) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (function.getArgAttr(i, GraphDialect::kRandomAttr))
      why = "it draws random numbers";
  if (!function.getBody().hasOneBlock())
    why = "several blocks";
  return why.empty();
}

/// Has parts compute smaller sizes of the extents for which that can be.
void SpecializeShapes::pad(std::vector<Part> &parts) {
  paddedExtents = 0;
  paddedResults.clear();
  paddedResults.resize(main.getNumResults());
  for (auto &[name, extent] : open) {
    extent.padded.reset();
    if (extent.sizes.size() < 2)
      continue; // It is what it is.
    std::string why;
    std::vector<FoundPadding> found;
    const bool isPadded =
        isPlain(main, why) && padExtent(parts, extent, found, why);
    auto options = remark::RemarkOpts::name("SpecializeShapes")
                       .category("graph-specialize-shapes")
                       .function(main.getName());
    if (!isPadded) {
      remark::missed(main.getLoc(), options) << remark::reason(
          "sizes of {0} are not padded to larger ones: {1}", name, why);
      continue;
    }
    extent.padded = paddedExtents++;
    remark::passed(main.getLoc(), options)
        << remark::add("padded") << remark::metric("Extent", name);
    Type i64 = IntegerType::get(&getContext(), 64);
    for (auto [part, own] : llvm::zip_equal(parts, found)) {
      Value size =
          graph::addArgument(part.function, RankedTensorType::get({}, i64),
                             ("size of " + name).str());
      for (const PaddingMask &mask : own.masks)
        addMask(part, size, sizeIn(part, extent), mask);
      for (auto [dims, result] : llvm::zip(paddedResults, own.results))
        for (unsigned dim : result) {
          dims.resize(std::max<size_t>(dims.size(), dim + 1), -1);
          dims[dim] = *extent.padded;
        }
    }
  }
  for (auto [dims, type] :
       llvm::zip_equal(paddedResults, parts.front().function.getResultTypes()))
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      dims.resize(tensor.getRank(), -1);
}

//===----------------------------------------------------------------------===//
// Sizes that nobody asked for
//===----------------------------------------------------------------------===//

/// What is left open: a batch, the first dimension of inputs, which has a name,
/// and an extent beside it. Null without it, both where there is more.
std::pair<Extent *, Extent *> SpecializeShapes::findBatchAndLength() {
  Extent *batch = nullptr, *length = nullptr;
  for (auto &[name, extent] : open) {
    auto isFirst = [](std::pair<unsigned, unsigned> place) {
      return place.second == 0;
    };
    Extent *&found = llvm::all_of(extent.places, isFirst) ? batch : length;
    if (found)
      return {};
    found = &extent;
  }
  return {batch, length};
}

/// Whether nothing of a part is left open but a batch that is computed by rows:
/// of a recurrent layer it is not the first dimension.
bool SpecializeShapes::isWholeByRows(func::FuncOp function) {
  if (llvm::all_of(function.getArgumentTypes(), graph::isStatic))
    return true;
  if (!byRows)
    return false;
  OpBuilder builder(function);
  auto scratch = ModuleOp::create(builder, function.getLoc());
  auto copy = cast<func::FuncOp>(function->clone());
  copy.setSymName("main");
  scratch.push_back(copy);
  OpPassManager manager(ModuleOp::getOperationName());
  manager.addPass(createSpecializeBatchPass());
  const bool isMade = succeeded(runPipeline(manager, scratch)) &&
                      isMadeOfParts(scratch.lookupSymbol("main"));
  scratch.erase();
  return isMade;
}

/// Adds parts for those of the `usual` sizes that the model can have, and for
/// the largest one, where it cannot have all, and pads them; false, with
/// nothing added, where smaller sizes cannot be padded.
bool SpecializeShapes::addUsualParts(Extent &extent, ArrayRef<int64_t> usual,
                                     std::vector<Part> &parts) {
  SymbolTable symbols(getOperation());
  SmallVector<int64_t> sizes;
  combinations = 1;
  auto make = [&](int64_t size) {
    extent.sizes.assign({size});
    Misfit why;
    return addPart(0, symbols, why);
  };
  auto add = [&](int64_t size, Part part) {
    part.number = std::ssize(parts);
    parts.push_back(std::move(part));
    sizes.push_back(size);
  };
  int64_t misfit = 0; // The least known one.
  for (int64_t size : usual) {
    if (std::optional<Part> part = make(size)) {
      add(size, std::move(*part));
    } else if (!sizes.empty()) {
      misfit = size;
      break;
    }
  }
  std::optional<Part> last;
  int64_t limit = sizes.empty() ? 0 : sizes.back();
  while (misfit - limit > 1) {
    const int64_t middle = (limit + misfit) / 2;
    std::optional<Part> part = make(middle);
    if (part && last)
      symbols.erase(last->function);
    (part ? limit : misfit) = middle;
    if (part)
      last = std::move(part);
  }
  if (last)
    add(limit, std::move(*last));
  extent.sizes = sizes;
  combinations = std::ssize(parts);
  if (combinations > 1 && isWholeByRows(parts.front().function))
    pad(parts);
  if (extent.padded)
    return true;
  for (Part &part : parts)
    symbols.erase(part.function);
  parts.clear();
  return false;
}

/// The function for what no other part takes, with the arguments that they
/// have.
Part SpecializeShapes::addOpenPart() {
  Part part{{}, {}, -1};
  part.function = cast<func::FuncOp>(main->clone(part.mapping));
  part.function.setSymName((main.getSymName() + "_any").str());
  SymbolTable(getOperation())
      .insert(part.function, getOperation().getBody()->end());
  Type i64 = IntegerType::get(&getContext(), 64);
  for (const auto &[name, extent] : open)
    if (extent.padded)
      graph::addArgument(part.function, RankedTensorType::get({}, i64),
                         ("size of " + name).str());
  return part;
}

/// Whether a scale is computed while it runs, of all examples: nothing else
/// makes these meet, as steps of a recurrent layer do, which are no batch.
static bool isQuantizedDynamically(func::FuncOp function) {
  bool isDynamic = false;
  function.walk([&](QuantizeLinearOp op) {
    isDynamic |= !op.getScale().getDefiningOp<ConstantOp>();
  });
  return isDynamic;
}

void SpecializeShapes::specializeUsual() {
  if (main.isExternal() ||
      llvm::any_of(findUpdates(main), [](BlockArgument to) { return !!to; }))
    return;
  findExtents();
  auto [batch, length] = findBatchAndLength();
  std::vector<Part> parts;
  bool isMade = length && addUsualParts(*length, kUsualSizes, parts);
  if (!isMade && length && batch && byRows && isQuantizedDynamically(main)) {
    batch->sizes = {1};
    isMade = addUsualParts(*length, kUsualSizes, parts);
    if (isMade && batches.size() > 1) {
      for (Part &part : parts)
        part.function.erase();
      parts.clear();
      batch->sizes.assign(batches.begin(), batches.end());
      if (failed(checkCombinations()) || failed(addParts(parts)))
        return signalPassFailure();
      pad(parts);
    }
  }
  if (!length && batch && byRows && !isWholeByRows(main))
    isMade = addUsualParts(*batch,
                           batches.empty() ? ArrayRef(kUsualBatches)
                                           : ArrayRef<int64_t>(batches),
                           parts);
  if (!isMade)
    return;
  parts.push_back(addOpenPart());
  declare(parts);
}

/// Of a batch that is left open alone, and whose examples meet in what is
/// quantised, the sizes that it has without being asked for them: others are
/// computed as they come. False where there is none.
bool SpecializeShapes::giveBatchSizes() {
  auto isOpen = [](const auto &each) { return each.second.sizes.empty(); };
  if (!byRows || llvm::count_if(open, isOpen) != 1 ||
      !isQuantizedDynamically(main))
    return false;
  Extent &extent = llvm::find_if(open, isOpen)->second;
  if (!llvm::all_of(extent.places,
                    [](auto place) { return place.second == 0; }))
    return false;
  if (batches.empty())
    extent.sizes = {1};
  else
    extent.sizes.assign(batches.begin(), batches.end());
  return true;
}

void SpecializeShapes::runOnOperation() {
  main = getOperation().lookupSymbol<func::FuncOp>("main");
  if (!main)
    return;
  if (extents.empty())
    return usual ? specializeUsual() : void();
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
    if (failed(infer(main)) || isOutside(main))
      return signalPassFailure();
    findExtents();
    if (isQuantizedDynamically(main) && !findBatchAndLength().second)
      specializeUsual();
    return;
  }
  const bool takesOther = giveBatchSizes();
  if (takesOther && failed(checkCombinations()))
    return signalPassFailure();
  std::vector<Part> parts;
  if (failed(addParts(parts)))
    return signalPassFailure();
  pad(parts);
  if (takesOther)
    parts.push_back(addOpenPart());
  declare(parts);
}
