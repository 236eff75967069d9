// SPDX-License-Identifier: Apache-2.0
//
// What an operation decomposes into computes what its Reference kernel does.

#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Inference.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/passes/Graph/Evaluate.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace mlir;
using namespace dlc::graph;

static std::vector<double> numbersOf(ElementsAttr elements) {
  std::vector<double> values;
  // Large results are resources, which do not iterate over numbers.
  RawElements raw = RawElements::get(elements);
  auto dense =
      DenseElementsAttr::getFromRawBuffer(elements.getShapedType(), raw.data());
  if (auto integer = dyn_cast<IntegerType>(elements.getElementType())) {
    for (const APInt &value : dense.getValues<APInt>())
      values.push_back(value.roundToDouble(!integer.isUnsigned()));
    return values;
  }
  for (APFloat value : dense.getValues<APFloat>()) {
    bool losesInfo;
    value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
    values.push_back(value.convertToDouble());
  }
  return values;
}

/// Numbers from -2.9 to 2.9 that repeat late, positive on request.
static ElementsAttr makeArgument(RankedTensorType type, bool isPositive) {
  std::vector<APFloat> values;
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    double number = static_cast<double>((i * 37 + 11) % 59 - 29) / 10;
    APFloat value(isPositive ? std::fabs(number) + 0.1 : number);
    bool losesInfo;
    value.convert(cast<FloatType>(type.getElementType()).getFloatSemantics(),
                  APFloat::rmNearestTiesToEven, &losesInfo);
    values.push_back(value);
  }
  return DenseElementsAttr::get(type, values);
}

/// Parses a function of one operation, which is decomposed, and compares. The
/// argument `positive` (an index, or -1) gets positive numbers.
static void check(StringRef text, double tolerance, int positive = -1) {
  MLIRContext context;
  context.loadDialect<GraphDialect, func::FuncDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  ASSERT_TRUE(module) << text.str();
  auto function = *module->getOps<func::FuncOp>().begin();
  Block &block = function.getBody().front();
  DecomposeOpInterface op;
  for (Operation &each : block)
    if (auto found = dyn_cast<DecomposeOpInterface>(each))
      op = found;
  ASSERT_TRUE(op) << text.str();

  OpBuilder builder(op);
  auto values = op.decompose(builder);
  ASSERT_TRUE(succeeded(values)) << text.str();
  ASSERT_EQ(values->size(), op->getNumResults());
  ASSERT_TRUE(succeeded(verify(*module))) << text.str();

  DenseMap<Value, ElementsAttr> known;
  for (BlockArgument argument : block.getArguments())
    known[argument] =
        makeArgument(cast<RankedTensorType>(argument.getType()),
                     static_cast<int>(argument.getArgNumber()) == positive);
  for (Operation &each : block) {
    if (auto constant = dyn_cast<ConstantOp>(each)) {
      known[constant.getY()] = constant.getValue();
      continue;
    }
    if (!isComputed(&each))
      continue;
    SmallVector<ElementsAttr> operands, results;
    for (Value operand : each.getOperands())
      operands.push_back(known.lookup(operand));
    ASSERT_TRUE(evaluateOperation(&each, operands, results).isOk());
    for (auto [result, value] : llvm::zip_equal(each.getResults(), results))
      known[result] = value;
  }
  for (auto [result, value] : llvm::zip_equal(op->getResults(), *values)) {
    EXPECT_EQ(result.getType(), value.getType());
    std::vector<double> expected = numbersOf(known[result]);
    std::vector<double> found = numbersOf(known[value]);
    ASSERT_EQ(expected.size(), found.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      if (expected[i] == found[i] ||
          (std::isnan(expected[i]) && std::isnan(found[i])))
        continue;
      EXPECT_NEAR(expected[i], found[i], tolerance)
          << text.str() << " at " << i;
    }
  }
}

TEST(Decompose, Softmax) {
  for (StringRef name : {"softmax", "log_softmax"})
    for (StringRef axis : {"0", "1", "-1"})
      check(("func.func @f(%x: tensor<3x4x5xf32>) { %y = graph." + name +
             " %x {axis = " + axis + " : i64} : tensor<3x4x5xf32> return }")
                .str(),
            1e-6);
  check("func.func @f(%x: tensor<3x8xf16>) { %y = graph.softmax %x : "
        "tensor<3x8xf16> return }",
        1e-3);
}

TEST(Decompose, ReduceMean) {
  check("func.func @f(%x: tensor<3x4x5xf32>) { %a = graph.constant "
        "dense<[0, -1]> : tensor<2xi64> %y = graph.reduce_mean %x, %a "
        "{keepdims = false} : (tensor<3x4x5xf32>, tensor<2xi64>) -> "
        "tensor<4xf32> return }",
        1e-6);
  check("func.func @f(%x: tensor<3x4xf64>) { %y = graph.reduce_mean %x : "
        "(tensor<3x4xf64>) -> tensor<1x1xf64> return }",
        1e-14);
}

