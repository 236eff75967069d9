// SPDX-License-Identifier: Apache-2.0
//
// Shapes and movement of elements.

#include "../Operators.h"

using namespace dlc::exporter;

/// Older opsets pad all axes, and none says what surrounds a tensor otherwise.
static void writePad(NodeContext &n) {
  std::string mode = n.getString("mode", "constant");
  if (mode == "wrap" && !n.needs(19, "pad in mode wrap"))
    return;
  int64_t rank = n.rankOf(0);
  std::optional<Ints> pads = n.constantInts(1), axes = n.constantInts(3);
  std::string value = mode == "constant" ? n.in(2) : "";
  Attributes attributes = {{"mode", mode}};
  if (rank < 0 || !pads || !axes || pads->size() != 2 * axes->size()) {
    if (n.needs(18, "pads of axes that are not constant"))
      n.result("Pad", {n.in(0), n.in(1), value, n.in(3)}, attributes);
    return;
  }
  Ints all(2 * rank, 0);
  for (size_t i = 0; i < axes->size(); ++i) {
    int64_t axis = (*axes)[i] < 0 ? (*axes)[i] + rank : (*axes)[i];
    all[axis] = (*pads)[i];
    all[rank + axis] = (*pads)[axes->size() + i];
  }
  Names inputs = {n.in(0), n.ints(all)};
  if (!value.empty())
    inputs.push_back(value);
  n.result("Pad", inputs, attributes);
}

static constexpr Row rows[] = {
    {"concat", "Concat"},
    {"depth_to_space", "DepthToSpace"},
    {"expand", "Expand"},
    {"eye_like", "EyeLike"},
    {"flatten", "Flatten"},
    {"pad", "Pad", 17, writePad},
    {"range", "Range"},
    {"reshape", "Reshape"},
    {"reverse_sequence", "ReverseSequence"},
    {"shape", "Shape"},
    {"size", "Size"},
    {"slice", "Slice"},
    {"space_to_depth", "SpaceToDepth"},
    {"split", "Split"},
    {"squeeze", "Squeeze"},
    {"tile", "Tile"},
    {"transpose", "Transpose"},
    {"trilu", "Trilu"},
    {"unsqueeze", "Unsqueeze"},
};

llvm::ArrayRef<Row> dlc::exporter::movementRows() { return rows; }
