// SPDX-License-Identifier: Apache-2.0
//
// Gradients of matrix products, convolutions and einsum.

#include "Correlation.h"

using namespace mlir;
using namespace dlc::graph;

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

/// All matrices of `x` one below the other.
static Value stacked(Formula &f, Value x) {
  auto type = Formula::typeOf(x);
  int64_t rows = 1;
  for (int64_t extent : type.getShape().drop_back())
    rows *= extent;
  return f.reshape(x, {rows, type.getShape().back()});
}

LogicalResult MatmulOp::buildGradients(Gradients &gradients) {
  if (!hasStaticTypes(*this))
    return failDynamic(gradients);
  Formula f(gradients);
  Value g = gradients.ofResult(), a = getA(), b = getB();
  gradients.give(0, [&] { return f.make<MatmulOp>(g, f.turned(b)); });
  gradients.give(1, [&] {
    // One product sums over the batch, too.
    if (Formula::typeOf(b).getRank() == 2)
      return f.make<MatmulOp>(f.turned(stacked(f, a)), stacked(f, g));
    return f.make<MatmulOp>(f.turned(a), g);
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// One number per channel, dimension 1.
static Value sumPerChannel(Formula &f, Value x) {
  SmallVector<int64_t> axes = {0};
  for (int64_t axis = 2; axis < Formula::typeOf(x).getRank(); ++axis)
    axes.push_back(axis);
  return f.sumOver(x, axes, /*keepdims=*/false);
}

LogicalResult ConvOp::buildGradients(Gradients &gradients) {
  if (!hasStaticTypes(*this))
    return failDynamic(gradients);
  std::optional<Correlation> correlation = correlationOf(*this);
  if (!correlation)
    return gradients.fail("expected channels that are not in blocks");
  Formula f(gradients);
  Value g = gradients.ofResult();
  // Without elements, the image counts for nothing.
  if (Formula::typeOf(getX()).getNumElements() > 0) {
    gradients.give(0, [&] { return correlation->spread(f, g, getW()); });
    gradients.give(1,
                   [&] { return correlation->weightGradient(f, getX(), g); });
  }
  if (getBias())
    gradients.give(2, [&] { return sumPerChannel(f, g); });
  return success();
}

/// The sums are of products of both operands and the weights' gradient.
LogicalResult ConvWeightGradientOp::buildGradients(Gradients &gradients) {
  if (!hasStaticTypes(*this))
    return failDynamic(gradients);
  std::optional<Correlation> correlation = correlationOf(*this);
  if (!correlation)
    return gradients.fail("expected channels that are not in blocks");
  Formula f(gradients);
  Value g = gradients.ofResult();
  gradients.give(0, [&] { return correlation->spread(f, getG(), g); });
  gradients.give(1, [&] { return correlation->correlate(f, getX(), g); });
  return success();
}

LogicalResult ConvTransposeOp::buildGradients(Gradients &gradients) {
  if (!hasStaticTypes(*this))
    return failDynamic(gradients);
  std::optional<Correlation> correlation = correlationOf(*this);
  if (!correlation)
    return gradients.fail("expected no output_padding beside output_shape or "
                          "automatic padding");
  Formula f(gradients);
  Value g = gradients.ofResult();
  if (Formula::typeOf(getX()).getNumElements() > 0) {
    gradients.give(0, [&] { return correlation->correlate(f, g, getW()); });
    gradients.give(1,
                   [&] { return correlation->weightGradient(f, g, getX()); });
  }
  if (getBias())
    gradients.give(2, [&] { return sumPerChannel(f, g); });
  return success();
}

//===----------------------------------------------------------------------===//
// Einsum
//===----------------------------------------------------------------------===//

namespace {

/// The letters of each operand and of the result.
struct Equation {
  SmallVector<std::string> terms;
  std::string result;
};

} // namespace

/// Nullopt when it has dimensions without letters, or letters twice in a term.
static std::optional<Equation> parseEquation(StringRef text) {
  std::string stripped;
  for (char letter : text)
    if (letter != ' ')
      stripped += letter;
  StringRef rest = stripped;
  if (rest.contains('.'))
    return std::nullopt;
  auto [left, right] = rest.split("->");
  Equation equation;
  SmallVector<StringRef> terms;
  left.split(terms, ',');
  for (StringRef term : terms)
    equation.terms.push_back(term.str());
  for (const std::string &term : equation.terms)
    for (char letter : term)
      if (llvm::count(term, letter) > 1)
        return std::nullopt;
  equation.result = right.str();
  if (rest.contains("->"))
    return equation;
  // Without a result: the letters that come once, sorted.
  for (char letter : left)
    if (letter != ',' && left.count(letter) == 1)
      equation.result += letter;
  llvm::sort(equation.result);
  return equation;
}

/// The gradient of operand `operand`: the product of the others and that of
/// the result, repeated along letters that were only summed, and along those of
/// which all others have extent 1. Where the operand has that, the product is
/// summed when it is given.
static Value einsumGradient(Formula &f, EinsumOp op, const Equation &equation,
                            unsigned operand, Value g) {
  SmallVector<Value> factors = {g};
  std::string left = equation.result;
  for (auto [i, term] : llvm::enumerate(equation.terms)) {
    if (i == operand)
      continue;
    factors.push_back(op.getInputs()[i]);
    left += "," + term;
  }
  const std::string &term = equation.terms[operand];
  std::string kept;
  for (char letter : term)
    if (left.find(letter) != std::string::npos)
      kept += letter;
  Value product =
      EinsumOp::create(f.builder, f.loc, factors, left + "->" + kept);
  auto type = Formula::typeOf(op.getInputs()[operand]);
  SmallVector<int64_t> shape;
  for (char letter : term) {
    size_t at = kept.find(letter);
    shape.push_back(
        at == std::string::npos ? 1 : Formula::typeOf(product).getDimSize(at));
  }
  product = f.reshape(product, shape);
  return Formula::typeOf(product) == type ? product
                                          : f.expand(product, type.getShape());
}

LogicalResult EinsumOp::buildGradients(Gradients &gradients) {
  if (!hasStaticTypes(*this))
    return failDynamic(gradients);
  std::optional<Equation> equation = parseEquation(getEquation());
  if (!equation)
    return gradients.fail("expected an equation without '...' and without a "
                          "letter twice in one term, got \"" +
                          getEquation() + "\"");
  Formula f(gradients);
  for (unsigned i = 0; i < getInputs().size(); ++i)
    gradients.give(i, [&] {
      return einsumGradient(f, *this, *equation, i, gradients.ofResult());
    });
  return success();
}
