// SPDX-License-Identifier: Apache-2.0

#include "dlc/Codegen/CPU/Target.h"
#include "dlc/Codegen/NVPTX/Target.h"
#include "dlc/Compiler/Compiler.h"

#include "llvm/ADT/SmallVector.h"

using namespace dlc;

TargetParts dlc::splitTarget(llvm::StringRef target) {
  TargetParts parts;
  std::string host;
  llvm::SmallVector<llvm::StringRef> names;
  target.split(names, ',');
  for (llvm::StringRef name : names) {
    std::string &part = name.starts_with("cuda") ? parts.gpu : host;
    part += (part.empty() ? "" : ",") + name.str();
  }
  if (!host.empty() || parts.gpu.empty())
    parts.host = host;
  return parts;
}

std::string dlc::checkTarget(llvm::StringRef target) {
  TargetParts parts = splitTarget(target);
  std::string why;
  if (!codegen::TargetOptions::getList(parts.host, why))
    return why;
  if (!parts.gpu.empty() && !codegen::GPUTarget::get(parts.gpu))
    return "expected one GPU of " + codegen::GPUTarget::names() + ", got '" +
           parts.gpu + "'";
  return "";
}
