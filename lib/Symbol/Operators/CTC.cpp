// SPDX-License-Identifier: Apache-2.0
//
// CTCLoss: the probability of all alignments of labels to steps, summed up in
// logarithms one step after the other (Graves et al., Connectionist Temporal
// Classification, 2006). Its gradient is that of what it is made of.

#include "Rules.h"

using namespace dlc;
using namespace dlc::symbol;
using llvm::Twine;
using mlir::Value;

/// The logarithm of what cannot be, far from infinity, which has no difference.
static constexpr double kNever = -1e30;
/// Each is a few dozen operations.
static constexpr int64_t kMaxSteps = 4096;

namespace {
/// States of an alignment are the labels with a blank around each: [batch,
/// 2 labels + 1] tensors of logarithms.
class Alignments {
public:
  Alignments(LoweringContext &n, Value data, const Ints &shape, int64_t labels)
      : n(n), b(n.b), scores(makeScores(n, data)), steps(shape[0]),
        batch(shape[1]), classes(shape[2]), states(2 * labels + 1),
        blank(n.p.getText("blank_label") == "first" ? 0 : classes - 1) {}

  Value loss();

private:
  static Value makeScores(LoweringContext &n, Value data);
  Value number(double value) { return n.scalarLike(scores, value); }
  Value numbers(int64_t count) {
    return b.op("range", {b.intScalar(0), b.intScalar(count), b.intScalar(1)});
  }
  /// `count` numbers in each row of the batch.
  Value rows(Value value, int64_t count) {
    return b.op("expand", {value, b.ints({batch, count})});
  }
  /// The logarithm of 1 where the condition holds, and of 0 elsewhere.
  Value onlyWhere(Value condition) {
    return b.op("select", {condition, number(0), number(kNever)});
  }
  Value shift(Value x, int64_t by, Value before) {
    return b.concat({rows(before, by), b.slice(x, 1, 0, states - by)}, 1);
  }
  Value lengths(const char *name);
  Value countLabels(Value labels);
  Value spread(Value labels);
  Value step(Value now, Value skips);
  Value end(Value last, Value count);

  LoweringContext &n;
  GraphBuilder &b;
  Value scores; ///< Logarithms of [steps, batch, classes].
  int64_t steps, batch, classes, states, blank;
};
} // namespace

/// The logarithm of no probability at all is one that has a difference, too;
/// NaN stays NaN.
Value Alignments::makeScores(LoweringContext &n, Value data) {
  Value scores = n.b.op("log_softmax", {data}, {{"axis", 2}});
  return n.b.op("max", {scores, n.scalarLike(scores, kNever)});
}

/// A column of the lengths in an operand; null where there are none.
Value Alignments::lengths(const char *name) {
  Value given = n.named(name);
  return given ? b.reshape(b.cast(given, b.i64()), {batch, 1}) : Value();
}

/// Those in front of the first that is padding, unless lengths are given.
Value Alignments::countLabels(Value labels) {
  if (Value given = lengths("label_lengths"))
    return given;
  Value padding = b.intScalar(blank == 0 ? 0 : -1);
  Value isPadding = b.cast(b.op("equal", {labels, padding}), b.i64());
  Value before = b.op("cumsum", {isPadding, b.intScalar(1)});
  Value isLabel = b.cast(b.op("equal", {before, b.intScalar(0)}), b.i64());
  return b.reduce("reduce_sum", isLabel, {1}, /*keepDims=*/true);
}

/// The class of each state. What is padding may be no class, and is not read.
/// MXNet checks no label and reads outside of its scores; here a label that is
/// no class counts as the nearest one.
Value Alignments::spread(Value labels) {
  labels = b.op("clamp", {labels, b.intScalar(0), b.intScalar(classes - 1)});
  Value blanks = rows(b.intScalar(blank), states / 2);
  Value pairs = b.concat({b.unsqueeze(blanks, {2}), b.unsqueeze(labels, {2})},
                         /*axis=*/2);
  return b.concat(
      {b.reshape(pairs, {batch, states - 1}), rows(b.intScalar(blank), 1)}, 1);
}

/// The sums over the states that may come in front of each: it itself, the one
/// before it, and the one before that where `skips`.
Value Alignments::step(Value now, Value skips) {
  Value parts[] = {now, shift(now, 1, number(kNever)),
                   b.add(shift(now, 2, number(kNever)), skips)};
  Value most =
      b.op("stop_gradient",
           {b.op("max", {parts[0], b.op("max", {parts[1], parts[2]})})});
  Value sum;
  for (Value part : parts) {
    Value each = b.op("exp", {b.sub(part, most)});
    sum = sum ? b.add(sum, each) : each;
  }
  return b.add(b.op("log", {sum}), most);
}

