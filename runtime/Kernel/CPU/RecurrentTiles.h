// SPDX-License-Identifier: Apache-2.0
//
// The tiles of cpu.recurrent. See Vector.h for who may include it.
//
// A tile is some sequences in one direction, and all of their units, or some of
// them where other tiles compute the others meanwhile. Each step multiplies the
// states behind the step before, which are in Y, with R, of all gates at once
// where the cell allows it, and then computes the gates a vector of units at a
// time.

#ifndef DLC_RUNTIME_KERNEL_CPU_RECURRENTTILES_H
#define DLC_RUNTIME_KERNEL_CPU_RECURRENTTILES_H

#include "MicroKernel.h"
#include "RecurrentSet.h"
#include "Transpose.h"

namespace dlc::rt::cpu {
namespace {

/// Terms that are summed at a time, so that 64 columns of R stay in a cache of
/// their processor while rows pass.
constexpr int64_t kStateTerms = 512;

inline int64_t roundUp(int64_t value, int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

inline Vec absOf(Vec x) { return x < 0.0f ? -x : x; }

/// log(1 + u) for u from 0 to 1, as 2 atanh(u / (u + 2)): an error of an ulp or
/// two.
inline Vec logOnePlusOf(Vec u) {
  const Vec s = u / (u + 2.0f);
  return s * 2.0f *
         polynomial(s * s, 1.0f, 1.0f / 3, 1.0f / 5, 1.0f / 7, 1.0f / 9,
                    1.0f / 11, 1.0f / 13, 1.0f / 15);
}

/// e^x - 1 for x of at most 0, as 2t / (1 - t) with t = tanh(x / 2): small ones
/// keep their digits.
inline Vec expMinusOneOf(Vec x) {
  const Vec t = tanhOf(x * 0.5f);
  return t * 2.0f / (1.0f - t);
}

inline Vec activateGate(const GateActivation &gate, Vec x) {
  const Vec zero = {};
  switch (gate.function) {
  case GateFunction::Affine:
    return x * gate.alpha + gate.beta;
  case GateFunction::Elu:
    return x < zero ? expMinusOneOf(minOf(x, zero)) * gate.alpha : x;
  case GateFunction::HardSigmoid: {
    const Vec line = x * gate.alpha + gate.beta;
    return minOf(line > zero ? line : zero, splat(1)); // NaN becomes 0
  }
  case GateFunction::LeakyRelu:
    return x < zero ? x * gate.alpha : x;
  case GateFunction::Relu:
    return x < zero ? zero : x;
  case GateFunction::ScaledTanh:
    return tanhOf(x * gate.beta) * gate.alpha;
  case GateFunction::Sigmoid:
    return activate<Activation::Sigmoid>(x, {});
  case GateFunction::Softplus:
    return (x > zero ? x : zero) + logOnePlusOf(expOf(-absOf(x)));
  case GateFunction::Softsign:
    return x / (absOf(x) + 1.0f);
  case GateFunction::Tanh:
    return tanhOf(x);
  case GateFunction::ThresholdedRelu:
    return x >= splat(gate.alpha) ? x : zero;
  }
  return x;
}

//===----------------------------------------------------------------------===//
// Cells
//===----------------------------------------------------------------------===//

/// One step of one sequence, but for products.
struct CellStep {
  const RecurrentPlan &plan;
  const GateActivation *activations; ///< Of this direction.
  const float *input;                ///< W x.
  const float *products[kMostGateParts];
  const float *bias, *peepholes; ///< Null when absent.
  float *h, *c, *held, *y;
  int64_t firstUnit, units; ///< Those of products; all else has all units.

  template <bool isUsual> void rnn() const;
  template <bool isUsual> void gru() const;
  template <bool isUsual> void lstm() const;
  template <bool isUsual> void reset() const;

private:
  static constexpr int kCandidate = 2; ///< Of a gru.

  int64_t endUnit() const { return firstUnit + units; }
  /// What W and R give to gate `gate` of `count` units from `j` on, with their
  /// biases.
  [[gnu::always_inline]] Vec fromInput(int gate, int64_t j,
                                       int64_t count) const {
    const int64_t at = gate * plan.hidden + j;
    const Vec sum = loadFirst(input + at, count);
    return bias ? sum + loadFirst(bias + at, count) : sum;
  }
  [[gnu::always_inline]] Vec fromState(int gate, int64_t j,
                                       int64_t count) const {
    const int64_t at = gate * plan.hidden + j;
    const bool isSecond = plan.cell == Cell::Gru && gate == kCandidate;
    const float *product = isSecond ? products[1] : products[0] + gate * units;
    const Vec sum = loadFirst(product + j - firstUnit, count);
    return bias ? sum + loadFirst(bias + plan.gates * plan.hidden + at, count)
                : sum;
  }
  [[gnu::always_inline]] Vec argument(int gate, int64_t j,
                                      int64_t count) const {
    return fromInput(gate, j, count) + fromState(gate, j, count);
  }
  [[gnu::always_inline]] Vec limited(Vec x) const {
    return minOf(maxOf(x, splat(-plan.limit)), splat(plan.limit));
  }
  /// Activation `which` of the cell, by default `usual`.
  template <bool isUsual, Activation usual>
  [[gnu::always_inline]] Vec activated(int which, Vec x) const {
    if constexpr (isUsual)
      return activate<usual>(x, {});
    else
      return activateGate(activations[which], x);
  }
  template <bool isUsual>
  [[gnu::always_inline]] Vec sigmoid(int which, Vec x) const {
    return activated<isUsual, Activation::Sigmoid>(which, limited(x));
  }
  template <bool isUsual>
  [[gnu::always_inline]] Vec tanh(int which, Vec x) const {
    return activated<isUsual, Activation::Tanh>(which, limited(x));
  }
  [[gnu::always_inline]] void give(int64_t j, int64_t count, Vec next) const {
    storeFirst(h + j, next, count);
    storeFirst(y + j, next, count);
  }
};

template <bool isUsual> inline void CellStep::rnn() const {
  for (int64_t j = firstUnit; j < endUnit(); j += kLanes) {
    const int64_t count = endUnit() - j;
    give(j, count, tanh<isUsual>(0, argument(0, j, count)));
  }
}

/// What the candidate of a gru sees of the state.
template <bool isUsual> inline void CellStep::reset() const {
  for (int64_t j = firstUnit; j < endUnit(); j += kLanes) {
    const int64_t count = endUnit() - j;
    const Vec reset = sigmoid<isUsual>(0, argument(1, j, count));
    storeFirst(held + j, reset * loadFirst(h + j, count), count);
  }
}

template <bool isUsual> inline void CellStep::gru() const {
  for (int64_t j = firstUnit; j < endUnit(); j += kLanes) {
    const int64_t count = endUnit() - j;
    Vec past = fromState(kCandidate, j, count);
    if (plan.linearBeforeReset)
      past *= sigmoid<isUsual>(0, argument(1, j, count));
    const Vec z = sigmoid<isUsual>(0, argument(0, j, count));
    const Vec candidate =
        tanh<isUsual>(1, fromInput(kCandidate, j, count) + past);
    const Vec before = loadFirst(h + j, count);
    give(j, count, (1.0f - z) * candidate + z * before);
  }
}

template <bool isUsual> inline void CellStep::lstm() const {
  enum { Input, Output, Forget, Candidate };
  enum { InputPeep, OutputPeep, ForgetPeep };
  for (int64_t j = firstUnit; j < endUnit(); j += kLanes) {
    const int64_t count = endUnit() - j;
    const Vec before = loadFirst(c + j, count);
    auto gate = [&](int index, int peep,
                    Vec cell) __attribute__((always_inline)) {
      Vec x = argument(index, j, count);
      if (peepholes)
        x += loadFirst(peepholes + peep * plan.hidden + j, count) * cell;
      return sigmoid<isUsual>(0, x);
    };
    const Vec input = gate(Input, InputPeep, before);
    const Vec forget =
        plan.inputForget ? 1.0f - input : gate(Forget, ForgetPeep, before);
    const Vec candidate = tanh<isUsual>(1, argument(Candidate, j, count));
    const Vec cell = forget * before + input * candidate;
    storeFirst(c + j, cell, count);
    const Vec output = gate(Output, OutputPeep, cell);
    give(j, count, output * activated<isUsual, Activation::Tanh>(2, cell));
  }
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// c = a * b, b packed, a multiple of 16 columns.
inline void multiplyPacked(const float *a, int64_t aStride, int64_t rows,
                           const float *b, int64_t terms, int64_t columns,
                           float *c, int64_t cStride) {
  // Rows are dealt out evenly, as those of a product are.
  const int64_t calls = (rows + kMaxRows - 1) / kMaxRows;
  TileArguments t = {};
  t.aStride = aStride;
  t.cStride = cStride;
  for (int64_t column = 0; column < columns; column += kPackedColumns) {
    const int64_t width = least(kPackedColumns, columns - column);
    const float *panel = b + column * terms;
    t.bStride = width;
    for (int64_t term = 0; term < terms; term += kStateTerms) {
      t.k = least(kStateTerms, terms - term);
      t.accumulate = term > 0;
      int64_t row = 0;
      for (int64_t call = 0; call < calls; ++call) {
        const int64_t count = rows / calls + (call < rows % calls);
        t.a = a + row * aStride + term;
        for (int64_t inside = 0; inside < width;) {
          const int64_t vectors =
              least<int64_t>(kVectorsOf[count], (width - inside) / kLanes);
          t.b = panel + term * width + inside;
          t.c = c + row * cStride + column + inside;
          microKernelOf<AForm::Rows, false>(count, vectors)(t);
          inside += vectors * kLanes;
        }
        row += count;
      }
    }
  }
}

/// Rows that multiply bytes at a time, and vectors of those: sums enough for
/// the latency of products, and no more than there are registers for.
constexpr int kByteRows = 4;
constexpr int byteVectorsOf(int rows) {
  return rows > 1 && DLC_VECTOR_BYTES < 64 ? 2 : 4;
}

[[gnu::always_inline]] inline Vec loadBytes(const int8_t *source) {
  typedef int8_t Bytes __attribute__((vector_size(kLanes)));
  Bytes bytes;
  __builtin_memcpy(&bytes, source, sizeof(bytes));
  return __builtin_convertvector(__builtin_convertvector(bytes, IntVec), Vec);
}

/// c = a * b * scales * `factor`, for some columns of a panel `width` wide.
template <int rows, int vectors>
inline void multiplyBytesOf(const float *a, int64_t aStride, const int8_t *b,
                            int64_t width, const float *scales, float factor,
                            int64_t terms, float *c, int64_t cStride) {
  Vec sums[rows][vectors] = {};
  for (int64_t l = 0; l < terms; ++l, b += width)
    for (int v = 0; v < vectors; ++v) {
      const Vec weights = loadBytes(b + v * kLanes);
      for (int i = 0; i < rows; ++i)
        sums[i][v] = plusProduct(sums[i][v], a[i * aStride + l], weights);
    }
  for (int i = 0; i < rows; ++i)
    for (int v = 0; v < vectors; ++v)
      store(c + i * cStride + v * kLanes,
            sums[i][v] * load(scales + v * kLanes) * factor);
}

/// c = a * b * scales * `factor`, b packed, a multiple of 16 columns.
template <int rows>
inline void multiplyBytes(const float *a, int64_t aStride, const int8_t *b,
                          const float *scales, float factor, int64_t terms,
                          int64_t columns, float *c, int64_t cStride) {
  constexpr int vectors = byteVectorsOf(rows);
  for (int64_t column = 0; column < columns;) {
    const int64_t first = column / kPackedColumns * kPackedColumns;
    const int64_t width = least(kPackedColumns, columns - first);
    const int8_t *from = b + first * terms + column - first;
    const bool isWhole = first + width - column >= vectors * kLanes;
    (isWhole ? multiplyBytesOf<rows, vectors>
             : multiplyBytesOf<rows, 1>)(a, aStride, from, width,
                                         scales + column, factor, terms,
                                         c + column, cStride);
    column += isWhole ? vectors * kLanes : kLanes;
  }
}

/// Some units of some sequences in one direction. The pointers are those of the
/// first sequence, of all units.
struct RecurrentTile {
  const RecurrentPlan &plan;
  const GateActivation *activations;
  const float *inputs, *bias, *peepholes;
  const float *recurrence;      ///< Or null,
  const int8_t *recurrentBytes; ///< and these, of which each column
  const float *recurrentScales; ///< is multiplied with one of those.
  const float *initialH, *initialC;
  const int32_t *lengths;
  float *y, *h, *c, *held, *scratch;
  int64_t rows, firstUnit, units;
  bool isReverse;

  void run(const RecurrentRange &range) const;

private:
  /// Where a sequence is: behind its end, at its first step, behind that.
  enum class Progress { None, First, Further };
  /// Sequences that are at the same one.
  struct Rows {
    int64_t begin, end;
  };

  Progress progressOf(int64_t row, int64_t time) const;
  void initialize(const float *source, float *target) const;
  void runStep(int64_t step, int phase) const;
  template <bool isUsual>
  void runRows(Rows some, int64_t time, const float *input, int phase,
               bool isFirst) const;
  void passBy(Rows some, int64_t time) const;
  void multiply(int part, Rows some, const float *a, int64_t aStride) const;
  void multiplyWithBytes(int64_t firstColumn, int64_t columns, int64_t count,
                         const float *a, int64_t aStride, float *c) const;
  void multiplyState(int part, Rows some, int64_t time, bool isFirst) const;
  template <typename Function>
  void forEach(Rows some, int64_t time, const float *input,
               Function &&function) const;

  int64_t productStride(int part) const {
    return roundUp(plan.partGates[part] * units, kPanelWidth);
  }
  /// The scratch memory: products of each part, and a state of zeros.
  float *products(int part) const {
    float *at = scratch;
    for (int i = 0; i < part; ++i)
      at += productStride(i) * plan.rowBlock;
    return at;
  }
};

inline RecurrentTile::Progress RecurrentTile::progressOf(int64_t row,
                                                         int64_t time) const {
  const int64_t length = lengths ? lengths[row] : plan.sequence;
  if (time >= length)
    return Progress::None;
  return time == (isReverse ? length - 1 : 0) ? Progress::First
                                              : Progress::Further;
}

inline void RecurrentTile::initialize(const float *source,
                                      float *target) const {
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t at = row * plan.stateBatch + firstUnit;
    for (int64_t j = 0; j < units; j += kLanes) {
      const int64_t count = units - j;
      storeFirst(target + at + j,
                 source ? loadFirst(source + at + j, count) : Vec{}, count);
    }
  }
}

inline void RecurrentTile::multiply(int part, Rows some, const float *a,
                                    int64_t aStride) const {
  int64_t first = 0;
  for (int i = 0; i < part; ++i)
    first += productStride(i);
  const int64_t stride = productStride(part), count = some.end - some.begin;
  float *c = products(part) + some.begin * stride;
  if (recurrentBytes)
    return multiplyWithBytes(first, stride, count, a, aStride, c);
  multiplyPacked(a, aStride, count, recurrence + first * plan.hidden,
                 plan.hidden, stride, c, stride);
}

inline float largestOf(const float *values, int64_t count) {
  Vec largest = {};
  for (int64_t j = 0; j < count; j += kLanes)
    largest = maxOf(absOf(loadFirst(values + j, count - j)), largest);
  float all = 0;
  for (int lane = 0; lane < kLanes; ++lane)
    all = largest[lane] > all ? largest[lane] : all;
  return all;
}

/// Sums come before scales: states so large that these would become infinite
/// are made smaller meanwhile.
inline void RecurrentTile::multiplyWithBytes(int64_t firstColumn,
                                             int64_t columns, int64_t count,
                                             const float *a, int64_t aStride,
                                             float *c) const {
  constexpr float large = 0x1p80f, shrinking = 0x1p-40f;
  const int8_t *b = recurrentBytes + firstColumn * plan.hidden;
  const float *scales = recurrentScales + firstColumn;
  float *smaller = products(plan.parts);
  for (int64_t row = 0; row < count;) {
    const float *from = a + row * aStride;
    float *to = c + row * columns;
    int64_t usual = 0; // Rows that stay as they are: each is by itself.
    while (usual < least<int64_t>(kByteRows, count - row) &&
           largestOf(from + usual * aStride, plan.hidden) < large)
      ++usual;
    const bool shrinks = usual == 0;
    if (usual == kByteRows) {
      multiplyBytes<kByteRows>(from, aStride, b, scales, 1, plan.hidden,
                               columns, to, columns);
      row += kByteRows;
      continue;
    }
    for (int64_t j = 0; shrinks && j < plan.hidden; j += kLanes)
      storeFirst(smaller + j, loadFirst(from + j, plan.hidden - j) * shrinking,
                 plan.hidden - j);
    multiplyBytes<1>(shrinks ? smaller : from, 0, b, scales,
                     shrinks ? 1 / shrinking : 1, plan.hidden, columns, to,
                     columns);
    ++row;
  }
}

/// The states that step `time` begins with.
inline void RecurrentTile::multiplyState(int part, Rows some, int64_t time,
                                         bool isFirst) const {
  if (!isFirst) {
    const int64_t before = isReverse ? time + 1 : time - 1;
    return multiply(part, some,
                    y + before * plan.yTime + some.begin * plan.yBatch,
                    plan.yBatch);
  }
  if (initialH)
    return multiply(part, some, initialH + some.begin * plan.stateBatch,
                    plan.stateBatch);
  // Multiplied, too: what is not finite in R shows.
  float *zeros = products(plan.parts);
  for (int64_t j = 0; j < plan.hidden; j += kLanes)
    storeFirst(zeros + j, Vec{}, plan.hidden - j);
  multiply(part, some, zeros, 0);
}

template <typename Function>
inline void RecurrentTile::forEach(Rows some, int64_t time, const float *input,
                                   Function &&function) const {
  for (int64_t row = some.begin; row < some.end; ++row) {
    CellStep step = {plan,
                     activations,
                     input + row * plan.inputBatch,
                     {},
                     bias,
                     peepholes,
                     h + row * plan.stateBatch,
                     c ? c + row * plan.stateBatch : nullptr,
                     held + row * plan.hidden,
                     y + time * plan.yTime + row * plan.yBatch,
                     firstUnit,
                     units};
    for (int part = 0; part < plan.parts; ++part)
      step.products[part] = products(part) + row * productStride(part);
    function(step);
  }
}

template <bool isUsual>
inline void RecurrentTile::runRows(Rows some, int64_t time, const float *input,
                                   int phase, bool isFirst) const {
  if (phase == 0)
    multiplyState(0, some, time, isFirst);
  if (plan.cell == Cell::Rnn)
    return forEach(some, time, input,
                   [](const CellStep &s) { s.rnn<isUsual>(); });
  if (plan.cell == Cell::Lstm)
    return forEach(some, time, input,
                   [](const CellStep &s) { s.lstm<isUsual>(); });
  if (plan.linearBeforeReset)
    multiplyState(1, some, time, isFirst);
  else if (phase == 0)
    return forEach(some, time, input,
                   [](const CellStep &s) { s.reset<isUsual>(); });
  else
    multiply(1, some, held + some.begin * plan.hidden, plan.hidden);
  forEach(some, time, input, [](const CellStep &s) { s.gru<isUsual>(); });
}

/// What is behind the end of a sequence is zero.
inline void RecurrentTile::passBy(Rows some, int64_t time) const {
  for (int64_t row = some.begin; row < some.end; ++row) {
    float *past = y + time * plan.yTime + row * plan.yBatch + firstUnit;
    for (int64_t j = 0; j < units; j += kLanes)
      storeFirst(past + j, Vec{}, units - j);
  }
}

inline void RecurrentTile::runStep(int64_t step, int phase) const {
  const int64_t all = plan.firstStep + step;
  const int64_t time = isReverse ? plan.sequence - 1 - all : all;
  // W x of these steps lie in the order of time.
  const float *input =
      inputs + (isReverse ? plan.steps - 1 - step : step) * plan.inputTime;
  for (Rows some = {0, 0}; some.end < rows; some.begin = some.end) {
    const Progress progress = progressOf(some.begin, time);
    do
      ++some.end;
    while (some.end < rows && progressOf(some.end, time) == progress);
    const bool isFirst = progress == Progress::First;
    if (progress == Progress::None)
      passBy(some, time);
    else if (plan.isUsual)
      runRows<true>(some, time, input, phase, isFirst);
    else
      runRows<false>(some, time, input, phase, isFirst);
  }
}

inline void RecurrentTile::run(const RecurrentRange &range) const {
  if (plan.firstStep + range.firstStep == 0 && range.firstPhase == 0) {
    initialize(initialH, h);
    if (c)
      initialize(initialC, c);
  }
  for (int64_t step = range.firstStep; step < range.endStep; ++step)
    for (int phase = range.firstPhase; phase < range.endPhase; ++phase)
      runStep(step, phase);
}

/// Offsets of null pointers are null.
template <typename T> inline T *offsetBy(T *pointer, int64_t offset) {
  return pointer ? pointer + offset : nullptr;
}

void runRecurrent(const RecurrentPlan &plan, const RecurrentArguments &all,
                  const RecurrentRange &range, int64_t begin, int64_t end) {
  const bool isOfBytes = plan.isOfBytes;
  const auto *bytes = static_cast<const int8_t *>(all.recurrence);
  const auto *scales =
      reinterpret_cast<const float *>(bytes + plan.directions * plan.weights);
  for (int64_t tile = begin; tile < end; ++tile) {
    const int64_t row = tile % plan.rowBlocks * plan.rowBlock;
    const int64_t block = tile / plan.rowBlocks % plan.unitBlocks;
    const int64_t direction = tile / plan.rowBlocks / plan.unitBlocks;
    const int64_t unit = block * plan.unitBlock;
    const int64_t state =
        direction * plan.stateDirection + row * plan.stateBatch;
    const int64_t weight = direction * plan.weights + block * plan.blockWeights;
    RecurrentTile{
        plan,
        plan.activations[direction],
        all.inputs + direction * plan.inputDirection + row * plan.inputBatch,
        offsetBy(all.bias, direction * 2 * plan.gates * plan.hidden),
        offsetBy(all.peepholes, direction * 3 * plan.hidden),
        isOfBytes ? nullptr
                  : static_cast<const float *>(all.recurrence) + weight,
        isOfBytes ? bytes + weight : nullptr,
        isOfBytes ? scales + weight / plan.hidden : nullptr,
        offsetBy(all.initialH, state),
        offsetBy(all.initialC, state),
        offsetBy(all.lengths, row),
        all.y + direction * plan.yDirection + row * plan.yBatch,
        all.h + state,
        offsetBy(all.c, state),
        all.held + (direction * plan.batch + row) * plan.hidden,
        all.scratch + tile * plan.scratch,
        least(plan.rowBlock, plan.batch - row),
        unit,
        least(plan.unitBlock, plan.hidden - unit),
        plan.startsReverse || direction == 1,
    }
        .run(range);
  }
}

void packRecurrence(const RecurrentPlan &plan, const float *source,
                    float *target, int64_t begin, int64_t end) {
  int64_t tile = 0;
  for (int64_t direction = 0; direction < plan.directions; ++direction)
    for (int part = 0; part < plan.parts; ++part) {
      const int64_t columns = plan.partGates[part] * plan.hidden;
      const int64_t padded = roundUp(columns, kPanelWidth);
      for (int64_t column = 0; column < padded;
           column += kPackedColumns, ++tile) {
        if (tile < begin || tile >= end)
          continue;
        const int64_t width = least(kPackedColumns, padded - column);
        const int64_t valid = least(width, columns - column);
        float *panel = target + column * plan.hidden;
        packTransposed(source + column * plan.hidden, plan.hidden, plan.hidden,
                       valid, panel, width);
        for (int64_t l = 0; l < plan.hidden; ++l)
          for (int64_t j = valid; j < width; ++j)
            panel[l * width + j] = 0;
      }
      source += columns * plan.hidden;
      target += padded * plan.hidden;
    }
}

} // namespace
} // namespace dlc::rt::cpu

#endif // DLC_RUNTIME_KERNEL_CPU_RECURRENTTILES_H
