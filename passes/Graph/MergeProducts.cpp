// SPDX-License-Identifier: Apache-2.0
//
// graph-merge-products: small products of one matrix with several as one.

#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Inference.h"
#include "dlc/dialects/Graph/Placement.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/dialects/Graph/Shapes.h"
#include "dlc/passes/Graph/Evaluate.h"
#include "dlc/passes/Graph/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"

namespace dlc::graph {
#define GEN_PASS_DEF_MERGEPRODUCTSPASS
#include "dlc/passes/Graph/Passes.h.inc"
} // namespace dlc::graph

using namespace mlir;
using namespace dlc;
using namespace dlc::graph;

namespace {

/// A product with constant weights and what is added to it.
struct Product {
  MatmulOp matmul;
  AddOp add;  ///< Null without one.
  Value bias; ///< A constant of the length of rows.
  Value result() { return add ? add.getY() : matmul.getY(); }
};

struct MergeProducts : graph::impl::MergeProductsPassBase<MergeProducts> {
  using MergeProductsPassBase::MergeProductsPassBase;
  void runOnOperation() override;
};

} // namespace

/// Results that fill a device.
static constexpr int64_t kMostResults = 1 << 18;

/// A product with constant weights that is worth merging: one that has too few
/// results to fill a device.
static std::optional<Product> match(MatmulOp matmul) {
  if (!hasStaticTypes(matmul) || !getConstantElements(matmul.getB()) ||
      typeOf(matmul.getB()).getRank() != 2 ||
      typeOf(matmul.getY()).getNumElements() > kMostResults)
    return std::nullopt;
  Product product{matmul, {}, {}};
  if (!matmul.getY().hasOneUse())
    return product;
  auto add = dyn_cast<AddOp>(*matmul.getY().user_begin());
  if (!add || add.getY().getType() != matmul.getY().getType())
    return product;
  Value other = add.getA() == matmul.getY() ? add.getB() : add.getA();
  auto type = dyn_cast<RankedTensorType>(other.getType());
  if (type &&
      type.getShape() == typeOf(matmul.getB()).getShape().drop_front() &&
      getConstantElements(other) &&
      add->getDiscardableAttrDictionary() ==
          matmul->getDiscardableAttrDictionary()) {
    product.add = add;
    product.bias = other;
  }
  return product;
}

/// Constants joined along their last dimension; null where bytes are missing.
static Value join(OpBuilder &builder, Location loc, ArrayRef<Value> parts) {
  auto concat =
      ConcatOp::create(builder, loc, parts, typeOf(parts[0]).getRank() - 1);
  SmallVector<ElementsAttr> elements, results;
  for (Value part : parts)
    elements.push_back(getConstantElements(part));
  rt::Status status = evaluateOperation(concat, elements, results);
  concat->erase();
  return status.isOk()
             ? ConstantOp::create(builder, loc, results.front()).getResult()
             : Value();
}

/// Puts one product in the place of several.
static bool merge(MutableArrayRef<Product> products) {
  MatmulOp first = products.front().matmul;
  for (Product &product : products)
    if (product.matmul->isBeforeInBlock(first))
      first = product.matmul;
  OpBuilder builder(first);
  Location loc = first.getLoc();
  auto joined = [&](auto part) {
    SmallVector<Value> parts;
    for (Product &product : products)
      parts.push_back(part(product));
    return join(builder, loc, parts);
  };
  Value weights = joined([](Product &p) { return p.matmul.getB(); });
  const bool hasBias =
      llvm::all_of(products, [](Product &p) { return bool(p.bias); });
  Value bias = hasBias ? joined([](Product &p) { return p.bias; }) : Value();
  if (!weights || (hasBias && !bias))
    return false;
  auto placed = [&](Operation *op) {
    copyPlacement(first, op);
    return op->getResult(0);
  };
  SmallVector<int64_t> shape(typeOf(first.getY()).getShape());
  shape.back() = typeOf(weights).getShape().back();
  Type type = typeOf(first.getY()).clone(shape);
  Value whole =
      placed(MatmulOp::create(builder, loc, type, first.getA(), weights));
  if (hasBias)
    whole = placed(AddOp::create(builder, loc, type, whole, bias));
  auto ints = [&](int64_t value) -> Value {
    return ConstantOp::create(builder, loc,
                              makeInts(builder.getContext(), {value}));
  };
  int64_t begin = 0;
  const auto axis = static_cast<int64_t>(shape.size()) - 1;
  for (Product &product : products) {
    Value old = hasBias ? product.result() : product.matmul.getY();
    const int64_t end = begin + typeOf(old).getShape().back();
    Value part = placed(SliceOp::create(builder, product.matmul.getLoc(),
                                        old.getType(), whole, ints(begin),
                                        ints(end), ints(axis), ints(1)));
    old.replaceAllUsesWith(part);
    begin = end;
  }
  for (Product &product : products) {
    if (hasBias)
      product.add->erase();
    product.matmul->erase();
  }
  remark::passed(loc, remark::RemarkOpts::name("MergeProducts")
                          .category("graph-merge-products"))
      << remark::add("{0} products became one", products.size());
  return true;
}

void MergeProducts::runOnOperation() {
  if (!getOperation().getBody().hasOneBlock())
    return;
  Block &body = getOperation().front();
  // Of one matrix, where the same is asked of them.
  using Key = std::pair<Value, Attribute>;
  llvm::MapVector<Key, SmallVector<Product>> alike;
  for (auto matmul : body.getOps<MatmulOp>())
    if (auto product = match(matmul))
      alike[{matmul.getA(), matmul->getDiscardableAttrDictionary()}].push_back(
          *product);
  for (auto &[key, products] : alike) {
    MutableArrayRef<Product> rest(products);
    while (rest.size() > 1) {
      size_t count = 0;
      int64_t results = 0;
      for (; count < rest.size() && results <= kMostResults; ++count)
        results += typeOf(rest[count].matmul.getY()).getNumElements();
      if (count > 1)
        merge(rest.take_front(count));
      rest = rest.drop_front(count);
    }
  }
}
