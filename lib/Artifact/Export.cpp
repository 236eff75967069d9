// SPDX-License-Identifier: Apache-2.0

#include "dlc/Artifact/Export.h"

#include "dlc/Analysis/Cost.h"
#include "dlc/abi/Artifact_generated.h"
#include "dlc/abi/Kernel.h"
#include "dlc/abi/Tensor.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/dialects/Kernel/KernelDialect.h"
#include "dlc/dialects/Plan/PlanDialect.h"
#include "dlc/runtime/Artifact/Writer.h"
#include "dlc/runtime/Base/System.h"
#include "dlc/runtime/Kernel/Library.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/xxhash.h"

#include <cstring>

using namespace mlir;
using namespace dlc;
using namespace dlc::artifact;

namespace {

/// Translates the program of a module, with those of a batch of any size; owns
/// what the contents borrow.
class Exporter {
public:
  Exporter(ModuleOp module, ArrayRef<codegen::ObjectCode> code,
           const ExportInfo &info)
      : module(module), symbols(module), code(code), info(info) {}
  LogicalResult run();
  rt::ArtifactContents contents();

private:
  LogicalResult addPlan(plan::ProgramOp from, abi::ProgramT &to);
  LogicalResult addPrograms(plan::ProgramOp from, abi::ProgramT &to);
  FailureOr<plan::ProgramOp> findMain();
  void addHead();
  void addGrids();
  void addObject(const std::string &bytes, const std::string &triple,
                 const std::vector<std::string> &features);
  LogicalResult addMemory(Operation &op);
  uint32_t addValue(Value value, abi::Storage storage);
  LogicalResult addConstant(plan::ConstantOp constant);
  uint32_t addDevice(DeviceAttr device);
  LogicalResult addLaunch(plan::LaunchOp launch);
  uint32_t addKernel(StringAttr name);
  void addLibraryKernel(kernel::LibraryOp library, abi::KernelT &kernel);
  void addGeneratedKernel(kernel::FuncOp func, abi::KernelT &kernel);

  ModuleOp module;
  SymbolTable symbols;
  ArrayRef<codegen::ObjectCode> code;
  const ExportInfo &info;

  abi::ProgramT whole; ///< Has kernels and objects for all programs.
  DenseMap<StringAttr, uint32_t> kernelIds;
  static constexpr uint64_t kNowhere = UINT64_MAX;
  DenseMap<Attribute, uint64_t> constantOffsets;
  /// Their places in `constants`, by the bytes that they have and a hash of the
  /// first of these.
  DenseMap<std::pair<uint64_t, uint64_t>, SmallVector<size_t>> likeConstants;
  /// Of the program under way.
  abi::ProgramT *plan = nullptr;
  DenseMap<DeviceAttr, uint32_t> deviceIds;
  std::map<std::string, uint32_t> arenaDevices;
  DenseMap<Value, uint32_t> valueIds;
  std::vector<graph::RawElements> heldConstants;
  std::vector<rt::ArtifactConstant> constants;
  uint64_t constantBytes = 0;
  uint64_t expandedBytes = 0; // Of constants of one value all over.
  std::vector<std::span<const std::byte>> objects;
};

} // namespace

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Plain type and shape of a memref; an unranked one has no shape vector.
static rt::TensorType plainType(Type type) {
  if (auto ranked = dyn_cast<MemRefType>(type))
    return graph::toTensorType(
        RankedTensorType::get(ranked.getShape(), ranked.getElementType()));
  auto unranked = cast<UnrankedMemRefType>(type);
  return graph::toTensorType(
      UnrankedTensorType::get(unranked.getElementType()));
}

uint32_t Exporter::addDevice(DeviceAttr device) {
  auto [entry, isNew] = deviceIds.try_emplace(device, plan->devices.size());
  if (isNew) {
    auto &added = plan->devices.emplace_back(std::make_unique<abi::DeviceT>());
    // The kinds are those of the artifact by definition (BaseDialect.td).
    added->kind = static_cast<abi::DeviceKind>(device.getKind());
    added->index = device.getIndex();
  }
  return entry->second;
}

uint32_t Exporter::addValue(Value value, abi::Storage storage) {
  rt::TensorType type = plainType(value.getType());
  auto added = std::make_unique<abi::ValueT>();
  added->type = type.type;
  added->shape = type.shape;
  added->unranked = !type.hasRank;
  added->storage = storage;
  added->bytes = plan::getByteSize(value.getType()).value_or(0);
  plan->values.push_back(std::move(added));
  return valueIds[value] = plan->values.size() - 1;
}

