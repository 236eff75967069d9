// SPDX-License-Identifier: Apache-2.0

#include "dlc/Frontend/Faults.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringExtras.h"

using namespace dlc::frontend;
using llvm::StringRef;
using mlir::Diagnostic;

/// The keys of what a scope writes into an error.
static constexpr llvm::StringLiteral kNode = "node", kOperator = "op";

NodeScope::NodeScope(mlir::MLIRContext &context, StringRef node, StringRef op)
    : handler(&context, [node = node.str(), op = op.str(),
                         &context](Diagnostic &diagnostic) {
        // Nodes nest, as calls do: the innermost one is at fault.
        if (diagnostic.getMetadata().empty()) {
          mlir::Builder builder(&context);
          diagnostic.getMetadata().emplace_back(builder.getDictionaryAttr(
              {builder.getNamedAttr(kNode, builder.getStringAttr(node)),
               builder.getNamedAttr(kOperator, builder.getStringAttr(op))}));
        }
        return mlir::failure(); // Others print it.
      }) {}

/// What stands in quotes behind `word`.
static StringRef quotedBehind(StringRef text, StringRef word) {
  auto [before, behind] = text.split((word + " '").str());
  return behind.split('\'').first;
}

static constexpr llvm::StringLiteral kNearest = "what comes nearest: ";

void dlc::frontend::addAlternative(mlir::InFlightDiagnostic &error,
                                   StringRef alternative) {
  if (!alternative.empty())
    error.attachNote() << kNearest << alternative;
}

/// The text without the node and its operator, which the fault has apart.
static std::string withoutNode(StringRef text, const Fault &fault) {
  constexpr llvm::StringLiteral unsupported = "unsupported: ";
  bool isUnsupported = text.consume_front(unsupported);
  StringRef rest = text;
  // "unsupported: operator 'Custom' of node 'mine': why"
  std::string named =
      "operator '" + fault.op + "' of node '" + fault.node + "'";
  if (isUnsupported && rest.consume_front(named))
    return ("unsupported operator" + rest).str();
  bool isNamed = !fault.node.empty() && rest.consume_front("node '") &&
                 rest.consume_front(fault.node) && rest.consume_front("' (") &&
                 rest.consume_front(fault.op) && rest.consume_front("): ");
  return ((isUnsupported ? StringRef(unsupported) : StringRef()) +
          (isNamed ? rest : text))
      .str();
}

Fault dlc::frontend::faultOf(const Diagnostic &error) {
  Fault fault;
  for (const mlir::DiagnosticArgument &argument :
       const_cast<Diagnostic &>(error).getMetadata()) {
    if (argument.getKind() !=
        mlir::DiagnosticArgument::DiagnosticArgumentKind::Attribute)
      continue;
    auto node = llvm::dyn_cast<mlir::DictionaryAttr>(argument.getAsAttribute());
    if (!node)
      continue;
    auto textOf = [&](StringRef key) {
      auto text = node.getAs<mlir::StringAttr>(key);
      return text ? text.str() : std::string();
    };
    fault.node = textOf(kNode);
    fault.op = textOf(kOperator);
  }
  fault.reason = withoutNode(error.str(), fault);
  for (StringRef word : {"attribute", "parameter"})
    if (fault.attribute.empty())
      fault.attribute = quotedBehind(fault.reason, word).str();
  for (const Diagnostic &note : error.getNotes()) {
    std::string text = note.str();
    StringRef alternative = text;
    if (alternative.consume_front(kNearest))
      fault.alternative = alternative.str();
  }
  return fault;
}

std::string_view
dlc::frontend::nearestName(std::string_view name,
                           std::span<const std::string_view> names) {
  // Letters first, then their case.
  using Distance = std::pair<unsigned, unsigned>;
  std::string wanted = StringRef(name).lower();
  Distance least = {static_cast<unsigned>(wanted.size() / 3 + 1), 0};
  std::string_view best;
  for (std::string_view each : names) {
    unsigned letters = StringRef(wanted).edit_distance(
        StringRef(each).lower(), /*AllowReplacements=*/true, least.first);
    if (letters > least.first)
      continue;
    Distance distance = {letters, StringRef(name).edit_distance(each)};
    if (distance >= least)
      continue;
    least = distance;
    best = each;
  }
  return best;
}
