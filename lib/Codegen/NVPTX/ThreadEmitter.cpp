// SPDX-License-Identifier: Apache-2.0

#include "ThreadEmitter.h"

#include "Neighbours.h"

#include "dlc/Analysis/Cost.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <numeric>

using namespace mlir;
using namespace dlc::codegen;
using namespace dlc::codegen::gpu;

//===----------------------------------------------------------------------===//
// Points of loops, by number
//===----------------------------------------------------------------------===//

/// The number of points of `dims`, with the last in steps of `width`, as i32: a
/// tile has fewer than 2^31.
Value ThreadEmitter::countOf(ArrayRef<unsigned> dims, int64_t width) {
  Value count = buildI64(builder, loc, 1);
  for (unsigned dim : dims)
    count = builder.createOrFold<arith::MulIOp>(loc, count, rangeOf(dim));
  if (width > 1)
    count = builder.createOrFold<arith::DivUIOp>(loc, count,
                                                 buildI64(builder, loc, width));
  return builder.createOrFold<arith::TruncIOp>(loc, builder.getI32Type(),
                                               count);
}

/// Point number `index` (i32) of `dims`, the last one fastest.
Cursor ThreadEmitter::locate(const Cursor &cursor, ArrayRef<unsigned> dims,
                             Value index, int64_t width) {
  Cursor at = cursor;
  Value rest = index;
  for (size_t i = dims.size(); i-- > 0;) {
    bool isVector = i + 1 == dims.size() && width > 1;
    Value here = rest;
    if (i > 0) {
      Value extent = builder.createOrFold<arith::TruncIOp>(
          loc, builder.getI32Type(), rangeOf(dims[i]));
      if (isVector)
        extent = builder.createOrFold<arith::DivUIOp>(loc, extent, i32(width));
      here = builder.createOrFold<arith::RemUIOp>(loc, rest, extent);
      rest = builder.createOrFold<arith::DivUIOp>(loc, rest, extent);
    }
    Value wide =
        builder.createOrFold<arith::ExtUIOp>(loc, builder.getI64Type(), here);
    if (isVector)
      wide = mulI64(builder, loc, wide, width);
    at = advance(at, dims[i], wide);
  }
  return at;
}

/// The turns of a loop whose body is written out for each: then what all read
/// is on its way at once. 0 where they are not the same for all threads, or too
/// many.
static int64_t countTurns(Value count, int64_t step, Block *body) {
  constexpr int64_t mostTurns = 8, mostCost = 160;
  std::optional<int64_t> points = getConstantIntValue(count);
  if (!points || *points % step)
    return 0;
  const int64_t turns = *points / step;
  return turns <= mostTurns && turns * dlc::analysis::costOf(*body) <= mostCost
             ? turns
             : 0;
}

