// SPDX-License-Identifier: Apache-2.0
//
// Operators of ai.onnx that Graph cannot express, each with its reason. A
// family that learns to leaves this file.

#include "../Operators.h"

using namespace dlc::onnx;

static constexpr Operator rows[] = {
    {"Bernoulli", 15, 0, kAny, kAny, nullptr, "random elements"},
    {"ConcatFromSequence", 11, 0, kAny, kAny, nullptr, "sequences"},
    {"ImageDecoder", 20, 0, kAny, kAny, nullptr, "image files"},
    {"Multinomial", 7, 0, kAny, kAny, nullptr, "random elements"},
    {"Optional", 15, 0, kAny, kAny, nullptr, "optional values"},
    {"OptionalGetElement", 15, 0, kAny, kAny, nullptr, "optional values"},
    {"OptionalHasElement", 15, 0, kAny, kAny, nullptr, "optional values"},
    {"RandomNormal", 1, 0, kAny, kAny, nullptr, "random elements"},
    {"RandomNormalLike", 1, 0, kAny, kAny, nullptr, "random elements"},
    {"RandomUniform", 1, 0, kAny, kAny, nullptr, "random elements"},
    {"RandomUniformLike", 1, 0, kAny, kAny, nullptr, "random elements"},
    {"RegexFullMatch", 20, 0, kAny, kAny, nullptr, "strings"},
    {"SequenceAt", 11, 0, kAny, kAny, nullptr, "sequences"},
    {"SequenceConstruct", 11, 0, kAny, kAny, nullptr, "sequences"},
    {"SequenceEmpty", 11, 0, kAny, kAny, nullptr, "sequences"},
    {"SequenceErase", 11, 0, kAny, kAny, nullptr, "sequences"},
    {"SequenceInsert", 11, 0, kAny, kAny, nullptr, "sequences"},
    {"SequenceLength", 11, 0, kAny, kAny, nullptr, "sequences"},
    {"SequenceMap", 17, 0, kAny, kAny, nullptr, "sequences"},
    {"SplitToSequence", 11, 0, kAny, kAny, nullptr, "sequences"},
    {"StringConcat", 20, 0, kAny, kAny, nullptr, "strings"},
    {"StringNormalizer", 10, 0, kAny, kAny, nullptr, "strings"},
    {"StringSplit", 20, 0, kAny, kAny, nullptr, "strings"},
};

llvm::ArrayRef<Operator> dlc::onnx::refusedOperators() { return rows; }
