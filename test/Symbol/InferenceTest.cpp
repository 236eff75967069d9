// SPDX-License-Identifier: Apache-2.0

#include "dlc/Symbol/Inference.h"

#include "gtest/gtest.h"

using namespace dlc;
using namespace dlc::symbol;

namespace {

using Texts = std::vector<std::string>;

template <typename Fact> Texts texts(const std::vector<Fact> &facts) {
  Texts result;
  for (const Fact &fact : facts)
    result.push_back(toText(fact));
  return result;
}

Inferred<Shape> infer(const Symbol &symbol, const KnownShapes &known,
                      Completeness completeness = Completeness::Partial) {
  auto result = inferShapes(symbol, known, completeness);
  EXPECT_TRUE(result.isOk()) << result.status().message();
  return result.isOk() ? *result : Inferred<Shape>();
}

std::string errorOf(const Symbol &symbol, const KnownShapes &known,
                    Completeness completeness = Completeness::Full) {
  return inferShapes(symbol, known, completeness).status().message();
}

Symbol fullyConnected(const Symbol &data, const char *name,
                      const char *hidden = "4") {
  return Symbol::apply("FullyConnected", {data}, {{"num_hidden", hidden}},
                       name);
}

const Symbol data = Symbol::variable("data");

} // namespace

//===-- Shapes ------------------------------------------------------------===//

TEST(InferenceTest, TellsShapesOfArgumentsFromData) {
  Symbol conv = Symbol::apply(
      "Convolution", {data},
      {{"kernel", "(3, 3)"}, {"num_filter", "8"}, {"num_group", "2"}}, "c");
  Symbol bn = Symbol::apply("BatchNorm", {conv}, {}, "bn");
  Symbol net = fullyConnected(bn, "fc");
  auto result = infer(net, {{"data", {2, 4, 5, 6}}}, Completeness::Full);
  EXPECT_EQ(texts(result.arguments),
            (Texts{"(2, 4, 5, 6)", "(8, 2, 3, 3)", "(8,)", "(8,)", "(8,)",
                   "(4, 96)", "(4,)"}));
  EXPECT_EQ(texts(result.auxiliaryStates), (Texts{"(8,)", "(8,)"}));
  EXPECT_EQ(texts(result.outputs), (Texts{"(2, 4)"}));
  EXPECT_TRUE(result.isComplete);
}

TEST(InferenceTest, TellsOtherWeights) {
  auto arguments = [](const char *op, Attributes attributes,
                      std::vector<int64_t> shape) {
    Symbol net = Symbol::apply(op, {data}, std::move(attributes), "n");
    return texts(infer(net, {{"data", shape}}).arguments);
  };
  EXPECT_EQ(arguments("Deconvolution",
                      {{"kernel", "(3, 2)"},
                       {"num_filter", "8"},
                       {"num_group", "2"},
                       {"no_bias", "0"}},
                      {1, 4, 5, 5}),
            (Texts{"(1, 4, 5, 5)", "(4, 4, 3, 2)", "(8,)"}));
  EXPECT_EQ(
      arguments("Embedding", {{"input_dim", "9"}, {"output_dim", "3"}}, {2, 7}),
      (Texts{"(2, 7)", "(9, 3)"}));
  EXPECT_EQ(arguments("LayerNorm", {{"axis", "1"}}, {2, 7, 3}),
            (Texts{"(2, 7, 3)", "(7,)", "(7,)"}));
  EXPECT_EQ(arguments("LeakyReLU", {{"act_type", "prelu"}}, {2, 7, 3}),
            (Texts{"(2, 7, 3)", "(7,)"}));
  EXPECT_EQ(arguments("SoftmaxOutput", {}, {2, 7}), (Texts{"(2, 7)", "(2,)"}));
  EXPECT_EQ(arguments("SoftmaxOutput", {{"multi_output", "1"}}, {2, 7, 3}),
            (Texts{"(2, 7, 3)", "(2, 3)"}));
  EXPECT_EQ(
      arguments("Convolution",
                {{"kernel", "(3, 2)"}, {"num_filter", "8"}, {"layout", "NHWC"}},
                {1, 5, 5, 4}),
      (Texts{"(1, 5, 5, 4)", "(8, 3, 2, 4)", "(8,)"}));
}

