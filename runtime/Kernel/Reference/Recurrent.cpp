// SPDX-License-Identifier: Apache-2.0
//
// Recurrent layers: rnn, gru, lstm. Computed in double, one sequence at a
// time; only results are rounded.

#include "Element.h"
#include "Families.h"
#include "ShapeRule.h"

#include "dlc/runtime/Kernel/Reference/RecurrentActivation.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>

using namespace dlc::rt;
using namespace dlc::rt::ref;

namespace {
/// What distinguishes the three layers. Gates lie in ONNX's order: z r h for
/// gru, i o f c for lstm.
struct LayerKind {
  int64_t gates;
  std::vector<std::string_view> activations;
  bool hasCell;
};

/// The extents of a layer; -1 while not known.
struct Extents {
  int64_t directions = 1, sequence = -1, batch = -1, input = -1, hidden = -1;
  bool batchFirst = false; ///< Attribute layout.
};

enum Operands { X, W, R, B, SequenceLens, InitialH, InitialC, P };
} // namespace

static const LayerKind rnnKind{1, {"tanh"}, false};
static const LayerKind gruKind{3, {"sigmoid", "tanh"}, false};
static const LayerKind lstmKind{4, {"sigmoid", "tanh", "tanh"}, true};

//===----------------------------------------------------------------------===//
// Shape rules
//===----------------------------------------------------------------------===//

static Status readExtents(const Attributes &attributes, Extents &extents) {
  std::string_view direction = attributes.getString("direction", "forward");
  if (direction == "bidirectional")
    extents.directions = 2;
  else if (direction != "forward" && direction != "reverse")
    return DLC_INVALID("attribute direction: expected forward, reverse or "
                       "bidirectional, got %s",
                       std::string(direction).c_str());
  int64_t layout = attributes.getInt("layout", 0);
  if (layout != 0 && layout != 1)
    return DLC_INVALID("attribute layout: expected 0 or 1, got %" PRId64,
                       layout);
  extents.batchFirst = layout == 1;
  if (!attributes.has("hidden_size"))
    return Status::ok();
  extents.hidden = attributes.getInt("hidden_size");
  if (extents.hidden < 1 || extents.hidden > INT32_MAX)
    return DLC_INVALID(
        "attribute hidden_size: expected [1, 2^31), got %" PRId64,
        extents.hidden);
  return Status::ok();
}

/// Checks operand `index`, when present, against `dims`, and makes those known
/// that it knows.
static Status unify(const InferContext &context, size_t index,
                    std::initializer_list<int64_t *> dims) {
  const TensorType &type = context.operand(index).type;
  if (!context.isPresent(index) || !type.hasRank)
    return Status::ok();
  DLC_RETURN_IF_ERROR(
      checkRank(context, index, static_cast<int64_t>(dims.size())));
  size_t i = 0;
  for (int64_t *dim : dims) {
    if (!mergeDim(*dim, type.shape[i]))
      return DLC_INVALID("operand %zu: expected dimension %zu to be %" PRId64
                         ", got %" PRId64,
                         index, i, *dim, type.shape[i]);
    ++i;
  }
  return Status::ok();
}

static Status unifyState(const InferContext &context, size_t index,
                         Extents &extents) {
  int64_t *first = &extents.directions, *second = &extents.batch;
  if (extents.batchFirst)
    std::swap(first, second);
  return unify(context, index, {first, second, &extents.hidden});
}

static Status unifyWeights(const InferContext &context, const LayerKind &kind,
                           Extents &extents) {
  int64_t rows = kUnknownDim, *directions = &extents.directions;
  DLC_RETURN_IF_ERROR(unify(context, R, {directions, &rows, &extents.hidden}));
  DLC_RETURN_IF_ERROR(unifyState(context, InitialH, extents));
  std::optional<int64_t> biases = multiplyDims(extents.hidden, 2 * kind.gates);
  std::optional<int64_t> peepholes = multiplyDims(extents.hidden, 3);
  if (!biases || !peepholes)
    return DLC_INVALID("expected a smaller hidden size than %" PRId64,
                       extents.hidden);
  int64_t wanted = *biases < 0 ? kUnknownDim : *biases / 2;
  if (!mergeDim(rows, wanted))
    return DLC_INVALID("operand 2: expected dimension 1 to be %" PRId64
                       ", got %" PRId64,
                       wanted, rows);
  DLC_RETURN_IF_ERROR(unify(context, W, {directions, &rows, &extents.input}));
  DLC_RETURN_IF_ERROR(unify(context, B, {directions, &*biases}));
  if (!kind.hasCell)
    return Status::ok();
  DLC_RETURN_IF_ERROR(unifyState(context, InitialC, extents));
  return unify(context, P, {directions, &*peepholes});
}

