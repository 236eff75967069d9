// SPDX-License-Identifier: Apache-2.0

#include "dlc/dialects/Base/BaseDialect.h"
#include "dlc/dialects/Base/Devices.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace dlc;

#include "dlc/dialects/Base/BaseDialect.cpp.inc"
#include "dlc/dialects/Base/BaseEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dlc/dialects/Base/BaseAttributes.cpp.inc"

#include "dlc/dialects/Base/BaseInterfaces.cpp.inc"

void BaseDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dlc/dialects/Base/BaseAttributes.cpp.inc"
      >();
}

using EmitError = function_ref<InFlightDiagnostic()>;

LogicalResult DeviceAttr::verify(EmitError emitError, DeviceKind kind,
                                 int64_t index) {
  if (index < 0 || index > INT16_MAX)
    return emitError() << "expected a device number from 0 to " << INT16_MAX
                       << ", got " << index;
  return success();
}

LogicalResult TargetAttr::verify(EmitError emitError, StringAttr name,
                                 ArrayRef<StringAttr> features) {
  if (name.empty())
    return emitError() << "expected a target name, got an empty string";
  for (StringAttr feature : features)
    if (feature.empty() || feature.getValue().starts_with("+") ||
        feature.getValue().starts_with("-"))
      return emitError() << "expected a feature name without sign, got "
                         << feature;
  return success();
}

std::string dlc::toString(DeviceAttr device) {
  return (stringifyDeviceKind(device.getKind()) + ":" +
          llvm::Twine(device.getIndex()))
      .str();
}

DeviceAttr dlc::parseDevice(MLIRContext *context, StringRef text) {
  auto [kind, number] = text.split(':');
  std::optional<DeviceKind> known = symbolizeDeviceKind(kind);
  int64_t index = 0;
  if (!known || number.empty() || !llvm::all_of(number, llvm::isDigit) ||
      number.getAsInteger(10, index) || index > INT16_MAX)
    return {};
  return DeviceAttr::get(context, *known, index);
}

bool dlc::hasHostMemory(DeviceAttr device) {
  return device.getKind() == DeviceKind::CPU ||
         device.getKind() == DeviceKind::Null;
}

DeviceAttr dlc::getDefaultDevice(MLIRContext *context) {
  return DeviceAttr::get(context, DeviceKind::CPU, 0);
}

bool dlc::isTaken(Type type, Type expected) {
  auto tensor = dyn_cast<TensorType>(type);
  auto any = dyn_cast<UnrankedTensorType>(expected);
  return type == expected ||
         (any && tensor && tensor.getElementType() == any.getElementType());
}

/// Splits "nchw16c" into its dimensions "nchw" and the rest "16c".
static std::pair<StringRef, StringRef> splitOrder(StringRef order) {
  size_t letters = order.find_if([](char c) { return !llvm::isAlpha(c); });
  return {order.substr(0, letters),
          order.substr(std::min(letters, order.size()))};
}

LogicalResult LayoutAttr::verify(EmitError emitError, StringAttr order) {
  auto [dims, blocks] = splitOrder(order.getValue());
  if (dims.empty())
    return emitError() << "expected the letters of the dimensions, got "
                       << order;
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims.lower().find(llvm::toLower(dims[i]), i + 1) != std::string::npos)
      return emitError() << "expected each dimension once, got '" << dims[i]
                         << "' twice";
  while (!blocks.empty()) {
    unsigned size = 0;
    if (blocks.consumeInteger(10, size) || size < 2 || blocks.empty())
      return emitError() << "expected a block size of at least 2 and a "
                            "dimension, got "
                         << order;
    if (StringRef(dims.lower()).find(llvm::toLower(blocks.front())) ==
        StringRef::npos)
      return emitError() << "expected a block of one of '" << dims << "', got '"
                         << blocks.front() << "'";
    blocks = blocks.drop_front();
  }
  return success();
}
