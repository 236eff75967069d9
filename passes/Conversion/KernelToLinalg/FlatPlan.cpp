// SPDX-License-Identifier: Apache-2.0
//
// Elementwise kernels on tensors of one shape, taken as vectors.

#include "PlannerImpl.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::conversion;

/// The number of elements when the kernel is elementwise on tensors of one
/// shape and single elements: then their dimensions do not matter.
std::optional<int64_t> Planner::flatSize() {
  ArrayRef<int64_t> shape = shapeOf(sources[0]);
  int64_t size = ShapedType::getNumElements(shape);
  auto fits = [&](Value value) {
    return shapeOf(value) == shape ||
           ShapedType::getNumElements(shapeOf(value)) == 1;
  };
  if (!llvm::all_of(kernel.getArguments(), fits) || size <= 1)
    return std::nullopt;
  for (Operation &op : kernel.getBody().front().without_terminator())
    if (!isa<graph::ElementwiseOpInterface, graph::ConstantOp>(op) ||
        !llvm::all_of(op.getResults(), fits))
      return std::nullopt;
  for (Value source : sources)
    if (shapeOf(source) != shape)
      return std::nullopt;
  return size;
}

/// One stage for all results, over blocks of all elements.
Planner::Outcome Planner::planFlat(int64_t size) {
  int64_t block = std::min<int64_t>(size, tileElements(size));
  if (kernel.getAnyShape())
    block = static_cast<int64_t>(*kernel.getAnyShape());
  if (isForGPU) // Whole vectors, also in the last one.
    if (int64_t near = divisorNear(size, block, 2 * block); 2 * near > block)
      block = near;
  plan.flat = size;
  plan.grid = {(size + block - 1) / block};
  plan.blocks = {block};
  Domain domain;
  domain.loops = {1, {plan.grid[0], block}};
  domain.reduced = {false, false};
  // All dimensions are "0" but one: only the number of elements counts. It is
  // one that is not broadcast, so that operands are read at this place.
  ArrayRef<int64_t> shape = shapeOf(sources[0]);
  Position at(shape.size(), Index::number(domain.loops, 0));
  auto *longest = llvm::max_element(shape);
  at[longest - shape.begin()] =
      Index::loop(domain.loops, 0) * block + Index::loop(domain.loops, 1);
  auto policy = [](Value, const Position &) { return Treatment::Compute; };
  StageBuilder builder(kernel.getContext(), kernel.getLoc(), domain, policy,
                       isForGPU);
  Operation *terminator = kernel.getBody().front().getTerminator();
  for (auto [result, source] :
       llvm::zip_equal(terminator->getOperands(), sources)) {
    Value element = builder.element(source, at);
    if (!element)
      return fail(builder.getProblem().reason);
    builder.store(result, at, element);
  }
  plan.stages.push_back(builder.take());
  return Outcome::Done;
}
