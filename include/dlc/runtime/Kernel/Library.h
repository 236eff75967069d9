// SPDX-License-Identifier: Apache-2.0
//
// Kernel libraries: entries that a compiled program calls by name. An entry is
// prepared once, when the program is loaded, and may then run from several
// threads and several executions at once.

#ifndef DLC_RUNTIME_KERNEL_LIBRARY_H
#define DLC_RUNTIME_KERNEL_LIBRARY_H

#include "dlc/runtime/Base/Attributes.h"
#include "dlc/runtime/Base/Status.h"
#include "dlc/runtime/Base/Tensor.h"
#include "dlc/runtime/Device/Device.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace dlc::rt {

/// A call as the program records it: static types, borrowed.
struct KernelCall {
  std::span<const TensorType> inputs; ///< DLC_INVALID_TYPE when absent.
  std::span<const TensorType> outputs;
  const Attributes &attributes;
};

/// An entry made ready for one call. Immutable: run() allocates nothing,
/// throws nothing and may be called at the same time from several threads.
class PreparedKernel {
public:
  virtual ~PreparedKernel() = default;
  /// Whether the values that decide what is computed, lengths and indices, are
  /// ones that it can take; the first of a chain is asked before each run.
  /// Errors: InvalidArgument.
  virtual Status check(void *const *) const { return Status::ok(); }
  /// Size of the grid; tiles are independent.
  virtual int64_t tiles() const = 0;
  /// Computes tiles [begin, end). `arguments` are base addresses, inputs
  /// before outputs, null for absent operands.
  virtual void run(void *const *arguments, int64_t begin,
                   int64_t end) const = 0;
  /// As how many ranges the tiles are shared out among `threads`: at least one
  /// if there are tiles, else none. As many as these, which balances best, but
  /// where what each range begins with takes time.
  virtual int64_t ranges(unsigned) const { return tiles(); }
  /// Computes those of ranges [begin, end) of `count`.
  void runRanges(void *const *arguments, int64_t begin, int64_t end,
                 int64_t count) const {
    if (begin == end)
      return;
    const int64_t all = tiles(), each = all / count, longer = all % count;
    auto tileOf = [&](int64_t range) {
      return range * each + (range < longer ? range : longer);
    };
    run(arguments, tileOf(begin), tileOf(end));
  }
  /// What runs on the same arguments once all tiles are computed; null after
  /// the last. Owned by this one.
  virtual const PreparedKernel *next() const { return nullptr; }
};

/// The attribute that holds the shape that a packed operand had before.
inline std::string packedShapeName(size_t operand) {
  return operand == 1 ? "packed_shape"
                      : "packed_shape_" + std::to_string(operand);
}

/// The attribute that says into how many bfloat16 the floats of products may be
/// split, or 1, that they are rounded to one. Without it they are multiplied as
/// they are.
inline constexpr std::string_view kBf16Parts = "bf16_parts";

/// What one launch of a call costs, by a model and not by measurement.
struct KernelCost {
  uint64_t flops = 0; ///< A multiply-add counts as two.
  uint64_t bytes = 0; ///< Each operand once.
  /// What else takes time, in flops that take as long: operands that are
  /// rearranged, sums that are loaded and stored.
  uint64_t overhead = 0;
  /// Flops that take no time: of rounded floats two pass in that of one.
  uint64_t saved = 0;
};

/// Modelled time of one thread: 100 flops or 10 bytes in a nanosecond. It
/// decides who computes and by which algorithm, so a factor of two or three is
/// near enough.
constexpr uint64_t nanosecondsOf(const KernelCost &cost) {
  uint64_t flops = (cost.flops - cost.saved) / 100, bytes = cost.bytes / 10;
  return (flops < bytes ? bytes : flops) + cost.overhead / 100;
}

/// What the packed form of operand `operand` of a call, of so many bytes,
/// depends on beside the entry and the constant: attributes, among them those
/// of windows, since an algorithm may have several forms of one size, and the
/// rank of the first operand. Who packs shares what has one form.
std::string packedFormOf(const KernelCall &call, size_t operand, size_t bytes);

/// How constants are packed by calls that are made ready while running.
struct ConstantPacking {
  std::string_view attribute = {}; ///< Empty: they are not.
  int64_t form = 1; ///< Its value where they are; but see packingOf.
  /// Where one of them is no constant, none is packed.
  std::span<const size_t> operands = {};
};

/// Values of operands, null where one is not constant.
using ConstantOperands = std::span<const void *const>;

/// What an entry does with its sums before it writes them: operands that it
/// adds, by number, -1 for one that it does not, and then the activation that
/// the attributes `activation`, `alpha` and `beta` say.
struct SumEpilogue {
  int bias = -1;     ///< A vector, along the last dimension of the result.
  int residual = -1; ///< Of the result's type; may be the result's memory.
  /// Instead, of sums of integers: the first of the three operands behind the
  /// sums of the operation `requantize`, with which it rounds them.
  int rounding = -1;
};

