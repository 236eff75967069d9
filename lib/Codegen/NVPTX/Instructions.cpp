// SPDX-License-Identifier: Apache-2.0

#include "Instructions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace dlc::codegen;
using namespace dlc::codegen::gpu;

static Value buildWord(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantOp::create(
      builder, loc, builder.getI32IntegerAttr(static_cast<int32_t>(value)));
}

static void call(OpBuilder &builder, Location loc, StringRef name,
                 ValueRange operands) {
  LLVM::CallIntrinsicOp::create(builder, loc, builder.getStringAttr(name),
                                operands);
}

Value gpu::callIntrinsic(OpBuilder &builder, Location loc, StringRef name,
                         Type result, ValueRange operands) {
  return LLVM::CallIntrinsicOp::create(builder, loc, result,
                                       builder.getStringAttr(name), operands)
      .getResult(0);
}

/// PTX that changes `values`, f32, in their registers and reads `operands`: i64
/// and i1. Nothing of them or of memory moves across it.
static SmallVector<Value> assemble(OpBuilder &builder, Location loc,
                                   StringRef text, ValueRange values,
                                   ValueRange operands) {
  SmallVector<std::string> constraints(values.size(), "=f");
  for (size_t i = 0; i < values.size(); ++i)
    constraints.push_back(std::to_string(i));
  for (Value operand : operands)
    constraints.push_back(operand.getType().isInteger(1) ? "b" : "l");
  constraints.push_back("~{memory}");
  SmallVector<Type> types(values.getTypes());
  MLIRContext *context = builder.getContext();
  Type result = types.empty() ? Type(LLVM::LLVMVoidType::get(context))
                : types.size() == 1
                    ? types[0]
                    : LLVM::LLVMStructType::getLiteral(context, types);
  SmallVector<Value> all(values);
  llvm::append_range(all, operands);
  auto op = LLVM::InlineAsmOp::create(
      builder, loc, types.empty() ? TypeRange() : TypeRange(result), all, text,
      llvm::join(constraints, ","), /*has_side_effects=*/true,
      /*is_align_stack=*/false, LLVM::TailCallKind::None,
      LLVM::AsmDialectAttr(), ArrayAttr());
  SmallVector<Value> results;
  for (size_t i = 0; i < values.size(); ++i)
    results.push_back(
        LLVM::ExtractValueOp::create(builder, loc, op.getResult(0), i));
  return results;
}

void gpu::buildBarrier(OpBuilder &builder, Location loc) {
  call(builder, loc, "llvm.nvvm.barrier.cta.sync.aligned.all",
       buildWord(builder, loc, 0));
}

Value gpu::isZero(OpBuilder &builder, Location loc, Value value) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, value,
                               buildWord(builder, loc, 0));
}

void gpu::enterIf(OpBuilder &builder, Location loc, Value condition) {
  if (!condition)
    return;
  auto choice = scf::IfOp::create(builder, loc, TypeRange(), condition,
                                  /*withElseRegion=*/false);
  builder.setInsertionPointToStart(choice.thenBlock());
}

//===----------------------------------------------------------------------===//
// Copies to shared memory
//===----------------------------------------------------------------------===//

void gpu::copyAsync(OpBuilder &builder, Location loc, Value to, Value from,
                    int64_t bytes, Value isThere) {
  std::string name = "llvm.nvvm.cp.async." +
                     std::string(bytes == 16 ? "cg" : "ca") +
                     ".shared.global." + std::to_string(bytes);
  SmallVector<Value> operands = {to, from};
  if (isThere) { // Of no bytes the rest, all of it, are zeros.
    name += ".s";
    operands.push_back(arith::SelectOp::create(builder, loc, isThere,
                                               buildWord(builder, loc, bytes),
                                               buildWord(builder, loc, 0)));
  }
  call(builder, loc, name, operands);
}

void gpu::commitCopies(OpBuilder &builder, Location loc) {
  call(builder, loc, "llvm.nvvm.cp.async.commit.group", ValueRange());
}

void gpu::waitForCopies(OpBuilder &builder, Location loc, int64_t later,
                        bool forGroups) {
  call(builder, loc, "llvm.nvvm.cp.async.wait.group",
       buildWord(builder, loc, later));
  if (forGroups)
    assemble(builder, loc, "fence.proxy.async.shared::cta;", {}, {});
  buildBarrier(builder, loc);
}

//===----------------------------------------------------------------------===//
// Matrices in registers
//===----------------------------------------------------------------------===//

Type gpu::getPairType(Type element) {
  return element.isF16() ? Type(VectorType::get({2}, element))
                         : IntegerType::get(element.getContext(), 32);
}

