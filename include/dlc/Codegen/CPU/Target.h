// SPDX-License-Identifier: Apache-2.0
//
// The machines that Codegen for CPUs can aim at: a triple and a set of
// features. A CPU name is never guessed; virtual machines often name their
// CPU wrongly.

#ifndef DLC_CODEGEN_CPU_TARGET_H
#define DLC_CODEGEN_CPU_TARGET_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace dlc::codegen {

/// A machine as code is generated for it. A plain value.
struct TargetOptions {
  std::string name; ///< As it was asked for; empty for features of one's own.
  std::string triple = "x86_64-unknown-linux-gnu";
  /// Features beyond the baseline x86-64, as LLVM names them, sorted, without
  /// '+'. The machine that runs the code needs all of them.
  std::vector<std::string> features;

  bool has(llvm::StringRef feature) const;
  /// Bytes of the widest vector register: 16, 32 or 64.
  int64_t vectorBytes() const;
  /// "+avx,+avx2,...": the form that LLVM takes.
  std::string featureString() const;

  /// The machine this process runs on, by CPUID.
  static TargetOptions host();
  /// The target of one of names(); nullopt for another name.
  static std::optional<TargetOptions> get(llvm::StringRef name);
  /// All of them, for messages: "host, x86-64, ...".
  static llvm::StringRef names();
  /// The targets of a list, "x86-64-v2,x86-64-v3": a machine that can run
  /// several runs the first of them best. Names of equal features give one.
  /// Nullopt for a list with no, an unknown or a repeated name; then `why` says
  /// what was expected.
  static std::optional<std::vector<TargetOptions>>
  getList(llvm::StringRef list, std::string &why);
};

} // namespace dlc::codegen

#endif // DLC_CODEGEN_CPU_TARGET_H
