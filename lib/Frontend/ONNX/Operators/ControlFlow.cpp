// SPDX-License-Identifier: Apache-2.0
//
// Control flow whose course is known at import. Branches on data, Loop and
// Scan need regions in Graph first.

#include "Simple.h"

using namespace dlc::onnx;
using mlir::Value;

static void importIf(NodeContext &n) {
  std::optional<Ints> condition = GraphBuilder::intsOf(n.in(0));
  std::string_view taken = n.getGraph("then_branch");
  std::string_view other = n.getGraph("else_branch");
  if (!condition)
    return n.unsupported("If with a condition that is not constant");
  if (condition->size() != 1)
    return n.fail("expected one condition, got " +
                  llvm::Twine(condition->size()));
  llvm::SmallVector<Value> results =
      n.importGraph(condition->front() ? taken : other);
  n.setAll(results);
}

static void importLoop(NodeContext &n) { n.unsupported("Loop"); }
static void importScan(NodeContext &n) { n.unsupported("Scan"); }

static constexpr Operator rows[] = {
    {"If", 1, 1, 1, kAny, importIf},
    {"Loop", 1, 0, kAny, kAny, importLoop},
    {"Scan", 8, 0, kAny, kAny, importScan},
};

llvm::ArrayRef<Operator> dlc::onnx::controlFlowOperators() { return rows; }
