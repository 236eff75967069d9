// SPDX-License-Identifier: Apache-2.0
//
// Which initializers are parameters when a model is imported for training, and
// values for them from another file.

#include "dlc/Frontend/ONNX/Import.h"

#include "Wire.h"

#include "dlc/dialects/Graph/GraphDialect.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/runtime/IO/Params.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
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

ImportOptions forTraining() {
  ImportOptions options;
  options.isTraining = true;
  return options;
}

struct Imported {
  explicit Imported(const Model &model, ImportOptions options = forTraining())
      : text(model.text()) {
    context.getDiagEngine().registerHandler([&](mlir::Diagnostic &diagnostic) {
      messages += diagnostic.str() + "\n";
      return mlir::success();
    });
    module = importOnnxBuffer(context, text, nullptr, "m.onnx", options);
    if (!module)
      return;
    namespace graph = dlc::graph;
    auto main = module->lookupSymbol<mlir::func::FuncOp>("main");
    for (unsigned i = 0; i < main.getNumArguments(); ++i) {
      auto initial = main.getArgAttrOfType<mlir::ElementsAttr>(
          i, graph::GraphDialect::kInitialAttr);
      std::string name = main.getArgAttrOfType<mlir::StringAttr>(
                                 i, graph::GraphDialect::kNameAttr)
                             .str();
      if (!initial)
        continue;
      parameters.insert(name);
      graph::RawElements raw = graph::RawElements::get(initial);
      const auto *elements = reinterpret_cast<const float *>(raw.data().data());
      values[name] = {elements, elements + raw.data().size() / sizeof(float)};
    }
    for (unsigned i = 0; i < main.getNumResults(); ++i)
      if (auto of = main.getResultAttrOfType<mlir::StringAttr>(
              i, graph::GraphDialect::kUpdatesAttr))
        updated.insert(of.str());
  }