TEST(Decompose, LayerNorm) {
  check("func.func @f(%x: tensor<3x4x5xf32>, %s: tensor<4x5xf32>, "
        "%b: tensor<5xf32>) { %y = graph.layer_norm %x, %s, %b {axis = 1 : "
        "i64, epsilon = 1.0e-2 : f32} : (tensor<3x4x5xf32>, tensor<4x5xf32>, "
        "tensor<5xf32>) -> tensor<3x4x5xf32> return }",
        1e-5);
  check("func.func @f(%x: tensor<3x8xbf16>, %s: tensor<8xbf16>) { %y = "
        "graph.layer_norm %x, %s : (tensor<3x8xbf16>, tensor<8xbf16>) -> "
        "tensor<3x8xbf16> return }",
        5e-2);
}

TEST(Decompose, RmsNorm) {
  check("func.func @f(%x: tensor<3x8xf32>, %s: tensor<8xf32>) { %y = "
        "graph.rms_norm %x, %s : (tensor<3x8xf32>, tensor<8xf32>) -> "
        "tensor<3x8xf32> return }",
        1e-5);
}

TEST(Decompose, BatchNorm) {
  check("func.func @f(%x: tensor<2x4x3xf32>, %s: tensor<4xf32>, %b: "
        "tensor<4xf32>, %m: tensor<4xf32>, %v: tensor<4xf32>) { %y = "
        "graph.batch_norm %x, %s, %b, %m, %v : (tensor<2x4x3xf32>, "
        "tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> "
        "tensor<2x4x3xf32> return }",
        1e-4, /*positive=*/4);
}

TEST(Decompose, GroupNorm) {
  for (StringRef groups : {"1", "2", "4"})
    check(("func.func @f(%x: tensor<2x4x3x2xf32>, %s: tensor<4xf32>, %b: "
           "tensor<4xf32>) { %y = graph.group_norm %x, %s, %b {num_groups = " +
           groups +
           " : i64} : (tensor<2x4x3x2xf32>, tensor<4xf32>, tensor<4xf32>) -> "
           "tensor<2x4x3x2xf32> return }")
              .str(),
          1e-4);
}

TEST(Decompose, Lrn) {
  for (StringRef attributes :
       {"size = 1 : i64", "size = 4 : i64, alpha = 0.5 : f32",
        "size = 3 : i64, alpha = 2.0 : f32, bias = 1.5 : f32",
        "size = 5 : i64, alpha = 0.3 : f32, beta = 0.6 : f32",
        "size = 13 : i64, alpha = 0.3 : f32"})
    check(("func.func @f(%x: tensor<2x6x3x2xf32>) { %y = graph.lrn %x {" +
           attributes +
           "} : (tensor<2x6x3x2xf32>) -> tensor<2x6x3x2xf32> return }")
              .str(),
          1e-6);
  check("func.func @f(%x: tensor<2x6xbf16>) { %y = graph.lrn %x {size = 3 : "
        "i64} : (tensor<2x6xbf16>) -> tensor<2x6xbf16> return }",
        5e-2);
}

TEST(Decompose, GlobalAvgPool) {
  check("func.func @f(%x: tensor<2x3x4x5xf32>) { %y = graph.avg_pool %x "
        "{kernel_shape = array<i64: 4, 5>, strides = array<i64: 2, 1>} : "
        "(tensor<2x3x4x5xf32>) -> tensor<2x3x1x1xf32> return }",
        1e-6);
}

TEST(Decompose, Stft) {
  check("func.func @f(%x: tensor<2x9x1xf32>, %w: tensor<4xf32>) { %s = "
        "graph.constant dense<2> : tensor<i64> %n = graph.none : none %y = "
        "graph.stft %x, %s, %w, %n : (tensor<2x9x1xf32>, tensor<i64>, "
        "tensor<4xf32>, none) -> tensor<2x3x3x2xf32> return }",
        1e-5);
  check("func.func @f(%x: tensor<1x7x2xf32>) { %s = graph.constant dense<4> : "
        "tensor<i64> %l = graph.constant dense<3> : tensor<i64> %n = "
        "graph.none : none %y = graph.stft %x, %s, %n, %l {onesided = false} : "
        "(tensor<1x7x2xf32>, tensor<i64>, none, tensor<i64>) -> "
        "tensor<1x2x3x2xf32> return }",
        1e-5);
}

