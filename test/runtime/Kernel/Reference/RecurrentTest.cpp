// SPDX-License-Identifier: Apache-2.0

#include "TestText.h"

#include <gtest/gtest.h>

using namespace dlc::rt;
using namespace dlc::rt::ref::test;

/// Two steps of one sequence, one input, one hidden unit.
static const Arg x = f32({2, 1, 1}, {1, 2});
static const Attrs one = {{"hidden_size", 1}};

static Attrs with(Attrs attrs, std::initializer_list<Attribute> more) {
  attrs.insert(attrs.end(), more);
  return attrs;
}

TEST(Recurrent, Rnn) {
  Arg w = f32({1, 1, 1}, {1}), r = f32({1, 1, 1}, {2});
  Attrs affine = with(one, {{"activations", "Affine"}});
  // h1 = 1, h2 = 2 + 2 * 1; backwards 2, then 1 + 2 * 2.
  EXPECT_EQ(evaluated("rnn", {x, w, r}, affine, 2),
            "2x1x1x1xf32 1 4; 1x1x1xf32 4");
  EXPECT_EQ(evaluated("rnn", {x, w, r, none(), none(), none()},
                      with(affine, {{"direction", "reverse"}}), 2),
            "2x1x1x1xf32 5 2; 1x1x1xf32 5");
  Arg bias = f32({1, 2}, {10, 20}), h = f32({1, 1, 1}, {100});
  EXPECT_EQ(evaluated("rnn", {x, w, r, bias, none(), h}, affine, 2),
            "2x1x1x1xf32 231 494; 1x1x1xf32 494");
  // A shorter sequence leaves zeros behind, and its own last state.
  EXPECT_EQ(evaluated("rnn", {x, w, r, none(), i32({1}, {1})}, affine, 2),
            "2x1x1x1xf32 1 0; 1x1x1xf32 1");
  EXPECT_EQ(evaluated("rnn", {x, w, r}, with(affine, {{"clip", 1.5}}), 2),
            "2x1x1x1xf32 1 1.5; 1x1x1xf32 1.5");
  EXPECT_EQ(evaluated("rnn", {x, w, r},
                      with(affine, {{"activation_alpha", Floats{3}},
                                    {"activation_beta", Floats{-1}}}),
                      2),
            "2x1x1x1xf32 2 17; 1x1x1xf32 17");
  EXPECT_EQ(evaluated("rnn", {x, w, r}, one, 2),
            "2x1x1x1xf32 0.76159 0.99826; 1x1x1xf32 0.99826");
}

TEST(Recurrent, LayoutAndDirections) {
  Arg w = f32({2, 1, 1}, {1, 1}), r = f32({2, 1, 1}, {2, 2});
  Attrs attrs = {{"direction", "bidirectional"},
                 {"activations", "Affine,Affine"}};
  EXPECT_EQ(evaluated("rnn", {x, w, r}, attrs, 2),
            "2x2x1x1xf32 1 5 4 2; 2x1x1xf32 4 5");
  EXPECT_EQ(evaluated("rnn", {f32({1, 2, 1}, {1, 2}), w, r},
                      with(attrs, {{"layout", 1}}), 2),
            "1x2x2x1xf32 1 5 4 2; 1x2x1xf32 4 5");
}

TEST(Recurrent, Gru) {
  Arg w = f32({1, 3, 1}, {0, 0, 1}), r = f32({1, 3, 1}, {0, 0, 1});
  Arg h = f32({1, 1, 1}, {4}), bias = f32({1, 6}, {0, 0, 0, 0, 0, 8});
  Attrs affine = with(one, {{"activations", "Sigmoid,Affine"}});
  // z = r = 0.5: the candidate is x + 0.5 h, the state its mean with h.
  EXPECT_EQ(evaluated("gru", {x, w, r, none(), none(), h}, affine, 2),
            "2x1x1x1xf32 3.5 3.625; 1x1x1xf32 3.625");
  EXPECT_EQ(evaluated("gru", {x, w, r, bias, none(), h}, affine, 2),
            "2x1x1x1xf32 7.5 10.625; 1x1x1xf32 10.625");
  EXPECT_EQ(evaluated("gru", {x, w, r, bias, none(), h},
                      with(affine, {{"linear_before_reset", 1}}), 2),
            "2x1x1x1xf32 5.5 7.125; 1x1x1xf32 7.125");
}

