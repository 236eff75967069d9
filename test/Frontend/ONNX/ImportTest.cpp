// SPDX-License-Identifier: Apache-2.0
//
// What text tests cannot see: where weights live and for how long.

#include "dlc/Frontend/ONNX/Import.h"

#include "Wire.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

using namespace dlc::onnx;
using namespace dlc::onnx::test;

static Message valueInfo(std::string_view name, int64_t length) {
  Message shape;
  shape.bytes(1, Message().integer(1, length));
  Message tensor;
  tensor.integer(1, 1).bytes(2, shape);
  return Message().bytes(1, name).bytes(2, Message().bytes(1, tensor));
}

/// y = x + w, where w has `length` elements. The padding in front moves the
/// weights to any address.
static std::string addModel(int64_t length, size_t padding) {
  std::string weights(4 * length, '\0');
  for (size_t i = 0; i < weights.size(); ++i)
    weights[i] = static_cast<char>(i % 100);
  Message graph;
  graph.bytes(10, std::string(padding, 'd')); // Documentation.
  graph.bytes(
      1, Message().bytes(1, "x").bytes(1, "w").bytes(2, "y").bytes(4, "Add"));
  graph.bytes(5, Message().integer(1, length).integer(2, 1).bytes(8, "w").bytes(
                     9, weights));
  graph.bytes(11, valueInfo("x", length)).bytes(12, valueInfo("y", length));
  Message model;
  model.integer(1, 8).bytes(8, Message().integer(2, 13)).bytes(7, graph);
  return model.text;
}

static llvm::ArrayRef<char> weightsOf(mlir::ModuleOp module) {
  llvm::ArrayRef<char> data;
  module.walk([&](mlir::Operation *op) {
    if (auto value =
            op->getAttrOfType<mlir::DenseResourceElementsAttr>("value"))
      data = value.getRawHandle().getBlob()->getData();
  });
  return data;
}

TEST(ImportTest, WeightsAreViewsThatKeepTheirOwner) {
  int views = 0;
  for (size_t padding = 0; padding < 4; ++padding) {
    auto bytes = std::make_shared<std::string>(addModel(1000, padding));
    std::weak_ptr<std::string> watch = bytes;
    const char *begin = bytes->data();
    const char *end = begin + bytes->size();
    {
      mlir::MLIRContext context;
      auto module = importOnnxBuffer(context, *bytes, bytes, "m.onnx");
      ASSERT_TRUE(module);
      llvm::ArrayRef<char> weights = weightsOf(*module);
      ASSERT_EQ(weights.size(), 4000u);
      EXPECT_EQ(weights[399], 99);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(weights.data()) % 4, 0u);
      bool isView = weights.data() >= begin && weights.data() < end;
      views += isView;
      bytes.reset();
      EXPECT_EQ(watch.expired(), !isView);
      module = {};
      EXPECT_EQ(watch.expired(), !isView);
    }
    EXPECT_TRUE(watch.expired());
  }
  EXPECT_EQ(views, 1); // One of four consecutive addresses is aligned.
}

TEST(ImportTest, EveryTruncationIsRefusedOrImported) {
  std::string model = addModel(3, 0);
  for (size_t length = 0; length < model.size(); ++length) {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    int errors = 0;
    context.getDiagEngine().registerHandler([&](mlir::Diagnostic &diagnostic) {
      errors += diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
      return mlir::success();
    });
    std::vector<char> cut(model.begin(), model.begin() + length);
    auto module =
        importOnnxBuffer(context, {cut.data(), cut.size()}, nullptr, "m.onnx");
    EXPECT_EQ(errors, module ? 0 : 1) << "at " << length;
  }
}
