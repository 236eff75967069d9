// SPDX-License-Identifier: Apache-2.0
//
// Einstein summation as matrix products, and its gradients.

#include "Correlation.h"

using namespace mlir;
using namespace dlc::graph;

namespace {

/// The letters of each operand and of the result: one for each dimension.
struct Equation {
  SmallVector<std::string> terms;
  std::string result;
};

/// A factor of a sum of products.
struct Factor {
  Value value;
  std::string letters;
};

} // namespace

static bool has(StringRef letters, char letter) {
  return letters.contains(letter);
}

//===----------------------------------------------------------------------===//
// Equations
//===----------------------------------------------------------------------===//

/// As many letters as `...` of `text` stands for at most, which are not in it;
/// nullopt where the letters are used up.
static std::optional<std::string>
lettersOfEllipsis(StringRef text, ArrayRef<StringRef> terms, TypeRange types) {
  int64_t rank = 0;
  for (auto [term, type] : llvm::zip_equal(terms, types))
    if (term.contains("..."))
      rank = std::max(rank, cast<RankedTensorType>(type).getRank() -
                                static_cast<int64_t>(term.size()) + 3);
  std::string letters;
  for (char letter = 'A';
       letter <= 'z' && static_cast<int64_t>(letters.size()) < rank; ++letter)
    if (llvm::isAlpha(letter) && !has(text, letter))
      letters += letter;
  if (static_cast<int64_t>(letters.size()) < rank)
    return std::nullopt;
  return letters;
}

/// `term` with the last ones of `letters` in place of `...`, so that there are
/// `rank`.
static std::string expand(StringRef term, StringRef letters, int64_t rank) {
  auto [before, after] = term.split("...");
  if (!term.contains("..."))
    return term.str();
  const size_t count = rank - before.size() - after.size();
  return (before + letters.take_back(count) + after).str();
}