TEST(InferenceTest, GoesBackwards) {
  Symbol a = Symbol::variable("a"), b = Symbol::variable("b");
  // MXNet's example: (?, 10) + (12, ?).
  auto sum = infer(a + b, {{"a", {-1, 10}}, {"b", {12, -1}}});
  EXPECT_EQ(texts(sum.arguments), (Texts{"(12, 10)", "(12, 10)"}));
  EXPECT_EQ(texts(sum.outputs), (Texts{"(12, 10)"}));
  // Through a chain to the first operand, and on to another reader of it.
  Symbol e = Symbol::apply("exp", {a});
  auto chain = infer(Symbol::group({e + b, fullyConnected(a, "fc")}),
                     {{"b", {3, 5}}}, Completeness::Full);
  EXPECT_EQ(texts(chain.arguments),
            (Texts{"(3, 5)", "(3, 5)", "(4, 5)", "(4,)"}));
  // From a weight to the columns of the data.
  auto columns = infer(fullyConnected(data, "fc"),
                       {{"data", {-1, -1}}, {"fc_weight", {4, 6}}});
  EXPECT_EQ(texts(columns.arguments), (Texts{"(?, 6)", "(4, 6)", "(4,)"}));
  auto channels =
      infer(Symbol::apply("Convolution", {data},
                          {{"kernel", "(3, 3)"}, {"num_filter", "8"}}, "c"),
            {{"c_weight", {8, 3, 3, 3}}});
  EXPECT_EQ(texts(channels.arguments),
            (Texts{"(?, 3, ?, ?)", "(8, 3, 3, 3)", "(8,)"}));
  auto parts = infer(Symbol::apply("Concat", {a, b}, {}, "c") +
                         Symbol::variable("whole"),
                     {{"a", {2, 3}}, {"whole", {2, 8}}}, Completeness::Full);
  EXPECT_EQ(texts(parts.arguments), (Texts{"(2, 3)", "(2, 5)", "(2, 8)"}));
  // Two open parts are alike in what both directions of a network read alone.
  auto join = [&](const char *op) {
    return Symbol::apply(op, {a, b, Symbol::variable("c")}, {{"dim", "0"}},
                         "p") +
           Symbol::variable("whole");
  };
  KnownShapes some = {{"c", {3}}, {"whole", {11}}};
  EXPECT_EQ(texts(infer(join("_rnn_param_concat"), some).arguments),
            (Texts{"(4,)", "(4,)", "(3,)", "(11,)"}));
  EXPECT_EQ(texts(infer(join("Concat"), some).arguments),
            (Texts{"(?,)", "(?,)", "(3,)", "(11,)"}));
}

TEST(InferenceTest, LeavesOpenWhatCannotBeTold) {
  Symbol net = fullyConnected(data, "fc");
  auto nothing = infer(net, {});
  EXPECT_FALSE(nothing.isComplete);
  EXPECT_EQ(texts(nothing.arguments), (Texts{"?", "(4, ?)", "(4,)"}));
  EXPECT_EQ(texts(nothing.outputs), (Texts{"?"}));
  auto rows = infer(net, {{"data", {-1, 7}}});
  EXPECT_EQ(texts(rows.outputs), (Texts{"(?, 4)"}));
  EXPECT_EQ(texts(rows.arguments), (Texts{"(?, 7)", "(4, 7)", "(4,)"}));
  EXPECT_EQ(errorOf(net, {}),
            "expected enough to tell the shapes of everything, got none of "
            "data, fc_weight, fc_output");
}

TEST(InferenceTest, ReadsShapesOfVariables) {
  Symbol x = Symbol::variable("x", {{"__shape__", "(0, 3)"}});
  auto result = infer(fullyConnected(x, "fc"), {{"x", {2, -1}}});
  EXPECT_EQ(texts(result.arguments), (Texts{"(2, 3)", "(4, 3)", "(4,)"}));
  EXPECT_EQ(errorOf(fullyConnected(x, "fc"), {{"x", {2, 4}}}),
            "variable 'x': expected (?, 3), got (2, 4)");
  Symbol bad = Symbol::variable("x", {{"__shape__", "three"}});
  EXPECT_EQ(errorOf(bad, {}),
            "variable 'x': attribute '__shape__': expected integers such as "
            "(2, 2) of at least -1, got 'three'");
}

