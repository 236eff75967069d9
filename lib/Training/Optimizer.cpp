// SPDX-License-Identifier: Apache-2.0

#include "Formulas.h"
#include "dlc/Training/Text.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace dlc::training;
using dlc::frontend::GraphBuilder;
using llvm::ArrayRef;
using llvm::StringRef;
using mlir::Value;

//===----------------------------------------------------------------------===//
// Formulas
//===----------------------------------------------------------------------===//

Formulas::Formulas(GraphBuilder &b, const OptimizerInputs &in,
                   const OptimizerOptions &options)
    : b(b), in(in), options(options), w(in.weight),
      decay(options.weightDecay * in.decayFactor) {
  lr = scale(b.castLike(in.learningRate, w), in.rateFactor);
}

Value Formulas::clip(Value x) {
  if (!options.clip)
    return x;
  return b.op("clamp", {x, number(-*options.clip), number(*options.clip)});
}

Value Formulas::gradient() { return clip(scale(in.gradient, options.rescale)); }

Value Formulas::decayedGradient() {
  return clip(withDecay(scale(in.gradient, options.rescale)));
}

Value Formulas::correction(double beta) {
  mlir::Type wide = b.opBuilder().getF64Type();
  Value power = b.op("pow", {b.scalar(wide, beta), b.cast(in.count, wide)});
  return b.sub(b.scalar(wide, 1), power);
}

Value Formulas::norm(Value x) { return sqrt(sumOfAll(b, square(x))); }