static Status readActivations(const Attributes &attributes,
                              const LayerKind &kind, int64_t directions,
                              std::vector<RecurrentActivation> &activations) {
  return readRecurrentActivations({attributes.getString("activations"),
                                   attributes.getFloats("activation_alpha"),
                                   attributes.getFloats("activation_beta")},
                                  kind.activations, directions, activations);
}

static Status inferExtents(const InferContext &context, const LayerKind &kind,
                           Extents &extents) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 3, kind.hasCell ? 8 : 6));
  DLC_RETURN_IF_ERROR(checkType(context, X, floatTypes));
  for (size_t i = W; i < context.operandCount(); ++i)
    if (i != SequenceLens)
      DLC_RETURN_IF_ERROR(checkSameType(context, X, i));
  DLC_RETURN_IF_ERROR(checkType(context, SequenceLens, indexTypes));
  DLC_RETURN_IF_ERROR(readExtents(context.attrs(), extents));
  std::vector<RecurrentActivation> activations;
  DLC_RETURN_IF_ERROR(
      readActivations(context.attrs(), kind, extents.directions, activations));
  int64_t *first = &extents.sequence, *second = &extents.batch;
  if (extents.batchFirst)
    std::swap(first, second);
  DLC_RETURN_IF_ERROR(unify(context, X, {first, second, &extents.input}));
  DLC_RETURN_IF_ERROR(unifyWeights(context, kind, extents));
  return unify(context, SequenceLens, {&extents.batch});
}

static Status inferLayer(const InferContext &context, const LayerKind &kind,
                         std::vector<TensorType> &results) {
  Extents e;
  DLC_RETURN_IF_ERROR(inferExtents(context, kind, e));
  DataType type = context.operand(X).type.type;
  TensorType y{type, {e.sequence, e.directions, e.batch, e.hidden}};
  TensorType state{type, {e.directions, e.batch, e.hidden}};
  if (e.batchFirst) {
    y.shape = {e.batch, e.sequence, e.directions, e.hidden};
    state.shape = {e.batch, e.directions, e.hidden};
  }
  DLC_RETURN_IF_ERROR(addResult(results, std::move(y)));
  if (kind.hasCell)
    DLC_RETURN_IF_ERROR(addResult(results, state));
  return addResult(results, std::move(state));
}

//===----------------------------------------------------------------------===//
// Cells
//===----------------------------------------------------------------------===//

namespace {
using Values = std::vector<double>;

/// One direction of a layer, ready to run.
struct Cell {
  int64_t input, hidden, gates;
  std::span<const double> weights, recurrence, biases, peepholes;
  std::span<const RecurrentActivation> activations;
  double clip; ///< 0 for none.
  bool linearBeforeReset, inputForget;

  double clipped(double x) const {
    return clip > 0 ? std::clamp(x, -clip, clip) : x;
  }
  double activate(size_t which, double x) const {
    return activations[which](clipped(x));
  }
  /// W x + Wb of gate `g`, unit `j`.
  double fromInput(int64_t g, int64_t j, const double *x) const;
  /// R h + Rb.
  double fromState(int64_t g, int64_t j, std::span<const double> h) const;
};

/// The state of one sequence.
struct State {
  Values h, c;
};

using Step = void (*)(const Cell &cell, const double *x, State &state);
} // namespace

static double dot(const double *a, const double *b, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i)
    sum += a[i] * b[i];
  return sum;
}

double Cell::fromInput(int64_t g, int64_t j, const double *x) const {
  int64_t row = g * hidden + j;
  double bias = biases.empty() ? 0 : biases[row];
  return bias + dot(weights.data() + row * input, x, input);
}

double Cell::fromState(int64_t g, int64_t j, std::span<const double> h) const {
  int64_t row = g * hidden + j;
  double bias = biases.empty() ? 0 : biases[gates * hidden + row];
  return bias + dot(recurrence.data() + row * hidden, h.data(), hidden);
}

static void stepRnn(const Cell &cell, const double *x, State &state) {
  Values next(cell.hidden);
  for (int64_t j = 0; j < cell.hidden; ++j)
    next[j] = cell.activate(0, cell.fromInput(0, j, x) +
                                   cell.fromState(0, j, state.h));
  state.h = std::move(next);
}

