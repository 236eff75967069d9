// SPDX-License-Identifier: Apache-2.0
//
// The finder of attentions, and the calls of cpu.attention that compute them.

#include "Attention.h"

#include "dlc/dialects/Graph/Plain.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace dlc;
using namespace dlc::library;

/// What the entry calls a mask that is an attribute, beside MaskForm.
static constexpr int64_t kCausal = 3;

Matrices::Matrices(Value value)
    : value(value),
      order(llvm::to_vector(llvm::seq<int64_t>(getShape().size()))) {}

ArrayRef<int64_t> Matrices::getShape() const {
  return cast<RankedTensorType>(value.getType()).getShape();
}

bool Matrices::isMatrixLast() const {
  for (int64_t i = 0; i < rank() - 2; ++i)
    if (order[i] != i)
      return false;
  return true;
}

bool Matrices::isInOrder() const { return llvm::is_sorted(order); }

/// The value of a float constant of one element.
static std::optional<float> getScalar(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  DenseElementsAttr elements;
  if (!type ||
      !isa<Float32Type, Float16Type, BFloat16Type>(type.getElementType()) ||
      !type.hasStaticShape() || type.getNumElements() != 1 ||
      !matchPattern(value, m_Constant(&elements)))
    return std::nullopt;
  return static_cast<float>(
      elements.getSplatValue<APFloat>().convertToDouble());
}

static bool isStatic(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape();
}

/// True if the result shows the bytes of the first operand in another shape.
static bool isView(Operation *op) {
  auto view = dyn_cast<graph::InPlaceOpInterface>(op);
  return view && view.isView() && op->getNumResults() == 1 &&
         isStatic(op->getOperand(0).getType()) &&
         isStatic(op->getResult(0).getType()) &&
         cast<RankedTensorType>(op->getResult(0).getType()).getRank() >= 2 &&
         cast<RankedTensorType>(op->getOperand(0).getType()).getRank() >= 2;
}

/// The factor by which `op` multiplies `value`, if that is all it does.
static std::optional<float> getFactor(Operation *op, Value value) {
  if (op->getNumResults() != 1 || op->getResult(0).getType() != value.getType())
    return std::nullopt;
  if (auto mul = dyn_cast<graph::MulOp>(op)) {
    if (mul.getA() == mul.getB())
      return std::nullopt;
    return getScalar(mul.getA() == value ? mul.getB() : mul.getA());
  }
  auto div = dyn_cast<graph::DivOp>(op);
  if (!div || div.getA() != value)
    return std::nullopt;
  std::optional<float> divisor = getScalar(div.getB());
  if (!divisor || *divisor == 0)
    return std::nullopt;
  return 1 / *divisor;
}

/// The operand that `op` multiplies with a number, or null.
static Value getScaled(Operation *op) {
  if (!isa<graph::MulOp, graph::DivOp>(op))
    return {};
  for (Value operand : op->getOperands())
    if (getFactor(op, operand))
      return operand;
  return {};
}