namespace {

using Results = OptimizerResults;

/// (1 - lr wd) w - lr g, or with momentum m' = momentum m - lr (g + wd w).
Results updateSgd(Formulas &f) {
  Value g = f.withDecay(f.gradient());
  Value step = f.mul(f.lr, g);
  if (!f.options.momentum.value_or(0))
    return {f.sub(f.w, step), {}};
  Value m = f.sub(f.scale(f.in.states[0], *f.options.momentum), step);
  return {f.add(f.w, m), {m}};
}

/// Nesterov's momentum: the step looks ahead. MXNet's operator writes the
/// weight before it decays the momentum, which therefore sees the new one.
Results updateNag(Formulas &f) {
  Value g = f.gradient();
  Value step = f.mul(f.lr, f.withDecay(g));
  double momentum = f.options.momentum.value_or(0);
  if (momentum == 0)
    return {f.sub(f.w, step), {}};
  Value kept = f.scale(f.in.states[0], momentum);
  Value ahead = f.scale(f.sub(kept, step), 1 + momentum);
  Value w = f.add(f.sub(f.w, kept), ahead);
  Value ofNew = f.decay == 0 ? g : f.add(g, f.scale(w, f.decay));
  return {w, {f.sub(kept, f.mul(f.lr, ofNew))}};
}

/// The averages of Adam and the step lr sqrt(1 - b2^t) / (1 - b1^t) m / (sqrt v
/// + epsilon).
Results updateAdam(Formulas &f) {
  double beta1 = *f.options.beta1, beta2 = *f.options.beta2;
  Value g = f.decayedGradient();
  Value m = f.average(f.in.states[0], g, beta1);
  Value v = f.average(f.in.states[1], f.square(g), beta2);
  Value corrected = f.b.div(f.sqrt(f.correction(beta2)), f.correction(beta1));
  Value wide = f.b.castLike(f.lr, corrected);
  Value rate = f.narrow(f.b.mul(wide, corrected));
  Value step = f.div(f.mul(rate, m), f.shift(f.sqrt(v), *f.options.epsilon));
  return {f.sub(f.w, step), {m, v}};
}

/// Adam whose weight decay is no part of the gradient.
Results updateAdamW(Formulas &f) {
  double beta1 = *f.options.beta1, beta2 = *f.options.beta2;
  Value g = f.gradient();
  Value m = f.average(f.in.states[0], g, beta1);
  Value v = f.average(f.in.states[1], f.square(g), beta2);
  Value corrected =
      f.narrow(f.b.div(f.sqrt(f.correction(beta2)), f.correction(beta1)));
  Value step =
      f.div(f.mul(corrected, m), f.shift(f.sqrt(v), *f.options.epsilon));
  return {f.sub(f.w, f.mul(f.lr, f.withDecay(step))), {m, v}};
}

/// Tieleman and Hinton's, or with `isCentered` Graves' with momentum.
Results updateRmsProp(Formulas &f) {
  double gamma1 = *f.options.gamma1, epsilon = *f.options.epsilon;
  Value g = f.decayedGradient();
  Value n = f.average(f.in.states[0], f.square(g), gamma1);
  if (!f.options.isCentered) {
    Value step = f.div(f.mul(f.lr, g), f.sqrt(f.shift(n, epsilon)));
    return {f.sub(f.w, step), {n}};
  }
  Value mean = f.average(f.in.states[1], g, gamma1);
  Value spread = f.sqrt(f.shift(f.sub(n, f.square(mean)), epsilon));
  Value delta = f.sub(f.scale(f.in.states[2], *f.options.gamma2),
                      f.div(f.mul(f.lr, g), spread));
  return {f.add(f.w, delta), {n, mean, delta}};
}

Results updateAdaGrad(Formulas &f) {
  Value g = f.gradient();
  Value history = f.add(f.in.states[0], f.square(g));
  Value step = f.div(g, f.sqrt(f.shift(history, *f.options.epsilon)));
  return {f.sub(f.w, f.mul(f.lr, f.withDecay(step))), {history}};
}

/// It knows no learning rate.
Results updateAdaDelta(Formulas &f) {
  double rho = *f.options.rho, epsilon = *f.options.epsilon;
  Value g = f.gradient();
  Value n = f.average(f.in.states[0], f.square(g), rho);
  Value delta = f.mul(f.div(f.sqrt(f.shift(f.in.states[1], epsilon)),
                            f.sqrt(f.shift(n, epsilon))),
                      g);
  Value d = f.average(f.in.states[1], f.square(delta), rho);
  return {f.sub(f.w, f.withDecay(delta)), {n, d}};
}

/// Follow the regularized leader (McMahan et al., KDD 2013).
Results updateFtrl(Formulas &f) {
  Value g = f.gradient(), z = f.in.states[0], n = f.in.states[1];
  Value next = f.add(n, f.square(g));
  Value sigma = f.div(f.sub(f.sqrt(next), f.sqrt(n)), f.lr);
  z = f.sub(f.add(z, g), f.mul(sigma, f.w));
  double l1 = *f.options.l1;
  Value scale =
      f.shift(f.div(f.shift(f.sqrt(next), *f.options.beta), f.lr), f.decay);
  Value w = f.div(f.sub(f.scale(f.sign(z), l1), z), scale);
  Value isOut = f.b.op("greater", {f.abs(z), f.number(l1)});
  return {f.b.op("select", {isOut, w, f.number(0)}), {z, next}};
}

/// r1 / r2 of the norms of weight and step, 1 where one of them is 0.
Value trustRatio(Formulas &f, Value step) {
  Value r1 = f.norm(f.w), r2 = f.norm(step);
  if (f.options.lowerBound)
    r1 = f.b.op("max", {r1, f.number(*f.options.lowerBound)});
  if (f.options.upperBound)
    r1 = f.b.op("min", {r1, f.number(*f.options.upperBound)});
  Value zero = f.number(0);
  Value isUsed = f.b.op("logical_and", {f.b.op("greater", {r1, zero}),
                                        f.b.op("greater", {r2, zero})});
  Value ratio = f.b.op("select", {isUsed, f.div(r1, r2), f.number(1)});
  return ratio;
}

/// Layer-wise adaptive Adam (You et al., "Large Batch Optimization for Deep
/// Learning", 2020).
Results updateLamb(Formulas &f) {
  double beta1 = *f.options.beta1, beta2 = *f.options.beta2;
  Value g = f.gradient();
  Value m = f.average(f.in.states[0], g, beta1);
  Value v = f.average(f.in.states[1], f.square(g), beta2);
  Value mean = f.div(m, f.narrow(f.correction(beta1)));
  Value spread = f.sqrt(f.div(v, f.narrow(f.correction(beta2))));
  Value step = f.withDecay(f.div(mean, f.shift(spread, *f.options.epsilon)));
  Value rate = f.mul(f.lr, trustRatio(f, step));
  return {f.sub(f.w, f.mul(rate, step)), {m, v}};
}

/// The sign of a momentum (Bernstein et al., ICML 2018).
Results updateSignum(Formulas &f) {
  double momentum = *f.options.momentum;
  if (momentum == 0)
    return {f.sub(f.decayed(f.decay), f.mul(f.lr, f.sign(f.gradient()))), {}};
  Value g = f.withDecay(f.gradient());
  Value m = f.sub(f.scale(f.in.states[0], momentum), f.scale(g, 1 - momentum));
  Value kept = f.decayed(*f.options.decoupledDecay);
  return {f.add(kept, f.mul(f.lr, f.sign(m))), {m}};
}

} // namespace

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

