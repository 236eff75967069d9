// SPDX-License-Identifier: Apache-2.0
//
// What the commands share: options, loading, inputs.

#include "Command.h"
#include "Elements.h"

#include "dlc/abi/Version.h"
#include "dlc/runtime/Base/File.h"
#include "dlc/runtime/Base/Half.h"
#include "dlc/runtime/Base/Names.h"
#include "dlc/runtime/Device/CPU/WorkerPool.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <random>

using namespace dlc;
using namespace dlc::tool;

double dlc::tool::now() {
  using namespace std::chrono;
  return duration<double, std::milli>(steady_clock::now().time_since_epoch())
      .count();
}

void dlc::tool::printRemarks(const std::vector<std::string> &remarks) {
  for (const std::string &remark : remarks)
    std::fprintf(stderr, "remark: %s\n", remark.c_str());
}

std::unique_ptr<rt::Execution>
dlc::tool::makeExecution(const rt::Program &program,
                         const rt::ExecutionOptions &options) {
  std::unique_ptr<rt::Execution> execution =
      take(rt::Execution::create(program, options));
  printRemarks(execution->remarks());
  return execution;
}

void dlc::tool::check(rt::Status status) {
  if (!status.isOk())
    throw Failure{status.message()};
}

void ModelOptions::addParams(Syntax &syntax) {
  syntax.option("--params", params,
                "Values of parameters (.params, .npz): of an MXNet network, or "
                "instead of an ONNX model's own");
  syntax.option(
      "--layer", layers,
      "Which layer of an MXNet network has the parameters of a path "
      "of attributes, body.0=net0_dense1, where the file does not "
      "tell it; with nothing behind = they are left out (repeatable)");
  syntax.flag("--guess-layers", guessesLayers,
              "Take layers that only an order tells from each other in that "
              "order: in which they were made, or data flows");
}

void ModelOptions::addConstants(Syntax &syntax) {
  syntax.option("--constant", constants,
                "Input of an ONNX model that always is a number, NAME=16000: "
                "the program has no such input (repeatable)");
}

void ModelOptions::add(Syntax &syntax, bool acceptsArtifact) {
  syntax.required("model", path,
                  acceptsArtifact
                      ? "Model (.onnx, -symbol.json, .mlir) or artifact (.dlc)"
                      : "Model (.onnx, -symbol.json, .mlir)");
  addParams(syntax);
  syntax.option(
      "--shape", shapes,
      acceptsArtifact
          ? "Shape of an input, NAME=1x3x224x224, ? for an extent that "
            "stays open (repeatable): of a "
            "model, it is compiled for it; of an artifact, random "
            "values have it"
          : "Shape of an input, NAME=1x3x224x224, ? for an extent "
            "that stays open (repeatable)");
  addConstants(syntax);
  syntax.option("--place", places,
                "Device of a group of operations (ctx_group), GROUP=cpu:1 "
                "(repeatable)");
  syntax.option("--memory-budget", memoryBudget,
                "Bytes that a program may have for what it keeps, like 512MiB: "
                "what does not fit is computed again");
  syntax.flag("--no-recompute", keepsAll,
              "Keep everything that gradients need; without it what takes "
              "little time is computed again where that saves memory");
  syntax.flag("--whole-batches", wholeBatches,
              "Compute whole batches; without it layers whose values caches do "
              "not hold are computed for a few examples after the others");
  syntax.option(
      "--extent", extents,
      "Sizes of an extent that the model leaves open, "
      "NAME=32,64,128 or 16-128/16 for steps of 16, INPUT.2=... where it has "
      "no name: a program for each, and for each combination of several, which "
      "computes smaller sizes, too, where the model can be padded "
      "(repeatable); without this, lengths up to 512 of a model of one that "
      "can be; none leaves it open to slow kernels");
  syntax.option("--batches", batches,
                "Where the model leaves only the size of the batch open, the "
                "numbers of examples to compute at once, ascending from 1: "
                "1,4,16 without this, and more where weights take much time; "
                "none leaves the size open to slow kernels");
  syntax.option("--target", target,
                "Machines, one or several with commas, of which an artifact "
                "has code for each: host, x86-64, x86-64-v2, x86-64-v3, "
                "x86-64-v4; with GPUs like cuda:sm_90a among them, or alone, "
                "one of those runs what it has kernels for, and the artifact "
                "needs one");
  syntax.option("--precision", precision,
                "Arithmetic: fp32 (within 2e-5 of the largest value), "
                "fp32-strict (plain sums of products, within 4e-6), bf16 "
                "(operands of products and convolutions with constants, and of "
                "attention, rounded to bfloat16, 2^-8 of each), "
                "tf32 (as fp32, but products on a GPU may round operands to "
                "10 bits)");
  syntax.option("--gpu-libraries", gpuLibraries,
                "What cuBLASLt and cuDNN compute of a GPU's kernels where they "
                "are found: auto (large products, and convolutions where most "
                "are large), always (all that they have), "
                "never");
  syntax.flag("--tune", tunes,
              "Time the kernels that there is a choice between, on this "
              "machine, and take the fastest");
  syntax.positive("--tune-seconds", tuneSeconds,
                  "How long that may take, with --tune; 10 without this");
  syntax.option("--tuning-cache", tuningCache,
                "File of times of kernels: known ones are not timed again, and "
                "new ones are added (with --tune: ~/.cache/dlc/tuning)");
  syntax.option("--threads", threads, "Threads; 0 means one for each core",
                {.most = rt::WorkerPool::maxThreads});
  syntax.flag("--remarks", remarks, "Print what each pass did, and why not");
  syntax.flag("--timing", timing, "Print the time of each phase and pass");
  syntax.flag("--verify-numerics", verifyNumerics,
              "Run the model before and after each pass, and compare (slow)");
  syntax.option("--reproducer", reproducer,
                "Where a failing pass leaves a reproducer for dlc-opt");
  compileOption = [syntax] {
    return syntax.firstGiven(
        {"--params",          "--layer",         "--guess-layers",
         "--constant",        "--place",         "--memory-budget",
         "--no-recompute",    "--whole-batches", "--extent",
         "--batches",         "--target",        "--precision",
         "--gpu-libraries",   "--tune",          "--tune-seconds",
         "--tuning-cache",    "--remarks",       "--timing",
         "--verify-numerics", "--reproducer"});
  };
}

