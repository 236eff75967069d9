// SPDX-License-Identifier: Apache-2.0
//
// Control flow, without loops in Graph: what is computed a known number of
// times is written down as often. A loop that may end earlier goes on and
// changes nothing more, and of two branches both are computed.

#include "../Bodies.h"
#include "Rules.h"

#include "dlc/dialects/Graph/Plain.h"

using namespace dlc;
using namespace dlc::symbol;
using llvm::SmallVector;
using llvm::Twine;
using mlir::Value;
using rt::Status;

//===-- Ports -------------------------------------------------------------===//

static Status bad(const std::string &message) {
  return Status(rt::StatusCode::InvalidArgument, message);
}

/// Places of operands in the order of a body's variables.
static void addOperands(const std::vector<int64_t> &places, BodyPorts &ports) {
  for (int64_t place : places)
    ports.inputs.push_back({static_cast<size_t>(place), false});
}

/// The operands stand in the order of data, states and the rest, and each says
/// which variable of the body it is.
static Status connectForeach(const Parameters &p, size_t, BodyPorts &ports) {
  std::vector<std::pair<int64_t, bool>> variables;
  for (const char *name : {"in_data_locs", "in_state_locs", "remain_locs"})
    for (int64_t place : p.getInts(name))
      variables.emplace_back(place, std::string_view(name) == "in_data_locs");
  std::vector<bool> isTaken(variables.size(), false);
  ports.inputs.resize(variables.size());
  for (size_t i = 0; i < variables.size(); ++i) {
    auto [place, isRow] = variables[i];
    if (static_cast<size_t>(place) >= variables.size() || isTaken[place])
      return bad("expected the numbers below " +
                 std::to_string(variables.size()) +
                 " once each in parameters 'in_data_locs', 'in_state_locs' "
                 "and 'remain_locs', got " +
                 std::to_string(place));
    isTaken[place] = true;
    ports.inputs[place] = {i, isRow};
  }
  if (p.getInts("in_data_locs").empty())
    return bad("expected data in parameter 'in_data_locs', got none");
  for (int64_t i = 0, end = p.getInt("num_outputs"); i < end; ++i)
    ports.results.emplace_back(i);
  if (ports.results.size() !=
      p.getInt("num_out_data") + p.getInts("in_state_locs").size())
    return bad("expected parameter 'num_outputs' to count data and states, " +
               std::to_string(p.getInt("num_out_data")) + " and " +
               std::to_string(p.getInts("in_state_locs").size()) + ", got " +
               std::to_string(ports.results.size()));
  return Status::ok();
}

static Status connectWhile(const Parameters &p, size_t body, BodyPorts &ports) {
  addOperands(p.getInts(body == 0 ? "cond_input_locs" : "func_input_locs"),
              ports);
  const std::vector<int64_t> &variables = p.getInts("func_var_locs");
  for (int64_t place : variables)
    if (static_cast<size_t>(place) >= p.getInts("func_input_locs").size())
      return bad("expected parameter 'func_var_locs' below " +
                 std::to_string(p.getInts("func_input_locs").size()) +
                 ", got " + std::to_string(place));
  if (body == 0) {
    ports.results.emplace_back();
    return Status::ok();
  }
  for (int64_t i = 0, end = p.getInt("num_outputs"); i < end; ++i)
    ports.results.emplace_back(i);
  if (ports.results.size() != p.getInt("num_out_data") + variables.size())
    return bad(
        "expected parameter 'num_outputs' to count data and variables, " +
        std::to_string(p.getInt("num_out_data")) + " and " +
        std::to_string(variables.size()) + ", got " +
        std::to_string(ports.results.size()));
  return Status::ok();
}

static Status connectCond(const Parameters &p, size_t body, BodyPorts &ports) {
  static constexpr std::string_view names[] = {
      "cond_input_locs", "then_input_locs", "else_input_locs"};
  addOperands(p.getInts(names[body]), ports);
  if (body == 0) {
    ports.results.emplace_back();
    return Status::ok();
  }
  for (int64_t i = 0, end = p.getInt("num_outputs"); i < end; ++i)
    ports.results.emplace_back(i);
  return Status::ok();
}

//===-- Lowering ----------------------------------------------------------===//

