// SPDX-License-Identifier: Apache-2.0

#include "Conformance.h"
#include "CompilerCommand.h"

#include "dlc/Frontend/ONNX/Reader.h"
#include "dlc/runtime/Base/Half.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>

using namespace dlc;
using namespace dlc::tool;
namespace fs = std::filesystem;

//===----------------------------------------------------------------------===//
// Finding tests
//===----------------------------------------------------------------------===//

static void addFolder(const fs::path &folder,
                      std::vector<ConformanceTest> &tests) {
  ConformanceTest test{folder.filename(), folder / "model.onnx", {}};
  for (const fs::directory_entry &entry : fs::directory_iterator(folder))
    if (llvm::StringRef(entry.path().filename().native())
            .starts_with("test_data_set_"))
      test.dataSets.push_back(entry.path());
  std::sort(test.dataSets.begin(), test.dataSets.end());
  tests.push_back(std::move(test));
}

void dlc::tool::findConformanceTests(const std::string &path,
                                     std::vector<ConformanceTest> &tests) {
  std::error_code error;
  if (!fs::is_directory(path, error))
    throw Failure{"expected a folder, got '" + path + "'"};
  fs::path root = fs::path(path).lexically_normal();
  if (!root.has_filename())
    root = root.parent_path();
  std::vector<ConformanceTest> found;
  if (fs::exists(root / "model.onnx"))
    addFolder(root, found);
  for (const fs::directory_entry &entry : fs::directory_iterator(root)) {
    fs::path file = entry.path();
    if (fs::exists(file / "model.onnx", error)) {
      addFolder(file, found);
    } else if (file.extension() == ".onnx") {
      fs::path expected = file;
      expected.replace_filename(file.stem().native() + "_output_0.pb");
      if (fs::exists(expected))
        found.push_back({file.stem(), file, {}, /*isLight=*/true});
    }
  }
  std::ranges::sort(found, {}, &ConformanceTest::name);
  tests.insert(tests.end(), found.begin(), found.end());
}

//===----------------------------------------------------------------------===//
// Comparing
//===----------------------------------------------------------------------===//

/// Element `i` of a float tensor.
static double floatAt(const rt::TensorView &tensor, int64_t i) {
  switch (tensor.type) {
  case DLC_F64:
    return tensor.as<double>()[i];
  case DLC_F32:
    return tensor.as<float>()[i];
  case DLC_F16:
    return rt::floatFromHalf(tensor.as<uint16_t>()[i]);
  default:
    return rt::floatFromBFloat16(tensor.as<uint16_t>()[i]);
  }
}

static bool isClose(double found, double expected,
                    const ConformanceOptions &options) {
  if (std::isnan(expected) || std::isnan(found))
    return std::isnan(expected) && std::isnan(found);
  if (std::isinf(expected) || std::isinf(found))
    return expected == found;
  return std::abs(found - expected) <=
         options.absolute + options.relative * std::abs(expected);
}