TEST(InferenceTest, NamesContradictions) {
  Symbol fc = fullyConnected(data, "fc");
  EXPECT_EQ(errorOf(fc, {{"data", {2, 7}}, {"fc_weight", {4, 6}}}),
            "node 'fc' (FullyConnected): input 'weight' (variable "
            "'fc_weight'): expected (4, 7), got (4, 6)");
  Symbol a = Symbol::variable("a"), b = Symbol::variable("b");
  Symbol sum = Symbol::apply("elemwise_add", {a, b}, {}, "s");
  EXPECT_EQ(errorOf(sum, {{"a", {2, 3}}, {"b", {2, 4}}}),
            "node 's' (elemwise_add): input 'lhs' (variable 'a'): expected "
            "(2, 4), got (2, 3)");
  // What the Graph operation refuses.
  Symbol wide = Symbol::apply("broadcast_add", {a, b}, {}, "s");
  std::string message = errorOf(wide, {{"a", {2, 3}}, {"b", {2, 4}}});
  EXPECT_TRUE(message.starts_with("node 's' (broadcast_add): ")) << message;
  EXPECT_GT(message.size(), 27u);
  EXPECT_EQ(errorOf(sum, {{"c", {2}}}),
            "expected a variable of the symbol, got 'c'; it has a, b");
  EXPECT_EQ(errorOf(a + Symbol::variable("a"), {{"a", {2}}}),
            "expected distinct names of variables, got 'a' twice");
  EXPECT_EQ(errorOf(a, {{"a", {1 << 30, 1 << 30, 1 << 30}}}),
            "variable 'a': expected a size within 64 bits, got (1073741824, "
            "1073741824, 1073741824)");
  EXPECT_EQ(errorOf(a, {{"a", {-2}}}),
            "variable 'a': expected dimensions of at least 0, got (-2,)");
  Symbol conv = Symbol::apply("Convolution", {data},
                              {{"kernel", "(3, 3)"}, {"num_filter", "8"}}, "c");
  EXPECT_EQ(errorOf(conv, {{"data", {1, 2, 3}}}),
            "node 'c' (Convolution): input 'data' (variable 'data'): expected "
            "(?, ?, ?, ?), got (1, 2, 3)");
  // Of data and a weight that do not fit, the data are wrong.
  EXPECT_EQ(errorOf(conv, {{"data", {1, 3, 8, 8}}, {"c_weight", {8, 2, 3, 3}}}),
            "node 'c' (Convolution): input 'data' (variable 'data'): expected "
            "(?, 2, ?, ?), got (1, 3, 8, 8)");
}

TEST(InferenceTest, RefusesToReflectMoreThanThereIs) {
  auto pad = [](const char *mode, const char *width) {
    return Symbol::apply("Pad", {data}, {{"mode", mode}, {"pad_width", width}},
                         "p");
  };
  KnownShapes known = {{"data", {1, 1, 3, 4}}};
  const char *full = "(0, 0, 0, 0, 2, 2, 3, 3)";
  EXPECT_EQ(texts(infer(pad("reflect", full), known).outputs),
            (Texts{"(1, 1, 7, 10)"}));
  const char *wide = "(0, 0, 0, 0, 2, 3, 0, 0)";
  EXPECT_EQ(errorOf(pad("reflect", wide), known),
            "node 'p' (Pad): parameter 'pad_width': expected less than the 3 "
            "elements of dimension 2 to reflect, got 3, for 'data' of (1, 1, "
            "3, 4)");
  EXPECT_EQ(texts(infer(pad("edge", wide), known).outputs),
            (Texts{"(1, 1, 8, 4)"}));
}

TEST(InferenceTest, WantsOperatorsThatAreApplied) {
  Symbol atomic = Symbol::atomic("relu");
  EXPECT_EQ(errorOf(atomic, {}),
            "node 'relu' (relu): expected an operator that is applied");
  EXPECT_EQ(inferTypes(atomic, {}, Completeness::Partial).status().message(),
            "node 'relu' (relu): expected an operator that is applied");
  // Operators without inputs need not be.
  EXPECT_EQ(errorOf(Symbol::atomic("_zeros", {{"shape", "(2,)"}}), {}), "");
}

/// What the operations that a node becomes ask for, without a rule of the
/// operator.
TEST(InferenceTest, GoesBackwardsThroughOperations) {
  Symbol a = Symbol::variable("a", {{"__shape__", "(2, 0, 4)"}});
  Symbol b = Symbol::variable("b", {{"__shape__", "(2, 0, 0)"}});
  Symbol product = Symbol::apply("batch_dot", {a, b}, {}, "p");
  Symbol known = Symbol::variable("k", {{"__shape__", "(2, 3, 5)"}});
  EXPECT_EQ(texts(infer(product + known, {}).arguments),
            (Texts{"(2, 3, 4)", "(2, 4, 5)", "(2, 3, 5)"}));
}

