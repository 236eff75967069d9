// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Artifact/Validate.h"

#include "dlc/abi/Artifact_generated.h"
#include "dlc/abi/Kernel.h"
#include "dlc/runtime/Base/Memory.h"
#include "dlc/runtime/Base/Names.h"
#include "dlc/runtime/Base/Tensor.h"

#include <algorithm>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <optional>
#include <string_view>
#include <vector>

using namespace dlc;
using namespace dlc::rt;

namespace {

template <typename T> using Vector = flatbuffers::Vector<T>;
template <typename T> using Tables = Vector<flatbuffers::Offset<T>>;

/// No operation has a tenth of this; attributes are looked up one by one.
constexpr size_t maxAttributes = 256;

/// An absent vector is an empty one.
template <typename T> size_t countOf(const Vector<T> *vector) {
  return vector ? vector->size() : 0;
}

__attribute__((format(printf, 1, 2))) Status invalid(const char *format, ...) {
  char message[512]; // Longer names are cut.
  va_list args;
  va_start(args, format);
  std::vsnprintf(message, sizeof(message), format, args);
  va_end(args);
  return Status(StatusCode::DataLoss, message);
}

/// FlatBuffers checks where a vector's length is, not its wider elements.
template <typename T> bool isMisaligned(const Vector<T> *vector) {
  return vector && !isAligned(vector->Data(), sizeof(T));
}

/// Bytes of an element; 0 for a number that is no type, which must not even
/// become a DataType.
size_t elementBytes(const abi::Value &value) {
  return value.type() <= DLC_F64 ? sizeOf(static_cast<DataType>(value.type()))
                                 : 0;
}

/// Bytes of the dense tensor; nullopt when a dimension is unknown or the size
/// overflows. The caller has checked the dimensions and the type.
std::optional<uint64_t> denseBytes(const abi::Value &value) {
  if (value.unranked())
    return std::nullopt;
  int64_t bytes = elementBytes(value);
  for (size_t i = 0, rank = countOf(value.shape()); i != rank; ++i) {
    int64_t dim = value.shape()->Get(i);
    if (dim < 0 || __builtin_mul_overflow(bytes, dim, &bytes))
      return std::nullopt;
  }
  return bytes;
}

bool isStatic(const abi::Value &value) { return denseBytes(value).has_value(); }

/// True for a constant in the packed form of a library entry.
bool isPacked(const abi::Value &value) {
  return isStatic(value) && value.bytes() != *denseBytes(value);
}

class Validator {
public:
  Validator(const abi::Program &program, const DlcArtifactHeader &header)
      : program(program), whole(program), header(header),
        budget(header.plan_size) {}
  /// One of the programs by rows or by shape.
  Validator(const abi::Program &part, const abi::Program &whole,
            const DlcArtifactHeader &header, uint64_t budget)
      : program(part), whole(whole), header(header), budget(budget) {}

  Status run();

private:
  Status runPart();
  Status checkPart(const abi::Program &part);
  Status checkLaunches();
  Status checkPlan();
  Status checkParts(const char *what, const Tables<abi::Program> *parts) const;
  Status checkByRows();
  Status checkRows(size_t index, std::vector<int64_t> &each);
  Status checkByShape();
  Status spend(uint64_t bytes);
  Status checkDevices();
  Status checkValue(size_t index);
  Status checkShape(size_t index, const abi::Value &value);
  Status checkPlace(size_t index, const abi::Value &value);
  Status checkView(size_t index, const abi::Value &value,
                   const Tables<abi::Binding> *bindings, const char *what);
  Status checkEntry(size_t index, const abi::Kernel &kernel);
  Status checkKernel(size_t index);
  Status checkAttribute(size_t kernel, const abi::Attribute &attribute);
  Status checkLaunch(size_t index);
  Status checkArguments(size_t index, const abi::Launch &launch);
  Status checkOperand(size_t index, const abi::Launch &launch, size_t operand);
  Status checkCopy(size_t index, const abi::Launch &launch);
  Status checkAnyShape(size_t index, const abi::Launch &launch);
  Status checkBindings(const Tables<abi::Binding> *bindings,
                       abi::Storage storage, const char *what);
  Status checkNames(const Tables<abi::Binding> *bindings, const char *what);
  Status checkRoles();
  Status checkUpdates();
  Status checkObject(size_t index);
  Status checkOrder();
  Status checkRead(size_t launch, uint32_t value);
  Status checkWrite(size_t launch, uint32_t value);

  const abi::Value &valueAt(size_t index) const {
    return *program.values()->Get(index);
  }

  const abi::Program &program;
  const abi::Program &whole; ///< Has the kernels and objects.
  const DlcArtifactHeader &header;
  /// Bytes of vectors that may still be visited. Honest plans store each
  /// vector once; references shared a million times would only cost time.
  uint64_t budget;
  std::vector<bool> poolWritten;
  std::vector<bool> outputWritten;
  /// Of each input: the output that updates it, or -1.
  std::vector<int64_t> updatedBy;
};

} // namespace

