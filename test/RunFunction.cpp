// SPDX-License-Identifier: Apache-2.0

#include "RunFunction.h"

#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/passes/Graph/Evaluate.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

#include "llvm/ADT/APFloat.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

using namespace mlir;
using namespace dlc::graph;

static ElementsAttr toElements(Type type, const Numbers &numbers) {
  auto tensor = cast<RankedTensorType>(type);
  if (tensor.getElementType().isInteger(64)) {
    std::vector<int64_t> whole(numbers.begin(), numbers.end());
    return DenseElementsAttr::get(tensor, ArrayRef<int64_t>(whole));
  }
  auto element = cast<FloatType>(tensor.getElementType());
  std::vector<APFloat> narrow;
  for (double number : numbers) {
    bool losesInfo;
    narrow.emplace_back(number).convert(
        element.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  }
  return DenseElementsAttr::get(tensor, narrow);
}

Numbers numbersOf(ElementsAttr elements) {
  Type type = elements.getElementType();
  if (!isa<FloatType>(type) && !type.isInteger(64))
    return {};
  RawElements raw = RawElements::get(elements);
  unsigned width = type.getIntOrFloatBitWidth();
  const char *data = raw.data().data();
  Numbers numbers;
  for (int64_t i = 0, count = elements.getNumElements(); i < count; ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, data + i * width / 8, width / 8);
    if (type.isInteger(64)) {
      numbers.push_back(static_cast<double>(static_cast<int64_t>(bits)));
      continue;
    }
    APFloat value(cast<FloatType>(type).getFloatSemantics(),
                  APInt(width, bits));
    bool losesInfo;
    value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
    numbers.push_back(value.convertToDouble());
  }
  return numbers;
}

static bool computeAll(Block &block, DenseMap<Value, ElementsAttr> &known) {
  for (Operation &op : block.without_terminator()) {
    if (auto constant = dyn_cast<ConstantOp>(op))
      known[constant.getY()] = constant.getValue();
    if (!isComputed(&op))
      continue;
    SmallVector<ElementsAttr> operands, results;
    for (Value operand : op.getOperands())
      operands.push_back(known.lookup(operand));
    dlc::rt::Status status = evaluateOperation(&op, operands, results);
    if (!status.isOk()) {
      ADD_FAILURE() << op.getName().getStringRef().str() << ": "
                    << status.message();
      return false;
    }
    for (auto [result, value] : llvm::zip_equal(op.getResults(), results))
      known[result] = value;
  }
  return true;
}

std::vector<Numbers> runFunction(func::FuncOp function,
                                 const std::vector<Numbers> &arguments) {
  Block &block = function.getBody().front();
  DenseMap<Value, ElementsAttr> known;
  for (auto [argument, numbers] :
       llvm::zip_equal(block.getArguments(), arguments))
    known[argument] = toElements(argument.getType(), numbers);
  std::vector<Numbers> results;
  if (!computeAll(block, known))
    return results;
  for (Value value : block.getTerminator()->getOperands())
    results.push_back(numbersOf(known[value]));
  return results;
}

std::map<std::string, Numbers>
runFunction(func::FuncOp function,
            const std::map<std::string, Numbers> &arguments) {
  std::vector<Numbers> ordered;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto name =
        function.getArgAttrOfType<StringAttr>(i, GraphDialect::kNameAttr);
    auto given = arguments.find(name ? name.str() : "");
    if (given == arguments.end()) {
      ADD_FAILURE() << "no value of argument " << i
                    << (name ? " " + name.str() : "");
      return {};
    }
    ordered.push_back(given->second);
  }
  std::map<std::string, Numbers> results;
  for (auto [i, numbers] : llvm::enumerate(runFunction(function, ordered))) {
    auto name =
        function.getResultAttrOfType<StringAttr>(i, GraphDialect::kNameAttr);
    results[name ? name.str() : std::to_string(i)] = numbers;
  }
  return results;
}

void expectNear(const Numbers &found, const Numbers &expected,
                double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  double largest = 1;
  for (double each : expected)
    largest = std::max(largest, std::abs(each));
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], tolerance * largest) << "element " << i;
}
