// SPDX-License-Identifier: Apache-2.0
//
// Shapes and element types of a symbol's variables and outputs out of those
// that are known, in both directions: from operands to results as the Graph
// dialect infers them, and otherwise by what operators declare (a weight's
// shape from the data's, for instance).

#ifndef DLC_SYMBOL_INFERENCE_H
#define DLC_SYMBOL_INFERENCE_H

#include "dlc/Symbol/Relation.h"
#include "dlc/Symbol/Symbol.h"

namespace dlc::symbol {

/// What the caller knows, by the name of a variable. A variable's own
/// `__shape__` and `__dtype__` count too. Dimensions: rt::kUnknownDim is open.
using KnownShapes = std::map<std::string, std::vector<int64_t>, std::less<>>;
using KnownTypes = std::map<std::string, rt::DataType, std::less<>>;

template <typename Fact> struct Inferred {
  /// In the order of listArguments(), listOutputs(), listAuxiliaryStates().
  std::vector<Fact> arguments, outputs, auxiliaryStates;
  bool isComplete = false; ///< Nothing is left unknown.
};

enum class Completeness : uint8_t {
  Partial, ///< What cannot be told stays unknown.
  Full,    ///< That is an error, which lists the variables it concerns.
};

/// Shapes of everything. Element types matter little: where nothing tells one,
/// it is one that the operator takes. InvalidArgument for contradictions (it
/// names the node, its operator, the operand, what was expected and found),
/// names of no variable, variables of one name and operators that are not
/// applied; the symbol's own failure.
rt::Result<Inferred<Shape>> inferShapes(const Symbol &symbol,
                                        const KnownShapes &known,
                                        Completeness completeness,
                                        const KnownTypes &types = {});

/// Element types of everything; errors as above.
rt::Result<Inferred<rt::DataType>> inferTypes(const Symbol &symbol,
                                              const KnownTypes &known,
                                              Completeness completeness);

} // namespace dlc::symbol

#endif // DLC_SYMBOL_INFERENCE_H
