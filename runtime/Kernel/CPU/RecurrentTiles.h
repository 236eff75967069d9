// SPDX-License-Identifier: Apache-2.0
//
// The tiles of cpu.recurrent. See Vector.h for who may include it.
//
// A tile is some sequences in one direction. Each step multiplies their states
// with R, of all gates at once where the cell allows it, and then computes the
// gates a vector of units at a time. The states are results of the layer, and
// are there when its first step begins.

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

  template <bool isUsual> void rnn() const;
  template <bool isUsual> void gru() const;
  template <bool isUsual> void lstm() const;
  template <bool isUsual> void reset() const;

private:
  static constexpr int kCandidate = 2; ///< Of a gru.

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
    const float *product = isSecond ? products[1] + j : products[0] + at;
    const Vec sum = loadFirst(product, count);
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
  for (int64_t j = 0; j < plan.hidden; j += kLanes) {
    const int64_t count = plan.hidden - j;
    give(j, count, tanh<isUsual>(0, argument(0, j, count)));
  }
}

/// What the candidate of a gru sees of the state.
template <bool isUsual> inline void CellStep::reset() const {
  for (int64_t j = 0; j < plan.hidden; j += kLanes) {
    const int64_t count = plan.hidden - j;
    const Vec reset = sigmoid<isUsual>(0, argument(1, j, count));
    storeFirst(held + j, reset * loadFirst(h + j, count), count);
  }
}