/// Points of the parallel dimensions from number `first` on, `step` apart.
void ThreadEmitter::overResults(const Cursor &cursor, Value first, int64_t step,
                                int64_t width, AtElement emitElement) {
  Value count = countOf(plan.parallel, width);
  if (int64_t turns = share ? 0 : countTurns(count, step, op.getBlock())) {
    for (int64_t turn = 0; turn < turns; ++turn) {
      Value index = add32(first, i32(turn * step));
      emitElement(locate(cursor, plan.parallel, index, width), turn);
    }
    return;
  }
  if (share) {
    Value own = divide32(share->first, width);
    first = add32(first, own);
    count = add32(own, i32(share->count / width));
  }
  auto loop = scf::ForOp::create(builder, loc, first, count, i32(step));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  emitElement(locate(cursor, plan.parallel, loop.getInductionVar(), width),
              std::nullopt);
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// Bytes of an element in memory.
static int64_t bytesOf(Type element) {
  if (element.isIndex())
    return 8;
  return std::max<int64_t>(element.getIntOrFloatBitWidth(), 8) / 8;
}

static bool isTouched(const LoopOperand &operand) {
  return operand.view && (operand.isRead || operand.isOutput);
}

/// Neighbours that a thread takes at once: 16 bytes of the widest operand.
int64_t ThreadEmitter::vectorWidth() {
  if (plan.parallel.empty())
    return 1;
  unsigned inner = plan.parallel.back();
  int64_t width = evenWidth(plan, inner, 8);
  for (const LoopOperand &operand : plan.operands) {
    if (!isTouched(operand))
      continue;
    int64_t stride = operand.strides[inner];
    if (stride != 1 && (operand.isOutput || stride != 0))
      return 1;
    width = std::min(width, 16 / bytesOf(operand.view->element));
  }
  Neighbours neighbours(op, plan, views);
  for (Operation &inside : op.getBlock()->without_terminator())
    if (auto load = dyn_cast<memref::LoadOp>(inside);
        load && neighbours.dimsOf(load).test(inner))
      width = std::min(width, neighbours.widthAlong(
                                  load, inner, 16 / bytesOf(load.getType())));
  return width;
}

/// Whether `value` is a multiple of `factor`, a power of two, as far as the
/// products and sums tell that it is made of.
static bool isMultiple(Value value, int64_t factor) {
  if (!value || factor == 1)
    return true;
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return *constant % factor == 0;
  if (auto sum = value.getDefiningOp<arith::AddIOp>())
    return isMultiple(sum.getLhs(), factor) && isMultiple(sum.getRhs(), factor);
  auto product = value.getDefiningOp<arith::MulIOp>();
  if (!product)
    return false;
  for (auto [one, other] : {std::pair(product.getLhs(), product.getRhs()),
                            std::pair(product.getRhs(), product.getLhs())})
    if (std::optional<int64_t> constant = getConstantIntValue(one)) {
      const int64_t common = std::gcd(*constant, factor);
      return isMultiple(other, factor / common);
    }
  return isMultiple(product.getLhs(), factor) ||
         isMultiple(product.getRhs(), factor);
}

/// Whether all vectors lie at multiples of their size: the first ones do, and
/// rows are multiples apart. Nullopt when some never do; null when all always
/// do: arguments and scratch begin at multiples of 16 bytes.
std::optional<Value> ThreadEmitter::areAligned(const Cursor &cursor,
                                               int64_t width) {
  unsigned inner = plan.parallel.back();
  Value bits;
  for (auto [index, operand] : llvm::enumerate(plan.operands)) {
    if (!isTouched(operand) || operand.strides[inner] != 1)
      continue;
    for (unsigned dim : ArrayRef(plan.parallel).drop_back())
      if (operand.strides[dim] % width)
        return std::nullopt;
    if (isMultiple(cursor.offsets[index], width))
      continue;
    int64_t bytes = bytesOf(operand.view->element);
    Value address = LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(),
                                             operand.view->base);
    address = addI64(builder, loc, address,
                     mulI64(builder, loc, cursor.offsets[index], bytes));
    Value rest = arith::AndIOp::create(
        builder, loc, address, buildI64(builder, loc, bytes * width - 1));
    bits = bits ? builder.createOrFold<arith::OrIOp>(loc, bits, rest) : rest;
  }
  if (!bits)
    return Value();
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, bits,
                               buildI64(builder, loc, 0))
      .getResult();
}

void ThreadEmitter::emitElements(const Cursor &cursor) {
  int64_t width = vectorWidth();
  auto emitWidth = [&](int64_t count) {
    body.setVectorsAligned(count > 1);
    if (std::optional<Rows> rows = findRows(count)) {
      emitRows(cursor, *rows, count);
    } else {
      ValueMap prepared = prepareUniform(cursor, std::nullopt);
      overResults(cursor, threads.thread, kThreads, count,
                  [&](const Cursor &at, std::optional<int64_t>) {
                    emitBodies(at, count, {}, prepared, {});
                  });
    }
    body.setVectorsAligned(false);
  };
  std::optional<Value> aligned =
      width > 1 ? areAligned(cursor, width) : std::nullopt;
  if (!aligned)
    return emitWidth(1);
  if (!*aligned)
    return emitWidth(width);
  auto choice = scf::IfOp::create(builder, loc, TypeRange(), *aligned,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.thenBlock());
  emitWidth(width);
  builder.setInsertionPointToStart(choice.elseBlock());
  emitWidth(1);
}

//===----------------------------------------------------------------------===//
// Rows that stay in registers
//===----------------------------------------------------------------------===//

/// Whether two values are computed alike from the same ones: each operation of
/// a tile finds its own places.
static bool isSame(Value a, Value b) {
  if (a == b)
    return true;
  Operation *one = a ? a.getDefiningOp() : nullptr;
  Operation *other = b ? b.getDefiningOp() : nullptr;
  return one && other && one->getNumResults() == 1 &&
         one->getName() == other->getName() &&
         one->getAttrDictionary() == other->getAttrDictionary() &&
         isMemoryEffectFree(one) && one->getNumRegions() == 0 &&
         one->getNumOperands() == other->getNumOperands() &&
         llvm::all_of(llvm::zip(one->getOperands(), other->getOperands()),
                      [](auto pair) {
                        return isSame(std::get<0>(pair), std::get<1>(pair));
                      });
}

bool KeptRows::Place::operator==(const Place &other) const {
  return base == other.base && constant == other.constant &&
         rows == other.rows && columns == other.columns &&
         width == other.width && threads == other.threads &&
         rowTurn == other.rowTurn && turn == other.turn &&
         isSame(offset, other.offset);
}