TEST(Decompose, DeformConv) {
  check("func.func @f(%x: tensor<1x2x3x3xf32>, %w: tensor<2x1x2x2xf32>, %o: "
        "tensor<1x16x2x2xf32>, %b: tensor<2xf32>, %m: tensor<1x8x2x2xf32>) { "
        "%y = graph.deform_conv %x, %w, %o, %b, %m {group = 2 : i64, "
        "offset_group = 2 : i64} : (tensor<1x2x3x3xf32>, tensor<2x1x2x2xf32>, "
        "tensor<1x16x2x2xf32>, tensor<2xf32>, tensor<1x8x2x2xf32>) -> "
        "tensor<1x2x2x2xf32> return }",
        1e-5);
  check("func.func @f(%x: tensor<2x2x4x3xf32>, %w: tensor<1x2x2x1xf32>, %o: "
        "tensor<2x4x2x2xf32>) { %n = graph.none : none %y = graph.deform_conv "
        "%x, %w, %o, %n, %n {strides = array<i64: 2, 3>, pads = array<i64: 1, "
        "1, 0, 0>, dilations = array<i64: 2, 1>} : (tensor<2x2x4x3xf32>, "
        "tensor<1x2x2x1xf32>, tensor<2x4x2x2xf32>, none, none) -> "
        "tensor<2x1x2x2xf32> return }",
        1e-5);
  // Groups share offsets; f16 is computed as f32.
  check("func.func @f(%x: tensor<1x4x2x3xf16>, %w: tensor<2x2x1x2xf16>, %o: "
        "tensor<1x4x2x2xf16>, %m: tensor<1x2x2x2xf16>) { %n = graph.none : "
        "none %y = graph.deform_conv %x, %w, %o, %n, %m {group = 2 : i64} : "
        "(tensor<1x4x2x3xf16>, tensor<2x2x1x2xf16>, tensor<1x4x2x2xf16>, "
        "none, tensor<1x2x2x2xf16>) -> tensor<1x2x2x2xf16> return }",
        1e-2);
  // Where places are large, offsets are as exact.
  check("func.func @f(%x: tensor<1x1x1x999xf32>, %w: tensor<1x1x1x1xf32>, %o: "
        "tensor<1x2x1x12xf32>) { %n = graph.none : none %y = "
        "graph.deform_conv %x, %w, %o, %n, %n {strides = array<i64: 1, 90>} : "
        "(tensor<1x1x1x999xf32>, tensor<1x1x1x1xf32>, tensor<1x2x1x12xf32>, "
        "none, none) -> tensor<1x1x1x12xf32> return }",
        2e-6);
}

TEST(Decompose, OtherWindowsFail) {
  for (StringRef attributes :
       {"kernel_shape = array<i64: 4>",
        "kernel_shape = array<i64: 5>, dilations = array<i64: 1>, "
        "pads = array<i64: 1, 1>",
        "kernel_shape = array<i64: 5>, auto_pad = \"SAME_UPPER\"",
        "kernel_shape = array<i64: 3>, dilations = array<i64: 2>"}) {
    MLIRContext context;
    context.loadDialect<GraphDialect, func::FuncDialect>();
    std::string text =
        ("func.func @f(%x: tensor<2x3x5xf32>) { %y = "
         "graph.avg_pool %x {" +
         attributes + "} : (tensor<2x3x5xf32>) -> tensor<2x3x?xf32> return }")
            .str();
    auto module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module) << text;
    module->walk([](DecomposeOpInterface op) {
      OpBuilder builder(op);
      EXPECT_TRUE(failed(op.decompose(builder)));
    });
  }
}

/// The result's type as the shape rule gives it.
static std::string convolutionText(StringRef name, StringRef operands,
                                   StringRef types, StringRef attributes) {
  MLIRContext context;
  context.loadDialect<GraphDialect, func::FuncDialect>();
  SmallVector<StringRef> list;
  types.split(list, " ");
  std::string arguments;
  for (auto [i, type] : llvm::enumerate(list))
    arguments += (i ? ", %" : "%") + std::string(1, operands[i]) + ": tensor<" +
                 type.str() + ">";
  std::string uses, spelled;
  for (auto [i, type] : llvm::enumerate(list)) {
    uses += (i ? ", %" : "%") + std::string(1, operands[i]);
    spelled += (i ? ", tensor<" : "tensor<") + type.str() + ">";
  }
  auto textOf = [&](const std::string &result) {
    return "func.func @f(" + arguments + ") { %y = graph." + name.str() + " " +
           uses + " {" + attributes.str() + "} : (" + spelled + ") -> " +
           result + " return }";
  };
  auto module = parseSourceString<ModuleOp>(textOf("tensor<*xf32>"), &context);
  if (!module)
    return "";
  std::string result;
  module->walk([&](DecomposeOpInterface op) {
    SmallVector<Type> results;
    if (succeeded(inferTypes(op->getName().getStringRef(), &context,
                             op->getLoc(), op->getOperands(),
                             op->getAttrDictionary(), 1, results)))
      result = llvm::formatv("{0}", results.front()).str();
  });
  return textOf(result);
}

