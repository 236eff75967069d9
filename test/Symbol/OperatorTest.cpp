// SPDX-License-Identifier: Apache-2.0
//
// Every operator against what MXNet 1.9.1 computed (operators.jsonl, written by
// make_cases.py): the symbol is read as MXNet saved it, lowered with all its
// variables known, and what is folded out of that is the result.

#include "dlc/Symbol/Json.h"
#include "dlc/Symbol/Lowering.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/runtime/Base/Half.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <fstream>
#include <set>

using namespace dlc;
using namespace dlc::symbol;
namespace json = llvm::json;

namespace {

struct Array {
  rt::TensorType type;
  std::vector<double> values;
};

/// [type, shape, elements]; elements that are no numbers are text.
Array decode(const json::Value &value) {
  const json::Array &parts = *value.getAsArray();
  Array array;
  array.type.type = typeOfName(parts[0].getAsString()->str());
  for (const json::Value &dim : *parts[1].getAsArray())
    array.type.shape.push_back(*dim.getAsInteger());
  for (const json::Value &element : *parts[2].getAsArray()) {
    std::optional<llvm::StringRef> text = element.getAsString();
    if (std::optional<bool> flag = element.getAsBoolean()) {
      array.values.push_back(*flag);
      continue;
    }
    array.values.push_back(!text            ? *element.getAsNumber()
                           : *text == "nan" ? NAN
                           : *text == "inf" ? INFINITY
                                            : -INFINITY);
  }
  return array;
}

/// The elements as their type stores them.
std::shared_ptr<std::vector<std::byte>> toBytes(const Array &array) {
  auto bytes = std::make_shared<std::vector<std::byte>>();
  auto append = [&](const auto &element) {
    auto *data = reinterpret_cast<const std::byte *>(&element);
    bytes->insert(bytes->end(), data, data + sizeof element);
  };
  for (double value : array.values)
    switch (array.type.type) {
    case DLC_F32:
      append(static_cast<float>(value));
      break;
    case DLC_F64:
      append(value);
      break;
    case DLC_F16:
      append(rt::halfFromFloat(static_cast<float>(value)));
      break;
    case DLC_I32:
      append(static_cast<int32_t>(value));
      break;
    case DLC_I8:
      append(static_cast<int8_t>(value));
      break;
    case DLC_U8:
      append(static_cast<uint8_t>(value));
      break;
    default:
      ADD_FAILURE() << "no such elements in inputs: "
                    << rt::toString(array.type);
    }
  return bytes;
}

double elementAt(const graph::RawElements &raw, rt::DataType type, size_t i) {
  const char *data = raw.data().data();
  switch (type) {
  case DLC_F32:
    return reinterpret_cast<const float *>(data)[i];
  case DLC_F64:
    return reinterpret_cast<const double *>(data)[i];
  case DLC_F16:
    return rt::floatFromHalf(reinterpret_cast<const uint16_t *>(data)[i]);
  case DLC_I32:
    return reinterpret_cast<const int32_t *>(data)[i];
  case DLC_I64:
    return static_cast<double>(reinterpret_cast<const int64_t *>(data)[i]);
  case DLC_BOOL:
    return data[i] != 0;
  case DLC_I8:
    return reinterpret_cast<const int8_t *>(data)[i];
  case DLC_U8:
    return reinterpret_cast<const uint8_t *>(data)[i];
  default:
    ADD_FAILURE() << "no such elements in outputs";
    return 0;
  }
}

/// Within 2e-6 of the largest element, and bit for bit where it is a NaN.
void expectEqual(mlir::Value value, const Array &expected) {
  mlir::ElementsAttr constant;
  ASSERT_TRUE(mlir::matchPattern(value, mlir::m_Constant(&constant)));
  EXPECT_EQ(rt::toString(graph::toTensorType(value.getType())),
            rt::toString(expected.type));
  ASSERT_EQ(constant.getNumElements(), int64_t(expected.values.size()));
  graph::RawElements raw = graph::RawElements::get(constant);
  double largest = 1;
  for (double each : expected.values)
    if (std::isfinite(each))
      largest = std::max(largest, std::abs(each));
  double tolerance = (expected.type.type == DLC_F16 ? 1e-3 : 2e-6) * largest;
  for (size_t i = 0; i < expected.values.size(); ++i) {
    double found = elementAt(raw, expected.type.type, i);
    double wanted = expected.values[i];
    if (std::isnan(wanted))
      EXPECT_TRUE(std::isnan(found)) << "element " << i << ": " << found;
    else if (std::isinf(wanted))
      EXPECT_EQ(found, wanted) << "element " << i;
    else
      EXPECT_NEAR(found, wanted, tolerance) << "element " << i;
  }
}

void run(const json::Object &object) {
  std::string text;
  llvm::raw_string_ostream(text) << *object.get("symbol");
  rt::Result<Symbol> symbol = fromJson(text);
  ASSERT_TRUE(symbol.isOk()) << symbol.status().message();
  LoweringOptions options;
  for (const char *group : {"inputs", "states"})
    for (const auto &[name, value] : *object.getObject(group)) {
      Array array = decode(value);
      auto bytes = toBytes(array);
      options.constants[name.str()] = {array.type, *bytes, bytes};
    }
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.getDiagEngine().registerHandler([](mlir::Diagnostic &diagnostic) {
    ADD_FAILURE() << diagnostic.str();
    return mlir::success();
  });
  auto module = lowerToGraph(context, *symbol, options);
  ASSERT_TRUE(module);
  auto main = module->lookupSymbol<mlir::func::FuncOp>("main");
  mlir::ValueRange results =
      main.getBody().front().getTerminator()->getOperands();
  const json::Array &outputs = *object.getArray("outputs");
  ASSERT_EQ(results.size(), outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i)
    expectEqual(results[i], decode(outputs[i]));
}

std::vector<json::Value> readCases(const char *path = DLC_TEST_CASES) {
  std::vector<json::Value> cases;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    llvm::Expected<json::Value> value = json::parse(line);
    EXPECT_TRUE(bool(value));
    cases.push_back(std::move(*value));
  }
  return cases;
}

