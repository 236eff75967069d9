// SPDX-License-Identifier: Apache-2.0
//
// Functions of a caller in C++ that throw: the process ends where DLC calls
// them, rather than that an exception goes through the library.

#include "dlc-c/Engine.h"
#include "dlc-c/TaskGraph.h"

#include <cstdio>
#include <exception>
#include <initializer_list>
#include <sys/wait.h>
#include <unistd.h>

namespace {

struct Broken {};

DlcStatus throwFromOperation(void *, DlcContext) { throw Broken(); }
DlcStatus throwFromTask(void *, uint32_t, uint32_t) { throw Broken(); }

void runOperation() {
  DlcEngineOptions options = {};
  options.structSize = sizeof(options);
  options.kind = DLC_ENGINE_NAIVE; // Where a thread of the caller runs it.
  DlcEngine engine = nullptr;
  dlcStatusDestroy(dlcEngineCreate(&options, &engine));
  dlcStatusDestroy(dlcEnginePushSync(engine, throwFromOperation, nullptr,
                                     nullptr, {DLC_DEVICE_CPU, 0}, nullptr, 0,
                                     nullptr, 0, nullptr));
}

void runTask() {
  DlcTaskGraph graph = nullptr;
  DlcTaskRunner runner = nullptr;
  dlcStatusDestroy(dlcTaskGraphCreate(nullptr, 1, nullptr, 0, &graph));
  dlcStatusDestroy(dlcTaskRunnerCreate(graph, nullptr, &runner));
  dlcStatusDestroy(dlcTaskRunnerRun(runner, throwFromTask, nullptr));
}

/// Whether std::terminate() ends it, before anybody catches the exception.
bool endsProcess(void (*run)()) {
  constexpr int isTerminated = 42;
  pid_t child = fork();
  if (child == 0) {
    std::set_terminate([] { _exit(isTerminated); });
    try {
      run();
    } catch (const Broken &) {
      _exit(1);
    }
    _exit(2);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == isTerminated;
}

} // namespace

int main() {
  int failures = 0;
  for (auto *run : {runOperation, runTask})
    if (!endsProcess(run)) {
      std::fprintf(stderr, "an exception went through the library\n");
      ++failures;
    }
  return failures != 0;
}