void ModelOptions::addTraining(Syntax &syntax) {
  syntax.flag(
      "--training", training,
      "Compile what MXNet's executors run with is_train=True: "
      "statistics of the batch, dropout, losses; parameters are inputs");
}

/// "?x3x224x224" -> {-1, 3, 224, 224}; throws a Failure (usage) otherwise.
static std::vector<int64_t> parseShape(const std::string &text) {
  std::vector<int64_t> shape;
  const char *at = text.data(), *end = at + text.size();
  while (at != end) {
    int64_t dim = 0;
    const char *next = at + 1;
    bool ok = true;
    if (*at == '?') {
      dim = rt::kUnknownDim;
    } else {
      auto [behind, error] = std::from_chars(at, end, dim);
      next = behind;
      ok = error == std::errc() && dim >= 0;
    }
    if (!ok || !(next == end || (*next == 'x' && next + 1 != end)))
      throw Failure{"expected a shape like 1x3x224x224 or ?x3x224x224, got '" +
                        text + "'",
                    kBadUsage};
    shape.push_back(dim);
    at = next == end ? end : next + 1;
  }
  return shape;
}

/// Adds 16, 32, 48 of "16-48/16"; false where it is no such range, or a long
/// one.
static bool addRange(std::string_view text, std::vector<int64_t> &numbers) {
  int64_t first = 0, last = 0, step = 1;
  const char *at = text.data(), *end = at + text.size();
  auto read = [&](int64_t &number) {
    auto [next, error] = std::from_chars(at, end, number);
    at = next;
    return error == std::errc() && number >= 1;
  };
  if (!read(first))
    return false;
  last = first;
  if (at != end && (*at++ != '-' || !read(last)))
    return false;
  if (at != end && (*at++ != '/' || !read(step)))
    return false;
  if (at != end || last < first || (last - first) / step >= DLC_ARTIFACT_PARTS)
    return false;
  for (int64_t i = 0; i <= (last - first) / step; ++i)
    numbers.push_back(first + i * step);
  return true;
}

/// "1,8-24/8" -> {1, 8, 16, 24}; nothing where it is no such list.
static std::optional<std::vector<int64_t>>
parseRanges(const std::string &text) {
  std::vector<int64_t> numbers;
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    if (!addRange(std::string_view(text).substr(at, comma - at), numbers) ||
        numbers.size() > DLC_ARTIFACT_PARTS)
      return std::nullopt;
    at = comma + 1;
  }
  return numbers;
}