/// The last node of a case: its operator and its attributes.
std::string describe(const json::Object &object) {
  const json::Array &nodes = *object.getObject("symbol")->getArray("nodes");
  std::string text;
  llvm::raw_string_ostream os(text);
  os << nodes.back();
  return text;
}

} // namespace

TEST(OperatorTest, AgreesWithMXNet) {
  std::vector<json::Value> cases = readCases();
  ASSERT_GT(cases.size(), 300u);
  for (size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE("line " + std::to_string(i + 1) + ": " +
                 describe(*cases[i].getAsObject()));
    run(*cases[i].getAsObject());
  }
}

TEST(OperatorTest, NamesOutputsAsMXNet) {
  for (const json::Value &each : readCases()) {
    const json::Object &object = *each.getAsObject();
    std::string text;
    llvm::raw_string_ostream(text) << *object.get("symbol");
    rt::Result<Symbol> symbol = fromJson(text);
    ASSERT_TRUE(symbol.isOk()) << symbol.status().message();
    std::vector<std::string> expected;
    for (const json::Value &name : *object.getArray("names"))
      expected.push_back(name.getAsString()->str());
    EXPECT_EQ(symbol->listOutputs(), expected) << describe(object);
  }
}

/// Files of NNVM, with what its documentation says (make_nnvm_cases.py).
TEST(OperatorTest, AgreesWithNnvm) {
  std::vector<json::Value> cases = readCases(DLC_TEST_NNVM_CASES);
  ASSERT_GT(cases.size(), 140u);
  for (size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE("line " + std::to_string(i + 1) + ": " +
                 describe(*cases[i].getAsObject()));
    run(*cases[i].getAsObject());
  }
}

/// Reads, and lowers with the shapes and types of a case, its symbol with one
/// parameter of the last node changed.
bool isAccepted(const json::Object &object, std::string_view parameter,
                std::string_view value, mlir::MLIRContext &context) {
  json::Object symbol = *object.getObject("symbol");
  json::Object &node = *symbol.getArray("nodes")->back().getAsObject();
  json::Value &attributes = node["attrs"];
  if (!attributes.getAsObject())
    attributes = json::Object();
  (*attributes.getAsObject())[llvm::StringRef(parameter)] = std::string(value);
  std::string text;
  llvm::raw_string_ostream(text) << json::Value(std::move(symbol));
  rt::Result<Symbol> changed = fromJson(text);
  if (!changed.isOk())
    return false;
  LoweringOptions options;
  for (const char *group : {"inputs", "states"})
    for (const auto &[name, array] : *object.getObject(group)) {
      rt::TensorType type = decode(array).type;
      options.shapes[name.str()] = type.shape;
      options.types[name.str()] = type.type;
    }
  bool hasMessage = false;
  mlir::ScopedDiagnosticHandler collect(&context, [&](mlir::Diagnostic &) {
    hasMessage = true;
    return mlir::success();
  });
  auto module = lowerToGraph(context, *changed, options);
  EXPECT_NE(bool(module), hasMessage) << parameter << " = " << value;
  return bool(module);
}

