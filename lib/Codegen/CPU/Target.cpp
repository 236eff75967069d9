// SPDX-License-Identifier: Apache-2.0

#include "dlc/Codegen/CPU/Target.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

using namespace dlc::codegen;

/// The features of the psABI levels; every level holds the ones before it.
static constexpr llvm::StringLiteral kLevel2[] = {
    "cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3"};
static constexpr llvm::StringLiteral kLevel3[] = {
    "avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"};
static constexpr llvm::StringLiteral kLevel4[] = {
    "avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"};
/// Beyond the levels: what host code uses when it is there. Other features
/// are left out, so that a program for one host runs on its relatives.
static constexpr llvm::StringLiteral kExtra[] = {"avx512bf16", "avx512vnni"};

static TargetOptions
makeTarget(llvm::ArrayRef<llvm::ArrayRef<llvm::StringLiteral>> groups) {
  TargetOptions target;
  for (llvm::ArrayRef<llvm::StringLiteral> group : groups)
    for (llvm::StringRef feature : group)
      target.features.push_back(feature.str());
  llvm::sort(target.features);
  return target;
}

bool TargetOptions::has(llvm::StringRef feature) const {
  return llvm::is_contained(features, feature);
}

int64_t TargetOptions::vectorBytes() const {
  if (has("avx512f") && has("avx512bw") && has("avx512vl"))
    return 64;
  return has("avx2") ? 32 : 16;
}

std::string TargetOptions::featureString() const {
  std::string text;
  for (const std::string &feature : features) {
    if (!text.empty())
      text += ',';
    text += '+';
    text += feature;
  }
  return text;
}

TargetOptions TargetOptions::host() {
  TargetOptions all = makeTarget({kLevel2, kLevel3, kLevel4, kExtra});
  llvm::StringMap<bool> present = llvm::sys::getHostCPUFeatures();
  llvm::erase_if(all.features, [&](const std::string &feature) {
    return !present.lookup(feature);
  });
  return all;
}

std::optional<TargetOptions> TargetOptions::get(llvm::StringRef name) {
  std::optional<TargetOptions> target;
  if (name == "host")
    target = host();
  else if (name == "x86-64")
    target.emplace();
  else if (name == "x86-64-v2")
    target = makeTarget({kLevel2});
  else if (name == "x86-64-v3")
    target = makeTarget({kLevel2, kLevel3});
  else if (name == "x86-64-v4")
    target = makeTarget({kLevel2, kLevel3, kLevel4});
  if (target)
    target->name = name.str();
  return target;
}

llvm::StringRef TargetOptions::names() {
  return "host, x86-64, x86-64-v2, x86-64-v3 or x86-64-v4";
}

std::optional<std::vector<TargetOptions>>
TargetOptions::getList(llvm::StringRef list, std::string &why) {
  llvm::SmallVector<llvm::StringRef> parts;
  list.split(parts, ',');
  std::vector<TargetOptions> targets;
  for (auto [i, part] : llvm::enumerate(parts)) {
    if (llvm::is_contained(llvm::ArrayRef(parts).take_front(i), part)) {
      why = "expected each target once, got '" + part.str() + "' twice";
      return std::nullopt;
    }
    std::optional<TargetOptions> target = get(part);
    if (!target) {
      why = ("expected target " + names() + ", got '" + part + "'").str();
      return std::nullopt;
    }
    auto isSame = [&](const TargetOptions &other) {
      return other.features == target->features;
    };
    if (llvm::none_of(targets, isSame))
      targets.push_back(std::move(*target));
  }
  // Who has more features has those of the others among them, or wider vectors.
  llvm::stable_sort(targets,
                    [](const TargetOptions &a, const TargetOptions &b) {
                      return std::pair(a.vectorBytes(), a.features.size()) >
                             std::pair(b.vectorBytes(), b.features.size());
                    });
  return targets;
}