namespace {
/// An option of an optimizer and its default.
struct Option {
  StringRef name;
  std::optional<double> OptimizerOptions::*value;
  double least, most; ///< Ends included.
  std::optional<double> fallback;
  bool isBelow = false; ///< The upper end is not included.
};
} // namespace

struct Optimizer::Rule {
  StringRef name;
  double learningRate;
  Results (*update)(Formulas &);
  std::vector<StringRef> states;
  std::vector<Option> options;
  /// The states are there only with momentum.
  bool needsMomentum = false;
  bool hasLearningRate = true;
  bool dividesByRate = false;
};

static constexpr double kMost = 1e30;

static Option momentum(double fallback) {
  return {"momentum", &OptimizerOptions::momentum, 0, 1, fallback};
}
/// With 1, the averages begin at 0 and stay there: nothing corrects them.
static Option beta1() {
  return {"beta1", &OptimizerOptions::beta1, 0, 1, 0.9, /*isBelow=*/true};
}
static Option beta2() {
  return {"beta2", &OptimizerOptions::beta2, 0, 1, 0.999, /*isBelow=*/true};
}
static Option epsilon(double fallback) {
  return {"epsilon", &OptimizerOptions::epsilon, 0, kMost, fallback};
}

static const std::vector<Optimizer::Rule> &rules() {
  using O = OptimizerOptions;
  static const std::vector<Optimizer::Rule> table = {
      {"sgd", 0.01, updateSgd, {"momentum"}, {momentum(0)}, true},
      {"nag", 0.1, updateNag, {"momentum"}, {momentum(0.9)}, true},
      {"adam",
       0.001,
       updateAdam,
       {"mean", "variance"},
       {beta1(), beta2(), epsilon(1e-8)}},
      {"adamw",
       0.001,
       updateAdamW,
       {"mean", "variance"},
       {beta1(), beta2(), epsilon(1e-8)}},
      {"rmsprop",
       0.001,
       updateRmsProp,
       {"square", "mean", "delta"},
       {{"gamma1", &O::gamma1, 0, 1, 0.9},
        {"gamma2", &O::gamma2, 0, 1, 0.9},
        epsilon(1e-8)}},
      {"adagrad", 0.01, updateAdaGrad, {"history"}, {epsilon(1e-7)}},
      {"adadelta",
       1,
       updateAdaDelta,
       {"square", "delta"},
       {{"rho", &O::rho, 0, 1, 0.9}, epsilon(1e-5)},
       /*needsMomentum=*/false,
       /*hasLearningRate=*/false},
      {"ftrl",
       0.1,
       updateFtrl,
       {"z", "n"},
       {{"l1", &O::l1, 0, kMost, 0.01}, {"beta", &O::beta, 0, kMost, 1}},
       /*needsMomentum=*/false,
       /*hasLearningRate=*/true,
       /*dividesByRate=*/true},
      {"lamb",
       0.001,
       updateLamb,
       {"mean", "variance"},
       {beta1(),
        beta2(),
        epsilon(1e-6),
        {"lower-bound", &O::lowerBound, 0, kMost, std::nullopt},
        {"upper-bound", &O::upperBound, 0, kMost, std::nullopt}}},
      {"signum",
       0.01,
       updateSignum,
       {"momentum"},
       {momentum(0.9), {"decoupled-decay", &O::decoupledDecay, 0, kMost, 0}},
       true},
  };
  return table;
}

