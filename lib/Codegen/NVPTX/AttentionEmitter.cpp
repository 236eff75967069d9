// SPDX-License-Identifier: Apache-2.0

#include "AttentionEmitter.h"

#include "KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace dlc::codegen;
using namespace dlc::codegen::gpu;

/// A thread has elements of two rows, which lie so far apart.
static constexpr int64_t kHalf = 8;
static constexpr int64_t kRowsOfWarp = 16;
/// Elements that are copied at once.
static constexpr int64_t kTogether = 8;
static constexpr float kInfinity = std::numeric_limits<float>::infinity();

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

AttentionEmitter::Values AttentionEmitter::State::flat() const {
  Values all = greatest;
  llvm::append_range(all, weights);
  llvm::append_range(all, sums);
  return all;
}

AttentionEmitter::State AttentionEmitter::State::from(ValueRange values) {
  return {values.take_front(2), values.slice(2, 2), values.drop_front(4)};
}

Value AttentionEmitter::f32(float value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getF32FloatAttr(value));
}

/// Within two units in the last place, which weights that become f16 or bf16
/// hide.
Value AttentionEmitter::powerOfTwo(Value value) {
  return callIntrinsic(builder, loc, "llvm.nvvm.ex2.approx.ftz.f32",
                       builder.getF32Type(), value);
}

/// Of what is no number the other: it comes back as a weight.
Value AttentionEmitter::greater(Value a, Value b) {
  return arith::MaxNumFOp::create(builder, loc, a, b);
}

/// Folds what the four threads of a row have.
Value AttentionEmitter::overQuad(Value value, bool isSum) {
  Type word = builder.getI32Type();
  constexpr int64_t allLanes = -1, segment = 0x1f;
  for (int64_t distance : {1, 2}) {
    Value raw = arith::BitcastOp::create(builder, loc, word, value);
    Value other =
        callIntrinsic(builder, loc, "llvm.nvvm.shfl.sync.bfly.i32", word,
                      {i32(allLanes), raw, i32(distance), i32(segment)});
    other = arith::BitcastOp::create(builder, loc, value.getType(), other);
    value = isSum
                ? arith::AddFOp::create(builder, loc, value, other).getResult()
                : greater(value, other);
  }
  return value;
}

/// What scores are compared with: where all are minus infinity, weights are 0.
Value AttentionEmitter::finiteOr0(Value greatest) {
  Value isNone = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ,
                                       greatest, f32(-kInfinity));
  return arith::SelectOp::create(builder, loc, isNone, f32(0), greatest);
}

