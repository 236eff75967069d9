// SPDX-License-Identifier: Apache-2.0
//
// The compiler's C API: checks what the caller gave, asks Compilation, and
// turns its messages into statuses. The runtime that is linked into this
// library is private to it; statuses are made by libdlc_rt.so, whose structure
// they are.

#include "Handles.h"

#include "dlc/Codegen/CPU/Target.h"
#include "dlc/runtime/CAPI/Known.h"
#include "dlc/runtime/CAPI/Options.h"
#include "dlc/runtime/Device/CPU/WorkerPool.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <span>

using namespace dlc;
using namespace dlc::capi;

struct DlcBufferImpl {
  rt::AlignedBuffer bytes;
};

//===----------------------------------------------------------------------===//
// Statuses
//===----------------------------------------------------------------------===//

DlcStatus capi::invalid(const std::string &message) {
  return dlcStatusCreate(DLC_INVALID_ARGUMENT, message.c_str());
}

DlcStatus capi::toStatus(const rt::Status &status) {
  return dlcStatusCreate(static_cast<DlcStatusCode>(status.code()),
                         status.message().c_str());
}

DlcStatus capi::missing(const char *what) {
  return invalid(llvm::formatv("expected {0}, got null", what).str());
}

/// What kind of failure it is that a model cannot be compiled.
static DlcStatusCode codeOf(const Compilation &compilation) {
  return compilation.isUnsupported() ? DLC_UNSUPPORTED : DLC_INVALID_ARGUMENT;
}

/// The first error after the first `old` bytes of the compiler's messages.
static DlcStatus failureSince(const DlcCompilerImpl &compiler, size_t old,
                              DlcStatusCode code) {
  llvm::StringRef messages =
      llvm::StringRef(compiler.compilation.messages()).drop_front(old);
  constexpr llvm::StringLiteral prefix = "error: ";
  while (!messages.empty() && !messages.starts_with(prefix))
    messages = messages.split('\n').second;
  if (messages.empty())
    return dlcStatusCreate(DLC_INTERNAL, "failed without an error message");
  std::string first =
      messages.drop_front(prefix.size()).split('\n').first.str();
  return dlcStatusCreate(code, first.c_str());
}

