// SPDX-License-Identifier: Apache-2.0

#include "ProductEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace dlc::codegen;
using namespace dlc::codegen::gpu;

//===----------------------------------------------------------------------===//
// Places in shared memory
//===----------------------------------------------------------------------===//

/// In lines of 128 bytes, 64 terms or 64 of `dims`, of which line n has its
/// sixteens at the places m xor n % 8: what wgmma takes as swizzled by 128
/// bytes (PTX ISA 9.7.15.5.1.2). Eight lines that are read at once are in banks
/// of their own then.
Value ProductEmitter::placeInLines(const ProductSide &side, Value row,
                                   Value term) {
  constexpr int64_t perLine = 64, perSixteen = 8;
  Value line = term, within = row, before = i32(0);
  if (side.isAlongTerms)
    std::swap(line, within);
  else {
    before = mul32(divide32(row, perLine), product.step * perLine);
    within = rest32(row, perLine);
  }
  Value sixteen = builder.createOrFold<arith::XOrIOp>(
      loc, divide32(within, perSixteen), rest32(line, perSixteen));
  return add32(add32(before, mul32(line, perLine)),
               add32(mul32(sixteen, perSixteen), rest32(within, perSixteen)));
}

/// Where an element of a step is in shared memory.
Value ProductEmitter::pointer(const ProductSide &side, Value stage, Value row,
                              Value term) {
  Value at = product.unit == ProductUnit::Group ? placeInLines(side, row, term)
             : side.isAlongTerms ? add32(mul32(row, side.pitch), term)
                                 : add32(mul32(term, side.pitch), row);
  const int64_t rows = product.bytesOf(product.rows),
                columns = product.bytesOf(product.columns);
  at = mul32(at, product.elementBytes());
  at = add32(at, mul32(stage, rows + columns));
  if (&side == &product.columns)
    at = add32(at, i32(rows));
  Value wide =
      builder.createOrFold<arith::ExtUIOp>(loc, builder.getI64Type(), at);
  return LLVM::GEPOp::create(builder, loc, tiles.getType(), builder.getI8Type(),
                             tiles, ArrayRef<LLVM::GEPArg>{wide});
}

Value ProductEmitter::load(Value from, Type type, int64_t bytes) {
  return LLVM::LoadOp::create(builder, loc, type, from,
                              static_cast<unsigned>(bytes));
}

//===----------------------------------------------------------------------===//
// From memory to shared memory
//===----------------------------------------------------------------------===//

/// A value of the body at one point.
Value ProductEmitter::valueOf(Value value, const Cursor &cursor,
                              ValueMap &values) {
  if (Value known = body.lookup(value, values))
    return known;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    unsigned number = argument.getArgNumber();
    const LoopOperand &operand = plan.operands[number];
    return values[value] = operand.scalar
                               ? outer.lookup(operand.scalar)
                               : body.load(loc, *operand.view,
                                           cursor.offsets[number], 0, 1, {});
  }
  Operation *defined = value.getDefiningOp();
  if (auto index = dyn_cast<linalg::IndexOp>(defined)) {
    Value at = cursor.indices[index.getDim()];
    return values[value] = at ? at : buildI64(builder, loc, 0);
  }
  for (Value operand : defined->getOperands())
    valueOf(operand, cursor, values);
  if (body.emit(*defined, 1, values).failed()) {
    failed = true;
    return buildI64(builder, loc, 0);
  }
  return values.lookup(value);
}

/// Where `element` is in the device's memory.
Value ProductEmitter::addressOf(Value element, const Cursor &cursor,
                                ValueMap &values) {
  const View *view = nullptr;
  Value offset;
  if (auto argument = dyn_cast<BlockArgument>(element)) {
    view = plan.operands[argument.getArgNumber()].view;
    offset = cursor.offsets[argument.getArgNumber()];
  } else {
    auto load = element.getDefiningOp<memref::LoadOp>();
    view = &views.find(load.getMemRef())->second;
    offset = view->offset;
    for (auto [index, stride] :
         llvm::zip_equal(load.getIndices(), view->strides))
      offset =
          addI64(builder, loc, offset,
                 mulI64(builder, loc, valueOf(index, cursor, values), stride));
  }
  if (!offset)
    return view->base;
  return LLVM::GEPOp::create(builder, loc, view->base.getType(),
                             element.getType(), view->base,
                             ArrayRef<LLVM::GEPArg>{offset});
}

