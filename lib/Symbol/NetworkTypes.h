// SPDX-License-Identifier: Apache-2.0
//
// Shapes and types of all entries of a network: what inference reports and what
// lowering builds with.

#ifndef DLC_LIB_SYMBOL_NETWORKTYPES_H
#define DLC_LIB_SYMBOL_NETWORKTYPES_H

#include "Propagation.h"

#include "dlc/Symbol/Inference.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Types.h"

#include <unordered_set>

namespace dlc::symbol {

class NetworkTypes {
public:
  /// `graph` outlives this.
  explicit NetworkTypes(const IndexedGraph &graph)
      : graph(graph), shapes(graph), types(graph) {}

  using Report = ShapePropagation::Report;

  /// The first failure; `report`, if any, gets those of all nodes, after which
  /// the other functions say more.
  rt::Status inferTypes(const KnownTypes &known, Report report = nullptr);
  /// After inferTypes(): variables of which nothing is known have float32, as
  /// what is built has, which no node may contradict.
  rt::Status completeTypes(Report report = nullptr);
  /// After inferTypes(). Builds operations in `context`, which has the dialects
  /// loaded, and throws them away.
  rt::Status inferShapes(const KnownShapes &known, mlir::MLIRContext &context,
                         Report report = nullptr);

  const Shape &shape(IndexedGraph::EntryId entry) const {
    return shapes.fact(entry);
  }
  /// DLC_INVALID_TYPE where nothing is known.
  rt::DataType type(IndexedGraph::EntryId entry) const {
    return types.fact(entry);
  }
  /// The names of some variables, for messages.
  std::string listVariables() const;
  /// Nodes of bodies that inference has written down, and gave up behind.
  int64_t bodyNodes() const { return loweredBodyNodes; }
  void addBodyNodes(int64_t count) { loweredBodyNodes += count; }
  /// Of a network: written down as often as they run, bodies must end
  /// somewhere.
  static constexpr int64_t kMaxBodyNodes = 1 << 14;
  /// Inference writes them down again when it knows more.
  static constexpr int64_t kMaxInferredBodyNodes = 4 * kMaxBodyNodes;

  /// The type of tensors that operations are built with: float32 where nothing
  /// is known, unranked where the number of dimensions is not.
  mlir::Type tensorType(mlir::MLIRContext &context,
                        IndexedGraph::EntryId entry) const;

private:
  class Forward;
  template <typename Known> rt::Status checkNames(const Known &known) const;
  rt::Status relateTypes(Report report);

  const IndexedGraph &graph;
  std::unordered_set<std::string_view> variables; ///< Names; of inferTypes().
  int64_t loweredBodyNodes = 0;
  ShapePropagation shapes;
  TypePropagation types;
};

} // namespace dlc::symbol

#endif // DLC_LIB_SYMBOL_NETWORKTYPES_H
