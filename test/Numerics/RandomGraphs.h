// SPDX-License-Identifier: Apache-2.0
//
// What tests on random graphs share: which seeds, and what is right.
//
// ctest takes the first seeds only. All 1,000, which take minutes:
//   DLC_TEST_GRAPHS=1000 build/bin/dlc_random_graph_test
// One of them:
//   DLC_TEST_SEED=17 build/bin/dlc_random_graph_test

#ifndef DLC_TEST_NUMERICS_RANDOMGRAPHS_H
#define DLC_TEST_NUMERICS_RANDOMGRAPHS_H

#include "Generator.h"
#include "Shrink.h"

#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

namespace dlc::test {

/// A context with all dialects, and what it was told.
struct Workplace {
  Workplace();

  std::string messages;
  mlir::MLIRContext context;
};

/// The first `count` seeds, or those that the environment asks for.
std::vector<uint64_t> seeds(uint64_t count);

std::string textOf(mlir::ModuleOp module);

/// The values that a function is run on.
std::vector<numerics::Tensor> inputsOf(mlir::func::FuncOp function);
/// What the definitions give for them.
std::vector<numerics::Tensor>
resultsOf(mlir::func::FuncOp function,
          const std::vector<numerics::Tensor> &inputs);

/// Whether the program gives what the definitions give, up to `slack` times
/// what is allowed otherwise; what is wrong with it.
std::string compareProgram(mlir::ModuleOp module, double slack = 1);

/// Fails the test where a check of a graph does, with the smallest graph of
/// which it does.
void expectGood(RandomGraph &graph, uint64_t seed, const std::string &what,
                const Check &check);

struct RandomGraphs : testing::Test {
  static void SetUpTestSuite();
};

} // namespace dlc::test

#endif // DLC_TEST_NUMERICS_RANDOMGRAPHS_H
