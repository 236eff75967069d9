// SPDX-License-Identifier: Apache-2.0
//
// What families of NNVM's operators share: a node while it is translated, its
// layouts, and how operators are declared.

#ifndef DLC_LIB_SYMBOL_NNVM_TRANSLATION_H
#define DLC_LIB_SYMBOL_NNVM_TRANSLATION_H

#include "../Extents.h"
#include "dlc/Symbol/Symbol.h"

#include <string>
#include <vector>

namespace dlc::symbol::nnvm {

/// One node of NNVM while it is translated. Errors stick.
class Translation {
public:
  Translation(const Parameters &p, Node &node)
      : p(p), inputs(std::move(node.inputs)), node(node) {}

  const Parameters &p;
  std::vector<Entry> inputs;

  /// A node before the last one, `<name>_<ending>`.
  Entry add(std::string_view ending, std::string_view op,
            std::vector<Entry> operands, Attributes attributes = {});
  /// The last one, which has the name that the file gives.
  void finish(std::string_view op, std::vector<Entry> operands,
              Attributes attributes = {});

  void fail(std::string message);
  /// `unsupported: <node>: <what>`.
  void unsupported(const std::string &what);
  rt::Status status;

private:
  void set(Node &made, std::string_view op, std::vector<Entry> operands,
           Attributes attributes);

  Node &node;
};

/// One operator of NNVM.
struct Rule {
  Operator op; ///< Name, parameters and inputs of NNVM's operator.
  bool isVariadic = false;
  void (*translate)(Translation &) = nullptr;
};

// Attributes of what a node becomes.

std::string text(bool value);

/// A parameter as the registry has it.
std::string textOf(const Translation &t, std::string_view name);

// Layouts.

/// Fails unless the parameter names the dimensions of `standard`, each once.
bool checkLayout(Translation &t, std::string_view parameter,
                 std::string_view standard);

/// `x` of layout `from` in layout `to`.
Entry ordered(Translation &t, std::string_view ending, Entry x,
              std::string_view from, std::string_view to);

/// finish() of an operator whose result is NCHW.
void finishImages(Translation &t, std::string_view op,
                  std::vector<Entry> operands, Attributes attributes,
                  std::string_view layout);

// Declarations. Nobody prints their text: it is in NNVM's documentation.

Parameter ints(std::string_view name, std::string_view fallback, int64_t least);
Parameter flag(std::string_view name, std::string_view fallback);
/// One that must be given.
Parameter named(std::string_view name, ParameterKind kind);
Parameter layout();
std::vector<Parameter> with(std::vector<Parameter> parameters, Parameter more);
std::vector<Input> weighted();
Rule rule(std::string_view name, std::vector<Parameter> parameters,
          void (*translate)(Translation &),
          std::vector<Input> inputs = {{"data"}});

// The families, one file each.

std::vector<Rule> imageRules();
std::vector<Rule> layerRules();
std::vector<Rule> shapeRules();
std::vector<Rule> tensorRules();

} // namespace dlc::symbol::nnvm

#endif // DLC_LIB_SYMBOL_NNVM_TRANSLATION_H