Value KeptRows::find(const Place &place, OpBuilder &builder) const {
  for (auto [known, value] : kept) {
    if (!(known == place))
      continue;
    // Inside of a block that is over nothing is known any more.
    for (Block *block = builder.getInsertionBlock(); block;
         block = block->getParentOp() ? block->getParentOp()->getBlock()
                                      : nullptr)
      if (block == value.getParentBlock())
        return value;
  }
  return {};
}

/// Dimensions of extent 1 make no difference. Nullopt where extents are not
/// known.
std::optional<KeptRows::Place>
ThreadEmitter::placeOf(const LoopOperand &operand, ArrayRef<unsigned> rows,
                       ArrayRef<unsigned> columns) {
  KeptRows::Place place{operand.view->base, operand.view->offset,
                        operand.constant};
  for (auto [dims, to] :
       {std::pair(rows, &place.rows), std::pair(columns, &place.columns)})
    for (unsigned dim : dims) {
      std::optional<int64_t> extent = getConstantIntValue(plan.ranges[dim]);
      if (!extent)
        return std::nullopt;
      if (*extent != 1)
        to->emplace_back(*extent, operand.strides[dim]);
    }
  return place;
}

/// Adds to the values of a body what is kept of its operands, and keeps what is
/// read of them here for the first time.
void ThreadEmitter::addKept(const Cursor &at, ArrayRef<unsigned> rows,
                            ArrayRef<unsigned> columns, int64_t width,
                            int64_t threadsOfRow, int64_t rowTurn, int64_t turn,
                            ValueMap &values) {
  if (!kept)
    return;
  for (auto [index, operand] : llvm::enumerate(plan.operands)) {
    if (!operand.view || !operand.isRead || operand.isOutput ||
        values.contains(operand.argument))
      continue;
    const bool isOfRow = llvm::all_of(
        columns, [&](unsigned dim) { return operand.strides[dim] == 0; });
    auto place =
        placeOf(operand, rows, isOfRow ? ArrayRef<unsigned>() : columns);
    if (!place)
      continue;
    place->threads = threadsOfRow;
    place->rowTurn = rowTurn;
    if (!isOfRow) {
      place->width = width;
      place->turn = turn;
    }
    Value value = kept->find(*place, builder);
    if (!value && !isOfRow && kept->isInput(operand.view->base)) {
      value = body.load(loc, *operand.view, at.offsets[index],
                        vectorStride(operand), width, {});
      kept->keep(std::move(*place), value);
    }
    if (value)
      values[operand.argument] = value;
  }
}

/// Of results that were stored as they are computed.
void ThreadEmitter::keepTotals(ValueRange totals, int64_t threadsOfRow,
                               int64_t rowTurn) {
  for (auto [accumulator, total] : llvm::zip_equal(plan.accumulators, totals)) {
    const LoopOperand &operand = plan.operands[accumulator.operand];
    auto place = placeOf(operand, plan.parallel, {});
    if (!place ||
        getComputeType(operand.view->element) != operand.view->element)
      continue;
    place->threads = threadsOfRow;
    place->rowTurn = rowTurn;
    kept->keep(std::move(*place), total);
  }
}

/// Rows of which threads have what they were reduced to, and each of which has
/// few elements for a thread.
std::optional<ThreadEmitter::Rows> ThreadEmitter::findRows(int64_t width) {
  constexpr int64_t mostTurns = 8, mostRows = 2;
  if (!kept || share)
    return std::nullopt;
  // A single row may have no dimension.
  for (size_t n = 0; n < plan.parallel.size(); ++n)
    for (int64_t threadsOfRow : {kWarp, kThreads}) {
      ArrayRef<unsigned> rows = ArrayRef(plan.parallel).take_front(n),
                         columns = ArrayRef(plan.parallel).drop_front(n);
      const int64_t atOnce = kThreads / threadsOfRow,
                    step = threadsOfRow * width;
      std::optional<int64_t> rowCount = staticCount(plan, rows),
                             count = staticCount(plan, columns);
      if (!rowCount || !count || *rowCount % atOnce ||
          *rowCount > mostRows * atOnce || *count % step ||
          *count > mostTurns * step)
        continue;
      auto isKept = [&](const LoopOperand &operand) {
        if (!operand.view || !operand.isRead || operand.isOutput ||
            llvm::any_of(columns, [&](unsigned dim) {
              return operand.strides[dim] != 0;
            }))
          return false;
        auto place = placeOf(operand, rows, {});
        if (!place)
          return false;
        place->threads = threadsOfRow;
        return bool(kept->find(*place, builder));
      };
      if (llvm::any_of(plan.operands, isKept))
        return Rows{n, threadsOfRow};
    }
  return std::nullopt;
}