SmallVector<Value> gpu::loadMatrices(OpBuilder &builder, Location loc,
                                     Value from, bool areTurned, Type element) {
  Type word = builder.getI32Type(), pair = getPairType(element);
  auto type = LLVM::LLVMStructType::getLiteral(builder.getContext(),
                                               {word, word, word, word});
  std::string name = "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4" +
                     std::string(areTurned ? ".trans" : "") + ".b16.p3";
  Value four = callIntrinsic(builder, loc, name, type, from);
  SmallVector<Value> values;
  for (int64_t i = 0; i < 4; ++i) {
    Value value = LLVM::ExtractValueOp::create(builder, loc, four, i);
    if (pair != word)
      value = LLVM::BitcastOp::create(builder, loc, pair, value);
    values.push_back(value);
  }
  return values;
}

SmallVector<Value> gpu::multiplyMatrices(OpBuilder &builder, Location loc,
                                         Type element, ValueRange a,
                                         ValueRange b, ValueRange c) {
  Type f32 = builder.getF32Type();
  auto type = LLVM::LLVMStructType::getLiteral(builder.getContext(),
                                               {f32, f32, f32, f32});
  StringRef name = element.isF16() ? "llvm.nvvm.mma.m16n8k16.row.col.f32.f32"
                                   : "llvm.nvvm.mma.m16n8k16.row.col.bf16";
  SmallVector<Value> operands(a);
  llvm::append_range(operands, b);
  llvm::append_range(operands, c);
  Value four = callIntrinsic(builder, loc, name, type, operands);
  SmallVector<Value> sums;
  for (int64_t i = 0; i < 4; ++i)
    sums.push_back(LLVM::ExtractValueOp::create(builder, loc, four, i));
  return sums;
}

SmallVector<Value> gpu::multiplyOfGroup(OpBuilder &builder, Location loc,
                                        Type element, SharedMatrix a,
                                        SharedMatrix b, ValueRange sums) {
  const std::string type = element.isF16() ? "f16" : "bf16",
                    columns = std::to_string(2 * sums.size());
  const size_t count = sums.size();
  auto operand = [&](size_t i) { return "$" + std::to_string(i); };
  std::string text = "wgmma.mma_async.sync.aligned.m64n" + columns +
                     "k16.f32." + type + "." + type + " {";
  for (size_t i = 0; i < count; ++i)
    text += (i ? ", " : "") + operand(i);
  // Operands that stand for the sums as they are come behind the results.
  text += "}, " + operand(2 * count) + ", " + operand(2 * count + 1) + ", " +
          operand(2 * count + 2) + ", 1, 1, " + std::to_string(a.isTurned) +
          ", " + std::to_string(b.isTurned) + ";";
  Value isSum =
      arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true));
  return assemble(builder, loc, text, sums,
                  {a.description, b.description, isSum});
}

SmallVector<Value> gpu::waitForRegisters(OpBuilder &builder, Location loc,
                                         ValueRange sums) {
  return assemble(builder, loc, "wgmma.fence.sync.aligned;", sums, {});
}

void gpu::commitProducts(OpBuilder &builder, Location loc) {
  assemble(builder, loc, "wgmma.commit_group.sync.aligned;", {}, {});
}

SmallVector<Value> gpu::waitForProducts(OpBuilder &builder, Location loc,
                                        ValueRange sums) {
  return assemble(builder, loc, "wgmma.wait_group.sync.aligned 0;", sums, {});
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

Value Words::i32(int64_t value) { return buildWord(words, place, value); }

Value Words::add32(Value a, Value b) {
  return words.createOrFold<arith::AddIOp>(place, a, b);
}

Value Words::mul32(Value a, int64_t factor) {
  return words.createOrFold<arith::MulIOp>(place, a, i32(factor));
}

Value Words::divide32(Value a, int64_t divisor) {
  return words.createOrFold<arith::DivUIOp>(place, a, i32(divisor));
}

Value Words::rest32(Value a, int64_t divisor) {
  return words.createOrFold<arith::RemUIOp>(place, a, i32(divisor));
}

Value Words::isBelow(Value a, int64_t bound) {
  return arith::CmpIOp::create(words, place, arith::CmpIPredicate::ult, a,
                               i32(bound));
}

Value Words::widen(Value a) {
  return words.createOrFold<arith::ExtUIOp>(place, words.getI64Type(), a);
}

Value Words::both(Value a, Value b) {
  return a && b ? arith::AndIOp::create(words, place, a, b).getResult()
         : a    ? a
                : b;
}
