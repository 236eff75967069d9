// SPDX-License-Identifier: Apache-2.0
//
// What arrays push by themselves: copies and fills, and what waits for them.

#include "Chunk.h"
#include "RunAndWait.h"
#include "dlc/runtime/Base/Memory.h"
#include "dlc/runtime/Base/System.h"
#include "dlc/runtime/Kernel/Reference/Evaluate.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <new>

using namespace dlc::rt;

//===----------------------------------------------------------------------===//
// Copies and fills
//===----------------------------------------------------------------------===//

/// Where and in which lane a copy runs: with the device that takes part.
static Context placeOf(Context from, Context to, OperationProperty &property) {
  auto isDevice = [](Context context) {
    return context.kind == DeviceKind::CUDA || context.kind == DeviceKind::Null;
  };
  property = isDevice(to)     ? OperationProperty::CopyToDevice
             : isDevice(from) ? OperationProperty::CopyFromDevice
                              : OperationProperty::Normal;
  return isDevice(from) && !isDevice(to) ? from : to;
}

/// Shares the texts; as through a third place where the two overlap.
static void copyTexts(std::span<const Text> from, std::span<Text> to) {
  if (std::less<const Text *>()(from.data(), to.data()))
    std::ranges::copy_backward(from, to.end());
  else
    std::ranges::copy(from, to.begin());
}

static Status runCopy(const ArrayPiece &source, const ArrayPiece &target) {
  Result<std::byte *> from = source.readable();
  if (!from.isOk())
    return std::move(from.status());
  Result<std::byte *> to = target.writable();
  if (!to.isOk())
    return std::move(to.status());
  if (source.type == DLC_TEXT)
    copyTexts(source.textsAt(*from), target.textsAt(*to));
  else if (source.bytes != 0)
    std::memmove(*to, *from, source.bytes);
  return Status::ok();
}

Status NDArray::copyTo(const NDArray &target, int priority) const {
  DLC_RETURN_IF_ERROR(checkPresent(*this));
  DLC_RETURN_IF_ERROR(checkWritable(target));
  if (target.elementType != elementType || target.dims != dims)
    return makeError(
        StatusCode::InvalidArgument, "expected a target of %s, got %s",
        toString(typeOf(*this)).c_str(), toString(typeOf(target)).c_str());
  DLC_RETURN_IF_ERROR(checkSameEngine(*this, target));
  DLC_RETURN_IF_ERROR(checkHost(context()));
  DLC_RETURN_IF_ERROR(checkHost(target.context()));
  PushOptions options;
  options.name = "copy";
  options.priority = priority;
  Context place = placeOf(context(), target.context(), options.property);
  std::vector<Variable> reads;
  if (!sharesMemoryWith(target))
    reads.push_back(variable());
  return home->engine().pushSync(
      [source = ArrayPiece(*this), target = ArrayPiece(target)] {
        return runCopy(source, target);
      },
      place, reads, {target.variable()}, options);
}

Result<NDArray> NDArray::copy(Context context) const {
  DLC_RETURN_IF_ERROR(checkPresent(*this));
  Result<NDArray> target = create(home, elementType, dims, context);
  if (target.isOk())
    DLC_RETURN_IF_ERROR(copyTo(*target));
  return target;
}

/// `value` as an element of `type`.
static Status castElement(double value, DataType type,
                          ref::OwnedTensor &element) {
  const ref::Operation *cast = ref::lookup("cast");
  Attributes attributes;
  attributes.set("to", static_cast<int64_t>(type));
  TensorView scalar{DLC_F64, {}, &value};
  std::vector<ref::OwnedTensor> results;
  DLC_RETURN_IF_ERROR(
      ref::evaluate(*cast, {&scalar, 1}, attributes, 1, results));
  element = std::move(results[0]);
  return Status::ok();
}

