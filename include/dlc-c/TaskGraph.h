/* SPDX-License-Identifier: Apache-2.0
 *
 * Static schedules from C: tasks whose order is known before they run, recorded
 * once and run many times with one counter a task, no queue and no allocation.
 *
 *   DlcTaskEdge edges[] = {{0, 1}, {0, 2}};
 *   DlcTaskGraph graph;
 *   DlcTaskRunner runner;
 *   dlcTaskGraphCreate(NULL, 3, edges, 2, &graph);
 *   dlcTaskRunnerCreate(graph, pool, &runner);
 *   dlcTaskRunnerRun(runner, function, data);
 *
 * To an engine a run is one operation: push a function that calls
 * dlcTaskRunnerRun.
 *
 * In the child of a fork a graph is what it was, and a runner runs on the
 * thread that calls it; one that another thread of the parent was running
 * refuses there for ever: the child creates its own.
 *
 * Errors of every function: DLC_INVALID_ARGUMENT (a null handle or place).
 */

#ifndef DLC_C_TASKGRAPH_H
#define DLC_C_TASKGRAPH_H

#include "dlc-c/Runtime.h"

typedef struct DlcTaskGraphImpl *DlcTaskGraph;
typedef struct DlcTaskRunnerImpl *DlcTaskRunner;

/* Task `after` starts when `before` is done. Will not grow. */
typedef struct DlcTaskEdge {
  uint32_t before, after;
} DlcTaskEdge;

/* Does task `task`; an error that it returns is the run's. `lane` tells the
 * threads of one run apart: below dlcTaskRunnerLanes. */
typedef DlcStatus (*DlcTaskFunction)(void *data, uint32_t task, uint32_t lane);

/* Records a graph, which is immutable and for any number of threads. `names` of
 * the tasks, for messages, are copied; null: none. Equal edges count once.
 * Errors: DLC_INVALID_ARGUMENT (an edge to a task that does not exist, a cycle,
 * which the message shows, too many tasks or edges), DLC_OUT_OF_MEMORY.
 * Since 0.1 (unstable) */
DLC_API DlcStatus dlcTaskGraphCreate(const char *const *names,
                                     uint32_t taskCount,
                                     const DlcTaskEdge *edges, size_t edgeCount,
                                     DlcTaskGraph *graph);
/* Ends the handle; null is ignored. Since 0.1 (unstable) */
DLC_API void dlcTaskGraphDestroy(DlcTaskGraph graph);

/* What one run at a time of a graph needs, which may be destroyed before.
 * `pool`, which outlives the runner, shares the tasks with the caller of a run;
 * null: the caller alone. Since 0.1 (unstable) */
DLC_API DlcStatus dlcTaskRunnerCreate(DlcTaskGraph graph, DlcPool pool,
                                      DlcTaskRunner *runner);
/* Null is ignored. Since 0.1 (unstable) */
DLC_API void dlcTaskRunnerDestroy(DlcTaskRunner runner);

/* How many threads may take part in a run; 0 for null.
 * Since 0.1 (unstable) */
DLC_API uint32_t dlcTaskRunnerLanes(DlcTaskRunner runner);

/* Calls `function` once for each task, each after all that come before it, and
 * returns when all are done. After a failure each thread starts at most one
 * task more; the first failure is returned with the task's name, or its
 * number, and the graph can be run again. One run at a time:
 * DLC_INVALID_ARGUMENT for a second, from a task too. Since 0.1 (unstable) */
DLC_API DlcStatus dlcTaskRunnerRun(DlcTaskRunner runner,
                                   DlcTaskFunction function, void *data);

#endif /* DLC_C_TASKGRAPH_H */
