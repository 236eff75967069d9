// SPDX-License-Identifier: Apache-2.0
//
// The table of NNVM's operators, and what each of them is in the registry;
// those that are more than another name are in Nnvm, by family. Meaning:
// nnvm/include/nnvm/top/{nn,tensor}.h and nnvm/src/top of TVM 0.2 to 0.5, with
// the kernels of topi where these decide.

#include "Nnvm.h"

#include "Nnvm/Translation.h"

#include <unordered_map>

using namespace dlc;
using namespace dlc::symbol;
using namespace dlc::symbol::nnvm;
using rt::Status;
using rt::StatusCode;

//===-- The same under another name ---------------------------------------===//

/// NNVM's name, and what the registry calls the same with the same parameters.
static constexpr std::pair<std::string_view, std::string_view> sameOperators[] =
    {{"__add_scalar__", "_plus_scalar"},
     {"__add_symbol__", "elemwise_add"},
     {"__div_scalar__", "_div_scalar"},
     {"__div_symbol__", "elemwise_div"},
     {"__mul_scalar__", "_mul_scalar"},
     {"__mul_symbol__", "elemwise_mul"},
     {"__pow_scalar__", "_power_scalar"},
     {"__rdiv_scalar__", "_rdiv_scalar"},
     {"__rpow_scalar__", "_rpower_scalar"},
     {"__rsub_scalar__", "_rminus_scalar"},
     {"__sub_scalar__", "_minus_scalar"},
     {"__sub_symbol__", "elemwise_sub"},
     {"abs", "abs"},
     {"block_grad", "BlockGrad"},
     {"broadcast_add", "broadcast_add"},
     {"broadcast_div", "broadcast_div"},
     {"broadcast_equal", "broadcast_equal"},
     {"broadcast_greater", "broadcast_greater"},
     {"broadcast_greater_equal", "broadcast_greater_equal"},
     {"broadcast_less", "broadcast_lesser"},
     {"broadcast_less_equal", "broadcast_lesser_equal"},
     {"broadcast_max", "broadcast_maximum"},
     {"broadcast_min", "broadcast_minimum"},
     {"broadcast_mul", "broadcast_mul"},
     {"broadcast_not_equal", "broadcast_not_equal"},
     {"broadcast_pow", "broadcast_power"},
     {"broadcast_sub", "broadcast_sub"},
     {"broadcast_to", "broadcast_to"},
     {"cast", "Cast"},
     {"ceil", "ceil"},
     {"clip", "clip"},
     {"copy", "_copy"},
     {"elemwise_add", "elemwise_add"},
     {"elemwise_div", "elemwise_div"},
     {"elemwise_mul", "elemwise_mul"},
     {"elemwise_sub", "elemwise_sub"},
     {"elemwise_sum", "add_n"},
     {"exp", "exp"},
     {"flatten", "Flatten"},
     {"floor", "floor"},
     {"gather_nd", "gather_nd"},
     {"greater", "_greater"},
     {"less", "_lesser"},
     {"log", "log"},
     {"log_softmax", "log_softmax"},
     {"matmul", "dot"},
     {"max", "max"},
     {"mean", "mean"},
     {"min", "min"},
     {"negative", "negative"},
     {"ones", "_ones"},
     {"ones_like", "ones_like"},
     {"prod", "prod"},
     {"relu", "relu"},
     {"reshape", "Reshape"},
     {"reshape_like", "reshape_like"},
     {"round", "round"},
     {"sigmoid", "sigmoid"},
     {"softmax", "softmax"},
     {"sqrt", "sqrt"},
     {"sum", "sum"},
     {"tanh", "tanh"},
     {"transpose", "transpose"},
     {"trunc", "trunc"},
     {"where", "where"},
     {"zeros", "_zeros"},
     {"zeros_like", "zeros_like"}};

//===-- The table ---------------------------------------------------------===//

namespace {
struct Table {
  Table();
  std::vector<Rule> rules;
  std::unordered_map<std::string_view, const Rule *> byName;
  std::unordered_map<std::string_view, std::string_view> same;
};
} // namespace

Table::Table() : same(std::begin(sameOperators), std::end(sameOperators)) {
  for (std::vector<Rule> more :
       {imageRules(), layerRules(), shapeRules(), tensorRules()})
    for (Rule &rule : more)
      rules.push_back(std::move(rule));
  for (const Rule &rule : rules)
    byName.emplace(rule.op.name, &rule);
}

static const Table &table() {
  static const Table instance;
  return instance;
}

bool symbol::isOfNnvm(std::string_view op) {
  return table().byName.contains(op) || table().same.contains(op);
}

bool symbol::isOfNnvmOnly(std::string_view op) {
  return isOfNnvm(op) && !findOperator(op);
}

/// Operands in the number that the operator has.
static Status checkInputs(const Node &node, const Operator &op,
                          const Parameters &parameters) {
  std::vector<std::string> names = op.inputNames(parameters);
  if (names.size() == node.inputs.size())
    return Status::ok();
  std::string list;
  for (const std::string &name : names)
    list += (list.empty() ? " (" : ", ") + name;
  return Status(StatusCode::InvalidArgument,
                "expected " + std::to_string(names.size()) + " inputs" + list +
                    (list.empty() ? "" : ")") + ", got " +
                    std::to_string(node.inputs.size()));
}

/// An operator that means the same here, with the parameters that NNVM has.
static Status applySame(const Operator &op, const Attributes &attributes,
                        Node &node) {
  rt::Result<Parameters> parameters = Parameters::parse(op, attributes);
  if (!parameters.isOk())
    return std::move(parameters.status());
  DLC_RETURN_IF_ERROR(checkInputs(node, op, *parameters));
  node.op = &op;
  node.attributes = attributes;
  node.parameters = std::move(*parameters);
  return Status::ok();
}

static bool isUsers(std::string_view attribute) {
  return attribute.starts_with("__");
}

const Operator *symbol::declarationOfNnvm(std::string_view op) {
  if (auto same = table().same.find(op); same != table().same.end())
    return findOperator(same->second);
  auto rule = table().byName.find(op);
  return rule == table().byName.end() ? nullptr : &rule->second->op;
}

static Status translate(const Rule &rule, const Attributes &attributes,
                        Node &node) {
  rt::Result<Parameters> parameters = Parameters::parse(rule.op, attributes);
  if (!parameters.isOk())
    return std::move(parameters.status());
  if (!rule.isVariadic)
    DLC_RETURN_IF_ERROR(checkInputs(node, rule.op, *parameters));
  if (node.inputs.empty() && !rule.op.inputs.empty())
    return Status(StatusCode::InvalidArgument,
                  "expected at least 1 input, got none");
  Translation translation(*parameters, node);
  rule.translate(translation);
  DLC_RETURN_IF_ERROR(std::move(translation.status));
  for (const auto &[key, value] : attributes)
    if (isUsers(key))
      node.attributes.emplace(key, value);
  return Status::ok();
}

Status symbol::applyNnvm(std::string_view op, const Attributes &attributes,
                         Node &node) {
  std::string what = node.describe();
  auto rule = table().byName.find(op);
  Status status = rule == table().byName.end()
                      ? applySame(*declarationOfNnvm(op), attributes, node)
                      : translate(*rule->second, attributes, node);
  // That it is unsupported stands first in such messages.
  if (status.isOk() || status.code() == StatusCode::Unsupported)
    return status;
  return std::move(status).withContext(what);
}