template <bool isUsual> inline void CellStep::gru() const {
  for (int64_t j = 0; j < plan.hidden; j += kLanes) {
    const int64_t count = plan.hidden - j;
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
  for (int64_t j = 0; j < plan.hidden; j += kLanes) {
    const int64_t count = plan.hidden - j;
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

/// Some sequences in one direction, of which the pointers are those of the
/// first.
struct RecurrentTile {
  const RecurrentPlan &plan;
  const GateActivation *activations;
  const float *inputs, *recurrence, *bias, *peepholes;
  const float *initialH, *initialC;
  const int32_t *lengths;
  float *y, *h, *c, *scratch;
  int64_t rows;
  bool isReverse;

  void run() const;

private:
  void initialize(const float *source, float *target) const;
  void runStep(int64_t time, const float *input) const;
  template <bool isUsual> void runCells(int64_t time, const float *input) const;
  void multiply(int part, const float *a, int64_t aStride) const;
  template <typename Function>
  void forActive(int64_t time, const float *input, Function &&function) const;

  bool isActive(int64_t row, int64_t time) const {
    return !lengths || time < lengths[row];
  }
  int64_t productStride(int part) const {
    return roundUp(plan.partColumns[part], kPanelWidth);
  }
  /// The scratch memory: products of each part, then states that the candidate
  /// of a gru sees.
  float *products(int part) const {
    float *at = scratch;
    for (int i = 0; i < part; ++i)
      at += productStride(i) * plan.rowBlock;
    return at;
  }
  float *held() const { return products(plan.parts); }
};

inline void RecurrentTile::initialize(const float *source,
                                      float *target) const {
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t at = row * plan.stateBatch;
    for (int64_t j = 0; j < plan.hidden; j += kLanes) {
      const int64_t count = plan.hidden - j;
      storeFirst(target + at + j,
                 source ? loadFirst(source + at + j, count) : Vec{}, count);
    }
  }
}

inline void RecurrentTile::multiply(int part, const float *a,
                                    int64_t aStride) const {
  const float *b = recurrence;
  for (int i = 0; i < part; ++i)
    b += productStride(i) * plan.hidden;
  multiplyPacked(a, aStride, rows, b, plan.hidden, productStride(part),
                 products(part), productStride(part));
}

template <typename Function>
inline void RecurrentTile::forActive(int64_t time, const float *input,
                                     Function &&function) const {
  for (int64_t row = 0; row < rows; ++row) {
    if (!isActive(row, time))
      continue;
    CellStep step = {plan,
                     activations,
                     input + row * plan.inputBatch,
                     {},
                     bias,
                     peepholes,
                     h + row * plan.stateBatch,
                     c ? c + row * plan.stateBatch : nullptr,
                     held() + row * plan.hidden,
                     y + time * plan.yTime + row * plan.yBatch};
    for (int part = 0; part < plan.parts; ++part)
      step.products[part] = products(part) + row * productStride(part);
    function(step);
  }
}

template <bool isUsual>
inline void RecurrentTile::runCells(int64_t time, const float *input) const {
  if (plan.cell == Cell::Rnn)
    return forActive(time, input, [](const CellStep &s) { s.rnn<isUsual>(); });
  if (plan.cell == Cell::Lstm)
    return forActive(time, input, [](const CellStep &s) { s.lstm<isUsual>(); });
  if (plan.linearBeforeReset) {
    multiply(1, h, plan.stateBatch);
  } else {
    forActive(time, input, [](const CellStep &s) { s.reset<isUsual>(); });
    multiply(1, held(), plan.hidden);
  }
  forActive(time, input, [](const CellStep &s) { s.gru<isUsual>(); });
}

inline void RecurrentTile::runStep(int64_t time, const float *input) const {
  bool isAny = false;
  for (int64_t row = 0; row < rows; ++row) {
    if (isActive(row, time)) {
      isAny = true;
      continue;
    }
    float *past = y + time * plan.yTime + row * plan.yBatch;
    for (int64_t j = 0; j < plan.hidden; j += kLanes)
      storeFirst(past + j, Vec{}, plan.hidden - j);
  }
  if (!isAny)
    return;
  multiply(0, h, plan.stateBatch);
  if (plan.isUsual)
    runCells<true>(time, input);
  else
    runCells<false>(time, input);
}

inline void RecurrentTile::run() const {
  if (plan.firstStep == 0) {
    initialize(initialH, h);
    if (c)
      initialize(initialC, c);
  }
  for (int64_t i = 0; i < plan.steps; ++i) {
    const int64_t step = plan.firstStep + i;
    // W x of these steps lie in the order of time.
    const int64_t place = isReverse ? plan.steps - 1 - i : i;
    runStep(isReverse ? plan.sequence - 1 - step : step,
            inputs + place * plan.inputTime);
  }
}

/// Offsets of null pointers are null.
template <typename T> inline T *offsetBy(T *pointer, int64_t offset) {
  return pointer ? pointer + offset : nullptr;
}

void runRecurrent(const RecurrentPlan &plan, const RecurrentArguments &all,
                  int64_t begin, int64_t end) {
  for (int64_t tile = begin; tile < end; ++tile) {
    const int64_t direction = tile / plan.rowBlocks;
    const int64_t row = tile % plan.rowBlocks * plan.rowBlock;
    const int64_t state =
        direction * plan.stateDirection + row * plan.stateBatch;
    RecurrentTile{
        plan,
        plan.activations[direction],
        all.inputs + direction * plan.inputDirection + row * plan.inputBatch,
        all.recurrence + direction * plan.weights,
        offsetBy(all.bias, direction * 2 * plan.gates * plan.hidden),
        offsetBy(all.peepholes, direction * 3 * plan.hidden),
        offsetBy(all.initialH, state),
        offsetBy(all.initialC, state),
        offsetBy(all.lengths, row),
        all.y + direction * plan.yDirection + row * plan.yBatch,
        all.h + state,
        offsetBy(all.c, state),
        all.scratch + tile * plan.scratch,
        least(plan.rowBlock, plan.batch - row),
        plan.startsReverse || direction == 1,
    }
        .run();
  }
}

void packRecurrence(const RecurrentPlan &plan, const float *source,
                    float *target, int64_t begin, int64_t end) {
  int64_t tile = 0;
  for (int64_t direction = 0; direction < plan.directions; ++direction)
    for (int part = 0; part < plan.parts; ++part) {
      const int64_t columns = plan.partColumns[part];
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