/// A scalar that says whether the one number in `x` is not 0.
static Value toCondition(LoweringContext &n, Value x) {
  Ints shape = n.shape(x, "a condition");
  for (int64_t dim : shape)
    if (dim != 1 && !n.b.failed())
      n.fail("expected a condition of one element, got an extent of " +
             Twine(dim));
  Value one = n.b.reshape(x, {});
  if (n.b.failed() || GraphBuilder::elementOf(one).isInteger(1))
    return one;
  return n.b.op("logical_not", {n.b.op("equal", {one, n.scalarLike(one, 0)})});
}

/// Rows behind each other along a new first axis.
static Value stack(LoweringContext &n, llvm::ArrayRef<Value> rows) {
  SmallVector<Value> parts;
  for (Value row : rows)
    parts.push_back(n.b.unsqueeze(row, {0}));
  return n.b.concat(parts, 0);
}

/// What a body computes of the operands that stand in its ports.
static SmallVector<Value> compute(LoweringContext &n, size_t body,
                                  const BodyPorts &ports,
                                  llvm::ArrayRef<Value> operands) {
  SmallVector<Value> variables;
  for (const BodyPorts::Input &input : ports.inputs)
    variables.push_back(operands[input.operand]);
  return n.lowerBody(body, variables);
}

static bool isSameType(LoweringContext &n, Value a, Value b,
                       const Twine &what) {
  if (n.b.failed() || a.getType() == b.getType())
    return !n.b.failed();
  n.fail("expected " + what + " to keep its shape and type, got " +
         rt::toString(graph::toTensorType(b.getType())) + " after " +
         rt::toString(graph::toTensorType(a.getType())));
  return false;
}

static void lowerForeach(LoweringContext &n) {
  rt::Result<BodyPorts> ports = n.portsOfBody(0);
  if (!ports.isOk())
    return n.fail(ports.status().message());
  size_t data = n.p.getInts("in_data_locs").size();
  size_t states = n.p.getInts("in_state_locs").size();
  int64_t outputs = n.p.getInt("num_out_data"), steps = -1;
  for (size_t i = 0; i < data; ++i) {
    Ints shape = n.shape(n.in(i), "a loop over data");
    if (n.b.failed())
      return;
    if (shape.empty() || shape[0] < 1)
      return n.fail("expected at least one row of data in operand " + Twine(i));
    if (steps >= 0 && steps != shape[0])
      return n.fail("expected " + Twine(steps) + " rows in operand " +
                    Twine(i) + ", got " + Twine(shape[0]));
    steps = shape[0];
  }
  SmallVector<Value> operands(n.inputs());
  SmallVector<SmallVector<Value>> rows(outputs);
  for (int64_t step = 0; step < steps && !n.b.failed(); ++step) {
    for (size_t i = 0; i < data; ++i)
      operands[i] = n.b.squeeze(n.b.slice(n.in(i), 0, step, step + 1), {0});
    SmallVector<Value> results = compute(n, 0, *ports, operands);
    if (n.b.failed())
      return;
    for (int64_t i = 0; i < outputs; ++i)
      rows[i].push_back(results[i]);
    for (size_t i = 0; i < states; ++i) {
      Value &state = operands[data + i];
      if (!isSameType(n, state, results[outputs + i], "state " + Twine(i)))
        return;
      state = results[outputs + i];
    }
  }
  for (int64_t i = 0; i < outputs; ++i)
    n.set(i, stack(n, rows[i]));
  for (size_t i = 0; i < states; ++i)
    n.set(outputs + i, operands[data + i]);
}

/// Rows behind the last step are zeros.
static void lowerWhile(LoweringContext &n) {
  rt::Result<BodyPorts> condition = n.portsOfBody(0), body = n.portsOfBody(1);
  for (auto *ports : {&condition, &body})
    if (!ports->isOk())
      return n.fail(ports->status().message());
  int64_t outputs = n.p.getInt("num_out_data");
  const std::vector<int64_t> &places = n.p.getInts("func_var_locs");
  SmallVector<Value> operands(n.inputs());
  SmallVector<SmallVector<Value>> rows(outputs);
  Value goesOn;
  for (int64_t step = 0, end = n.p.getInt("max_iterations"); step < end;
       ++step) {
    SmallVector<Value> asked = compute(n, 0, *condition, operands);
    if (n.b.failed())
      return;
    Value holds = toCondition(n, asked[0]);
    goesOn = goesOn ? n.b.op("logical_and", {goesOn, holds}) : holds;
    SmallVector<Value> results = compute(n, 1, *body, operands);
    if (n.b.failed())
      return;
    for (int64_t i = 0; i < outputs; ++i)
      rows[i].push_back(
          n.b.op("select", {goesOn, results[i], n.scalarLike(results[i], 0)}));
    for (size_t i = 0; i < places.size(); ++i) {
      Value &variable = operands[body->inputs[places[i]].operand];
      if (!isSameType(n, variable, results[outputs + i],
                      "variable " + Twine(i)))
        return;
      variable = n.b.op("select", {goesOn, results[outputs + i], variable});
    }
  }
  for (int64_t i = 0; i < outputs; ++i)
    n.set(i, stack(n, rows[i]));
  for (size_t i = 0; i < places.size(); ++i)
    n.set(outputs + i, operands[body->inputs[places[i]].operand]);
}

