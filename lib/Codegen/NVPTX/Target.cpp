// SPDX-License-Identifier: Apache-2.0

#include "dlc/Codegen/NVPTX/Target.h"

using namespace dlc::codegen;

/// Architectures and the versions of PTX that brought them (PTX ISA, release
/// notes).
static constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral>
    kTargets[] = {{"sm_80", "+ptx70"},  {"sm_86", "+ptx71"},
                  {"sm_89", "+ptx78"},  {"sm_90", "+ptx78"},
                  {"sm_100", "+ptx86"}, {"sm_120", "+ptx87"}};

int GPUTarget::capability() const {
  int value = 0;
  (void)llvm::StringRef(name).rsplit('_').second.getAsInteger(10, value);
  return value;
}

std::optional<GPUTarget> GPUTarget::get(llvm::StringRef name) {
  if (!name.consume_front("cuda:"))
    return std::nullopt;
  for (auto [known, feature] : kTargets)
    if (known == name)
      return GPUTarget{name.str(), feature.str()};
  return std::nullopt;
}

std::string GPUTarget::names() {
  std::string text;
  for (auto [name, feature] : kTargets)
    text += (text.empty() ? "cuda:" : ", cuda:") + name.str();
  return text;
}
