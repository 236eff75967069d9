// SPDX-License-Identifier: Apache-2.0
//
// A layer is a chain of kernels: for each part of its steps one that multiplies
// the inputs of all of them with W, and one that goes through them; or, where a
// step is long enough for several threads, one for each step.

#include "Recurrent.h"

#include "Check.h"
#include "Isa.h"
#include "Matmul.h"

#include "dlc/runtime/Kernel/Reference/RecurrentActivation.h"
#include "dlc/runtime/Kernel/Reference/Reference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

using namespace dlc::rt;
using namespace dlc::rt::cpu;

namespace {

enum Operands { X, W, R, B, SequenceLens, InitialH, InitialC, P };

/// How W and R are packed.
enum Packing : int64_t {
  Unpacked,
  Panels, ///< Before there were blocks of units.
  BlocksOfUnits,
  BytesOfUnits, ///< As those, R as bytes.
};

/// What distinguishes the cells.
struct CellKind {
  std::string_view name; ///< Of the Graph operation, too.
  Cell cell;
  int64_t gates;
  int parts;
  int64_t partGates[kMostGateParts];
  std::vector<std::string_view> activations;
};

struct Layer {
  const CellKind *kind;
  RecurrentPlan plan; ///< But for the steps and where W x lies.
  int64_t input;
  bool batchFirst, isPacked;
  bool packsBlocks; ///< R is packed by blocks of units, where there are any.
};

/// Of the workspace, in elements.
struct Workspace {
  explicit Workspace(const Layer &layer);
  int64_t steps;      ///< Whose W x are there at a time.
  int64_t recurrence; ///< Where R is, if it is not packed before.
  int64_t scratch;
  int64_t held;
  int64_t size;
};

struct NamedFunction {
  std::string_view name;
  GateFunction function;
};

} // namespace

static Status invalid(std::string message) {
  return Status(StatusCode::InvalidArgument, std::move(message));
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static const CellKind *findCell(std::string_view name) {
  static const CellKind kinds[] = {
      {"rnn", Cell::Rnn, 1, 1, {1}, {"tanh"}},
      {"gru", Cell::Gru, 3, 2, {2, 1}, {"sigmoid", "tanh"}},
      {"lstm", Cell::Lstm, 4, 1, {4}, {"sigmoid", "tanh", "tanh"}},
  };
  auto kind = std::ranges::find(kinds, name, &CellKind::name);
  return kind == std::end(kinds) ? nullptr : &*kind;
}

static const GateFunction *findFunction(std::string_view name) {
  static constexpr NamedFunction functions[] = {
      {"affine", GateFunction::Affine},
      {"elu", GateFunction::Elu},
      {"hardsigmoid", GateFunction::HardSigmoid},
      {"leakyrelu", GateFunction::LeakyRelu},
      {"relu", GateFunction::Relu},
      {"scaledtanh", GateFunction::ScaledTanh},
      {"sigmoid", GateFunction::Sigmoid},
      {"softplus", GateFunction::Softplus},
      {"softsign", GateFunction::Softsign},
      {"tanh", GateFunction::Tanh},
      {"thresholdedrelu", GateFunction::ThresholdedRelu},
  };
  auto known = std::ranges::find(functions, name, &NamedFunction::name);
  return known == std::end(functions) ? nullptr : &known->function;
}

static Status readActivations(const Attributes &attributes, Layer &layer) {
  std::span<const std::string_view> defaults = layer.kind->activations;
  RecurrentPlan &plan = layer.plan;
  std::vector<ref::RecurrentActivation> activations;
  DLC_RETURN_IF_ERROR(
      ref::readRecurrentActivations({attributes.getString("activations"),
                                     attributes.getFloats("activation_alpha"),
                                     attributes.getFloats("activation_beta")},
                                    defaults, plan.directions, activations));
  plan.isUsual = true;
  for (size_t i = 0; i < activations.size(); ++i) {
    const ref::RecurrentActivation &given = activations[i];
    const GateFunction *function = findFunction(given.name);
    if (!function)
      return invalid("expected a known activation, got " +
                     std::string(given.name));
    plan.activations[i / defaults.size()][i % defaults.size()] = {
        *function, static_cast<float>(given.alpha),
        static_cast<float>(given.beta)};
    plan.isUsual &= given.name == defaults[i % defaults.size()];
  }
  return Status::ok();
}

/// Each operand on its own; the shape rule of the operation does the rest.
static Status checkOperandTypes(const KernelCall &call) {
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const TensorType &type = call.inputs[i];
    if (i > R && type.type == DLC_INVALID_TYPE)
      continue;
    const std::string role = "input " + std::to_string(i);
    DLC_RETURN_IF_ERROR(checkTensor(type, i == SequenceLens ? DLC_I32 : DLC_F32,
                                    role.c_str(), 1, 3));
  }
  return Status::ok();
}

