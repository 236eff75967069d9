// SPDX-License-Identifier: Apache-2.0
//
// Calls that entries make of operations, against the Reference kernels of
// these.

#ifndef DLC_TEST_RUNTIME_KERNEL_CPU_OPERATIONTESTING_H
#define DLC_TEST_RUNTIME_KERNEL_CPU_OPERATIONTESTING_H

#include "KernelTesting.h"

#include "dlc/runtime/Kernel/Library.h"
#include "dlc/runtime/Kernel/Reference/Evaluate.h"

namespace dlc::rt::cpu::testing {

/// An operation of one result, as an entry computes it.
struct OperationCall : Call {
  OperationCall(const char *operation, std::vector<Shape> shapes,
                Attributes given, uint64_t seed)
      : operation(operation), given(std::move(given)), random(seed) {
    for (Shape &shape : shapes)
      addInput(f32(std::move(shape)), random);
  }

  /// The Reference kernel's results, which also say the shape. Empty where the
  /// operation refuses the attributes.
  std::vector<double> reference() {
    std::vector<TensorView> views;
    for (size_t i = 0; i < inputs.size(); ++i)
      views.push_back({inputs[i].type, inputs[i].shape, values[i].data()});
    std::vector<ref::OwnedTensor> results;
    if (!ref::evaluate(*ref::lookup(operation), views, given, 1, results)
             .isOk())
      return {};
    output = f32(Shape(results[0].shape().begin(), results[0].shape().end()));
    const auto *y = static_cast<const float *>(results[0].data());
    return {y, y + *elementCount(output.shape)};
  }

  /// The call that `entry` makes. False where it makes none.
  bool readCall(const LibraryEntry &entry, std::string &why) {
    attributes = {};
    workspace = {};
    if (!entry.fromOperation(operation, {inputs, {&output, 1}, given},
                             constants, attributes))
      return false;
    if (!entry.isSupported(view(), why))
      return false;
    const size_t bytes =
        entry.workspaceBytes ? entry.workspaceBytes(view()) : 0;
    if (bytes)
      workspace = {DLC_I8, {static_cast<int64_t>(bytes)}};
    return true;
  }

  /// Every instruction set computes `expected`, and what is not finite where it
  /// is.
  void expectResults(PrepareFunction prepare,
                     const std::vector<double> &expected, double bound) {
    for (Isa isa : runnableIsas()) {
      SCOPED_TRACE(std::string(nameOf(isa)));
      const std::vector<float> found = runCall(*this, prepare, isa);
      ASSERT_EQ(found.size(), expected.size());
      for (size_t i = 0; i < found.size(); ++i) {
        const auto wanted = static_cast<float>(expected[i]);
        if (std::isnan(wanted))
          EXPECT_TRUE(std::isnan(found[i])) << i;
        else if (std::isinf(wanted))
          EXPECT_EQ(found[i], wanted) << i;
        else
          EXPECT_NEAR(found[i], wanted,
                      bound * std::max(1.0, std::fabs(expected[i])))
              << i;
      }
    }
  }

  /// That of the operation, where it takes these attributes.
  void expectSame(const char *entryName, PrepareFunction prepare,
                  double bound) {
    const std::vector<double> expected = reference();
    if (expected.empty())
      return;
    const LibraryEntry *entry = lookupLibraryEntry(entryName);
    ASSERT_NE(entry, nullptr);
    std::string why;
    ASSERT_TRUE(readCall(*entry, why)) << why;
    expectResults(prepare, expected, bound);
  }

  const char *operation;
  Attributes given;
  Random random;
  std::vector<const void *> constants; ///< As LibraryEntry::fromOperation.
};

} // namespace dlc::rt::cpu::testing

#endif // DLC_TEST_RUNTIME_KERNEL_CPU_OPERATIONTESTING_H
