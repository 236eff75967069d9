// SPDX-License-Identifier: Apache-2.0
//
// Recurrent layers as their steps, one behind the other: what they have their
// gradients of. The dialect has no loop, so that a layer becomes as many
// operations as its sequences are long; what steps compute is read again on the
// way back. Semantics: runtime/Kernel/Reference/Recurrent.cpp.

#include "Formula.h"

#include "dlc/dialects/Base/BaseDialect.h"
#include "dlc/dialects/Graph/Inference.h"
#include "dlc/runtime/Kernel/Reference/RecurrentActivation.h"

using namespace mlir;
using namespace dlc::graph;
namespace rt = dlc::rt;
using rt::ref::RecurrentActivation;

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

static Value activate(Formula &f, const RecurrentActivation &activation,
                      Value x) {
  StringRef name = activation.name;
  double a = activation.alpha, b = activation.beta;
  APFloat alpha(static_cast<float>(a)), beta(static_cast<float>(b));
  if (name == "affine")
    return f.shift(f.scale(x, a), b);
  if (name == "elu")
    return f.make<EluOp>(x, alpha);
  if (name == "hardsigmoid")
    return f.make<HardSigmoidOp>(x, alpha, beta);
  if (name == "leakyrelu")
    return f.make<LeakyReluOp>(x, alpha);
  if (name == "relu")
    return f.make<ReluOp>(x);
  if (name == "scaledtanh")
    return f.scale(f.make<TanhOp>(f.scale(x, b)), a);
  if (name == "softplus")
    return f.make<SoftplusOp>(x);
  if (name == "softsign")
    return f.make<SoftsignOp>(x);
  if (name == "thresholdedrelu")
    return f.select(f.make<GreaterEqualOp>(x, f.number(x, a)), x, 0);
  return name == "tanh" ? f.make<TanhOp>(x) : f.sigmoid(x);
}

//===----------------------------------------------------------------------===//
// Cells
//===----------------------------------------------------------------------===//

namespace {

/// Weights that a state is multiplied with: hidden x rows, and rows or null.
struct Recurrence {
  Value weights, bias;

  Value operator()(Formula &f, Value h) const {
    Value y = f.make<MatmulOp>(h, weights);
    return bias ? f.add(y, bias) : y;
  }
};

/// One direction of a layer.
struct Cell {
  SmallVector<Recurrence> recurrences; ///< One, or two of a gru.
  SmallVector<Value> peepholes;        ///< Of i, o and f, or none.
  ArrayRef<RecurrentActivation> activations;
  double clip = 0;
  bool isLinearBeforeReset = false, couplesForget = false;

  Value operator()(Formula &f, size_t which, Value x) const {
    if (clip > 0)
      x = f.make<ClampOp>(x, f.number(x, -clip), f.number(x, clip));
    return activate(f, activations[which], x);
  }
};

/// Each batch x hidden; the cell's of an lstm only.
struct State {
  Value h, c;
};

/// `fromInput`: what one step of the input gives to all gates.
using Step = State (*)(Formula &f, const Cell &cell, Value fromInput,
                       const State &state);

/// What distinguishes the three layers. Gates are in ONNX's order: z r h of a
/// gru, i o f c of an lstm.
struct LayerKind {
  int64_t gates = 0;
  std::vector<std::string_view> activations;
  Step step = nullptr;
};

} // namespace

/// Parts of these extents along `axis`.
static SmallVector<Value> split(Formula &f, Value x, int64_t axis,
                                ArrayRef<int64_t> extents) {
  if (extents.size() == 1)
    return {x};
  NamedAttribute attribute(f.builder.getStringAttr("axis"),
                           f.builder.getI64IntegerAttr(axis));
  Operation *op =
      createInferred(f.builder, f.loc, SplitOp::getOperationName(),
                     {x, f.ints(extents)}, attribute, extents.size());
  return llvm::to_vector_of<Value>(op->getResults());
}

static SmallVector<Value> splitEvenly(Formula &f, Value x, int64_t axis,
                                      int64_t count) {
  int64_t extent = Formula::typeOf(x).getDimSize(axis) / count;
  return split(f, x, axis, SmallVector<int64_t>(count, extent));
}

