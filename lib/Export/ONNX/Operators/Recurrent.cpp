// SPDX-License-Identifier: Apache-2.0
//
// Recurrent layers.

#include "../Operators.h"

using namespace dlc::exporter;

static void writeRecurrent(NodeContext &n, llvm::StringRef type) {
  Attributes attributes = n.attributes({"activations", "clip"});
  if (float clip = n.getFloat("clip", 0); clip != 0)
    attributes.push_back({"clip", clip});
  std::string list = n.getString("activations", "");
  llvm::SmallVector<llvm::StringRef> parts;
  llvm::StringRef(list).split(parts, ',', -1, /*KeepEmpty=*/false);
  if (!parts.empty()) {
    std::vector<std::string> names;
    for (llvm::StringRef part : parts)
      names.push_back(part.trim().str());
    attributes.push_back({"activations", names});
  }
  n.result(type, n.inputs(), attributes);
}

static void writeRnn(NodeContext &n) { writeRecurrent(n, "RNN"); }
static void writeGru(NodeContext &n) { writeRecurrent(n, "GRU"); }
static void writeLstm(NodeContext &n) { writeRecurrent(n, "LSTM"); }

static constexpr Row rows[] = {
    {"gru", "GRU", 17, writeGru},
    {"lstm", "LSTM", 17, writeLstm},
    {"rnn", "RNN", 17, writeRnn},
};

llvm::ArrayRef<Row> dlc::exporter::recurrentRows() { return rows; }
