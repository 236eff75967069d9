// SPDX-License-Identifier: Apache-2.0
//
// Which initializers are parameters when a model is imported for training.

#include "dlc/Frontend/ONNX/Import.h"

#include "Wire.h"

#include "dlc/dialects/Graph/GraphDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

#include <set>

using namespace dlc::onnx;
using namespace dlc::onnx::test;
using Names = std::set<std::string>;

namespace {

Message node(std::string_view type, std::vector<std::string_view> inputs,
             std::string_view output) {
  Message node;
  for (std::string_view input : inputs)
    node.bytes(1, input);
  return node.bytes(2, output).bytes(4, type);
}

/// A model of one input and one output of these shapes.
class Model {
public:
  Model &add(const Message &node) {
    graph.bytes(1, node);
    return *this;
  }
  /// An initializer of ones.
  Model &weights(std::string_view name, const std::vector<int64_t> &dims) {
    Message tensor;
    size_t count = 1;
    for (int64_t dim : dims) {
      tensor.integer(1, dim);
      count *= dim;
    }
    std::string ones;
    for (size_t i = 0; i < count; ++i)
      ones += std::string("\0\0\x80\x3f", 4);
    graph.bytes(5, tensor.integer(2, 1).bytes(8, name).bytes(9, ones));
    return *this;
  }
  Model &port(uint32_t field, std::string_view name,
              const std::vector<int64_t> &dims) {
    Message shape;
    for (int64_t dim : dims)
      shape.bytes(1, Message().integer(1, dim));
    Message type = Message().bytes(1, Message().integer(1, 1).bytes(2, shape));
    graph.bytes(field, Message().bytes(1, name).bytes(2, type));
    return *this;
  }
  std::string text() const {
    return Message()
        .integer(1, 8)
        .bytes(8, Message().integer(2, 13))
        .bytes(7, graph)
        .text;
  }

private:
  Message graph;
};

struct Imported {
  explicit Imported(const Model &model) : text(model.text()) {
    context.getDiagEngine().registerHandler([&](mlir::Diagnostic &diagnostic) {
      messages += diagnostic.str() + "\n";
      return mlir::success();
    });
    ImportOptions options;
    options.isTraining = true;
    module = importOnnxBuffer(context, text, nullptr, "m.onnx", options);
    EXPECT_TRUE(module) << messages;
    if (!module)
      return;
    namespace graph = dlc::graph;
    auto main = module->lookupSymbol<mlir::func::FuncOp>("main");
    for (unsigned i = 0; i < main.getNumArguments(); ++i)
      if (main.getArgAttr(i, graph::GraphDialect::kInitialAttr))
        parameters.insert(main.getArgAttrOfType<mlir::StringAttr>(
                                  i, graph::GraphDialect::kNameAttr)
                              .str());
    for (unsigned i = 0; i < main.getNumResults(); ++i)
      if (auto of = main.getResultAttrOfType<mlir::StringAttr>(
              i, graph::GraphDialect::kUpdatesAttr))
        updated.insert(of.str());
  }

  std::string text, messages;
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  Names parameters, updated;
};

} // namespace

/// One channel, one output: their place tells what has one element.
TEST(TrainingTest, FindsParametersOfOneElement) {
  Model model;
  model.weights("scale", {1}).weights("shift", {1}).weights("mean", {1});
  model.weights("variance", {1}).weights("two", {1}).weights("three", {1});
  model.weights("w", {4, 1}).weights("bias", {1});
  model.add(node("BatchNormalization",
                 {"x", "scale", "shift", "mean", "variance"}, "n"));
  model.add(node("Mul", {"n", "two"}, "d"));
  model.add(node("Add", {"d", "three"}, "t"));
  model.add(node("Flatten", {"t"}, "f"));
  model.add(node("MatMul", {"f", "w"}, "p"));
  model.add(node("Add", {"p", "bias"}, "y"));
  model.port(11, "x", {2, 1, 2, 2}).port(12, "y", {2, 1});
  Imported imported(model);
  EXPECT_EQ(imported.parameters,
            (Names{"scale", "shift", "mean", "variance", "w", "bias"}));
  EXPECT_EQ(imported.updated, (Names{"mean", "variance"}));
  EXPECT_EQ(imported.messages, "");
}

/// A statistic that is computed has no place for a new value.
TEST(TrainingTest, SaysWhichStatisticsKeepTheirValues) {
  Model model;
  model.weights("scale", {1}).weights("shift", {1}).weights("mean", {1});
  model.weights("variance", {1});
  model.add(node("Sqrt", {"mean"}, "root"));
  model.add(node("BatchNormalization",
                 {"x", "scale", "shift", "root", "variance"}, "y"));
  model.port(11, "x", {2, 1, 2, 2}).port(12, "y", {2, 1, 2, 2});
  Imported imported(model);
  EXPECT_EQ(imported.parameters, (Names{"scale", "shift", "variance"}));
  EXPECT_EQ(imported.updated, (Names{"variance"}));
  EXPECT_NE(imported.messages.find("input 3 keeps its value in training"),
            std::string::npos)
      << imported.messages;
}
