// SPDX-License-Identifier: Apache-2.0
//
// Operations that ONNX cannot express, each with its reason.

#include "../Operators.h"

using namespace dlc::exporter;

static void refuseRandom(NodeContext &n) {
  n.unsupported("random numbers, which are others in each run of ONNX");
}
static void refuseGradient(NodeContext &n) {
  n.unsupported("gradients, which ONNX has no operators for");
}
static void refuseFactors(NodeContext &n) {
  n.unsupported("factors of matrices, which ONNX has no operators for");
}

static constexpr Row rows[] = {
    {"cholesky", "", 17, refuseFactors},
    {"conv_weight_gradient", "", 17, refuseGradient},
    {"eigh", "", 17, refuseFactors},
    {"inverse", "", 17, refuseFactors},
    {"log_det", "", 17, refuseFactors},
    {"lq", "", 17, refuseFactors},
    {"max_pool_gradient", "", 17, refuseGradient},
    {"random_gamma", "", 17, refuseRandom},
    {"random_poisson", "", 17, refuseRandom},
    {"random_uniform", "", 17, refuseRandom},
    {"triangular_solve", "", 17, refuseFactors},
};

llvm::ArrayRef<Row> dlc::exporter::refusedRows() { return rows; }