/// Equal constants, of whichever programs, share their bytes.
LogicalResult Exporter::addConstant(plan::ConstantOp constant) {
  abi::ValueT &value =
      *plan->values[addValue(constant.getResult(), abi::Storage::Constant)];
  if (value.bytes == 0)
    return success(); // At the start, whatever is there.
  uint64_t &offset =
      constantOffsets.try_emplace(constant.getValue(), kNowhere).first->second;
  if (offset != kNowhere) {
    value.offset = offset;
    return success();
  }
  graph::RawElements raw =
      graph::RawElements::get(constant.getValue(), /*keepSplat=*/true);
  uint64_t size = raw.data().size();
  uint64_t repeats = raw.isSplat() ? value.bytes / size : 1;
  if (!raw || size * repeats != value.bytes)
    return constant.emitOpError("expected a value of ")
           << value.bytes << " bytes, got " << size;
  const rt::ArtifactConstant added = {
      llvm::alignTo(constantBytes, DLC_ALIGNMENT),
      std::as_bytes(std::span(raw.data().data(), size)), repeats};
  // Programs for several sizes pack the same weights, each for itself.
  constexpr size_t firstBytes = 256;
  SmallVector<size_t> &alike = likeConstants[{
      value.bytes, llvm::xxh3_64bits(StringRef(raw.data().data(), size)
                                         .take_front(firstBytes))}];
  for (size_t other : alike)
    if (constants[other].repeats == repeats &&
        std::memcmp(constants[other].bytes.data(), added.bytes.data(), size) ==
            0) {
      value.offset = offset = constants[other].offset;
      return success();
    }
  // What a model says in a few bytes must not fill the disk: nobody could run
  // it. Weights that are in a file may exceed memory, which maps them.
  expandedBytes += raw.isSplat() ? value.bytes : 0;
  if (expandedBytes > rt::memoryLimit())
    return constant.emitOpError("expected constants that fit in the ")
           << rt::memoryLimit() << " bytes of memory, got one of "
           << value.bytes << " bytes";
  value.offset = offset = added.offset;
  alike.push_back(constants.size());
  constants.push_back(added);
  heldConstants.push_back(std::move(raw));
  constantBytes = value.offset + value.bytes;
  return success();
}

LogicalResult Exporter::addMemory(Operation &op) {
  return TypeSwitch<Operation *, LogicalResult>(&op)
      .Case([&](plan::ArenaOp arena) -> LogicalResult {
        uint32_t id = addDevice(arena.getDevice());
        arenaDevices[arena.getSymName().str()] = id;
        plan->devices[id]->arena_bytes = arena.getSize();
        plan->devices[id]->lower_bound = arena.getLowerBound();
        return success();
      })
      .Case<plan::InputOp, plan::OutputOp>([&](auto port) {
        constexpr bool isInput = std::is_same_v<decltype(port), plan::InputOp>;
        uint32_t id =
            addValue(port.getResult(),
                     isInput ? abi::Storage::Input : abi::Storage::Output);
        plan->values[id]->index = port.getIndex();
        auto binding = std::make_unique<abi::BindingT>();
        binding->name = port.getName().str();
        binding->value = id;
        binding->role = abi::BindingRole::Plain;
        if (auto padded = port.getPadded())
          binding->padded.assign(padded->begin(), padded->end());
        if constexpr (isInput) {
          if (port.getRandom())
            binding->role = abi::BindingRole::RandomState;
        } else if (port.getUpdates()) {
          binding->updates = static_cast<int32_t>(*port.getUpdates());
        }
        (isInput ? plan->inputs : plan->outputs).push_back(std::move(binding));
        return success();
      })
      .Case([&](plan::ConstantOp constant) { return addConstant(constant); })
      .Case([&](plan::SliceOp slice) {
        uint32_t id = addValue(slice.getResult(), abi::Storage::Arena);
        plan->values[id]->offset = slice.getOffset();
        plan->values[id]->device = arenaDevices[slice.getArena().str()];
        return success();
      })
      .Case([&](plan::PoolOp pool) -> LogicalResult {
        uint32_t id = addValue(pool.getResult(), abi::Storage::Pool);
        plan->values[id]->device = addDevice(pool.getDevice());
        return success();
      })
      .Case([&](plan::ViewOp view) {
        // A value of its own over the same bytes.
        abi::ValueT source = *plan->values[valueIds.lookup(view.getSource())];
        uint32_t id = addValue(view.getResult(), source.storage);
        plan->values[id]->index = source.index;
        plan->values[id]->device = source.device;
        plan->values[id]->offset = source.offset + view.getOffset();
        return success();
      })
      .Case([&](plan::LaunchOp launch) { return addLaunch(launch); })
      .Case([&](plan::NoneOp) { return success(); })
      .Default([](Operation *other) {
        return other->emitOpError("expected an operation of the packed plan");
      });
}

