// SPDX-License-Identifier: Apache-2.0
//
// What the optimizers' formulas are written with: one update, with numbers as
// scalars of the weight's type.

#ifndef DLC_LIB_TRAINING_FORMULAS_H
#define DLC_LIB_TRAINING_FORMULAS_H

#include "dlc/Training/Optimizer.h"

namespace dlc::training {

/// The sum of all elements, a scalar.
inline mlir::Value sumOfAll(frontend::GraphBuilder &b, mlir::Value x) {
  frontend::Ints axes;
  for (int64_t i = 0, rank = b.rankOf(x).value_or(0); i < rank; ++i)
    axes.push_back(i);
  return b.reduce("reduce_sum", x, axes, /*keepDims=*/false);
}

class Formulas {
public:
  using Value = mlir::Value;

  Formulas(frontend::GraphBuilder &b, const OptimizerInputs &in,
           const OptimizerOptions &options);

  frontend::GraphBuilder &b;
  const OptimizerInputs &in;
  const OptimizerOptions &options;
  Value w, lr;
  double decay; ///< Of the weight, with this parameter's factor.

  Value number(double value) { return b.scalarLike(w, value); }
  Value add(Value x, Value y) { return b.add(x, y); }
  Value sub(Value x, Value y) { return b.sub(x, y); }
  Value mul(Value x, Value y) { return b.mul(x, y); }
  Value div(Value x, Value y) { return b.div(x, y); }
  Value scale(Value x, double factor) {
    return factor == 1 ? x : mul(x, number(factor));
  }
  Value square(Value x) { return mul(x, x); }
  Value sqrt(Value x) { return b.op("sqrt", {x}); }
  Value sign(Value x) { return b.op("sign", {x}); }
  Value abs(Value x) { return b.op("abs", {x}); }
  Value shift(Value x, double summand) {
    return summand == 0 ? x : add(x, number(summand));
  }
  /// kept * old + (1 - kept) * now.
  Value average(Value old, Value now, double kept) {
    return add(scale(old, kept), scale(now, 1 - kept));
  }
  Value norm(Value x);

  /// The gradient rescaled and clipped, without the weight decay.
  Value gradient();
  /// The same of the gradient with the weight decay in it, as Adam and RMSProp
  /// have it: clipped after.
  Value decayedGradient();
  /// decay * w + x, or x without decay.
  Value withDecay(Value x) { return decay == 0 ? x : add(x, scale(w, decay)); }
  /// The weight apart from the gradient: (1 - lr factor) w.
  Value decayed(double factor) {
    return factor == 0 ? w : sub(w, scale(mul(lr, w), factor));
  }
  /// 1 - beta^count, a scalar of f64: in f32 the first ones lose digits.
  Value correction(double beta);
  /// A scalar of f64 in the weight's type.
  Value narrow(Value wide) { return b.castLike(wide, w); }

private:
  Value clip(Value x);
};

} // namespace dlc::training

#endif // DLC_LIB_TRAINING_FORMULAS_H