/// Whether matrices of `operand`, which broadcasts to `result`, are each for as
/// many of the result's, one after the other: all dimensions, then only ones.
static bool isSharedInOrder(ArrayRef<int64_t> result,
                            ArrayRef<int64_t> operand) {
  result = result.drop_back(2);
  operand = operand.drop_back(2);
  size_t missing = result.size() - operand.size();
  bool isShared = false;
  for (size_t i = 0; i < result.size(); ++i) {
    int64_t dim = i < missing ? 1 : operand[i - missing];
    if (dim == result[i] && (!isShared || dim == 1))
      continue;
    if (dim != 1)
      return false;
    isShared = true;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// The finder
//===----------------------------------------------------------------------===//

namespace {

class AttentionFinder {
public:
  AttentionFinder(graph::MatmulOp scores,
                  function_ref<bool(Operation *)> isFree, std::string *why)
      : scores(scores), isFree(isFree), why(why) {}

  std::optional<AttentionForm> find();

private:
  bool refuse(const Twine &reason);
  Operation *nextOf(Value value);
  Operation *makerOf(Value value);
  bool addMask(MaskForm kind, Value mask, Value current);
  bool takeMask(Operation *op, Value current);
  graph::MatmulOp takeScores();
  void takeOperand(Matrices &operand, std::optional<int64_t> rows,
                   bool mayScale);
  bool takeResult(Matrices &result, int64_t rows, int64_t productRows);

  graph::MatmulOp scores;
  function_ref<bool(Operation *)> isFree;
  std::string *why;
  AttentionForm form;
};

} // namespace

bool AttentionFinder::refuse(const Twine &reason) {
  if (why)
    *why = reason.str();
  return false;
}

/// The only user of `value`, if it may be a member.
Operation *AttentionFinder::nextOf(Value value) {
  if (!value.hasOneUse())
    return nullptr;
  Operation *user = *value.user_begin();
  return user->getNumResults() == 1 && isFree(user) ? user : nullptr;
}

/// What makes `value`, if only one operation reads it and it may be a member.
Operation *AttentionFinder::makerOf(Value value) {
  Operation *maker = value.getDefiningOp();
  return maker && value.hasOneUse() && maker->getNumResults() == 1 &&
                 isFree(maker)
             ? maker
             : nullptr;
}

bool AttentionFinder::addMask(MaskForm kind, Value mask, Value current) {
  auto shape = cast<RankedTensorType>(current.getType()).getShape();
  if (!form.masks.empty() && ArrayRef(form.maskShape) != shape)
    return refuse("the masks are added in different shapes");
  form.maskShape.assign(shape.begin(), shape.end());
  form.masks.push_back({kind, mask});
  return true;
}

/// Takes one operation between the first product and the softmax.
bool AttentionFinder::takeMask(Operation *op, Value current) {
  if (op->getResult(0).getType() != current.getType())
    return refuse("a mask broadcasts the scores");
  if (std::optional<float> factor = getFactor(op, current)) {
    form.scale *= *factor;
    return form.masks.empty() || refuse("masked scores are scaled");
  }
  if (auto add = dyn_cast<graph::AddOp>(op)) {
    if (add.getA() == add.getB())
      return refuse("scores are added to themselves");
    return addMask(MaskForm::Add,
                   add.getA() == current ? add.getB() : add.getA(), current);
  }
  auto select = dyn_cast<graph::SelectOp>(op);
  if (!select || select.getCond() == current)
    return refuse("the library has no such mask");
  bool keeps = select.getA() == current;
  std::optional<float> other = getScalar(keeps ? select.getB() : select.getA());
  if (!other || (form.fill && *form.fill != *other))
    return refuse("masked scores become more than one number");
  form.fill = other;
  return addMask(keeps ? MaskForm::Keep : MaskForm::Drop, select.getCond(),
                 current);
}

/// From the first product to the second.
graph::MatmulOp AttentionFinder::takeScores() {
  Value current = scores.getResult();
  bool isSoftmaxed = false;
  while (Operation *op = nextOf(current)) {
    auto type = cast<RankedTensorType>(current.getType());
    form.members.push_back(op);
    if (auto values = dyn_cast<graph::MatmulOp>(op)) {
      if (!isSoftmaxed || values.getA() != current)
        return {};
      return values;
    }
    if (isView(op)) {
      auto next = cast<RankedTensorType>(op->getResult(0).getType());
      if (op->getOperand(0) != current ||
          next.getShape().back() != type.getShape().back())
        return {};
    } else if (auto softmax = dyn_cast<graph::SoftmaxOp>(op)) {
      int64_t axis = softmax.getAxis();
      if (isSoftmaxed || (axis != -1 && axis != type.getRank() - 1))
        return {};
      isSoftmaxed = true;
    } else if (isSoftmaxed || !takeMask(op, current)) {
      return {};
    }
    current = op->getResult(0);
  }
  return {};
}

/// Takes what turns an operand of a product round, scales it (of the first one)
/// or shows it in another shape, from the product on. Where `rows` is given,
/// matrices may fall into several of fewer rows.
void AttentionFinder::takeOperand(Matrices &operand,
                                  std::optional<int64_t> rows, bool mayScale) {
  while (Operation *maker = makerOf(operand.value)) {
    if (auto transpose = dyn_cast<graph::TransposeOp>(maker)) {
      for (int64_t &dim : operand.order)
        dim = transpose.getPerm()[dim];
      operand.value = transpose.getX();
    } else if (Value scaled = mayScale ? getScaled(maker) : Value()) {
      form.queryScale *= *getFactor(maker, scaled);
      operand.value = scaled;
    } else {
      if (!isView(maker) || !operand.isMatrixLast())
        return;
      auto from = cast<RankedTensorType>(maker->getOperand(0).getType());
      ArrayRef<int64_t> before = from.getShape().take_back(2);
      ArrayRef<int64_t> after = operand.getShape().take_back(2);
      bool splitsRows = rows && operand.isInOrder() && before[0] > 0 &&
                        before[1] == after[1] && *rows % before[0] == 0;
      if (before != after && !splitsRows)
        return;
      bool isTurned = !operand.isInOrder();
      operand = Matrices(maker->getOperand(0));
      if (isTurned)
        std::swap(operand.order.back(), operand.order.end()[-2]);
    }
    form.members.push_back(maker);
  }
}

/// Takes what turns the result round. Its matrices shall have `rows` rows, of
/// the `productRows` of the second product.
bool AttentionFinder::takeResult(Matrices &result, int64_t rows,
                                 int64_t productRows) {
  std::optional<std::pair<Matrices, size_t>> last;
  while (true) {
    if (result.rows() == rows)
      last.emplace(result, form.members.size());
    Operation *user = nextOf(result.value);
    if (!user)
      break;
    if (auto transpose = dyn_cast<graph::TransposeOp>(user)) {
      SmallVector<int64_t> order(result.order);
      for (int64_t &dim : order)
        dim =
            llvm::find(transpose.getPerm(), dim) - transpose.getPerm().begin();
      if (order.back() != result.rank() - 1)
        break;
      result.value = transpose.getResult();
      result.order = std::move(order);
    } else {
      if (!isView(user) || !result.isInOrder() ||
          user->getOperand(0) != result.value)
        break;
      Matrices next(user->getResult(0));
      if (next.columns() != result.columns() || next.rows() == 0 ||
          productRows % next.rows() != 0)
        break;
      result = std::move(next);
    }
    form.members.push_back(user);
  }
  if (!last)
    return refuse("queries and the result have different rows");
  result = last->first;
  form.members.truncate(last->second);
  return true;
}

std::optional<AttentionForm> AttentionFinder::find() {
  auto isKnown = [](graph::MatmulOp op) {
    return isStatic(op.getA().getType()) && isStatic(op.getB().getType());
  };
  form.members = {scores};
  graph::MatmulOp product = isKnown(scores) ? takeScores() : graph::MatmulOp();
  if (!product || !isKnown(product))
    return std::nullopt;
  auto shapeOf = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getShape();
  };
  for (graph::MatmulOp op : {scores, product})
    if (shapeOf(op.getA()).drop_back(1) !=
            shapeOf(op.getResult()).drop_back(1) ||
        !isSharedInOrder(shapeOf(op.getResult()), shapeOf(op.getB()))) {
      refuse("keys or values broadcast otherwise than by groups of queries");
      return std::nullopt;
    }
  const int64_t productRows = shapeOf(scores.getResult()).end()[-2];
  if (shapeOf(product.getA()).end()[-2] != productRows) {
    refuse("the two products have different rows");
    return std::nullopt;
  }
  form.q = Matrices(scores.getA());
  form.k = Matrices(scores.getB());
  form.v = Matrices(product.getB());
  takeOperand(form.q, productRows, /*mayScale=*/true);
  takeOperand(form.k, std::nullopt, /*mayScale=*/true);
  takeOperand(form.v, std::nullopt, /*mayScale=*/false);
  // Of several factors, or one over a tiny number.
  if (!std::isfinite(form.queryScale) || !std::isfinite(form.scale)) {
    refuse("scores are scaled by what is no finite number");
    return std::nullopt;
  }
  form.y = Matrices(product.getResult());
  if (!takeResult(form.y, form.q.rows(), productRows))
    return std::nullopt;
  if (!form.maskShape.empty() && form.maskShape.end()[-2] != form.q.rows()) {
    refuse("queries and masks have different rows");
    return std::nullopt;
  }
  return std::move(form);
}

std::optional<AttentionForm>
dlc::library::findAttentionForm(graph::MatmulOp scores,
                                function_ref<bool(Operation *)> isFree,
                                std::string *why) {
  return AttentionFinder(scores, isFree, why).find();
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// The call of cpu.attention; nullopt if that has no such.
static std::optional<Match> makeMatch(const AttentionForm &form,
                                      std::string *why) {
  Builder builder(form.y.value.getContext());
  Match match;
  match.entry = "cpu.attention";
  match.note = "library kernel for attention";
  match.operands = {form.q.value, form.k.value, form.v.value};
  SmallVector<int64_t> forms;
  for (const AttentionForm::Mask &mask : form.masks) {
    match.operands.push_back(mask.value);
    forms.push_back(static_cast<int64_t>(mask.form));
  }
  auto setInts = [&](StringRef name, ArrayRef<int64_t> values) {
    match.config.set(name, builder.getDenseI64ArrayAttr(values));
  };
  auto setFloat = [&](StringRef name, double value) {
    match.config.set(name, builder.getF64FloatAttr(value));
  };
  std::pair<StringRef, const Matrices *> orders[] = {{"q_order", &form.q},
                                                     {"k_order", &form.k},
                                                     {"v_order", &form.v},
                                                     {"y_order", &form.y}};
  for (auto [name, matrices] : orders)
    if (!matrices->isInOrder())
      setInts(name, matrices->order);
  if (form.scale != 1)
    setFloat("scale", form.scale);
  if (form.queryScale != 1)
    setFloat("query_scale", form.queryScale);
  if (!forms.empty()) {
    setInts("masks", forms);
    setInts("scores", form.maskShape);
  }
  if (form.fill && *form.fill != -std::numeric_limits<float>::infinity())
    setFloat("fill", *form.fill);
  match.anchorOperands = match.operands.size();
  match.anchorConfig = match.config;
  if (!isSupportedMatch(match, form.y.value.getType(), why))
    return std::nullopt;
  return match;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

std::optional<int64_t> dlc::library::getCausalOffset(ElementsAttr mask,
                                                     MaskForm form,
                                                     int64_t rows,
                                                     int64_t columns) {
  auto type = dyn_cast<RankedTensorType>(mask.getShapedType());
  if (!type || !type.getElementType().isInteger(1) || type.getRank() < 2 ||
      type.getNumElements() != rows * columns ||
      type.getShape().back() != columns || rows * columns == 0)
    return std::nullopt;
  graph::RawElements raw = graph::RawElements::get(mask);
  if (!raw)
    return std::nullopt;
  ArrayRef<char> bytes = raw.data();
  auto isSeen = [&](int64_t row, int64_t column) {
    return (bytes[row * columns + column] != 0) == (form == MaskForm::Keep);
  };
  int64_t seen = 0; // By the last row, which sees the most.
  while (seen < columns && isSeen(rows - 1, seen))
    ++seen;
  const int64_t offset = seen - rows;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      if (isSeen(row, column) != (column <= row + offset))
        return std::nullopt;
  return offset;
}

void dlc::library::foldConstants(Match &match,
                                 ArrayRef<ElementsAttr> constants) {
  auto masks = match.config.getNamed("masks");
  auto scores = match.config.getNamed("scores");
  if (match.entry != "cpu.attention" || !masks || !scores)
    return;
  auto shape = cast<DenseI64ArrayAttr>(scores->getValue()).asArrayRef();
  auto forms =
      llvm::to_vector(cast<DenseI64ArrayAttr>(masks->getValue()).asArrayRef());
  Builder builder(masks->getName().getContext());
  for (auto [i, form] : llvm::enumerate(forms)) {
    const unsigned operand = 3 + i;
    if (form == static_cast<int64_t>(MaskForm::Add) || !constants[operand])
      continue;
    std::optional<int64_t> offset =
        getCausalOffset(constants[operand], static_cast<MaskForm>(form),
                        shape.end()[-2], shape.back());
    if (!offset)
      continue;
    forms[i] = kCausal;
    match.operands.erase(match.operands.begin() + operand);
    match.anchorOperands = match.operands.size();
    match.config.set("masks", builder.getDenseI64ArrayAttr(forms));
    match.config.set("causal_offset", builder.getI64IntegerAttr(*offset));
    match.anchorConfig = match.config;
    return; // Two of them would be one.
  }
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

std::optional<Match> dlc::library::matchAttention(ArrayRef<Operation *> group,
                                                  std::string *why) {
  auto products = llvm::make_filter_range(
      group, [](Operation *op) { return isa<graph::MatmulOp>(op); });
  if (std::distance(products.begin(), products.end()) != 2)
    return std::nullopt;
  auto isMember = [&](Operation *op) { return llvm::is_contained(group, op); };
  std::optional<AttentionForm> form = findAttentionForm(
      cast<graph::MatmulOp>(*products.begin()), isMember, why);
  if (!form)
    return std::nullopt;
  std::optional<Match> match = makeMatch(*form, why);
  if (match && form->members.size() != group.size()) {
    if (why)
      *why = "expected nothing beside attention";
    return std::nullopt;
  }
  return match;
}

SmallVector<Operation *>
dlc::library::findAttention(graph::MatmulOp scores,
                            function_ref<bool(Operation *)> isFree) {
  std::optional<AttentionForm> form = findAttentionForm(scores, isFree);
  if (!form || !makeMatch(*form, nullptr))
    return {};
  return std::move(form->members);
}