/// Copies one piece to shared memory, or puts zeros there. Of 4 bytes and more
/// it arrives later: see waitForCopies().
void ProductEmitter::copyPiece(const ProductSide &side, const Cursor &cursor,
                               Value isTerm, Value to) {
  ValueMap values;
  Value isThere = isTerm;
  if (side.condition)
    isThere = both(isThere, valueOf(side.condition, cursor, values));
  const int64_t bytes = side.width * product.elementBytes();
  if (!side.element || bytes < 4) {
    Type type = side.element && !product.element.isF32()
                    ? Type(builder.getI16Type())
                    : Type(builder.getF32Type());
    Value value =
        side.element && !product.element.isF32()
            ? load(addressOf(side.element, cursor, values), type, bytes)
            : valueOf(side.factor, cursor, values);
    if (isThere) {
      Value zero =
          arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
      value = arith::SelectOp::create(builder, loc, isThere, value, zero);
    }
    LLVM::StoreOp::create(builder, loc, value, to,
                          static_cast<unsigned>(product.elementBytes()));
    return;
  }
  Value from = addressOf(side.element, cursor, values);
  copyAsync(builder, loc, to, from, bytes, isThere);
}

/// One side of a step that begins at `term` of the inner ones.
void ProductEmitter::copySide(const ProductSide &side, const Cursor &cursor,
                              Value term, Value stage) {
  const int64_t perLine =
      (side.isAlongTerms ? product.step : side.count) / side.width;
  const int64_t pieces =
      perLine * (side.isAlongTerms ? side.count : product.step);
  auto copy = [&](Value piece) {
    Value line = divide32(piece, perLine),
          within = mul32(rest32(piece, perLine), side.width);
    Value own = side.isAlongTerms ? line : within;
    Value ownTerm = side.isAlongTerms ? within : line;
    Value to = pointer(side, stage, own, ownTerm);
    Value at = add32(term, ownTerm), isTerm;
    if (product.innerCount % product.step) {
      isTerm = isBelow(at, product.innerCount);
      at = arith::SelectOp::create(builder, loc, isTerm, at, i32(0));
    }
    Cursor here = locate(cursor, side.dims, own, 1);
    copyPiece(side, locate(here, product.inner, at, 1), isTerm, to);
  };
  // Few are written out: what does not change from step to step is kept then,
  // but for conditions, which take registers that another block has use for.
  const int64_t mostTurns =
      product.unit == ProductUnit::Group && side.condition ? 0 : 4;
  OpBuilder::InsertionGuard guard(builder);
  if (pieces > mostTurns * kThreads) {
    auto loop = scf::ForOp::create(builder, loc, threads.thread, i32(pieces),
                                   i32(kThreads));
    builder.setInsertionPointToStart(loop.getBody());
    return copy(loop.getInductionVar());
  }
  for (int64_t first = 0; first < pieces; first += kThreads) {
    OpBuilder::InsertionGuard inside(builder);
    Value piece = add32(threads.thread, i32(first));
    if (first + kThreads > pieces)
      enterIf(isBelow(piece, pieces));
    copy(piece);
  }
}