//===----------------------------------------------------------------------===//
// Kernels and launches
//===----------------------------------------------------------------------===//

static std::unique_ptr<abi::AttributeT>
makeAttribute(const rt::Attribute &attribute) {
  auto added = std::make_unique<abi::AttributeT>();
  added->name = attribute.name;
  if (auto *i = std::get_if<int64_t>(&attribute.value)) {
    added->kind = abi::AttributeKind::Int;
    added->i = *i;
  } else if (auto *f = std::get_if<double>(&attribute.value)) {
    added->kind = abi::AttributeKind::Float;
    added->f = *f;
  } else if (auto *s = std::get_if<std::string>(&attribute.value)) {
    added->kind = abi::AttributeKind::String;
    added->s = *s;
  } else if (auto *ints = std::get_if<std::vector<int64_t>>(&attribute.value)) {
    added->kind = abi::AttributeKind::Ints;
    added->ints = *ints;
  } else {
    added->kind = abi::AttributeKind::Floats;
    added->floats = std::get<std::vector<double>>(attribute.value);
  }
  return added;
}

/// Bytes of a tensor; 0 where they are not known.
static uint64_t getBytes(Type type) {
  rt::TensorType plain = graph::toTensorType(type);
  return plain.isStatic() ? rt::byteCount(plain.type, plain.shape).value_or(0)
                          : 0;
}

static uint64_t getBytes(TypeRange types) {
  uint64_t bytes = 0;
  for (Type type : types)
    bytes += getBytes(type);
  return bytes;
}

/// Bytes of all tensors of a kernel, each once.
static uint64_t getTraffic(FunctionType type) {
  return getBytes(type.getInputs()) + getBytes(type.getResults());
}

/// Of what a host's kernel reads at places given by data, as words of a table,
/// not more than its results have.
static uint64_t getTraffic(kernel::FuncOp func) {
  FunctionType type = kernel::getCallType(func);
  const uint64_t results = getBytes(type.getResults());
  uint64_t bytes = results;
  for (auto [i, input] : llvm::enumerate(type.getInputs())) {
    const bool isLookedUp =
        !kernel::isForGPU(func) && llvm::all_of(func.getArgument(i).getUsers(),
                                                llvm::IsaPred<memref::LoadOp>);
    bytes += isLookedUp ? std::min(getBytes(input), results) : getBytes(input);
  }
  return bytes;
}

void Exporter::addLibraryKernel(kernel::LibraryOp library,
                                abi::KernelT &kernel) {
  StringRef entry = library.getEntry();
  rt::Attributes config = graph::toAttributes(library.getConfig());
  kernel.bytes = getTraffic(library.getFunctionType());
  kernel.note = library.getNote().value_or("").str();
  if (entry == "copy") {
    kernel.kind = abi::KernelKind::Copy;
    kernel.name = "copy";
    return;
  }
  for (const rt::Attribute &attribute : config)
    kernel.attributes.push_back(makeAttribute(attribute));
  kernel.name = entry.str();
  kernel.kind = entry.starts_with("reference.") ? abi::KernelKind::Reference
                                                : abi::KernelKind::Library;
  if (kernel.kind == abi::KernelKind::Reference) {
    const rt::LibraryEntry *computes =
        rt::lookupEntryOfOperation(entry.drop_front(strlen("reference.")));
    kernel.any_algorithm =
        computes && !computes->algorithms.empty() && !info.isStrict;
    return;
  }
  const rt::LibraryEntry *known = rt::lookupLibraryEntry(kernel.name);
  if (!known || !known->cost)
    return;
  std::vector<rt::TensorType> inputs, outputs;
  for (Type type : library.getFunctionType().getInputs())
    inputs.push_back(graph::toTensorType(type));
  for (Type type : library.getFunctionType().getResults())
    outputs.push_back(graph::toTensorType(type));
  kernel.flops = known->cost({inputs, outputs, config}).flops;
}

