// SPDX-License-Identifier: Apache-2.0
//
// The last step inside MLIR: what emitKernel() builds, to the LLVM dialect.

#include "LowerToLLVM.h"

#include "dlc/Codegen/CPU/Codegen.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;
using namespace dlc::codegen;

/// Functions that LLVM would turn into one call per lane anyway become calls
/// to libm; it has every one of them to within an ulp or so.
static FrozenRewritePatternSet callPatterns(MLIRContext *context) {
  RewritePatternSet patterns(context);
  populateMathToLibmConversionPatterns(patterns);
  return patterns;
}

static FrozenRewritePatternSet loopPatterns(MLIRContext *context) {
  RewritePatternSet patterns(context);
  populateSCFToControlFlowConversionPatterns(patterns);
  return patterns;
}

static FrozenRewritePatternSet
otherPatterns(const LLVMTypeConverter &converter) {
  RewritePatternSet patterns(&converter.getContext());
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  populateFuncToLLVMConversionPatterns(converter, patterns);
  populateMathToLLVMConversionPatterns(converter, patterns);
  populateVectorToLLVMConversionPatterns(converter, patterns);
  ub::populateUBToLLVMConversionPatterns(converter, patterns);
  return patterns;
}

LLVMLowering::LLVMLowering(MLIRContext *context)
    : context(context), converter(context), calls(callPatterns(context)),
      loops(loopPatterns(context)), rest(otherPatterns(converter)) {}

LogicalResult LLVMLowering::run(ModuleOp module) const {
  ConversionTarget callTarget(*context);
  callTarget.addLegalDialect<arith::ArithDialect, func::FuncDialect,
                             vector::VectorDialect, LLVM::LLVMDialect>();
  callTarget.addDynamicallyLegalDialect<math::MathDialect>([](Operation *op) {
    return isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::FloorOp,
               math::RoundEvenOp, math::TruncOp, math::SqrtOp, math::FmaOp,
               math::CopySignOp, math::CtPopOp, math::IsNaNOp, math::IsInfOp,
               math::CountLeadingZerosOp, math::CountTrailingZerosOp>(op);
  });
  ConversionTarget loopTarget(*context);
  loopTarget.addIllegalDialect<scf::SCFDialect>();
  loopTarget.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  LLVMConversionTarget target(*context);
  target.addLegalOp<ModuleOp>();
  return success(succeeded(applyPartialConversion(module, callTarget, calls)) &&
                 succeeded(applyPartialConversion(module, loopTarget, loops)) &&
                 succeeded(applyFullConversion(module, target, rest)));
}

void dlc::codegen::registerCodegenDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, cf::ControlFlowDialect,
                  func::FuncDialect, LLVM::LLVMDialect, math::MathDialect,
                  scf::SCFDialect, vector::VectorDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}
