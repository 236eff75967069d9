// SPDX-License-Identifier: Apache-2.0

#include "Translation.h"

#include "dlc/runtime/Base/Names.h"

#include <algorithm>

using namespace dlc;
using namespace dlc::symbol;
using namespace dlc::symbol::nnvm;
using rt::Status;
using rt::StatusCode;

void Translation::fail(std::string message) {
  if (status.isOk())
    status = Status(StatusCode::InvalidArgument, std::move(message));
}

void Translation::unsupported(const std::string &what) {
  if (status.isOk())
    status = Status(StatusCode::Unsupported,
                    "unsupported: " + node.describe() + ": " + what);
}

void Translation::set(Node &made, std::string_view op,
                      std::vector<Entry> operands, Attributes attributes) {
  made.op = findOperator(op);
  rt::Result<Parameters> parameters = Parameters::parse(*made.op, attributes);
  if (!parameters.isOk()) {
    if (status.isOk())
      status = std::move(parameters.status());
    return;
  }
  made.attributes.merge(attributes);
  made.parameters = std::move(*parameters);
  made.inputs = std::move(operands);
}

Entry Translation::add(std::string_view ending, std::string_view op,
                       std::vector<Entry> operands, Attributes attributes) {
  auto made = std::make_shared<Node>();
  made->name = node.name + "_" + std::string(ending);
  made->sourceName = node.sourceName;
  made->sourceOperator = node.sourceOperator;
  set(*made, op, std::move(operands), std::move(attributes));
  return {std::move(made)};
}

void Translation::finish(std::string_view op, std::vector<Entry> operands,
                         Attributes attributes) {
  set(node, op, std::move(operands), std::move(attributes));
}

std::string nnvm::text(bool value) { return value ? "True" : "False"; }

std::string nnvm::textOf(const Translation &t, std::string_view name) {
  return toText(t.p.get(name));
}

//===-- Layouts -----------------------------------------------------------===//

/// The layouts name the same dimensions, each once.
static bool isOrderOf(std::string_view layout, std::string_view standard) {
  return layout.size() == standard.size() &&
         std::ranges::is_permutation(layout, standard);
}

bool nnvm::checkLayout(Translation &t, std::string_view parameter,
                       std::string_view standard) {
  const std::string &layout = t.p.getText(parameter);
  if (isOrderOf(layout, standard))
    return true;
  t.fail("parameter '" + std::string(parameter) +
         "': expected the dimensions of " + std::string(standard) +
         " in some order, got '" + rt::toPrintable(layout) + "'");
  return false;
}

static Attributes transposition(std::string_view from, std::string_view to) {
  std::vector<int64_t> axes;
  for (char dimension : to)
    axes.push_back(static_cast<int64_t>(from.find(dimension)));
  return {{"axes", toText(axes)}};
}

Entry nnvm::ordered(Translation &t, std::string_view ending, Entry x,
                    std::string_view from, std::string_view to) {
  if (from == to)
    return x;
  return t.add(ending, "transpose", {std::move(x)}, transposition(from, to));
}

void nnvm::finishImages(Translation &t, std::string_view op,
                        std::vector<Entry> operands, Attributes attributes,
                        std::string_view layout) {
  if (layout == "NCHW")
    return t.finish(op, std::move(operands), std::move(attributes));
  Entry y = t.add("nchw", op, std::move(operands), std::move(attributes));
  t.finish("transpose", {y}, transposition("NCHW", layout));
}

//===-- Declarations ------------------------------------------------------===//

Parameter nnvm::ints(std::string_view name, std::string_view fallback,
                     int64_t least) {
  return optional(name, ParameterKind::Ints, fallback, "")
      .within(least, kMaxExtent);
}

Parameter nnvm::flag(std::string_view name, std::string_view fallback) {
  return optional(name, ParameterKind::Bool, fallback, "");
}

Parameter nnvm::named(std::string_view name, ParameterKind kind) {
  return required(name, kind, "");
}

Parameter nnvm::layout() {
  return optional("layout", ParameterKind::Text, "NCHW", "");
}

std::vector<Input> nnvm::weighted() {
  return {{"data"}, {"weight"}, {"bias", when("use_bias")}};
}

std::vector<Parameter> nnvm::with(std::vector<Parameter> parameters,
                                  Parameter more) {
  parameters.push_back(std::move(more));
  return parameters;
}

Rule nnvm::rule(std::string_view name, std::vector<Parameter> parameters,
                void (*translate)(Translation &), std::vector<Input> inputs) {
  Rule rule;
  rule.op.name = name;
  rule.op.parameters = std::move(parameters);
  rule.op.inputs = std::move(inputs);
  rule.translate = translate;
  return rule;
}