/// Two f32 as a pair of short floats.
Value AttentionEmitter::pack(Value low, Value high) {
  Type element = viewOf(op.getQ()).element;
  Value pair = vector::FromElementsOp::create(
      builder, loc, VectorType::get({2}, builder.getF32Type()),
      ValueRange{low, high});
  pair = arith::TruncFOp::create(builder, loc, VectorType::get({2}, element),
                                 pair);
  Type wanted = getPairType(element);
  return pair.getType() == wanted
             ? pair
             : LLVM::BitcastOp::create(builder, loc, wanted, pair).getResult();
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// `pointer` and so many bytes, i32, of shared memory.
Value AttentionEmitter::at(Value pointer, Value bytes) {
  return LLVM::GEPOp::create(builder, loc, pointer.getType(),
                             builder.getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{widen(bytes)});
}

/// Of an element of a matrix in the device's memory.
Value AttentionEmitter::addressOf(const View &view, Value row, Value column) {
  Value offset = addI64(
      builder, loc, view.offset,
      addI64(builder, loc, mulI64(builder, loc, widen(row), view.strides[0]),
             mulI64(builder, loc, widen(column), view.strides[1])));
  return LLVM::GEPOp::create(builder, loc, view.base.getType(), view.element,
                             view.base, ArrayRef<LLVM::GEPArg>{offset});
}

void AttentionEmitter::findWork() {
  row = mul32(divide32(threads.warp, plan.byKey), kRowsOfWarp);
  part = rest32(threads.warp, plan.byKey);
  high = divide32(threads.lane, 4);
  wide = mul32(rest32(threads.lane, 4), 2);
  OpFoldResult count = viewOf(op.getQ()).sizes[0];
  if (std::optional<int64_t> known = getConstantIntValue(count))
    rows = i32(*known);
  else
    rows = builder.createOrFold<arith::TruncIOp>(loc, builder.getI32Type(),
                                                 cast<Value>(count));
  if (std::optional<uint64_t> causal = op.getCausal()) {
    Value first = builder.createOrFold<arith::TruncIOp>(
        loc, builder.getI32Type(), scalars.lookup(op.getFirst()));
    lastKeyOfFirst = add32(first, i32(static_cast<int64_t>(*causal)));
  }
}

//===----------------------------------------------------------------------===//
// From memory
//===----------------------------------------------------------------------===//

/// Columns of a matrix in the device's memory.
int64_t AttentionEmitter::columnsOf(Value memref) const {
  return *getConstantIntValue(viewOf(memref).sizes[1]);
}

/// The rows of a warp as mma's first operand has them, four pairs for 16 of the
/// depth. Rows that are not there are the last one again, and what only fills
/// up the depth is zeros.
AttentionEmitter::Values AttentionEmitter::readQueries() {
  const View &view = viewOf(op.getQ());
  Type pair = getPairType(view.element);
  Value last = arith::SubIOp::create(builder, loc, rows, i32(1));
  Values own;
  for (int64_t half : {0, 1}) {
    Value index = add32(add32(row, high), i32(kHalf * half));
    own.push_back(arith::MinUIOp::create(builder, loc, index, last));
  }
  Values queries;
  for (int64_t depth = 0; depth < plan.depth; depth += 8)
    for (int64_t half : {0, 1})
      queries.push_back(
          depth < columnsOf(op.getQ())
              ? LLVM::LoadOp::create(
                    builder, loc, pair,
                    addressOf(view, own[half], add32(wide, i32(depth))), 4)
                    .getResult()
              : LLVM::ZeroOp::create(builder, loc, pair).getResult());
  return queries;
}

/// Rows of a step to shared memory, of that many columns; what is not there is
/// zeros.
void AttentionEmitter::copyRows(Value memref, Value firstKey, int64_t columns,
                                int64_t pitch, Value to) {
  const View &view = viewOf(memref);
  const int64_t perRow = columns / kTogether, pieces = perRow * plan.step();
  auto loop = scf::ForOp::create(builder, loc, threads.thread, i32(pieces),
                                 i32(kThreads));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value piece = loop.getInductionVar();
  Value within = divide32(piece, perRow),
        column = mul32(rest32(piece, perRow), kTogether);
  Value key = add32(firstKey, within), isThere;
  if (plan.keys % plan.step()) {
    isThere = isBelow(key, plan.keys);
    key = arith::SelectOp::create(builder, loc, isThere, key, i32(0));
  }
  Value place = mul32(add32(mul32(within, pitch), column), 2);
  if (const int64_t own = columnsOf(memref); own < columns) {
    Value isColumn = isBelow(column, own);
    isThere = both(isThere, isColumn);
    column = arith::SelectOp::create(builder, loc, isColumn, column, i32(0));
  }
  copyAsync(builder, loc, at(to, place), addressOf(view, key, column),
            2 * kTogether, isThere);
}

void AttentionEmitter::copyStep(Value step, Value stage) {
  Value firstKey = mul32(step, plan.step());
  Value keys = at(shared, mul32(stage, plan.stageBytes()));
  copyRows(op.getK(), firstKey, plan.depth, plan.keyPitch(), keys);
  copyRows(op.getV(), firstKey, plan.columns, plan.valuePitch(),
           at(keys, i32(plan.keyBytes())));
  commitCopies(builder, loc);
}

//===----------------------------------------------------------------------===//
// A step
//===----------------------------------------------------------------------===//

/// Products of a warp's rows and its keys of a step, as tiles of 16 x 8.
AttentionEmitter::Values AttentionEmitter::scoresOf(Value keys,
                                                    ValueRange queries) {
  Type element = viewOf(op.getQ()).element;
  const int64_t tiles = plan.keysOfWarp / 8;
  Values scores(4 * tiles, f32(0));
  // Lines of the four matrices: keys, with neighbours along the depth.
  Value line = add32(rest32(threads.lane, 8),
                     mul32(divide32(threads.lane, 16), 8)),
        shift = mul32(rest32(divide32(threads.lane, 8), 2), 8);
  Value first = add32(mul32(part, plan.keysOfWarp), line);
  for (int64_t depth = 0; depth < plan.depth; depth += 16)
    for (int64_t tile = 0; tile < tiles; tile += 2) {
      Value place = add32(mul32(add32(first, i32(8 * tile)), plan.keyPitch()),
                          add32(shift, i32(depth)));
      Values four = loadMatrices(builder, loc, at(keys, mul32(place, 2)),
                                 /*areTurned=*/false, element);
      for (int64_t i : {0, 1}) {
        auto own = MutableArrayRef(scores).slice(4 * (tile + i), 4);
        llvm::copy(
            multiplyMatrices(builder, loc, element, queries.slice(depth / 4, 4),
                             ArrayRef(four).slice(2 * i, 2), ValueRange(own)),
            own.begin());
      }
    }
  return scores;
}

/// Of a mask, for one score.
Value AttentionEmitter::elementOf(Value mask, Value row, Value key) {
  const View &view = viewOf(mask);
  Value offset = view.offset;
  const Value indices[] = {row, key};
  for (auto [index, stride, size] :
       llvm::zip_equal(ArrayRef(indices).take_back(view.strides.size()),
                       view.strides, view.sizes))
    if (!isConstantIntValue(size, 1))
      offset = addI64(builder, loc, offset,
                      mulI64(builder, loc, widen(index), stride));
  return body.load(loc, view, offset, 0, 1, {});
}

/// A score behind all masks.
Value AttentionEmitter::masked(Value score, Value row, Value key) {
  Value fill = f32(op.getFill().convertToFloat());
  size_t next = 0;
  for (StringRef form : op.getForms().getAsValueRange<StringAttr>()) {
    if (form == "causal") {
      Value isSeen =
          arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle, key,
                                add32(row, lastKeyOfFirst));
      score = arith::SelectOp::create(builder, loc, isSeen, score, fill);
      continue;
    }
    Value element = elementOf(op.getMasks()[next++], row, key);
    if (form == "add")
      score = arith::AddFOp::create(builder, loc, score, element);
    else
      score = form == "keep"
                  ? arith::SelectOp::create(builder, loc, element, score, fill)
                  : arith::SelectOp::create(builder, loc, element, fill, score);
  }
  return score;
}

