// SPDX-License-Identifier: Apache-2.0
//
// Writes the reference of the operators that symbols are made of, as Markdown,
// from their declarations: dlc-operators [FILE]. With --missing in front, those
// that MXNet has and this does not; with --only NAME, one of either.

#include "dlc/Symbol/MissingOperators.h"
#include "dlc/Symbol/Operator.h"

#include <cstdio>
#include <limits>
#include <string>

using namespace dlc::symbol;

static std::string code(std::string_view text) {
  return "`" + std::string(text) + "`";
}

/// " (unless `no_bias`)"; "" where the condition always holds.
static std::string describe(const Condition &condition) {
  if (condition.parameter.empty())
    return condition.isNegated ? " (hidden)" : "";
  std::string text = condition.isNegated ? " (unless " : " (when ";
  text += code(condition.parameter);
  if (condition.value != "True")
    text += " is " + code(condition.value);
  if (!condition.alsoNone.empty())
    text += ", as " + code(condition.alsoNone);
  return text + ")";
}

static std::string describeRole(InputRole role) {
  switch (role) {
  case InputRole::Argument:
    return "";
  case InputRole::Auxiliary:
    return " (auxiliary state)";
  case InputRole::Label:
    return " (read by the gradient)";
  }
  return "";
}

static std::string describeValues(const Parameter &parameter) {
  std::string text(nameOf(parameter.kind));
  if (parameter.kind == ParameterKind::Choice) {
    text.clear();
    for (std::string_view each : parameter.choices)
      text += (text.empty() ? "" : ", ") + code(each);
  }
  using Limits = std::numeric_limits<int64_t>;
  if (parameter.least != Limits::min())
    text += ", at least " + std::to_string(parameter.least);
  if (parameter.most < (int64_t(1) << 31) - 1)
    text += ", at most " + std::to_string(parameter.most);
  if (parameter.acceptsNone)
    text += ", or `None`";
  return text;
}

static std::string describeInputs(const Operator &op) {
  std::string text;
  if (!op.inputCount.empty()) {
    text = "`arg0`, `arg1`, ... (" +
           (op.inputsOfEach == 1 ? "" : std::to_string(op.inputsOfEach) + " ") +
           code(op.inputCount) + " of them)";
    if (op.countsInputs.parameter.empty())
      return text;
    text += describe(op.countsInputs) + "; else ";
  }
  for (const Input &input : op.inputs) {
    text += &input == &op.inputs.front() ? "" : ", ";
    text +=
        code(input.name) + describeRole(input.role) + describe(input.exists);
  }
  return op.inputs.empty() ? "none" : text;
}

static std::string describeOutputs(const Operator &op) {
  if (!op.outputCount.empty())
    return "`output0`, `output1`, ... (" + code(op.outputCount) + " of them)";
  std::string text;
  for (const Output &output : op.outputs) {
    text += &output == &op.outputs.front() ? "" : ", ";
    text += code(output.name) + describe(output.exists) +
            (output.isVisible.parameter.empty()
                 ? describe(output.isVisible)
                 : " (shown " + describe(output.isVisible).substr(2));
  }
  return text;
}

static void writeOperator(const Operator &op, std::FILE *file) {
  std::string text =
      "## " + std::string(op.name) + "\n\n" + std::string(op.summary) + ".";
  for (std::string_view alias : op.aliases)
    text +=
        (alias == op.aliases.front() ? " Also called " : ", ") + code(alias);
  text += op.aliases.empty() ? "\n\n" : ".\n\n";
  if (!op.details.empty())
    text += std::string(op.details) + "\n\n";
  text += "- Inputs: " + describeInputs(op) +
          "\n- Outputs: " + describeOutputs(op) + "\n\n";
  if (!op.parameters.empty())
    text += "| Parameter | Values | Default | Meaning |\n|---|---|---|---|\n";
  for (const Parameter &parameter : op.parameters)
    text += "| " + code(parameter.name) + " | " + describeValues(parameter) +
            " | " +
            (!parameter.fallback           ? "required"
             : parameter.fallback->empty() ? "empty"
                                           : code(*parameter.fallback)) +
            " | " + std::string(parameter.summary) + " |\n";
  if (!op.parameters.empty())
    text += "\n";
  std::fputs(text.c_str(), file);
}

static void writeOperators(std::FILE *file) {
  std::fprintf(file,
               "# Operators of symbols\n\nThe %zu operators that symbols and "
               "MXNet's files may hold, with MXNet's names and defaults.\n\n",
               allOperators().size());
  for (const Operator *op : allOperators())
    writeOperator(*op, file);
}

static void writeMissing(std::FILE *file) {
  size_t count = 0;
  std::string rows;
  for (const MissingOperators &group : missingOperators()) {
    std::string names;
    for (std::string_view name : group.names)
      names += (names.empty() ? "" : ", ") + code(name);
    count += group.names.size();
    rows += "| " + names + " | " + std::string(group.reason) + " | " +
            std::string(group.alternative) + " |\n";
  }
  std::fprintf(file,
               "# Operators of MXNet that are not imported\n\nThe %zu names of "
               "MXNet 1.9.1, aliases and texts of macros in its sources among "
               "them, that no file may hold. All others are operators here; "
               "`dlc-operators` lists them, and writes this page with "
               "`--missing`.\n\n| Names | Why | Instead |\n|---|---|---|\n%s",
               count, rows.c_str());
}

/// An operator, or why there is none.
static int writeOne(std::string_view name) {
  if (const Operator *op = findOperator(name)) {
    writeOperator(*op, stdout);
    return 0;
  }
  std::string reason(reasonOfMissing(name)), nearest = alternativeTo(name);
  std::string text =
      "unsupported: operator '" + std::string(name) + "'" +
      (reason.empty() ? "" : ": " + reason) +
      (nearest.empty() ? "" : "; what comes nearest: " + nearest);
  std::fprintf(stderr, "%s\n", text.c_str());
  return 1;
}

int main(int argc, char **argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--only")
    return writeOne(argv[2]);
  bool isMissing = argc > 1 && std::string_view(argv[1]) == "--missing";
  const char *path = argc > 1 + isMissing ? argv[1 + isMissing] : nullptr;
  if (argc > 2 + isMissing || (path && path[0] == '-')) {
    std::fprintf(stderr,
                 "usage: dlc-operators [--missing] [FILE] | --only NAME\n");
    return 2;
  }
  std::FILE *file = path ? std::fopen(path, "w") : stdout;
  if (!file) {
    std::perror(path);
    return 1;
  }
  (isMissing ? writeMissing : writeOperators)(file);
  bool isWhole = !std::ferror(file) && std::fflush(file) == 0;
  if (file != stdout)
    isWhole = std::fclose(file) == 0 && isWhole;
  return isWhole ? 0 : 1;
}