std::optional<std::vector<int64_t>> ModelOptions::batchSizes() const {
  if (batches.empty())
    return std::nullopt;
  if (batches == "none")
    return std::vector<int64_t>();
  if (std::optional<std::vector<int64_t>> sizes = parseRanges(batches))
    return sizes;
  throw Failure{"expected --batches with numbers like 1,4,16, or none, got '" +
                    batches + "'",
                kBadUsage};
}

bool ModelOptions::hasNoExtents() const {
  return extents.size() == 1 && extents.front() == "none";
}

std::map<std::string, std::vector<int64_t>> ModelOptions::extentSizes() const {
  std::map<std::string, std::vector<int64_t>> sizes;
  for (const std::string &text : extents) {
    auto [name, list] = splitNamed(text, "--extent NAME=32,64");
    std::optional<std::vector<int64_t>> own = parseRanges(list);
    if (!own)
      throw Failure{"expected --extent with sizes like NAME=32,64 or "
                    "NAME=16-128/16, " +
                        std::to_string(DLC_ARTIFACT_PARTS) + " at most, got '" +
                        (text.size() > 64 ? text.substr(0, 64) + "..." : text) +
                        "'",
                    kBadUsage};
    if (!sizes.emplace(name, std::move(*own)).second)
      throw Failure{"expected --extent " + name + "=... once, got it again",
                    kBadUsage};
  }
  return sizes;
}

int64_t ModelOptions::budgetBytes() const {
  if (memoryBudget.empty())
    return 0;
  const char *at = memoryBudget.data(), *end = at + memoryBudget.size();
  int64_t count = 0;
  auto [next, error] = std::from_chars(at, end, count);
  std::string_view unit(next, end - next);
  int64_t bytes = 0;
  static constexpr std::pair<std::string_view, int64_t> units[] = {
      {"", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}};
  for (auto [name, size] : units)
    if (error == std::errc() && unit == name && count > 0 &&
        !__builtin_mul_overflow(count, size, &bytes))
      return bytes;
  throw Failure{"expected --memory-budget with a number of bytes, KiB, MiB or "
                "GiB like 512MiB, got '" +
                    memoryBudget + "'",
                kBadUsage};
}

std::pair<std::string, std::string>
dlc::tool::splitNamed(const std::string &text, const std::string &expected) {
  size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0)
    throw Failure{"expected " + expected + ", got '" + text + "'", kBadUsage};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

bool dlc::tool::mayBe(const std::vector<int64_t> &shape,
                      const std::vector<int64_t> &other) {
  auto agree = [](int64_t a, int64_t b) {
    return a == b || a == rt::kUnknownDim || b == rt::kUnknownDim;
  };
  return std::ranges::equal(shape, other, agree);
}

/// "NAME=VALUE" of an option, each name once: `option` is "--place", `example`
/// what stands behind it, `what` what has the name.
static std::map<std::string, std::string>
readNamed(const std::vector<std::string> &texts, const char *option,
          const char *example, const char *what) {
  std::map<std::string, std::string> values;
  for (const std::string &text : texts) {
    auto [name, value] = splitNamed(text, std::string(option) + " " + example);
    if (!values.emplace(name, value).second)
      throw Failure{"expected one " + std::string(option) + " of " + what +
                        " '" + name + "', got two",
                    kBadUsage};
  }
  return values;
}

std::map<std::string, std::string> ModelOptions::groupDevices() const {
  return readNamed(places, "--place", "GROUP=cpu:1", "group");
}

std::map<std::string, std::vector<int64_t>> ModelOptions::inputShapes() const {
  std::map<std::string, std::vector<int64_t>> result;
  for (const auto &[name, shape] :
       readNamed(shapes, "--shape", "NAME=1x3x224x224", "input"))
    result[name] = parseShape(shape);
  return result;
}

std::map<std::string, double> ModelOptions::inputConstants() const {
  std::map<std::string, double> result;
  for (const auto &[name, text] :
       readNamed(constants, "--constant", "NAME=16000", "input")) {
    double number = 0;
    const char *end = text.data() + text.size();
    auto [behind, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc() || behind != end)
      throw Failure{"expected --constant NAME=16000, got '" + name + "=" +
                        text + "'",
                    kBadUsage};
    result[name] = number;
  }
  return result;
}

mxnet::LayerHints ModelOptions::layerHints() const {
  if (params.empty() && (guessesLayers || !layers.empty()))
    throw Failure{"expected --params with --layer and --guess-layers, got none",
                  kBadUsage};
  return {readNamed(layers, "--layer", "PATH=NAME", "path"), guessesLayers};
}

