// SPDX-License-Identifier: Apache-2.0
//
// Symbols as JSON: the *-symbol.json files of MXNet 0.8 to 1.9, and graphs of
// NNVM's compiler, whose operators become those of MXNet.
//
//   {"nodes": [{"op": "null", "name": "data", "inputs": []},
//              {"op": "relu", "name": "relu0", "attrs": {...},
//               "inputs": [[0, 0, 0]], "control_deps": [...]}],
//    "arg_nodes": [0], "node_row_ptr": [0, 1, 2], "heads": [[1, 0, 0]],
//    "attrs": {"mxnet_version": ["int", 10901]}}
//
// Format: NNVM src/pass/saveload_json.cc, MXNet src/nnvm/legacy_json_util.cc.
// Older files are brought up to date as MXNet does: attributes in `param` and
// `attr`, reserved attributes without underscores, auxiliary states that are
// not written down (before 0.9), initial values of variables (before 0.9.4),
// argmax over everything (before 0.9.5). The bytes may come from anyone.

#ifndef DLC_SYMBOL_JSON_H
#define DLC_SYMBOL_JSON_H

#include "dlc/Symbol/Symbol.h"

namespace dlc::symbol {

/// The text of a file, which MXNet 1.9.1 reads where it knows the operators:
/// not what Symbol::gradient() makes. The same network gives the same bytes.
/// InvalidArgument for an empty symbol and for operators that are not applied;
/// the symbol's own failure.
rt::Result<std::string> toJson(const Symbol &symbol);

/// A node of a file that cannot be read, and why.
struct NodeFault {
  std::string node, op; ///< Its name and its operator's; "" for the file's.
  rt::Status status;
  std::string alternative; ///< What is supported and comes nearest, or "".
};

/// All that is wrong with a file, at most 1,000 nodes.
struct FileFaults {
  std::vector<NodeFault> nodes;
  /// What the outputs are made of and depends on none of these, so that more may
  /// be found in it: operators that nothing sound reads are its outputs. Empty
  /// without faults.
  Symbol rest;
  std::vector<std::string> variables; ///< Of the file.
};

/// Reads a file of any version. DataLoss for malformed text, InvalidArgument
/// for what contradicts itself, Unsupported for operators that are not in the
/// registry and subgraphs of others than control flow. Errors name the node.
/// Where `faults` is given, reading goes on behind operators that are at fault,
/// and the result is the first of these.
rt::Result<Symbol> fromJson(std::string_view text,
                            FileFaults *faults = nullptr);

} // namespace dlc::symbol

#endif // DLC_SYMBOL_JSON_H