/// As recurrent cells of MXNet begin.
TEST(InferenceTest, TellsOpenDimensionsOfStates) {
  Symbol begin = Symbol::apply("_zeros", {}, {{"shape", "(0, 4)"}}, "begin");
  Symbol net = fullyConnected(begin, "h2h") + fullyConnected(data, "i2h");
  auto result = infer(Symbol::group({net, begin}), {{"data", {3, 5}}},
                      Completeness::Full);
  EXPECT_EQ(texts(result.outputs), (Texts{"(3, 4)", "(3, 4)"}));
  EXPECT_EQ(texts(infer(net, {{"data", {3, 5}}}, Completeness::Full).arguments),
            (Texts{"(4, 4)", "(4,)", "(3, 5)", "(4, 5)", "(4,)"}));
  EXPECT_EQ(texts(infer(begin, {}).outputs), (Texts{"(?, 4)"}));
  EXPECT_EQ(errorOf(begin, {}),
            "expected enough to tell the shapes of everything, got none of "
            "begin_output");
}

TEST(InferenceTest, TellsDataFromResults) {
  Symbol whole = Symbol::variable("whole");
  auto variables = [&](const Symbol &net, std::vector<int64_t> shape,
                       KnownShapes known = {}) {
    known["whole"] = std::move(shape);
    return texts(infer(net + whole, known).arguments);
  };
  auto split = [](Attributes attributes) {
    attributes["num_outputs"] = "3";
    return Symbol::apply("SliceChannel", {data}, attributes, "s")[1];
  };
  EXPECT_EQ(variables(split({}), {4, 2, 5}), (Texts{"(4, 6, 5)", "(4, 2, 5)"}));
  EXPECT_EQ(variables(split({{"axis", "-1"}}), {4, -1, 5}),
            (Texts{"(4, ?, 15)", "(4, ?, 5)"}));
  EXPECT_EQ(variables(split({{"axis", "-1"}, {"squeeze_axis", "1"}}), {4, 2}),
            (Texts{"(4, 2, 3)", "(4, 2)"}));
  // Parts of open data, and the other parts of one.
  EXPECT_EQ(variables(split({}), {4, -1}, {{"data", {-1, 6}}}),
            (Texts{"(4, 6)", "(4, 2)"}));
  EXPECT_EQ(errorOf(Symbol::apply("elemwise_add", {split({}), whole}, {}, "a"),
                    {{"data", {4, 6}}, {"whole", {4, 3}}}),
            "node 'a' (elemwise_add): input 'lhs' (node 's' (SliceChannel)): "
            "expected (4, 3), got (4, 2)");

  auto conv = [](Attributes attributes) {
    attributes.insert({{"kernel", "(3, 5)"}, {"num_filter", "8"}});
    return Symbol::apply("Convolution", {data}, attributes, "c", {});
  };
  EXPECT_EQ(variables(conv({{"no_bias", "1"}}), {2, 8, 10, 9}),
            (Texts{"(2, ?, 12, 13)", "(8, ?, 3, 5)", "(2, 8, 10, 9)"}));
  EXPECT_EQ(variables(conv({{"no_bias", "1"},
                            {"stride", "(2, 1)"},
                            {"dilate", "(1, 2)"},
                            {"pad", "(0, 3)"}}),
                      {2, 8, 10, 9}),
            (Texts{"(2, ?, ?, 11)", "(8, ?, 3, 5)", "(2, 8, 10, 9)"}));
  EXPECT_EQ(
      variables(conv({{"no_bias", "1"}, {"layout", "NHWC"}}), {2, 10, 9, 8}),
      (Texts{"(2, 12, 13, ?)", "(8, 3, 5, ?)", "(2, 10, 9, 8)"}));

  Symbol expanded = Symbol::apply("expand_dims", {data}, {{"axis", "-2"}});
  EXPECT_EQ(variables(expanded, {4, 1, 5}), (Texts{"(4, 5)", "(4, 1, 5)"}));
  Symbol flat = Symbol::apply("Reshape", {data}, {{"shape", "(-1, 6)"}}, "r");
  EXPECT_EQ(variables(flat, {4, 6}, {{"data", {-1, 2, 3}}}),
            (Texts{"(4, 2, 3)", "(4, 6)"}));
  EXPECT_EQ(variables(flat, {4, 6}, {{"data", {-1, 2, -1}}}),
            (Texts{"(?, 2, ?)", "(4, 6)"}));
  // No extent of 5 rows makes 24 elements.
  EXPECT_EQ(variables(flat, {4, 6}, {{"data", {-1, 5}}}),
            (Texts{"(?, 5)", "(4, 6)"}));

  Symbol first = Symbol::apply("pick", {data}, {{"axis", "0"}}, "p");
  EXPECT_EQ(texts(infer(first, {{"data", {7}}}, Completeness::Full).arguments),
            (Texts{"(7,)", "(1,)"}));
  Symbol picked = Symbol::apply("pick", {data}, {{"axis", "1"}}, "p");
  EXPECT_EQ(
      texts(infer(picked, {{"data", {4, 7, 3}}}, Completeness::Full).arguments),
      (Texts{"(4, 7, 3)", "(4, 3)"}));
  EXPECT_EQ(texts(infer(picked, {{"data", {4, 7}}, {"p_index", {4, 1}}},
                        Completeness::Full)
                      .arguments),
            (Texts{"(4, 7)", "(4, 1)"}));
  EXPECT_EQ(texts(infer(picked, {{"data", {4, 7}}, {"p_index", {-1, -1}}},
                        Completeness::Full)
                      .arguments),
            (Texts{"(4, 7)", "(4, 1)"}));
}