TEST(Decompose, TransposedConvolutions) {
  struct Case {
    StringRef types, attributes;
  };
  for (auto [types, attributes] : std::initializer_list<Case>{
           {"2x4x5xf32 4x3x3xf32", ""},
           {"2x4x5xf32 4x3x3xf32 3xf32", "pads = array<i64: 1, 2>"},
           {"1x2x4x3xf32 2x3x2x2xf32 3xf32", "strides = array<i64: 2, 2>"},
           {"1x2x4x3xf32 2x3x3x3xf32 3xf32",
            "strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, "
            "output_padding = array<i64: 1, 0>"},
           {"1x2x4x3xf32 2x3x4x4xf32 3xf32",
            "strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>"},
           {"1x2x4x3xf32 2x3x2x5xf32 3xf32", "strides = array<i64: 3, 2>"},
           {"1x2x4x3xf32 2x3x3x2xf32 3xf32",
            "strides = array<i64: 2, 3>, dilations = array<i64: 2, 1>"},
           {"1x4x4x3xf32 4x3x3x3xf32 6xf32",
            "strides = array<i64: 2, 1>, group = 2 : i64"},
           {"1x4x4x3xf32 4x1x3x3xf32 4xf32",
            "strides = array<i64: 2, 2>, group = 4 : i64"},
           {"1x2x4x3xf32 2x3x3x3xf32 3xf32",
            "strides = array<i64: 2, 2>, auto_pad = \"SAME_UPPER\""},
           {"1x2x4x3xf32 2x3x3x3xf32 3xf32",
            "strides = array<i64: 2, 2>, output_shape = array<i64: 10, 8>"},
           {"1x2x3x2x3xf32 2x3x2x3x2xf32 3xf32",
            "strides = array<i64: 2, 1, 2>"}}) {
    std::string text =
        convolutionText("conv_transpose", "xwb", types, attributes);
    check(text, 1e-4);
  }
}

TEST(Decompose, ConvolutionsOfThreeDimensions) {
  struct Case {
    StringRef types, attributes;
  };
  for (auto [types, attributes] : std::initializer_list<Case>{
           {"2x3x4x5x6xf32 4x3x3x3x3xf32 4xf32", ""},
           {"2x3x4x5x6xf32 4x3x3x3x3xf32",
            "pads = array<i64: 1, 2, 0, 2, 1, 1>"},
           {"1x3x7x5x6xf32 4x3x2x3x2xf32 4xf32",
            "strides = array<i64: 2, 1, 3>, dilations = array<i64: 3, 2, 1>"},
           {"1x4x4x5x6xf32 6x2x3x1x3xf32 6xf32",
            "group = 2 : i64, auto_pad = \"SAME_LOWER\""},
           {"1x3x4x5x6xf32 4x3x1x1x1xf32 4xf32", ""},
           {"1x3x4x5x6xf32 4x3x1x1x3xf32", "strides = array<i64: 1, 1, 2>"},
           {"1x3x4x5x6xf32 4x3x3x1x1xf32",
            "pads = array<i64: 1, 0, 0, 1, 0, 0>"},
           {"1x3x4x5x6xf32 4x3x1x3x1xf32", ""},
           {"1x3x4x5x6xf32 4x3x1x1x1xf32", "strides = array<i64: 2, 1, 1>"},
           {"1x3x4x5x6xf32 4x3x1x1x1xf32",
            "pads = array<i64: 0, 0, 1, 0, 0, 0>"}}) {
    check(convolutionText("conv", "xwb", types, attributes), 1e-4);
  }
}

TEST(Decompose, GradientsOfDeepWeights) {
  struct Case {
    StringRef types, attributes;
  };
  for (auto [types, attributes] : std::initializer_list<Case>{
           {"2x3x4x5x6xf32 2x4x2x3x4xf32",
            "kernel_shape = array<i64: 3, 3, 3>"},
           {"2x4x7x5x6xf32 2x6x3x5x2xf32",
            "kernel_shape = array<i64: 2, 3, 2>, strides = array<i64: 2, 1, "
            "3>, pads = array<i64: 0, 1, 0, 0, 1, 0>, group = 2 : i64"},
           {"2x3x4x5x6xf32 2x4x4x5x6xf32",
            "kernel_shape = array<i64: 1, 1, 1>"},
           {"2x3x4x5x6xf32 2x4x2x5x6xf32",
            "kernel_shape = array<i64: 3, 1, 1>"}})
    check(convolutionText("conv_weight_gradient", "xg", types, attributes),
          1e-3);
}

TEST(Decompose, UnknownExtentsFail) {
  MLIRContext context;
  context.loadDialect<GraphDialect, func::FuncDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
      "func.func @f(%x: tensor<3x?xf32>, %s: tensor<1xf32>) { %y = "
      "graph.layer_norm %x, %s : (tensor<3x?xf32>, tensor<1xf32>) -> "
      "tensor<3x?xf32> return }",
      &context);
  ASSERT_TRUE(module);
  Operation *op = nullptr;
  int64_t count = 0;
  module->walk([&](LayerNormOp found) { op = found; });
  OpBuilder builder(op);
  EXPECT_TRUE(failed(cast<DecomposeOpInterface>(op).decompose(builder)));
  op->getBlock()->walk([&](Operation *) { ++count; });
  EXPECT_EQ(count, 2) << "something was built";
}