/// The threads of a row as they reduced it.
void ThreadEmitter::emitRows(const Cursor &cursor, const Rows &how,
                             int64_t width) {
  const bool isBlock = how.threads == kThreads;
  const int64_t atOnce = kThreads / how.threads;
  ArrayRef<unsigned> rows = ArrayRef(plan.parallel).take_front(how.dims),
                     columns = ArrayRef(plan.parallel).drop_front(how.dims);
  const int64_t rowTurns = *staticCount(plan, rows) / atOnce,
                turns = *staticCount(plan, columns) / (how.threads * width);
  ValueMap prepared = prepareUniform(cursor, std::nullopt);
  for (int64_t rowTurn = 0; rowTurn < rowTurns; ++rowTurn) {
    Value row = i32(rowTurn * atOnce);
    if (!isBlock)
      row = add32(threads.warp, row);
    Cursor atRow = locate(cursor, rows, row, 1);
    for (int64_t turn = 0; turn < turns; ++turn) {
      Value index = add32(isBlock ? threads.thread : threads.lane,
                          i32(turn * how.threads));
      Cursor at = locate(atRow, columns, index, width);
      ValueMap values = prepared;
      addKept(at, rows, columns, width, how.threads, rowTurn, turn, values);
      emitBodies(at, width, {}, values, {});
    }
  }
}

//===----------------------------------------------------------------------===//
// Elements that lie the other way
//===----------------------------------------------------------------------===//

/// Elements along each side of a square, which a warp reads or writes at once.
static constexpr int64_t kSide = kWarp;
/// From one row of a square to the next: columns are in different banks.
static constexpr int64_t kSquarePitch = kSide + 1;

static int64_t bytesOfSquare(const LoopOperand &operand) {
  return llvm::alignTo(kSide * kSquarePitch *
                           bytesOf(getComputeType(operand.view->element)),
                       16);
}

std::optional<ThreadEmitter::Squares>
ThreadEmitter::findSquares(const LoopPlan &plan) {
  constexpr int64_t least = 16;
  auto isLong = [&](unsigned dim) {
    std::optional<int64_t> extent = getConstantIntValue(plan.ranges[dim]);
    return extent && *extent >= least;
  };
  if (!plan.accumulators.empty() || plan.parallel.size() < 2 ||
      !staticCount(plan, plan.parallel) || !isLong(plan.parallel.back()))
    return std::nullopt;
  const unsigned across = plan.parallel.back();
  std::optional<Squares> squares;
  for (auto [index, operand] : llvm::enumerate(plan.operands)) {
    if (!isTouched(operand) || operand.strides[across] == 0 ||
        operand.strides[across] == 1)
      continue;
    const auto *along = llvm::find_if(plan.parallel, [&](unsigned dim) {
      return operand.strides[dim] == 1 && isLong(dim);
    });
    if (operand.isOutput || along == plan.parallel.end() ||
        operand.view->element.isInteger(1) ||
        (squares && squares->along != *along))
      return std::nullopt;
    if (!squares)
      squares = Squares{*along, {}};
    squares->operands.push_back(index);
  }
  return squares;
}

int64_t ThreadEmitter::exchangeBytes(const LoopPlan &plan) {
  if (isForBlock(plan))
    return static_cast<int64_t>(8 * plan.accumulators.size() *
                                (kThreads / kWarp));
  int64_t bytes = 0;
  if (std::optional<Squares> squares = findSquares(plan))
    for (unsigned operand : squares->operands)
      bytes += bytesOfSquare(plan.operands[operand]);
  return bytes;
}

