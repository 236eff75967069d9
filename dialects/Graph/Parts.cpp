// SPDX-License-Identifier: Apache-2.0

#include "dlc/dialects/Graph/Parts.h"

#include "dlc/dialects/Graph/Ports.h"

using namespace mlir;

void dlc::graph::declareByParts(func::FuncOp function, TypeRange results,
                                StringRef attribute,
                                ArrayRef<func::FuncOp> parts) {
  SmallVector<Attribute> names;
  for (func::FuncOp part : parts)
    names.push_back(FlatSymbolRefAttr::get(part.getSymNameAttr()));
  function.eraseBody();
  function.setPrivate();
  function.setType(FunctionType::get(function.getContext(),
                                     function.getArgumentTypes(), results));
  nameOpenDims(function);
  function->setAttr(attribute, ArrayAttr::get(function.getContext(), names));
}