TEST(Recurrent, Lstm) {
  Arg w = f32({1, 4, 1}, {0, 0, 0, 1}), r = f32({1, 4, 1}, {0, 0, 0, 0});
  Attrs affine = with(one, {{"activations", "Sigmoid,Affine,Affine"}});
  EXPECT_EQ(evaluated("lstm", {x, w, r}, affine, 3),
            "2x1x1x1xf32 0.25 0.625; 1x1x1xf32 0.625; 1x1x1xf32 1.25");
  Arg bias = f32({1, 8}, {100, 0, 0, 0, 0, 0, 0, 0}); // input gate open
  EXPECT_EQ(evaluated("lstm", {x, w, r, bias},
                      with(affine, {{"input_forget", 1}}), 3),
            "2x1x1x1xf32 0.5 1; 1x1x1xf32 1; 1x1x1xf32 2");
  // Peepholes i, o, f; the output gate sees the new cell.
  Arg peep = f32({1, 3}, {0, 100, 0}), c = f32({1, 1, 1}, {4});
  EXPECT_EQ(
      evaluated("lstm", {x, w, r, none(), none(), none(), c, peep}, affine, 3),
      "2x1x1x1xf32 2.5 2.25; 1x1x1xf32 2.25; 1x1x1xf32 2.25");
}

TEST(Recurrent, InfersWhatItCan) {
  Arg w = unknown(DLC_F32, {1, 12, 5}), r = unknown(DLC_F32, {-1, -1, 3});
  EXPECT_EQ(shapesOf("lstm", {unknown(DLC_F32, {-1, 2, -1}), w, r}, {}, 3),
            "?x1x2x3xf32; 1x2x3xf32; 1x2x3xf32");
  EXPECT_EQ(shapesOf("gru",
                     {anyRank(DLC_F32), anyRank(DLC_F32), anyRank(DLC_F32)},
                     {{"hidden_size", 7}}, 2),
            "?x1x?x7xf32; 1x?x7xf32");
  EXPECT_EQ(
      evaluated("rnn",
                {f32({0, 1, 1}, {}), f32({1, 1, 1}, {1}), f32({1, 1, 1}, {1})},
                one, 2),
      "0x1x1x1xf32; 1x1x1xf32 0");
}

TEST(Recurrent, Rejects) {
  Arg w = f32({1, 1, 1}, {1}), r = f32({1, 1, 1}, {2});
  EXPECT_EQ(shapesOf("rnn", {x, w, f32({1, 2, 1}, {1, 1})}, one, 2),
            "error: operand 2: expected dimension 1 to be 1, got 2");
  EXPECT_EQ(shapesOf("rnn", {x, w, r, f32({1, 1}, {0})}, one, 2),
            "error: operand 3: expected dimension 1 to be 2, got 1");
  EXPECT_EQ(shapesOf("rnn", {x, w, r}, {{"activations", "Tanh,Tanh"}}, 2),
            "error: attribute activations: expected 1 names, got 2");
  EXPECT_EQ(shapesOf("rnn", {x, w, r}, {{"activations", "Sine"}}, 2),
            "error: attribute activations: expected the name of an "
            "activation, got \"Sine\"");
  EXPECT_EQ(shapesOf("rnn", {x, w, r}, {{"direction", "up"}}, 2),
            "error: attribute direction: expected forward, reverse or "
            "bidirectional, got up");
  EXPECT_EQ(evaluated("rnn", {x, w, r, none(), i32({1}, {3})}, one, 2),
            "error: rnn: expected sequence lengths in [0, 2], got 3");
  EXPECT_EQ(shapesOf("rnn", {x, tensor(DLC_F64, {1, 1, 1}, {1}), r}, one, 2),
            "error: operand 1: expected f32 as operand 0, got f64");
}
