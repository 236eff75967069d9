// RUN: %python %dlc_source_dir/test/lint/op_examples.py %dlc_binary_dir/include/dlc/dialects/Graph/GraphDialect.md | dlc-opt --verify-roundtrip | FileCheck %s
// Every Graph operation has an example in its description; each one parses,
// passes the verifier (that is, its types are what the shape rule says), and
// survives printing.

// CHECK: func.func @abs
// CHECK: func.func @conv(
// CHECK: graph.conv
// CHECK: func.func @unsqueeze