/// Layers over 3 steps, 2 sequences, 2 inputs and 3 units.
static std::string recurrentText(StringRef name, int64_t gates,
                                 int64_t directions, bool isBatchFirst,
                                 StringRef activations, StringRef attributes) {
  std::string d = std::to_string(directions);
  std::string rows = std::to_string(3 * gates);
  bool hasCell = name == "lstm";
  auto tensor = [](const std::string &shape, StringRef element = "f32") {
    return "tensor<" + shape + "x" + element.str() + ">";
  };
  std::string state = tensor(isBatchFirst ? "2x" + d + "x3" : d + "x2x3");
  std::string y = tensor(isBatchFirst ? "2x3x" + d + "x3" : "3x" + d + "x2x3");
  std::string x = tensor(isBatchFirst ? "2x3x2" : "3x2x2");
  std::string w = tensor(d + "x" + rows + "x2");
  std::string r = tensor(d + "x" + rows + "x3");
  std::string b = tensor(d + "x" + std::to_string(6 * gates));
  std::string p = tensor(d + "x9"), l = tensor("2", "i32");
  std::string names = "%x, %w, %r, %b, %l, %h",
              types =
                  x + ", " + w + ", " + r + ", " + b + ", " + l + ", " + state,
              results = y + ", " + state;
  std::string arguments = "%x: " + x + ", %w: " + w + ", %r: " + r +
                          ", %b: " + b + ", %h: " + state;
  if (hasCell) {
    names += ", %c, %p";
    types += ", " + state + ", " + p;
    results += ", " + state;
    arguments += ", %c: " + state + ", %p: " + p;
  }
  return "func.func @f(" + arguments +
         ") { %l = graph.constant dense<[3, 1]> : tensor<2xi32> %y:" +
         (hasCell ? "3" : "2") + " = graph." + name.str() + " " + names +
         " {hidden_size = 3 : i64, layout = " + (isBatchFirst ? "1" : "0") +
         " : i64, activations = \"" + activations.str() + "\"" +
         attributes.str() + "} : (" + types + ") -> (" + results + ") return }";
}

TEST(Decompose, Recurrent) {
  struct {
    StringRef name;
    int64_t gates;
    StringRef attribute;
  } layers[] = {{"rnn", 1, ", clip = 0.7 : f32"},
                {"gru", 3, ""},
                {"gru", 3, ", linear_before_reset = true"},
                {"lstm", 4, ", clip = 2.0 : f32"},
                {"lstm", 4, ", input_forget = true"}};
  for (const auto &layer : layers)
    for (bool isBatchFirst : {false, true}) {
      check(recurrentText(layer.name, layer.gates, 1, isBatchFirst, "",
                          layer.attribute),
            1e-5);
      check(
          recurrentText(layer.name, layer.gates, 1, isBatchFirst, "",
                        (layer.attribute + ", direction = \"reverse\"").str()),
          1e-5);
      check(recurrentText(
                layer.name, layer.gates, 2, isBatchFirst, "",
                (layer.attribute + ", direction = \"bidirectional\"").str()),
            1e-5);
    }
}

TEST(Decompose, RecurrentActivations) {
  for (StringRef activation :
       {"Affine", "Elu", "HardSigmoid", "LeakyRelu", "Relu", "ScaledTanh",
        "Sigmoid", "Softplus", "Softsign", "Tanh", "ThresholdedRelu"})
    for (StringRef attributes :
         {"", ", activation_alpha = array<f32: 0.3>, activation_beta = "
              "array<f32: 0.6>"})
      check(recurrentText("rnn", 1, 1, false, activation, attributes), 1e-3);
}

TEST(Decompose, GridSample) {
  for (StringRef mode : {"linear", "nearest", "cubic"})
    for (StringRef padding : {"zeros", "border", "reflection"})
      for (StringRef align : {"true", "false"}) {
        std::string attributes =
            ("{mode = \"" + mode + "\", padding_mode = \"" + padding +
             "\", align_corners = " + align + "}")
                .str();
        check("func.func @f(%x: tensor<2x3x4x5xf64>, %g: "
              "tensor<2x3x7x2xf64>) { %y = graph.grid_sample %x, %g " +
                  attributes +
                  " : (tensor<2x3x4x5xf64>, tensor<2x3x7x2xf64>) -> "
                  "tensor<2x3x3x7xf64> return }",
              1e-12);
        check("func.func @f(%x: tensor<1x2x3x1x4xf32>, %g: "
              "tensor<1x2x3x2x3xf32>) { %y = graph.grid_sample %x, %g " +
                  attributes +
                  " : (tensor<1x2x3x1x4xf32>, tensor<1x2x3x2x3xf32>) -> "
                  "tensor<1x2x2x3x2xf32> return }",
              1e-4);
      }
}