static Status runFill(const ArrayPiece &target, const std::byte *element) {
  Result<std::byte *> start = target.writable();
  if (!start.isOk() || target.bytes == 0)
    return std::move(start.status());
  // Doubles what is filled until all is.
  size_t filled = sizeOf(target.type);
  std::memcpy(*start, element, filled);
  while (filled != target.bytes) {
    size_t more = std::min(filled, target.bytes - filled);
    std::memcpy(*start + filled, *start, more);
    filled += more;
  }
  return Status::ok();
}

Status NDArray::fill(double value, int priority) const {
  DLC_RETURN_IF_ERROR(checkWritable(*this));
  DLC_RETURN_IF_ERROR(checkHost(context()));
  DLC_RETURN_IF_ERROR(checkComputable(*this));
  ref::OwnedTensor element;
  DLC_RETURN_IF_ERROR(castElement(value, elementType, element));
  PushOptions options;
  options.name = "fill";
  options.priority = priority;
  return home->engine().pushSync(
      [target = ArrayPiece(*this), element = std::move(element)] {
        return runFill(target, static_cast<std::byte *>(element.data()));
      },
      context(), {}, {variable()}, options);
}

//===----------------------------------------------------------------------===//
// Waiting
//===----------------------------------------------------------------------===//

Status NDArray::waitToRead() const {
  DLC_RETURN_IF_ERROR(checkPresent(*this));
  return home->engine().waitForVariable(variable(), VariableUse::Read);
}

Status NDArray::waitToWrite() const {
  DLC_RETURN_IF_ERROR(checkPresent(*this));
  return home->engine().waitForVariable(variable(), VariableUse::Write);
}

Result<uint64_t> NDArray::version() const {
  DLC_RETURN_IF_ERROR(checkPresent(*this));
  return home->engine().version(variable());
}

static Status checkSize(size_t expected, size_t found) {
  if (expected == found)
    return Status::ok();
  return makeError(StatusCode::InvalidArgument,
                   "expected host memory of %zu bytes, got %zu", expected,
                   found);
}

Status NDArray::copyFromHost(std::span<const std::byte> source) const {
  DLC_RETURN_IF_ERROR(checkWritable(*this));
  DLC_RETURN_IF_ERROR(checkHost(context()));
  DLC_RETURN_IF_ERROR(checkPlain(*this));
  DLC_RETURN_IF_ERROR(checkSize(bytes(), source.size()));
  auto run = [source, piece = ArrayPiece(*this)] {
    Result<std::byte *> start = piece.writable();
    if (start.isOk() && piece.bytes != 0)
      std::memcpy(*start, source.data(), piece.bytes);
    return std::move(start.status());
  };
  return runAndWait(home->engine(), std::move(run), context(), {}, {variable()},
                    "copy from host");
}

Status NDArray::copyToHost(std::span<std::byte> target) const {
  DLC_RETURN_IF_ERROR(checkPresent(*this));
  DLC_RETURN_IF_ERROR(checkHost(context()));
  DLC_RETURN_IF_ERROR(checkPlain(*this));
  DLC_RETURN_IF_ERROR(checkSize(bytes(), target.size()));
  auto run = [target, piece = ArrayPiece(*this)] {
    Result<std::byte *> start = piece.readable();
    if (start.isOk() && piece.bytes != 0)
      std::memcpy(target.data(), *start, piece.bytes);
    return std::move(start.status());
  };
  return runAndWait(home->engine(), std::move(run), context(), {variable()}, {},
                    "copy to host");
}

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

/// `array` has that many texts.
static Status checkTexts(const NDArray &array, size_t count) {
  if (array.type() != DLC_TEXT)
    return makeError(StatusCode::InvalidArgument,
                     "expected an array of text, got one of %s",
                     toString(typeOf(array)).c_str());
  if (size_t(array.size()) == count)
    return Status::ok();
  return makeError(StatusCode::InvalidArgument,
                   "expected as many texts as the array has, got %zu for %s",
                   count, toString(typeOf(array)).c_str());
}

