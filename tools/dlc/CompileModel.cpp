// SPDX-License-Identifier: Apache-2.0
//
// What the commands that compile share.

#include "CompilerCommand.h"

#include "dlc/Codegen/CPU/Target.h"

#include "llvm/ADT/StringRef.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

using namespace dlc;
using namespace dlc::tool;

void dlc::tool::check(llvm::LogicalResult result,
                      const Compilation &compilation) {
  if (succeeded(result))
    return;
  llvm::StringRef messages = compilation.messages();
  // Warnings stand before the first error; the tool says "error:" itself.
  size_t first =
      messages.starts_with("error: ") ? 0 : messages.find("\nerror: ");
  if (first == llvm::StringRef::npos)
    throw Failure{messages.empty() ? "internal: no reason given"
                                   : messages.rtrim().str()};
  first += first > 0;
  std::fwrite(messages.data(), 1, first, stderr);
  throw Failure{
      messages.drop_front(first + sizeof("error: ") - 1).rtrim().str()};
}

void dlc::tool::printWarnings(const Compilation &compilation) {
  std::fputs(compilation.messages().c_str(), stderr);
}

/// Where the times of this user's compilations are kept; "" for nowhere.
static std::string defaultTuningCache() {
  namespace fs = std::filesystem;
  const char *cache = std::getenv("XDG_CACHE_HOME");
  const char *home = std::getenv("HOME");
  fs::path folder;
  if (cache && *cache == '/')
    folder = cache;
  else if (home && *home == '/')
    folder = fs::path(home) / ".cache";
  else
    return "";
  std::error_code error;
  fs::create_directories(folder / "dlc", error);
  return (folder / "dlc" / "tuning").string();
}

static CompileOptions::Tuning makeTuning(const ModelOptions &model) {
  if (model.tunes && splitTarget(model.target).host != "host")
    throw Failure{"expected --tune with --target host, got '" + model.target +
                      "'",
                  kBadUsage};
  if (!model.tunes && model.tuneSeconds > 0)
    throw Failure{"expected --tune with --tune-seconds, got none", kBadUsage};
  if (!model.tunes)
    return {model.tuningCache, 0};
  return {model.tuningCache.empty() ? defaultTuningCache() : model.tuningCache,
          model.tuneSeconds > 0 ? model.tuneSeconds : 10};
}

CompileOptions dlc::tool::makeCompileOptions(const ModelOptions &model) {
  auto precision = pipeline::precisionOf(model.precision);
  if (!precision)
    throw Failure{"expected --precision " + pipeline::precisionNames() +
                      ", got '" + model.precision + "'",
                  kBadUsage};
  auto gpuLibraries = pipeline::gpuLibrariesOf(model.gpuLibraries);
  if (!gpuLibraries)
    throw Failure{"expected --gpu-libraries auto, always, never, got '" +
                      model.gpuLibraries + "'",
                  kBadUsage};
  if (std::string wrong = checkTarget(model.target); !wrong.empty())
    throw Failure{"--target: " + wrong, kBadUsage};
  CompileOptions options;
  options.target = model.target;
  options.precision = *precision;
  options.gpuLibraries = *gpuLibraries;
  options.tuning = makeTuning(model);
  options.params = model.params;
  options.layers = model.layerHints();
  options.threads = model.threads;
  options.timing = model.timing;
  options.verifyNumerics = model.verifyNumerics;
  options.reproducer = model.reproducer;
  if (model.heads) {
    options.gradient.emplace().heads = *model.heads;
    options.keepsParameters = true; // Constants would have no gradients.
  }
  options.isTraining = model.training;
  options.guard = true; // This process does nothing else.
  if (model.remarks)
    options.onRemark = [](const std::string &remark) {
      std::fprintf(stderr, "remark: %s\n", remark.c_str());
    };
  options.shapes = model.inputShapes();
  options.constants = model.inputConstants();
  options.groups = model.groupDevices();
  options.memoryBudget = model.budgetBytes();
  options.keepsAll = model.keepsAll;
  options.wholeBatches = model.wholeBatches;
  options.hasUsualSizes = !model.hasNoExtents();
  if (options.hasUsualSizes)
    options.extents = model.extentSizes();
  for (const auto &[name, sizes] : options.extents)
    if (!isExtent(sizes))
      throw Failure{"expected --extent " + name +
                        "=... with sizes from 1 up, each once",
                    kBadUsage};
  options.batches = model.batchSizes();
  if (options.batches && !areBatches(*options.batches))
    throw Failure{
        "expected --batches that begin with 1 and ascend to at most " +
            std::to_string(mostBatch) + ", got '" + model.batches + "'",
        kBadUsage};
  if (model.keepsAll && options.memoryBudget)
    throw Failure{"expected --memory-budget without --no-recompute", kBadUsage};
  return options;
}