bool ModelOptions::isArtifact() const {
  rt::Result<rt::MappedFile> file = rt::MappedFile::open(path);
  // What MXNet's users call it.
  if (std::string network = path + "-symbol.json";
      !file.isOk() && rt::MappedFile::open(network).isOk())
    throw Failure{path + ": expected a file, got the prefix of " + network,
                  kBadUsage};
  constexpr size_t size = sizeof(DlcArtifactHeader::magic);
  return file.isOk() && file->bytes().size() >= size &&
         std::memcmp(file->bytes().data(), DLC_ARTIFACT_MAGIC, size) == 0;
}

HostTensor dlc::tool::makeZeros(const rt::TensorType &type) {
  std::optional<int64_t> bytes = rt::byteCount(type.type, type.shape);
  if (!bytes)
    throw Failure{"expected a static shape, got " + rt::toString(type)};
  HostTensor tensor{type.type, type.shape,
                    take(rt::AlignedBuffer::allocate(*bytes))};
  if (*bytes > 0)
    std::memset(tensor.data.data(), 0, *bytes);
  return tensor;
}

void InputOptions::add(Syntax &syntax) {
  syntax.option("--input", files,
                "Value of an input, NAME=x.npy; of bf16 as ml_dtypes has it");
  syntax.option("--inputs", archive, "Values of inputs by name (.npz)");
  syntax.flag("--random", random, "Random values for inputs not given");
  syntax.option("--seed", seed,
                "Seed of --random, and the state of random numbers "
                "of a model that draws some");
}

