// SPDX-License-Identifier: Apache-2.0

#include "../../../runtime/Engine/Sync.h"

#include <cerrno>
#include <cstddef>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <thread>

using namespace dlc::rt;

namespace {

/// From here on the system call fails in this thread, as in a sandbox.
void forbidMembarrier() {
  sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  sock_fprog program = {std::size(steps), steps};
  ASSERT_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  ASSERT_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

} // namespace

TEST(AsymmetricFence, FencesOnBothSidesWithoutTheSystemCall) {
  std::thread([] {
    forbidMembarrier();
    EXPECT_FALSE(AsymmetricFence().isAsymmetric());
  }).join();
}

TEST(AsymmetricFence, OutlivesTheSystemCall) {
  AsymmetricFence fence;
  if (!fence.isAsymmetric())
    GTEST_SKIP() << "no membarrier";
  fence.rare();
  EXPECT_TRUE(fence.isAsymmetric());
  std::thread([&] {
    forbidMembarrier();
    fence.rare();
    EXPECT_FALSE(fence.isAsymmetric());
  }).join();
  fence.rare(); // Where it would still work, but the other sides fence now.
  EXPECT_FALSE(fence.isAsymmetric());
}
