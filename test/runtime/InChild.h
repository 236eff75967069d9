// SPDX-License-Identifier: Apache-2.0
//
// Runs a function in a process of its own.

#ifndef DLC_TEST_RUNTIME_INCHILD_H
#define DLC_TEST_RUNTIME_INCHILD_H

#include <sys/wait.h>
#include <unistd.h>

namespace dlc::rt::test {

/// What `child` returns in the child of a fork(); 255 when that crashes or has
/// not ended after ten seconds.
template <typename Function> int inChild(Function child) {
  pid_t process = fork();
  if (process == 0) {
    alarm(10);
    _exit(child());
  }
  int status = 0;
  waitpid(process, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

} // namespace dlc::rt::test

#endif // DLC_TEST_RUNTIME_INCHILD_H
