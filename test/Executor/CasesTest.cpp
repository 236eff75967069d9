// SPDX-License-Identifier: Apache-2.0
//
// Every network that MXNet 1.9.1 was asked about (test/Symbol/operators.jsonl)
// is bound with the types and shapes of its inputs.

#include "ExecutorTesting.h"

#include "dlc/Symbol/Json.h"
#include "dlc/Symbol/Parameter.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <fstream>

using namespace dlc;
using namespace dlc::test;
namespace json = llvm::json;

/// [type, shape, elements].
static rt::TensorType typeOf(const json::Value &value) {
  const json::Array &parts = *value.getAsArray();
  rt::TensorType type;
  type.type = symbol::typeOfName(parts[0].getAsString()->str());
  for (const json::Value &dim : *parts[1].getAsArray())
    type.shape.push_back(*dim.getAsInteger());
  return type;
}

static void bindCase(const json::Object &object,
                     const std::shared_ptr<ArrayRuntime> &runtime) {
  std::string text;
  llvm::raw_string_ostream(text) << *object.get("symbol");
  auto symbol = symbol::fromJson(text);
  ASSERT_TRUE(symbol.isOk()) << symbol.status().message();
  rt::KnownVariables known;
  for (const char *kind : {"inputs", "states"})
    for (const auto &[name, value] : *object.getObject(kind)) {
      rt::TensorType type = typeOf(value);
      known.shapes[name.str()] = type.shape;
      known.types[name.str()] = type.type;
    }
  auto executor = simpleBind(*symbol, runtime, known, GradientRequest::Null);
  ASSERT_TRUE(executor.isOk()) << executor.status().message();
  const json::Array &outputs = *object.getArray("outputs");
  ASSERT_EQ((*executor)->outputs().size(), outputs.size());
  for (size_t i = 0; i != outputs.size(); ++i) {
    const NDArray &output = (*executor)->outputs()[i];
    rt::TensorType found{output.type(), {}};
    found.shape.assign(output.shape().begin(), output.shape().end());
    EXPECT_EQ(rt::toString(found), rt::toString(typeOf(outputs[i])));
  }
}

TEST(CasesTest, AllAreBoundWithTypesOfTheirOwn) {
  auto runtime = makeRuntime();
  std::ifstream file(DLC_TEST_CASES);
  std::string line;
  size_t count = 0;
  while (std::getline(file, line)) {
    ++count;
    auto value = json::parse(line);
    ASSERT_TRUE(bool(value));
    SCOPED_TRACE("case " + std::to_string(count) + ": " + line.substr(0, 300));
    bindCase(*value->getAsObject(), runtime);
  }
  EXPECT_GT(count, 900u);
}
