// SPDX-License-Identifier: Apache-2.0
//
// The GPUs that code can be generated for.

#ifndef DLC_CODEGEN_NVPTX_TARGET_H
#define DLC_CODEGEN_NVPTX_TARGET_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace dlc::codegen {

/// A GPU as code is generated for it. A plain value.
struct GPUTarget {
  std::string name;    ///< "sm_90".
  std::string feature; ///< The oldest version of PTX that has it: "+ptx78".

  /// The compute capability: 90 for sm_90 and for sm_90a.
  int capability() const;
  /// sm_90a: what only GPUs of that very capability run.
  bool isExact() const;
  /// wgmma.mma_async (PTX ISA 9.7.15): only on GPUs of capability 9.0.
  bool hasWarpgroupProducts() const;

  /// The target "cuda:sm_90"; nullopt for another name.
  static std::optional<GPUTarget> get(llvm::StringRef name);
  /// Those of a list with commas, each once, the newest first, sm_90a in front
  /// of sm_90: a GPU runs the first that it can. Otherwise `why` says what was
  /// expected.
  static std::optional<std::vector<GPUTarget>> getList(llvm::StringRef list,
                                                       std::string &why);
  /// All of them, for messages: "cuda:sm_80, ...".
  static std::string names();
};

} // namespace dlc::codegen

#endif // DLC_CODEGEN_NVPTX_TARGET_H