/// What differences of scores are multiplied by to be exponents of two. They
/// are scaled with it, too, if that is all that is done with scores and keeps
/// their order.
float AttentionEmitter::exponentFactor() {
  const auto logarithm = static_cast<float>(M_LOG2E);
  return scalesLater() ? op.getScale().convertToFloat() * logarithm : logarithm;
}

bool AttentionEmitter::scalesLater() {
  return op.getForms().empty() && op.getScale().convertToFloat() > 0;
}

/// e to the power of a difference of scores. It is taken before it is
/// multiplied: scores may be so large that their multiples are infinite, or
/// rounded by more than the difference.
Value AttentionEmitter::weightOf(Value score, Value base) {
  Value difference = arith::SubFOp::create(builder, loc, score, base);
  return powerOfTwo(
      arith::MulFOp::create(builder, loc, difference, f32(exponentFactor())));
}

/// Scores as they are compared; those of keys that are not there are minus
/// infinity.
AttentionEmitter::Values AttentionEmitter::maskScores(ValueRange scores,
                                                      Value step) {
  Value scale = f32(op.getScale().convertToFloat());
  Value firstKey = add32(
      add32(mul32(step, plan.step()), mul32(part, plan.keysOfWarp)), wide);
  Value lastRow = arith::SubIOp::create(builder, loc, rows, i32(1));
  Values results;
  for (auto [i, score] : llvm::enumerate(scores)) {
    const auto tile = static_cast<int64_t>(i) / 4;
    Value result = score;
    if (!scalesLater())
      result = arith::MulFOp::create(builder, loc, score, scale);
    Value key = add32(firstKey, i32(8 * tile + i % 2)), isThere;
    if (plan.keys % plan.step())
      isThere = isBelow(key, plan.keys);
    if (!op.getForms().empty()) {
      Value own = add32(add32(row, high), i32(i % 4 / 2 * kHalf));
      own = arith::MinUIOp::create(builder, loc, own, lastRow);
      if (isThere)
        key = arith::SelectOp::create(builder, loc, isThere, key, i32(0));
      result = masked(result, own, key);
    }
    if (isThere)
      result = arith::SelectOp::create(builder, loc, isThere, result,
                                       f32(-kInfinity));
    results.push_back(result);
  }
  return results;
}