/// Square after square: a warp reads rows as they lie into shared memory, and
/// columns from there.
void ThreadEmitter::emitSquares(const Cursor &cursor, const Squares &squares) {
  constexpr int64_t warps = kThreads / kWarp;
  const unsigned along = squares.along, across = plan.parallel.back();
  SmallVector<unsigned> rest;
  for (unsigned dim : plan.parallel)
    if (dim != along && dim != across)
      rest.push_back(dim);
  const int64_t rows = *getConstantIntValue(plan.ranges[across]),
                columns = *getConstantIntValue(plan.ranges[along]);
  const auto downs = static_cast<int64_t>(llvm::divideCeil(rows, kSide)),
             rights = static_cast<int64_t>(llvm::divideCeil(columns, kSide));
  auto loop = scf::ForOp::create(builder, loc, i32(0),
                                 i32(*staticCount(plan, rest) * downs * rights),
                                 i32(1));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value number = loop.getInductionVar();
  Value row = mul32(rest32(number, downs), kSide),
        column = mul32(rest32(divide32(number, downs), rights), kSide);
  Cursor first = locate(cursor, rest, divide32(number, downs * rights), 1);
  // Elements of a warp are side by side along `dim`, its turns along `other`.
  auto overSquare =
      [&](unsigned dim, Value from, int64_t extent, unsigned other,
          Value otherFrom, int64_t otherExtent,
          llvm::function_ref<void(const Cursor &, Value, Value)> emitElement) {
        for (int64_t turn = 0; turn < kSide / warps; ++turn) {
          Value line = add32(threads.warp, i32(turn * warps));
          Value at = add32(from, threads.lane),
                otherAt = add32(otherFrom, line);
          Value isInside;
          for (auto [place, end] :
               {std::pair(at, extent), std::pair(otherAt, otherExtent)})
            if (end % kSide)
              isInside = both(isInside, isBelow(place, end));
          OpBuilder::InsertionGuard inside(builder);
          enterIf(isInside);
          emitElement(locate(locate(first, dim, at, 1), other, otherAt, 1),
                      threads.lane, line);
        }
      };
  auto placeOf = [&](unsigned which, Value line, Value lane) -> Value {
    int64_t before = 0;
    for (unsigned operand : ArrayRef(squares.operands).take_front(which))
      before += bytesOfSquare(plan.operands[operand]);
    Type type =
        getComputeType(plan.operands[squares.operands[which]].view->element);
    Value index = add32(mul32(line, kSquarePitch), lane);
    Value base = LLVM::GEPOp::create(
        builder, loc, exchange.getType(), builder.getI8Type(), exchange,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(before)});
    Value wide =
        arith::ExtUIOp::create(builder, loc, builder.getI64Type(), index);
    return LLVM::GEPOp::create(builder, loc, exchange.getType(), type, base,
                               ArrayRef<LLVM::GEPArg>{wide});
  };
  overSquare(along, column, columns, across, row, rows,
             [&](const Cursor &at, Value lane, Value line) {
               for (auto [which, index] : llvm::enumerate(squares.operands)) {
                 Value value = body.load(loc, *plan.operands[index].view,
                                         at.offsets[index], 0, 1, {});
                 LLVM::StoreOp::create(builder, loc, value,
                                       placeOf(which, line, lane));
               }
             });
  buildBarrier(builder, loc);
  overSquare(across, row, rows, along, column, columns,
             [&](const Cursor &at, Value lane, Value line) {
               ValueMap values;
               for (auto [which, index] : llvm::enumerate(squares.operands)) {
                 const LoopOperand &operand = plan.operands[index];
                 values[operand.argument] = LLVM::LoadOp::create(
                     builder, loc, getComputeType(operand.view->element),
                     placeOf(which, lane, line));
               }
               emitBodies(at, 1, {}, values, {});
             });
  buildBarrier(builder, loc); // Before the next square takes the place.
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// A thread for each result.
void ThreadEmitter::emitByThread(const Cursor &cursor) {
  overResults(cursor, threads.thread, kThreads, 1,
              [&](const Cursor &at, std::optional<int64_t>) {
                Values values = readAccumulators(at, 1, {});
                values = emitReduced(0, at, 1, 1, {}, values);
                writeAccumulators(at, values, 1, {});
              });
}

/// Patches where several results read one element, as those of a product of
/// matrices do, unless there are too few of them or more than registers for
/// their sums. Not where elements are stored beside: behind the edge of a patch
/// is its last element once more, which another thread may overwrite.
std::optional<ThreadEmitter::Patches> ThreadEmitter::findPatches() {
  constexpr int64_t mostSums = 32, side = 16;
  auto isShared = [&](const LoopOperand &operand) {
    return operand.isRead && !operand.isOutput &&
           llvm::any_of(plan.parallel, [&](unsigned dim) {
             return operand.strides[dim] == 0 &&
                    getConstantIntValue(plan.ranges[dim]) != 1;
           });
  };
  std::optional<int64_t> results = staticCount(plan, plan.parallel);
  if (!results || *results < kThreads / 4 ||
      static_cast<int64_t>(plan.accumulators.size()) != op.getNumDpsInits() ||
      llvm::none_of(plan.operands, isShared))
    return std::nullopt;
  ArrayRef<unsigned> all = plan.parallel;
  size_t columns = 1;
  while (columns < all.size() &&
         staticCount(plan, all.take_back(columns)) < side)
    ++columns;
  Patches patches;
  patches.rows = all.drop_back(columns);
  patches.columns = all.take_back(columns);
  patches.rowCount = *staticCount(plan, patches.rows);
  patches.columnCount = *staticCount(plan, patches.columns);
  patches.rowThreads = std::min<int64_t>(
      side, llvm::PowerOf2Ceil(static_cast<uint64_t>(patches.rowCount)));
  patches.columnThreads = kThreads / patches.rowThreads;
  if (patches.rowsOfOne() * patches.columnsOfOne() *
          static_cast<int64_t>(plan.accumulators.size()) >
      mostSums)
    return std::nullopt;
  return patches;
}

