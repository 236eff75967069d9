// SPDX-License-Identifier: Apache-2.0
//
// Types, attributes and constants of Graph as the plain data of the runtime,
// and back: for shape rules, constant folding, importers and the artifact.

#ifndef DLC_DIALECTS_GRAPH_PLAIN_H
#define DLC_DIALECTS_GRAPH_PLAIN_H

#include "dlc/runtime/Base/Attributes.h"
#include "dlc/runtime/Base/Tensor.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

#include <memory>

namespace dlc::graph {

/// The plain type of an element type; DLC_INVALID_TYPE when it is none.
rt::DataType toDataType(mlir::Type elementType);
/// The element type of a plain type; null when it is invalid.
mlir::Type toElementType(mlir::MLIRContext *context, rt::DataType type);

/// A tensor type; NoneType and anything else become an absent operand.
rt::TensorType toTensorType(mlir::Type type);
/// The tensor type, unranked where the rank is unknown; an invalid type gives
/// NoneType.
mlir::Type fromTensorType(mlir::MLIRContext *context,
                          const rt::TensorType &type);

/// The attributes that the Reference kernels know: integers, booleans, floats,
/// strings, types, and arrays of i64, f32 and f64. Others, and those of other
/// dialects (with a dot in the name), are left out.
rt::Attributes toAttributes(mlir::DictionaryAttr attributes);

/// The value of a constant as row-major bytes, booleans one byte each. Borrows
/// from the attribute where that holds them in this form.
class RawElements {
public:
  /// Null data when `elements` is neither dense nor a resource that exists, or
  /// there is no memory for it. A splat is repeated, unless `keepSplat`: then
  /// data() holds one element.
  static RawElements get(mlir::ElementsAttr elements, bool keepSplat = false);

  explicit operator bool() const { return isValid; }
  llvm::ArrayRef<char> data() const { return bytes; }
  /// True when data() holds one element that stands for all.
  bool isSplat() const { return splat; }

private:
  llvm::ArrayRef<char> bytes;
  std::shared_ptr<char[]> owned;
  bool isValid = false;
  bool splat = false;
};

/// The integers of a constant of integers or bool; nullopt when it is no such
/// constant, or one of more than `limit` elements.
std::optional<llvm::SmallVector<int64_t>> getInts(mlir::Attribute elements,
                                                  size_t limit = 4096);
/// The same of the `graph.constant` that defines `value`.
std::optional<llvm::SmallVector<int64_t>> getConstantInts(mlir::Value value);
/// The value of the `graph.constant` that defines `value`, or null.
mlir::ElementsAttr getConstantElements(mlir::Value value);

/// Whether they are floats, known and finite, all of them.
bool areFiniteFloats(mlir::ElementsAttr elements);

/// Constants up to this size are `dense` attributes, which are hashed, compared
/// and printed; larger ones are resources.
inline constexpr size_t kInlineBytes = 1024;

/// A constant of a static type from row-major bytes, booleans one byte each,
/// whose number must be right. All-equal elements become a splat. Copies.
mlir::ElementsAttr makeElements(mlir::RankedTensorType type,
                                llvm::ArrayRef<char> bytes);
/// As above, but takes over large data instead of copying it: `blob` owns or
/// borrows its bytes. `name` is what the resource is called when printed, a
/// number of its own where it is empty.
mlir::ElementsAttr makeElements(mlir::RankedTensorType type,
                                mlir::AsmResourceBlob blob,
                                llvm::StringRef name = {});
/// A resource around bytes that outlive the context: a mapped file.
mlir::ElementsAttr makeBorrowedElements(mlir::RankedTensorType type,
                                        llvm::ArrayRef<char> bytes,
                                        llvm::StringRef name);
/// A vector of i64, and a scalar.
mlir::DenseElementsAttr makeInts(mlir::MLIRContext *context,
                                 llvm::ArrayRef<int64_t> values);
mlir::DenseElementsAttr makeInt(mlir::MLIRContext *context, int64_t value);

/// One element of a float or integer type from a double, as bytes; used for
/// splats. The value is rounded or truncated.
mlir::DenseElementsAttr makeSplat(mlir::RankedTensorType type, double value);

} // namespace dlc::graph

#endif // DLC_DIALECTS_GRAPH_PLAIN_H