TEST(Decompose, Resize) {
  struct {
    StringRef x, y, sizes;
  } const shapes[] = {
      {"1x2x3x4xf64", "1x2x9x20xf64", "9, 20"},
      {"2x3x7x5xf64", "2x3x4x20xf64", "4, 20"},
      {"1x1x6x9xf64", "1x1x3x4xf64", "3, 4"},
      {"1x2x1x5xf64", "1x2x4x25xf64", "4, 25"},
  };
  for (StringRef mode : {"linear", "cubic"})
    for (StringRef places :
         {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
          "align_corners", "asymmetric"})
      for (const auto &each : shapes)
        check(("func.func @f(%x: tensor<" + each.x +
               ">) { %n = graph.none : none %s = graph.constant dense<[" +
               each.sizes +
               "]> : tensor<2xi64> %y = graph.resize %x, %n, %n, %s {axes = "
               "array<i64: 2, 3>, mode = \"" +
               mode + "\", coordinate_transformation_mode = \"" + places +
               "\"} : (tensor<" + each.x +
               ">, none, none, tensor<2xi64>) -> tensor<" + each.y +
               "> return }")
                  .str(),
              1e-12);
}

// Scales that are no ratio of extents.
TEST(Decompose, ResizeByScales) {
  check("func.func @f(%x: tensor<1x3x5x7xf32>) { %n = graph.none : none %s = "
        "graph.constant dense<[1.0, 1.0, 2.3, 1.7]> : tensor<4xf32> %y = "
        "graph.resize %x, %n, %s, %n {mode = \"linear\"} : "
        "(tensor<1x3x5x7xf32>, none, tensor<4xf32>, none) -> "
        "tensor<1x3x11x11xf32> return }",
        1e-6);
}

// What has no weight does not count, whatever it is.
TEST(Decompose, ResizeOfInfinity) {
  check("func.func @f() { %x = graph.constant dense<[[1.0, 0x7F800000, 2.0, "
        "0xFF800000]]> : tensor<1x4xf32> %n = graph.none : none %s = "
        "graph.constant dense<10> : tensor<1xi64> %y = graph.resize %x, %n, "
        "%n, %s {axes = array<i64: 1>, mode = \"linear\", "
        "coordinate_transformation_mode = \"align_corners\"} : "
        "(tensor<1x4xf32>, none, none, tensor<1xi64>) -> tensor<1x10xf32> "
        "return }",
        0);
}

TEST(Decompose, Einsum) {
  struct Case {
    StringRef equation, types, result;
  } cases[] = {
      {"bhdi,bhdj->bhij", "2x3x4x5xf32 2x3x4x6xf32", "2x3x5x6xf32"},
      {"bhij,bhdj->bhid", "2x3x5x6xf32 2x3x4x6xf32", "2x3x5x4xf32"},
      // The second operand's letters come first in the result.
      {"ij,kj->ki", "3x4xf32 5x4xf32", "5x3xf32"},
      {"ij,jk", "3x4xf32 4x5xf32", "3x5xf32"},
      {"i,j->ji", "3xf32 4xf32", "4x3xf32"},
      {"bi,bj->b", "2x3xf32 2x4xf32", "2xf32"},
      {"ijk,jil->kl", "3x4x5xf32 4x3x2xf32", "5x2xf32"},
      {"ab,bc,cd->ad", "2x3xf32 3x4xf32 4x5xf32", "2x5xf32"},
      {"bd,bd,bd->b", "2x5xf32 2x5xf32 2x5xf32", "2xf32"},
      {"ij->j", "3x4xf32", "4xf32"},
      {"ij,ij->", "3x4xf32 3x4xf32", "f32"},
      // Extents of 1 are repeated, also by dimensions of an ellipsis.
      {"ij,jk->ik", "1x1xf32 4x5xf32", "1x5xf32"},
      {"...ij,...jk->...ik", "2x3x4xf32 5x1x4x6xf32", "5x2x3x6xf32"},
      {"...,...", "2x3xf32 3xf32", "2x3xf32"},
      {"Za,aZ", "3x2xf32 2x3xf32", "f32"},
  };
  for (const Case &each : cases) {
    SmallVector<StringRef> types;
    each.types.split(types, ' ');
    std::string arguments, operands, signature;
    for (auto [i, type] : llvm::enumerate(types)) {
      std::string comma = i ? ", " : "", name = "%x" + std::to_string(i);
      arguments += comma + name + ": tensor<" + type.str() + ">";
      operands += comma + name;
      signature += comma + "tensor<" + type.str() + ">";
    }
    check("func.func @f(" + arguments + ") { %y = graph.einsum " + operands +
              " {equation = \"" + each.equation.str() + "\"} : (" + signature +
              ") -> tensor<" + each.result.str() + "> return }",
          1e-5);
  }
}