/// Whatever a file says of a parameter, there is a network or a message.
TEST(OperatorTest, AnyValueOfAParameterIsSafe) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  size_t accepted = 0, refused = 0;
  for (const json::Value &value : readCases()) {
    const json::Object &object = *value.getAsObject();
    const json::Array &nodes = *object.getObject("symbol")->getArray("nodes");
    llvm::StringRef name = *nodes.back().getAsObject()->getString("op");
    SCOPED_TRACE(name.str());
    for (const Parameter &parameter :
         findOperator({name.data(), name.size()})->parameters) {
      std::vector<std::string_view> values = {
          "None", "True", "False", "0",      "1",       "-1",
          "5",    "()",   "(-9,)", "(0, 1)", "float16", "inf"};
      values.insert(values.end(), parameter.choices.begin(),
                    parameter.choices.end());
      for (std::string_view text : values)
        ++(isAccepted(object, parameter.name, text, context) ? accepted
                                                             : refused);
    }
  }
  EXPECT_GT(accepted, 1000u);
  EXPECT_GT(refused, 1000u);
}

/// The message about a case whose variable `name` has another shape, or "".
std::string refusalOf(const json::Object &object, llvm::StringRef name,
                      const std::vector<int64_t> &shape,
                      mlir::MLIRContext &context) {
  std::string text, message;
  llvm::raw_string_ostream(text) << *object.get("symbol");
  rt::Result<Symbol> symbol = fromJson(text);
  EXPECT_TRUE(symbol.isOk());
  LoweringOptions options;
  options.isTraining = true; // Reads labels, too.
  for (const char *group : {"inputs", "states"})
    for (const auto &[each, array] : *object.getObject(group)) {
      rt::TensorType type = decode(array).type;
      options.shapes[each.str()] = type.shape;
      options.types[each.str()] = type.type;
    }
  options.shapes[name.str()] = shape;
  mlir::ScopedDiagnosticHandler collect(
      &context, [&](mlir::Diagnostic &diagnostic) {
        llvm::raw_string_ostream os(message);
        os << diagnostic.getLocation() << ' ' << diagnostic;
        return mlir::success();
      });
  auto module = lowerToGraph(context, *symbol, options);
  EXPECT_NE(bool(module), !message.empty());
  return message;
}

/// It names the node and its operator, one of their operands or the parameter
/// that is wrong, and speaks of no operation that nobody wrote.
void expectNamed(const std::string &message, const Operator &op) {
  EXPECT_NE(message.find("node '"), std::string::npos) << message;
  EXPECT_NE(message.find("' (" + std::string(op.name) + ")"), std::string::npos)
      << message;
  // What training does not support has nothing to do with shapes.
  if (message.find("unsupported: training") != std::string::npos)
    return;
  EXPECT_NE(message.find("expected "), std::string::npos) << message;
  EXPECT_EQ(message.find("graph."), std::string::npos) << message;
  bool isNamed =
      (op.inputsBehindBody && message.find("input '") != std::string::npos) ||
      message.find("'arg") != std::string::npos ||
      message.find(": subgraph ") != std::string::npos;
  for (const Input &input : op.inputs)
    isNamed |=
        message.find("'" + std::string(input.name) + "'") != std::string::npos;
  for (const Parameter &parameter : op.parameters)
    isNamed |= message.find("'" + std::string(parameter.name) + "'") !=
               std::string::npos;
  EXPECT_TRUE(isNamed) << message;
}

