// SPDX-License-Identifier: Apache-2.0
//
// Gradients as operators: what Symbol::gradient() makes.

#include "Rules.h"

#include "dlc/Gradient/Gradient.h"

using namespace dlc;
using namespace dlc::symbol;
using llvm::Twine;
using mlir::Value;

/// Operands are heads, then what they are differentiated by, of which there are
/// as many as results.
static size_t headCount(size_t operands, size_t results) {
  return operands > results ? operands - results : 0;
}

/// Of shapes and of types alike.
template <typename Relation> static void relateGradient(Relation &r) {
  size_t heads = headCount(r.inputCount(), r.outputCount());
  for (size_t i = 0; i < r.outputCount(); ++i)
    r.equate(heads + i, i);
}

/// A tensor of the type of operand `index` with `value` everywhere.
static Value splatLike(LoweringContext &n, size_t index, double value) {
  Value like = n.in(index);
  mlir::Type element = GraphBuilder::elementOf(like);
  if (!mlir::isa<mlir::FloatType>(element)) {
    std::string text;
    llvm::raw_string_ostream(text) << element;
    n.fail("expected operands of floats, got " + n.sourceOf(index) + " of " +
           text);
    return {};
  }
  return n.b.splat(n.shape(like, "a gradient"), element, value);
}

/// One failure, one error: that of the operation without a gradient, told by
/// the node that asks for it.
static llvm::FailureOr<graph::GradientResult>
differentiate(LoweringContext &n, const graph::GradientTask &task) {
  std::string message;
  llvm::FailureOr<graph::GradientResult> gradients = mlir::failure();
  {
    mlir::ScopedDiagnosticHandler collect(
        n.b.context(), [&](mlir::Diagnostic &diagnostic) {
          auto name = mlir::dyn_cast<mlir::NameLoc>(diagnostic.getLocation());
          if (message.empty())
            message = (name ? name.getName().str() + ": " : std::string()) +
                      diagnostic.str();
          return mlir::success();
        });
    gradients = graph::differentiate(n.b.opBuilder(), task);
  }
  if (failed(gradients))
    n.fail(message);
  return gradients;
}

static void lowerGradient(LoweringContext &n) {
  size_t results = n.p.getInt("num_outputs");
  size_t heads = headCount(n.inputCount(), results);
  if (heads == 0)
    return n.fail("expected operands to differentiate besides the " +
                  Twine(results) + " to differentiate by, got " +
                  Twine(n.inputCount()));
  graph::GradientTask task;
  for (size_t i = 0; i < n.inputCount() && !n.b.failed(); ++i) {
    if (i >= heads) {
      task.sources.push_back(n.in(i));
      continue;
    }
    task.heads.push_back(n.in(i));
    task.headGradients.push_back(splatLike(n, i, 1));
  }
  if (n.b.failed())
    return;
  auto gradients = differentiate(n, task);
  if (failed(gradients))
    return;
  for (size_t i = 0; i < results; ++i) {
    Value gradient = gradients->ofSources[i];
    n.set(i, gradient ? gradient : splatLike(n, heads + i, 0));
  }
}

std::span<const Operator> dlc::symbol::gradientOperators() {
  static const std::vector<Operator> rows = {
      {.name = "_gradient",
       .summary = "Gradients of the sum of the first operands by the last ones",
       .details = "What Symbol::gradient() makes. MXNet does not know it.",
       .parameters =
           {optional("num_args", ParameterKind::Int, "0",
                     "Number of operands; filled in when composing.")
                .within(0, kMaxOperands),
            required("num_outputs", ParameterKind::Int,
                     "How many of them, the last ones, are differentiated by.")
                .within(1, kMaxOperands)},
       .inputCount = "num_args",
       .outputCount = "num_outputs",
       .relateShapes = relateGradient<ShapeRelation>,
       .relateTypes = relateGradient<TypeRelation>,
       .lower = lowerGradient},
  };
  return rows;
}
