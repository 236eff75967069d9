// SPDX-License-Identifier: Apache-2.0

#include "dlc/Codegen/CPU/Target.h"
#include "dlc/Codegen/NVPTX/Target.h"
#include "dlc/Compiler/Compiler.h"

#include "llvm/ADT/SmallVector.h"

using namespace dlc;

TargetParts dlc::splitTarget(llvm::StringRef target) {
  TargetParts parts;
  std::string host;
  bool hasHost = false;
  llvm::SmallVector<llvm::StringRef> names;
  target.split(names, ',');
  for (llvm::StringRef name : names) {
    if (name.starts_with("cuda")) {
      parts.gpu += (parts.gpu.empty() ? "" : ",") + name.str();
      continue;
    }
    // An empty name stays in the list, so that it can be refused.
    host += (hasHost ? "," : "") + name.str();
    hasHost = true;
  }
  if (hasHost)
    parts.host = host;
  return parts;
}

std::string dlc::checkTarget(llvm::StringRef target) {
  TargetParts parts = splitTarget(target);
  std::string why;
  llvm::SmallVector<llvm::StringRef> names;
  llvm::StringRef(parts.host).split(names, ',');
  for (llvm::StringRef name : names)
    if (!codegen::TargetOptions::get(name))
      return ("expected target " + codegen::TargetOptions::names() +
              ", or a GPU like cuda:sm_90, got '" + name + "'")
          .str();
  if (!codegen::TargetOptions::getList(parts.host, why))
    return why;
  if (!parts.gpu.empty() && !codegen::GPUTarget::getList(parts.gpu, why))
    return why;
  return "";
}