/// The terms of all of `cursors` in one loop, in which they share what they
/// read alike.
LoopEmitter::Values ThreadEmitter::sumPatch(unsigned depth,
                                            ArrayRef<Cursor> cursors,
                                            const ValueMap &prepared,
                                            ValueRange carried) {
  if (depth < plan.reduced.size()) {
    unsigned dim = plan.reduced[depth];
    return buildFor({}, rangeOf(dim), 1, carried,
                    [&](Value index, ValueRange values) {
                      SmallVector<Cursor> here;
                      for (const Cursor &cursor : cursors)
                        here.push_back(advance(cursor, dim, index));
                      return sumPatch(depth + 1, here, prepared, values);
                    });
  }
  Values sums;
  size_t each = plan.accumulators.size();
  for (auto [i, cursor] : llvm::enumerate(cursors))
    llvm::append_range(sums, emitBodies(cursor, 1, {}, prepared,
                                        carried.slice(i * each, each)));
  return sums;
}

void ThreadEmitter::emitByPatch(const Cursor &cursor, const Patches &patches) {
  Value columnThreads = i32(patches.columnThreads);
  Value row =
      arith::DivUIOp::create(builder, loc, threads.thread, columnThreads);
  Value column =
      arith::RemUIOp::create(builder, loc, threads.thread, columnThreads);
  // Number `i` of a thread; what is behind the last is the last once more, and
  // not written.
  auto place = [&](Value first, int64_t i, int64_t step, int64_t count,
                   Value &isThere) {
    Value at = i ? arith::AddIOp::create(builder, loc, first, i32(i * step))
                       .getResult()
                 : first;
    if ((i + 1) * step <= count)
      return at;
    Value isInside = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::ult, at, i32(count));
    isThere = isThere ? arith::AndIOp::create(builder, loc, isThere, isInside)
                      : isInside;
    return arith::MinUIOp::create(builder, loc, at, i32(count - 1)).getResult();
  };
  SmallVector<Cursor> cursors;
  SmallVector<Value> areThere; ///< Null for always.
  Values sums;
  for (int64_t i = 0; i < patches.rowsOfOne(); ++i)
    for (int64_t j = 0; j < patches.columnsOfOne(); ++j) {
      Value isThere;
      Value r = place(row, i, patches.rowThreads, patches.rowCount, isThere);
      Value c =
          place(column, j, patches.columnThreads, patches.columnCount, isThere);
      cursors.push_back(
          locate(locate(cursor, patches.rows, r, 1), patches.columns, c, 1));
      areThere.push_back(isThere);
      llvm::append_range(sums, readAccumulators(cursors.back(), 1, {}));
    }
  sums = sumPatch(0, cursors, prepareUniform(cursor, std::nullopt), sums);
  size_t each = plan.accumulators.size();
  for (auto [i, at, isThere] : llvm::enumerate(cursors, areThere)) {
    OpBuilder::InsertionGuard guard(builder);
    enterIf(isThere);
    writeAccumulators(at, ValueRange(sums).slice(i * each, each), 1, {});
  }
}

/// Neighbours that a thread sums at once: 16 bytes of the widest operand, where
/// all that is read along the terms lies side by side.
int64_t ThreadEmitter::reducedWidth() {
  unsigned inner = plan.reduced.back();
  Neighbours neighbours(op, plan, views);
  int64_t width = evenWidth(plan, inner, 8);
  for (const LoopOperand &operand : plan.operands) {
    if (!operand.view || !operand.isRead || operand.strides[inner] == 0)
      continue;
    width = std::min(
        width, neighbours.widthAlong(operand.argument, inner,
                                     16 / bytesOf(operand.view->element)));
  }
  for (Operation &inside : op.getBlock()->without_terminator())
    if (isa<memref::LoadOp, linalg::IndexOp>(inside))
      return 1;
  return width;
}

