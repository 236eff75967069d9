// SPDX-License-Identifier: Apache-2.0
//
// The definition of every Graph operation in code: its shape rule and a slow,
// obvious computation. The compiler asks the shape rule for result types and
// runs the computation to fold constants and to check passes; the runtime runs
// it for operations that have no faster kernel, on several threads where it can
// be in parts.

#ifndef DLC_RUNTIME_KERNEL_REFERENCE_REFERENCE_H
#define DLC_RUNTIME_KERNEL_REFERENCE_REFERENCE_H

#include "dlc/runtime/Base/Attributes.h"
#include "dlc/runtime/Base/Status.h"
#include "dlc/runtime/Base/Tensor.h"

#include <algorithm>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace dlc::rt::ref {

/// What is known of an operand before the run. An absent optional operand has
/// type DLC_INVALID_TYPE.
struct Operand {
  TensorType type;
  /// The value, row-major, when it is known; else null.
  const void *data = nullptr;

  bool isPresent() const { return type.type != DLC_INVALID_TYPE; }
};

/// The question a shape rule answers.
class InferContext {
public:
  InferContext(std::span<const Operand> operands, const Attributes &attributes,
               size_t resultCount)
      : operands(operands), attributes(attributes), resultCount(resultCount) {}

  size_t operandCount() const { return operands.size(); }
  /// Operand `index`, or an absent operand past the end.
  const Operand &operand(size_t index) const;
  bool isPresent(size_t index) const { return operand(index).isPresent(); }
  /// The value of an integer operand (i32 or i64; a scalar or a vector) as
  /// int64_t, or nullopt while it is not known.
  std::optional<std::vector<int64_t>> intsOf(size_t index) const;

  const Attributes &attrs() const { return attributes; }
  /// Number of results of the operation (for variadic results).
  size_t results() const { return resultCount; }

private:
  std::span<const Operand> operands;
  const Attributes &attributes;
  size_t resultCount;
};

/// The operands and results of one computation.
class ComputeContext {
public:
  /// Gives the memory for result `index` of the given shape; null when there
  /// is none.
  using Allocator =
      std::function<void *(size_t index, std::span<const int64_t> shape)>;

  /// Calls part(begin, end) for ranges that make up [0, count), on several
  /// threads where that pays; all of it takes one thread `nanoseconds`.
  using Sharer =
      std::function<void(int64_t count, uint64_t nanoseconds,
                         const std::function<void(int64_t, int64_t)> &part)>;

  ComputeContext(std::span<const TensorView> inputs,
                 std::span<TensorView> outputs, const Attributes &attributes,
                 const Allocator *allocator = nullptr,
                 const Sharer *sharer = nullptr)
      : inputViews(inputs), outputViews(outputs), attributes(attributes),
        allocator(allocator), sharer(sharer) {}

  size_t inputCount() const { return inputViews.size(); }
  size_t outputCount() const { return outputViews.size(); }
  /// Input `index`; a view of DLC_INVALID_TYPE when absent.
  const TensorView &input(size_t index) const;
  bool isPresent(size_t index) const {
    return input(index).type != DLC_INVALID_TYPE;
  }
  /// Output `index`, allocated with the shape that the shape rule gave. Only
  /// operations whose result shape depends on data call allocate() first.
  TensorView &output(size_t index) { return outputViews[index]; }
  /// Sets the shape of a data-dependent result and gets memory for it. The
  /// view borrows `shape`; the allocator keeps a copy for whoever reads the
  /// view after the computation.
  Status allocate(size_t index, std::span<const int64_t> shape);
  /// The value of an integer input as int64_t; empty when absent.
  std::vector<int64_t> intsOf(size_t index) const;

  const Attributes &attrs() const { return attributes; }

  /// Calls part(begin, end) for ranges that make up [0, count), maybe several
  /// at once: what one computes must not depend on the others. `nanoseconds`:
  /// what each of the `count` takes, about; a thread is given ten microseconds
  /// or more at a time.
  template <typename Part>
  void inParts(int64_t count, double nanoseconds, Part &&part) const {
    const double all = static_cast<double>(count) * nanoseconds;
    const int64_t pieces =
        std::min(count, static_cast<int64_t>(std::min(all / 1e4, 1e6)));
    if (!sharer || pieces <= 1)
      return part(int64_t(0), count);
    const int64_t size = count / pieces, larger = count % pieces;
    auto start = [=](int64_t piece) {
      return piece * size + std::min(piece, larger);
    };
    auto some = [&](int64_t begin, int64_t end) {
      part(start(begin), start(end));
    };
    // Of one pointer: nothing is allocated for it.
    (*sharer)(pieces, static_cast<uint64_t>(std::min(all, 1e18)),
              [&some](int64_t begin, int64_t end) { some(begin, end); });
  }

private:
  std::span<const TensorView> inputViews;
  std::span<TensorView> outputViews;
  const Attributes &attributes;
  const Allocator *allocator;
  const Sharer *sharer;
};

using InferFunction = Status (*)(const InferContext &context,
                                 std::vector<TensorType> &results);
using ComputeFunction = Status (*)(ComputeContext &context);

/// One operation. Shape rules accept anything (unknown dimensions, unknown
/// ranks, wrong types) and either answer or return a Status; computations may
/// rely on what the shape rule checked, with every shape known.
struct Operation {
  std::string_view name; ///< Mnemonic without dialect: "conv", "add".
  InferFunction infer;
  ComputeFunction compute;
  /// Shapes of results depend on data: the computation allocates them.
  bool allocatesResults = false;
  /// The result is operand 0 in another shape, byte for byte.
  bool keepsBytes = false;

  /// Computes the results. Where none of them has an element nothing is
  /// computed: the other dimensions of an empty tensor are bounded by no
  /// memory, so that a loop over them may never end.
  Status run(ComputeContext &context) const;
};

/// The operation of that name, or null.
const Operation *lookup(std::string_view name);

/// All operations, sorted by name.
std::span<const Operation> operations();

/// The attributes that an operation has, separated by spaces, sorted; all but
/// values of constants. Empty for a name that is no operation's.
std::string_view attributeNames(std::string_view operation);
/// The index in AttributeValue of attributes of that name, whatever the
/// operation; -1 for a name that is none's.
int attributeKind(std::string_view name);

/// NumPy broadcasting of `other` into `shape`; element types are ignored.
/// Errors: InvalidArgument.
Status broadcastInto(TensorType &shape, const TensorType &other);

/// `operation` has all the attributes, each of its kind. Shape rules and
/// computations pass over others, and over those of another kind. Errors:
/// InvalidArgument.
Status checkAttributes(const Operation &operation,
                       const Attributes &attributes);

} // namespace dlc::rt::ref

#endif // DLC_RUNTIME_KERNEL_REFERENCE_REFERENCE_H