/// "NAME=x.npy" as name and path; throws a Failure (usage) otherwise.
static std::pair<std::string, std::string> splitInput(const std::string &text) {
  size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    throw Failure{"expected --input NAME=x.npy, got '" + text + "'", kBadUsage};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::vector<UsedFile> dlc::tool::filesRead(const ModelOptions &model,
                                           const InputOptions &inputs) {
  std::vector<UsedFile> used = {{"the model", model.path},
                                {"--params", model.params},
                                {"--inputs", inputs.archive}};
  for (const std::string &text : inputs.files)
    used.push_back({"--input", splitInput(text).second});
  return used;
}

NamedTensors InputOptions::read() const {
  NamedTensors values;
  if (!archive.empty())
    for (rt::NamedTensor &entry : take(rt::readNpz(archive)))
      values[entry.name] = std::move(entry.tensor);
  for (const std::string &text : files) {
    auto [name, path] = splitInput(text);
    if (!values.emplace(name, take(rt::readNpy(path))).second)
      throw Failure{"expected one value for input '" + name + "', got " + path +
                        " too",
                    kBadUsage};
  }
  return values;
}

bool MissingInputs::add(const std::string &name, const rt::TensorType &type,
                        const InputOptions &inputs) {
  if (inputs.random && type.isStatic())
    return false;
  std::vector<std::string> &list = inputs.random ? shapes : values;
  list.push_back("'" + name + "' (" + rt::toString(type) + ")");
  if (inputs.random)
    options += (options.empty() ? "--shape " : " --shape ") + name + "=...";
  return true;
}

void MissingInputs::check(const ModelOptions &model) const {
  if (!values.empty())
    throw Failure{
        std::string("expected ") +
        (values.size() == 1 ? "a value for input " : "values for inputs ") +
        rt::listSome(values) + ": give --input, --inputs or --random" +
        (model.path.ends_with(".json") && model.params.empty()
             ? ", or, for parameters, --params"
             : "")};
  if (!shapes.empty())
    throw Failure{
        std::string("expected ") +
        (shapes.size() == 1 ? "a shape for input " : "shapes for inputs ") +
        rt::listSome(shapes) + ": give " + options + ", without ?"};
}

/// Normal floats, small integers, booleans.
static void fillRandom(HostTensor &tensor, std::mt19937_64 &random) {
  rt::TensorView view = tensor.view();
  std::normal_distribution<float> normal;
  int64_t count = view.size();
  if (tensor.type == DLC_F32) {
    for (int64_t i = 0; i < count; ++i)
      view.as<float>()[i] = normal(random);
  } else if (tensor.type == DLC_F64) {
    for (int64_t i = 0; i < count; ++i)
      view.as<double>()[i] = normal(random);
  } else if (rt::isFloat(tensor.type)) {
    auto *convert =
        tensor.type == DLC_F16 ? rt::halfFromFloat : rt::bfloat16FromFloat;
    for (int64_t i = 0; i < count; ++i)
      view.as<uint16_t>()[i] = convert(normal(random));
  } else {
    // 0 or 1: legal as data, as mask and as index of anything not empty.
    size_t step = rt::sizeOf(tensor.type);
    for (int64_t i = 0; i < count; ++i)
      tensor.data.data()[i * step] = static_cast<std::byte>(random() & 1);
  }
}

std::string InputOptions::fileOf(const std::string &name) const {
  for (const std::string &text : files)
    if (auto [input, path] = splitInput(text); input == name)
      return path;
  return archive;
}

LoadedModel dlc::tool::loadModel(const ModelOptions &options,
                                 const InputOptions &inputs,
                                 NamedTensors &values) {
  // A damaged artifact is better known by its name than taken for a model.
  if (!options.isArtifact() && !options.path.ends_with(".dlc")) {
    LoadedModel compiled = compileModel(options, inputs, values);
    for (const std::string &name : compiled.unread) {
      std::fprintf(stderr,
                   "note: %s: '%s' is a label, which inference does not read\n",
                   inputs.fileOf(name).c_str(), name.c_str());
      values.erase(name);
    }
    return compiled;
  }
  const char *option = options.heads      ? "--train"
                       : options.training ? "--training"
                                          : options.compileOption();
  if (option)
    throw Failure{options.path + ": expected a model for " + option +
                      ", got an artifact, which is compiled already",
                  kBadUsage};
  LoadedModel loaded;
  double begin = now();
  loaded.program = take(rt::Program::load(options.path));
  loaded.loadMs = now() - begin;
  printRemarks(loaded.program->statistics().remarks);
  return loaded;
}

/// Throws unless the program has an input `name`, which `file` has.
static const rt::Port &findPort(const rt::Program &program,
                                const std::string &name,
                                const std::string &file = "") {
  if (std::optional<size_t> index = program.findInput(name))
    return program.inputs()[*index];
  std::string known;
  for (const rt::Port &port : program.inputs())
    known += (known.empty() ? "" : ", ") + port.name;
  throw Failure{(file.empty() ? "" : file + ": ") +
                "expected an input of the model (" + known + "), got '" + name +
                "'"};
}

/// The type of `port` in the shape that was asked for; throws where it cannot
/// have it.
static rt::TensorType withShape(const rt::Port &port,
                                const std::vector<int64_t> &shape) {
  rt::TensorType type{port.type.type, shape};
  const rt::TensorType &known = port.type;
  if (known.hasRank && !mayBe(known.shape, shape))
    throw Failure{"expected a --shape of input '" + port.name +
                  "' that fits it (" + rt::toString(known) + "), got " +
                  rt::toString(type)};
  for (size_t i = 0; known.hasRank && i < shape.size(); ++i)
    if (type.shape[i] == rt::kUnknownDim)
      type.shape[i] = known.shape[i];
  return type;
}

std::vector<HostTensor> dlc::tool::makeInputs(const rt::Program &program,
                                              const ModelOptions &model,
                                              const InputOptions &inputs,
                                              NamedTensors values) {
  for (const auto &[name, value] : values)
    (void)findPort(program, name, inputs.fileOf(name));
  std::map<std::string, rt::TensorType> wanted;
  for (const auto &[name, shape] : model.inputShapes())
    wanted[name] = withShape(findPort(program, name), shape);
  // Where MXNet copies values to the arrays of a network, it converts them.
  bool converts = model.path.ends_with(".json");
  std::mt19937_64 random(inputs.seed);
  std::vector<HostTensor> result;
  MissingInputs missing;
  for (const rt::Port &port : program.inputs()) {
    auto known = wanted.find(port.name);
    const rt::TensorType &type =
        known == wanted.end() ? port.type : known->second;
    auto value = values.find(port.name);
    if (value != values.end()) {
      if (known != wanted.end() && !mayBe(type.shape, value->second.shape))
        throw Failure{"expected a value of type " + rt::toString(type) +
                      " for input '" + port.name + "', as --shape says, got " +
                      rt::toString({value->second.type, value->second.shape})};
      if (converts)
        convertElements(value->second, type.type,
                        "expected a value for input '" + port.name + "'");
      result.push_back(std::move(value->second));
      continue;
    }
    if (port.isRandomState) {
      result.push_back(makeZeros(type));
      result.back().view().as<int64_t>()[0] = static_cast<int64_t>(inputs.seed);
      continue;
    }
    if (missing.add(port.name, type, inputs))
      continue;
    result.push_back(makeZeros(type));
    fillRandom(result.back(), random);
  }
  missing.check(model);
  return result;
}