/// Alignments end in the last label or the blank behind it. Labels that do not
/// fit into the steps have none: the loss is 0 then, as MXNet's is.
Value Alignments::end(Value last, Value count) {
  Value behind = b.add(count, count);
  Value distance = b.sub(behind, numbers(states));
  Value isEnd = b.op("logical_or", {b.op("equal", {distance, b.intScalar(0)}),
                                    b.op("equal", {distance, b.intScalar(1)})});
  Value ends = b.add(last, onlyWhere(isEnd));
  Value most = b.op("stop_gradient",
                    {b.reduce("reduce_max", ends, {1}, /*keepDims=*/true)});
  Value sum = b.reduce("reduce_sum", b.op("exp", {b.sub(ends, most)}), {1},
                       /*keepDims=*/true);
  Value total = b.add(b.op("log", {sum}), most);
  // NaN is not less.
  Value hasNone = b.op("less", {total, number(kNever / 2)});
  Value loss = b.op("select", {hasNone, number(0), b.op("neg", {total})});
  return b.reshape(loss, {batch});
}

Value Alignments::loss() {
  Value labels = b.cast(n.in(1), b.i64());
  Value count = countLabels(labels), state = spread(labels);
  Value dataLengths = lengths("data_lengths");
  // A blank may be left out between labels that differ.
  Value isOther =
      b.op("logical_not",
           {b.op("equal", {state, shift(state, 2, b.intScalar(blank))})});
  Value isLabel =
      b.op("logical_not", {b.op("equal", {state, b.intScalar(blank)})});
  Value skips = onlyWhere(b.op("logical_and", {isLabel, isOther}));
  Value everyStep =
      b.op("expand", {b.unsqueeze(state, {0}), b.ints({steps, batch, states})});
  Value chosen = b.op("gather_elements", {scores, everyStep}, {{"axis", 2}});
  auto at = [&](int64_t time) {
    return b.reshape(b.slice(chosen, 0, time, time + 1), {batch, states});
  };
  // The first step is a blank or a label.
  Value now =
      b.add(at(0), onlyWhere(b.op("less", {numbers(states), b.intScalar(2)})));
  for (int64_t time = 1; time < steps; ++time) {
    Value next = b.add(step(now, skips), at(time));
    if (dataLengths) {
      Value goesOn = b.op("less", {b.intScalar(time), dataLengths});
      next = b.op("select", {goesOn, next, now});
    }
    now = next;
  }
  return end(now, count);
}

static void lowerCtc(LoweringContext &n) {
  Ints data = n.shape(n.in(0), "CTCLoss"), label = n.shape(n.in(1), "CTCLoss");
  if (n.b.failed())
    return;
  if (data.size() != 3 || llvm::is_contained(data, 0))
    return n.fail("expected data of steps, batch and classes, none of them 0");
  if (label.size() != 2 || label[1] == 0)
    return n.fail("expected labels of the batch and at least one place");
  if (data[0] > kMaxSteps)
    return n.unsupported("more than " + Twine(kMaxSteps) + " steps, got " +
                         Twine(data[0]));
  Value wide = n.b.cast(n.in(0), n.b.wideFloat(n.in(0)));
  n.set(0, n.b.castLike(Alignments(n, wide, data, label[1]).loss(), n.in(0)));
}

static void relateCtc(ShapeRelation &r) {
  int64_t batch = r.inputDim(0, 1), open = rt::kUnknownDim;
  if (batch == open)
    batch = r.inputDim(1, 0);
  r.setInput(0, std::vector{open, batch, open});
  r.setInput(1, std::vector{batch, open});
  for (size_t lengths : {2, 3})
    r.setInput(lengths, std::vector{batch});
  r.setOutput(0, std::vector{batch});
}

std::span<const Operator> dlc::symbol::ctcOperators() {
  static const std::vector<Operator> rows = {
      {.name = "CTCLoss",
       .aliases = {"ctc_loss", "_contrib_CTCLoss", "_contrib_ctc_loss"},
       .summary = "The loss of labels of sequences without an alignment",
       .details = "Data of (steps, batch, classes) before a softmax, labels of "
                  "(batch, places). Labels end in front of the first that is "
                  "0, or -1 where the blank is the last class, unless lengths "
                  "are given. Labels that do not fit, or whose alignments all "
                  "have a score of -inf, have a loss of 0. A label that is no "
                  "class counts as the nearest one.",
       .parameters = {optional("use_data_lengths", ParameterKind::Bool, "False",
                               "The number of steps of each sample is an "
                               "input."),
                      optional("use_label_lengths", ParameterKind::Bool,
                               "False",
                               "The number of labels of each sample is an "
                               "input."),
                      choice("blank_label", {"first", "last"}, "first",
                             "The class that is the blank.")},
       .inputs = {{"data"},
                  {"label"},
                  {"data_lengths", when("use_data_lengths")},
                  {"label_lengths", when("use_label_lengths")}},
       .outputs = {{"output0"}, {"output1", {}, never()}},
       .relateShapes = relateCtc,
       .relateTypes = keepsType,
       .lower = lowerCtc}};
  return rows;
}
