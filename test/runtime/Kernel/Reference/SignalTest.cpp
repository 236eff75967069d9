// SPDX-License-Identifier: Apache-2.0

#include "TestText.h"

#include <gtest/gtest.h>

using namespace dlc::rt;
using namespace dlc::rt::ref::test;

TEST(Signal, Dft) {
  Arg x = f32({1, 2, 1}, {3, 1});
  EXPECT_EQ(evaluated("dft", {x, none(), none()}), "1x2x2xf32 4 0 2 0");
  EXPECT_EQ(evaluated("dft", {f32({1, 2, 2}, {4, 0, 2, 0})}, {{"inverse", 1}}),
            "1x2x2xf32 3 0 1 0");
  EXPECT_EQ(evaluated("dft", {x}, {{"onesided", 1}}), "1x2x2xf32 4 0 2 0");
  EXPECT_EQ(evaluated("dft", {f32({1, 2, 2}, {4, 0, 2, 0})},
                      {{"inverse", 1}, {"onesided", 1}}),
            "1x2x1xf32 3 1");
  EXPECT_EQ(evaluated("dft", {x, scalar(1)}), "1x1x2xf32 3 0");
  EXPECT_EQ(evaluated("dft", {x, scalar(3), scalar(1)}).substr(0, 9),
            "1x3x2xf32");
}

TEST(Signal, DftRejects) {
  Arg x = unknown(DLC_F32, {2, -1, 1}), length = unknown(DLC_I64, {});
  EXPECT_EQ(shapesOf("dft", {x}), "2x?x2xf32");
  EXPECT_EQ(shapesOf("dft", {x, scalar(5)}, {{"onesided", 1}}), "2x3x2xf32");
  EXPECT_EQ(shapesOf("dft", {x, none(), length}), "?x?x2xf32");
  EXPECT_EQ(shapesOf("dft", {x, scalar(0)}),
            "error: expected a dft_length of at least 1, got 0");
  EXPECT_EQ(shapesOf("dft", {x, none(), scalar(-1)}),
            "error: expected an axis before the last, got 2");
  EXPECT_EQ(shapesOf("dft", {x}, {{"onesided", 1}, {"inverse", 1}}),
            "error: operand 0: expected a last dimension of 2 to 2, got "
            "2x?x1xf32");
}

TEST(Signal, Stft) {
  Arg x = f32({1, 4, 1}, {1, 2, 3, 4});
  EXPECT_EQ(evaluated("stft", {x, scalar(2), f32({2}, {1, 2})}),
            "1x2x2x2xf32 5 0 -3 0 11 0 -5 0");
  EXPECT_EQ(evaluated("stft", {x, scalar(1), none(), scalar(4)}).substr(0, 11),
            "1x1x3x2xf32");
  EXPECT_EQ(shapesOf("stft", {x, scalar(1), f32({2}, {1, 2}), scalar(3)}),
            "error: operand 2: expected a window of 3 values, got 2");
  EXPECT_EQ(shapesOf("stft", {x, scalar(0), none(), scalar(2)}),
            "error: expected a frame_step of at least 1, got 0");
  EXPECT_EQ(shapesOf("stft", {x, scalar(1), none(), scalar(5)}),
            "error: expected frames of 1 to 4 samples, got 5");
}

TEST(Signal, MelWeightMatrix) {
  EXPECT_EQ(shapesOf("mel_weight_matrix",
                     {scalar(4), scalar(16), scalar(8192), f32({}, {0}),
                      f32({}, {4096})},
                     {{"dtype", DLC_F64}}),
            "9x4xf64");
  EXPECT_EQ(evaluated("mel_weight_matrix", {scalar(1), scalar(4), scalar(4),
                                            f32({}, {0}), f32({}, {2})}),
            "3x1xf32 1 0 0");
  EXPECT_EQ(shapesOf("mel_weight_matrix", {scalar(0), scalar(16), scalar(8192),
                                           f32({}, {0}), f32({}, {4096})}),
            "error: expected num_mel_bins, dft_length and sample_rate of at "
            "least 1, got 0, 16 and 8192");
}

TEST(Signal, TfIdfVectorizer) {
  Attrs attrs = {{"mode", "TF"},
                 {"min_gram_length", 1},
                 {"max_gram_length", 2},
                 {"max_skip_count", 1},
                 {"ngram_counts", Ints{0, 2}},
                 {"ngram_indexes", Ints{0, 2, 1}},
                 {"pool_int64s", Ints{5, 6, 5, 6}}};
  // 5: two; 6: one; 5 6 with up to one token between: two.
  EXPECT_EQ(evaluated("tfidf_vectorizer", {ints({5, 5, 6})}, attrs),
            "3xf32 2 2 1");
  EXPECT_EQ(evaluated("tfidf_vectorizer", {i32({2, 2}, {5, 6, 7, 7})}, attrs),
            "2x3xf32 1 1 1 0 0 0");
  attrs[0].value = "TFIDF";
  attrs.push_back({"weights", Floats{10, 20, 30}});
  EXPECT_EQ(evaluated("tfidf_vectorizer", {ints({5, 5, 6})}, attrs),
            "3xf32 20 40 30");
  attrs[0].value = "IDF";
  EXPECT_EQ(evaluated("tfidf_vectorizer", {ints({5, 5, 6})}, attrs),
            "3xf32 10 20 30");
  EXPECT_EQ(evaluated("tfidf_vectorizer", {ints({})}, attrs), "3xf32 0 0 0");
  attrs[4].value = Ints{0, 3};
  EXPECT_EQ(shapesOf("tfidf_vectorizer", {ints({5})}, attrs),
            "error: attribute ngram_counts: expected whole 2-grams within 4 "
            "tokens, got [3, 4)");
}
