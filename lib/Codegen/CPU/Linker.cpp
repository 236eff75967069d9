// SPDX-License-Identifier: Apache-2.0
//
// The linker runs inside the process. It takes its inputs from a memfd, as one
// archive, since a process has few files and a program many kernels; its output
// goes through a temporary file, because "-o -" would mean to redirect this
// process's standard output and a memfd cannot be replaced by name.

#include "ObjectEmitter.h"

#include "lld/Common/Driver.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

LLD_HAS_DRIVER(elf)

#if LLVM_ADDRESS_SANITIZER_BUILD
// LLVM's allocators poison what they have not given out, in code that comes
// from headers; lld, which was built without the sanitizer, shares the half of
// them that the program linked first and never undoes it.
extern "C" __attribute__((visibility("default"))) const char *
__asan_default_options() {
  return "allow_user_poisoning=0";
}
#endif

using namespace mlir;
using namespace dlc::codegen;

/// Writes `bytes` into a new memfd; -1 on failure.
static int createMemoryFile(StringRef bytes) {
  int file = memfd_create("dlc-object", MFD_CLOEXEC);
  while (file >= 0 && !bytes.empty()) {
    ssize_t written = write(file, bytes.data(), bytes.size());
    if (written <= 0) {
      close(file);
      return -1;
    }
    bytes = bytes.drop_front(written);
  }
  return file;
}

FailureOr<std::string>
dlc::codegen::linkSharedObject(Location loc, ArrayRef<ObjectBuffer> objects) {
  std::vector<llvm::NewArchiveMember> members;
  for (const ObjectBuffer &object : objects)
    members.emplace_back(
        llvm::MemoryBufferRef({object.data(), object.size()}, "kernel.o"));
  auto archive = llvm::writeArchiveToBuffer(
      members, llvm::SymtabWritingMode::NoSymtab, llvm::object::Archive::K_GNU,
      /*Deterministic=*/true, /*Thin=*/false);
  if (!archive)
    return emitError(loc, "cannot make an archive of objects: ")
           << llvm::toString(archive.takeError());
  int file = createMemoryFile((*archive)->getBuffer());
  SmallString<128> output;
  llvm::scope_exit cleanup([&] {
    if (file >= 0)
      close(file);
    if (!output.empty())
      (void)llvm::sys::fs::remove(output);
  });
  std::vector<std::string> arguments = {
      "ld.lld",      "-shared", "--build-id=none", "--hash-style=gnu",
      "--threads=1", "-z",      "noexecstack"};
  if (file < 0)
    return emitError(loc, "cannot make a memory file for objects");
  arguments.push_back("--whole-archive");
  arguments.push_back("/proc/self/fd/" + std::to_string(file));
  if (llvm::sys::fs::createTemporaryFile("dlc", "so", output))
    return emitError(loc, "cannot make a temporary file for the linker");
  arguments.push_back("-o");
  arguments.push_back(output.str().str());

  // lld keeps its state in globals.
  static std::mutex linkerMutex;
  std::lock_guard<std::mutex> lock(linkerMutex);
  std::vector<const char *> pointers;
  for (const std::string &argument : arguments)
    pointers.push_back(argument.c_str());
  std::string errors;
  llvm::raw_string_ostream errorStream(errors);
  lld::Result result = lld::lldMain(pointers, llvm::nulls(), errorStream,
                                    {{lld::Gnu, &lld::elf::link}});
  if (result.retCode)
    return emitError(loc, "linking kernels failed: ") << errors;
  auto buffer = llvm::MemoryBuffer::getFile(output, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false,
                                            /*IsVolatile=*/true);
  if (!buffer)
    return emitError(loc, "cannot read the linked object: ")
           << buffer.getError().message();
  return (*buffer)->getBuffer().str();
}
