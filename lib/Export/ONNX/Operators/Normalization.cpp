// SPDX-License-Identifier: Apache-2.0
//
// Normalisations.

#include "../Operators.h"

using namespace dlc::exporter;

static constexpr Row rows[] = {
    {"batch_norm", "BatchNormalization"},
    {"group_norm", "GroupNormalization", 21},
    {"hardmax", "Hardmax"},
    {"layer_norm", "LayerNormalization"},
    {"log_softmax", "LogSoftmax"},
    {"lrn", "LRN"},
    {"rms_norm", "RMSNormalization", 23},
    {"softmax", "Softmax"},
};

llvm::ArrayRef<Row> dlc::exporter::normalizationRows() { return rows; }
