// SPDX-License-Identifier: Apache-2.0

#include "dlc/dialects/Graph/Plain.h"
#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/runtime/Base/Memory.h"

#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/APFloat.h"

#include <atomic>

using namespace mlir;
using namespace dlc;
using namespace dlc::graph;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

rt::DataType graph::toDataType(Type type) {
  if (type.isF32())
    return DLC_F32;
  if (type.isF64())
    return DLC_F64;
  if (type.isF16())
    return DLC_F16;
  if (type.isBF16())
    return DLC_BF16;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || integer.isSigned())
    return DLC_INVALID_TYPE;
  bool isUnsigned = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 1:
    return isUnsigned ? DLC_INVALID_TYPE : DLC_BOOL;
  case 8:
    return isUnsigned ? DLC_U8 : DLC_I8;
  case 16:
    return isUnsigned ? DLC_U16 : DLC_I16;
  case 32:
    return isUnsigned ? DLC_U32 : DLC_I32;
  case 64:
    return isUnsigned ? DLC_U64 : DLC_I64;
  default:
    return DLC_INVALID_TYPE;
  }
}

Type graph::toElementType(MLIRContext *context, rt::DataType type) {
  switch (type) {
  case DLC_INVALID_TYPE:
    return nullptr;
  case DLC_F16:
    return Float16Type::get(context);
  case DLC_BF16:
    return BFloat16Type::get(context);
  case DLC_F32:
    return Float32Type::get(context);
  case DLC_F64:
    return Float64Type::get(context);
  case DLC_BOOL:
    return IntegerType::get(context, 1);
  default:
    break;
  }
  bool isUnsigned = rt::isUnsignedInteger(type);
  if (!isUnsigned && !rt::isSignedInteger(type))
    return nullptr;
  return IntegerType::get(context, static_cast<unsigned>(8 * rt::sizeOf(type)),
                          isUnsigned ? IntegerType::Unsigned
                                     : IntegerType::Signless);
}

rt::TensorType graph::toTensorType(Type type) {
  rt::TensorType plain;
  auto tensor = dyn_cast_or_null<TensorType>(type);
  if (!tensor)
    return plain;
  plain.type = toDataType(tensor.getElementType());
  plain.hasRank = tensor.hasRank();
  if (!plain.hasRank)
    return plain;
  for (int64_t dim : tensor.getShape())
    plain.shape.push_back(ShapedType::isDynamic(dim) ? rt::kUnknownDim : dim);
  return plain;
}

