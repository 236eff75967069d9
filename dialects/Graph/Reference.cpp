// SPDX-License-Identifier: Apache-2.0

#include "dlc/dialects/Graph/Reference.h"

#include "dlc/dialects/Graph/Plain.h"

using namespace mlir;
using namespace dlc;

rt::Status
graph::evaluateReference(Operation *op, std::span<const rt::TensorView> inputs,
                         std::vector<rt::ref::OwnedTensor> &outputs) {
  outputs.clear();
  StringRef name = op->getName().stripDialect();
  const rt::ref::Operation *operation = rt::ref::lookup(std::string_view(name));
  if (!operation)
    return rt::makeError(rt::StatusCode::Unsupported, "%s: no Reference kernel",
                         name.str().c_str());
  return rt::ref::evaluate(*operation, inputs,
                           toAttributes(op->getAttrDictionary()),
                           op->getNumResults(), outputs);
}