/// The number of grid points: what the body's outermost scf.forall spans.
static int64_t getTileCount(kernel::FuncOp func) {
  for (auto forall : func.getBody().getOps<scf::ForallOp>()) {
    int64_t tiles = 1;
    for (int64_t extent : forall.getStaticUpperBound())
      tiles *= extent;
    return tiles;
  }
  return 1;
}

void Exporter::addGeneratedKernel(kernel::FuncOp func, abi::KernelT &kernel) {
  kernel.kind = abi::KernelKind::Generated;
  kernel.name = func.getSymName().str();
  kernel.tiles = getTileCount(func);
  // Of the oldest GPU: objects of others have grids of their own.
  if (!info.gpus.empty() && kernel::isForGPU(func)) {
    const codegen::GPUGrid &grid = info.gpus.back().grids.at(kernel.name);
    kernel.tiles = grid.blocks;
    kernel.attributes.push_back(makeAttribute({"threads", grid.threads}));
    kernel.attributes.push_back(makeAttribute({"shared", grid.sharedBytes}));
  }
  kernel.bytes = getTraffic(func);
  kernel.flops = analysis::countFlops(func);
  if (func.getAnyShape()) {
    kernel.kind = abi::KernelKind::AnyShape;
    kernel.bytes /= kernel.tiles;
    kernel.flops /= kernel.tiles;
    kernel.tiles = static_cast<int64_t>(*func.getAnyShape());
  }
  if (std::optional<DictionaryAttr> epilogue = func.getEpilogue())
    for (const rt::Attribute &attribute : graph::toAttributes(*epilogue))
      kernel.attributes.push_back(makeAttribute(attribute));
  if (!func.getEntry())
    return;
  kernel.entry = func.getEntry()->str();
  for (const rt::Attribute &attribute : graph::toAttributes(*func.getConfig()))
    kernel.entry_attributes.push_back(makeAttribute(attribute));
  kernel.entry_operands.assign(func.getEntryOperands()->begin(),
                               func.getEntryOperands()->end());
}

uint32_t Exporter::addKernel(StringAttr name) {
  auto [entry, isNew] = kernelIds.try_emplace(name, whole.kernels.size());
  if (!isNew)
    return entry->second;
  auto added = std::make_unique<abi::KernelT>();
  Operation *symbol = symbols.lookup(name);
  if (auto library = dyn_cast<kernel::LibraryOp>(symbol))
    addLibraryKernel(library, *added);
  else
    addGeneratedKernel(cast<kernel::FuncOp>(symbol), *added);
  whole.kernels.push_back(std::move(added));
  return whole.kernels.size() - 1;
}