  std::string text, messages;
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  Names parameters, updated;
  std::map<std::string, std::vector<float>> values; ///< Of parameters.
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

/// Whatever the operator is: a class token, limits and exponents.
TEST(TrainingTest, FindsParametersOfAnyOperator) {
  Model model;
  model.weights("token", {1, 2}).weights("low", {2}).weights("power", {2});
  model.add(
      node("Concat", {"x", "token"}, "c")
          .bytes(5, Message().bytes(1, "axis").integer(3, 0).integer(20, 2)));
  model.add(node("Max", {"c", "low"}, "m"));
  model.add(node("Pow", {"m", "power"}, "y"));
  model.port(11, "x", {2, 2}).port(12, "y", {3, 2});
  Imported imported(model);
  EXPECT_EQ(imported.parameters, (Names{"token", "low", "power"}));
  EXPECT_EQ(imported.messages, "");
}

/// Weights also of one element: one unit and one input.
TEST(TrainingTest, FindsParametersOfRecurrentLayers) {
  Model model;
  model.weights("w", {1, 1, 1}).weights("r", {1, 1, 1}).weights("b", {1, 2});
  model.add(
      node("RNN", {"x", "w", "r", "b"}, "y")
          .bytes(
              5,
              Message().bytes(1, "hidden_size").integer(3, 1).integer(20, 2)));
  model.port(11, "x", {3, 2, 1}).port(12, "y", {3, 1, 2, 1});
  Imported imported(model);
  EXPECT_EQ(imported.parameters, (Names{"w", "r", "b"}));
  EXPECT_EQ(imported.messages, "");
}

/// They must be known to compile, whatever else reads them.
TEST(TrainingTest, SaysWhichInitializersAreSettings) {
  Model model;
  model.weights("scales", {2}).weights("w", {2});
  model.add(node("Resize", {"x", "", "scales"}, "r"));
  model.add(node("Mul", {"r", "w"}, "m"));
  model.add(node("Add", {"m", "scales"}, "y"));
  model.port(11, "x", {3, 2}).port(12, "y", {3, 2});
  Imported imported(model);
  EXPECT_EQ(imported.parameters, (Names{"w"}));
  EXPECT_NE(imported.messages.find("initializer 'scales' is no parameter: it "
                                   "says how to compute Resize"),
            std::string::npos)
      << imported.messages;
}

/// What only constants lead to a setting from is one, too.
TEST(TrainingTest, FollowsSettingsToInitializers) {
  Model model;
  model.weights("one", {2}).weights("two", {2}).weights("w", {2});
  model.add(
      node("Concat", {"one", "two"}, "scales")
          .bytes(5, Message().bytes(1, "axis").integer(3, 0).integer(20, 2)));
  model.add(node("Mul", {"x", "w"}, "m"));
  model.add(node("Resize", {"m", "", "scales"}, "y"));
  model.port(11, "x", {1, 1, 2, 2}).port(12, "y", {1, 1, 2, 2});
  Imported imported(model);
  EXPECT_EQ(imported.parameters, (Names{"w"}));
}

/// A comparison has no gradient and takes none from others.
TEST(TrainingTest, ComparesParameters) {
  Model model;
  model.weights("w", {2}).weights("limit", {2});
  model.add(node("Greater", {"w", "limit"}, "c"));
  model.add(node("Mul", {"x", "w"}, "m"));
  model.add(node("Where", {"c", "m", "x"}, "y"));
  model.port(11, "x", {3, 2}).port(12, "y", {3, 2});
  Imported imported(model);
  EXPECT_EQ(imported.parameters, (Names{"w"}));
  EXPECT_NE(imported.messages.find("initializer 'limit' is no parameter"),
            std::string::npos)
      << imported.messages;
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

//===----------------------------------------------------------------------===//
// Values from another file
//===----------------------------------------------------------------------===//

namespace {

/// An array of 1, 2, 3, ... f32.
struct Array {
  std::string name;
  std::vector<int64_t> shape;
};

/// y = 2 x w + bias, with a file of arrays beside it.
class ParametersTest : public testing::Test {
protected:
  ParametersTest() {
    model.weights("w", {2, 2}).weights("bias", {2}).weights("two", {});
    model.add(node("MatMul", {"x", "w"}, "p"));
    model.add(node("Mul", {"p", "two"}, "d"));
    model.add(node("Add", {"d", "bias"}, "y"));
    model.port(11, "x", {3, 2}).port(12, "y", {3, 2});
  }
  ~ParametersTest() override { std::filesystem::remove(path); }

  Imported import(const std::vector<Array> &arrays, bool isNamed = true) {
    std::vector<float> numbers = {1, 2, 3, 4};
    std::vector<dlc::rt::ParamsArray> params;
    for (const Array &array : arrays) {
      dlc::rt::ParamsArray &made = params.emplace_back();
      made.name = isNamed ? array.name : "";
      made.version = array.shape.empty() ? dlc::rt::ParamsVersion::V3
                                         : dlc::rt::ParamsVersion::V2;
      made.type = {DLC_F32, array.shape};
      made.values = {DLC_F32, array.shape, numbers.data()};
    }
    auto written = dlc::rt::writeParams(path, params, isNamed);
    EXPECT_TRUE(written.isOk()) << written.message();
    ImportOptions options;
    options.params = path;
    options.keepsParameters = true;
    return Imported(model, options);
  }

  void expectMessage(const Imported &imported, const std::string &message) {
    EXPECT_FALSE(imported.module);
    EXPECT_EQ(imported.messages, name + ": " + message + "\n");
  }

  Model model;
  std::string name =
      std::string(
          testing::UnitTest::GetInstance()->current_test_info()->name()) +
      ".params";
  std::string path = testing::TempDir() + name;
};

} // namespace

TEST_F(ParametersTest, TakeThePlaceOfInitializers) {
  Imported imported = import({{"aux:bias", {2}}, {"arg:w", {2, 2}}});
  ASSERT_TRUE(imported.module) << imported.messages;
  EXPECT_EQ(imported.values["w"], (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(imported.values["bias"], (std::vector<float>{1, 2}));
}

TEST_F(ParametersTest, MayReplaceOtherInitializersToo) {
  Imported imported = import({{"w", {2, 2}}, {"bias", {2}}, {"two", {}}});
  EXPECT_TRUE(imported.module) << imported.messages;
}

TEST_F(ParametersTest, HaveNamesOfInitializers) {
  expectMessage(import({{"w", {2, 2}}, {"bias", {2}}, {"arg:v", {2}}}),
                "array 'arg:v': expected the name of an initializer");
  expectMessage(import({{"arg:\x1b[2J\xff", {2}}}),
                "array 'arg:\\x1b[2J\\xff': expected the name of an "
                "initializer");
  expectMessage(import({{"w", {2, 2}}}, /*isNamed=*/false),
                "expected arrays with names, got a list without");
}

TEST_F(ParametersTest, AreComplete) {
  expectMessage(import({{"arg:w", {2, 2}}}),
                "expected an array of parameter 'bias', got none");
}

TEST_F(ParametersTest, HaveTheShapesOfInitializers) {
  expectMessage(
      import({{"arg:w", {4}}, {"bias", {2}}}),
      "array 'arg:w': expected 2x2xf32, as the initializer is, got 4xf32");
}

TEST_F(ParametersTest, AreGivenOnce) {
  expectMessage(import({{"arg:w", {2, 2}}, {"bias", {2}}, {"w", {2, 2}}}),
                "array 'w': expected one array for initializer 'w', got two");
}

TEST_F(ParametersTest, AreInAFile) {
  ImportOptions options;
  options.params = path + ".none";
  Imported imported(model, options);
  EXPECT_FALSE(imported.module);
  EXPECT_NE(imported.messages.find(".none"), std::string::npos);
}