TEST(InferenceTest, LooksAtRanksBeforeAxes) {
  Symbol x = Symbol::variable("x", {{"__shape__", "(5,)"}});
  auto errorWith = [&](const char *op, Attributes attributes) {
    return errorOf(Symbol::apply(op, {x}, std::move(attributes), "n"), {});
  };
  EXPECT_EQ(errorWith("Pooling", {{"layout", "NWC"}, {"kernel", "(2,)"}}),
            "node 'n' (Pooling): expected data of at least 3 dimensions, got "
            "1, for 'data' of (5,)");
  EXPECT_EQ(errorWith("Pooling", {{"layout", "NWC"}, {"global_pool", "True"}}),
            "node 'n' (Pooling): expected data of at least 3 dimensions, got "
            "1, for 'data' of (5,)");
  EXPECT_EQ(errorWith("broadcast_axis", {{"axis", "(7,)"}, {"size", "(2,)"}}),
            "node 'n' (broadcast_axis): expected an axis from -1 to 0, got 7, "
            "for 'data' of (5,)");
  Symbol cut = Symbol::apply("slice_like", {data, x}, {{"axes", "(-1,)"}}, "n");
  EXPECT_EQ(errorOf(cut, {{"data", {2, 3}}}),
            "node 'n' (slice_like): expected axis 1 in 'shape_like', got 1 "
            "dimensions, for 'data' of (2, 3), 'shape_like' of (5,)");
}

TEST(InferenceTest, CompletesWhatIsPartlyKnown) {
  Symbol label = Symbol::variable("label", {{"__shape__", "(0,)"}});
  auto arguments = [&](const char *op, Attributes attributes,
                       const Symbol &second, std::vector<int64_t> shape) {
    Symbol net = Symbol::apply(op, {data, second}, std::move(attributes), "n");
    return texts(infer(net, {{"data", std::move(shape)}}).arguments);
  };
  EXPECT_EQ(arguments("SoftmaxOutput", {}, label, {2, 7}),
            (Texts{"(2, 7)", "(2,)"}));
  EXPECT_EQ(arguments("LinearRegressionOutput", {}, label, {2, 1}),
            (Texts{"(2, 1)", "(2,)"}));
  Symbol matrix = Symbol::variable("label", {{"__shape__", "(0, 0)"}});
  EXPECT_EQ(arguments("LinearRegressionOutput", {}, matrix, {2, 1}),
            (Texts{"(2, 1)", "(2, 1)"}));
  EXPECT_EQ(arguments("SVMOutput", {}, label, {2, 7}),
            (Texts{"(2, 7)", "(2,)"}));
  EXPECT_EQ(arguments("LeakyReLU", {{"act_type", "prelu"}}, label, {2, 7, 3}),
            (Texts{"(2, 7, 3)", "(7,)"}));
  // Another form that the operator takes stays as it is.
  Symbol column = Symbol::variable("label", {{"__shape__", "(2, 9)"}});
  EXPECT_EQ(
      arguments("SoftmaxOutput", {{"multi_output", "1"}}, column, {2, 7, 3, 3}),
      (Texts{"(2, 7, 3, 3)", "(2, 9)"}));
  Symbol fc = Symbol::apply("FullyConnected", {data}, {{"num_hidden", "4"}},
                            "fc", {{"bias", label}});
  EXPECT_EQ(texts(infer(fc, {{"data", {2, 7}}}).arguments),
            (Texts{"(2, 7)", "(4, 7)", "(4,)"}));
}

