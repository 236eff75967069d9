// SPDX-License-Identifier: Apache-2.0
//
// Attention and rotary embedding as matrix products, softmax and views: the
// pattern that fusion looks for.

#include "Simple.h"

#include <cmath>
#include <limits>

using namespace dlc::onnx;
using mlir::ShapedType;
using mlir::Type;
using mlir::Value;

/// batch x length x (heads * size) to batch x heads x length x size.
static Value splitHeads(NodeContext &n, Value x, int64_t heads) {
  return n.b.transpose(n.b.reshape(x, {0, 0, heads, -1}), {0, 2, 1, 3});
}

namespace {
/// One Attention node on its way; the letters are those of the specification.
struct AttentionImport {
  explicit AttentionImport(NodeContext &n) : n(n), b(n.b) {}

  NodeContext &n;
  GraphBuilder &b;
  Value q, k, v;
  int64_t queryHeads = 0, keyHeads = 0;
  bool isFlat = false; ///< Operands of rank 3.

  bool readOperands();
  void appendPast();
  Value scores();
  Value addMask(Value scores);
  Value maskCausally(Value scores);
  Value maskPadding(Value scores);
  Value keep(Value condition, Value scores);
  Value product(Value left, Value right);
  void run();
};
} // namespace

bool AttentionImport::readOperands() {
  q = n.in(0);
  k = n.in(1);
  v = n.in(2);
  int64_t rank = n.rank(q);
  if (rank != n.rank(k) || rank != n.rank(v) || (rank != 3 && rank != 4)) {
    n.fail("expected Q, K and V of the same rank, 3 or 4");
    return false;
  }
  isFlat = rank == 3;
  queryHeads = n.getInt("q_num_heads", isFlat ? 0 : b.dimOf(q, 1));
  keyHeads = n.getInt("kv_num_heads", isFlat ? 0 : b.dimOf(k, 1));
  if (ShapedType::isDynamic(queryHeads) || ShapedType::isDynamic(keyHeads)) {
    n.unsupported("numbers of heads that are not known");
    return false;
  }
  if (queryHeads <= 0 || keyHeads <= 0 || queryHeads % keyHeads != 0) {
    n.fail("expected the number of query heads to be a positive multiple of "
           "that of key heads, got " +
           llvm::Twine(queryHeads) + " and " + llvm::Twine(keyHeads));
    return false;
  }
  if (isFlat) {
    q = splitHeads(n, q, queryHeads);
    k = splitHeads(n, k, keyHeads);
    v = splitHeads(n, v, keyHeads);
  }
  return true;
}

void AttentionImport::appendPast() {
  if (n.has(4) != n.has(5))
    n.fail("expected past_key and past_value together");
  if (n.has(4)) {
    k = b.concat({n.in(4), k}, 2);
    v = b.concat({n.in(5), v}, 2);
  }
}

/// A product per head. Query heads that share a key head count as more rows of
/// one matrix, so that keys and values are not repeated.
Value AttentionImport::product(Value left, Value right) {
  if (queryHeads == keyHeads)
    return b.op("matmul", {left, right});
  Value grouped = b.reshape(left, {0, keyHeads, -1, 0});
  return b.reshape(b.op("matmul", {grouped, right}), {0, queryHeads, -1, 0});
}

Value AttentionImport::scores() {
  int64_t size = b.dimOf(q, 3);
  if (!n.hasAttr("scale") && ShapedType::isDynamic(size)) {
    n.unsupported("head size that is not known");
    return {};
  }
  float scale = n.hasAttr("scale")
                    ? n.getFloat("scale", 1.0f)
                    : static_cast<float>(1.0 / std::sqrt(double(size)));
  Value scaled = b.mul(q, b.scalarLike(q, scale));
  return product(scaled, b.transpose(k, {0, 1, 3, 2}));
}

/// Scores where the condition holds, minus infinity elsewhere.
Value AttentionImport::keep(Value condition, Value scores) {
  constexpr double lowest = -std::numeric_limits<double>::infinity();
  return b.op("select", {condition, scores, b.scalarLike(scores, lowest)});
}

/// A mask shorter than the keys hides the rest of them.
Value AttentionImport::addMask(Value scores) {
  Value mask = n.in(3);
  if (!mask)
    return scores;
  bool isBool = b.elementOf(mask) == b.boolean();
  int64_t last = n.rank(mask) - 1;
  int64_t have = b.dimOf(mask, last), want = b.dimOf(k, 2);
  if (ShapedType::isDynamic(have) || have != want) {
    Value missing = b.sub(b.shapeOf(k, 2, 3), b.shapeOf(mask, last, last + 1));
    Value hidden = b.scalarLike(
        mask, isBool ? 0.0 : -std::numeric_limits<double>::infinity());
    mask = b.op("pad", {mask, b.concat({b.ints({0}), missing}, 0), hidden,
                        b.ints({last})});
  }
  if (isBool)
    return keep(mask, scores);
  return b.add(scores, b.castLike(mask, scores));
}