static State stepRnn(Formula &f, const Cell &cell, Value fromInput,
                     const State &state) {
  Value sum = f.add(fromInput, cell.recurrences[0](f, state.h));
  return {cell(f, 0, sum), {}};
}

static State stepGru(Formula &f, const Cell &cell, Value fromInput,
                     const State &state) {
  SmallVector<Value> input = splitEvenly(f, fromInput, 1, 3);
  Value product = cell.recurrences[0](f, state.h);
  SmallVector<Value> past =
      splitEvenly(f, product, 1, cell.isLinearBeforeReset ? 3 : 2);
  Value z = cell(f, 0, f.add(input[0], past[0]));
  Value reset = cell(f, 0, f.add(input[1], past[1]));
  Value held = cell.isLinearBeforeReset
                   ? f.mul(reset, past[2])
                   : cell.recurrences[1](f, f.mul(reset, state.h));
  Value candidate = cell(f, 1, f.add(input[2], held));
  return {f.add(f.mul(f.from(1, z), candidate), f.mul(z, state.h)), {}};
}

static State stepLstm(Formula &f, const Cell &cell, Value fromInput,
                      const State &state) {
  Value sum = f.add(fromInput, cell.recurrences[0](f, state.h));
  SmallVector<Value> gates = splitEvenly(f, sum, 1, 4);
  auto gate = [&](size_t number, Value c) {
    Value x = gates[number];
    if (!cell.peepholes.empty())
      x = f.add(x, f.mul(cell.peepholes[number], c));
    return cell(f, 0, x);
  };
  Value input = gate(0, state.c);
  Value forget = cell.couplesForget ? f.from(1, input) : gate(2, state.c);
  Value candidate = cell(f, 1, gates[3]);
  Value c = f.add(f.mul(forget, state.c), f.mul(input, candidate));
  // This activation alone is not clipped.
  return {f.mul(gate(1, c), activate(f, cell.activations[2], c)), c};
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

namespace {

/// The operands of a layer, in a type to compute in and with time first; null
/// where there are none.
struct Layer {
  Value x, w, r, b, lengths, h, c, p;
  LayerKind kind;
  std::vector<RecurrentActivation> activations;
  Cell common; ///< What all directions share.
  int64_t steps = 0, batch = 0, hidden = 0, directions = 0;
};

} // namespace

/// Part `number` of `parts`, without its first dimension of extent 1.
static Value partOf(Formula &f, ArrayRef<Value> parts, int64_t number) {
  Value part = parts[number];
  return f.reshape(part, Formula::typeOf(part).getShape().drop_front());
}

static Value transposed(Formula &f, Value matrix) {
  return f.transpose(matrix, {1, 0});
}

/// Splits operands of all directions; null for none.
static SmallVector<Value> byDirection(Formula &f, const Layer &layer, Value x) {
  if (!x)
    return SmallVector<Value>(layer.directions);
  SmallVector<Value> parts = splitEvenly(f, x, 0, layer.directions);
  for (int64_t i = 0; i < layer.directions; ++i)
    parts[i] = partOf(f, parts, i);
  return parts;
}

static Cell makeCell(Formula &f, const Layer &layer, int64_t direction,
                     Value recurrence, Value bias, Value peepholes) {
  Cell cell = layer.common;
  size_t functions = layer.kind.activations.size();
  cell.activations =
      ArrayRef(layer.activations).slice(direction * functions, functions);
  // The candidate of a gru reads the state after its reset.
  SmallVector<int64_t> rows = {layer.kind.gates * layer.hidden};
  if (layer.kind.gates == 3 && !cell.isLinearBeforeReset)
    rows = {2 * layer.hidden, layer.hidden};
  SmallVector<Value> weights = split(f, transposed(f, recurrence), 1, rows);
  SmallVector<Value> biases(rows.size());
  if (bias)
    biases = split(f, bias, 0, rows);
  for (auto [part, partBias] : llvm::zip_equal(weights, biases))
    cell.recurrences.push_back({part, partBias});
  if (peepholes)
    cell.peepholes = splitEvenly(f, peepholes, 0, 3);
  return cell;
}

/// The input's part in all gates, by step: one product for all steps.
static SmallVector<Value> inputsOf(Formula &f, const Layer &layer,
                                   Value weights, Value bias) {
  ArrayRef<int64_t> shape = Formula::typeOf(layer.x).getShape();
  Value rows = f.reshape(layer.x, {shape[0] * shape[1], shape[2]});
  Value y = f.make<MatmulOp>(rows, transposed(f, weights));
  if (bias)
    y = f.add(y, bias);
  int64_t gates = layer.kind.gates * layer.hidden;
  y = f.reshape(y, {layer.steps, layer.batch, gates});
  SmallVector<Value> steps = splitEvenly(f, y, 0, layer.steps);
  for (int64_t i = 0; i < layer.steps; ++i)
    steps[i] = partOf(f, steps, i);
  return steps;
}

/// Runs the steps in their order; `outputs` are by time. Behind the end of its
/// sequence a state stays, and the output is 0.
static State run(Formula &f, const Layer &layer, const Cell &cell,
                 ArrayRef<Value> inputs, bool isReverse, State state,
                 MutableArrayRef<Value> outputs) {
  for (int64_t i = 0; i < layer.steps; ++i) {
    int64_t time = isReverse ? layer.steps - 1 - i : i;
    State next = layer.kind.step(f, cell, inputs[time], state);
    outputs[time] = next.h;
    if (layer.lengths) {
      Value isInside = f.greater(layer.lengths, f.integer(time));
      outputs[time] = f.select(isInside, next.h, 0);
      next.h = f.select(isInside, next.h, state.h);
      if (next.c)
        next.c = f.select(isInside, next.c, state.c);
    }
    state = next;
  }
  return state;
}

/// Many of them some at a time, as kernels take them.
static Value joined(Formula &f, ArrayRef<Value> parts, int64_t axis) {
  if (parts.size() == 1)
    return parts.front();
  if (parts.size() <= kMostJoined)
    return ConcatOp::create(f.builder, f.loc, parts, axis);
  SmallVector<Value> wholes;
  for (; !parts.empty();
       parts = parts.drop_front(std::min(parts.size(), kMostJoined)))
    wholes.push_back(joined(f, parts.take_front(kMostJoined), axis));
  return joined(f, wholes, axis);
}

/// y, y_h and y_c, with time and directions first.
static SmallVector<Value> unroll(Formula &f, const Layer &layer,
                                 StringRef direction) {
  SmallVector<Value> w = byDirection(f, layer, layer.w),
                     r = byDirection(f, layer, layer.r),
                     b = byDirection(f, layer, layer.b),
                     h = byDirection(f, layer, layer.h),
                     c = byDirection(f, layer, layer.c),
                     p = byDirection(f, layer, layer.p);
  SmallVector<Value> ys, hs, cs;
  SmallVector<int64_t> stateShape = {1, layer.batch, layer.hidden};
  for (int64_t d = 0; d < layer.directions; ++d) {
    // Those of the input, then those of the state.
    SmallVector<Value> biases(2);
    if (b[d])
      biases = splitEvenly(f, b[d], 0, 2);
    Cell cell = makeCell(f, layer, d, r[d], biases[1], p[d]);
    SmallVector<Value> outputs(layer.steps);
    State last = run(f, layer, cell, inputsOf(f, layer, w[d], biases[0]),
                     d == 1 || direction == "reverse", {h[d], c[d]}, outputs);
    for (Value &output : outputs)
      output = f.reshape(output, {1, 1, layer.batch, layer.hidden});
    ys.push_back(joined(f, outputs, 0));
    hs.push_back(f.reshape(last.h, stateShape));
    if (last.c)
      cs.push_back(f.reshape(last.c, stateShape));
  }
  SmallVector<Value> results = {joined(f, ys, 1), joined(f, hs, 0)};
  if (!cs.empty())
    results.push_back(joined(f, cs, 0));
  return results;
}

/// Reads the operands that all three have. `c` and `p` are null or none where
/// a layer has none.
template <typename Op>
static FailureOr<Layer> makeLayer(Formula &f, Op op, LayerKind kind, Value c,
                                  Value p) {
  Type compute = computeType(Formula::elementOf(op.getX()));
  auto prepare = [&](Value x) {
    return x && !isa<NoneType>(x.getType()) ? f.cast(x, compute) : Value();
  };
  bool isBatchFirst = op.getLayout() == 1;
  auto timeFirst = [&](Value x) {
    return x && isBatchFirst ? f.transpose(x, {1, 0, 2}) : x;
  };
  Layer layer;
  layer.x = timeFirst(prepare(op.getX()));
  layer.w = prepare(op.getW());
  layer.r = prepare(op.getR());
  layer.b = prepare(op.getB());
  layer.h = timeFirst(prepare(op.getInitialH()));
  layer.c = timeFirst(prepare(c));
  layer.p = prepare(p);
  ArrayRef<int64_t> shape = Formula::typeOf(layer.x).getShape();
  layer.steps = shape[0];
  layer.batch = shape[1];
  layer.hidden = op.getHiddenSize();
  layer.directions = Formula::typeOf(layer.w).getDimSize(0);
  std::vector<double> alphas(op.getActivationAlpha().begin(),
                             op.getActivationAlpha().end());
  std::vector<double> betas(op.getActivationBeta().begin(),
                            op.getActivationBeta().end());
  rt::Status status = rt::ref::readRecurrentActivations(
      {op.getActivations(), alphas, betas}, kind.activations, layer.directions,
      layer.activations);
  if (!status.isOk()) // The shape rule has refused such names.
    return failure();
  layer.common.clip = op.getClip().convertToDouble();
  if (!isa<NoneType>(op.getSequenceLens().getType()))
    layer.lengths = f.reshape(
        f.cast(op.getSequenceLens(), f.builder.getI64Type()), {layer.batch, 1});
  Value zeros =
      f.full({layer.directions, layer.batch, layer.hidden}, compute, 0);
  layer.h = layer.h ? layer.h : zeros;
  layer.c = layer.c || kind.gates != 4 ? layer.c : zeros;
  layer.kind = std::move(kind);
  return layer;
}

/// Back to the layout and the type of the operation's results.
template <typename Op>
static SmallVector<Value> finish(Formula &f, Op op,
                                 SmallVector<Value> results) {
  for (auto [i, result] : llvm::enumerate(results)) {
    if (op.getLayout() == 1)
      result = i == 0 ? f.transpose(result, {2, 0, 1, 3})
                      : f.transpose(result, {1, 0, 2});
    result = f.cast(result, Formula::elementOf(op.getX()));
  }
  return results;
}

/// There are shapes, and something to compute. Within a kernel a layer stays
/// one operation.
static bool canUnroll(Operation *op) {
  // A file of some bytes may declare any number of steps.
  constexpr int64_t mostSteps = 1 << 16;
  return hasStaticTypes(op) && !isInKernel(op) &&
         llvm::all_of(
             Formula::typeOf(op->getOperand(0)).getShape().take_front(2),
             [](int64_t extent) { return extent <= mostSteps; }) &&
         Formula::typeOf(op->getResult(0)).getNumElements() > 0;
}

FailureOr<SmallVector<Value>> RnnOp::decompose(OpBuilder &builder) {
  if (!canUnroll(*this))
    return failure();
  Formula f(builder, getLoc());
  FailureOr<Layer> layer = makeLayer(f, *this, {1, {"tanh"}, stepRnn}, {}, {});
  if (failed(layer))
    return failure();
  return finish(f, *this, unroll(f, *layer, getDirection()));
}

FailureOr<SmallVector<Value>> GruOp::decompose(OpBuilder &builder) {
  if (!canUnroll(*this))
    return failure();
  Formula f(builder, getLoc());
  FailureOr<Layer> layer =
      makeLayer(f, *this, {3, {"sigmoid", "tanh"}, stepGru}, {}, {});
  if (failed(layer))
    return failure();
  layer->common.isLinearBeforeReset = getLinearBeforeReset();
  return finish(f, *this, unroll(f, *layer, getDirection()));
}

FailureOr<SmallVector<Value>> LstmOp::decompose(OpBuilder &builder) {
  if (!canUnroll(*this))
    return failure();
  Formula f(builder, getLoc());
  FailureOr<Layer> layer =
      makeLayer(f, *this, {4, {"sigmoid", "tanh", "tanh"}, stepLstm},
                getInitialC(), getP());
  if (failed(layer))
    return failure();
  layer->common.couplesForget = getInputForget();
  return finish(f, *this, unroll(f, *layer, getDirection()));
}