void ProductEmitter::copyStep(Value step, Value stage) {
  const int64_t perPoint = product.steps / product.outerCount;
  Value point = divide32(step, perPoint),
        term = mul32(rest32(step, perPoint), product.step);
  Cursor cursor = start();
  if (!product.outer.empty())
    cursor = locate(cursor, product.outer, point, 1);
  for (const ProductSide *side : {&product.rows, &product.columns})
    copySide(*side, cursor, term, stage);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

void ProductEmitter::findParts() {
  constexpr int64_t warpsOfGroup = 4;
  const bool isGroup = product.unit == ProductUnit::Group;
  const bool isTensor = product.unit == ProductUnit::Tensor;
  const int64_t high = isGroup    ? 64
                       : isTensor ? 16
                                  : 4,
                wide = isGroup || isTensor ? 8 : 4;
  Value worker = isGroup    ? divide32(threads.warp, warpsOfGroup)
                 : isTensor ? threads.warp
                            : threads.thread;
  part = divide32(worker, product.byRow * product.byColumn);
  Value within = rest32(worker, product.byRow * product.byColumn);
  row = mul32(divide32(within, product.byColumn), high * product.rowParts);
  column = mul32(rest32(within, product.byColumn), wide * product.columnParts);
}

/// Rows of 16 x 16 as mma.sync's first
/// operand has them, or two times 16 x 8 as its second.
LoopEmitter::Values ProductEmitter::readMatrices(const ProductSide &side,
                                                 Value stage, Value row,
                                                 Value term, bool isRows) {
  // Eight lanes say where the eight lines of one of the four matrices are.
  Value low = rest32(threads.lane, 8),
        second = mul32(rest32(divide32(threads.lane, 8), 2), 8),
        fourth = mul32(divide32(threads.lane, 16), 8);
  const bool isTurned = !side.isAlongTerms;
  Value lineShift, shift; // Of the line's dimension, and of the other.
  if (isRows == !isTurned) {
    lineShift = add32(low, second);
    shift = fourth;
  } else {
    lineShift = add32(low, fourth);
    shift = second;
  }
  Value from =
      isTurned
          ? pointer(side, stage, add32(row, shift), add32(term, lineShift))
          : pointer(side, stage, add32(row, lineShift), add32(term, shift));
  return loadMatrices(builder, loc, from, isTurned, product.element);
}

/// A float of a step, rounded to tf32.
Value ProductEmitter::readRounded(const ProductSide &side, Value stage,
                                  Value row, Value term) {
  Value value = load(pointer(side, stage, row, term), builder.getF32Type(), 4);
  return callIntrinsic(builder, loc, "llvm.nvvm.f2tf32.rna",
                       builder.getI32Type(), value);
}

/// As below, in turns of 8 terms: mma.m16n8k8's operands, PTX ISA 9.7.14.5.6.
LoopEmitter::Values ProductEmitter::computeRounded(Value stage,
                                                   ValueRange sums) {
  Type f32 = builder.getF32Type();
  auto type = LLVM::LLVMStructType::getLiteral(builder.getContext(),
                                               {f32, f32, f32, f32});
  Values results(sums);
  Value high = divide32(threads.lane, 4), low = rest32(threads.lane, 4);
  const int64_t own = product.step / 8 / product.byTerm;
  for (int64_t k = 0; k < own; ++k) {
    Value term = add32(add32(mul32(part, 8 * own), i32(8 * k)), low);
    SmallVector<Values> a, b;
    for (int64_t i = 0; i < product.rowParts; ++i) {
      Values &four = a.emplace_back();
      for (int64_t e = 0; e < 4; ++e)
        four.push_back(
            readRounded(product.rows, stage,
                        add32(add32(row, high), i32(16 * i + e % 2 * 8)),
                        add32(term, i32(e / 2 * 4))));
    }
    for (int64_t j = 0; j < product.columnParts; ++j) {
      Values &two = b.emplace_back();
      for (int64_t e = 0; e < 2; ++e)
        two.push_back(readRounded(product.columns, stage,
                                  add32(add32(column, high), i32(8 * j)),
                                  add32(term, i32(4 * e))));
    }
    for (int64_t i = 0; i < product.rowParts; ++i)
      for (int64_t j = 0; j < product.columnParts; ++j) {
        auto at = MutableArrayRef(results).slice(
            4 * (i * product.columnParts + j), 4);
        Values operands = a[i];
        llvm::append_range(operands, b[j]);
        llvm::append_range(operands, at);
        Value four = callIntrinsic(
            builder, loc, "llvm.nvvm.mma.m16n8k8.row.col.tf32", type, operands);
        for (int64_t e = 0; e < 4; ++e)
          at[e] = LLVM::ExtractValueOp::create(builder, loc, four, e);
      }
  }
  return results;
}

/// Warps, with sums of 4 for each tile of 16 x 8.
LoopEmitter::Values ProductEmitter::computeTensor(Value stage,
                                                  ValueRange sums) {
  Values results(sums);
  const int64_t own = product.step / 16 / product.byTerm;
  for (int64_t k = 0; k < own; ++k) {
    Value term = add32(mul32(part, 16 * own), i32(16 * k));
    SmallVector<Values> a, b;
    for (int64_t i = 0; i < product.rowParts; ++i)
      a.push_back(readMatrices(product.rows, stage, add32(row, i32(16 * i)),
                               term, /*isRows=*/true));
    for (int64_t j = 0; j < product.columnParts; j += 2)
      b.push_back(readMatrices(product.columns, stage,
                               add32(column, i32(8 * j)), term,
                               /*isRows=*/false));
    for (int64_t i = 0; i < product.rowParts; ++i)
      for (int64_t j = 0; j < product.columnParts; ++j) {
        auto at = MutableArrayRef(results).slice(
            4 * (i * product.columnParts + j), 4);
        llvm::copy(multiplyMatrices(builder, loc, product.element, a[i],
                                    ArrayRef(b[j / 2]).slice(j % 2 * 2, 2),
                                    ValueRange(at)),
                   at.begin());
      }
  }
  return results;
}

/// Four rows by four terms, rows first.
LoopEmitter::Values ProductEmitter::readSquare(const ProductSide &side,
                                               Value stage, Value row,
                                               Value term) {
  auto four = VectorType::get({4}, builder.getF32Type());
  Values lines, values;
  for (int64_t i = 0; i < 4; ++i)
    lines.push_back(load(side.isAlongTerms
                             ? pointer(side, stage, add32(row, i32(i)), term)
                             : pointer(side, stage, row, add32(term, i32(i))),
                         four, 16));
  for (int64_t i = 0; i < 4; ++i)
    for (int64_t k = 0; k < 4; ++k)
      values.push_back(vector::ExtractOp::create(
          builder, loc, lines[side.isAlongTerms ? i : k],
          side.isAlongTerms ? k : i));
  return values;
}

/// Threads, with sums of 16 for each square.
LoopEmitter::Values ProductEmitter::computeVector(Value stage,
                                                  ValueRange sums) {
  const int64_t own = product.step / 4 / product.byTerm;
  return buildFor({}, buildI64(builder, loc, own), 1, sums,
                  [&](Value index, ValueRange carried) {
                    Value k = index ? builder.createOrFold<arith::TruncIOp>(
                                          loc, builder.getI32Type(), index)
                                    : i32(0);
                    Value term = mul32(add32(mul32(part, own), k), 4);
                    SmallVector<Values> a, b;
                    for (int64_t i = 0; i < product.rowParts; ++i)
                      a.push_back(readSquare(product.rows, stage,
                                             add32(row, i32(4 * i)), term));
                    for (int64_t j = 0; j < product.columnParts; ++j)
                      b.push_back(readSquare(product.columns, stage,
                                             add32(column, i32(4 * j)), term));
                    Values results(carried);
                    for (int64_t step = 0; step < 4; ++step)
                      for (int64_t i = 0; i < 4 * product.rowParts; ++i)
                        for (int64_t j = 0; j < 4 * product.columnParts; ++j) {
                          Value &sum = results[i * 4 * product.columnParts + j];
                          sum = LLVM::FMAOp::create(
                              builder, loc, a[i / 4][i % 4 * 4 + step],
                              b[j / 4][j % 4 * 4 + step], sum);
                        }
                    return results;
                  });
}

/// What wgmma knows of a factor: where it begins, bits 0 to 13, and, from bit
/// 32 on, how far eight lines are from the next eight and how it is swizzled;
/// where neighbours are no terms, from bit 16 on, how far 64 of them are from
/// the next (PTX ISA 9.7.15.5.1.2.2), all in sixteens of bytes.
Value ProductEmitter::describe(const ProductSide &side, Value stage,
                               Value row) {
  constexpr int64_t sixteen = 16, eightLines = 1024, swizzled = 1 << 30;
  Value at = LLVM::PtrToIntOp::create(builder, loc, builder.getI32Type(),
                                      pointer(side, stage, row, i32(0)));
  // Of a cluster, bits above these say which block it is.
  constexpr int64_t place = 1 << 18;
  Value low = add32(
      divide32(rest32(at, place), sixteen),
      i32(side.isAlongTerms ? 0 : product.step * 128 / sixteen * (1 << 16)));
  Value high = buildI64(
      builder, loc, (swizzled | (eightLines / sixteen)) * (int64_t(1) << 32));
  return arith::OrIOp::create(builder, loc, widen(low), high);
}

/// Groups: what is set out to here is done behind waitForGroups().
LoopEmitter::Values ProductEmitter::startGroups(Value stage, ValueRange sums) {
  Values results = waitForRegisters(builder, loc, sums);
  // 16 terms are 32 bytes of each line, or 16 lines.
  auto shift = [](const ProductSide &side) {
    return side.isAlongTerms ? 2 : 128;
  };
  const int64_t own = 4 * product.columnParts;
  Value b = describe(product.columns, stage, column);
  for (int64_t i = 0; i < product.rowParts; ++i) {
    Value a = describe(product.rows, stage, add32(row, i32(64 * i)));
    auto at = MutableArrayRef(results).slice(own * i, own);
    for (int64_t k = 0; k < product.step / 16; ++k)
      llvm::copy(
          multiplyOfGroup(
              builder, loc, product.element,
              {addI64(builder, loc, a,
                      buildI64(builder, loc, k * shift(product.rows))),
               !product.rows.isAlongTerms},
              {addI64(builder, loc, b,
                      buildI64(builder, loc, k * shift(product.columns))),
               !product.columns.isAlongTerms},
              ValueRange(at)),
          at.begin());
  }
  commitProducts(builder, loc);
  return results;
}

LoopEmitter::Values ProductEmitter::compute(Value stage, ValueRange sums) {
  if (product.isRounded())
    return computeRounded(stage, sums);
  return product.unit == ProductUnit::Tensor ? computeTensor(stage, sums)
                                             : computeVector(stage, sums);
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// The places of a thread's sums, in their order.
SmallVector<ProductEmitter::Place> ProductEmitter::placesOf() {
  SmallVector<Place> places;
  if (product.unit == ProductUnit::Vector) {
    for (int64_t i = 0; i < 4 * product.rowParts; ++i)
      for (int64_t j = 0; j < 4 * product.columnParts; ++j)
        places.push_back({add32(row, i32(i)), add32(column, i32(j))});
    return places;
  }
  // The accumulators of mma.m16n8k16, and of m16n8k8: PTX ISA 9.7.14.5.8. Those
  // of wgmma are the same for each of the four warps: 9.7.15.5.1.1.
  const bool isGroup = product.unit == ProductUnit::Group;
  Value high = divide32(threads.lane, 4),
        wide = mul32(rest32(threads.lane, 4), 2);
  if (isGroup)
    high = add32(high, mul32(rest32(threads.warp, 4), 16));
  const int64_t partRows = isGroup ? 64 : 16;
  for (int64_t i = 0; i < product.rowParts; ++i)
    for (int64_t j = 0; j < product.columnParts; ++j)
      for (int64_t e = 0; e < 4; ++e)
        places.push_back(
            {add32(row, add32(high, i32(partRows * i + e / 2 * 8))),
             add32(column, add32(wide, i32(8 * j + e % 2)))});
  return places;
}

/// Whether two sums of a thread are always neighbours in memory, and there or
/// not there together.
bool ProductEmitter::hasPairs() const {
  const LoopOperand &output = plan.operands[plan.accumulators[0].operand];
  if (product.columns.dims.empty() || output.view->offset || output.constant)
    return false;
  const unsigned inner = product.columns.dims.back();
  for (ArrayRef<unsigned> dims :
       {ArrayRef(product.rows.dims), ArrayRef(product.columns.dims)})
    for (unsigned dim : dims)
      if (dim != inner && output.strides[dim] % 2)
        return false;
  return output.strides[inner] == 1 && output.view->element.isF32() &&
         *getConstantIntValue(plan.ranges[inner]) % 2 == 0;
}

/// Parts of the terms are added one after the other, always in this order.
void ProductEmitter::write(ValueRange sums) {
  const unsigned operand = plan.accumulators[0].operand;
  const LoopOperand &output = plan.operands[operand];
  SmallVector<Place> places = placesOf();
  const int64_t width = hasPairs() ? 2 : 1;
  body.setVectorsAligned(width > 1);
  for (int64_t term = 0; term < product.byTerm; ++term) {
    OpBuilder::InsertionGuard guard(builder);
    if (term)
      buildBarrier(builder, loc);
    if (product.byTerm > 1)
      enterIf(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                    part, i32(term)));
    for (size_t i = 0; i < places.size(); i += width) {
      const Place &place = places[i];
      OpBuilder::InsertionGuard inside(builder);
      enterIf(isThere(place));
      Cursor at = locate(locate(start(), product.rows.dims, place.row, 1),
                         product.columns.dims, place.column, 1);
      Value sum = sums[i];
      if (width > 1)
        sum = vector::FromElementsOp::create(
            builder, loc, VectorType::get({2}, sum.getType()),
            sums.slice(i, 2));
      Value old = term ? Value() : initial[plan.accumulators[0].result];
      if (!old)
        old = body.load(loc, *output.view, at.offsets[operand], 1, width, {});
      old = body.broadcast(loc, old, width);
      body.store(loc, combine(plan.accumulators[0], old, sum), *output.view,
                 at.offsets[operand], 1, width, {});
    }
  }
  body.setVectorsAligned(false);
}

/// Null for always; else whether a result is one, and does not only fill up.
Value ProductEmitter::isThere(const Place &place) {
  Value isRow, isColumn;
  if (product.rows.padded > product.rows.count)
    isRow = isBelow(place.row, product.rows.count);
  if (product.columns.padded > product.columns.count)
    isColumn = isBelow(place.column, product.columns.count);
  return both(isRow, isColumn);
}

/// Infinities count, too: they are as rare.
Value ProductEmitter::isAnyNone(ValueRange sums) {
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
  Value all = zero;
  for (auto [place, sum] : llvm::zip_equal(placesOf(), sums)) {
    Value own = sum;
    if (Value there = isThere(place))
      own = arith::SelectOp::create(builder, loc, there, own, zero);
    all = LLVM::FMAOp::create(builder, loc, own, zero, all);
  }
  return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO, all,
                               all);
}

