// SPDX-License-Identifier: Apache-2.0

#include "Steps.h"

#include "../Check.h"

#include "dlc/abi/Tensor.h"

#include <algorithm>
#include <array>

using namespace dlc::rt;
using namespace dlc::rt::cpu;

/// Of any step.
static constexpr size_t kMostOperands = 6;

namespace {

/// A kernel on operands of its own, and what comes after it.
class StepKernel final : public PreparedKernel {
public:
  StepKernel(std::shared_ptr<const PreparedKernel> kernel,
             std::vector<StepOperand> operands,
             std::unique_ptr<PreparedKernel> after)
      : kernel(std::move(kernel)), operands(std::move(operands)),
        after(std::move(after)) {}

  Status check(void *const *arguments) const override {
    return kernel->check(ownOf(arguments).data());
  }
  int64_t tiles() const override { return kernel->tiles(); }
  int64_t ranges(unsigned threads) const override {
    return kernel->ranges(threads);
  }
  void run(void *const *arguments, int64_t begin, int64_t end) const override {
    kernel->run(ownOf(arguments).data(), begin, end);
  }
  const PreparedKernel *next() const override { return after.get(); }

private:
  std::array<void *, kMostOperands> ownOf(void *const *arguments) const {
    std::array<void *, kMostOperands> own = {};
    for (size_t i = 0; i < operands.size(); ++i)
      own[i] = static_cast<std::byte *>(arguments[operands[i].argument]) +
               operands[i].offset;
    return own;
  }

  const std::shared_ptr<const PreparedKernel> kernel;
  const std::vector<StepOperand> operands;
  const std::unique_ptr<PreparedKernel> after;
};

/// From its first operand to its second.
class CopyKernel final : public PreparedKernel {
public:
  explicit CopyKernel(ref::ElementCopy copy) : copy(std::move(copy)) {}

  int64_t tiles() const override { return copy.parts(); }
  void run(void *const *arguments, int64_t begin, int64_t end) const override {
    copy.run(arguments[1], arguments[0], begin, end);
  }

private:
  const ref::ElementCopy copy;
};

} // namespace

StepOperand Steps::reserve(size_t bytes) {
  const StepOperand place = {workspace.argument, usedBytes};
  usedBytes += (bytes + DLC_ALIGNMENT - 1) / DLC_ALIGNMENT * DLC_ALIGNMENT;
  return place;
}

void Steps::addChain(const Chain &chain,
                     const std::vector<StepOperand> &operands) {
  for (const PreparedKernel *each = chain.get(); each; each = each->next())
    steps.push_back({{chain, each}, operands});
}

void Steps::add(std::unique_ptr<PreparedKernel> kernel,
                std::vector<StepOperand> operands) {
  addChain(std::move(kernel), operands);
}

static bool areSame(const std::vector<TensorType> &some,
                    const std::vector<TensorType> &others) {
  return std::ranges::equal(
      some, others, [](const TensorType &one, const TensorType &other) {
        return one.type == other.type && one.shape == other.shape;
      });
}

static bool isSame(const StepCall &one, const StepCall &other) {
  return areSame(one.inputs, other.inputs) &&
         areSame(one.outputs, other.outputs) &&
         std::ranges::equal(one.attributes, other.attributes,
                            [](const Attribute &a, const Attribute &b) {
                              return a.name == b.name && a.value == b.value;
                            });
}

Status Steps::addCall(const StepCall &call, std::vector<StepOperand> operands) {
  if (!prepare)
    return Status::ok();
  auto known = std::ranges::find_if(
      ready, [&](const auto &each) { return isSame(each.first, call); });
  if (known == ready.end()) {
    std::unique_ptr<PreparedKernel> kernel;
    DLC_RETURN_IF_ERROR(prepare(call.view(), isa, kernel));
    known = ready.emplace(ready.end(), call, std::move(kernel));
  }
  addChain(known->second, operands);
  return Status::ok();
}

void Steps::addCopy(ref::ElementCopy copy, StepOperand source,
                    StepOperand target) {
  add(std::make_unique<CopyKernel>(std::move(copy)), {source, target});
}

std::unique_ptr<PreparedKernel> Steps::finish() && {
  std::unique_ptr<PreparedKernel> after;
  for (size_t i = steps.size(); i-- > 0;)
    after = std::make_unique<StepKernel>(std::move(steps[i].kernel),
                                         std::move(steps[i].operands),
                                         std::move(after));
  return after;
}

size_t cpu::workspaceOfSteps(const KernelCall &call, AddSteps addSteps) {
  Steps steps(call);
  return addSteps(call, steps).isOk() ? steps.workspaceBytes() : 0;
}

Status cpu::prepareSteps(const KernelCall &call, AddSteps addSteps,
                         Steps::Prepare prepare, Isa isa,
                         std::unique_ptr<PreparedKernel> &prepared) {
  Steps steps(call, prepare, isa);
  DLC_RETURN_IF_ERROR(addSteps(call, steps));
  DLC_RETURN_IF_ERROR(checkWorkspace(call, steps.workspaceBytes()));
  prepared = std::move(steps).finish();
  return Status::ok();
}