Type graph::fromTensorType(MLIRContext *context, const rt::TensorType &type) {
  Type element = toElementType(context, type.type);
  if (!element)
    return NoneType::get(context);
  if (!type.hasRank)
    return UnrankedTensorType::get(element);
  SmallVector<int64_t> shape;
  for (int64_t dim : type.shape)
    shape.push_back(dim < 0 ? ShapedType::kDynamic : dim);
  return RankedTensorType::get(shape, element);
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

template <typename T, typename Array>
static rt::AttributeValue toVector(Array array) {
  ArrayRef<typename std::decay_t<decltype(array.asArrayRef())>::value_type>
      values = array.asArrayRef();
  return std::vector<T>(values.begin(), values.end());
}

static std::optional<rt::AttributeValue> toAttributeValue(Attribute value) {
  if (auto boolean = dyn_cast<BoolAttr>(value))
    return int64_t(boolean.getValue());
  if (auto integer = dyn_cast<IntegerAttr>(value)) {
    if (integer.getValue().getSignificantBits() > 64)
      return std::nullopt;
    return integer.getValue().getSExtValue();
  }
  if (auto number = dyn_cast<FloatAttr>(value))
    return number.getValueAsDouble();
  if (auto text = dyn_cast<StringAttr>(value))
    return text.str();
  if (auto type = dyn_cast<TypeAttr>(value))
    return int64_t(toDataType(type.getValue()));
  if (auto array = dyn_cast<DenseI64ArrayAttr>(value))
    return toVector<int64_t>(array);
  if (auto array = dyn_cast<DenseF32ArrayAttr>(value))
    return toVector<double>(array);
  if (auto array = dyn_cast<DenseF64ArrayAttr>(value))
    return toVector<double>(array);
  return std::nullopt;
}

rt::Attributes graph::toAttributes(DictionaryAttr attributes) {
  rt::Attributes plain;
  for (NamedAttribute entry : attributes) {
    StringRef name = entry.getName().strref();
    if (name.contains('.'))
      continue;
    if (auto value = toAttributeValue(entry.getValue()))
      plain.set(std::string_view(name), std::move(*value));
  }
  return plain;
}

//===----------------------------------------------------------------------===//
// Values of constants
//===----------------------------------------------------------------------===//

static size_t byteSize(Type elementType, int64_t count) {
  return static_cast<size_t>(count) * rt::sizeOf(toDataType(elementType));
}

/// Writes `count` copies of `element`.
static void repeat(char *target, ArrayRef<char> element, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(target + i * element.size(), element.data(), element.size());
}

/// Memory of `size` bytes, or null.
static std::shared_ptr<char[]> allocate(size_t size) {
  rt::Result<rt::AlignedBuffer> buffer = rt::AlignedBuffer::allocate(size);
  if (!buffer.isOk())
    return nullptr;
  auto owner = std::make_shared<rt::AlignedBuffer>(std::move(*buffer));
  return {owner, reinterpret_cast<char *>(owner->data())};
}

RawElements RawElements::get(ElementsAttr elements, bool keepSplat) {
  RawElements raw;
  if (auto resource = dyn_cast_or_null<DenseResourceElementsAttr>(elements)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob)
      return raw;
    raw.bytes = blob->getData();
    raw.isValid = raw.bytes.size() == byteSize(resource.getElementType(),
                                               resource.getNumElements());
    return raw;
  }
  auto dense = dyn_cast_or_null<DenseElementsAttr>(elements);
  if (!dense || toDataType(dense.getElementType()) == DLC_INVALID_TYPE)
    return raw;
  raw.isValid = true;
  raw.splat = dense.isSplat() && keepSplat;
  int64_t count = raw.splat ? 1 : dense.getNumElements();
  bool isBool = dense.getElementType().isInteger(1);
  bool mustRepeat = dense.isSplat() && count != 1;
  if (!isBool && !mustRepeat) {
    raw.bytes =
        dense.getRawData().take_front(byteSize(dense.getElementType(), count));
    return raw;
  }
  size_t size = byteSize(dense.getElementType(), count);
  raw.owned = allocate(size);
  if (!raw.owned)
    return {};
  raw.bytes = ArrayRef<char>(raw.owned.get(), size);
  if (mustRepeat && !isBool) {
    repeat(raw.owned.get(), dense.getRawData(), count);
    return raw;
  }
  // MLIR has packed booleans in the past; its iterators always know how.
  if (dense.isSplat()) {
    std::memset(raw.owned.get(), dense.getSplatValue<bool>(), size);
    return raw;
  }
  char *target = raw.owned.get();
  for (bool value : dense.getValues<bool>())
    *target++ = value;
  return raw;
}

std::optional<SmallVector<int64_t>> graph::getInts(Attribute attribute,
                                                   size_t limit) {
  auto elements = dyn_cast_or_null<ElementsAttr>(attribute);
  if (!elements || elements.getNumElements() > static_cast<int64_t>(limit))
    return std::nullopt;
  auto type = dyn_cast<IntegerType>(elements.getElementType());
  RawElements raw = RawElements::get(elements);
  if (!type || !raw)
    return std::nullopt;
  SmallVector<int64_t> values;
  size_t size = byteSize(type, 1);
  for (size_t at = 0; at < raw.data().size(); at += size) {
    uint64_t bits = 0;
    std::memcpy(&bits, raw.data().data() + at, size);
    bool isSigned = !type.isUnsigned() && type.getWidth() > 1;
    values.push_back(isSigned ? llvm::SignExtend64(bits, 8 * size)
                              : static_cast<int64_t>(bits));
  }
  return values;
}

/// Whether no float has all bits of its exponent, which are those of `mask`.
template <typename Bits>
static bool areFiniteBits(ArrayRef<char> data, Bits mask) {
  bool isOther = false;
  for (size_t at = 0; at < data.size(); at += sizeof(Bits)) {
    Bits bits;
    std::memcpy(&bits, data.data() + at, sizeof(bits));
    isOther |= (bits & mask) == mask;
  }
  return !isOther;
}