static Status checkResults(const KernelCall &call, const CellKind &kind,
                           const Attributes &attributes) {
  const ref::Operation *operation = ref::lookup(kind.name);
  if (!operation)
    return invalid("no operation '" + std::string(kind.name) + "'");
  DLC_RETURN_IF_ERROR(ref::checkAttributes(*operation, attributes));
  std::vector<ref::Operand> operands;
  for (const TensorType &type : call.inputs)
    operands.push_back({type});
  const size_t count = kind.cell == Cell::Lstm ? 3 : 2;
  std::vector<TensorType> results;
  DLC_RETURN_IF_ERROR(operation->infer({operands, attributes, count}, results));
  if (call.outputs.size() < count)
    return makeError(StatusCode::InvalidArgument,
                     "expected at least %zu outputs, got %zu", count,
                     call.outputs.size());
  for (size_t i = 0; i < count; ++i) {
    DLC_RETURN_IF_ERROR(
        checkTensor(call.outputs[i], DLC_F32, "an output", 3, 4));
    if (results[i].shape != call.outputs[i].shape)
      return invalid("expected output " + std::to_string(i) + " to be " +
                     toString(results[i]) + ", got " +
                     toString(call.outputs[i]));
  }
  return Status::ok();
}

/// Whether threads share the units of each step instead of sequences, and wait
/// for each other behind it: where a step takes longer than that for a single
/// sequence. Each of them reads only its part of R, which stays in its cache.
/// Not a matter of the batch: programs for several share what is packed.
static bool sharesUnits(const RecurrentPlan &plan) {
  constexpr int64_t largeWeights = 1 << 17;
  return plan.hidden > kPackedColumns &&
         plan.gates * plan.hidden * plan.hidden >= largeWeights;
}

/// Sequences of a tile: enough tiles for 16 workers, but R is read once for
/// each of them, and a single row waits for it.
static void planGrid(RecurrentPlan &plan, bool packsBlocks) {
  constexpr int64_t wantedTiles = 16, fewestRows = 2, mostRows = 48;
  const bool shares = packsBlocks && sharesUnits(plan);
  plan.unitBlock = shares ? kPackedColumns : plan.hidden;
  plan.unitBlocks = ceilDiv(plan.hidden, plan.unitBlock);
  const int64_t blocks = shares ? 1 : wantedTiles / plan.directions;
  const int64_t rows =
      std::clamp(ceilDiv(plan.batch, blocks), fewestRows, mostRows);
  plan.rowBlocks = ceilDiv(plan.batch, rows);
  plan.rowBlock = ceilDiv(plan.batch, std::max(plan.rowBlocks, int64_t{1}));
}

/// Elements of the products of one sequence with `units` units of R.
static int64_t productsOf(const RecurrentPlan &plan, int64_t units) {
  int64_t products = 0;
  for (int part = 0; part < plan.parts; ++part)
    products += roundUp(plan.partGates[part] * units, kPanelWidth);
  return products;
}

