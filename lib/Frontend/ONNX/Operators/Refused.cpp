// SPDX-License-Identifier: Apache-2.0
//
// Operators of ai.onnx that Graph cannot express, each with its reason. A
// family that learns to leaves this file.

#include "Simple.h"

using namespace dlc::onnx;

static void refuseRandom(NodeContext &n) { n.unsupported("random elements"); }
static void refuseSequence(NodeContext &n) { n.unsupported("sequences"); }
static void refuseOptional(NodeContext &n) { n.unsupported("optional values"); }
static void refuseString(NodeContext &n) { n.unsupported("strings"); }
static void refuseImage(NodeContext &n) { n.unsupported("image files"); }

static constexpr Operator rows[] = {
    {"Bernoulli", 15, 0, kAny, kAny, refuseRandom},
    {"ConcatFromSequence", 11, 0, kAny, kAny, refuseSequence},
    {"ImageDecoder", 20, 0, kAny, kAny, refuseImage},
    {"Multinomial", 7, 0, kAny, kAny, refuseRandom},
    {"Optional", 15, 0, kAny, kAny, refuseOptional},
    {"OptionalGetElement", 15, 0, kAny, kAny, refuseOptional},
    {"OptionalHasElement", 15, 0, kAny, kAny, refuseOptional},
    {"RandomNormal", 1, 0, kAny, kAny, refuseRandom},
    {"RandomNormalLike", 1, 0, kAny, kAny, refuseRandom},
    {"RandomUniform", 1, 0, kAny, kAny, refuseRandom},
    {"RandomUniformLike", 1, 0, kAny, kAny, refuseRandom},
    {"RegexFullMatch", 20, 0, kAny, kAny, refuseString},
    {"SequenceAt", 11, 0, kAny, kAny, refuseSequence},
    {"SequenceConstruct", 11, 0, kAny, kAny, refuseSequence},
    {"SequenceEmpty", 11, 0, kAny, kAny, refuseSequence},
    {"SequenceErase", 11, 0, kAny, kAny, refuseSequence},
    {"SequenceInsert", 11, 0, kAny, kAny, refuseSequence},
    {"SequenceLength", 11, 0, kAny, kAny, refuseSequence},
    {"SequenceMap", 17, 0, kAny, kAny, refuseSequence},
    {"SplitToSequence", 11, 0, kAny, kAny, refuseSequence},
    {"StringConcat", 20, 0, kAny, kAny, refuseString},
    {"StringNormalizer", 10, 0, kAny, kAny, refuseString},
    {"StringSplit", 20, 0, kAny, kAny, refuseString},
};

llvm::ArrayRef<Operator> dlc::onnx::refusedOperators() { return rows; }