/// The `activation` of those, and the attributes that hold the operands that
/// are constants of one element.
inline constexpr std::string_view kRequantize = "requantize";
inline constexpr std::string_view kRoundingOperands[] = {"multiplier", "offset",
                                                         "zero_point"};

/// One entry of a library. All members are safe to call from any thread.
struct LibraryEntry {
  std::string_view name; ///< "cpu.conv".
  /// Checks the whole call and readies it; never relies on the caller having
  /// checked anything. `prepared` is untouched on failure.
  Status (*prepare)(const KernelCall &call,
                    std::unique_ptr<PreparedKernel> &prepared);
  /// Rearranges a constant operand at compile time. Null members when the
  /// entry takes every operand as it is. The packed form depends only on the
  /// call, never on the machine.
  size_t (*packedBytes)(const KernelCall &call, size_t operand);
  void (*pack)(const KernelCall &call, size_t operand, const void *source,
               void *target);
  /// Whether the operand is packed, and by a library of a device taken, only if
  /// all its elements are finite: with others the call means something else
  /// then. Null where none is.
  bool (*packsFinite)(const KernelCall &call, size_t operand) = nullptr;
  /// The value of the attribute `constants.attribute` that says how operands of
  /// these values are packed. Null where that is `constants.form` for any.
  int64_t (*packingOf)(const KernelCall &call,
                       ConstantOperands values) = nullptr;
  /// Whether prepare() would accept the call, with the workspace it wants;
  /// otherwise `why` says what was expected and what was found. Null when
  /// prepare() is the only answer.
  bool (*isSupported)(const KernelCall &call, std::string &why) = nullptr;
  /// Values of the attribute `algorithm` besides none: other ways to compute
  /// the same, where isSupported() says so.
  std::span<const std::string_view> algorithms = {};
  /// What results may differ by from exact ones, relative to the largest value,
  /// and those of the other algorithms; 0 where nothing is said.
  float bound = 0, algorithmBound = 0;
  /// Operands, the first ones, that kBf16Parts 1 has rounded, which may be of
  /// bfloat16 where isSupported() says so; 0 where that is not known.
  size_t roundedOperands = 0;
  /// What results may differ by then, relative to the sum of the products'
  /// magnitudes; 0 where nothing is said.
  float roundedBound = 0;
  /// The same of the other algorithms, relative to the largest such sum.
  float roundedAlgorithmBound = 0;
  /// Whether only times say that rounding such a call's floats pays. Null where
  /// it always does.
  bool (*roundsByTime)(const KernelCall &call) = nullptr;
  /// Bytes of memory, of any content, that the call wants as a last output, a
  /// vector of bytes. Null when no call wants any.
  size_t (*workspaceBytes)(const KernelCall &call) = nullptr;
  /// Whether this machine may compute the call faster in parts of bfloat16,
  /// which the attribute kBf16Parts allows. Null when none does.
  bool (*paysInParts)(const KernelCall &call) = nullptr;
  /// The model of a supported call's cost. Null when there is none.
  KernelCost (*cost)(const KernelCall &call) = nullptr;
  /// Of entries that a device with queues computes; the host computes all
  /// others. Makes the call ready there. `library` is what the calls of one
  /// program on one device share of the entries of one library, null for the
  /// first: the maker's library, open. Errors: Unavailable (it is not there, or
  /// too old), Unsupported (it has no such call), OutOfMemory.
  Status (*prepareOn)(Device &device, const KernelCall &call,
                      std::shared_ptr<void> &library,
                      std::unique_ptr<DeviceCall> &prepared) = nullptr;
  /// Of such entries: whether the call is faster than what is generated.
  bool (*isFaster)(const KernelCall &call) = nullptr;
  /// Of such entries: the operand whose memory the first output may be, and of
  /// which no other operand is a part; -1 for none.
  int inPlaceOperand = -1;
  /// Graph operations that the entry computes, given their operands: where
  /// shapes are found while running, calls are made ready for those.
  std::span<const std::string_view> operations = {};
  /// Gives a call the attributes with which the entry computes one of them, of
  /// which `call` has the types and attributes, and the values of what is
  /// constant. False where it cannot. Not null where there are operations, or
  /// it computes those of another entry.
  bool (*fromOperation)(std::string_view operation, const KernelCall &call,
                        ConstantOperands constants,
                        Attributes &attributes) = nullptr;
  /// Of such calls.
  ConstantPacking constants = {};
  /// Of such calls. Nothing where the entry has no activations.
  std::optional<SumEpilogue> epilogue = std::nullopt;
  /// The entry that may compute such an operation where this one does not take
  /// the call; empty where there is none.
  std::string_view otherwise = {};
};

/// The entry of that name among all libraries of this build, or null.
const LibraryEntry *lookupLibraryEntry(std::string_view name);

/// The entry that computes a Graph operation by itself, or null.
const LibraryEntry *lookupEntryOfOperation(std::string_view operation);

/// The same for a first operand and a result of these types. Which calls it
/// takes is known once their shapes are.
const LibraryEntry *lookupEntryOfOperation(std::string_view operation,
                                           DataType operand, DataType result);

} // namespace dlc::rt

#endif // DLC_RUNTIME_KERNEL_LIBRARY_H