/// Adds the keys of a step, which is in `stage`.
AttentionEmitter::State AttentionEmitter::addStep(const State &state,
                                                  Value step, Value stage,
                                                  ValueRange queries) {
  Type element = viewOf(op.getQ()).element;
  Value keys = at(shared, mul32(stage, plan.stageBytes()));
  Values scores = maskScores(scoresOf(keys, queries), step);
  State next;
  Values bases, rescale; // What scores are compared with.
  for (size_t half : {0, 1}) {
    Value own = scores[2 * half];
    for (size_t i = 0; i < scores.size(); ++i)
      if (i % 4 / 2 == half && i != 2 * half)
        own = greater(own, scores[i]);
    own = overQuad(own, /*isSum=*/false);
    next.greatest.push_back(greater(state.greatest[half], own));
    bases.push_back(finiteOr0(next.greatest[half]));
    rescale.push_back(weightOf(state.greatest[half], bases[half]));
    next.weights.push_back(arith::MulFOp::create(
        builder, loc, state.weights[half], rescale[half]));
  }
  Values weights;
  for (auto [i, score] : llvm::enumerate(scores)) {
    const size_t half = i % 4 / 2;
    weights.push_back(weightOf(score, bases[half]));
    next.weights[half] =
        arith::AddFOp::create(builder, loc, next.weights[half], weights.back());
  }
  for (auto [i, sum] : llvm::enumerate(state.sums))
    next.sums.push_back(
        arith::MulFOp::create(builder, loc, sum, rescale[i % 4 / 2]));
  // Two tiles of 16 x 8 weights are mma's first operand for 16 keys. Lines of
  // the four matrices are keys, with neighbours along the columns.
  Value values = at(keys, i32(plan.keyBytes()));
  Value line = add32(rest32(threads.lane, 8),
                     mul32(rest32(divide32(threads.lane, 8), 2), 8)),
        shift = mul32(divide32(threads.lane, 16), 8);
  Value first = add32(mul32(part, plan.keysOfWarp), line);
  for (int64_t key = 0; key < plan.keysOfWarp; key += 16) {
    auto of = ArrayRef(weights).slice(key / 2, 8);
    Values pairs;
    for (size_t i = 0; i < 8; i += 2)
      pairs.push_back(pack(of[i], of[i + 1]));
    for (int64_t column = 0; column < plan.columns; column += 16) {
      Value place = add32(mul32(add32(first, i32(key)), plan.valuePitch()),
                          add32(shift, i32(column)));
      Values four = loadMatrices(builder, loc, at(values, mul32(place, 2)),
                                 /*areTurned=*/true, element);
      for (int64_t i : {0, 1}) {
        auto own = MutableArrayRef(next.sums).slice(column / 2 + 4 * i, 4);
        llvm::copy(multiplyMatrices(builder, loc, element, pairs,
                                    ArrayRef(four).slice(2 * i, 2),
                                    ValueRange(own)),
                   own.begin());
      }
    }
  }
  return next;
}

/// While threads compute with one step in shared memory, the next one is on its
/// way there, if there is room for both. From step `begin` to `end`, i32.
AttentionEmitter::State AttentionEmitter::overSteps(const State &state,
                                                    Value begin, Value end,
                                                    ValueRange queries) {
  const bool isAhead = plan.stages > 1;
  auto isBefore = [&](Value step) {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, step,
                                 end);
  };
  if (isAhead) {
    OpBuilder::InsertionGuard inside(builder);
    if (getConstantIntValue(begin) != 0 || !getConstantIntValue(end))
      enterIf(builder, loc, isBefore(begin));
    copyStep(begin, rest32(begin, plan.stages));
  }
  auto loop =
      scf::ForOp::create(builder, loc, begin, end, i32(1), state.flat());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value step = loop.getInductionVar(), stage = rest32(step, plan.stages);
  if (isAhead) {
    // What the next one takes the place of has been read by all then.
    waitForCopies(builder, loc, 0);
    Value next = add32(step, i32(1));
    OpBuilder::InsertionGuard inside(builder);
    enterIf(builder, loc, isBefore(next));
    copyStep(next, rest32(next, plan.stages));
  } else {
    buildBarrier(builder, loc);
    copyStep(step, stage);
    waitForCopies(builder, loc, 0);
  }
  State next =
      addStep(State::from(loop.getRegionIterArgs()), step, stage, queries);
  scf::YieldOp::create(builder, loc, next.flat());
  return State::from(loop.getResults());
}