TEST(OperatorTest, BadShapesAreNamed) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  size_t refused = 0;
  for (const json::Value &value : readCases()) {
    const json::Object &object = *value.getAsObject();
    const json::Array &nodes = *object.getObject("symbol")->getArray("nodes");
    llvm::StringRef op = *nodes.back().getAsObject()->getString("op");
    SCOPED_TRACE(describe(object));
    for (const char *group : {"inputs", "states"})
      for (const auto &[name, array] : *object.getObject(group)) {
        std::vector<int64_t> longer = decode(array).type.shape;
        if (longer.empty())
          continue;
        std::vector<int64_t> deeper = longer;
        ++longer.back();
        deeper.push_back(2);
        for (const auto &shape : {longer, deeper})
          if (std::string text = refusalOf(object, name, shape, context);
              !text.empty()) {
            ++refused;
            expectNamed(text, *findOperator({op.data(), op.size()}));
          }
      }
  }
  EXPECT_GT(refused, 300u);
}

TEST(OperatorTest, EveryOperatorHasACase) {
  std::set<std::string_view> tested;
  for (const json::Value &value : readCases())
    for (const json::Value &node :
         *value.getAsObject()->getObject("symbol")->getArray("nodes"))
      if (const Operator *op =
              findOperator(node.getAsObject()->getString("op")->str()))
        tested.insert(op->name);
  // MXNet has no _gradient, and its random numbers are others: see
  // test/Executor.
  const std::set<std::string_view> ofNumpy = {
      "_npi_bernoulli", "_npi_choice",    "_npi_exponential", "_npi_gamma",
      "_npi_gumbel",    "_npi_logistic",  "_npi_multinomial", "_npi_normal",
      "_npi_normal_n",  "_npi_pareto",    "_npi_powerd",      "_npi_rayleigh",
      "_npi_uniform",   "_npi_uniform_n", "_npi_weibull"};
  for (const Operator *op : allOperators())
    EXPECT_TRUE(tested.contains(op->name) || op->name == "_gradient" ||
                op->name.starts_with("_random_") ||
                op->name.starts_with("_sample_") || op->name == "_shuffle" ||
                ofNumpy.contains(op->name))
        << op->name;
}

TEST(OperatorTest, IsDocumented) {
  auto expectSentence = [](std::string_view text) {
    EXPECT_FALSE(text.empty());
    EXPECT_NE(text.substr(text.size() - 1), ".") << text;
  };
  for (const Operator *op : allOperators()) {
    SCOPED_TRACE(std::string(op->name));
    expectSentence(op->summary);
    for (const Parameter &parameter : op->parameters)
      EXPECT_TRUE(parameter.summary.ends_with(".")) << parameter.name;
  }
}

/// What a declaration says of itself must hold together: defaults are values,
/// conditions and counts name parameters that can be what they say.
TEST(OperatorTest, IsConsistent) {
  for (const Operator *op : allOperators()) {
    SCOPED_TRACE(std::string(op->name));
    std::set<std::string_view> names;
    for (const Parameter &parameter : op->parameters) {
      EXPECT_TRUE(names.insert(parameter.name).second) << parameter.name;
      if (parameter.fallback)
        EXPECT_TRUE(parseValue(parameter, *parameter.fallback).isOk())
            << parameter.name;
    }
    auto expectPossible = [&](const Condition &condition) {
      if (condition.parameter.empty())
        return;
      for (const Parameter &parameter : op->parameters)
        if (parameter.name == condition.parameter)
          EXPECT_TRUE(parseValue(parameter, condition.value).isOk())
              << condition.parameter << " " << condition.value;
      EXPECT_TRUE(names.contains(condition.parameter)) << condition.parameter;
      EXPECT_TRUE(condition.alsoNone.empty() ||
                  names.contains(condition.alsoNone))
          << condition.alsoNone;
    };
    for (const Input &input : op->inputs)
      expectPossible(input.exists);
    for (const Output &output : op->outputs) {
      expectPossible(output.exists);
      expectPossible(output.isVisible);
    }
    for (std::string_view count : {op->inputCount, op->outputCount})
      EXPECT_TRUE(count.empty() || names.contains(count)) << count;
    EXPECT_NE(op->lower, nullptr);
  }
}

TEST(OperatorTest, IsFoundByEveryName) {
  for (const Operator *op : allOperators()) {
    EXPECT_EQ(findOperator(op->name), op);
    for (std::string_view alias : op->aliases)
      EXPECT_EQ(findOperator(alias), op) << alias;
  }
  EXPECT_EQ(findOperator("no such"), nullptr);
  EXPECT_EQ(findOperator(""), nullptr);
}