/// The barrier of the blocks of a tile: all see what was written in front of
/// it.
void ProductEmitter::arriveAtBlocks() {
  LLVM::CallIntrinsicOp::create(
      builder, loc,
      builder.getStringAttr("llvm.nvvm.barrier.cluster.arrive.aligned"),
      ValueRange());
}

void ProductEmitter::waitForBlocks() {
  LLVM::CallIntrinsicOp::create(
      builder, loc,
      builder.getStringAttr("llvm.nvvm.barrier.cluster.wait.aligned"),
      ValueRange());
}

/// Adds up what the blocks have, in their order: each block does so for its
/// part of the results, which stay there or go to the first block.
void ProductEmitter::gather(bool isShared) {
  constexpr unsigned clusterSpace = 7;
  const LoopOperand &output = plan.operands[plan.accumulators[0].operand];
  const int64_t count = product.rows.count * product.columns.count;
  const int64_t width = count % (4 * product.blocks) ? 1 : 4;
  const auto own =
      static_cast<int64_t>(llvm::divideCeil(count / width, product.blocks));
  Type type = builder.getF32Type();
  if (width > 1)
    type = VectorType::get({width}, type);
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext(), clusterSpace);
  arriveAtBlocks();
  waitForBlocks();
  SmallVector<Value> bases;
  for (int64_t i = 0; i < product.blocks; ++i)
    bases.push_back(callIntrinsic(builder, loc, "llvm.nvvm.mapa.shared.cluster",
                                  pointer, {output.view->base, i32(i)}));
  Value first = mul32(block, own);
  Value end = arith::MinUIOp::create(builder, loc, add32(first, i32(own)),
                                     i32(count / width));
  auto loop = scf::ForOp::create(builder, loc, add32(first, threads.thread),
                                 end, i32(kThreads));
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value at = arith::ExtUIOp::create(builder, loc, builder.getI64Type(),
                                      loop.getInductionVar());
    auto placeIn = [&](Value base) -> Value {
      return LLVM::GEPOp::create(builder, loc, base.getType(), type, base,
                                 ArrayRef<LLVM::GEPArg>{at});
    };
    Value sum;
    for (Value base : bases) {
      Value value = load(placeIn(base), type, 4 * width);
      sum = sum ? arith::AddFOp::create(builder, loc, sum, value).getResult()
                : value;
    }
    LLVM::StoreOp::create(builder, loc, sum,
                          placeIn(isShared ? output.view->base : bases[0]),
                          static_cast<unsigned>(4 * width));
  }
  arriveAtBlocks();
  if (isShared)
    buildBarrier(builder, loc); // Others of the block read its part.
  else
    waitForBlocks();
}