/// What one thread sums: terms from number `first` on, `step` apart.
LoopEmitter::Values
ThreadEmitter::reduceStrided(const Cursor &cursor, Value first, int64_t step,
                             std::optional<int64_t> rowTurn) {
  const int64_t width = plan.vectorIsReduced ? plan.width : 1;
  body.setVectorsAligned(width > 1);
  ValueMap prepared = prepareUniform(cursor, std::nullopt);
  Values sums = identities(width);
  Value count = countOf(plan.reduced, width);
  auto add = [&](Value index, ValueRange carried,
                 std::optional<int64_t> turn = std::nullopt) {
    Cursor at = locate(cursor, plan.reduced, index, width);
    ValueMap values = prepared;
    if (rowTurn && turn)
      addKept(at, plan.parallel, plan.reduced, width, step, *rowTurn, *turn,
              values);
    return emitBodies(at, width, {}, values, carried);
  };
  const int64_t turns = countTurns(count, step, op.getBlock());
  for (int64_t turn = 0; turn < turns; ++turn)
    sums = add(add32(first, i32(turn * step)), sums, turn);
  if (turns == 0) {
    auto loop = scf::ForOp::create(builder, loc, first, count, i32(step), sums);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Values terms = add(loop.getInductionVar(), loop.getRegionIterArgs());
    scf::YieldOp::create(builder, loc, terms);
    sums = Values(loop.getResults());
  }
  body.setVectorsAligned(false);
  if (width > 1)
    for (auto [accumulator, sum] : llvm::zip_equal(plan.accumulators, sums))
      sum = combineLanes(accumulator, sum);
  return sums;
}

/// The value of the lane whose number differs by `distance`; 32 bits at a time.
Value ThreadEmitter::exchangeLane(Value value, int64_t distance) {
  Type type = value.getType();
  Type word = builder.getI32Type();
  auto shuffle = [&](Value bits) {
    return callIntrinsic(builder, loc, "llvm.nvvm.shfl.sync.bfly.i32", word,
                         {i32(-1), bits, i32(distance), i32(kWarp - 1)});
  };
  unsigned bits = type.getIntOrFloatBitWidth();
  Type integer = builder.getIntegerType(bits);
  Value raw = value;
  if (isa<FloatType>(type))
    raw = arith::BitcastOp::create(builder, loc, integer, value);
  if (bits == 64) {
    Value shift = buildI64(builder, loc, 32);
    Value low = arith::TruncIOp::create(builder, loc, word, raw);
    Value high = arith::TruncIOp::create(
        builder, loc, word, arith::ShRUIOp::create(builder, loc, raw, shift));
    low = arith::ExtUIOp::create(builder, loc, integer, shuffle(low));
    high = arith::ExtUIOp::create(builder, loc, integer, shuffle(high));
    high = arith::ShLIOp::create(builder, loc, high, shift);
    raw = arith::OrIOp::create(builder, loc, low, high);
  } else if (bits == 32) {
    raw = shuffle(raw);
  } else {
    raw = shuffle(arith::ExtUIOp::create(builder, loc, word, raw));
    raw = arith::TruncIOp::create(builder, loc, integer, raw);
  }
  if (isa<FloatType>(type))
    raw = arith::BitcastOp::create(builder, loc, type, raw);
  return raw;
}

/// Afterwards each lane has what all of the warp have.
LoopEmitter::Values ThreadEmitter::combineWarp(Values values) {
  for (int64_t distance = kWarp / 2; distance > 0; distance /= 2)
    for (auto [accumulator, value] : llvm::zip_equal(plan.accumulators, values))
      value = combine(accumulator, value, exchangeLane(value, distance));
  return values;
}

/// One thread adds `values` to what was there before.
void ThreadEmitter::writeBy(Value isWriter, const Cursor &cursor,
                            ValueRange values) {
  OpBuilder::InsertionGuard guard(builder);
  enterIf(isWriter);
  Values total = readAccumulators(cursor, 1, {});
  for (auto [accumulator, value, sum] :
       llvm::zip_equal(plan.accumulators, values, total))
    sum = combine(accumulator, value, sum);
  writeAccumulators(cursor, total, 1, {});
}

/// A warp for each result: all of its lanes are at the same one.
void ThreadEmitter::emitByWarp(const Cursor &cursor) {
  overResults(cursor, threads.warp, kThreads / kWarp, 1,
              [&](const Cursor &at, std::optional<int64_t> rowTurn) {
                Values values = combineWarp(
                    reduceStrided(at, threads.lane, kWarp, rowTurn));
                writeTotals(isZero(threads.lane), at, values, kWarp, rowTurn);
              });
}

/// What all threads of a row have the sums of: they keep what one of them
/// writes, where nothing was there before that it adds to.
void ThreadEmitter::writeTotals(Value isWriter, const Cursor &at,
                                ValueRange values, int64_t threadsOfRow,
                                std::optional<int64_t> rowTurn) {
  const bool isNew = llvm::all_of(initial, [](Value value) { return value; });
  if (!isNew || !rowTurn || !kept)
    return writeBy(isWriter, at, values);
  Values totals = readAccumulators(at, 1, {});
  for (auto [accumulator, value, total] :
       llvm::zip_equal(plan.accumulators, values, totals))
    total = combine(accumulator, value, total);
  keepTotals(totals, threadsOfRow, *rowTurn);
  OpBuilder::InsertionGuard guard(builder);
  enterIf(isWriter);
  writeAccumulators(at, totals, 1, {});
}