/// Those of an example are behind each other; a column of labels is as good as
/// a vector, but they are not transposed.
TEST(InferenceTest, TellsLabelsOfOtherShapes) {
  auto infer = [&](const char *op, std::vector<int64_t> shape,
                   std::vector<int64_t> label) {
    return inferShapes(
        Symbol::apply(op, {data, Symbol::variable("label")}, {}, "n"),
        {{"data", std::move(shape)}, {"label", std::move(label)}},
        Completeness::Full);
  };
  for (const char *op : {"SoftmaxOutput", "SVMOutput"}) {
    EXPECT_TRUE(infer(op, {4, 3}, {4, 1}).isOk());
    for (const std::vector<int64_t> &label :
         {std::vector<int64_t>{1, 4}, {2, 2}, {3, 4}, {3}})
      EXPECT_NE(infer(op, {4, 3}, label)
                    .status()
                    .message()
                    .find("expected (4,), got"),
                std::string::npos)
          << op;
  }
  EXPECT_TRUE(infer("SoftmaxOutput", {4, 3}, {4, 3}).isOk());
  EXPECT_TRUE(infer("LinearRegressionOutput", {2, 7, 3}, {2, 21}).isOk());
  for (const std::vector<int64_t> &label :
       {std::vector<int64_t>{12}, {3, 4}, {4, 1}})
    EXPECT_NE(infer("LinearRegressionOutput", {4, 3}, label)
                  .status()
                  .message()
                  .find("expected (4, 3), got"),
              std::string::npos);
}

TEST(InferenceTest, SaysWhatIsNotSupported) {
  Symbol pool = Symbol::apply(
      "Pooling", {data}, {{"kernel", "(2, 2)"}, {"pooling_convention", "same"}},
      "p");
  auto result = inferShapes(pool, {{"data", {1, 2, 4, 4}}}, Completeness::Full);
  EXPECT_EQ(result.status().code(), rt::StatusCode::Unsupported);
  EXPECT_EQ(result.status().message(),
            "unsupported: node 'p' (Pooling): parameter 'pooling_convention' "
            "of same");
}

//===-- Types -------------------------------------------------------------===//

TEST(InferenceTest, TellsTypesBothWays) {
  Symbol a = Symbol::variable("a"), b = Symbol::variable("b");
  auto result = inferTypes(a + b, {{"b", DLC_F16}}, Completeness::Full);
  ASSERT_TRUE(result.isOk()) << result.status().message();
  EXPECT_EQ(texts(result->arguments), (Texts{"float16", "float16"}));
  EXPECT_EQ(texts(result->outputs), (Texts{"float16"}));

  Symbol cast = Symbol::apply("Cast", {a}, {{"dtype", "int32"}}, "c");
  auto open = inferTypes(cast, {}, Completeness::Partial);
  EXPECT_EQ(texts(open->arguments), (Texts{"?"}));
  EXPECT_EQ(texts(open->outputs), (Texts{"int32"}));
  EXPECT_EQ(inferTypes(cast, {}, Completeness::Full).status().message(),
            "expected enough to tell the element types of everything, got none "
            "of a");
}

TEST(InferenceTest, KeepsStatisticsOfShortFloatsLong) {
  Symbol bn = Symbol::apply("BatchNorm", {data}, {}, "bn");
  auto result = inferTypes(bn, {{"data", DLC_F16}}, Completeness::Full);
  ASSERT_TRUE(result.isOk()) << result.status().message();
  EXPECT_EQ(texts(result->arguments), (Texts{"float16", "float32", "float32"}));
  EXPECT_EQ(texts(result->auxiliaryStates), (Texts{"float32", "float32"}));
}

TEST(InferenceTest, NamesContradictingTypes) {
  Symbol a = Symbol::variable("a", {{"__dtype__", "0"}});
  Symbol sum =
      Symbol::apply("elemwise_add", {a, Symbol::variable("b")}, {}, "s");
  EXPECT_EQ(
      inferTypes(sum, {{"b", DLC_I32}}, Completeness::Full).status().message(),
      "node 's' (elemwise_add): input 'lhs' (variable 'a'): expected "
      "int32, got float32");
  Symbol bad = Symbol::variable("a", {{"__dtype__", "99"}});
  EXPECT_EQ(inferTypes(bad, {}, Completeness::Full).status().message(),
            "variable 'a': attribute '__dtype__': expected the number of an "
            "element type, got '99'");
}