static void stepGru(const Cell &cell, const double *x, State &state) {
  enum { Z, Reset, H };
  Values reset(cell.hidden), held(cell.hidden), next(cell.hidden);
  for (int64_t j = 0; j < cell.hidden; ++j) {
    reset[j] = cell.activate(0, cell.fromInput(Reset, j, x) +
                                    cell.fromState(Reset, j, state.h));
    held[j] = reset[j] * state.h[j];
  }
  for (int64_t j = 0; j < cell.hidden; ++j) {
    double z = cell.activate(0, cell.fromInput(Z, j, x) +
                                    cell.fromState(Z, j, state.h));
    double past = cell.linearBeforeReset
                      ? reset[j] * cell.fromState(H, j, state.h)
                      : cell.fromState(H, j, held);
    double candidate = cell.activate(1, cell.fromInput(H, j, x) + past);
    next[j] = (1 - z) * candidate + z * state.h[j];
  }
  state.h = std::move(next);
}

static void stepLstm(const Cell &cell, const double *x, State &state) {
  enum { Input, Output, Forget, Candidate };
  enum { InputPeep, OutputPeep, ForgetPeep };
  Values next(cell.hidden);
  for (int64_t j = 0; j < cell.hidden; ++j) {
    auto gate = [&](int64_t g) {
      return cell.fromInput(g, j, x) + cell.fromState(g, j, state.h);
    };
    auto peep = [&](int64_t which) {
      return cell.peepholes.empty()
                 ? 0
                 : cell.peepholes[which * cell.hidden + j] * state.c[j];
    };
    double input = cell.activate(0, gate(Input) + peep(InputPeep));
    double forget = cell.inputForget
                        ? 1 - input
                        : cell.activate(0, gate(Forget) + peep(ForgetPeep));
    double candidate = cell.activate(1, gate(Candidate));
    state.c[j] = forget * state.c[j] + input * candidate;
    double output = cell.activate(0, gate(Output) + peep(OutputPeep));
    next[j] = output * cell.activations[2](state.c[j]);
  }
  state.h = std::move(next);
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

namespace {
/// All operands in double.
struct Layer {
  Extents extents;
  Values x, w, r, b, initialH, initialC, p;
  std::vector<RecurrentActivation> activations;
  std::vector<int64_t> lengths; ///< Of each sequence in the batch.
};
} // namespace

static Values loadValues(const TensorView &view) {
  Values values;
  if (view.type == DLC_INVALID_TYPE)
    return values;
  values.resize(view.size());
  Status status = dispatchFloat(view.type, [&]<typename E>(E) {
    for (int64_t i = 0; i < view.size(); ++i)
      values[i] = loadElement<E>(view.data, i);
    return Status::ok();
  });
  return status.isOk() ? values : Values();
}

static Status loadLayer(const ComputeContext &context, const LayerKind &kind,
                        Layer &layer) {
  Extents &e = layer.extents;
  DLC_RETURN_IF_ERROR(readExtents(context.attrs(), e));
  const TensorView &x = context.input(X);
  e.sequence = x.shape[e.batchFirst ? 1 : 0];
  e.batch = x.shape[e.batchFirst ? 0 : 1];
  e.input = x.shape[2];
  e.hidden = context.input(R).shape[2];
  Values *all[] = {&layer.x, &layer.w,        &layer.r,        &layer.b,
                   nullptr,  &layer.initialH, &layer.initialC, &layer.p};
  for (size_t i = 0; i < std::size(all); ++i)
    if (all[i])
      *all[i] = loadValues(context.input(i));
  layer.lengths.assign(e.batch, e.sequence);
  if (context.isPresent(SequenceLens))
    layer.lengths = context.intsOf(SequenceLens);
  for (int64_t length : layer.lengths)
    if (length < 0 || length > e.sequence)
      return DLC_INVALID("expected sequence lengths in [0, %" PRId64
                         "], got %" PRId64,
                         e.sequence, length);
  return readActivations(context.attrs(), kind, e.directions,
                         layer.activations);
}

/// The part of `values` that belongs to one direction.
static std::span<const double>
ofDirection(const Values &values, const Extents &extents, int64_t direction) {
  size_t size = values.size() / extents.directions;
  return std::span<const double>(values).subspan(direction * size, size);
}

static Cell cellOf(const Layer &layer, const LayerKind &kind,
                   const Attributes &attributes, int64_t direction) {
  const Extents &e = layer.extents;
  size_t functions = kind.activations.size();
  return {
      e.input,
      e.hidden,
      kind.gates,
      ofDirection(layer.w, e, direction),
      ofDirection(layer.r, e, direction),
      ofDirection(layer.b, e, direction),
      ofDirection(layer.p, e, direction),
      std::span(layer.activations).subspan(direction * functions, functions),
      attributes.getFloat("clip", 0),
      attributes.getInt("linear_before_reset", 0) != 0,
      attributes.getInt("input_forget", 0) != 0};
}

/// Where a state tensor holds the state of a direction and sequence.
static int64_t stateOffset(const Extents &e, int64_t direction, int64_t batch) {
  return (e.batchFirst ? batch * e.directions + direction
                       : direction * e.batch + batch) *
         e.hidden;
}

static int64_t outputOffset(const Extents &e, int64_t direction, int64_t batch,
                            int64_t time) {
  return (e.batchFirst ? (batch * e.sequence + time) * e.directions + direction
                       : (time * e.directions + direction) * e.batch + batch) *
         e.hidden;
}

static Values initialState(const Values &given, const Extents &e,
                           int64_t offset) {
  if (given.empty())
    return Values(e.hidden);
  return {given.begin() + offset, given.begin() + offset + e.hidden};
}

template <typename E>
static void storeState(const TensorView &target, int64_t offset,
                       const Values &values) {
  for (size_t i = 0; i < values.size(); ++i)
    storeElement<E>(target.data, offset + i, values[i]);
}

/// Runs one sequence through one direction. Results past its end are zero.
template <typename E>
static void runSequence(ComputeContext &context, const Layer &layer,
                        const Cell &cell, Step step, bool isReverse,
                        int64_t direction, int64_t batch) {
  const Extents &e = layer.extents;
  int64_t length = layer.lengths[batch];
  int64_t offset = stateOffset(e, direction, batch);
  State state{initialState(layer.initialH, e, offset),
              initialState(layer.initialC, e, offset)};
  for (int64_t i = 0; i < length; ++i) {
    int64_t time = isReverse ? length - 1 - i : i;
    int64_t row =
        e.batchFirst ? batch * e.sequence + time : time * e.batch + batch;
    step(cell, layer.x.data() + row * e.input, state);
    storeState<E>(context.output(0), outputOffset(e, direction, batch, time),
                  state.h);
  }
  for (int64_t time = length; time < e.sequence; ++time)
    storeState<E>(context.output(0), outputOffset(e, direction, batch, time),
                  Values(e.hidden));
  storeState<E>(context.output(1), offset, state.h);
  if (context.outputCount() > 2)
    storeState<E>(context.output(2), offset, state.c);
}

static Status computeLayer(ComputeContext &context, const LayerKind &kind,
                           Step step) {
  if (context.output(1).size() == 0)
    return Status::ok(); // no sequences
  Layer layer;
  DLC_RETURN_IF_ERROR(loadLayer(context, kind, layer));
  bool startsReverse =
      context.attrs().getString("direction", "forward") == "reverse";
  return dispatchFloat(context.input(X).type, [&]<typename E>(E) {
    for (int64_t d = 0; d < layer.extents.directions; ++d) {
      Cell cell = cellOf(layer, kind, context.attrs(), d);
      for (int64_t batch = 0; batch < layer.extents.batch; ++batch)
        runSequence<E>(context, layer, cell, step, startsReverse || d == 1, d,
                       batch);
    }
    return Status::ok();
  });
}

static Status inferRnn(const InferContext &context,
                       std::vector<TensorType> &results) {
  return inferLayer(context, rnnKind, results);
}
static Status inferGru(const InferContext &context,
                       std::vector<TensorType> &results) {
  return inferLayer(context, gruKind, results);
}
static Status inferLstm(const InferContext &context,
                        std::vector<TensorType> &results) {
  return inferLayer(context, lstmKind, results);
}
static Status computeRnn(ComputeContext &context) {
  return computeLayer(context, rnnKind, stepRnn);
}
static Status computeGru(ComputeContext &context) {
  return computeLayer(context, gruKind, stepGru);
}
static Status computeLstm(ComputeContext &context) {
  return computeLayer(context, lstmKind, stepLstm);
}

std::span<const Operation> ref::recurrentOperations() {
  static constexpr Operation table[] = {
      {"gru", inferGru, computeGru},
      {"lstm", inferLstm, computeLstm},
      {"rnn", inferRnn, computeRnn},
  };
  return table;
}