/// The block for each result: warps leave what they have in shared memory,
/// where all find it.
void ThreadEmitter::emitByBlock(const Cursor &cursor) {
  constexpr int64_t warps = kThreads / kWarp;
  auto place = [&](size_t accumulator, Value warp) {
    Value index =
        arith::ExtUIOp::create(builder, loc, builder.getI64Type(), warp);
    index = addI64(builder, loc, index,
                   buildI64(builder, loc, int64_t(accumulator) * warps));
    return LLVM::GEPOp::create(builder, loc, exchange.getType(),
                               builder.getI64Type(), exchange,
                               ArrayRef<LLVM::GEPArg>{index});
  };
  auto sumOne = [&](const Cursor &at, std::optional<int64_t> rowTurn) {
    Values values =
        combineWarp(reduceStrided(at, threads.thread, kThreads, rowTurn));
    {
      OpBuilder::InsertionGuard inside(builder);
      enterIf(isZero(threads.lane));
      for (auto [i, value] : llvm::enumerate(values))
        LLVM::StoreOp::create(builder, loc, value, place(i, threads.warp));
    }
    buildBarrier(builder, loc);
    Values sums;
    for (int64_t warp = 0; warp < warps; ++warp)
      for (auto [i, value] : llvm::enumerate(values)) {
        Value part = LLVM::LoadOp::create(builder, loc, value.getType(),
                                          place(i, i32(warp)));
        if (warp == 0)
          sums.push_back(part);
        else
          sums[i] = combine(plan.accumulators[i], sums[i], part);
      }
    writeTotals(isZero(threads.thread), at, sums, kThreads, rowTurn);
    buildBarrier(builder, loc); // Before the next result takes the place.
  };
  constexpr int64_t mostRows = 2;
  const int64_t rows = *staticCount(plan, plan.parallel);
  for (int64_t row = 0; row < rows && rows <= mostRows; ++row)
    sumOne(locate(cursor, plan.parallel, i32(row), 1), row);
  if (rows <= mostRows)
    return;
  auto loop = scf::ForOp::create(builder, loc, i32(0), i32(rows), i32(1));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  sumOne(locate(cursor, plan.parallel, loop.getInductionVar(), 1),
         std::nullopt);
}

/// Terms of a result that are worth a warp, and a block.
static constexpr int64_t kWarpTerms = 32, kBlockTerms = 512;

static bool canReorder(const LoopPlan &plan) {
  return llvm::all_of(plan.accumulators,
                      [](const Accumulator &a) { return a.combiner; });
}

bool ThreadEmitter::isForBlock(const LoopPlan &plan) {
  std::optional<int64_t> results = staticCount(plan, plan.parallel);
  std::optional<int64_t> terms = staticCount(plan, plan.reduced);
  return !plan.accumulators.empty() && canReorder(plan) && results && terms &&
         *results < kThreads / kWarp && *terms >= kBlockTerms;
}

bool ThreadEmitter::isForWarp() {
  std::optional<int64_t> results = staticCount(plan, plan.parallel);
  std::optional<int64_t> terms = staticCount(plan, plan.reduced);
  return !plan.accumulators.empty() && canReorder(plan) && terms &&
         *terms >= kWarpTerms && results && *results < kThreads;
}

LogicalResult ThreadEmitter::emit() {
  Cursor cursor = start();
  const bool isBlocks = isForBlock(plan), isWarps = isForWarp();
  std::optional<Patches> patches = findPatches();
  // Most threads would have nothing to do, and the others much.
  if (isWarps && *staticCount(plan, plan.parallel) < kThreads / 2 &&
      *staticCount(plan, plan.reduced) >= kBlockTerms)
    patches.reset();
  if (!patches && (isBlocks || isWarps) && !plan.vectorIsReduced)
    if (int64_t width = reducedWidth(); width > 1) {
      LoopPlan wide = plan;
      wide.vectorDim = plan.reduced.back();
      wide.vectorIsReduced = true;
      wide.width = width;
      return ThreadEmitter(builder, op, wide, target, views, outer, initial,
                           threads, exchange, kept)
          .emit();
    }
  if (std::optional<Squares> squares = findSquares(plan); squares && !share)
    emitSquares(cursor, *squares);
  else if (plan.accumulators.empty())
    emitElements(cursor);
  else if (patches)
    emitByPatch(cursor, *patches);
  else if (isBlocks)
    emitByBlock(cursor);
  else if (isWarps)
    emitByWarp(cursor);
  else
    emitByThread(cursor);
  return failure(failed);
}