/// Memory of a block must not go while another one reads it.
void ProductEmitter::finish() { waitForBlocks(); }

/// In shared memory such taps are zeros, and no number is what they make of an
/// infinite factor.
void ProductEmitter::mend() {
  if (product.blocks == 1 && !product.isConditional())
    buildBarrier(builder, loc);
  if (!product.isConditional())
    return;
  OpBuilder::InsertionGuard outside(builder);
  if (isSpoiled) {
    // The barrier after which all see the sums tells of all.
    Value isAny =
        callIntrinsic(builder, loc, "llvm.nvvm.barrier.cta.red.or.aligned.all",
                      builder.getI1Type(), {i32(0), isSpoiled});
    enterIf(isAny);
  }
  const LoopOperand &output = plan.operands[plan.accumulators[0].operand];
  overResults(start(), threads.thread, kThreads, 1,
              [&](const Cursor &at, std::optional<int64_t>) {
                Value sum = body.load(loc, *output.view,
                                      at.offsets[plan.accumulators[0].operand],
                                      0, 1, {});
                Value isNone = arith::CmpFOp::create(
                    builder, loc, arith::CmpFPredicate::UNO, sum, sum);
                OpBuilder::InsertionGuard guard(builder);
                enterIf(isNone);
                writeAccumulators(at, emitReduced(0, at, 1, 1, {}, initial), 1,
                                  {});
              });
  buildBarrier(builder, loc);
}