/// Of an operation whose types are known. Nullopt when a letter comes twice in
/// a term.
static std::optional<Equation> parseEquation(EinsumOp op) {
  std::string stripped;
  for (char letter : op.getEquation())
    if (letter != ' ')
      stripped += letter;
  StringRef text = stripped;
  auto [left, right] = text.split("->");
  SmallVector<StringRef> terms;
  left.split(terms, ',');
  auto ellipsis = lettersOfEllipsis(text, terms, op.getInputs().getTypes());
  if (!ellipsis)
    return std::nullopt;
  Equation equation;
  for (auto [term, input] : llvm::zip_equal(terms, op.getInputs())) {
    equation.terms.push_back(
        expand(term, *ellipsis, Formula::typeOf(input).getRank()));
    for (char letter : equation.terms.back())
      if (llvm::count(equation.terms.back(), letter) > 1)
        return std::nullopt;
  }
  if (text.contains("->")) {
    equation.result =
        expand(right, *ellipsis, Formula::typeOf(op.getY()).getRank());
    return equation;
  }
  // Without a result: the letters that come once, sorted.
  std::string once;
  for (char letter : left)
    if (llvm::isAlpha(letter) && left.count(letter) == 1)
      once += letter;
  llvm::sort(once);
  equation.result = (has(left, '.') ? *ellipsis : std::string()) + once;
  return equation;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// `factor` with its dimensions in the order of `letters`, all of them.
static Value inOrder(Formula &f, const Factor &factor, StringRef letters) {
  SmallVector<int64_t> perm;
  for (char letter : letters)
    perm.push_back(static_cast<int64_t>(factor.letters.find(letter)));
  return llvm::is_sorted(perm) ? factor.value : f.transpose(factor.value, perm);
}

/// Sums over the dimensions whose letters are not in `kept`.
static void sumOthers(Formula &f, Factor &factor, StringRef kept) {
  SmallVector<int64_t> axes;
  std::string rest;
  for (auto [axis, letter] : llvm::enumerate(factor.letters))
    if (has(kept, letter))
      rest += letter;
    else
      axes.push_back(static_cast<int64_t>(axis));
  if (!axes.empty())
    factor = {f.sumOver(factor.value, axes, /*keepdims=*/false), rest};
}

/// Drops dimensions of one element that others have more of: those repeat it.
static void dropRepeated(Formula &f, Factor &factor,
                         ArrayRef<int64_t> extents) {
  SmallVector<int64_t> shape;
  std::string rest;
  for (auto [letter, extent] : llvm::zip_equal(
           factor.letters, Formula::typeOf(factor.value).getShape())) {
    if (extent == 1 && extents[letter] != 1)
      continue;
    shape.push_back(extent);
    rest += letter;
  }
  factor = {f.reshape(factor.value, shape), rest};
}

/// The product of two factors, summed over the letters that are not in `kept`.
static Factor multiply(Formula &f, Factor a, Factor b, StringRef kept) {
  sumOthers(f, a, (kept + b.letters).str());
  sumOthers(f, b, (kept + a.letters).str());
  std::string batch, summed, ofA, ofB;
  for (char letter : a.letters)
    (!has(b.letters, letter) ? ofA
     : has(kept, letter)     ? batch
                             : summed) += letter;
  for (char letter : b.letters)
    if (!has(a.letters, letter))
      ofB += letter;
  // The one whose letters come first in the result is on the left.
  if (!ofA.empty() && !ofB.empty() && kept.find(ofB[0]) < kept.find(ofA[0])) {
    std::swap(a, b);
    std::swap(ofA, ofB);
  }
  auto extentsOf = [&](const Factor &factor, StringRef letters) {
    SmallVector<int64_t> extents;
    for (char letter : letters)
      extents.push_back(Formula::typeOf(factor.value)
                            .getDimSize(factor.letters.find(letter)));
    return extents;
  };
  auto countOf = [&](const Factor &factor, StringRef letters) {
    int64_t count = 1;
    for (int64_t extent : extentsOf(factor, letters))
      count *= extent;
    return count;
  };
  const std::string letters = batch + ofA + ofB;
  const int64_t rows = countOf(a, ofA), columns = countOf(b, ofB);
  SmallVector<int64_t> shape = extentsOf(a, batch);
  SmallVector<int64_t> left = shape, right = shape, result = shape;
  llvm::append_range(result, extentsOf(a, ofA));
  llvm::append_range(result, extentsOf(b, ofB));
  if (summed.empty()) {
    llvm::append_range(left, extentsOf(a, ofA));
    left.append(ofB.size(), 1);
    right.append(ofA.size(), 1);
    llvm::append_range(right, extentsOf(b, ofB));
    return {f.mul(f.reshape(inOrder(f, a, batch + ofA), left),
                  f.reshape(inOrder(f, b, batch + ofB), right)),
            letters};
  }
  const int64_t terms = countOf(a, summed);
  left.append({rows, terms});
  right.append({terms, columns});
  Value product =
      f.make<MatmulOp>(f.reshape(inOrder(f, a, batch + ofA + summed), left),
                       f.reshape(inOrder(f, b, batch + summed + ofB), right));
  return {f.reshape(product, result), letters};
}

bool EinsumOp::hasFasterParts() { return true; }

/// Of extents that are not known: sums of letters that only one factor has, and
/// products of two factors, for which there are kernels.
static FailureOr<Value> pairFactors(EinsumOp op, OpBuilder &builder) {
  auto isRanked = [](Type type) { return isa<RankedTensorType>(type); };
  if (!llvm::all_of(op->getOperandTypes(), isRanked) ||
      !llvm::all_of(op->getResultTypes(), isRanked))
    return failure();
  std::optional<Equation> equation = parseEquation(op);
  if (!equation || equation->terms.size() < 2)
    return failure();
  Formula f(builder, op.getLoc());
  bool isChanged = equation->terms.size() > 2;
  SmallVector<Factor> factors;
  for (auto [input, term] : llvm::zip_equal(op.getInputs(), equation->terms)) {
    std::string others = equation->result;
    for (const std::string &other : equation->terms)
      if (&other != &term)
        others += other;
    Factor &factor = factors.emplace_back(Factor{input, term});
    sumOthers(f, factor, others);
    isChanged |= factor.letters != term;
  }
  if (!isChanged)
    return failure();
  Factor product = factors.front();
  for (size_t i = 1; i < factors.size(); ++i) {
    std::string letters = equation->result;
    if (i + 1 < factors.size()) {
      std::string needed = equation->result;
      for (const Factor &later : ArrayRef(factors).drop_front(i + 1))
        needed += later.letters;
      letters.clear();
      for (char letter : product.letters + factors[i].letters)
        if (has(needed, letter) && !has(letters, letter))
          letters += letter;
    }
    product = {EinsumOp::create(builder, op.getLoc(),
                                ValueRange{product.value, factors[i].value},
                                product.letters + "," + factors[i].letters +
                                    "->" + letters),
               letters};
  }
  return product.value;
}

/// From the left to the right, each product summed over what nothing after it
/// has.
FailureOr<SmallVector<Value>> EinsumOp::decompose(OpBuilder &builder) {
  if (!hasStaticTypes(*this)) {
    FailureOr<Value> paired = pairFactors(*this, builder);
    if (failed(paired))
      return failure();
    return SmallVector<Value>{*paired};
  }
  if (!hasElements(*this))
    return failure();
  std::optional<Equation> equation = parseEquation(*this);
  if (!equation)
    return failure();
  Formula f(builder, getLoc());
  SmallVector<int64_t> extents('z' + 1, 1);
  SmallVector<Factor> factors;
  for (auto [input, term] : llvm::zip_equal(getInputs(), equation->terms)) {
    factors.push_back({input, term});
    for (auto [letter, extent] :
         llvm::zip_equal(term, Formula::typeOf(input).getShape()))
      extents[letter] = std::max(extents[letter], extent);
  }
  for (Factor &factor : factors)
    dropRepeated(f, factor, extents);
  Factor product = factors.front();
  for (size_t i = 1; i < factors.size(); ++i) {
    std::string kept = equation->result;
    for (const Factor &later : ArrayRef(factors).drop_front(i + 1))
      kept += later.letters;
    product = multiply(f, product, factors[i], kept);
  }
  sumOthers(f, product, equation->result);
  return SmallVector<Value>{inOrder(f, product, equation->result)};
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

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
    if (has(left, letter))
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
  std::optional<Equation> equation = parseEquation(*this);
  if (!equation)
    return gradients.fail("expected an equation without a letter twice in one "
                          "term, got \"" +
                          getEquation() + "\"");
  Formula f(gradients);
  for (unsigned i = 0; i < getInputs().size(); ++i)
    gradients.give(i, [&] {
      return einsumGradient(f, *this, *equation, i, gradients.ofResult());
    });
  return success();
}