static void lowerCond(LoweringContext &n) {
  SmallVector<SmallVector<Value>> results;
  for (size_t body = 0; body < 3; ++body) {
    rt::Result<BodyPorts> ports = n.portsOfBody(body);
    if (!ports.isOk())
      return n.fail(ports.status().message());
    results.push_back(compute(n, body, *ports, n.inputs()));
    if (n.b.failed())
      return;
  }
  Value condition = toCondition(n, results[0][0]);
  for (size_t i = 0; i < results[1].size(); ++i) {
    Value then = results[1][i], otherwise = results[2][i];
    if (!isSameType(n, then, otherwise, "output " + Twine(i)))
      return;
    n.set(i, n.b.op("select", {condition, then, otherwise}));
  }
}

//===-- Declarations ------------------------------------------------------===//

static Parameter places(std::string_view name, std::string_view summary) {
  return required(name, ParameterKind::Ints, summary).within(0, kMaxOperands);
}

static Operator makeOperator(
    std::string_view name, std::string_view summary, std::string_view details,
    size_t bodies, Status (*connect)(const Parameters &, size_t, BodyPorts &),
    void (*lower)(LoweringContext &), std::vector<Parameter> parameters) {
  Operator op = {.name = name, .summary = summary, .details = details};
  op.parameters = {
      required("num_args", ParameterKind::Int,
               "Number of subgraphs and operands.")
          .within(static_cast<int64_t>(bodies) + 1, kMaxOperands),
      required("num_outputs", ParameterKind::Int, "Number of outputs.")
          .within(1, kMaxOperands)};
  op.parameters.insert(op.parameters.end(), parameters.begin(),
                       parameters.end());
  op.inputCount = "num_args";
  op.outputCount = "num_outputs";
  op.bodyCount = bodies;
  op.connectBody = connect;
  op.lower = lower;
  return op;
}

static Parameter outputData() {
  return required("num_out_data", ParameterKind::Int,
                  "Outputs that have a row for each step; the others are the "
                  "last values.")
      .within(0, kMaxOperands);
}

std::span<const Operator> dlc::symbol::controlFlowOperators() {
  static const std::vector<Operator> rows = {
      makeOperator(
          "_foreach", "A subgraph for each row of data",
          "It is written down once for each row.", 1, connectForeach,
          lowerForeach,
          {outputData(),
           places("in_data_locs",
                  "Variables of the subgraph that are rows of data."),
           places("in_state_locs",
                  "Variables of the subgraph that are states."),
           places("remain_locs", "Variables of the subgraph that stay.")}),
      makeOperator(
          "_while_loop", "A subgraph as long as another one says",
          "It is written down `max_iterations` times; steps behind the last "
          "one change nothing, and their rows are zeros. Values that only such "
          "steps reach must not divide by zero where gradients are taken.",
          2, connectWhile, lowerWhile,
          {outputData(),
           required("max_iterations", ParameterKind::Int,
                    "Steps at most, and rows of the outputs.")
               .within(1, kMaxExtent),
           places("cond_input_locs", "Operands that the condition reads."),
           places("func_input_locs", "Operands that the subgraph reads."),
           places("func_var_locs",
                  "Of these, those that a step gives new values.")}),
      makeOperator(
          "_cond", "One of two subgraphs, as a third one says",
          "Both are computed.", 3, connectCond, lowerCond,
          {places("cond_input_locs", "Operands that the condition reads."),
           places("then_input_locs", "Operands of the first subgraph."),
           places("else_input_locs", "Operands of the second subgraph.")}),
  };
  return rows;
}
