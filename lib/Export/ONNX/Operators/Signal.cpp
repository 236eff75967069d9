// SPDX-License-Identifier: Apache-2.0
//
// Transforms of signals, and frequencies of n-grams.

#include "../Operators.h"

using namespace dlc::exporter;

/// The axis was an attribute before opset 20, and 1 where it was not said.
static void writeDft(NodeContext &n) {
  if (n.opset() >= 20)
    return n.result("DFT", n.inputs(), n.attributes());
  std::optional<Ints> axis = n.constantInts(2);
  if ((n.has(2) && !axis) || n.rankOf(0) < 0) {
    n.needs(20, "a Fourier transform along an axis that is not constant");
    return;
  }
  int64_t along = axis ? axis->front() : -2;
  Attributes attributes = n.attributes();
  attributes.push_back({"axis", along < 0 ? along + n.rankOf(0) : along});
  Names inputs = {n.in(0)};
  if (n.has(1))
    inputs.push_back(n.in(1));
  n.result("DFT", inputs, attributes);
}

static void writeMelWeightMatrix(NodeContext &n) {
  Attributes attributes = n.attributes();
  for (Attribute &attribute : attributes)
    if (attribute.name == "dtype")
      attribute.name = "output_datatype";
  n.result("MelWeightMatrix", n.inputs(), attributes);
}

static constexpr Row rows[] = {
    {"dft", "DFT", 17, writeDft},
    {"mel_weight_matrix", "MelWeightMatrix", 17, writeMelWeightMatrix},
    {"stft", "STFT"},
    {"tfidf_vectorizer", "TfIdfVectorizer"},
};

llvm::ArrayRef<Row> dlc::exporter::signalRows() { return rows; }
