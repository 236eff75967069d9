// SPDX-License-Identifier: Apache-2.0
//
// Fourier transforms, windows, and features of text.

#include "Simple.h"

#include <numbers>

using namespace dlc::onnx;
using mlir::Type;
using mlir::Value;

/// The axis was an attribute in version 17, and another one by default.
static void importDFT(NodeContext &n) {
  Value length = n.has(1) ? asScalar(n, n.in(1)) : n.b.none();
  Value axis;
  if (n.opset < 20)
    axis = n.b.intScalar(n.getInt("axis", 1));
  else
    axis = n.has(2) ? asScalar(n, n.asI64(n.in(2))) : n.b.intScalar(-2);
  n.set(0, n.b.op("dft", {n.in(0), length, axis},
                  {{"inverse", n.getBool("inverse", false)},
                   {"onesided", n.getBool("onesided", false)}}));
}

static void importSTFT(NodeContext &n) {
  auto scalarOrNone = [&](size_t index) {
    return n.has(index) ? asScalar(n, n.in(index)) : n.b.none();
  };
  // The standard has real and imaginary parts in a last dimension, which ONNX
  // Runtime lets signals of real numbers be without.
  Value signal = n.in(0);
  if (n.rank(signal) == 2)
    signal = n.b.unsqueeze(signal, {2});
  n.set(0, n.b.op("stft",
                  {signal, asScalar(n, n.in(1)), n.b.orNone(n.in(2)),
                   scalarOrNone(3)},
                  {{"onesided", n.getBool("onesided", true)}}));
}

/// a0 - a1 cos(t) + a2 cos(2t), where t runs over one period in `size` steps,
/// or in one less when the window is symmetric. Computed in f64, so that the
/// result is right to the last bits of f32.
static void importWindow(NodeContext &n, double a0, double a1, double a2) {
  Type element = n.hasAttr("output_datatype")
                     ? n.getElementType("output_datatype")
                     : n.b.f32();
  bool periodic = n.getBool("periodic", true);
  if (!element)
    return;
  Type f64 = n.b.elementType(DLC_F64);
  auto real = [&](double value) { return n.b.scalar(f64, value); };
  Value size = n.b.cast(asScalar(n, n.in(0)), f64);
  Value steps = periodic ? size : n.b.sub(size, real(1));
  Value position = n.b.op("range", {real(0), size, real(1)});
  Value angle = n.b.div(n.b.mul(position, real(2 * std::numbers::pi)), steps);
  Value first = n.b.mul(n.b.op("cos", {angle}), real(a1));
  Value window = n.b.sub(real(a0), first);
  if (a2 != 0) {
    Value twice = n.b.op("cos", {n.b.mul(angle, real(2))});
    window = n.b.add(window, n.b.mul(twice, real(a2)));
  }
  n.set(0, n.b.cast(window, element));
}

static void importHann(NodeContext &n) { importWindow(n, 0.5, 0.5, 0); }
static void importHamming(NodeContext &n) {
  importWindow(n, 25.0 / 46.0, 21.0 / 46.0, 0);
}
static void importBlackman(NodeContext &n) { importWindow(n, 0.42, 0.5, 0.08); }

static void importMelWeightMatrix(NodeContext &n) {
  Type element = n.hasAttr("output_datatype")
                     ? n.getElementType("output_datatype")
                     : n.b.f32();
  llvm::SmallVector<Value> operands;
  for (size_t i = 0; i < 5; ++i)
    operands.push_back(asScalar(n, n.in(i)));
  if (element)
    n.set(0, n.b.op("mel_weight_matrix", operands, {{"dtype", element}}));
}

static void importTfIdfVectorizer(NodeContext &n) {
  if (n.hasAttr("pool_strings"))
    return n.unsupported("strings");
  Ints counts = n.getInts("ngram_counts"), indexes = n.getInts("ngram_indexes"),
       pool = n.getInts("pool_int64s");
  llvm::SmallVector<float> weights = n.getFloats("weights");
  llvm::StringRef mode = n.getChoice("mode", "", {"TF", "IDF", "TFIDF"});
  n.set(0, n.b.op("tfidf_vectorizer", {n.in(0)},
                  {{"max_gram_length", n.getInt("max_gram_length", 0)},
                   {"max_skip_count", n.getInt("max_skip_count", 0)},
                   {"min_gram_length", n.getInt("min_gram_length", 0)},
                   {"mode", mode},
                   {"ngram_counts", llvm::ArrayRef<int64_t>(counts)},
                   {"ngram_indexes", llvm::ArrayRef<int64_t>(indexes)},
                   {"pool_int64s", llvm::ArrayRef<int64_t>(pool)},
                   {"weights", llvm::ArrayRef<float>(weights)}}));
}

static constexpr Operator rows[] = {
    {"BlackmanWindow", 17, 1, 1, 1, importBlackman},
    {"DFT", 17, 1, 2, 1, importDFT},
    {"DFT", 20, 1, 3, 1, importDFT},
    {"HammingWindow", 17, 1, 1, 1, importHamming},
    {"HannWindow", 17, 1, 1, 1, importHann},
    {"MelWeightMatrix", 17, 5, 5, 1, importMelWeightMatrix},
    {"STFT", 17, 2, 4, 1, importSTFT},
    {"TfIdfVectorizer", 9, 1, 1, 1, importTfIdfVectorizer},
};

llvm::ArrayRef<Operator> dlc::onnx::signalOperators() { return rows; }
