// SPDX-License-Identifier: Apache-2.0

#include "dlc/Numerics/Interpreter.h"

#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/dialects/Graph/Reference.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::numerics;

void Interpreter::set(Value value, Tensor tensor) {
  values[value] = std::make_unique<Tensor>(std::move(tensor));
}

const Tensor *Interpreter::get(Value value) const {
  auto found = values.find(value);
  return found == values.end() ? nullptr : found->second.get();
}

static rt::Status constantOf(graph::ConstantOp op, Tensor &tensor) {
  auto raw = std::make_shared<graph::RawElements>(
      graph::RawElements::get(op.getValue()));
  if (!*raw)
    return rt::makeError(rt::StatusCode::InvalidArgument,
                         "the bytes of a constant are missing");
  // Kernels take null for a value that is not known, even of no elements.
  static constexpr char nothing = 0;
  const char *data = raw->data().empty() ? &nothing : raw->data().data();
  tensor = {graph::toTensorType(op.getType()), data, raw};
  return rt::Status::ok();
}

Tensor dlc::numerics::toTensor(rt::ref::OwnedTensor memory) {
  auto owner = std::make_shared<rt::ref::OwnedTensor>(std::move(memory));
  Tensor tensor;
  tensor.type.type = owner->type();
  tensor.type.shape.assign(owner->shape().begin(), owner->shape().end());
  tensor.data = owner->data();
  tensor.owner = std::move(owner);
  return tensor;
}

static rt::Status makeError(Operation *op, rt::StatusCode code,
                            const char *message) {
  return rt::makeError(code, "%s: %s",
                       op->getName().getStringRef().str().c_str(), message);
}

rt::Status Interpreter::computeKernel(Operation *op) {
  std::vector<rt::TensorView> inputs;
  for (Value operand : op->getOperands()) {
    const Tensor *value = get(operand);
    if (!value)
      return makeError(op, rt::StatusCode::InvalidArgument,
                       "an operand has no value");
    inputs.push_back(value->view());
  }
  std::vector<rt::ref::OwnedTensor> outputs;
  DLC_RETURN_IF_ERROR(graph::evaluateReference(op, inputs, outputs));
  for (auto [result, output] : llvm::zip_equal(op->getResults(), outputs))
    set(result, toTensor(std::move(output)));
  return rt::Status::ok();
}

rt::Status Interpreter::compute(Operation *op) {
  if (auto constant = dyn_cast<graph::ConstantOp>(op)) {
    Tensor tensor;
    DLC_RETURN_IF_ERROR(constantOf(constant, tensor));
    set(constant.getY(), std::move(tensor));
    return rt::Status::ok();
  }
  if (isa<graph::NoneOp>(op)) {
    set(op->getResult(0), Tensor());
    return rt::Status::ok();
  }
  if (auto fusion = dyn_cast<graph::FusionOp>(op)) {
    Block &body = fusion.getBody().front();
    for (Operation &inner : body.without_terminator())
      DLC_RETURN_IF_ERROR(compute(&inner));
    for (auto [result, value] :
         llvm::zip_equal(op->getResults(), body.getTerminator()->getOperands()))
      set(result, *get(value));
    for (Operation &inner : body)
      for (Value value : inner.getResults())
        forget(value);
    return rt::Status::ok();
  }
  return graph::isComputed(op)
             ? computeKernel(op)
             : makeError(op, rt::StatusCode::Unsupported, "no Graph operation");
}

/// The operation of `body` that `value` is used by last, also within a fusion;
/// null without a use.
static Operation *lastUserOf(Value value, Block &body) {
  Operation *last = nullptr;
  for (Operation *user : value.getUsers()) {
    Operation *top = body.findAncestorOpInBlock(*user);
    if (!last || last->isBeforeInBlock(top))
      last = top;
  }
  return last;
}

rt::Status dlc::numerics::interpret(Block &body, ArrayRef<Tensor> arguments,
                                    std::vector<Tensor> &results) {
  results.clear();
  Interpreter interpreter;
  llvm::DenseMap<Operation *, SmallVector<Value>> dying;
  auto expect = [&](Value value) {
    if (Operation *last = lastUserOf(value, body))
      dying[last].push_back(value);
    else
      interpreter.forget(value);
  };
  for (auto [argument, tensor] : llvm::zip(body.getArguments(), arguments)) {
    interpreter.set(argument, tensor);
    expect(argument);
  }
  for (Operation &op : body.without_terminator()) {
    DLC_RETURN_IF_ERROR(interpreter.compute(&op));
    for (Value result : op.getResults())
      expect(result);
    for (Value value : dying.lookup(&op))
      interpreter.forget(value);
  }
  for (Value value : body.getTerminator()->getOperands()) {
    const Tensor *tensor = interpreter.get(value);
    if (!tensor) {
      results.clear();
      return rt::makeError(rt::StatusCode::InvalidArgument,
                           "a result has no value");
    }
    results.push_back(*tensor);
  }
  return rt::Status::ok();
}