Status NDArray::copyFromTexts(std::span<const Text> source) const {
  DLC_RETURN_IF_ERROR(checkWritable(*this));
  DLC_RETURN_IF_ERROR(checkTexts(*this, source.size()));
  auto run = [source, piece = ArrayPiece(*this)] {
    Result<std::byte *> start = piece.writable();
    if (start.isOk())
      std::ranges::copy(source, piece.textsAt(*start).begin());
    return std::move(start.status());
  };
  return runAndWait(home->engine(), std::move(run), context(), {}, {variable()},
                    "copy from texts");
}

Status NDArray::copyFromTexts(std::span<const std::string_view> source) const {
  DLC_RETURN_IF_ERROR(checkWritable(*this));
  DLC_RETURN_IF_ERROR(checkTexts(*this, source.size()));
  std::unique_ptr<Text[]> texts(new (std::nothrow) Text[source.size()]);
  if (!texts)
    return makeError(StatusCode::OutOfMemory, "no memory for %zu texts",
                     source.size());
  for (size_t i = 0; i != source.size(); ++i) {
    Result<Text> text = Text::make(source[i]);
    if (!text.isOk())
      return std::move(text.status());
    texts[i] = std::move(*text);
  }
  return copyFromTexts(std::span<const Text>(texts.get(), source.size()));
}

Status NDArray::copyToTexts(std::span<Text> target) const {
  DLC_RETURN_IF_ERROR(checkPresent(*this));
  DLC_RETURN_IF_ERROR(checkTexts(*this, target.size()));
  auto run = [target, piece = ArrayPiece(*this)] {
    Result<std::byte *> start = piece.readable();
    if (start.isOk())
      std::ranges::copy(piece.textsAt(*start), target.begin());
    return std::move(start.status());
  };
  return runAndWait(home->engine(), std::move(run), context(), {variable()}, {},
                    "copy to texts");
}

Result<std::unique_ptr<Text[]>> NDArray::copyToTexts() const {
  DLC_RETURN_IF_ERROR(checkPresent(*this));
  DLC_RETURN_IF_ERROR(checkTexts(*this, size()));
  std::unique_ptr<Text[]> texts;
  auto run = [&texts, count = size_t(size()), piece = ArrayPiece(*this)] {
    Result<std::byte *> start = piece.readable();
    if (!start.isOk())
      return std::move(start.status());
    if (count <= memoryLimit() / sizeof(Text))
      texts.reset(new (std::nothrow) Text[count]);
    if (!texts)
      return makeError(StatusCode::OutOfMemory, "no memory for %zu texts",
                       count);
    std::ranges::copy(piece.textsAt(*start), texts.get());
    return Status::ok();
  };
  DLC_RETURN_IF_ERROR(runAndWait(home->engine(), std::move(run), context(),
                                 {variable()}, {}, "copy to texts"));
  return texts;
}

Result<void *> NDArray::hostAccess(VariableUse use) const {
  DLC_RETURN_IF_ERROR(checkPresent(*this));
  DLC_RETURN_IF_ERROR(checkHost(context()));
  DLC_RETURN_IF_ERROR(checkPlain(*this));
  if (use == VariableUse::Write)
    DLC_RETURN_IF_ERROR(checkWritable(*this));
  Engine &engine = home->engine();
  ArrayPiece piece(*this);
  if (engine.isHolding(variable(), use)) {
    // The operation that this is called in has it: a wait would be for itself.
    Result<std::byte *> start =
        use == VariableUse::Write ? piece.writable() : piece.readable();
    if (!start.isOk())
      return std::move(start.status());
    return static_cast<void *>(*start);
  }
  DLC_RETURN_IF_ERROR(engine.waitForVariable(variable(), use));
  if (use == VariableUse::Write && !piece.readable().isOk())
    DLC_RETURN_IF_ERROR(runAndWait(
        engine, [piece] { return std::move(piece.writable().status()); },
        context(), {}, {variable()}, "allocate"));
  Result<std::byte *> start = piece.readable();
  if (!start.isOk())
    return std::move(start.status());
  if (use == VariableUse::Write)
    chunk->noteHostWrite();
  return static_cast<void *>(*start);
}
