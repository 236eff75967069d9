// SPDX-License-Identifier: Apache-2.0
//
// Tensors without elements: every function of Empty.mlir, compiled and run,
// against the definitions of its operations.

#include "Interpreter.h"

#include "dlc/Compiler/Compiler.h"
#include "dlc/InitAll.h"
#include "dlc/runtime/Executor/Execution.h"
#include "dlc/runtime/Executor/Program.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

using namespace mlir;
using namespace dlc;
using namespace dlc::test;
namespace fs = std::filesystem;

namespace {

/// A program and the bytes that it lives in.
struct Loaded {
  rt::AlignedBuffer bytes;
  std::unique_ptr<rt::Program> program;
};

/// Compiles `function` alone, as @main; records a failure and returns none.
Loaded compile(func::FuncOp function, const fs::path &folder) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(function.getLoc());
  func::FuncOp main = function.clone();
  main.setName("main");
  module->push_back(main);
  std::string text;
  llvm::raw_string_ostream(text) << *module;
  fs::path path = folder / "main.mlir";
  std::ofstream(path) << text;

  Loaded loaded;
  Compilation compilation;
  if (failed(compilation.import(path))) {
    ADD_FAILURE() << compilation.messages();
    return loaded;
  }
  FailureOr<rt::AlignedBuffer> bytes = compilation.toMemory();
  if (failed(bytes)) {
    ADD_FAILURE() << compilation.messages();
    return loaded;
  }
  loaded.bytes = std::move(*bytes);
  auto artifact = rt::Artifact::fromMemory(loaded.bytes.bytes());
  EXPECT_TRUE(artifact.isOk()) << artifact.status().message();
  if (!artifact.isOk())
    return loaded;
  auto program = rt::Program::create(std::move(*artifact));
  EXPECT_TRUE(program.isOk()) << program.status().message();
  if (program.isOk())
    loaded.program = std::move(*program);
  return loaded;
}

/// Runs `program` on `inputs`, one for each of its inputs.
std::vector<Tensor> execute(const rt::Program &program,
                            std::vector<Tensor> &inputs) {
  std::vector<Tensor> results;
  auto execution = rt::Execution::create(program);
  EXPECT_TRUE(execution.isOk()) << execution.status().message();
  if (!execution.isOk())
    return results;
  for (size_t i = 0; i < inputs.size(); ++i) {
    rt::Status status = (*execution)->bindInput(i, inputs[i].view());
    EXPECT_TRUE(status.isOk()) << status.message();
  }
  rt::Status status = (*execution)->run();
  EXPECT_TRUE(status.isOk()) << status.message();
  if (!status.isOk())
    return results;
  for (size_t i = 0; i < program.outputs().size(); ++i) {
    rt::TensorView view = (*execution)->output(i);
    size_t size = view.size() * rt::sizeOf(view.type);
    const char *data = view.as<char>();
    results.push_back({{view.type, {view.shape.begin(), view.shape.end()}},
                       std::vector<char>(data, data + size)});
  }
  return results;
}

} // namespace

TEST(EmptyTest, ProgramsAgreeWithDefinitions) {
  std::string pattern = fs::temp_directory_path() / "dlc-empty-XXXXXX";
  fs::path folder = mkdtemp(pattern.data());
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(DLC_EMPTY_FILE, &context);
  ASSERT_TRUE(module);
  for (auto function : module->getOps<func::FuncOp>()) {
    SCOPED_TRACE(function.getName().str());
    Block &body = function.getBody().front();
    std::vector<Tensor> inputs;
    for (BlockArgument argument : body.getArguments())
      inputs.push_back(makeArgument(argument));
    std::vector<Tensor> expected = interpret(body, inputs);
    Loaded loaded = compile(function, folder);
    if (!loaded.program)
      continue;
    std::vector<Tensor> actual = execute(*loaded.program, inputs);
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(actual[i].type.shape, expected[i].type.shape);
      compare(function.getName().str(), actual[i], expected[i]);
    }
  }
  fs::remove_all(folder);
}
