// SPDX-License-Identifier: Apache-2.0
//
// What the commands that compile share.

#include "CompilerCommand.h"

#include "dlc/Codegen/CPU/Target.h"

#include "llvm/ADT/StringRef.h"

#include <charconv>
#include <cstdio>

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

/// "1x3x224x224" -> {1, 3, 224, 224}; throws a Failure (usage) otherwise.
static std::vector<int64_t> parseShape(const std::string &text) {
  std::vector<int64_t> shape;
  const char *at = text.data(), *end = at + text.size();
  while (at != end) {
    int64_t dim = 0;
    auto [next, error] = std::from_chars(at, end, dim);
    bool ok = error == std::errc() && dim >= 0 &&
              (next == end || (*next == 'x' && next + 1 != end));
    if (!ok)
      throw Failure{"expected a shape like 1x3x224x224, got '" + text + "'",
                    kBadUsage};
    shape.push_back(dim);
    at = next == end ? end : next + 1;
  }
  return shape;
}

CompileOptions dlc::tool::makeCompileOptions(const ModelOptions &model) {
  if (model.precision != "fp32")
    throw Failure{"--precision " + model.precision +
                      ": not yet; fp32 is what there is",
                  kBadUsage};
  if (!codegen::TargetOptions::get(model.target))
    throw Failure{"expected --target host, x86-64, x86-64-v3 or x86-64-v4, "
                  "got '" +
                      model.target + "'",
                  kBadUsage};
  CompileOptions options;
  options.target = model.target;
  options.threads = model.threads;
  options.timing = model.timing;
  options.reproducer = model.reproducer;
  options.guard = true; // This process does nothing else.
  if (model.remarks)
    options.onRemark = [](const std::string &remark) {
      std::fprintf(stderr, "remark: %s\n", remark.c_str());
    };
  for (const std::string &text : model.shapes) {
    size_t equals = text.rfind('=');
    if (equals == std::string::npos || equals == 0)
      throw Failure{"expected --shape NAME=1x3x224x224, got '" + text + "'",
                    kBadUsage};
    std::string name = text.substr(0, equals);
    std::vector<int64_t> shape = parseShape(text.substr(equals + 1));
    if (!options.shapes.emplace(name, std::move(shape)).second)
      throw Failure{"expected one --shape of input '" + name + "', got two",
                    kBadUsage};
  }
  return options;
}

LoadedModel dlc::tool::compileModel(const ModelOptions &options,
                                    const NamedTensors &values) {
  LoadedModel loaded;
  double begin = now();
  CompileOptions compile = makeCompileOptions(options);
  auto first = std::make_unique<Compilation>(compile);
  check(first->import(options.path), *first);
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
  llvm::FailureOr<rt::AlignedBuffer> bytes = first->toMemory();
  check(llvm::success(succeeded(bytes)), *first);
  printWarnings(*first);
  loaded.bytes = std::move(*bytes);
  first.reset();
  loaded.compileMs = now() - begin;
  begin = now();
  loaded.program = take(rt::Program::create(
      take(rt::Artifact::fromMemory(loaded.bytes.bytes()))));
  loaded.loadMs = now() - begin;
  return loaded;
}
