// SPDX-License-Identifier: Apache-2.0
//
// Places of elements, and arrays of one number.

#include "Translation.h"

using namespace dlc;
using namespace dlc::symbol;
using namespace dlc::symbol::nnvm;

//===-- Reductions --------------------------------------------------------===//

/// Of the name that the node has in NNVM.
template <bool isMax> static void translateArg(Translation &t) {
  const std::vector<int64_t> &axes = t.p.getInts("axis");
  if (axes.size() > 1 || t.p.getBool("exclude"))
    return t.unsupported("places along more than one axis");
  Entry place =
      t.add("place", isMax ? "argmax" : "argmin", t.inputs,
            {{"axis", axes.empty() ? "None" : std::to_string(axes[0])},
             {"keepdims", textOf(t, "keepdims")}});
  t.finish("Cast", {place}, {{"dtype", textOf(t, "dtype")}});
}

//===-- Constants ---------------------------------------------------------===//

static void translateFull(Translation &t) {
  t.finish("_full", {},
           {{"shape", textOf(t, "shape")},
            {"dtype", textOf(t, "dtype")},
            {"value", textOf(t, "fill_value")}});
}

static void translateFullLike(Translation &t) {
  Entry zeros = t.add("zeros", "zeros_like", t.inputs);
  t.finish("_plus_scalar", {zeros}, {{"scalar", textOf(t, "fill_value")}});
}

//===-- Declarations ------------------------------------------------------===//

std::vector<Rule> nnvm::tensorRules() {
  Parameter type = optional("dtype", ParameterKind::Type, "int32", "");
  std::vector<Parameter> places = {
      optional("axis", ParameterKind::Ints, "()", ""),
      flag("keepdims", "False"), flag("exclude", "False"), type};
  type.fallback = "float32";
  Parameter value = named("fill_value", ParameterKind::Float);
  return {
      rule("argmax", places, translateArg<true>),
      rule("argmin", places, translateArg<false>),
      rule("full", {ints("shape", "()", 0), type, value}, translateFull, {}),
      rule("full_like", {value}, translateFullLike),
  };
}
