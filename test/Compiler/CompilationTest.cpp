// SPDX-License-Identifier: Apache-2.0
//
// What Compilation does when a pass fails or crashes. What it does with good
// models is tested through dlc.

#include "dlc/Compiler/Compiler.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

using namespace dlc;
namespace fs = std::filesystem;

namespace {

class CompilationTest : public ::testing::Test {
protected:
  void SetUp() override {
    std::string pattern = fs::temp_directory_path() / "dlc-compiler-XXXXXX";
    folder = mkdtemp(pattern.data());
  }
  void TearDown() override { fs::remove_all(folder); }

  /// Options under which the first remark of a pass raises `signal`.
  CompileOptions crashing(int signal) {
    CompileOptions options;
    options.shapes["image"] = {1, 1, 8, 8};
    options.guard = true;
    options.onRemark = [signal](const std::string &) { std::raise(signal); };
    return options;
  }

  fs::path folder;
};

std::string contentOf(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace

TEST_F(CompilationTest, CrashesBecomeFailuresWithReproducers) {
  for (int signal : {SIGSEGV, SIGABRT, SIGFPE}) {
    CompileOptions options = crashing(signal);
    options.reproducer = folder / "crash.mlir";
    Compilation compilation(options);
    ASSERT_TRUE(succeeded(compilation.import(DLC_DIGITS)));
    EXPECT_TRUE(failed(compilation.runTo(Phase::Plan)));
    EXPECT_EQ(compilation.messages(),
              "error: digits.onnx: internal: a crash in the phase graph\n"
              "note: repeat it with dlc-opt --run-reproducer " +
                  options.reproducer + "\n");
    std::string text = contentOf(options.reproducer);
    EXPECT_NE(text.find("graph.conv"), std::string::npos);
    EXPECT_NE(text.find("pipeline: \"builtin.module(func.func("),
              std::string::npos);
    // It is over for this one, and the next one works.
    EXPECT_TRUE(failed(compilation.runTo(Phase::Plan)));
    fs::remove(options.reproducer);
  }
  CompileOptions options;
  options.shapes["image"] = {1, 1, 8, 8};
  Compilation next(options);
  ASSERT_TRUE(succeeded(next.import(DLC_DIGITS)));
  EXPECT_TRUE(succeeded(next.runTo(Phase::Plan)));
}

TEST_F(CompilationTest, ReproducersOfCrashesGoToTheTemporaryFolder) {
  setenv("TMPDIR", folder.c_str(), /*overwrite=*/1);
  {
    Compilation compilation(crashing(SIGSEGV));
    ASSERT_TRUE(succeeded(compilation.import(DLC_DIGITS)));
    EXPECT_TRUE(failed(compilation.runTo(Phase::Plan)));
    EXPECT_NE(compilation.messages().find(folder / "dlc-reproducer"),
              std::string::npos)
        << compilation.messages();
  }
  unsetenv("TMPDIR");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1);
}

TEST_F(CompilationTest, RefusedModelsLeaveNothing) {
  fs::path model = folder / "bad.mlir";
  std::ofstream(model) << "func.func @main(%x: tensor<*xf32>) -> tensor<*xf32>"
                          " {\n return %x : tensor<*xf32>\n}\n";
  setenv("TMPDIR", folder.c_str(), /*overwrite=*/1);
  {
    CompileOptions options;
    options.guard = true;
    Compilation compilation(options);
    ASSERT_TRUE(succeeded(compilation.import(model)));
    EXPECT_TRUE(failed(compilation.runTo(Phase::Plan)));
    EXPECT_EQ(compilation.messages().find("note:"), std::string::npos);
  }
  unsetenv("TMPDIR");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1); // The model.
}

TEST_F(CompilationTest, MessagesAreOneLineEach) {
  fs::path model = folder / "bad\nname\x1b[31m.mlir";
  std::ofstream(model) << "module {}";
  Compilation compilation;
  EXPECT_TRUE(failed(compilation.import(model)));
  std::string messages = compilation.messages();
  EXPECT_EQ(std::count(messages.begin(), messages.end(), '\n'), 1) << messages;
  EXPECT_EQ(messages.find('\x1b'), std::string::npos);
  EXPECT_NE(messages.find("bad\\nname\\x1B[31m.mlir"), std::string::npos)
      << messages;
}
