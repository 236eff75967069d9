// SPDX-License-Identifier: Apache-2.0
//
// What the compiler knows of kernel libraries: which groups of Graph operations
// one entry computes, and with which attributes.

#ifndef DLC_KERNELLIBRARY_MATCH_H
#define DLC_KERNELLIBRARY_MATCH_H

#include "dlc/Tuning/Tuner.h"
#include "dlc/runtime/Kernel/Library.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"

#include <optional>
#include <string>
#include <vector>

namespace dlc::library {

/// One call of a library entry that computes a group.
struct Match {
  std::string entry; ///< "cpu.conv".
  /// Why this kernel was chosen, for people.
  std::string note = "library kernel for a contraction";
  mlir::NamedAttrList config; ///< The entry's attributes.
  /// The entry's operands in order; null where an optional one is absent.
  llvm::SmallVector<mlir::Value> operands;
  /// Operands, the first ones, and attributes that are there without epilogues.
  unsigned anchorOperands = 0;
  mlir::NamedAttrList anchorConfig;
  /// Operands that the entry would rather have packed when all of them are
  /// constant, and the attributes that then say so.
  llvm::SmallVector<unsigned, 2> packable;
  mlir::NamedAttrList packedConfig;
  /// In place of those where floats are rounded, if they differ.
  mlir::NamedAttrList roundedPackedConfig;
  /// What of the types of other operands the packed form depends on.
  std::string packedForm;
  /// Operand whose memory the result may take over.
  std::optional<unsigned> inPlaceOperand;
};

/// The call that computes exactly `group`, operations in order: transposes of a
/// product's operands, an anchor, and epilogues, each of the one before; or the
/// whole of an attention; or a depthwise convolution and its neighbours; the
/// group's results are those of its last operation. Nullopt when no library has
/// one; then `why` says what was in the way.
std::optional<Match> matchGroup(llvm::ArrayRef<mlir::Operation *> group,
                                std::string *why = nullptr);

/// The call of a library of a GPU's maker that computes exactly `group`, as
/// generated code may, too: a product or a convolution, with transposes in
/// front of it and epilogues behind, or a gradient of a convolution.
/// `compute`: what its floats may be rounded to, "tf32" or "bf16"; empty: they
/// are not.
std::optional<Match> matchGPUGroup(llvm::ArrayRef<mlir::Operation *> group,
                                   llvm::StringRef compute,
                                   std::string *why = nullptr);

/// The attributes `activation`, empty for none, `alpha` and `beta` of a group
/// that computes an activation of the sum of floats that it reads, each once,
/// as entries with a rt::SumEpilogue may; of a `requantize` of its first
/// argument rt::kRequantize and, of rt::kRoundingOperands, those that are
/// constants within it, the others being its further arguments. Nullopt for
/// others.
std::optional<mlir::NamedAttrList>
matchEpilogue(llvm::ArrayRef<mlir::Operation *> group);

/// Whether `op`, a `requantize`, is the only one to read its sums, of an
/// operation whose entry rounds them (rt::SumEpilogue): with shapes that stay
/// open its call does so if the rounding is a kernel by itself.
bool isRoundedByCall(mlir::Operation *op);

/// Whether the library has the call that gives `results`; otherwise `why`, if
/// given, says what is in the way.
bool isSupportedMatch(const Match &match, mlir::TypeRange results,
                      std::string *why = nullptr);

/// The operations around `anchor` that matchGroup() takes as a whole, in order;
/// only such that are free. Empty where there are none, or where they take less
/// time one by one.
llvm::SmallVector<mlir::Operation *>
findGroup(mlir::Operation *anchor,
          llvm::function_ref<bool(mlir::Operation *)> isFree);

/// Lets a call do without constants whose values say how to compute: a mask
/// that is causal is an attribute. `constants` has what is known of the
/// operands, null where it is nothing; operands that are left keep their order.
void foldConstants(Match &match, llvm::ArrayRef<mlir::ElementsAttr> constants);

/// A call of these types and attributes.
tuning::Call makeCall(const rt::LibraryEntry *entry, mlir::FunctionType type,
                      const mlir::NamedAttrList &config);

/// Which of an entry's algorithms a call takes; absent for the first.
inline constexpr llvm::StringLiteral kAlgorithm = "algorithm";

/// The parts that hold all bits of a float, and what says that one is rounded.
inline constexpr int64_t kExactParts = 3, kRounded = 1;

/// Adds to the configuration of a call of `type` whose packable operands are
/// packed the fastest algorithm (timesOf), if that is not the first, and to the
/// note what the others would take. With kRounded `parts` each rounds floats to
/// one bfloat16 (rt::kBf16Parts) if the entry can; without, where times are
/// measured, each may also split them into kExactParts.
void chooseAlgorithm(Match &match, const rt::LibraryEntry &entry,
                     mlir::FunctionType type, int64_t parts = kExactParts);

/// Nanoseconds of the fastest algorithm that chooseAlgorithm() could take, by
/// the model of an entry that has one, whatever a tuner would measure.
uint64_t modelledTimeOf(const Match &match, const rt::LibraryEntry &entry,
                        mlir::FunctionType type, int64_t parts = kExactParts);

/// Has times of calls measured in what is compiled in `context`; null: modelled
/// again. The tuner lives until then.
void setTuner(mlir::MLIRContext &context, tuning::Tuner *tuner);

/// Whether there is a tuner.
bool isTuned(mlir::MLIRContext &context);

/// Nanoseconds of calls.
struct CallTimes {
  std::vector<uint64_t> nanoseconds;
  bool isMeasured = false;    ///< All of them.
  bool isPartlyKnown = false; ///< Some are measured, others are not.
  /// Nanoseconds to decide by: what is measured differs from one time to the
  /// next, so calls that are not the fastest by the model count 3 % more.
  std::vector<uint64_t> costs;
};

/// What each of the calls takes: as the context's tuner says, or else by the
/// models of their entries, which these have. Beside calls that are measured
/// those that are not take as much longer than their model as the one of them
/// that does most: nothing is preferred for not having been measured.
CallTimes timesOf(mlir::MLIRContext &context,
                  llvm::ArrayRef<tuning::Call> calls);

/// The call of an entry with these types and attributes, but for epilogues:
/// they decide nothing and hardly take time. Attributes of a packed form make
/// the packable operands packed ones.
tuning::Call callOf(const Match &match, mlir::FunctionType type);

} // namespace dlc::library

#endif // DLC_KERNELLIBRARY_MATCH_H