Status Validator::spend(uint64_t bytes) {
  if (bytes > budget)
    return invalid("the plan refers to the same vectors too often");
  budget -= bytes;
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Devices and values
//===----------------------------------------------------------------------===//

Status Validator::checkDevices() {
  size_t count = countOf(program.devices());
  if (count == 0)
    return invalid("expected at least one device, got none");
  for (size_t i = 0; i != count; ++i) {
    const abi::Device &device = *program.devices()->Get(i);
    if (device.kind() > abi::DeviceKind::MAX)
      return invalid("device %zu: unknown kind %d", i, int(device.kind()));
    if (device.index() < 0)
      return invalid("device %zu: expected an index, got %d", i,
                     device.index());
    if (device.lower_bound() > device.arena_bytes())
      return invalid("device %zu: the lower bound %" PRIu64
                     " exceeds the arena of %" PRIu64 " bytes",
                     i, device.lower_bound(), device.arena_bytes());
  }
  return Status::ok();
}

Status Validator::checkShape(size_t index, const abi::Value &value) {
  size_t rank = countOf(value.shape());
  DLC_RETURN_IF_ERROR(spend(rank * sizeof(int64_t)));
  if (isMisaligned(value.shape()))
    return invalid("value %zu: the shape is misaligned", index);
  if (!elementBytes(value))
    return invalid("value %zu: unknown element type %d", index, value.type());
  if (rank > DLC_MAX_RANK)
    return invalid("value %zu: expected at most %d dimensions, got %zu", index,
                   DLC_MAX_RANK, rank);
  if (value.unranked() && rank)
    return invalid("value %zu: unranked, but has %zu dimensions", index, rank);
  bool isDynamic = value.unranked();
  for (size_t i = 0; i != rank; ++i) {
    int64_t dim = value.shape()->Get(i);
    if (dim < kUnknownDim)
      return invalid("value %zu: dimension %zu is %" PRId64, index, i, dim);
    isDynamic |= dim == kUnknownDim;
  }
  std::optional<uint64_t> dense = denseBytes(value);
  if (!isDynamic && !dense)
    return invalid("value %zu: its size overflows", index);
  bool mayBePacked = value.storage() == abi::Storage::Constant && dense;
  if (value.bytes() != dense.value_or(0) && !mayBePacked)
    return invalid("value %zu: expected %" PRIu64 " bytes, got %" PRIu64, index,
                   dense.value_or(0), value.bytes());
  bool mayBeDynamic = value.storage() != abi::Storage::Constant &&
                      value.storage() != abi::Storage::Arena;
  if (isDynamic && !mayBeDynamic)
    return invalid("value %zu: expected a static shape", index);
  return Status::ok();
}

/// A value of storage Input or Output is what the caller binds, or a view.
Status Validator::checkView(size_t index, const abi::Value &value,
                            const Tables<abi::Binding> *bindings,
                            const char *what) {
  if (value.index() >= countOf(bindings))
    return invalid("value %zu: %s %" PRIu32 " does not exist", index, what,
                   value.index());
  uint32_t whole = bindings->Get(value.index())->value();
  if (whole == index) {
    if (value.offset())
      return invalid("value %zu: expected offset 0, got %" PRIu64, index,
                     value.offset());
    return Status::ok();
  }
  if (whole >= countOf(program.values()))
    return invalid("%s %" PRIu32 ": value %" PRIu32 " does not exist", what,
                   value.index(), whole);
  const abi::Value &base = valueAt(whole);
  size_t element = elementBytes(value);
  // The caller's memory is aligned for its own element type only.
  if (element > elementBytes(base) || value.offset() % element)
    return invalid("value %zu: a misaligned view of %s %" PRIu32, index, what,
                   value.index());
  if (!isStatic(value) || value.offset() > base.bytes() ||
      value.bytes() > base.bytes() - value.offset())
    return invalid("value %zu: a view that leaves %s %" PRIu32, index, what,
                   value.index());
  return Status::ok();
}

Status Validator::checkPlace(size_t index, const abi::Value &value) {
  if (value.device() >= countOf(program.devices()))
    return invalid("value %zu: device %" PRIu32 " does not exist", index,
                   value.device());
  uint64_t room = 0, alignment = 1;
  switch (value.storage()) {
  case abi::Storage::Input:
    return checkView(index, value, program.inputs(), "input");
  case abi::Storage::Output:
    return checkView(index, value, program.outputs(), "output");
  case abi::Storage::Pool:
    break;
  case abi::Storage::Constant:
    room = header.constants_size;
    alignment = DLC_ALIGNMENT;
    break;
  case abi::Storage::Arena:
    room = program.devices()->Get(value.device())->arena_bytes();
    alignment = elementBytes(value);
    break;
  }
  if (value.storage() == abi::Storage::Pool)
    return value.offset()
               ? invalid("value %zu: expected offset 0 in the pool", index)
               : Status::ok();
  if (value.offset() % alignment)
    return invalid("value %zu: offset %" PRIu64
                   " is not a multiple of %" PRIu64,
                   index, value.offset(), alignment);
  if (value.offset() > room || value.bytes() > room - value.offset())
    return invalid("value %zu: %" PRIu64 " bytes at %" PRIu64
                   " leave the %s of %" PRIu64 " bytes",
                   index, value.bytes(), value.offset(),
                   abi::EnumNameStorage(value.storage()), room);
  return Status::ok();
}

Status Validator::checkValue(size_t index) {
  const abi::Value &value = valueAt(index);
  if (value.storage() > abi::Storage::MAX)
    return invalid("value %zu: unknown storage %d", index,
                   int(value.storage()));
  DLC_RETURN_IF_ERROR(checkShape(index, value));
  return checkPlace(index, value);
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

Status Validator::checkAttribute(size_t kernel,
                                 const abi::Attribute &attribute) {
  if (attribute.kind() > abi::AttributeKind::MAX)
    return invalid("kernel %zu: attribute of unknown kind %d", kernel,
                   int(attribute.kind()));
  if (isMisaligned(attribute.ints()) || isMisaligned(attribute.floats()))
    return invalid("kernel %zu: an attribute is misaligned", kernel);
  size_t characters = attribute.name()->size();
  if (attribute.s())
    characters += attribute.s()->size();
  return spend(characters +
               8 * (countOf(attribute.ints()) + countOf(attribute.floats())));
}

Status Validator::checkEntry(size_t index, const abi::Kernel &kernel) {
  if (!kernel.entry()) {
    if (countOf(kernel.entry_operands()) || countOf(kernel.entry_attributes()))
      return invalid("kernel %zu: has operands or attributes of no entry",
                     index);
    return Status::ok();
  }
  auto isOfName = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.';
  };
  constexpr size_t longest = 64;
  const std::string_view name = kernel.entry()->string_view();
  if (name.size() > longest || !std::all_of(name.begin(), name.end(), isOfName))
    return invalid("kernel %zu: expected the name of an entry", index);
  DLC_RETURN_IF_ERROR(spend(kernel.entry()->size()));
  DLC_RETURN_IF_ERROR(
      spend(countOf(kernel.entry_operands()) * sizeof(int32_t)));
  if (kernel.kind() != abi::KernelKind::Generated)
    return invalid("kernel %zu: has an entry, but is not generated", index);
  if (isMisaligned(kernel.entry_operands()))
    return invalid("kernel %zu: the operands of its entry are misaligned",
                   index);
  if (countOf(kernel.entry_attributes()) > maxAttributes ||
      countOf(kernel.entry_operands()) > maxAttributes)
    return invalid("kernel %zu: expected at most %zu attributes and operands "
                   "of its entry, got %zu and %zu",
                   index, maxAttributes, countOf(kernel.entry_attributes()),
                   countOf(kernel.entry_operands()));
  for (size_t i = 0; i != countOf(kernel.entry_attributes()); ++i)
    DLC_RETURN_IF_ERROR(
        checkAttribute(index, *kernel.entry_attributes()->Get(i)));
  return Status::ok();
}

Status Validator::checkKernel(size_t index) {
  const abi::Kernel &kernel = *whole.kernels()->Get(index);
  DLC_RETURN_IF_ERROR(spend(kernel.name()->size()));
  if (kernel.kind() > abi::KernelKind::MAX)
    return invalid("kernel %zu: unknown kind %d", index, int(kernel.kind()));
  if (kernel.name()->size() == 0)
    return invalid("kernel %zu: expected a name", index);
  if (kernel.tiles() < 0)
    return invalid("kernel %zu: expected a grid size, got %" PRId64, index,
                   kernel.tiles());
  const bool isAnyShape = kernel.kind() == abi::KernelKind::AnyShape;
  if ((kernel.kind() == abi::KernelKind::Generated || isAnyShape) &&
      countOf(whole.objects()) == 0)
    return invalid("kernel %zu: generated, but there is no object", index);
  if (isAnyShape && header.version < 6)
    return invalid("kernel %zu: expected version 6 of a plan with kernels of "
                   "any shape, got %" PRIu32,
                   index, header.version);
  if (isAnyShape &&
      (kernel.tiles() < 1 || kernel.tiles() > DLC_KERNEL_ANY_SHAPE_TILE))
    return invalid(
        "kernel %zu: expected tiles of 1 to %d elements, got %" PRId64, index,
        DLC_KERNEL_ANY_SHAPE_TILE, kernel.tiles());
  if (countOf(kernel.attributes()) > maxAttributes)
    return invalid("kernel %zu: expected at most %zu attributes, got %zu",
                   index, maxAttributes, countOf(kernel.attributes()));
  for (size_t i = 0; i != countOf(kernel.attributes()); ++i)
    DLC_RETURN_IF_ERROR(checkAttribute(index, *kernel.attributes()->Get(i)));
  return checkEntry(index, kernel);
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

Status Validator::checkOperand(size_t index, const abi::Launch &launch,
                               size_t operand) {
  int32_t argument = launch.arguments()->Get(operand);
  bool isRead = operand < launch.inputs();
  if (argument == -1 && isRead)
    return Status::ok();
  if (argument < 0 || size_t(argument) >= countOf(program.values()))
    return invalid("launch %zu: value %" PRId32 " does not exist", index,
                   argument);
  const abi::Value &value = valueAt(argument);
  abi::KernelKind kind = whole.kernels()->Get(launch.kernel())->kind();
  if (!isRead && (value.storage() == abi::Storage::Input ||
                  value.storage() == abi::Storage::Constant))
    return invalid("launch %zu: writes to value %" PRId32 " of storage %s",
                   index, argument, abi::EnumNameStorage(value.storage()));
  bool isOnDevice = value.storage() == abi::Storage::Arena ||
                    value.storage() == abi::Storage::Pool;
  if (isOnDevice && kind != abi::KernelKind::Copy &&
      value.device() != launch.device())
    return invalid("launch %zu: expected value %" PRId32 " on device %" PRIu32
                   ", got device %" PRIu32,
                   index, argument, launch.device(), value.device());
  bool needsStatic =
      kind == abi::KernelKind::Generated || kind == abi::KernelKind::Library;
  if (needsStatic && !isStatic(value))
    return invalid("launch %zu: expected a static shape for value %" PRId32,
                   index, argument);
  if (isPacked(value) && kind != abi::KernelKind::Library)
    return invalid("launch %zu: the packed value %" PRId32
                   " is for library kernels only",
                   index, argument);
  return Status::ok();
}

Status Validator::checkCopy(size_t index, const abi::Launch &launch) {
  if (launch.inputs() != 1 || countOf(launch.arguments()) != 2 ||
      launch.arguments()->Get(0) < 0)
    return invalid("launch %zu: a copy has one input and one output", index);
  const abi::Value &source = valueAt(launch.arguments()->Get(0));
  const abi::Value &target = valueAt(launch.arguments()->Get(1));
  if (source.type() != target.type())
    return invalid("launch %zu: a copy between element types %d and %d", index,
                   source.type(), target.type());
  if (isStatic(source) && isStatic(target) && source.bytes() != target.bytes())
    return invalid("launch %zu: a copy of %" PRIu64 " bytes to %" PRIu64, index,
                   source.bytes(), target.bytes());
  return Status::ok();
}

/// One result of operands that are all there.
Status Validator::checkAnyShape(size_t index, const abi::Launch &launch) {
  const size_t count = countOf(launch.arguments());
  if (launch.inputs() < 1 || launch.inputs() > DLC_KERNEL_ANY_SHAPE_INPUTS ||
      launch.inputs() + 1 != count)
    return invalid("launch %zu: expected 1 to %d inputs and one output of a "
                   "kernel of any shape, got %" PRIu32 " of %zu arguments",
                   index, DLC_KERNEL_ANY_SHAPE_INPUTS, launch.inputs(), count);
  if (program.devices()->Get(launch.device())->kind() != abi::DeviceKind::CPU)
    return invalid("launch %zu: a kernel of any shape is not on the host",
                   index);
  for (size_t i = 0; i != count; ++i) {
    const int32_t argument = launch.arguments()->Get(i);
    if (argument < 0)
      return invalid("launch %zu: expected all inputs of a kernel of any shape",
                     index);
    if (!sizeOf(static_cast<DataType>(valueAt(argument).type())))
      return invalid("launch %zu: expected elements of whole bytes", index);
  }
  return Status::ok();
}

Status Validator::checkArguments(size_t index, const abi::Launch &launch) {
  size_t count = countOf(launch.arguments());
  DLC_RETURN_IF_ERROR(spend(count * sizeof(int32_t)));
  if (launch.inputs() >= count)
    return invalid("launch %zu: expected outputs after %" PRIu32
                   " inputs, got %zu arguments",
                   index, launch.inputs(), count);
  for (size_t i = 0; i != count; ++i)
    DLC_RETURN_IF_ERROR(checkOperand(index, launch, i));
  std::vector<int32_t> written(launch.arguments()->begin() + launch.inputs(),
                               launch.arguments()->end());
  std::sort(written.begin(), written.end());
  if (std::adjacent_find(written.begin(), written.end()) != written.end())
    return invalid("launch %zu: writes a value twice", index);
  return Status::ok();
}

Status Validator::checkLaunch(size_t index) {
  const abi::Launch &launch = *program.launches()->Get(index);
  if (launch.label())
    DLC_RETURN_IF_ERROR(spend(launch.label()->size()));
  if (launch.kernel() >= countOf(whole.kernels()))
    return invalid("launch %zu: kernel %" PRIu32 " does not exist", index,
                   launch.kernel());
  if (launch.device() >= countOf(program.devices()))
    return invalid("launch %zu: device %" PRIu32 " does not exist", index,
                   launch.device());
  DLC_RETURN_IF_ERROR(checkArguments(index, launch));
  const abi::Kernel &kernel = *whole.kernels()->Get(launch.kernel());
  for (size_t i = 0; i != countOf(kernel.entry_operands()); ++i)
    if (int32_t operand = kernel.entry_operands()->Get(i);
        operand < -1 || operand >= int64_t(launch.inputs()))
      return invalid("launch %zu: expected operands of an entry among %" PRIu32
                     " inputs, got %" PRId32,
                     index, launch.inputs(), operand);
  if (kernel.kind() == abi::KernelKind::Copy)
    return checkCopy(index, launch);
  if (kernel.kind() == abi::KernelKind::AnyShape)
    return checkAnyShape(index, launch);
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Order: what is read has been written
//===----------------------------------------------------------------------===//

Status Validator::checkRead(size_t launch, uint32_t index) {
  const abi::Value &value = valueAt(index);
  bool isUnwritten =
      (value.storage() == abi::Storage::Pool && !poolWritten[index]) ||
      (value.storage() == abi::Storage::Output &&
       !outputWritten[value.index()]);
  if (value.storage() == abi::Storage::Input && updatedBy[value.index()] >= 0 &&
      outputWritten[updatedBy[value.index()]])
    return invalid("launch %zu: reads input %" PRIu32 " after it is updated",
                   launch, value.index());
  if (isUnwritten)
    return invalid("launch %zu: reads value %" PRIu32 " before it is written",
                   launch, index);
  return Status::ok();
}

Status Validator::checkWrite(size_t launch, uint32_t index) {
  const abi::Value &value = valueAt(index);
  if (value.storage() == abi::Storage::Arena)
    return Status::ok();
  bool isPool = value.storage() == abi::Storage::Pool;
  bool wasWritten = isPool ? poolWritten[index] : outputWritten[value.index()];
  // Memory of a dynamic value is taken when it is written: once.
  if (wasWritten && (isPool || !isStatic(value)))
    return invalid("launch %zu: writes value %" PRIu32 " a second time", launch,
                   index);
  if (isPool)
    poolWritten[index] = true;
  else
    outputWritten[value.index()] = true;
  return Status::ok();
}

Status Validator::checkOrder() {
  poolWritten.assign(countOf(program.values()), false);
  outputWritten.assign(countOf(program.outputs()), false);
  for (size_t i = 0; i != countOf(program.launches()); ++i) {
    const abi::Launch &launch = *program.launches()->Get(i);
    for (size_t k = 0; k != launch.arguments()->size(); ++k) {
      int32_t argument = launch.arguments()->Get(k);
      if (argument < 0)
        continue;
      DLC_RETURN_IF_ERROR(k < launch.inputs() ? checkRead(i, argument)
                                              : checkWrite(i, argument));
    }
  }
  for (size_t i = 0; i != outputWritten.size(); ++i)
    if (!outputWritten[i])
      return invalid("output %zu is never written", i);
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Bindings and objects
//===----------------------------------------------------------------------===//

Status Validator::checkNames(const Tables<abi::Binding> *bindings,
                             const char *what) {
  std::vector<std::string_view> names;
  for (size_t i = 0; i != countOf(bindings); ++i) {
    const flatbuffers::String &name = *bindings->Get(i)->name();
    DLC_RETURN_IF_ERROR(spend(name.size()));
    names.push_back({name.data(), name.size()});
  }
  return checkDistinct(std::move(names), what + std::string("s"),
                       StatusCode::DataLoss);
}

Status Validator::checkBindings(const Tables<abi::Binding> *bindings,
                                abi::Storage storage, const char *what) {
  for (size_t i = 0; i != countOf(bindings); ++i) {
    if (countOf(bindings->Get(i)->padded()) && !countOf(program.by_shape()))
      return invalid("%s %zu: expected what is padded in a program for several "
                     "shapes",
                     what, i);
    uint32_t index = bindings->Get(i)->value();
    if (index >= countOf(program.values()))
      return invalid("%s %zu: value %" PRIu32 " does not exist", what, i,
                     index);
    const abi::Value &value = valueAt(index);
    if (value.storage() != storage || value.index() != i)
      return invalid("%s %zu: expected a value of storage %s %zu, got %s "
                     "%" PRIu32,
                     what, i, abi::EnumNameStorage(storage), i,
                     abi::EnumNameStorage(value.storage()), value.index());
  }
  return checkNames(bindings, what);
}

/// What says that it is the state of random numbers can be one.
Status Validator::checkRoles() {
  for (size_t i = 0; i != countOf(program.inputs()); ++i) {
    const abi::Binding &input = *program.inputs()->Get(i);
    const abi::Value &value = valueAt(input.value());
    bool isState = value.type() == DLC_I64 && !value.unranked() &&
                   countOf(value.shape()) == 1 && value.shape()->Get(0) == 2;
    if (input.role() == abi::BindingRole::RandomState && !isState)
      return invalid("input %zu: expected a state of random numbers of 2xi64",
                     i);
  }
  return Status::ok();
}

/// An update has the memory of its input, which no other has.
Status Validator::checkUpdates() {
  updatedBy.assign(countOf(program.inputs()), -1);
  for (size_t i = 0; i != countOf(program.outputs()); ++i) {
    const abi::Binding &output = *program.outputs()->Get(i);
    if (output.updates() == -1)
      continue;
    if (output.updates() < 0 || size_t(output.updates()) >= updatedBy.size())
      return invalid("output %zu: updates input %" PRId32
                     ", which does not exist",
                     i, output.updates());
    const abi::Binding &input = *program.inputs()->Get(output.updates());
    const abi::Value &from = valueAt(input.value());
    const abi::Value &to = valueAt(output.value());
    bool isSame = from.type() == to.type() && isStatic(from) && isStatic(to) &&
                  countOf(from.shape()) == countOf(to.shape());
    for (size_t k = 0; isSame && k != countOf(from.shape()); ++k)
      isSame = from.shape()->Get(k) == to.shape()->Get(k);
    if (!isSame)
      return invalid("output %zu: expected the static type of input %" PRId32
                     ", which it updates",
                     i, output.updates());
    if (updatedBy[output.updates()] >= 0)
      return invalid("output %zu: updates input %" PRId32 " a second time", i,
                     output.updates());
    updatedBy[output.updates()] = int64_t(i);
  }
  return Status::ok();
}

Status Validator::checkObject(size_t index) {
  const abi::ObjectVariant &object = *whole.objects()->Get(index);
  for (size_t i = 0; i != countOf(object.features()); ++i)
    DLC_RETURN_IF_ERROR(spend(object.features()->Get(i)->size() + 4));
  DLC_RETURN_IF_ERROR(spend(countOf(object.grids()) * sizeof(abi::KernelGrid)));
  if (object.grids() &&
      !isAligned(object.grids()->Data(), alignof(abi::KernelGrid)))
    return invalid("object %zu: its grids are misaligned", index);
  for (size_t i = 0; i != countOf(object.grids()); ++i)
    if (uint32_t kernel = object.grids()->Get(i)->kernel();
        kernel >= countOf(whole.kernels()))
      return invalid("object %zu: kernel %" PRIu32 " does not exist", index,
                     kernel);
  if (object.offset() % DLC_ARTIFACT_PAGE)
    return invalid("object %zu: expected a multiple of %d, got offset "
                   "%" PRIu64,
                   index, DLC_ARTIFACT_PAGE, object.offset());
  if (object.offset() > header.file_size ||
      object.size() > header.file_size - object.offset())
    return invalid("object %zu: %" PRIu64 " bytes at %" PRIu64
                   " leave the file of %" PRIu64 " bytes",
                   index, object.size(), object.offset(), header.file_size);
  return Status::ok();
}

Status Validator::checkPlan() {
  DLC_RETURN_IF_ERROR(checkDevices());
  for (size_t i = 0; i != countOf(program.values()); ++i)
    DLC_RETURN_IF_ERROR(checkValue(i));
  DLC_RETURN_IF_ERROR(
      checkBindings(program.inputs(), abi::Storage::Input, "input"));
  DLC_RETURN_IF_ERROR(
      checkBindings(program.outputs(), abi::Storage::Output, "output"));
  DLC_RETURN_IF_ERROR(checkRoles());
  return checkUpdates();
}

//===----------------------------------------------------------------------===//
// Programs that others run
//===----------------------------------------------------------------------===//

/// `own` may have `more` behind those of `ports`.
static Status checkNamesOf(const Tables<abi::Binding> *ports,
                           const Tables<abi::Binding> *own, const char *what,
                           size_t more = 0) {
  if (countOf(ports) + more != countOf(own))
    return invalid("expected %zu %ss, got %zu", countOf(ports) + more, what,
                   countOf(own));
  for (size_t i = 0; i != countOf(ports); ++i)
    if (ports->Get(i)->name()->string_view() !=
        own->Get(i)->name()->string_view())
      return invalid("%s %zu: expected the name '%.64s', got '%.64s'", what, i,
                     ports->Get(i)->name()->c_str(),
                     own->Get(i)->name()->c_str());
  return Status::ok();
}

/// What programs by rows or by shape have in common.
Status Validator::checkParts(const char *what,
                             const Tables<abi::Program> *parts) const {
  if (countOf(parts) > DLC_ARTIFACT_PARTS || countOf(program.launches()))
    return invalid("%s has at most %d programs, and launches nothing", what,
                   DLC_ARTIFACT_PARTS);
  for (size_t i = 0; i != updatedBy.size(); ++i)
    if (updatedBy[i] >= 0)
      return invalid("%s updates input %zu", what, i);
  return Status::ok();
}

Status Validator::checkPart(const abi::Program &part) {
  Validator own(part, whole, header, budget);
  DLC_RETURN_IF_ERROR(own.runPart());
  budget = own.budget;
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// A batch of any size
//===----------------------------------------------------------------------===//

/// The inputs and outputs of `whole` as a part of `rows` examples has them, in
/// `each` the rows of each that an example has; -1 where it is not known yet, 0
/// for what all share.
static Status checkPortRows(const abi::Program &whole, const abi::Program &part,
                            const Tables<abi::Binding> *ports,
                            const Tables<abi::Binding> *own, const char *what,
                            int64_t *each) {
  DLC_RETURN_IF_ERROR(checkNamesOf(ports, own, what));
  for (size_t i = 0; i != countOf(ports); ++i) {
    const abi::Value &open = *whole.values()->Get(ports->Get(i)->value());
    const abi::Value &value = *part.values()->Get(own->Get(i)->value());
    const size_t rank = countOf(open.shape());
    bool isSame = open.type() == value.type() && !open.unranked() &&
                  isStatic(value) && countOf(value.shape()) == rank;
    for (size_t k = 1; isSame && k < rank; ++k)
      isSame = open.shape()->Get(k) == value.shape()->Get(k);
    if (!isSame)
      return invalid("%s %zu: expected the type of the whole batch's", what, i);
    if (rank == 0)
      continue;
    const int64_t first = value.shape()->Get(0);
    if (open.shape()->Get(0) != kUnknownDim) {
      if (open.shape()->Get(0) != first)
        return invalid("%s %zu: expected the type of the whole batch's", what,
                       i);
      each[i] = 0;
      continue;
    }
    const auto rows = int64_t(part.rows());
    if (first % rows != 0 || (each[i] >= 0 && each[i] != first / rows))
      return invalid("%s %zu: expected a multiple of %" PRId64
                     " rows, got %" PRId64,
                     what, i, rows, first);
    each[i] = first / rows;
  }
  return Status::ok();
}

Status Validator::checkRows(size_t index, std::vector<int64_t> &each) {
  const abi::Program &part = *program.by_rows()->Get(index);
  const uint64_t before =
      index ? program.by_rows()->Get(index - 1)->rows() : uint64_t(1) << 32;
  if (part.rows() < 1 || part.rows() >= before)
    return invalid("expected fewer rows than %" PRIu64 ", got %" PRIu64, before,
                   part.rows());
  if (countOf(part.by_rows()))
    return invalid("has programs of its own");
  DLC_RETURN_IF_ERROR(checkPart(part));
  DLC_RETURN_IF_ERROR(checkPortRows(program, part, program.inputs(),
                                    part.inputs(), "input", each.data()));
  return checkPortRows(program, part, program.outputs(), part.outputs(),
                       "output", each.data() + countOf(program.inputs()));
}

Status Validator::checkByRows() {
  const size_t count = countOf(program.by_rows());
  std::vector<int64_t> each(
      countOf(program.inputs()) + countOf(program.outputs()), -1);
  DLC_RETURN_IF_ERROR(checkParts("a batch of any size", program.by_rows()));
  for (size_t i = 0; i != count; ++i) {
    Status status = checkRows(i, each);
    if (!status.isOk())
      return std::move(status).withContext("program " + std::to_string(i) +
                                           " of a batch");
  }
  if (program.by_rows()->Get(count - 1)->rows() != 1)
    return invalid("expected a program of one row at last");
  auto inputs = std::span(each).first(countOf(program.inputs()));
  if (std::none_of(inputs.begin(), inputs.end(),
                   [](int64_t rows) { return rows > 0; }))
    return invalid("no input tells the size of the batch");
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Programs for several shapes
//===----------------------------------------------------------------------===//

/// Whether what `part` has is what `open` leaves open.
static bool isOfShape(const abi::Value &open, const abi::Value &part) {
  if (open.type() != part.type() || open.unranked())
    return open.type() == part.type();
  if (part.unranked() || countOf(open.shape()) != countOf(part.shape()))
    return false;
  for (size_t k = 0; k != countOf(open.shape()); ++k)
    if (open.shape()->Get(k) != kUnknownDim &&
        open.shape()->Get(k) != part.shape()->Get(k))
      return false;
  return true;
}

static Status checkPortShapes(const abi::Program &whole,
                              const abi::Program &part,
                              const Tables<abi::Binding> *ports,
                              const Tables<abi::Binding> *own, const char *what,
                              size_t more = 0) {
  DLC_RETURN_IF_ERROR(checkNamesOf(ports, own, what, more));
  for (size_t i = 0; i != countOf(ports); ++i)
    if (!isOfShape(*whole.values()->Get(ports->Get(i)->value()),
                   *part.values()->Get(own->Get(i)->value())))
      return invalid("%s %zu: expected a type that is left open", what, i);
  return Status::ok();
}

/// Counts the extents that are padded: they are numbered without gaps, and
/// inputs have all of them.
static Status countPadded(const abi::Program &program, size_t &count) {
  // Each is a dimension of some input, so that vectors stay small.
  const size_t most = DLC_MAX_RANK * countOf(program.inputs());
  std::vector<bool> seen;
  auto check = [&](const Tables<abi::Binding> *ports, bool isInput) {
    for (size_t i = 0; i != countOf(ports); ++i) {
      const auto *padded = ports->Get(i)->padded();
      const abi::Value &value = *program.values()->Get(ports->Get(i)->value());
      bool isValid = !countOf(padded) ||
                     (!value.unranked() && !isPacked(DataType(value.type())) &&
                      countOf(padded) == countOf(value.shape()));
      for (size_t k = 0; isValid && k != countOf(padded); ++k) {
        const int32_t number = padded->Get(k);
        if (number == -1)
          continue;
        isValid = number >= 0 && size_t(number) < most &&
                  value.shape()->Get(k) == kUnknownDim;
        if (isValid && isInput && size_t(number) >= seen.size())
          seen.resize(number + 1);
        isValid = isValid && size_t(number) < seen.size();
        if (isValid && isInput)
          seen[number] = true;
      }
      if (!isValid)
        return invalid("%s %zu: expected numbers of extents that it leaves "
                       "open as what is padded",
                       isInput ? "input" : "output", i);
    }
    return Status::ok();
  };
  DLC_RETURN_IF_ERROR(check(program.inputs(), true));
  if (std::find(seen.begin(), seen.end(), false) != seen.end())
    return invalid("no input tells the size of a padded extent");
  DLC_RETURN_IF_ERROR(check(program.outputs(), false));
  count = seen.size();
  return Status::ok();
}

/// Whether `part` has one size of each padded extent, or takes any, and takes
/// how much of it there is.
static Status checkPadded(const abi::Program &whole, const abi::Program &part,
                          size_t count, uint32_t version) {
  std::vector<std::optional<int64_t>> sizes(count);
  auto check = [&](const Tables<abi::Binding> *ports,
                   const Tables<abi::Binding> *own) {
    for (size_t i = 0; i != countOf(ports); ++i) {
      const auto *padded = ports->Get(i)->padded();
      const abi::Value &value = *part.values()->Get(own->Get(i)->value());
      for (size_t k = 0; k != countOf(padded); ++k) {
        if (padded->Get(k) < 0)
          continue;
        std::optional<int64_t> &known = sizes[padded->Get(k)];
        const int64_t size = value.shape()->Get(k);
        if (known && *known != size)
          return invalid("expected one size of padded extent %" PRId32,
                         padded->Get(k));
        if (size == kUnknownDim && version < 5)
          return invalid("expected version 5 of a plan with a program for any "
                         "size of padded extent %" PRId32 ", got %" PRIu32,
                         padded->Get(k), version);
        known = size;
      }
    }
    return Status::ok();
  };
  DLC_RETURN_IF_ERROR(check(whole.inputs(), part.inputs()));
  DLC_RETURN_IF_ERROR(check(whole.outputs(), part.outputs()));
  for (size_t i = countOf(whole.inputs()); i != countOf(part.inputs()); ++i) {
    const abi::Value &size =
        *part.values()->Get(part.inputs()->Get(i)->value());
    if (size.type() != DLC_I64 || size.unranked() || countOf(size.shape()))
      return invalid("input %zu: expected the size of an extent, a number of "
                     "i64",
                     i);
  }
  return Status::ok();
}

Status Validator::checkByShape() {
  if (countOf(program.by_rows()))
    return invalid("expected programs by shape or by rows, got both");
  size_t padded = 0;
  DLC_RETURN_IF_ERROR(countPadded(program, padded));
  if (padded && header.version < 4)
    return invalid("expected version 4 of a plan with padded extents, got "
                   "%" PRIu32,
                   header.version);
  DLC_RETURN_IF_ERROR(
      checkParts("a program for several shapes", program.by_shape()));
  for (size_t i = 0; i != countOf(program.by_shape()); ++i) {
    const abi::Program &part = *program.by_shape()->Get(i);
    Status status = checkPart(part);
    if (status.isOk())
      status = checkPortShapes(program, part, program.inputs(), part.inputs(),
                               "input", padded);
    if (status.isOk())
      status = checkPortShapes(program, part, program.outputs(), part.outputs(),
                               "output");
    if (status.isOk())
      status = checkPadded(program, part, padded, header.version);
    if (!status.isOk())
      return std::move(status).withContext("program " + std::to_string(i) +
                                           " of several shapes");
  }
  return Status::ok();
}

/// What runs: launches, or other programs.
Status Validator::checkLaunches() {
  if (countOf(program.by_shape()))
    return checkByShape();
  if (countOf(program.by_rows()))
    return checkByRows();
  for (size_t i = 0; i != countOf(program.launches()); ++i)
    DLC_RETURN_IF_ERROR(checkLaunch(i));
  return checkOrder();
}

/// Of a program that another one runs: what the whole has is checked there.
Status Validator::runPart() {
  if (countOf(program.kernels()) || countOf(program.objects()) ||
      countOf(program.by_shape()))
    return invalid("has kernels, objects or programs of its own");
  DLC_RETURN_IF_ERROR(checkPlan());
  for (int64_t output : updatedBy)
    if (output >= 0)
      return invalid("output %" PRId64 " updates an input", output);
  return checkLaunches();
}

Status Validator::run() {
  if (program.version() != header.version)
    return invalid("expected a plan of version %" PRIu32 ", got %" PRIu32,
                   header.version, program.version());
  DLC_RETURN_IF_ERROR(checkPlan());
  for (size_t i = 0; i != countOf(program.objects()); ++i)
    DLC_RETURN_IF_ERROR(checkObject(i));
  for (size_t i = 0; i != countOf(program.kernels()); ++i)
    DLC_RETURN_IF_ERROR(checkKernel(i));
  return checkLaunches();
}

Status dlc::rt::validatePlan(const abi::Program &program,
                             const DlcArtifactHeader &header) {
  return Validator(program, header).run();
}