/// What differs, or "".
static std::string compare(const rt::TensorView &found,
                           const rt::TensorView &expected,
                           const ConformanceOptions &options) {
  rt::TensorType foundType{found.type,
                           {found.shape.begin(), found.shape.end()}};
  rt::TensorType wantedType{expected.type,
                            {expected.shape.begin(), expected.shape.end()}};
  if (foundType.type != wantedType.type || foundType.shape != wantedType.shape)
    return "expected type " + rt::toString(wantedType) + ", got " +
           rt::toString(foundType);
  int64_t count = expected.size(), wrong = 0, first = -1;
  size_t step = rt::sizeOf(expected.type);
  for (int64_t i = 0; i < count; ++i) {
    bool same = rt::isFloat(expected.type)
                    ? isClose(floatAt(found, i), floatAt(expected, i), options)
                    : std::memcmp(found.as<char>() + i * step,
                                  expected.as<char>() + i * step, step) == 0;
    if (same)
      continue;
    first = first < 0 ? i : first;
    ++wrong;
  }
  if (wrong == 0)
    return "";
  std::string text = std::to_string(wrong) + " of " + std::to_string(count) +
                     " elements differ, first at " + std::to_string(first);
  if (rt::isFloat(expected.type)) {
    char values[80];
    std::snprintf(values, sizeof values, ": expected %g, got %g",
                  floatAt(expected, first), floatAt(found, first));
    text += values;
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

namespace {

/// A tensor file in memory.
struct TensorFile {
  std::unique_ptr<llvm::MemoryBuffer> bytes;
  onnx::NamedTensor tensor;

  rt::TensorView view() const {
    return {tensor.contents.type.type, tensor.contents.type.shape,
            const_cast<std::byte *>(tensor.contents.data.data())};
  }
};

/// The failure of a test, thrown.
struct Mismatch {
  ConformanceResult result;
};

} // namespace

static Mismatch fail(std::string reason) {
  std::ranges::replace(reason, '\n', ' ');
  return {{Outcome::Failed, std::move(reason)}};
}

static TensorFile readTensorFile(const fs::path &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path.native(), /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    throw fail("cannot read " + path.filename().native());
  llvm::StringRef bytes = (*buffer)->getBuffer();
  auto tensor = onnx::readTensorProto({bytes.data(), bytes.size()});
  if (!tensor.isOk()) {
    Outcome outcome = tensor.status().code() == rt::StatusCode::Unsupported
                          ? Outcome::Skipped
                          : Outcome::Failed;
    throw Mismatch{
        {outcome, path.filename().native() + ": " + tensor.status().message()}};
  }
  return {std::move(*buffer), std::move(*tensor)};
}

/// The files PREFIX0.pb, PREFIX1.pb, ... of a folder.
static std::vector<TensorFile> readTensorFiles(const fs::path &folder,
                                               const std::string &prefix) {
  std::vector<TensorFile> files;
  while (true) {
    fs::path path = folder / (prefix + std::to_string(files.size()) + ".pb");
    if (!fs::exists(path))
      return files;
    files.push_back(readTensorFile(path));
  }
}

static LoadedModel compileTest(const ConformanceTest &test,
                               const ConformanceOptions &options,
                               const std::vector<TensorFile> &inputs) {
  CompileOptions compile;
  compile.target = options.target;
  compile.threads = 1;
  auto compilation = std::make_unique<Compilation>(compile);
  auto failWith = [&](const Compilation &compilation) {
    llvm::StringRef reason = llvm::StringRef(compilation.messages()).rtrim();
    reason.consume_front("error: ");
    Mismatch mismatch = fail(reason.str());
    if (compilation.isUnsupported())
      mismatch.result.outcome = Outcome::Skipped;
    return mismatch;
  };
  if (failed(compilation->import(test.model)))
    throw failWith(*compilation);
  // Symbolic dimensions take the shapes of the data.
  std::vector<ModelPort> ports = compilation->inputs();
  for (size_t i = 0; i < ports.size() && i < inputs.size(); ++i)
    if (!ports[i].type.isStatic())
      compile.shapes[ports[i].name] = inputs[i].tensor.contents.type.shape;
  if (!compile.shapes.empty()) {
    compilation = std::make_unique<Compilation>(compile);
    if (failed(compilation->import(test.model)))
      throw failWith(*compilation);
  }
  llvm::FailureOr<rt::AlignedBuffer> bytes = compilation->toMemory();
  if (failed(bytes))
    throw failWith(*compilation);
  LoadedModel loaded;
  loaded.bytes = std::move(*bytes);
  auto artifact = rt::Artifact::fromMemory(loaded.bytes.bytes());
  if (!artifact.isOk())
    throw fail(artifact.status().message());
  auto program = rt::Program::create(std::move(*artifact));
  if (!program.isOk())
    throw fail(program.status().message());
  loaded.program = std::move(*program);
  return loaded;
}

static void runOn(const rt::Program &program,
                  std::span<const rt::TensorView> inputs,
                  const std::vector<TensorFile> &expected,
                  const ConformanceOptions &options) {
  auto require = [](rt::Status status) {
    if (!status.isOk())
      throw fail(status.message());
  };
  auto execution = rt::Execution::create(program);
  require(std::move(execution.status()));
  if (inputs.size() != program.inputs().size())
    throw fail("expected " + std::to_string(program.inputs().size()) +
               " inputs, got " + std::to_string(inputs.size()));
  for (size_t i = 0; i < inputs.size(); ++i)
    require((*execution)->bindInput(i, inputs[i]));
  require((*execution)->run());
  if (expected.size() != program.outputs().size())
    throw fail("expected " + std::to_string(expected.size()) +
               " outputs, got " + std::to_string(program.outputs().size()));
  for (size_t i = 0; i < expected.size(); ++i) {
    std::string difference =
        compare((*execution)->output(i), expected[i].view(), options);
    if (!difference.empty())
      throw fail("output " + std::to_string(i) + ": " + difference);
  }
}

static void runLight(const ConformanceTest &test,
                     const ConformanceOptions &options) {
  LoadedModel loaded = compileTest(test, options, {});
  fs::path model = test.model;
  std::vector<TensorFile> expected =
      readTensorFiles(model.parent_path(), model.stem().native() + "_output_");
  if (loaded.program->inputs().size() != 1)
    throw fail("expected one input");
  HostTensor input = makeZeros(loaded.program->inputs()[0].type);
  if (input.type != DLC_F32)
    throw fail("expected an input of f32");
  int64_t count = input.view().size();
  for (int64_t i = 0; i < count; ++i)
    input.view().as<float>()[i] =
        static_cast<float>(static_cast<double>(i) / count);
  rt::TensorView view = input.view();
  runOn(*loaded.program, std::span(&view, 1), expected, options);
}

ConformanceResult
dlc::tool::runConformanceTest(const ConformanceTest &test,
                              const ConformanceOptions &options) {
  try {
    if (test.isLight) {
      runLight(test, options);
      return {Outcome::Passed, ""};
    }
    if (test.dataSets.empty())
      return {Outcome::Failed, "expected a folder test_data_set_0, found none"};
    LoadedModel loaded;
    for (const std::string &folder : test.dataSets) {
      std::vector<TensorFile> inputs, expected;
      try {
        inputs = readTensorFiles(folder, "input_");
        expected = readTensorFiles(folder, "output_");
      } catch (const Mismatch &) {
        // Values that are no tensors: the importer knows the better reason.
        compileTest(test, options, {});
        throw;
      }
      if (!loaded.program)
        loaded = compileTest(test, options, inputs);
      std::vector<rt::TensorView> views;
      for (const TensorFile &file : inputs)
        views.push_back(file.view());
      runOn(*loaded.program, views, expected, options);
    }
    return {Outcome::Passed, ""};
  } catch (const Mismatch &mismatch) {
    return mismatch.result;
  } catch (const Failure &failure) {
    return fail(failure.message).result;
  }
}
