/* SPDX-License-Identifier: Apache-2.0
 *
 * The C API of static schedules from C, against the shared library.
 */

#include "dlc-c/TaskGraph.h"
#include "Check.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>

enum { side = 8, tasks = side * side };

typedef struct {
  atomic_int clock;
  int order[tasks];
  uint32_t lanes;
  uint32_t failing;
} Run;

static DlcStatus note(void *data, uint32_t task, uint32_t lane) {
  Run *run = data;
  CHECK(task < tasks && lane < run->lanes);
  if (task == run->failing)
    return dlcStatusCreate(DLC_DATA_LOSS, "no such weight");
  run->order[task] = ++run->clock;
  return NULL;
}

/* A wavefront: each task after its neighbours above and to the left. */
static DlcTaskGraph makeGrid(void) {
  DlcTaskEdge edges[2 * tasks];
  size_t count = 0;
  static char text[tasks][8];
  const char *names[tasks];
  for (uint32_t i = 0; i != tasks; ++i) {
    snprintf(text[i], sizeof(text[i]), "t%u", i);
    names[i] = text[i];
    if (i % side)
      edges[count++] = (DlcTaskEdge){i - 1, i};
    if (i >= side)
      edges[count++] = (DlcTaskEdge){i - side, i};
  }
  DlcTaskGraph graph = NULL;
  CHECK_OK(dlcTaskGraphCreate(names, tasks, edges, count, &graph));
  return graph;
}

static void testRuns(uint32_t threads) {
  DlcPool pool = NULL;
  DlcPoolOptions options = {sizeof(options), threads, 50, 0};
  if (threads)
    CHECK_OK(dlcPoolCreate(&options, &pool));
  DlcTaskGraph graph = makeGrid();
  DlcTaskRunner runner = NULL;
  CHECK_OK(dlcTaskRunnerCreate(graph, pool, &runner));
  dlcTaskGraphDestroy(graph); /* The runner goes on. */
  CHECK(dlcTaskRunnerLanes(runner) == (threads ? threads : 1));
  for (int round = 0; round != 50; ++round) {
    Run run = {.lanes = dlcTaskRunnerLanes(runner), .failing = UINT32_MAX};
    CHECK_OK(dlcTaskRunnerRun(runner, note, &run));
    CHECK(run.clock == tasks);
    for (uint32_t i = 0; i != tasks; ++i) {
      CHECK(i % side == 0 || run.order[i - 1] < run.order[i]);
      CHECK(i < side || run.order[i - side] < run.order[i]);
    }
    Run bad = {.lanes = dlcTaskRunnerLanes(runner), .failing = 9};
    CHECK_ERROR(dlcTaskRunnerRun(runner, note, &bad), DLC_DATA_LOSS,
                "t9: no such weight");
    CHECK(bad.order[10] == 0 && bad.order[17] == 0);
  }
  dlcTaskRunnerDestroy(runner);
  dlcPoolDestroy(pool);
}

static DlcStatus runOnce(void *data, DlcContext context) {
  (void)context;
  void **arguments = data;
  return dlcTaskRunnerRun(arguments[0], note, arguments[1]);
}

/* To an engine a run is one operation. */
static void testEngine(void) {
  DlcTaskGraph graph = makeGrid();
  DlcTaskRunner runner = NULL;
  DlcEngine engine = NULL;
  DlcVariable x;
  DlcContext cpu = {DLC_DEVICE_CPU, 0};
  CHECK_OK(dlcTaskRunnerCreate(graph, NULL, &runner));
  CHECK_OK(dlcEngineCreate(NULL, &engine));
  CHECK_OK(dlcEngineNewVariable(engine, &x));
  Run run = {.lanes = 1, .failing = 12};
  void *arguments[] = {runner, &run};
  CHECK_OK(dlcEnginePushSync(engine, runOnce, arguments, NULL, cpu, NULL, 0, &x,
                             1, NULL));
  CHECK_ERROR(dlcEngineWaitForVariable(engine, x, DLC_USE_READ), DLC_DATA_LOSS,
              "t12: no such weight");
  dlcEngineDestroy(engine);
  dlcTaskRunnerDestroy(runner);
  dlcTaskGraphDestroy(graph);
}

/* A task that runs its own runner is told so, and the run goes on. */
typedef struct {
  DlcTaskRunner runner;
  atomic_int calls;
} Recursion;

static DlcStatus runAgain(void *data, uint32_t task, uint32_t lane) {
  Recursion *run = data;
  (void)lane;
  ++run->calls;
  if (task == 0)
    CHECK_ERROR(dlcTaskRunnerRun(run->runner, runAgain, run),
                DLC_INVALID_ARGUMENT, "one run of a task graph at a time");
  return NULL;
}