TEST(Decompose, Dft) {
  struct Case {
    StringRef x, length, axis, attributes, y;
  } cases[] = {
      {"2x8x3x1", "none", "1", "", "2x8x3x2"},
      {"8x2", "none", "0", "", "8x2"},
      {"150x1", "none", "0", "{onesided = true}", "76x2"},
      {"2x8x3x2", "none", "-3", "", "2x8x3x2"},
      {"2x7x1", "none", "none", "{onesided = true}", "2x4x2"},
      {"2x7x2", "none", "1", "{inverse = true}", "2x7x2"},
      {"2x5x2", "none", "1", "{inverse = true, onesided = true}", "2x8x1"},
      {"2x5x2", "9", "1", "{inverse = true, onesided = true}", "2x9x1"},
      {"2x7x1", "4", "1", "", "2x4x2"},
      {"2x7x2", "12", "1", "", "2x12x2"},
      // Of two factors, real, complex and inverse, one of them longer than x.
      {"1x144x2x1", "none", "1", "", "1x144x2x2"},
      {"1x150x2", "none", "1", "{inverse = true}", "1x150x2"},
      {"1x140x1", "none", "1", "{onesided = true}", "1x71x2"},
      {"1x120x2", "132", "1", "", "1x132x2"},
      {"1x131x1", "none", "1", "", "1x131x2"},
  };
  for (const Case &each : cases) {
    auto scalar = [](StringRef name, StringRef value) {
      return (value == "none" ? name + " = graph.none : none "
                              : name + " = graph.constant dense<" + value +
                                    "> : tensor<i64> ")
          .str();
    };
    auto typeOf = [](StringRef value) {
      return value == "none" ? "none" : "tensor<i64>";
    };
    check(("func.func @f(%x: tensor<" + each.x + "xf32>) { " +
           scalar("%l", each.length) + scalar("%a", each.axis) +
           "%y = graph.dft %x, %l, %a " + each.attributes + " : (tensor<" +
           each.x + "xf32>, " + typeOf(each.length) + ", " + typeOf(each.axis) +
           ") -> tensor<" + each.y + "xf32> return }")
              .str(),
          2e-4);
  }
}

TEST(Decompose, OneHot) {
  for (StringRef form : {"-1 : 3x4x5", "0 : 5x3x4", "1 : 3x5x4"}) {
    auto [axis, shape] = form.split(" : ");
    check(("func.func @f(%i: tensor<3x4xf32>, %v: tensor<2xf32>) { %d = "
           "graph.constant dense<5> : tensor<i64> %y = graph.one_hot %i, %d, "
           "%v {axis = " +
           axis +
           " : i64} : (tensor<3x4xf32>, tensor<i64>, tensor<2xf32>) -> "
           "tensor<" +
           shape + "xf32> return }")
              .str(),
          0);
  }
  check("func.func @f(%v: tensor<2xf32>) { %i = graph.constant dense<[0, -1, "
        "-5, -6, 4, 5]> : tensor<6xi32> %d = graph.constant dense<5> : "
        "tensor<i64> %y = graph.one_hot %i, %d, %v : (tensor<6xi32>, "
        "tensor<i64>, tensor<2xf32>) -> tensor<6x5xf32> return }",
        0);
}

TEST(Decompose, Quantization) {
  // Scales of tensors, of an axis and of blocks; halves round to even, what is
  // out of range is the nearest, NaN the zero point.
  struct Case {
    StringRef scales, attributes;
  } cases[] = {{"", ""},
               {"4x", "{axis = -2 : i64}"},
               {"3x2x5x", "{axis = 1 : i64, block_size = 2 : i64}"}};
  for (StringRef type : {"i8", "ui8", "i16", "ui16"})
    for (const Case &each : cases) {
      std::string small = ("tensor<" + each.scales + type + ">").str();
      std::string scale = ("tensor<" + each.scales + "f32>").str();
      check(("func.func @f(%x: tensor<3x4x5xf32>, %s: " + scale +
             ") { %z = graph.constant dense<7> : " + small +
             " %y = graph.quantize_linear %x, %s, %z " + each.attributes +
             " : (tensor<3x4x5xf32>, " + scale + ", " + small +
             ") -> tensor<3x4x5x" + type + "> return }")
                .str(),
            0, /*positive=*/1);
      check(("func.func @f(%s: " + scale +
             ") { %x = graph.constant dense<100> : tensor<3x4x5x" + type +
             "> %z = graph.constant dense<7> : " + small +
             " %y = graph.dequantize_linear %x, %s, %z " + each.attributes +
             " : (tensor<3x4x5x" + type + ">, " + scale + ", " + small +
             ") -> tensor<3x4x5xf32> return }")
                .str(),
            0);
    }
  check("func.func @f() { %x = graph.constant dense<[2.5, -3.5, 1.0e9, -1.0e9, "
        "0x7FC00000, 0x7F800000, 126.6, -128.4]> : tensor<8xf32> %s = "
        "graph.constant dense<1.0> : tensor<f32> %z = graph.constant dense<1> "
        ": tensor<i8> %y = graph.quantize_linear %x, %s, %z : (tensor<8xf32>, "
        "tensor<f32>, tensor<i8>) -> tensor<8xi8> return }",
        0);
  check("func.func @f() { %x = graph.constant dense<[2147483647, -2147483648, "
        "16777217]> : tensor<3xi32> %s = graph.constant dense<0.37> : "
        "tensor<f32> %z = graph.constant dense<-5> : tensor<i32> %y = "
        "graph.dequantize_linear %x, %s, %z : (tensor<3xi32>, tensor<f32>, "
        "tensor<i32>) -> tensor<3xf32> return }",
        0);
}