static void planWeights(RecurrentPlan &plan) {
  plan.blockWeights = productsOf(plan, plan.unitBlock) * plan.hidden;
  const int64_t last = plan.hidden - (plan.unitBlocks - 1) * plan.unitBlock;
  plan.weights = (plan.unitBlocks - 1) * plan.blockWeights +
                 productsOf(plan, last) * plan.hidden;
  plan.scratch =
      roundUp(productsOf(plan, plan.unitBlock) * plan.rowBlock + plan.hidden,
              kPanelWidth);
}

static Status readPacking(const KernelCall &call, Layer &layer) {
  const int64_t packing = call.attributes.getInt("packed_w", Unpacked);
  if (packing < Unpacked || packing > BytesOfUnits)
    return invalid("expected attribute 'packed_w' to be 0, 1, 2 or 3, got " +
                   std::to_string(packing));
  layer.isPacked = packing != Unpacked;
  layer.packsBlocks = packing >= BlocksOfUnits;
  layer.plan.isOfBytes = packing == BytesOfUnits;
  return Status::ok();
}

static void planLayout(Layer &layer) {
  RecurrentPlan &plan = layer.plan;
  const int64_t hidden = plan.hidden, states = plan.directions * hidden;
  plan.stateDirection = layer.batchFirst ? hidden : plan.batch * hidden;
  plan.stateBatch = layer.batchFirst ? states : hidden;
  plan.yDirection = plan.stateDirection;
  plan.yTime = layer.batchFirst ? states : plan.batch * states;
  plan.yBatch = layer.batchFirst ? plan.sequence * states : hidden;
}

static Status planLayer(const KernelCall &call, Layer &layer) {
  Attributes attributes;
  for (const Attribute &attribute : call.attributes)
    if (attribute.name != "cell" && attribute.name != "packed_w")
      attributes.set(attribute.name, attribute.value);
  std::string_view name = call.attributes.getString("cell");
  layer.kind = findCell(name);
  if (!layer.kind)
    return invalid("expected attribute 'cell' to be rnn, gru or lstm, got '" +
                   std::string(name) + "'");
  DLC_RETURN_IF_ERROR(readPacking(call, layer));
  DLC_RETURN_IF_ERROR(checkOperandTypes(call));
  DLC_RETURN_IF_ERROR(checkResults(call, *layer.kind, attributes));

  RecurrentPlan &plan = layer.plan;
  const std::vector<int64_t> &x = call.inputs[X].shape;
  const std::vector<int64_t> &r = call.inputs[R].shape;
  layer.batchFirst = attributes.getInt("layout", 0) == 1;
  layer.input = x[2];
  plan.cell = layer.kind->cell;
  plan.directions = r[0];
  plan.sequence = x[layer.batchFirst ? 1 : 0];
  plan.batch = x[layer.batchFirst ? 0 : 1];
  plan.hidden = r[2];
  plan.gates = layer.kind->gates;
  if (layer.input < 1 || plan.hidden < 1)
    return invalid("expected inputs and states with elements, got " +
                   toString(call.inputs[X]) + " and " +
                   toString(call.inputs[R]));
  plan.startsReverse =
      attributes.getString("direction", "forward") == "reverse";
  plan.linearBeforeReset = attributes.getInt("linear_before_reset") != 0;
  plan.inputForget = attributes.getInt("input_forget") != 0;
  const double clip = attributes.getFloat("clip", 0);
  plan.limit = clip > 0 ? static_cast<float>(clip)
                        : std::numeric_limits<float>::infinity();
  DLC_RETURN_IF_ERROR(readActivations(attributes, layer));
  plan.parts = layer.kind->parts;
  std::ranges::copy(layer.kind->partGates, plan.partGates);
  plan.phases = plan.cell == Cell::Gru && !plan.linearBeforeReset ? 2 : 1;
  planGrid(plan, layer.packsBlocks);
  planWeights(plan);
  planLayout(layer);
  return Status::ok();
}

