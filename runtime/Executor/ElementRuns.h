// SPDX-License-Identifier: Apache-2.0
//
// Generated kernels of any shape, over tensors whose shapes are found while
// running.

#ifndef DLC_RUNTIME_EXECUTOR_ELEMENTRUNS_H
#define DLC_RUNTIME_EXECUTOR_ELEMENTRUNS_H

#include "dlc/abi/Kernel.h"
#include "dlc/runtime/Kernel/Library.h"

#include <array>

namespace dlc::rt {

/// An elementwise kernel on tensors that broadcast as NumPy's, walked in runs:
/// as many elements as lie behind each other in the result and in each operand,
/// or are one and the same element of it, or the same few again and again, as
/// where channels in blocks have a factor each. Of such an operand the kernel
/// gets copies of these, and of what fills no tile a copy of a whole one, so
/// that its code knows vectors alone. Short runs, as channels that are last,
/// are copied behind each other until they fill tiles.
class ElementRuns final : public PreparedKernel {
public:
  /// `function` computes tiles of `tile` elements. The result has the shape to
  /// which the inputs broadcast, and no memory of any of them. There are
  /// elements, and inputs as the ABI says.
  ElementRuns(DlcKernelFunction function, int64_t tile,
              std::span<const TensorView> inputs, const TensorView &result);

  int64_t tiles() const override { return pieces; }
  void run(void *const *arguments, int64_t begin, int64_t end) const override;

private:
  static constexpr int64_t mostTile = DLC_KERNEL_ANY_SHAPE_TILE;
  /// Inputs, then the result.
  static constexpr size_t mostOperands = DLC_KERNEL_ANY_SHAPE_INPUTS + 1;
  using Offsets = std::array<int64_t, mostOperands>; ///< In bytes.
  using Pointers = std::array<std::byte *, mostOperands>;

  /// Loops over runs, the innermost first.
  struct Loop {
    int64_t extent;
    Offsets strides;
  };
  /// A tile of each operand.
  struct Copies {
    alignas(64) std::byte bytes[mostOperands][mostTile * sizeof(int64_t)];
  };

  void addLoop(int64_t extent, const Offsets &strides);
  void joinRepeated();
  void computeShort(void *const *arguments, int64_t first, int64_t last,
                    Copies &copies) const;
  template <typename T>
  void gather(size_t operand, const std::byte *source, int64_t first,
              int64_t count, std::byte *target) const;
  void compute(const Pointers &at, int64_t count, Copies &copies) const;
  void computeAlike(Pointers at, int64_t count, Copies &copies) const;
  void computeRest(const Pointers &at, int64_t count, Copies &copies) const;

  const DlcKernelFunction function;
  const int64_t tile;
  const size_t operandCount;
  std::array<uint8_t, mostOperands> sizes; ///< Of elements, in bytes.
  /// How many elements repeat along a run; 0 of operands that have one for
  /// each.
  std::array<int64_t, mostOperands> periods{};
  bool hasAlike = false, areShort = false;
  std::vector<Loop> loops; ///< The first is the run itself.
  int64_t runs = 1;
  /// What a thread takes at once: of long runs a part, of short ones several.
  int64_t pieceRuns = 1, pieceLength = 0, piecesOfRun = 1, pieces = 0;
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_EXECUTOR_ELEMENTRUNS_H