TEST(Decompose, IntegersInGroups) {
  // The largest sums that are exact, of either sign, and borders of nothing.
  for (StringRef zero : {"tensor<i8>", "tensor<2xi8>", "tensor<1xi8>"})
    for (StringRef w : {"-128", "127"})
      check(("func.func @f() { %x = graph.constant dense<255> : "
             "tensor<1x32x4x4xui8> %w = graph.constant dense<" +
             w +
             "> : tensor<2x16x4x4xi8> %zx = graph.constant dense<0> : "
             "tensor<ui8> %zw = graph.constant dense<127> : " +
             zero +
             " %y = graph.integer_conv %x, %w, %zx, %zw {group = 2 : i64, pads "
             "= array<i64: 1, 0, 2, 3>} : (tensor<1x32x4x4xui8>, "
             "tensor<2x16x4x4xi8>, tensor<ui8>, " +
             zero + ") -> tensor<1x2x4x4xi32> return }")
                .str(),
            0);
}

TEST(Decompose, ScatterOfABox) {
  // All of x, its middle, one end of two dimensions, from the end.
  struct Case {
    StringRef indices, tuples, updates;
  } cases[] = {
      {"dense<[[0], [1], [2]]>", "3x1", "3x5x6"},
      {"dense<[[1], [2]]>", "2x1", "2x5x6"},
      {"dense<[[[1, 2], [1, 3], [1, 4]], [[2, 2], [2, 3], [2, 4]]]>", "2x3x2",
       "2x3x6"},
      {"dense<[[-2], [-1]]>", "2x1", "2x5x6"},
  };
  for (const Case &each : cases)
    check(("func.func @f(%x: tensor<3x5x6xf32>, %u: tensor<" + each.updates +
           "xf32>) { %i = graph.constant " + each.indices + " : tensor<" +
           each.tuples +
           "xi64> %y = graph.scatter_nd %x, %i, %u : "
           "(tensor<3x5x6xf32>, tensor<" +
           each.tuples + "xi64>, tensor<" + each.updates +
           "xf32>) -> tensor<3x5x6xf32> return }")
              .str(),
          0);
}

TEST(Decompose, DeadTaps) {
  struct Case {
    StringRef image, kernel, y, pads, attributes;
  } cases[] = {
      // Of 3x3 the middle one, three of five, the last two, with steps.
      {"4x5", "3x3", "4x5", "6, 6, 6, 6", "dilations = array<i64: 6, 6>"},
      {"4x5", "5x5", "4x5", "4, 8, 4, 8", "dilations = array<i64: 2, 4>"},
      {"3x4", "1x4", "3x4", "0, 12, 0, 3", "dilations = array<i64: 1, 5>"},
      {"6x6", "3x3", "3x3", "7, 7, 7, 7",
       "dilations = array<i64: 7, 7>, strides = array<i64: 2, 2>"},
  };
  for (const Case &each : cases)
    check(("func.func @f(%x: tensor<2x4x" + each.image +
           "xf32>, %w: tensor<6x2x" + each.kernel +
           "xf32>, %b: tensor<6xf32>) { %y = graph.conv %x, %w, %b {group = 2 "
           ": i64, pads = array<i64: " +
           each.pads + ">, " + each.attributes + "} : (tensor<2x4x" +
           each.image + "xf32>, tensor<6x2x" + each.kernel +
           "xf32>, tensor<6xf32>) -> tensor<2x6x" + each.y + "xf32> return }")
              .str(),
          1e-5);
}

TEST(Decompose, DepthwiseMultiplier) {
  check("func.func @f(%x: tensor<2x8x5x6xf32>, %w: tensor<16x1x3x3xf32>, %b: "
        "tensor<16xf32>) { %y = graph.conv %x, %w, %b {group = 8 : i64, pads = "
        "array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : "
        "(tensor<2x8x5x6xf32>, tensor<16x1x3x3xf32>, tensor<16xf32>) -> "
        "tensor<2x16x3x3xf32> return }",
        1e-5);
}
