// SPDX-License-Identifier: Apache-2.0

#include "Names.h"

#include "dlc/runtime/Base/Names.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"

using namespace dlc;
using namespace dlc::symbol;
using rt::Status;
using rt::StatusCode;

Status symbol::checkText(std::string_view what, std::string_view text) {
  bool isText = llvm::json::isUTF8(text) && text.find('\0') == text.npos;
  return isText
             ? Status::ok()
             : Status(StatusCode::InvalidArgument,
                      "expected UTF-8 without zeros in " + std::string(what));
}

Status symbol::checkAttributes(const Attributes &attributes) {
  for (const auto &[key, value] : attributes) {
    DLC_RETURN_IF_ERROR(checkText("the name of an attribute", key));
    DLC_RETURN_IF_ERROR(
        checkText("attribute '" + rt::toPrintable(key) + "'", value));
  }
  return Status::ok();
}

static std::string underscored(std::string_view key) {
  return "__" + std::string(key) + "__";
}

Attributes symbol::normalize(const Operator &op, const Attributes &attributes) {
  Attributes result;
  for (const auto &[key, value] : attributes) {
    std::string name = attributeName(key);
    for (const Input &input : op.inputs)
      for (std::string_view reserved : kReservedKeys)
        if (key == std::string(input.name) + "_" + std::string(reserved))
          name = underscored(key);
    result[name] = value;
  }
  return result;
}

void symbol::giveToInputs(Node &node) {
  if (!node.op)
    return;
  std::vector<std::string> names = node.inputNames();
  for (size_t i = 0; i < node.inputs.size(); ++i)
    for (std::string_view reserved : kReservedKeys) {
      auto found = node.attributes.find(
          underscored(names[i] + "_" + std::string(reserved)));
      Node &input = *node.inputs[i].node;
      if (found == node.attributes.end() || !input.isVariable())
        continue;
      input.attributes.emplace(underscored(reserved), found->second);
      node.attributes.erase(found);
    }
}

void symbol::setInitializers(Node &node) {
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const Input *declared = node.op->declarationOf(node.parameters, i);
    Node &input = *node.inputs[i].node;
    if (declared && !declared->initializer.empty() && input.isVariable())
      input.attributes.emplace("__init__", declared->initializer);
  }
}

Status symbol::checkStates(const Node &node) {
  std::vector<InputRole> roles = node.inputRoles();
  for (size_t i = 0; i < node.inputs.size(); ++i)
    if (const Node &input = *node.inputs[i].node;
        roles[i] == InputRole::Auxiliary && !input.isVariable())
      return Status(StatusCode::InvalidArgument,
                    node.describe() + ": expected a variable for input '" +
                        node.inputNames()[i] + "', which is written, got " +
                        input.describe());
  return Status::ok();
}

Status symbol::setVersions(Node &node) {
  DLC_RETURN_IF_ERROR(checkStates(node));
  std::vector<InputRole> roles = node.inputRoles();
  auto isWritten = [&](size_t i) { return roles[i] == InputRole::Auxiliary; };
  for (size_t i = 0; i < node.inputs.size(); ++i)
    if (Entry &input = node.inputs[i]; input.node->isVariable())
      input.version = input.node->version + isWritten(i);
  for (size_t i = 0; i < node.inputs.size(); ++i)
    if (isWritten(i))
      ++node.inputs[i].node->version;
  return Status::ok();
}