LogicalResult ProductEmitter::emit(bool isShared) {
  findParts();
  Value first = mul32(block, product.ownSteps), count = i32(product.ownSteps);
  if (product.blocks * product.ownSteps > product.steps)
    count = arith::MinUIOp::create(
        builder, loc, count,
        arith::SubIOp::create(builder, loc, i32(product.steps), first));
  auto copyOwn = [&](Value step, Value stage) {
    OpBuilder::InsertionGuard guard(builder);
    enterIf(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, step,
                                  count));
    copyStep(add32(first, step), stage);
  };
  {
    auto ahead = scf::ForOp::create(builder, loc, i32(0),
                                    i32(product.stages - 1), i32(1));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(ahead.getBody());
    copyOwn(ahead.getInductionVar(), ahead.getInductionVar());
    commitCopies(builder, loc);
  }
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
  Values sums(product.sums(), zero);
  auto loop = scf::ForOp::create(builder, loc, i32(0), count, i32(1), sums);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value step = loop.getInductionVar();
    const bool isGroup = product.unit == ProductUnit::Group;
    waitForCopies(builder, loc, product.stages - 2, /*forGroups=*/isGroup);
    // What it takes the place of has been read by all.
    auto copyNext = [&] {
      Value next = add32(step, i32(product.stages - 1));
      copyOwn(next, rest32(next, product.stages));
      commitCopies(builder, loc);
    };
    Value stage = rest32(step, product.stages);
    Values results;
    if (isGroup) {
      results = startGroups(stage, loop.getRegionIterArgs());
      copyNext();
      results = waitForProducts(builder, loc, results);
    } else {
      copyNext();
      results = compute(stage, loop.getRegionIterArgs());
    }
    scf::YieldOp::create(builder, loc, results);
  }
  waitForCopies(builder, loc, 0);
  write(loop.getResults());
  if (product.blocks == 1 && product.isConditional())
    isSpoiled = isAnyNone(loop.getResults());
  if (product.blocks > 1)
    gather(isShared);
  return failure(failed);
}
