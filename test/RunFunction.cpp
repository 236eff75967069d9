// SPDX-License-Identifier: Apache-2.0

#include "RunFunction.h"

#include "dlc/Numerics/Comparison.h"
#include "dlc/Numerics/Inputs.h"
#include "dlc/dialects/Graph/GraphDialect.h"
#include "dlc/dialects/Graph/Plain.h"

#include "mlir/IR/BuiltinAttributes.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace mlir;
using namespace dlc::graph;
using namespace dlc::numerics;

static Numbers numbersOf(const Tensor &tensor) {
  Numbers numbers;
  for (int64_t i = 0, count = tensor.size(); i < count; ++i)
    numbers.push_back(numberAt(tensor, i));
  return numbers;
}

Numbers numbersOf(ElementsAttr elements) {
  RawElements raw = RawElements::get(elements);
  return numbersOf(
      Tensor{toTensorType(elements.getType()), raw.data().data(), nullptr});
}

std::vector<Numbers> runFunction(func::FuncOp function,
                                 const std::vector<Numbers> &arguments) {
  Block &block = function.getBody().front();
  std::vector<Tensor> inputs, outputs;
  dlc::rt::Status status = dlc::rt::Status::ok();
  for (auto [argument, numbers] :
       llvm::zip_equal(block.getArguments(), arguments)) {
    inputs.emplace_back();
    if (status.isOk())
      status =
          makeTensor(toTensorType(argument.getType()), numbers, inputs.back());
  }
  if (status.isOk())
    status = interpret(block, inputs, outputs);
  EXPECT_TRUE(status.isOk()) << status.message();
  std::vector<Numbers> results;
  for (const Tensor &output : outputs)
    results.push_back(numbersOf(output));
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