static DlcStatus checkHasModel(DlcCompiler compiler) {
  if (!compiler)
    return missing("a compiler");
  if (compiler->state == DlcCompilerImpl::Empty)
    return invalid("expected a compiler with a model, got none imported");
  if (compiler->state == DlcCompilerImpl::Failed)
    return invalid("expected a compiler that did not fail before");
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

rt::Status capi::noteGroups(const DlcGroupDevice *groups, size_t count,
                            std::map<std::string, std::string> &devices) {
  using rt::StatusCode::InvalidArgument;
  if (count && !groups)
    return rt::makeError(InvalidArgument,
                         "expected devices of groups, got null");
  for (const auto &[group, device] : std::span(groups, count)) {
    if (!group || !device)
      return rt::makeError(InvalidArgument,
                           "expected a group and its device, got null");
    if (!devices.emplace(group, device).second)
      return rt::makeError(InvalidArgument,
                           "expected one device of group '%s', got two", group);
  }
  return rt::Status::ok();
}

static std::function<void(const std::string &)>
bindCallback(DlcCompilerCallback callback, void *userData) {
  if (!callback)
    return nullptr;
  return [=](const std::string &text) { callback(userData, text.c_str()); };
}

static DlcStatus noteExtent(const DlcExtent &extent,
                            std::map<std::string, std::vector<int64_t>> &to) {
  if (!extent.name || !extent.sizes)
    return missing(extent.name ? "sizes of an extent"
                               : "the name of an extent");
  std::vector<int64_t> sizes(extent.sizes, extent.sizes + extent.count);
  if (!isExtent(sizes))
    return invalid(llvm::formatv("expected sizes of extent '{0}' from 1 up, "
                                 "each once",
                                 extent.name)
                       .str());
  if (!to.emplace(extent.name, std::move(sizes)).second)
    return invalid(
        llvm::formatv("expected extent '{0}' once, got it again", extent.name)
            .str());
  return nullptr;
}

static DlcStatus convert(const DlcCompilerOptions &given,
                         CompileOptions &options) {
  if (given.target)
    options.target = given.target;
  if (std::string wrong = checkTarget(options.target); !wrong.empty())
    return invalid(wrong);
  if (given.precision) {
    auto precision = pipeline::precisionOf(given.precision);
    if (!precision)
      return invalid(llvm::formatv("expected precision {0}, got '{1}'",
                                   pipeline::precisionNames(), given.precision)
                         .str());
    options.precision = *precision;
  }
  if (given.gpuLibraries) {
    auto gpuLibraries = pipeline::gpuLibrariesOf(given.gpuLibraries);
    if (!gpuLibraries)
      return invalid(llvm::formatv("expected gpuLibraries auto, always, never, "
                                   "got '{0}'",
                                   given.gpuLibraries)
                         .str());
    options.gpuLibraries = *gpuLibraries;
  }
  if (!(given.tuneSeconds >= 0))
    return invalid(llvm::formatv("expected tuneSeconds of at least 0, got {0}",
                                 given.tuneSeconds)
                       .str());
  if (given.tuneSeconds > 0 && splitTarget(options.target).host != "host")
    return invalid(
        llvm::formatv("expected tuneSeconds with the target host, got '{0}'",
                      options.target)
            .str());
  options.tuning = {given.tuningCache ? given.tuningCache : "",
                    given.tuneSeconds};
  if (given.searchSteps < -1)
    return invalid(llvm::formatv("expected searchSteps of at least -1, got {0}",
                                 given.searchSteps)
                       .str());
  if (given.searchSteps)
    options.searchSteps = std::max<int64_t>(given.searchSteps, 0);
  if (given.threads > rt::WorkerPool::maxThreads)
    return invalid(llvm::formatv("expected at most {0} threads, got {1}",
                                 unsigned(rt::WorkerPool::maxThreads),
                                 given.threads)
                       .str());
  options.threads = given.threads;
  if (given.reproducer)
    options.reproducer = given.reproducer;
  if (given.params)
    options.params = given.params;
  options.onRemark = bindCallback(given.onRemark, given.userData);
  if (auto onPhase = bindCallback(given.onPhase, given.userData))
    options.onPhase = [=](Phase phase) {
      onPhase(pipeline::nameOf(phase).str());
    };
  if (given.shapeCount && !given.shapes)
    return missing("shapes");
  for (size_t i = 0; i < given.shapeCount; ++i)
    if (DlcStatus status =
            toStatus(rt::noteShape(given.shapes[i].name, given.shapes[i].shape,
                                   given.shapes[i].rank, options.shapes)))
      return status;
  if (given.constantCount && !given.constants)
    return missing("constants");
  for (size_t i = 0; i < given.constantCount; ++i) {
    const DlcInputConstant &constant = given.constants[i];
    if (!constant.name)
      return missing("the name of a constant");
    if (!options.constants.emplace(constant.name, constant.value).second)
      return invalid(llvm::formatv("expected one constant of input '{0}', got "
                                   "two",
                                   constant.name)
                         .str());
  }
  if (given.extentCount && !given.extents)
    return missing("extents");
  options.hasUsualSizes = !given.extents || given.extentCount;
  for (size_t i = 0; i < given.extentCount; ++i)
    if (DlcStatus status = noteExtent(given.extents[i], options.extents))
      return status;
  if (given.memoryBudget < 0)
    return invalid(llvm::formatv("expected a memoryBudget of at least 0, got "
                                 "{0}",
                                 given.memoryBudget)
                       .str());
  options.memoryBudget = given.memoryBudget;
  if (given.batchCount && !given.batches)
    return missing("batches");
  if (given.batches)
    options.batches.emplace(given.batches, given.batches + given.batchCount);
  if (options.batches && !areBatches(*options.batches))
    return invalid(llvm::formatv("expected batches that ascend from 1 to at "
                                 "most {0}",
                                 mostBatch)
                       .str());
  return toStatus(noteGroups(given.groups, given.groupCount, options.groups));
}

//===----------------------------------------------------------------------===//
// Compilers
//===----------------------------------------------------------------------===//

DlcStatus dlcCompilerCreate(const DlcCompilerOptions *options,
                            DlcCompiler *compiler) {
  if (!compiler)
    return missing("a place for the compiler");
  CompileOptions chosen;
  if (options) {
    DlcCompilerOptions known = {};
    if (DlcStatus status = toStatus(rt::readOptions(*options, known)))
      return status;
    if (DlcStatus status = convert(known, chosen))
      return status;
  }
  *compiler = new DlcCompilerImpl(std::move(chosen));
  return nullptr;
}

void dlcCompilerDestroy(DlcCompiler compiler) { delete compiler; }

DlcStatus capi::importModel(
    DlcCompiler compiler,
    llvm::function_ref<llvm::LogicalResult(Compilation &)> import) {
  if (compiler->state != DlcCompilerImpl::Empty)
    return invalid("expected a compiler without a model, got one that has or "
                   "refused one already");
  if (failed(import(compiler->compilation))) {
    compiler->state = DlcCompilerImpl::Failed;
    return failureSince(*compiler, 0, codeOf(compiler->compilation));
  }
  compiler->state = DlcCompilerImpl::HasModel;
  compiler->inputs = compiler->compilation.inputs();
  compiler->outputs = compiler->compilation.outputs();
  return nullptr;
}

DlcStatus dlcCompilerImportFile(DlcCompiler compiler, const char *path) {
  if (!compiler || !path)
    return missing(compiler ? "a path" : "a compiler");
  return importModel(compiler, [&](Compilation &compilation) {
    return compilation.import(path);
  });
}

DlcStatus dlcCompilerImportMemory(DlcCompiler compiler, const void *bytes,
                                  size_t size, const char *name) {
  if (!compiler || !bytes || !name)
    return missing(!compiler ? "a compiler" : bytes ? "a name" : "bytes");
  return importModel(compiler, [&](Compilation &compilation) {
    return compilation.importOnnx({static_cast<const char *>(bytes), size},
                                  name);
  });
}

size_t dlcCompilerInputCount(DlcCompiler compiler) {
  return compiler ? compiler->inputs.size() : 0;
}

size_t dlcCompilerOutputCount(DlcCompiler compiler) {
  return compiler ? compiler->outputs.size() : 0;
}

static DlcStatus describePort(llvm::ArrayRef<ModelPort> ports, size_t index,
                              DlcPort *out) {
  if (!out)
    return missing("a place for the description");
  if (index >= ports.size())
    return invalid(llvm::formatv("expected an index below {0}, got {1}",
                                 ports.size(), index)
                       .str());
  const ModelPort &port = ports[index];
  int32_t rank = port.type.hasRank ? int32_t(port.type.rank()) : -1;
  return toStatus(
      rt::fillStruct(out, {sizeof(DlcPort), port.name.c_str(), port.type.type,
                           rank, port.type.shape.data()}));
}

DlcStatus dlcCompilerInput(DlcCompiler compiler, size_t index, DlcPort *port) {
  if (DlcStatus status = checkHasModel(compiler))
    return status;
  return describePort(compiler->inputs, index, port);
}

DlcStatus dlcCompilerOutput(DlcCompiler compiler, size_t index, DlcPort *port) {
  if (DlcStatus status = checkHasModel(compiler))
    return status;
  return describePort(compiler->outputs, index, port);
}

/// Brings the model up to `phase`; a failure is for good.
static DlcStatus runTo(DlcCompilerImpl &compiler, Phase phase) {
  size_t old = compiler.compilation.messages().size();
  if (failed(compiler.compilation.runTo(phase))) {
    compiler.state = DlcCompilerImpl::Failed;
    return failureSince(compiler, old, codeOf(compiler.compilation));
  }
  compiler.reached = std::max(compiler.reached, phase);
  return nullptr;
}

DlcStatus dlcCompilerWriteFile(DlcCompiler compiler, const char *path) {
  if (DlcStatus status = checkHasModel(compiler))
    return status;
  if (!path)
    return missing("a path");
  if (DlcStatus status = runTo(*compiler, Phase::Codegen))
    return status;
  size_t old = compiler->compilation.messages().size();
  if (failed(compiler->compilation.write(path)))
    return failureSince(*compiler, old, DLC_UNAVAILABLE);
  return nullptr;
}

DlcStatus dlcCompilerWriteMemory(DlcCompiler compiler, DlcBuffer *buffer) {
  if (DlcStatus status = checkHasModel(compiler))
    return status;
  if (!buffer)
    return missing("a place for the buffer");
  if (DlcStatus status = runTo(*compiler, Phase::Codegen))
    return status;
  size_t old = compiler->compilation.messages().size();
  llvm::FailureOr<rt::AlignedBuffer> bytes = compiler->compilation.toMemory();
  if (failed(bytes))
    return failureSince(*compiler, old, DLC_OUT_OF_MEMORY);
  *buffer = new DlcBufferImpl{std::move(*bytes)};
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

DlcStatus dlcCompilerPrint(DlcCompiler compiler, const char *phase,
                           DlcPrintMode mode, const char **text, size_t *size) {
  if (DlcStatus status = checkHasModel(compiler))
    return status;
  if (!phase || !text)
    return missing(phase ? "a place for the text" : "a phase");
  std::optional<Phase> wanted = pipeline::phaseOf(phase);
  if (!wanted || *wanted > Phase::Codegen)
    return invalid(llvm::formatv("expected a phase from import to codegen, "
                                 "got '{0}'",
                                 phase)
                       .str());
  if (*wanted < compiler->reached)
    return invalid(llvm::formatv("expected phase '{0}', which is reached, or a "
                                 "later one, got '{1}'",
                                 pipeline::nameOf(compiler->reached), phase)
                       .str());
  if (DlcStatus status = runTo(*compiler, *wanted))
    return status;
  compiler->text.clear();
  llvm::raw_string_ostream os(compiler->text);
  compiler->compilation.print(os, mode == DLC_PRINT_FULL);
  *text = compiler->text.c_str();
  if (size)
    *size = compiler->text.size();
  return nullptr;
}

const char *dlcCompilerMessages(DlcCompiler compiler) {
  return compiler ? compiler->compilation.messages().c_str() : "";
}

size_t dlcCompilerPhaseCount(void) {
  return static_cast<size_t>(Phase::Artifact) + 1;
}

const char *dlcCompilerPhaseName(size_t index) {
  if (index >= dlcCompilerPhaseCount())
    return nullptr;
  // The names are literals, so they end in a zero.
  return pipeline::nameOf(static_cast<Phase>(index)).data();
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

const void *dlcBufferData(DlcBuffer buffer) {
  return buffer ? buffer->bytes.data() : nullptr;
}

size_t dlcBufferSize(DlcBuffer buffer) {
  return buffer ? buffer->bytes.size() : 0;
}

void dlcBufferDestroy(DlcBuffer buffer) { delete buffer; }
