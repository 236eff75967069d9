// RUN: %python %S/op_examples.py %dlc_binary_dir/include/dlc/dialects/Graph/GraphDialect.md > %t.graph
// RUN: dlc-opt %t.graph --split-input-file --verify-roundtrip | FileCheck %s --check-prefix=GRAPH
// RUN: %python %S/op_examples.py %dlc_binary_dir/include/dlc/dialects/Kernel/KernelDialect.md > %t.kernel
// RUN: dlc-opt %t.kernel --split-input-file --verify-roundtrip | FileCheck %s --check-prefix=KERNEL
// RUN: %python %S/op_examples.py %dlc_binary_dir/include/dlc/dialects/Plan/PlanDialect.md > %t.plan
// RUN: dlc-opt %t.plan --split-input-file --verify-roundtrip | FileCheck %s --check-prefix=PLAN
// RUN: echo '### `graph.bare` (graph::BareOp)' > %t.md
// RUN: not %python %S/op_examples.py %t.md 2>&1 | FileCheck %s --check-prefix=BARE
// Every operation has an example in its description; each one parses, passes
// the verifier (that is, its types are what the shape rule says), and survives
// printing.

// GRAPH: graph.abs
// GRAPH: graph.conv %{{.*}} -> tensor<8x16x15x15xf32>
// GRAPH: graph.yield
// KERNEL: kernel.call @add_relu
// KERNEL: kernel.library @gather "reference.gather"
// PLAN: plan.arena @cpu0
// PLAN: plan.launch @add
// PLAN: plan.view

// BARE: operations without an example: graph.bare