bool cpu::isRecurrentSupported(const KernelCall &call, std::string &why) {
  Layer layer = {};
  Status status = planLayer(call, layer);
  why = status.message();
  return status.isOk();
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

/// Rows of W or R of one direction, packed.
static int64_t packedRows(const Layer &layer, size_t operand) {
  const RecurrentPlan &plan = layer.plan;
  return operand == W ? roundUp(plan.gates * plan.hidden, kPanelWidth)
                      : plan.weights / plan.hidden;
}

/// Rows of R that a tile multiplies at once: those of the units from `first` on
/// of some gates.
static std::vector<float> rowsOf(const RecurrentPlan &plan, const float *gates,
                                 int64_t count, int64_t first) {
  const int64_t units = std::min(plan.unitBlock, plan.hidden - first);
  std::vector<float> rows;
  rows.reserve(count * units * plan.hidden);
  for (int64_t gate = 0; gate < count; ++gate) {
    const float *from = gates + (gate * plan.hidden + first) * plan.hidden;
    rows.insert(rows.end(), from, from + units * plan.hidden);
  }
  return rows;
}

/// A step of which all `values` are multiples by signed bytes, but for the
/// rounding of these products; 0 where there is none.
static float stepOf(std::span<const float> values) {
  constexpr double rounding = 0x1p-22;
  constexpr int most = 128;
  float largest = 0;
  for (float value : values) {
    if (!std::isfinite(value))
      return 0;
    largest = std::max(largest, std::fabs(value));
  }
  if (largest == 0)
    return 1;
  for (int count = 1; count <= most; ++count) {
    const float step = largest / static_cast<float>(count);
    if (std::isnormal(step) && std::ranges::all_of(values, [&](float value) {
          const double multiple = std::nearbyint(double{value} / step);
          return multiple < most && std::fabs(multiple * step - value) <=
                                        rounding * std::fabs(value);
        }))
      return step;
  }
  return 0;
}

namespace {
/// Where R is packed as bytes.
struct PackedBytes {
  int8_t *bytes;
  float *scales;

  /// As packColumns() of `rows` transposed. recurrentPacking() has found each
  /// to be multiples; what nobody asked it about, to be timed, may be zeros.
  void add(std::span<const float> rows, int64_t terms) {
    const auto columns = static_cast<int64_t>(rows.size()) / terms;
    const int64_t padded = roundUp(columns, kPanelWidth);
    std::fill_n(bytes, padded * terms, int8_t{0});
    std::fill_n(scales, padded, 0.0f);
    for (int64_t column = 0; column < columns; ++column) {
      std::span<const float> row = rows.subspan(column * terms, terms);
      const int64_t inside = column % kPackedColumns, first = column - inside;
      const int64_t width = std::min(kPackedColumns, padded - first);
      const float step = stepOf(row);
      for (int64_t i = 0; i < terms && step != 0; ++i)
        bytes[first * terms + i * width + inside] =
            static_cast<int8_t>(std::nearbyint(double{row[i]} / step));
      scales[column] = step;
    }
    bytes += padded * terms;
    scales += padded;
  }
};
} // namespace

static void packR(const Layer &layer, const float *from, void *target) {
  const RecurrentPlan &plan = layer.plan;
  const int64_t gate = plan.hidden * plan.hidden;
  auto *floats = static_cast<float *>(target);
  auto *bytes = static_cast<int8_t *>(target);
  PackedBytes packed = {
      bytes, reinterpret_cast<float *>(bytes + plan.directions * plan.weights)};
  for (int64_t direction = 0; direction < plan.directions; ++direction)
    for (int64_t block = 0; block < plan.unitBlocks; ++block) {
      const float *part = from + direction * plan.gates * gate;
      for (int i = 0; i < plan.parts; ++i) {
        const std::vector<float> rows =
            rowsOf(plan, part, plan.partGates[i], block * plan.unitBlock);
        const auto columns = static_cast<int64_t>(rows.size()) / plan.hidden;
        if (plan.isOfBytes)
          packed.add(rows, plan.hidden);
        else
          floats = packColumns({rows.data(), 1, plan.hidden}, plan.hidden,
                               columns, kPackedColumns, floats);
        part += plan.partGates[i] * gate;
      }
    }
}

static void packW(const Layer &layer, const float *from, void *target) {
  const RecurrentPlan &plan = layer.plan;
  auto *to = static_cast<float *>(target);
  const int64_t rows = plan.gates * plan.hidden;
  for (int64_t direction = 0; direction < plan.directions; ++direction) {
    to = packColumns({from, 1, layer.input}, layer.input, rows, kPackedColumns,
                     to);
    from += rows * layer.input;
  }
}

static int64_t columnsOf(const Layer &layer, size_t operand) {
  return operand == W ? layer.input : layer.plan.hidden;
}

size_t cpu::packedRecurrentBytes(const KernelCall &call, size_t operand) {
  Layer layer = {};
  if ((operand != W && operand != R) || !planLayer(call, layer).isOk())
    return 0;
  const auto rows =
      static_cast<size_t>(layer.plan.directions * packedRows(layer, operand));
  const auto columns = static_cast<size_t>(columnsOf(layer, operand));
  return operand == R && layer.plan.isOfBytes ? rows * (columns + sizeof(float))
                                              : rows * columns * sizeof(float);
}

void cpu::packRecurrent(const KernelCall &call, size_t operand,
                        const void *source, void *target) {
  Layer layer = {};
  if ((operand != W && operand != R) || !planLayer(call, layer).isOk())
    return;
  (operand == R ? packR : packW)(layer, static_cast<const float *>(source),
                                 target);
}

int64_t cpu::recurrentPacking(const KernelCall &call,
                              ConstantOperands constants) {
  constexpr int64_t fewWeights = 1 << 18;
  if (R >= constants.size() || !constants[R] ||
      !checkTensor(call.inputs[R], DLC_F32, "r", 3, 3).isOk())
    return BlocksOfUnits;
  const std::vector<int64_t> &shape = call.inputs[R].shape;
  if (shape[1] * shape[2] < fewWeights)
    return BlocksOfUnits;
  const auto *row = static_cast<const float *>(constants[R]);
  for (int64_t i = 0; i < shape[0] * shape[1]; ++i, row += shape[2])
    if (stepOf({row, static_cast<size_t>(shape[2])}) == 0)
      return BlocksOfUnits;
  return BytesOfUnits;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

static int64_t productsOfStep(const Layer &layer) {
  const RecurrentPlan &plan = layer.plan;
  return plan.directions * plan.batch * plan.gates * plan.hidden;
}

/// Parts are as large as a cache that processors share, so that a workspace
/// does not grow with the sequence; and they are made when a program is loaded,
/// so that there must not be too many.
Workspace::Workspace(const Layer &layer) {
  constexpr int64_t partElements = 1 << 20, mostParts = 1024;
  const RecurrentPlan &plan = layer.plan;
  const int64_t products = productsOfStep(layer);
  steps = std::max({partElements / std::max(products, int64_t{1}),
                    ceilDiv(plan.sequence, mostParts), int64_t{1}});
  steps = std::min(steps, plan.sequence);
  recurrence = roundUp(steps * products, kPanelWidth);
  scratch = recurrence;
  if (!layer.isPacked)
    scratch += roundUp(plan.directions * plan.weights, kPanelWidth);
  held = scratch +
         plan.directions * plan.unitBlocks * plan.rowBlocks * plan.scratch;
  size = held;
  if (plan.cell == Cell::Gru)
    size += plan.directions * plan.batch * plan.hidden;
}

size_t cpu::recurrentWorkspaceBytes(const KernelCall &call) {
  Layer layer = {};
  if (!planLayer(call, layer).isOk())
    return 0;
  return static_cast<size_t>(Workspace(layer).size) * sizeof(float);
}

namespace {

/// Where the arguments of a call are.
struct Places {
  Places(const KernelCall &call, const Layer &layer)
      : inputs(call.inputs.size()), hasCell(layer.plan.cell == Cell::Lstm),
        isPacked(layer.isPacked), workspace(layer),
        sequence(layer.plan.sequence), batch(layer.plan.batch) {}

  const float *input(void *const *given, size_t index) const {
    return index < inputs ? static_cast<const float *>(given[index]) : nullptr;
  }
  const int32_t *lengths(void *const *given) const {
    return SequenceLens < inputs
               ? static_cast<const int32_t *>(given[SequenceLens])
               : nullptr;
  }
  float *output(void *const *given, size_t index) const {
    return static_cast<float *>(given[inputs + index]);
  }
  /// The workspace; a call without sequences may have none.
  float *memory(void *const *given) const {
    return workspace.size ? output(given, hasCell ? 3 : 2) : nullptr;
  }
  RecurrentArguments argumentsOf(void *const *given) const;
  Status check(void *const *given) const;

  size_t inputs;
  bool hasCell, isPacked;
  Workspace workspace;
  int64_t sequence, batch;
};

/// A kernel of the chain, and what it has in common with the others.
class RecurrentKernel : public PreparedKernel {
public:
  RecurrentKernel(const Places &places,
                  std::unique_ptr<PreparedKernel> following)
      : places(places), following(std::move(following)) {}
  Status check(void *const *given) const override {
    return places.check(given);
  }
  const PreparedKernel *next() const override { return following.get(); }

protected:
  const Places places;

private:
  const std::unique_ptr<PreparedKernel> following;
};

/// Packs R.
class PackKernel final : public RecurrentKernel {
public:
  PackKernel(const Places &places, const RecurrentPlan &plan,
             const RecurrentKernels &kernels,
             std::unique_ptr<PreparedKernel> following)
      : RecurrentKernel(places, std::move(following)), plan(plan),
        kernels(kernels) {}

  int64_t tiles() const override {
    int64_t panels = 0;
    for (int part = 0; part < plan.parts; ++part)
      panels += ceilDiv(plan.partGates[part] * plan.hidden, kPackedColumns);
    return plan.directions * panels;
  }
  void run(void *const *given, int64_t begin, int64_t end) const override {
    kernels.pack(plan, places.input(given, R),
                 places.memory(given) + places.workspace.recurrence, begin,
                 end);
  }

private:
  const RecurrentPlan plan;
  const RecurrentKernels &kernels;
};

/// The products W x of some steps.
class InputKernel final : public RecurrentKernel {
public:
  InputKernel(const Places &places, const MatmulPlan &plan, int64_t offset,
              const KernelSet &kernels,
              std::unique_ptr<PreparedKernel> following)
      : RecurrentKernel(places, std::move(following)), plan(plan),
        offset(offset), kernels(kernels) {}

  int64_t tiles() const override {
    return plan.batch * plan.rowBlocks * plan.columnBlocks;
  }
  void run(void *const *given, int64_t begin, int64_t end) const override {
    void *five[] = {static_cast<float *>(given[X]) + offset, given[W], nullptr,
                    nullptr, places.memory(given)};
    kernels.matmul(plan, five, begin, end);
  }

private:
  const MatmulPlan plan;
  const int64_t offset; ///< Of the first input that the first direction reads.
  const KernelSet &kernels;
};

/// Some steps: all phases of all of them in one tile where that has all units,
/// else a kernel for each phase of each, which this one begins and owns.
class StepsKernel final : public RecurrentKernel {
public:
  StepsKernel(const Places &places, const RecurrentPlan &plan,
              const RecurrentKernels &kernels,
              std::unique_ptr<PreparedKernel> following);

  const PreparedKernel *next() const override { return after(0); }
  int64_t tiles() const override {
    return plan.directions * plan.unitBlocks * plan.rowBlocks;
  }
  void run(void *const *given, int64_t begin, int64_t end) const override {
    run(given, ranges.front(), begin, end);
  }

private:
  /// All of `ranges` but the first.
  class Further final : public PreparedKernel {
  public:
    Further(const StepsKernel &first, size_t index)
        : first(first), index(index) {}
    int64_t tiles() const override { return first.tiles(); }
    void run(void *const *given, int64_t begin, int64_t end) const override {
      first.run(given, first.ranges[index], begin, end);
    }
    const PreparedKernel *next() const override { return first.after(index); }

  private:
    const StepsKernel &first;
    const size_t index;
  };

  void run(void *const *given, const RecurrentRange &range, int64_t begin,
           int64_t end) const {
    kernels.run(plan, places.argumentsOf(given), range, begin, end);
  }
  /// What runs behind ranges[index].
  const PreparedKernel *after(size_t index) const {
    return index < further.size() ? &further[index] : RecurrentKernel::next();
  }

  const RecurrentPlan plan;
  const RecurrentKernels &kernels;
  std::vector<RecurrentRange> ranges;
  std::vector<Further> further;
};

} // namespace

StepsKernel::StepsKernel(const Places &places, const RecurrentPlan &plan,
                         const RecurrentKernels &kernels,
                         std::unique_ptr<PreparedKernel> following)
    : RecurrentKernel(places, std::move(following)), plan(plan),
      kernels(kernels) {
  // Without steps there is one that sets the states.
  if (plan.unitBlocks <= 1 || plan.steps == 0) {
    ranges.push_back({0, plan.steps, 0, plan.phases});
    return;
  }
  for (int64_t step = 0; step < plan.steps; ++step)
    for (int phase = 0; phase < plan.phases; ++phase)
      ranges.push_back({step, step + 1, phase, phase + 1});
  for (size_t i = 1; i < ranges.size(); ++i)
    further.emplace_back(*this, i);
}

RecurrentArguments Places::argumentsOf(void *const *given) const {
  float *own = memory(given);
  RecurrentArguments all = {};
  all.inputs = own;
  all.recurrence = isPacked ? input(given, R) : own + workspace.recurrence;
  all.bias = input(given, B);
  all.lengths = lengths(given);
  all.initialH = input(given, InitialH);
  all.initialC = input(given, InitialC);
  all.peepholes = input(given, P);
  all.y = output(given, 0);
  all.h = output(given, 1);
  all.c = hasCell ? output(given, 2) : nullptr;
  all.scratch = own + workspace.scratch;
  all.held = own + workspace.held;
  return all;
}

Status Places::check(void *const *given) const {
  const int32_t *all = lengths(given);
  for (int64_t i = 0; all && i < batch; ++i)
    if (all[i] < 0 || all[i] > sequence)
      return makeError(StatusCode::InvalidArgument,
                       "expected sequence lengths in [0, %lld], got %d",
                       static_cast<long long>(sequence), all[i]);
  return Status::ok();
}

/// The products of steps [first, first + steps) in all directions, each in the
/// order of time: [directions][steps][batch][gates * hidden], or with the
/// batch in front of the steps. `offset` is where in x the first one begins.
static MatmulPlan planInputs(const Layer &layer, int64_t first, int64_t steps,
                             int64_t &offset) {
  const RecurrentPlan &layout = layer.plan;
  const int64_t step =
      layer.batchFirst ? layer.input : layout.batch * layer.input;
  const int64_t fromEnd = layout.sequence - first - steps;
  offset = (layout.startsReverse ? fromEnd : first) * step;
  MatmulPlan plan = {};
  plan.batch = layout.directions;
  plan.batchRank = 1;
  plan.batchDims[0] = layout.directions;
  plan.aSteps[0] = (fromEnd - first) * step;
  plan.m = steps;
  plan.n = layout.gates * layout.hidden;
  plan.k = plan.lda = plan.ldb = layer.input;
  plan.transposedB = !layer.isPacked;
  plan.packedB = layer.isPacked;
  plan.packedWidth = layer.isPacked ? kPackedColumns : 0;
  plan.bSteps[0] =
      layer.isPacked ? packedRows(layer, W) * plan.k : plan.n * plan.k;
  if (layer.batchFirst) {
    plan.batch *= layout.batch;
    plan.batchRank = 2;
    plan.batchDims[1] = layout.batch;
    plan.aSteps[1] = layout.sequence * layer.input;
  } else {
    plan.m *= layout.batch;
  }
  finishMatmulPlan(plan);
  return plan;
}

static RecurrentPlan planSteps(const Layer &layer, int64_t first,
                               int64_t steps) {
  RecurrentPlan plan = layer.plan;
  const int64_t row = plan.gates * plan.hidden;
  plan.firstStep = first;
  plan.steps = steps;
  plan.inputDirection = steps * plan.batch * row;
  plan.inputTime = layer.batchFirst ? row : plan.batch * row;
  plan.inputBatch = layer.batchFirst ? steps * row : row;
  return plan;
}

Status cpu::prepareRecurrent(const KernelCall &call, Isa isa,
                             std::unique_ptr<PreparedKernel> &prepared) {
  const KernelSet *kernels = nullptr;
  const RecurrentKernels *recurrent = nullptr;
  DLC_RETURN_IF_ERROR(findKernels(isa, kernels));
  DLC_RETURN_IF_ERROR(findKernels(isa, recurrent));
  Layer layer = {};
  DLC_RETURN_IF_ERROR(planLayer(call, layer));
  const Places places(call, layer);
  DLC_RETURN_IF_ERROR(checkWorkspace(
      call, static_cast<size_t>(places.workspace.size) * sizeof(float),
      places.hasCell ? 3 : 2));
  // The last kernel first: each owns the next.
  std::unique_ptr<PreparedKernel> chain;
  const int64_t sequence = layer.plan.sequence;
  const int64_t part = std::max(places.workspace.steps, int64_t{1});
  for (int64_t i = std::max(ceilDiv(sequence, part), int64_t{1}); i-- > 0;) {
    const int64_t first = i * part;
    const int64_t steps = std::min(part, sequence - first);
    chain = std::make_unique<StepsKernel>(
        places, planSteps(layer, first, steps), *recurrent, std::move(chain));
    if (steps == 0 || layer.plan.batch == 0)
      continue;
    int64_t offset = 0;
    const MatmulPlan inputs = planInputs(layer, first, steps, offset);
    chain = std::make_unique<InputKernel>(places, inputs, offset, *kernels,
                                          std::move(chain));
  }
  if (!layer.isPacked)
    chain = std::make_unique<PackKernel>(places, layer.plan, *recurrent,
                                         std::move(chain));
  prepared = std::move(chain);
  return Status::ok();
}

KernelCost cpu::recurrentCost(const KernelCall &call) {
  Layer layer = {};
  if (!planLayer(call, layer).isOk())
    return {};
  const auto products = static_cast<uint64_t>(productsOfStep(layer));
  // Each step reads R anew, out of a cache: 128 bytes in a nanosecond.
  const auto readBytes = static_cast<uint64_t>(
      layer.plan.sequence * layer.plan.directions * layer.plan.rowBlocks *
      layer.plan.weights * (layer.plan.isOfBytes ? 1 : int64_t{sizeof(float)}));
  return {2 * products * layer.plan.sequence *
              (layer.input + layer.plan.hidden),
          bytesOf(call), readBytes * 100 / 128};
}

bool cpu::recurrentFromOperation(std::string_view operation,
                                 const KernelCall &call, ConstantOperands,
                                 Attributes &attributes) {
  attributes = call.attributes;
  attributes.set("cell", std::string(operation));
  return true;
}
