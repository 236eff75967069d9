// SPDX-License-Identifier: Apache-2.0

#include "RunFunction.h"

#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/passes/Graph/Evaluate.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace mlir;
using namespace dlc::graph;

static ElementsAttr toElements(Type type, const Numbers &numbers) {
  auto tensor = cast<RankedTensorType>(type);
  if (tensor.getElementType().isInteger(64)) {
    std::vector<int64_t> whole(numbers.begin(), numbers.end());
    return DenseElementsAttr::get(tensor, ArrayRef<int64_t>(whole));
  }
  if (tensor.getElementType().isF64())
    return DenseElementsAttr::get(tensor, ArrayRef<double>(numbers));
  std::vector<float> narrow(numbers.begin(), numbers.end());
  return DenseElementsAttr::get(tensor, ArrayRef<float>(narrow));
}

static Numbers toNumbers(ElementsAttr elements) {
  RawElements raw = RawElements::get(elements);
  const char *data = raw.data().data();
  Numbers numbers;
  for (int64_t i = 0, count = elements.getNumElements(); i < count; ++i) {
    if (elements.getElementType().isInteger(64))
      numbers.push_back(
          static_cast<double>(reinterpret_cast<const int64_t *>(data)[i]));
    else if (elements.getElementType().isF64())
      numbers.push_back(reinterpret_cast<const double *>(data)[i]);
    else
      numbers.push_back(reinterpret_cast<const float *>(data)[i]);
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

std::map<std::string, Numbers>
runFunction(func::FuncOp function,
            const std::map<std::string, Numbers> &arguments) {
  Block &block = function.getBody().front();
  DenseMap<Value, ElementsAttr> known;
  for (BlockArgument argument : block.getArguments()) {
    auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                      GraphDialect::kNameAttr);
    auto given = arguments.find(name ? name.str() : "");
    if (given == arguments.end()) {
      ADD_FAILURE() << "no value of argument " << argument.getArgNumber()
                    << (name ? " " + name.str() : "");
      return {};
    }
    known[argument] = toElements(argument.getType(), given->second);
  }
  std::map<std::string, Numbers> results;
  if (!computeAll(block, known))
    return results;
  for (auto [i, value] :
       llvm::enumerate(block.getTerminator()->getOperands())) {
    auto name =
        function.getResultAttrOfType<StringAttr>(i, GraphDialect::kNameAttr);
    results[name ? name.str() : std::to_string(i)] = toNumbers(known[value]);
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