bool graph::areFiniteFloats(ElementsAttr elements) {
  RawElements raw;
  if (elements)
    raw = RawElements::get(elements, /*keepSplat=*/true);
  if (!raw)
    return false;
  Type type = elements.getElementType();
  if (type.isF64())
    return areFiniteBits(raw.data(), uint64_t{0x7ff} << 52);
  if (type.isF32())
    return areFiniteBits(raw.data(), uint32_t{0x7f800000});
  if (type.isF16())
    return areFiniteBits(raw.data(), uint16_t{0x7c00});
  return type.isBF16() && areFiniteBits(raw.data(), uint16_t{0x7f80});
}

ElementsAttr graph::getConstantElements(Value value) {
  auto constant = value ? value.getDefiningOp<ConstantOp>() : nullptr;
  return constant ? constant.getValue() : nullptr;
}

std::optional<SmallVector<int64_t>> graph::getConstantInts(Value value) {
  return getInts(getConstantElements(value));
}

//===----------------------------------------------------------------------===//
// Making constants
//===----------------------------------------------------------------------===//

/// True when all elements have the same bytes. Usually ends at once.
static bool isUniform(ArrayRef<char> bytes, size_t elementSize) {
  return bytes.size() > elementSize &&
         std::memcmp(bytes.data(), bytes.data() + elementSize,
                     bytes.size() - elementSize) == 0;
}

static DenseElementsAttr makeDense(RankedTensorType type,
                                   ArrayRef<char> bytes) {
  if (!type.getElementType().isInteger(1))
    return DenseElementsAttr::getFromRawBuffer(type, bytes);
  SmallVector<bool> values(bytes.begin(), bytes.end());
  return DenseElementsAttr::get(type, ArrayRef<bool>(values));
}

/// The attribute for small or uniform data, else null.
static ElementsAttr tryMakeDense(RankedTensorType type, ArrayRef<char> bytes) {
  size_t size = byteSize(type.getElementType(), 1);
  if (isUniform(bytes, size))
    return makeDense(type, bytes.take_front(size));
  return bytes.size() <= kInlineBytes ? ElementsAttr(makeDense(type, bytes))
                                      : nullptr;
}

/// Of a resource that has none: those that are alike are numbered by trying one
/// number after the other, which takes long where functions are computed with
/// many times.
static std::string nameOfConstant() {
  static std::atomic<uint64_t> made = 0;
  return "constant_" + std::to_string(made++);
}

ElementsAttr graph::makeElements(RankedTensorType type, AsmResourceBlob blob,
                                 StringRef name) {
  if (ElementsAttr dense = tryMakeDense(type, blob.getData()))
    return dense;
  return DenseResourceElementsAttr::get(
      type, name.empty() ? nameOfConstant() : name.str(), std::move(blob));
}

ElementsAttr graph::makeElements(RankedTensorType type, ArrayRef<char> bytes) {
  if (ElementsAttr dense = tryMakeDense(type, bytes))
    return dense;
  return DenseResourceElementsAttr::get(
      type, nameOfConstant(),
      HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, DLC_ALIGNMENT));
}

ElementsAttr graph::makeBorrowedElements(RankedTensorType type,
                                         ArrayRef<char> bytes, StringRef name) {
  size_t alignment = rt::sizeOf(toDataType(type.getElementType()));
  return makeElements(
      type, UnmanagedAsmResourceBlob::allocateWithAlign(bytes, alignment),
      name);
}

DenseElementsAttr graph::makeInts(MLIRContext *context,
                                  ArrayRef<int64_t> values) {
  auto type = RankedTensorType::get({static_cast<int64_t>(values.size())},
                                    IntegerType::get(context, 64));
  return DenseElementsAttr::get(type, values);
}

DenseElementsAttr graph::makeInt(MLIRContext *context, int64_t value) {
  auto type = RankedTensorType::get({}, IntegerType::get(context, 64));
  return DenseElementsAttr::get(type, value);
}

DenseElementsAttr graph::makeSplat(RankedTensorType type, double value) {
  Type element = type.getElementType();
  if (auto floating = dyn_cast<FloatType>(element)) {
    llvm::APFloat number(value);
    bool losesInfo;
    number.convert(floating.getFloatSemantics(),
                   llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    return DenseElementsAttr::get(type, number);
  }
  auto integer = cast<IntegerType>(element);
  llvm::APInt bits(integer.getWidth(), static_cast<int64_t>(value),
                   /*isSigned=*/true, /*implicitTrunc=*/true);
  return DenseElementsAttr::get(type, bits);
}