std::string Optimizer::names() {
  std::string names;
  for (const Rule &rule : rules())
    names += (names.empty() ? "" : ", ") + rule.name.str();
  return names;
}

static const Option *
findOption(const Optimizer::Rule &rule,
           std::optional<double> OptimizerOptions::*value) {
  for (const Option &option : rule.options)
    if (option.value == value)
      return &option;
  return nullptr;
}

/// What is wrong with option `known` of some optimizer for this one, or
/// nothing; fills in its default.
static std::string complete(const Optimizer::Rule &rule, const Option &known,
                            OptimizerOptions &options) {
  std::optional<double> &value = options.*known.value;
  const Option *own = findOption(rule, known.value);
  if (!own && !value)
    return "";
  if (!own)
    return ("expected an option of optimizer '" + rule.name + "', got " +
            known.name)
        .str();
  if (!value)
    value = own->fallback;
  if (value && (!(*value >= own->least && *value <= own->most) ||
                (own->isBelow && *value == own->most)))
    return ("expected " + own->name + " from " + toText(own->least) +
            (own->isBelow ? " to below " : " to ") + toText(own->most) +
            ", got " + toText(*value))
        .str();
  return "";
}

/// What is wrong with options that are right by themselves, or nothing.
static std::string checkTogether(const OptimizerOptions &options) {
  if (options.lowerBound && options.upperBound &&
      *options.lowerBound > *options.upperBound)
    return "expected an upper bound of at least the lower one, " +
           toText(*options.lowerBound) + ", got " + toText(*options.upperBound);
  if (options.isCentered && options.name != "rmsprop")
    return "expected optimizer rmsprop to be centered, got '" + options.name +
           "'";
  if (options.gamma2 && options.name == "rmsprop" && !options.isCentered)
    return "expected a centered rmsprop for gamma2, got one that is not";
  if (options.decoupledDecay.value_or(0) != 0 && options.momentum == 0.0)
    return "expected a momentum above 0 for a decoupled decay, got 0";
  if (options.clip && !(*options.clip > 0))
    return "expected a limit of gradients above 0, got " +
           toText(*options.clip);
  if (!(options.weightDecay >= 0))
    return "expected a weight decay of at least 0, got " +
           toText(options.weightDecay);
  if (!std::isfinite(options.rescale))
    return "expected a finite factor of gradients, got " +
           toText(options.rescale);
  return "";
}

std::optional<Optimizer> Optimizer::create(const OptimizerOptions &options,
                                           std::string &problem) {
  auto rule = llvm::find_if(
      rules(), [&](const Rule &each) { return each.name == options.name; });
  if (rule == rules().end()) {
    problem = "expected optimizer " + names() + ", got '" + options.name + "'";
    return std::nullopt;
  }
  Optimizer optimizer(&*rule, options);
  for (const Rule &other : rules())
    for (const Option &option : other.options) {
      problem = complete(*rule, option, optimizer.options);
      if (!problem.empty())
        return std::nullopt;
    }
  problem = checkTogether(options);
  if (!problem.empty())
    return std::nullopt;
  return optimizer;
}

ArrayRef<StringRef> Optimizer::states() const {
  if (rule->needsMomentum && options.momentum.value_or(0) == 0)
    return {};
  ArrayRef<StringRef> all = rule->states;
  return rule->name == "rmsprop" && !options.isCentered ? all.take_front()
                                                        : all;
}

OptimizerResults Optimizer::update(GraphBuilder &b,
                                   const OptimizerInputs &inputs) const {
  Formulas formulas(b, inputs, options);
  return rule->update(formulas);
}

double Optimizer::defaultLearningRate() const { return rule->learningRate; }

bool Optimizer::hasLearningRate() const { return rule->hasLearningRate; }

bool Optimizer::dividesByRate() const { return rule->dividesByRate; }
