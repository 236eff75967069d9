// SPDX-License-Identifier: Apache-2.0
//
// What of a model cannot be imported. Importers go on behind a node that fails,
// with all that does not depend on it, so that one import reports everything:
// each fault is one error through the context, made inside a NodeScope, and
// whoever handles diagnostics may read it as a Fault.

#ifndef DLC_FRONTEND_FAULTS_H
#define DLC_FRONTEND_FAULTS_H

#include "mlir/IR/Diagnostics.h"

#include <span>
#include <string>
#include <string_view>

namespace dlc::frontend {

/// One reason; texts are empty where there is nothing to say.
struct Fault {
  std::string node;        ///< Its name in the model.
  std::string op;          ///< Its operator.
  std::string attribute;   ///< The attribute or parameter that is at fault.
  std::string reason;      ///< The error's text.
  std::string alternative; ///< What is supported and comes nearest.
};

/// While it lives, errors through `context` are of that node.
class NodeScope {
public:
  NodeScope(mlir::MLIRContext &context, llvm::StringRef node,
            llvm::StringRef op);

private:
  mlir::ScopedDiagnosticHandler handler;
};

/// Says, in a note, what is supported and comes nearest; nothing for "".
void addAlternative(mlir::InFlightDiagnostic &error,
                    llvm::StringRef alternative);

/// What an error says. The attribute is the one that its text names
/// ("attribute 'axis'", "parameter 'kernel'").
Fault faultOf(const mlir::Diagnostic &error);

/// The one of `names` that differs in the fewest letters from `name`, upper and
/// lower case alike; "" where most letters differ. Of equals the first.
std::string_view nearestName(std::string_view name,
                             std::span<const std::string_view> names);

} // namespace dlc::frontend

#endif // DLC_FRONTEND_FAULTS_H
