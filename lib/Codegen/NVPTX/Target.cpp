// SPDX-License-Identifier: Apache-2.0

#include "dlc/Codegen/NVPTX/Target.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace dlc::codegen;

/// Architectures and the versions of PTX that brought them (PTX ISA, release
/// notes).
static constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral>
    kTargets[] = {{"sm_80", "+ptx70"},  {"sm_86", "+ptx71"},
                  {"sm_89", "+ptx78"},  {"sm_90", "+ptx78"},
                  {"sm_90a", "+ptx80"}, {"sm_100", "+ptx86"},
                  {"sm_120", "+ptx87"}};

int GPUTarget::capability() const {
  int value = 0;
  llvm::StringRef digits = llvm::StringRef(name).rsplit('_').second;
  (void)digits.consumeInteger(10, value);
  return value;
}

bool GPUTarget::isExact() const { return llvm::StringRef(name).ends_with("a"); }

bool GPUTarget::hasWarpgroupProducts() const { return name == "sm_90a"; }

std::optional<GPUTarget> GPUTarget::get(llvm::StringRef name) {
  if (!name.consume_front("cuda:"))
    return std::nullopt;
  for (auto [known, feature] : kTargets)
    if (known == name)
      return GPUTarget{name.str(), feature.str()};
  return std::nullopt;
}

std::optional<std::vector<GPUTarget>> GPUTarget::getList(llvm::StringRef list,
                                                         std::string &why) {
  llvm::SmallVector<llvm::StringRef> parts;
  list.split(parts, ',');
  std::vector<GPUTarget> targets;
  for (auto [i, part] : llvm::enumerate(parts)) {
    if (llvm::is_contained(llvm::ArrayRef(parts).take_front(i), part)) {
      why = "expected each target once, got '" + part.str() + "' twice";
      return std::nullopt;
    }
    std::optional<GPUTarget> target = get(part);
    if (!target) {
      why = "expected GPUs of " + names() + ", got '" + part.str() + "'";
      return std::nullopt;
    }
    targets.push_back(std::move(*target));
  }
  llvm::sort(targets, [](const GPUTarget &a, const GPUTarget &b) {
    return std::pair(a.capability(), a.isExact()) >
           std::pair(b.capability(), b.isExact());
  });
  return targets;
}

std::string GPUTarget::names() {
  std::string text;
  for (auto [name, feature] : kTargets)
    text += (text.empty() ? "cuda:" : ", cuda:") + name.str();
  return text;
}