/// The model's node: the first name in a location.
static std::string getLabel(Location location) {
  std::string label;
  location->walk([&](Location inner) {
    if (auto name = dyn_cast<NameLoc>(inner)) {
      label = name.getName().str();
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return label;
}

LogicalResult Exporter::addLaunch(plan::LaunchOp launch) {
  auto added = std::make_unique<abi::LaunchT>();
  added->device = addDevice(
      launch.getDevice().value_or(getDefaultDevice(launch.getContext())));
  added->kernel = addKernel(launch.getKernelAttr().getAttr());
  auto add = [&](Value value) {
    added->arguments.push_back(
        isa<NoneType>(value.getType())
            ? -1
            : static_cast<int32_t>(valueIds.lookup(value)));
  };
  llvm::for_each(launch.getReads(), add);
  llvm::for_each(launch.getWrites(), add);
  added->inputs = launch.getReads().size();
  added->stream = launch.getStream();
  added->label = getLabel(launch.getLoc());
  plan->launches.push_back(std::move(added));
  return success();
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

void Exporter::addHead() {
  whole.compiler = "dlc " DLC_VERSION;
  whole.model = info.model;
  whole.options = info.options;
  for (const codegen::ObjectCode &object : code)
    addObject(object.bytes, object.triple, object.features);
  // Machine code first: PTX is compiled when it is loaded.
  for (const codegen::GPUCode &gpu : info.gpus)
    for (const std::string &bytes : {std::cref(gpu.cubin), std::cref(gpu.ptx)})
      addObject(bytes, "nvptx64-nvidia-cuda", {gpu.name});
}

/// How kernels are launched in the code of each GPU but the oldest, whose grids
/// are those of the kernels.
void Exporter::addGrids() {
  if (info.gpus.size() < 2)
    return;
  for (auto &object : whole.objects)
    for (const codegen::GPUCode &gpu : info.gpus.drop_back()) {
      if (object->features != std::vector<std::string>{gpu.name})
        continue;
      object->kernel_abi = DLC_KERNEL_ABI_OWN_GRIDS;
      for (uint32_t id = 0; id < whole.kernels.size(); ++id)
        if (auto known = gpu.grids.find(whole.kernels[id]->name);
            known != gpu.grids.end())
          object->grids.push_back(abi::KernelGrid(
              id, static_cast<uint32_t>(known->second.blocks),
              static_cast<uint32_t>(known->second.threads),
              static_cast<uint32_t>(known->second.sharedBytes)));
    }
}

void Exporter::addObject(const std::string &bytes, const std::string &triple,
                         const std::vector<std::string> &features) {
  if (bytes.empty())
    return;
  auto variant = std::make_unique<abi::ObjectVariantT>();
  variant->triple = triple;
  variant->features = features;
  variant->kernel_abi = DLC_KERNEL_ABI_VERSION;
  whole.objects.push_back(std::move(variant));
  objects.push_back(std::as_bytes(std::span(bytes)));
}

LogicalResult Exporter::addPlan(plan::ProgramOp from, abi::ProgramT &to) {
  plan = &to;
  deviceIds.clear();
  arenaDevices.clear();
  valueIds.clear();
  to.rows = from.getRows().value_or(0);
  addDevice(getDefaultDevice(module.getContext()));
  for (Operation &op : from.getBody().front())
    if (failed(addMemory(op)))
      return failure();
  return success();
}

/// The program that no other one runs.
FailureOr<plan::ProgramOp> Exporter::findMain() {
  llvm::DenseSet<StringAttr> parts;
  for (auto program : module.getOps<plan::ProgramOp>())
    if (ArrayAttr names = program.getParts())
      for (auto name : names.getAsRange<FlatSymbolRefAttr>())
        parts.insert(name.getAttr());
  SmallVector<plan::ProgramOp> found;
  for (auto program : module.getOps<plan::ProgramOp>())
    if (!parts.contains(program.getSymNameAttr()))
      found.push_back(program);
  if (found.size() == 1)
    return found.front();
  return module.emitError("expected one program, got ") << found.size();
}

/// A program and those that it runs.
LogicalResult Exporter::addPrograms(plan::ProgramOp from, abi::ProgramT &to) {
  if (failed(addPlan(from, to)))
    return failure();
  auto &parts = from.getByShape() ? to.by_shape : to.by_rows;
  if (ArrayAttr names = from.getParts())
    for (auto name : names.getAsRange<FlatSymbolRefAttr>()) {
      parts.push_back(std::make_unique<abi::ProgramT>());
      if (failed(addPrograms(symbols.lookup<plan::ProgramOp>(name.getAttr()),
                             *parts.back())))
        return failure();
    }
  return success();
}

LogicalResult Exporter::run() {
  FailureOr<plan::ProgramOp> main = findMain();
  if (failed(main))
    return failure();
  addHead();
  if (failed(addPrograms(*main, whole)))
    return failure();
  addGrids();
  return success();
}

rt::ArtifactContents Exporter::contents() {
  return {whole, objects, constants, constantBytes};
}

LogicalResult dlc::artifact::writeProgram(ModuleOp module,
                                          ArrayRef<codegen::ObjectCode> code,
                                          const ExportInfo &info,
                                          const std::string &path) {
  Exporter exporter(module, code, info);
  if (failed(exporter.run()))
    return failure();
  rt::Status status = rt::writeArtifact(exporter.contents(), path);
  if (!status.isOk())
    return emitError(UnknownLoc::get(module.getContext()), status.message());
  return success();
}

FailureOr<rt::AlignedBuffer>
dlc::artifact::writeProgram(ModuleOp module, ArrayRef<codegen::ObjectCode> code,
                            const ExportInfo &info) {
  Exporter exporter(module, code, info);
  if (failed(exporter.run()))
    return failure();
  rt::Result<rt::AlignedBuffer> bytes = rt::writeArtifact(exporter.contents());
  if (!bytes.isOk()) {
    emitError(module.getLoc(), bytes.status().message());
    return failure();
  }
  return std::move(*bytes);
}
