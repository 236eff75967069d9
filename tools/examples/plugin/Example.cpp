// SPDX-License-Identifier: Apache-2.0
//
// A dialect as a plug-in: one operation, example.answer, defined in plain C++
// so that the plug-in is one file. A real one would use TableGen.

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"

using namespace mlir;

namespace {

/// Yields a rank-0 tensor.
class AnswerOp : public Op<AnswerOp, OpTrait::ZeroOperands, OpTrait::OneResult,
                           OpTrait::ZeroRegions, OpTrait::ZeroSuccessors> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(AnswerOp)
  using Op::Op;
  static StringRef getOperationName() { return "example.answer"; }
  static ArrayRef<StringRef> getAttributeNames() { return {}; }

  LogicalResult verify() {
    auto type =
        dyn_cast<RankedTensorType>(getOperation()->getResult(0).getType());
    if (!type || type.getRank() != 0)
      return emitOpError("expected a tensor of rank 0, got ")
             << getOperation()->getResult(0).getType();
    return success();
  }
};

class ExampleDialect : public Dialect {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExampleDialect)
  explicit ExampleDialect(MLIRContext *context)
      : Dialect(getDialectNamespace(), context, TypeID::get<ExampleDialect>()) {
    addOperations<AnswerOp>();
  }
  static StringRef getDialectNamespace() { return "example"; }
};

} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {
      MLIR_PLUGIN_API_VERSION, "Example", "0.1",
      [](DialectRegistry *registry) { registry->insert<ExampleDialect>(); }};
}
