// SPDX-License-Identifier: Apache-2.0
//
// The fake driver as tests reach it: through the library that the runtime opens
// too.

#ifndef DLC_TEST_RUNTIME_DEVICE_CUDA_FAKECUDA_H
#define DLC_TEST_RUNTIME_DEVICE_CUDA_FAKECUDA_H

#include <cstddef>
#include <cstdlib>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <string>

namespace dlc::rt::test {

class FakeCuda {
public:
  /// `machine`: see FakeDriver.h.
  explicit FakeCuda(const std::string &machine = "")
      : library(dlopen("libcuda.so.1", RTLD_NOW)) {
    EXPECT_TRUE(library && find<void()>("fakeCudaReset"))
        << "expected the fake driver in LD_LIBRARY_PATH";
    setenv("DLC_FAKE_CUDA", machine.c_str(), 1);
    find<void()>("fakeCudaReset")();
  }
  ~FakeCuda() { unsetenv("DLC_FAKE_CUDA"); }

  void fail(const char *symbol, int nth, int code, bool isSticky = false) {
    find<void(const char *, int, int, bool)>("fakeCudaFail")(symbol, nth, code,
                                                             isSticky);
  }
  void reset() { find<void()>("fakeCudaReset")(); }
  std::string log() { return find<const char *()>("fakeCudaLog")(); }
  size_t bytes() { return find<size_t()>("fakeCudaBytes")(); }
  size_t handles() { return find<size_t()>("fakeCudaHandles")(); }
  /// How often a line of the log begins like this.
  size_t count(const std::string &call) {
    size_t found = 0;
    std::string text = "\n" + log();
    for (size_t at = text.find("\n" + call); at != text.npos;
         at = text.find("\n" + call, at + 1))
      ++found;
    return found;
  }

private:
  template <typename F> F *find(const char *name) {
    return reinterpret_cast<F *>(dlsym(library, name));
  }
  void *library;
};

} // namespace dlc::rt::test

#endif // DLC_TEST_RUNTIME_DEVICE_CUDA_FAKECUDA_H
