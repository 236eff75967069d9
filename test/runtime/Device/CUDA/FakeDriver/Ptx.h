// SPDX-License-Identifier: Apache-2.0
//
// PTX as LLVM writes it, parsed and carried out thread by thread: what a GPU
// would do with a kernel, slowly and with every access checked. Facts: PTX ISA
// 8.8. What it does not know is an error, never ignored.

#ifndef DLC_TEST_RUNTIME_DEVICE_CUDA_FAKEDRIVER_PTX_H
#define DLC_TEST_RUNTIME_DEVICE_CUDA_FAKEDRIVER_PTX_H

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fake {

/// Where shared and local memory begin, and that of the blocks of a cluster,
/// one step for each: no device address is that high.
inline constexpr uint64_t sharedWindow = uint64_t(1) << 50;
/// Bits from here on say which block of a cluster has it.
inline constexpr uint64_t sharedStep = uint64_t(1) << 24;
inline constexpr uint64_t localWindow = uint64_t(1) << 51;
inline constexpr uint64_t clusterWindow = uint64_t(1) << 52;
inline constexpr uint64_t clusterStep = uint64_t(1) << 32;

enum class Space : uint8_t { Generic, Global, Shared, Local, Cluster, Param };

struct Operand {
  enum Kind : uint8_t {
    None,
    Register,
    Immediate,
    Special,
    Vector
  } kind = None;
  uint32_t index = 0; ///< Register or special register.
  uint64_t value = 0; ///< Immediate, or offset of an address.
  bool isAddress = false;
  bool isSum = false;         ///< A register that wgmma of the kernel writes.
  std::vector<Operand> parts; ///< Vector.
};

struct Instruction {
  std::vector<std::string> words; ///< "ld", "global", "v4", "b32".
  std::vector<Operand> operands;
  int guard = -1; ///< Register of a predicate.
  bool guardIsNegated = false;
  uint32_t target = 0;         ///< Of a branch.
  std::vector<uint32_t> table; ///< Of brx.idx.
  std::string text;
  // Found out once: what the words say.
  int op = 0;
  char type = 0, type2 = 0; ///< 'b', 'u', 's', 'f', 'p'; the second of cvt.
  unsigned bits = 0, bits2 = 0;
  bool isPair = false; ///< Two of `type` in one register.
  Space space = Space::Generic;
};

struct Kernel {
  std::string name;
  std::vector<unsigned> parameters; ///< Bytes of each.
  std::vector<unsigned> offsets;
  unsigned parameterBytes = 0;
  uint32_t maxThreads = 1024;
  uint32_t cluster = 1; ///< Blocks that see each other's shared memory.
  uint32_t sharedBytes = 0, localBytes = 0, registers = 0;
  bool hasProducts = false; ///< wgmma.
  std::vector<Instruction> code;
};

struct Module {
  int capability = 0;      ///< Of .target sm_80.
  bool isSpecific = false; ///< .target sm_90a: for that capability alone.
  std::map<std::string, Kernel> kernels;
};

/// Throws std::string with what is wrong.
Module parse(const std::string &text);

struct Launch {
  const Kernel *kernel;
  uint32_t blocks, threads, dynamicShared;
  std::vector<uint8_t> parameters;
  /// Memory of the device at [address, address + bytes); null when there is
  /// none.
  std::function<uint8_t *(uint64_t address, unsigned bytes)> memory;
};

/// Throws std::string, like "illegal address 0x10 in ld.global.b32 ...".
void run(const Launch &launch);

} // namespace fake

#endif // DLC_TEST_RUNTIME_DEVICE_CUDA_FAKEDRIVER_PTX_H
