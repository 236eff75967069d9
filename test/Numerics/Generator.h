// SPDX-License-Identifier: Apache-2.0
//
// Builds random functions of Graph operations, the same for the same seed,
// whose results say something: every value is finite, and rounding an operation
// differently moves it by little. An operation whose results do not is taken
// back.

#ifndef DLC_TEST_NUMERICS_GENERATOR_H
#define DLC_TEST_NUMERICS_GENERATOR_H

#include "dlc/Numerics/Interpreter.h"
#include "dlc/runtime/Base/Random.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace dlc::test {

/// A module with a function @main. Its arguments carry their values, the inputs
/// to run it on (`graph.initial`).
using RandomGraph = mlir::OwningOpRef<mlir::ModuleOp>;

mlir::func::FuncOp mainOf(mlir::ModuleOp module);

class Generator {
public:
  using Numbers = std::vector<double>;
  using Shape = llvm::SmallVector<int64_t>;

  /// With `isDifferentiable` all arguments are f64, and results are made of
  /// them by operations with a gradient that is their derivative.
  Generator(mlir::MLIRContext &context, uint64_t seed, bool isDifferentiable);

  RandomGraph generate();

  // Choices.

  uint64_t random();
  int64_t below(int64_t count) {
    return random() % std::max<int64_t>(count, 1);
  }
  /// Both ends included.
  int64_t between(int64_t low, int64_t high) {
    return low + below(high - low + 1);
  }
  bool chance(int percent) { return below(100) < percent; }
  double real(double low, double high) {
    return low + (high - low) * static_cast<double>(random() >> 11) * 0x1p-53;
  }
  template <typename T> T oneOf(std::initializer_list<T> list) {
    return list.begin()[below(list.size())];
  }
  int64_t extent();    ///< One of the few extents of this graph.
  mlir::Type floats(); ///< `element` where that is of floats, else f32.

  // Values.

  static mlir::RankedTensorType typeOf(mlir::Value value) {
    return mlir::cast<mlir::RankedTensorType>(value.getType());
  }
  /// A value of a static type that fits, mostly a late one; null without one.
  mlir::Value pick(llvm::function_ref<bool(mlir::RankedTensorType)> fits);
  /// Of floats, which may be made for it.
  mlir::Value pickFloats(int64_t minRank = 0, int64_t maxRank = 5);
  mlir::Value pickAny(int64_t minRank = 0, int64_t maxRank = 5);
  /// An argument or a constant of random numbers; floats from `low` to `high`,
  /// integers of the same range.
  mlir::Value fresh(llvm::ArrayRef<int64_t> shape, mlir::Type element,
                    double low = -2, double high = 2);
  /// A value that broadcasts with `value`, of its type of elements by default.
  mlir::Value partner(mlir::Value value, mlir::Type element = {});
  /// Indices in [-extent, extent) as an argument or a constant.
  mlir::Value indices(llvm::ArrayRef<int64_t> shape, int64_t extent,
                      bool isNegativeToo = true);
  mlir::Value constant(llvm::ArrayRef<int64_t> shape, mlir::Type element,
                       llvm::ArrayRef<double> numbers);
  mlir::Value ints(llvm::ArrayRef<int64_t> values);
  mlir::Value scalar(int64_t value);
  mlir::Value none();

  // Operations.

  /// Builds "graph.`name`", unless its operands do not fit or its results are
  /// of no use; then nothing is left and the result is null.
  mlir::Operation *make(llvm::StringRef name, mlir::ValueRange operands,
                        llvm::ArrayRef<mlir::NamedAttribute> attributes = {},
                        size_t results = 1);
  mlir::Value makeOne(llvm::StringRef name, mlir::ValueRange operands,
                      llvm::ArrayRef<mlir::NamedAttribute> attributes = {}) {
    mlir::Operation *op = make(name, operands, attributes);
    return op ? op->getResult(0) : mlir::Value();
  }
  mlir::NamedAttribute num(llvm::StringRef name, int64_t value);
  mlir::NamedAttribute real(llvm::StringRef name, double value);
  mlir::NamedAttribute flag(llvm::StringRef name, bool value);
  mlir::NamedAttribute text(llvm::StringRef name, llvm::StringRef value);
  mlir::NamedAttribute list(llvm::StringRef name,
                            llvm::ArrayRef<int64_t> values);
  mlir::NamedAttribute type(llvm::StringRef name, mlir::Type value);

  /// Names of all elementwise operations.
  llvm::ArrayRef<std::string> elementwise() const { return elementwiseNames; }

  mlir::OpBuilder b;
  const bool isDifferentiable;
  /// What most values of this graph are made of.
  mlir::Type element;

private:
  static constexpr unsigned kShadows = 2;
  void makeArguments();
  void set(mlir::Value value, const numerics::Tensor &tensor);
  void addValue(mlir::Value value);
  numerics::Tensor makeTensor(mlir::RankedTensorType type, const Numbers &);
  mlir::Value argument(mlir::RankedTensorType type, const Numbers &numbers);
  bool mayDifferentiate(mlir::Operation *op);
  bool compute(mlir::Operation *op);
  void perturb(mlir::Operation *op, unsigned shadow);
  bool isUseful(mlir::Value result);
  void chooseGroups();
  void chooseResults();

  uint64_t seed, draws = 0;
  bool isDyadic = false;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;
  mlir::Block *body;
  llvm::SmallVector<mlir::DictionaryAttr> argumentAttributes;
  llvm::SmallVector<int64_t> extents;
  std::vector<std::string> elementwiseNames;
  llvm::SmallVector<mlir::Value> pool;
  /// What the function computes, and what it would with coarser roundings.
  numerics::Interpreter exact, shadows[kShadows];
};

/// Adds one operation or a few to a graph, or none where it has no fit
/// operands.
using Maker = void (*)(Generator &);

/// Which makers there are, and how often each is asked.
struct WeightedMaker {
  unsigned weight;
  Maker make;
};
llvm::ArrayRef<WeightedMaker> elementMakers();
llvm::ArrayRef<WeightedMaker> movementMakers();
llvm::ArrayRef<WeightedMaker> contractionMakers();
llvm::ArrayRef<WeightedMaker> windowMakers();
llvm::ArrayRef<WeightedMaker> indexMakers();
llvm::ArrayRef<WeightedMaker> sampleMakers();

} // namespace dlc::test

#endif // DLC_TEST_NUMERICS_GENERATOR_H
