// SPDX-License-Identifier: Apache-2.0
//
// Networks of NNVM's compiler (nnvm.symbol, TVM 0.2 to 0.5): its operators have
// names and attributes of their own, and say nothing that those of MXNet in the
// registry could not. A node of such a file becomes an application of these.

#ifndef DLC_LIB_SYMBOL_NNVM_H
#define DLC_LIB_SYMBOL_NNVM_H

#include "dlc/Symbol/Symbol.h"

namespace dlc::symbol {

/// What a kernel is called in a graph that TVM compiled.
inline constexpr std::string_view kCompiledOperator = "tvm_op";

/// NNVM has an operator of that name which is read.
bool isOfNnvm(std::string_view op);

/// The same, and no file of MXNet has one.
bool isOfNnvmOnly(std::string_view op);

/// What stands for `op` of NNVM in messages until it is translated.
const Operator *declarationOfNnvm(std::string_view op);

/// Makes `node`, which has a name and the inputs of a node of NNVM, what `op`
/// of NNVM with these attributes means. Where that is more than one operator,
/// the others are nodes before it, called as it is with an ending. Errors speak
/// of NNVM's names.
rt::Status applyNnvm(std::string_view op, const Attributes &attributes,
                     Node &node);

} // namespace dlc::symbol

#endif // DLC_LIB_SYMBOL_NNVM_H