/// Row i sees the columns up to i plus the length of the past.
Value AttentionImport::maskCausally(Value scores) {
  if (!n.getBool("is_causal", false))
    return scores;
  auto count = [&](Value length) {
    return b.op("range",
                {b.intScalar(0), b.squeeze(length, {0}), b.intScalar(1)});
  };
  Value rows = count(b.shapeOf(q, 2, 3)), columns = count(b.shapeOf(k, 2, 3));
  if (n.has(4))
    rows = b.add(rows, b.shapeOf(n.in(4), 2, 3));
  return keep(b.op("less_equal", {columns, b.unsqueeze(rows, {1})}), scores);
}

Value AttentionImport::maskPadding(Value scores) {
  if (!n.has(6))
    return scores;
  Value lengths = b.unsqueeze(n.asI64(n.in(6)), {1, 2, 3});
  Value columns =
      b.op("range", {b.intScalar(0), b.squeeze(b.shapeOf(k, 2, 3), {0}),
                     b.intScalar(1)});
  return keep(b.op("less", {columns, lengths}), scores);
}

void AttentionImport::run() {
  if (!readOperands())
    return;
  appendPast();
  int64_t mode = n.getInt("qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3)
    return n.fail("expected attribute 'qk_matmul_output_mode' from 0 to 3, "
                  "got " +
                  llvm::Twine(mode));
  llvm::SmallVector<Value> stages = {scores()};
  Value current = stages[0];
  if (float cap = n.getFloat("softcap", 0.0f); cap > 0.0f) {
    Value limit = b.scalarLike(current, cap);
    current = b.mul(b.op("tanh", {b.div(current, limit)}), limit);
  }
  stages.push_back(current);
  current = maskPadding(maskCausally(addMask(current)));
  stages.push_back(current);
  if (Type precision = n.getElementType("softmax_precision"))
    current = b.cast(current, precision);
  Value weights = b.castLike(b.op("softmax", {current}, {{"axis", -1}}), v);
  stages.push_back(weights);
  Value y = product(weights, v);
  if (isFlat)
    y = b.reshape(b.transpose(y, {0, 2, 1, 3}), {0, 0, -1});
  n.setAll({b.castLike(y, n.in(0)), k, v, b.castLike(stages[mode], q)});
}

static void importAttention(NodeContext &n) { AttentionImport(n).run(); }

//===-- Rotary embedding --------------------------------------------------===//

static void importRotaryEmbedding(NodeContext &n) {
  GraphBuilder &b = n.b;
  Value x = n.in(0), cos = n.in(1), sin = n.in(2);
  bool isFlat = n.rank(x) == 3;
  int64_t heads = n.getInt("num_heads", 0);
  if (isFlat && heads <= 0)
    return n.fail("expected a positive attribute 'num_heads'");
  if (isFlat)
    x = b.reshape(x, {0, 0, heads, -1});
  int64_t size = b.dimOf(x, 3);
  int64_t turned = n.getInt("rotary_embedding_dim", 0);
  if (ShapedType::isDynamic(size))
    return n.unsupported("head size that is not known");
  if (turned == 0)
    turned = size;
  if (turned < 0 || turned > size || turned % 2 != 0)
    return n.fail("expected an even number of at most " + llvm::Twine(size) +
                  " elements to rotate, got " + llvm::Twine(turned));
  // The caches are batch x length x half; x has its heads before the length in
  // rank 4 and behind it in rank 3.
  auto cache = [&](Value table) {
    if (n.has(3))
      table = b.op("gather", {table, n.in(3)}, {{"axis", 0}});
    return b.unsqueeze(table, {isFlat ? 2 : 1});
  };
  cos = cache(cos);
  sin = cache(sin);
  bool interleaved = n.getBool("interleaved", false);
  int64_t half = turned / 2;
  Value first =
      interleaved ? b.slice(x, 3, 0, turned, 2) : b.slice(x, 3, 0, half);
  Value second =
      interleaved ? b.slice(x, 3, 1, turned, 2) : b.slice(x, 3, half, turned);
  Value real = b.sub(b.mul(cos, first), b.mul(sin, second));
  Value imaginary = b.add(b.mul(sin, first), b.mul(cos, second));
  Value result;
  if (interleaved) {
    Value pairs =
        b.concat({b.unsqueeze(real, {4}), b.unsqueeze(imaginary, {4})}, 4);
    result = b.reshape(pairs, {0, 0, 0, turned});
  } else {
    result = b.concat({real, imaginary}, 3);
  }
  if (turned < size)
    result = b.concat({result, b.slice(x, 3, turned, size)}, 3);
  n.set(0, isFlat ? b.reshape(result, {0, 0, -1}) : result);
}

//===-- State-space layers ------------------------------------------------===//

static void importCausalConv(NodeContext &n) {
  GraphBuilder &b = n.b;
  Value x = n.in(0), filter = n.in(1);
  int64_t channels = b.dimOf(filter, 0), length = b.dimOf(filter, 2);
  if (ShapedType::isDynamic(channels) || ShapedType::isDynamic(length) ||
      length < 1)
    return n.unsupported("filter whose shape is not known");
  llvm::StringRef activation =
      n.getChoice("activation", "none", {"none", "silu", "swish"});
  Value padded;
  if (n.has(3))
    padded = b.concat({n.in(3), x}, 2);
  else
    padded = b.op(
        "pad", {x, b.ints({length - 1, 0}), b.scalarLike(x, 0), b.ints({2})});
  llvm::SmallVector<Value> operands = {padded, filter};
  if (n.has(2))
    operands.push_back(n.in(2));
  Value y = b.op("conv", operands, {{"group", channels}});
  n.set(0, activation == "none" ? y : b.op("silu", {y}));
  // The last length - 1 elements; none when that is 0.
  int64_t begin = length > 1 ? 1 - length : INT64_MAX;
  n.set(1, b.slice(padded, 2, begin, INT64_MAX));
}

/// The recurrence is unrolled; longer sequences need a loop in Graph.
static constexpr int64_t kMaxUnrolledTokens = 64;

static void importLinearAttention(NodeContext &n) {
  GraphBuilder &b = n.b;
  n.ignore({"chunk_size"});
  int64_t queryHeads = n.getInt("q_num_heads", 0);
  int64_t heads = n.getInt("kv_num_heads", 0);
  llvm::StringRef rule =
      n.getChoice("update_rule", "gated_delta",
                  {"linear", "gated", "delta", "gated_delta"});
  bool gated = rule.starts_with("gated"), corrects = rule.ends_with("delta");
  if (queryHeads <= 0 || heads <= 0 || queryHeads % heads != 0)
    return n.fail("expected the number of query heads to be a positive "
                  "multiple of that of key heads, got " +
                  llvm::Twine(queryHeads) + " and " + llvm::Twine(heads));
  if (gated != n.has(4) || corrects != n.has(5))
    return n.fail("expected the inputs that update rule '" + rule +
                  "' needs, and no others");
  int64_t tokens = b.dimOf(n.in(0), 1), width = b.dimOf(n.in(0), 2);
  if (ShapedType::isDynamic(tokens) || ShapedType::isDynamic(width) ||
      tokens < 1 || tokens > kMaxUnrolledTokens)
    return n.unsupported("sequence length, expected a known one from 1 to " +
                         llvm::Twine(kMaxUnrolledTokens));
  float scale = n.getFloat("scale", 0.0f);
  if (scale == 0.0f)
    scale = static_cast<float>(1.0 / std::sqrt(double(width / queryHeads)));

  auto wide = [&](Value x, int64_t count) {
    return splitHeads(n, b.cast(x, b.f32()), count);
  };
  Value q = wide(n.in(0), queryHeads), k = wide(n.in(1), heads);
  Value v = wide(n.in(2), heads);
  Value decay = gated ? b.op("exp", {wide(n.in(4), heads)}) : Value();
  Value beta;
  if (corrects)
    beta = wide(n.in(5), b.dimOf(n.in(5), 2) == 1 ? 1 : heads);
  Value state;
  if (n.has(3)) {
    state = b.cast(n.in(3), b.f32());
  } else {
    Value shape = b.concat({b.shapeOf(q, 0, 1), b.ints({heads}),
                            b.shapeOf(k, 3, 4), b.shapeOf(v, 3, 4)},
                           0);
    state = b.op("expand", {b.scalar(b.f32(), 0), shape});
  }
  llvm::SmallVector<Value> rows;
  for (int64_t t = 0; t < tokens; ++t) {
    auto at = [&](Value x) { return b.slice(x, 2, t, t + 1); };
    auto column = [&](Value x) { return b.transpose(x, {0, 1, 3, 2}); };
    if (gated)
      state = b.mul(state, column(at(decay)));
    Value update = at(v);
    if (corrects)
      update = b.mul(b.sub(update, b.op("matmul", {at(k), state})), at(beta));
    state = b.add(state, b.mul(column(at(k)), update));
    Value query = b.reshape(at(q), {0, heads, -1, 0});
    rows.push_back(
        b.reshape(b.op("matmul", {query, state}), {0, queryHeads, -1, 0}));
  }
  Value y = b.mul(b.concat(rows, 2), b.scalar(b.f32(), scale));
  y = b.reshape(b.transpose(y, {0, 2, 1, 3}), {0, 0, -1});
  n.set(0, b.castLike(y, n.in(0)));
  n.set(1, b.castLike(state, n.has(3) ? n.in(3) : n.in(0)));
}

static constexpr Operator rows[] = {
    {"Attention", 23, 3, 6, 4, importAttention},
    {"Attention", 24, 3, 7, 4, importAttention},
    {"CausalConvWithState", 27, 2, 4, 2, importCausalConv},
    {"LinearAttention", 27, 3, 6, 2, importLinearAttention},
    {"RotaryEmbedding", 23, 3, 4, 1, importRotaryEmbedding},
};

llvm::ArrayRef<Operator> dlc::onnx::attentionOperators() { return rows; }