/// Steps that have a key which a row of the tile sees, i32; null where nothing
/// tells of them.
Value AttentionEmitter::countSeenSteps() {
  // What is added behind may raise what is hidden.
  auto forms = llvm::to_vector(op.getForms().getAsValueRange<StringAttr>());
  auto *causal = llvm::find(forms, "causal");
  if (causal == forms.end() ||
      std::find(causal, forms.end(), "add") != forms.end())
    return {};
  Value keys = add32(rows, lastKeyOfFirst); // May be negative.
  keys = arith::MaxSIOp::create(builder, loc, keys, i32(0));
  Value steps = divide32(add32(keys, i32(plan.step() - 1)), plan.step());
  return arith::MinUIOp::create(builder, loc, steps, i32(plan.steps));
}

/// Whether what is hidden weighs anything beside what a row of the block has
/// seen so far; of warps that have all keys.
Value AttentionEmitter::doesHiddenCount(const State &state) {
  constexpr float enough = 160; // Powers of two that f32 can be apart.
  Value limit = f32(op.getFill().convertToFloat() + enough / exponentFactor());
  Value isAny;
  for (Value greatest : state.greatest) {
    Value isLow = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::ULE,
                                        greatest, limit);
    isAny = isAny ? arith::OrIOp::create(builder, loc, isAny, isLow).getResult()
                  : isLow;
  }
  return callIntrinsic(builder, loc, "llvm.nvvm.barrier.cta.red.or.aligned.all",
                       builder.getI1Type(), {i32(0), isAny});
}

/// All keys, or those that are seen, and the others if they count.
AttentionEmitter::State AttentionEmitter::overKeys(ValueRange queries) {
  State state{Values(2, f32(-kInfinity)), Values(2, f32(0)),
              Values(plan.columns / 2, f32(0))};
  const bool isNothing = op.getFill().isInfinity() && op.getFill().isNegative();
  Value all = i32(plan.steps), seen = countSeenSteps();
  if (!seen || (!isNothing && plan.byKey > 1))
    return overSteps(state, i32(0), all, queries);
  if (isNothing)
    return overSteps(state, i32(0), seen, queries);
  // One loop that is entered twice: its body is long.
  auto turns =
      scf::ForOp::create(builder, loc, i32(0), i32(2), i32(1), state.flat());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(turns.getBody());
  State before = State::from(turns.getRegionIterArgs());
  Value isFirst = isZero(builder, loc, turns.getInductionVar());
  Value counts = doesHiddenCount(before);
  auto choose = [&](Value condition, Value a, Value b) -> Value {
    return arith::SelectOp::create(builder, loc, condition, a, b);
  };
  Value begin = choose(isFirst, i32(0), seen);
  Value end = choose(isFirst, seen, choose(counts, all, seen));
  State after = overSteps(before, begin, end, queries);
  scf::YieldOp::create(builder, loc, after.flat());
  return State::from(turns.getResults());
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// Two neighbours, unless the row only fills up.
void AttentionEmitter::writeRow(Value row, Value column, Value low,
                                Value high) {
  OpBuilder::InsertionGuard guard(builder);
  enterIf(builder, loc,
          arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, row,
                                rows));
  LLVM::StoreOp::create(builder, loc, pack(low, high),
                        addressOf(viewOf(op.getY()), row, column), 4);
}

