// SPDX-License-Identifier: Apache-2.0
//
// tfidf_vectorizer: counts the n-grams of a pool in rows of tokens.

#include "Families.h"
#include "ShapeRule.h"

#include <algorithm>
#include <cinttypes>

using namespace dlc::rt;
using namespace dlc::rt::ref;

namespace {
/// One n-gram of the pool and the result column that counts it.
struct NGram {
  std::span<const int64_t> tokens;
  int64_t column;
};

struct Vectorizer {
  int64_t least, most, skips;
  int64_t columns = 0;
  std::vector<NGram> pool;
  std::string_view mode;
  std::span<const double> weights; ///< By column; empty means ones.
};
} // namespace

/// Cuts the pool, which holds all 1-grams, then all 2-grams, and so on from
/// the positions in ngram_counts, into n-grams.
static Status readPool(const Attributes &attributes, Vectorizer &vectorizer) {
  std::span<const int64_t> counts = attributes.getInts("ngram_counts");
  std::span<const int64_t> columns = attributes.getInts("ngram_indexes");
  std::span<const int64_t> tokens = attributes.getInts("pool_int64s");
  int64_t end = static_cast<int64_t>(tokens.size());
  size_t next = 0;
  for (size_t n = 1; n <= counts.size(); ++n) {
    int64_t from = counts[n - 1], to = n < counts.size() ? counts[n] : end;
    if (from < 0 || from > to || to > end || (to - from) % n != 0)
      return DLC_INVALID("attribute ngram_counts: expected whole %zu-grams "
                         "within %" PRId64 " tokens, got [%" PRId64 ", %" PRId64
                         ")",
                         n, end, from, to);
    for (int64_t at = from; at < to; at += static_cast<int64_t>(n), ++next) {
      if (next >= columns.size())
        return DLC_INVALID("attribute ngram_indexes: expected a value for "
                           "each n-gram, got %zu",
                           columns.size());
      int64_t size = static_cast<int64_t>(n);
      if (size >= vectorizer.least && size <= vectorizer.most)
        vectorizer.pool.push_back({tokens.subspan(at, n), columns[next]});
    }
  }
  return Status::ok();
}

static Status readVectorizer(const Attributes &attributes,
                             Vectorizer &vectorizer) {
  vectorizer.least = attributes.getInt("min_gram_length", 1);
  vectorizer.most = attributes.getInt("max_gram_length", 1);
  vectorizer.skips = attributes.getInt("max_skip_count", 0);
  vectorizer.mode = attributes.getString("mode", "TF");
  vectorizer.weights = attributes.getFloats("weights");
  if (vectorizer.least < 1 || vectorizer.most < vectorizer.least ||
      vectorizer.skips < 0)
    return DLC_INVALID("expected 1 <= min_gram_length <= max_gram_length and "
                       "max_skip_count >= 0, got %" PRId64 ", %" PRId64
                       " and %" PRId64,
                       vectorizer.least, vectorizer.most, vectorizer.skips);
  if (vectorizer.mode != "TF" && vectorizer.mode != "IDF" &&
      vectorizer.mode != "TFIDF")
    return DLC_INVALID("expected mode TF, IDF or TFIDF, got %s",
                       std::string(vectorizer.mode).c_str());
  for (int64_t column : attributes.getInts("ngram_indexes")) {
    if (column < 0 || column >= INT32_MAX)
      return DLC_INVALID("attribute ngram_indexes: expected values in "
                         "[0, 2^31), got %" PRId64,
                         column);
    vectorizer.columns = std::max(vectorizer.columns, column + 1);
  }
  if (!vectorizer.weights.empty() &&
      static_cast<int64_t>(vectorizer.weights.size()) < vectorizer.columns)
    return DLC_INVALID("attribute weights: expected %" PRId64
                       " values, got %zu",
                       vectorizer.columns, vectorizer.weights.size());
  return readPool(attributes, vectorizer);
}

static Status inferVectorizer(const InferContext &context,
                              std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 1));
  DLC_RETURN_IF_ERROR(checkType(context, 0, indexTypes));
  Vectorizer vectorizer;
  DLC_RETURN_IF_ERROR(readVectorizer(context.attrs(), vectorizer));
  const TensorType &x = context.operand(0).type;
  if (!x.hasRank)
    return addResult(results, unrankedOf(DLC_F32));
  if (x.rank() != 1 && x.rank() != 2)
    return DLC_INVALID("operand 0: expected rank 1 or 2, got %s",
                       toString(x).c_str());
  TensorType result{DLC_F32, {vectorizer.columns}};
  if (x.rank() == 2)
    result.shape.insert(result.shape.begin(), x.shape[0]);
  return addResult(results, std::move(result));
}

/// How often the n-gram occurs in a row with tokens `pace` apart.
static int64_t countNGram(std::span<const int64_t> row, const NGram &gram,
                          int64_t pace) {
  int64_t n = static_cast<int64_t>(gram.tokens.size());
  int64_t length = static_cast<int64_t>(row.size()), count = 0;
  if (n > 1 && pace > (length - 1) / (n - 1))
    return 0;
  for (int64_t start = 0; start + (n - 1) * pace < length; ++start) {
    bool matches = true;
    for (int64_t i = 0; matches && i < n; ++i)
      matches = row[start + i * pace] == gram.tokens[i];
    count += matches;
  }
  return count;
}

static Status computeVectorizer(ComputeContext &context) {
  const TensorView &x = context.input(0);
  TensorView &y = context.output(0);
  Vectorizer vectorizer;
  DLC_RETURN_IF_ERROR(readVectorizer(context.attrs(), vectorizer));
  std::vector<int64_t> tokens = context.intsOf(0);
  int64_t rows = x.rank() == 2 ? x.shape[0] : 1, length = x.shape.back();
  float *result = y.as<float>();
  std::fill_n(result, y.size(), 0.f);
  for (int64_t r = 0; y.size() && r < rows; ++r) {
    auto row = std::span<const int64_t>(tokens).subspan(r * length, length);
    float *counts = result + r * vectorizer.columns;
    for (const NGram &gram : vectorizer.pool) {
      // Skips don't matter to single tokens, and not past the row's end.
      int64_t paces =
          gram.tokens.size() == 1 ? 1 : std::min(vectorizer.skips, length) + 1;
      for (int64_t pace = 1; pace <= paces; ++pace)
        counts[gram.column] += static_cast<float>(countNGram(row, gram, pace));
    }
    for (int64_t c = 0; c < vectorizer.columns; ++c) {
      double weight = vectorizer.weights.empty() ? 1 : vectorizer.weights[c];
      if (vectorizer.mode == "IDF")
        counts[c] = counts[c] > 0 ? 1 : 0;
      if (vectorizer.mode != "TF")
        counts[c] = static_cast<float>(counts[c] * weight);
    }
  }
  return Status::ok();
}

std::span<const Operation> ref::vectorizerOperations() {
  static constexpr Operation table[] = {
      {"tfidf_vectorizer", inferVectorizer, computeVectorizer},
  };
  return table;
}