void dlc::tool::copyValue(const InitialValue &value, HostTensor &to) {
  std::span<std::byte> bytes = to.data.bytes();
  size_t step = value.bytes.size();
  // One element stands for all where they are equal.
  for (size_t at = 0; step > 0 && at + step <= bytes.size(); at += step)
    std::memcpy(bytes.data() + at, value.bytes.data(), step);
}

void dlc::tool::checkVariables(
    const Compilation &compilation,
    const std::map<std::string, std::string> &files) {
  llvm::StringRef messages = compilation.messages();
  for (const auto &[name, path] : files) {
    std::string what = "expected a variable of the symbol, got '" + name + "'";
    auto [before, after] = messages.split(what);
    if (before.size() != messages.size())
      throw Failure{path +
                    ": expected arrays of variables of the network, got '" +
                    name + "'" + after.split('\n').first.str()};
  }
}

/// Those of the values that a network of MXNet has variables of and does not
/// read. What is a constant for its value in a file is read.
static std::vector<std::string> findUnread(const std::string &path,
                                           CompileOptions compile,
                                           const Compilation &imported,
                                           const NamedTensors &values) {
  auto isInput = [](const Compilation &compilation, const std::string &name) {
    return llvm::any_of(compilation.inputs(), [&](const ModelPort &port) {
      return port.name == name;
    });
  };
  std::vector<std::string> unread;
  for (const auto &[name, value] : values)
    if (!isInput(imported, name))
      unread.push_back(name);
  if (unread.empty() || !path.ends_with(".json"))
    return {};
  compile.params.clear(); // No constants: all that is read is an input.
  Compilation whole(compile);
  if (failed(whole.import(path)))
    return {};
  llvm::erase_if(unread,
                 [&](const std::string &name) { return isInput(whole, name); });
  return unread;
}

/// Says before the compiler works what no run of its program would have.
static void checkInputs(const Compilation &imported,
                        const ModelOptions &options, const InputOptions &inputs,
                        const NamedTensors &values) {
  if (options.heads || !options.extents.empty())
    return; // Parameters have values, and sizes are chosen later.
  MissingInputs missing;
  for (const ModelPort &port : imported.inputs())
    if (!port.isRandomState && !values.count(port.name))
      (void)missing.add(port.name, port.type, inputs);
  missing.check(options);
}

LoadedModel dlc::tool::compileModel(const ModelOptions &options,
                                    const InputOptions &inputs,
                                    const NamedTensors &values) {
  LoadedModel loaded;
  double begin = now();
  CompileOptions compile = makeCompileOptions(options);
  for (const auto &[name, sizes] : compile.extents)
    if (sizes.size() > 1 || !values.empty())
      throw Failure{"expected --extent " + name + "=... with " +
                        (sizes.size() > 1
                             ? "one size, as a model runs in one shape: "
                               "compile it for several"
                             : "random inputs alone: those that are given have "
                               "their shapes"),
                    kBadUsage};
  // A network of MXNet does not say what its inputs are before shapes are
  // given.
  if (options.path.ends_with(".json"))
    for (const auto &[name, value] : values)
      compile.shapes.emplace(name, value.shape);
  auto first = std::make_unique<Compilation>(compile);
  llvm::LogicalResult imported = first->import(options.path);
  if (failed(imported)) {
    std::map<std::string, std::string> files;
    for (const auto &[name, value] : values)
      files[name] = inputs.fileOf(name);
    checkVariables(*first, files);
  }
  check(imported, *first);
  // Symbolic dimensions take the shapes of the values at hand.
  bool specialised = false;
  for (const ModelPort &port : first->inputs()) {
    auto value = values.find(port.name);
    if (port.type.isStatic() || value == values.end())
      continue;
    compile.shapes[port.name] = value->second.shape;
    specialised = true;
  }
  if (specialised) {
    first = std::make_unique<Compilation>(compile);
    check(first->import(options.path), *first);
  }
  checkInputs(*first, options, inputs, values);
  loaded.unread = findUnread(options.path, compile, *first, values);
  for (const InitialValue &value : first->initialValues()) {
    HostTensor &tensor = loaded.parameters[value.name];
    tensor = makeZeros(value.type);
    copyValue(value, tensor);
  }
  llvm::FailureOr<rt::AlignedBuffer> bytes = first->toMemory();
  check(llvm::success(succeeded(bytes)), *first);
  printWarnings(*first);
  loaded.bytes = std::move(*bytes);
  loaded.inputs = first->inputs().size();
  loaded.outputs = first->outputs().size();
  first.reset();
  loaded.compileMs = now() - begin;
  begin = now();
  loaded.program = take(rt::Program::create(
      take(rt::Artifact::fromMemory(loaded.bytes.bytes()))));
  loaded.loadMs = now() - begin;
  printRemarks(loaded.program->statistics().remarks);
  return loaded;
}