/// Of warps that have all keys.
void AttentionEmitter::write(const State &state) {
  for (size_t half : {0, 1}) {
    Value inverse = arith::DivFOp::create(
        builder, loc, f32(1), overQuad(state.weights[half], /*isSum=*/true));
    auto scaled = [&](size_t i) -> Value {
      return arith::MulFOp::create(builder, loc, state.sums[i], inverse);
    };
    Value own = add32(add32(row, high), i32(kHalf * half));
    for (int64_t column = 0; column < columnsOf(op.getY()); column += 8) {
      const size_t i = column / 2 + 2 * half;
      writeRow(own, add32(wide, i32(column)), scaled(i), scaled(i + 1));
    }
  }
}

/// Leaves what a warp has in shared memory: rows of sums, and behind them for
/// each row the greatest score and the sum of weights.
void AttentionEmitter::leave(const State &state) {
  buildBarrier(builder, loc); // Keys and values have been read.
  Value base = at(shared, mul32(threads.warp, plan.partBytes()));
  auto store = [&](Value value, Value index, int64_t bytes) {
    LLVM::StoreOp::create(builder, loc, value, at(base, mul32(index, 4)),
                          static_cast<unsigned>(bytes));
  };
  for (size_t half : {0, 1}) {
    Value own = add32(high, i32(kHalf * half));
    for (int64_t column = 0; column < plan.columns; column += 8) {
      Value pair = vector::FromElementsOp::create(
          builder, loc, VectorType::get({2}, builder.getF32Type()),
          ArrayRef(state.sums).slice(column / 2 + 2 * half, 2));
      store(pair, add32(mul32(own, plan.columns), add32(wide, i32(column))), 8);
    }
    Value sum = overQuad(state.weights[half], /*isSum=*/true);
    Value last = add32(mul32(own, 2), i32(kRowsOfWarp * plan.columns));
    store(state.greatest[half], last, 4);
    store(sum, add32(last, i32(1)), 4);
  }
  buildBarrier(builder, loc);
}

/// Adds up, in their order, what warps of the same rows have.
void AttentionEmitter::gather() {
  Type type = builder.getF32Type(), pair = VectorType::get({2}, type);
  const int64_t pairs = columnsOf(op.getY()) / 2;
  auto loop =
      scf::ForOp::create(builder, loc, threads.thread,
                         i32(plan.byRow * kRowsOfWarp * pairs), i32(kThreads));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value number = loop.getInductionVar();
  Value own = divide32(number, pairs), column = mul32(rest32(number, pairs), 2),
        within = rest32(own, kRowsOfWarp);
  Value firstPart =
      mul32(divide32(own, kRowsOfWarp), plan.byKey * plan.partBytes());
  auto load = [&](Type type, int64_t part, Value index,
                  int64_t bytes) -> Value {
    Value place =
        add32(add32(firstPart, i32(part * plan.partBytes())), mul32(index, 4));
    return LLVM::LoadOp::create(builder, loc, type, at(shared, place),
                                static_cast<unsigned>(bytes));
  };
  Value last = add32(mul32(within, 2), i32(kRowsOfWarp * plan.columns));
  Values greatest;
  Value most;
  for (int64_t part = 0; part < plan.byKey; ++part) {
    greatest.push_back(load(type, part, last, 4));
    most = most ? greater(most, greatest.back()) : greatest.back();
  }
  Value base = finiteOr0(most), weight = f32(0);
  Values sums(2, f32(0));
  for (int64_t part = 0; part < plan.byKey; ++part) {
    Value factor = weightOf(greatest[part], base);
    auto add = [&](Value sum, Value value) -> Value {
      return LLVM::FMAOp::create(builder, loc, factor, value, sum);
    };
    weight = add(weight, load(type, part, add32(last, i32(1)), 4));
    Value two = load(pair, part, add32(mul32(within, plan.columns), column), 8);
    for (int64_t i : {0, 1})
      sums[i] = add(sums[i], vector::ExtractOp::create(builder, loc, two, i));
  }
  Value inverse = arith::DivFOp::create(builder, loc, f32(1), weight);
  for (Value &sum : sums)
    sum = arith::MulFOp::create(builder, loc, sum, inverse);
  writeRow(own, column, sums[0], sums[1]);
}

void AttentionEmitter::emit() {
  findWork();
  State state = overKeys(readQueries());
  if (plan.byKey == 1)
    return write(state);
  leave(state);
  gather();
}