static void testRecursion(uint32_t threads) {
  DlcPool pool = NULL;
  DlcPoolOptions options = {sizeof(options), threads, 50, 0};
  if (threads)
    CHECK_OK(dlcPoolCreate(&options, &pool));
  DlcTaskEdge edges[] = {{0, 1}, {0, 2}};
  DlcTaskGraph graph = NULL;
  Recursion run = {0};
  CHECK_OK(dlcTaskGraphCreate(NULL, 3, edges, 2, &graph));
  CHECK_OK(dlcTaskRunnerCreate(graph, pool, &run.runner));
  for (int round = 1; round != 4; ++round) {
    CHECK_OK(dlcTaskRunnerRun(run.runner, runAgain, &run));
    CHECK(run.calls == 3 * round);
  }
  dlcTaskRunnerDestroy(run.runner);
  dlcTaskGraphDestroy(graph);
  dlcPoolDestroy(pool);
}

/* More than the process may have is a status. */
static void testMemory(void) {
  struct rlimit before, little;
  CHECK(getrlimit(RLIMIT_AS, &before) == 0);
  little = before;
  little.rlim_cur = (rlim_t)1 << 30;
  DlcTaskGraph graph = NULL;
  CHECK(setrlimit(RLIMIT_AS, &little) == 0);
  CHECK_ERROR(dlcTaskGraphCreate(NULL, INT32_MAX, NULL, 0, &graph),
              DLC_OUT_OF_MEMORY, "no memory for a graph of 2147483647 tasks");
  CHECK(setrlimit(RLIMIT_AS, &before) == 0);
  CHECK(graph == NULL);
}

static void testBadCalls(void) {
  const DlcStatusCode bad = DLC_INVALID_ARGUMENT;
  DlcTaskGraph graph = NULL;
  DlcTaskRunner runner = NULL;
  DlcTaskEdge ring[] = {{0, 1}, {1, 0}}, far = {0, 7};
  const char *names[] = {"a", NULL};
  CHECK_ERROR(dlcTaskGraphCreate(NULL, 2, ring, 2, &graph), bad,
              "cycle task 0 -> task 1 -> task 0");
  CHECK_ERROR(dlcTaskGraphCreate(NULL, 2, &far, 1, &graph), bad, "7");
  CHECK_ERROR(dlcTaskGraphCreate(NULL, 2, NULL, 1, &graph), bad, "edges");
  CHECK_ERROR(dlcTaskGraphCreate(names, 2, ring, 1, &graph), bad,
              "the name of a task");
  CHECK_ERROR(dlcTaskGraphCreate(NULL, UINT32_MAX, ring, 1, &graph), bad,
              "expected less than 2^31 tasks, got 4294967295");
  CHECK_ERROR(dlcTaskGraphCreate(NULL, 2, ring, 1, NULL), bad, "a place");
  CHECK(graph == NULL);
  CHECK_ERROR(dlcTaskRunnerCreate(NULL, NULL, &runner), bad, "a graph");
  CHECK_ERROR(dlcTaskRunnerRun(NULL, note, NULL), bad, "a runner");
  CHECK(dlcTaskRunnerLanes(NULL) == 0 && runner == NULL);
  CHECK_OK(dlcTaskGraphCreate(NULL, 0, NULL, 0, &graph));
  CHECK_OK(dlcTaskRunnerCreate(graph, NULL, &runner));
  CHECK_OK(dlcTaskRunnerRun(runner, note, NULL));
  CHECK_ERROR(dlcTaskRunnerRun(runner, NULL, NULL), bad, "a function");
  CHECK_ERROR(dlcTaskRunnerCreate(graph, NULL, NULL), bad, "a place");
  dlcTaskRunnerDestroy(runner);
  dlcTaskGraphDestroy(graph);
  Run run = {.failing = 1, .lanes = 1};
  CHECK_OK(dlcTaskGraphCreate(NULL, 2, NULL, 0, &graph));
  CHECK_OK(dlcTaskRunnerCreate(graph, NULL, &runner));
  CHECK_ERROR(dlcTaskRunnerRun(runner, note, &run), DLC_DATA_LOSS,
              "task 1: no such weight");
  dlcTaskRunnerDestroy(runner);
  dlcTaskGraphDestroy(graph);
  dlcTaskRunnerDestroy(NULL);
  dlcTaskGraphDestroy(NULL);
}

int main(void) {
  testRuns(0);
  testRuns(1);
  testRuns(3);
  testEngine();
  testRecursion(0);
  testRecursion(2);
  testBadCalls();
  testMemory();
  return failures != 0;
}
