// SPDX-License-Identifier: Apache-2.0

#include "dlc/Symbol/Symbol.h"

#include "dlc/Symbol/IndexedGraph.h"
#include "dlc/Symbol/Scope.h"

#include "gtest/gtest.h"

#include <thread>

using namespace dlc;
using namespace dlc::symbol;

namespace {

using Names = std::vector<std::string>;

Symbol makeNet() {
  Symbol data = Symbol::variable("data");
  Symbol fc =
      Symbol::apply("FullyConnected", {data}, {{"num_hidden", "4"}}, "fc");
  Symbol bn = Symbol::apply("BatchNorm", {fc}, {}, "bn");
  return Symbol::apply("Activation", {bn}, {{"act_type", "relu"}}, "act");
}

std::string errorOf(const Symbol &symbol) { return symbol.status().message(); }

} // namespace

//===-- Composition -------------------------------------------------------===//

TEST(SymbolTest, MakesVariablesForMissingInputs) {
  Symbol net = makeNet();
  ASSERT_TRUE(net.isOk()) << errorOf(net);
  EXPECT_EQ(net.listArguments(),
            (Names{"data", "fc_weight", "fc_bias", "bn_gamma", "bn_beta"}));
  EXPECT_EQ(net.listAuxiliaryStates(),
            (Names{"bn_moving_mean", "bn_moving_var"}));
  EXPECT_EQ(net.listInputs(),
            (Names{"data", "fc_weight", "fc_bias", "bn_gamma", "bn_beta",
                   "bn_moving_mean", "bn_moving_var"}));
  EXPECT_EQ(net.listOutputs(), (Names{"act_output"}));
  EXPECT_EQ(net.name(), "act");
  // They have the attributes of the operator, and what it says of them.
  auto attributes = net.allAttributes();
  EXPECT_EQ(attributes["fc_weight"], (Attributes{{"num_hidden", "4"}}));
  EXPECT_EQ(attributes["bn_moving_var"],
            (Attributes{{"__init__", "[\"one\", {}]"}}));
  EXPECT_FALSE(attributes.contains("data"));
}

TEST(SymbolTest, InputsDependOnParameters) {
  Symbol data = Symbol::variable("data");
  Symbol fc = Symbol::apply("FullyConnected", {data},
                            {{"num_hidden", "4"}, {"no_bias", "True"}}, "fc");
  EXPECT_EQ(fc.listArguments(), (Names{"data", "fc_weight"}));
  Symbol prelu =
      Symbol::apply("LeakyReLU", {data}, {{"act_type", "prelu"}}, "r");
  EXPECT_EQ(prelu.listArguments(), (Names{"data", "r_gamma"}));
}

TEST(SymbolTest, MatchesNamedInputs) {
  Symbol w = Symbol::variable("w"), x = Symbol::variable("x");
  Symbol fc = Symbol::apply("FullyConnected", {}, {{"num_hidden", "4"}}, "fc",
                            {{"weight", w}, {"data", x}});
  EXPECT_EQ(fc.listArguments(), (Names{"x", "w", "fc_bias"}));
  auto apply = [&](std::vector<Symbol> positional, NamedSymbols named) {
    return errorOf(Symbol::apply("FullyConnected", positional,
                                 {{"num_hidden", "4"}}, "fc", named));
  };
  EXPECT_EQ(apply({}, {{"wieght", w}}),
            "node 'fc' (FullyConnected): expected an input out of data, "
            "weight, bias, got 'wieght'");
  EXPECT_EQ(apply({x}, {{"data", w}}),
            "node 'fc' (FullyConnected): input 'data' is given twice");
  EXPECT_EQ(apply({x, x, x, x}, {}),
            "node 'fc' (FullyConnected): expected at most 3 arguments, got 4");
}

TEST(SymbolTest, CountsArgumentsOfVariadicOperators) {
  Symbol a = Symbol::variable("a"), b = Symbol::variable("b");
  Symbol concat = Symbol::apply("Concat", {a, b}, {{"dim", "0"}}, "c");
  EXPECT_EQ(concat.attributes()["num_args"], "2");
  EXPECT_EQ(errorOf(Symbol::apply("Concat", {a, b}, {{"num_args", "3"}}, "c")),
            "node 'c' (Concat): expected 3 arguments, as parameter 'num_args' "
            "says, got 2");
}

TEST(SymbolTest, RefusesWhatIsNotOneValue) {
  Symbol a = Symbol::variable("a");
  Symbol two = Symbol::apply("SliceChannel", {a}, {{"num_outputs", "2"}}, "s");
  EXPECT_EQ(two.listOutputs(), (Names{"s_output0", "s_output1"}));
  EXPECT_EQ(errorOf(Symbol::apply("relu", {two}, {}, "r")),
            "node 'r' (relu): input 'data': expected a symbol with 1 output, "
            "got 2");
  EXPECT_EQ(errorOf(Symbol::apply("relu", {Symbol::atomic("tanh")}, {}, "r")),
            "node 'r' (relu): input 'data': expected an operator that is "
            "applied, got tanh without inputs");
  EXPECT_EQ(errorOf(Symbol::apply("no_such", {a})),
            "unknown operator 'no_such'");
  EXPECT_EQ(errorOf(Symbol::variable("")),
            "expected a name of a variable, got an empty one");
  EXPECT_EQ(errorOf(Symbol::variable("\xff")),
            "expected UTF-8 without zeros in the name of a variable");
}

TEST(SymbolTest, FailuresStick) {
  Symbol bad = Symbol::apply("no_such", {Symbol::variable("a")});
  Symbol more = Symbol::apply("relu", {bad + Symbol::variable("b")}) * 2.0;
  EXPECT_FALSE(more.isOk());
  EXPECT_EQ(errorOf(more), "unknown operator 'no_such'");
  // What has a name already is named.
  EXPECT_EQ(errorOf(Symbol::apply("FullyConnected", {Symbol::variable("x")},
                                  {{"num_hidden", "many"}}, "fc")),
            "node 'fc': " + errorOf(Symbol::atomic("FullyConnected",
                                                   {{"num_hidden", "many"}})));
  EXPECT_EQ(more.status().code(), rt::StatusCode::NotFound);
  EXPECT_EQ(more.size(), 0u);
  EXPECT_TRUE(more.listArguments().empty());
  EXPECT_FALSE(Symbol::group({Symbol::variable("c"), bad}).isOk());
}

TEST(SymbolTest, ReplacesVariablesInACopy) {
  Symbol net = Symbol::variable("a") + Symbol::variable("b");
  Symbol x = Symbol::variable("x");
  Symbol composed = net.compose({}, {{"a", x * 2.0}});
  EXPECT_EQ(composed.listArguments(), (Names{"x", "b"}));
  EXPECT_EQ(net.listArguments(), (Names{"a", "b"}));
  EXPECT_EQ(net.compose({x, x}).listArguments(), (Names{"x"}));
  EXPECT_EQ(errorOf(net.compose({x, x, x})),
            "expected at most 2 arguments, got 3");
  EXPECT_EQ(errorOf(net.compose({}, {{"c", x}})),
            "expected an argument of the symbol, got 'c'");
  EXPECT_EQ(errorOf(net.compose({x}, {{"a", x}})),
            "argument 'a' is given twice");
}

TEST(SymbolTest, AuxiliaryStatesAreVariables) {
  NameScope names;
  Symbol data = Symbol::variable("data");
  EXPECT_EQ(errorOf(Symbol::apply("BatchNorm", {data}, {}, "bn",
                                  {{"moving_mean", data * 2.0}})),
            "node 'bn' (BatchNorm): expected a variable for input "
            "'moving_mean', which is written, got node '_mulscalar0' "
            "(_mul_scalar)");
  Symbol net = makeNet();
  EXPECT_EQ(errorOf(net.compose({}, {{"bn_moving_var", data * 2.0}})),
            "node 'bn' (BatchNorm): expected a variable for input "
            "'moving_var', which is written, got node '_mulscalar1' "
            "(_mul_scalar)");
}

TEST(SymbolTest, CopiesAreApart) {
  Symbol net = makeNet(), copy = net.copy();
  EXPECT_EQ(copy.print(), net.print());
  ASSERT_TRUE(copy.setAttribute("act_type", "tanh").isOk());
  EXPECT_EQ(net.attributes()["act_type"], "relu");
  EXPECT_EQ(copy.attributes()["act_type"], "tanh");
}

TEST(SymbolTest, HasArithmetic) {
  NameScope names;
  Symbol a = Symbol::variable("a"), b = Symbol::variable("b");
  Symbol d = 1.0 - (a + b) / 2.5;
  EXPECT_EQ(d.listOutputs(), (Names{"_rminusscalar0_output"}));
  EXPECT_EQ(d.children().listOutputs(), (Names{"_divscalar0_output"}));
  EXPECT_EQ(d.children().attributes()["scalar"], "2.5");
  EXPECT_EQ((a * b - b / a).size(), 1u);
}

//===-- The network -------------------------------------------------------===//

TEST(SymbolTest, ShowsInternalsAndChildren) {
  Symbol net = makeNet();
  EXPECT_EQ(
      net.internals().listOutputs(),
      (Names{"data", "fc_weight", "fc_bias", "fc_output", "bn_gamma", "bn_beta",
             "bn_moving_mean", "bn_moving_var", "bn_output", "act_output"}));
  Symbol fc = net.internals().output("fc_output");
  EXPECT_EQ(fc.listArguments(), (Names{"data", "fc_weight", "fc_bias"}));
  EXPECT_EQ(net.internals().output("fc").name(), "fc");
  EXPECT_EQ(fc.children().listOutputs(),
            (Names{"data", "fc_weight", "fc_bias"}));
  EXPECT_EQ(Symbol::variable("x").children().size(), 0u);
  EXPECT_EQ(errorOf(net.output("nothing")),
            "expected one output called 'nothing', got 0");
  EXPECT_EQ(errorOf(net[1]), "expected an output below 1, got 1");
}

TEST(SymbolTest, GroupsKeepOrderAndShareNodes) {
  Symbol a = Symbol::variable("a"), b = Symbol::variable("b");
  Symbol group = Symbol::group({b, a + b, a});
  EXPECT_EQ(group.size(), 3u);
  EXPECT_EQ(group.listArguments(), (Names{"b", "a"}));
  EXPECT_EQ(group.name(), "");
  EXPECT_EQ(group.nodes().size(), 3u);
}

TEST(SymbolTest, OrdersByControlDependencies) {
  Symbol a = Symbol::variable("a");
  Symbol first = Symbol::apply("exp", {a}, {}, "first");
  Symbol second = Symbol::apply("log", {Symbol::variable("b")}, {}, "second");
  ASSERT_TRUE(second.addControlDependencies(first).isOk());
  EXPECT_EQ(second.listArguments(), (Names{"b", "a"}));
  EXPECT_NE(second.print().find("Control deps:\n\tcdep[0]=first"),
            std::string::npos);
  rt::Status cycle = first.addControlDependencies(second);
  EXPECT_EQ(cycle.message(), "node 'first' (exp): expected no control "
                             "dependency on its own results");
  EXPECT_TRUE(second.copy().print() == second.print());
}

TEST(SymbolTest, PrintsNodes) {
  Symbol fc = Symbol::apply("FullyConnected", {Symbol::variable("x")},
                            {{"num_hidden", "4"}, {"no_bias", "1"}}, "fc");
  EXPECT_EQ(fc.print(), "Symbol Outputs:\n"
                        "\toutput[0]=fc(0)\n"
                        "Variable:x\n"
                        "Variable:fc_weight\n"
                        "--------------------\n"
                        "Op:FullyConnected, Name=fc\n"
                        "Inputs:\n"
                        "\targ[0]=x(0) version=0\n"
                        "\targ[1]=fc_weight(0) version=0\n"
                        "Attrs:\n"
                        "\tno_bias=1\n"
                        "\tnum_hidden=4\n");
}

TEST(SymbolTest, LongChainsEnd) {
  Symbol x = Symbol::variable("x");
  for (int i = 0; i < 50'000; ++i)
    x = Symbol::apply("relu", {x}, {}, "r");
  EXPECT_EQ(x.nodes().size(), 50'001u);
  Symbol copy = x.copy();
  x = Symbol();
  EXPECT_EQ(copy.listArguments(), (Names{"x"}));
  // Each node is the child of the next one twice.
  Symbol power = Symbol::variable("x");
  for (int i = 0; i < 50'000; ++i)
    power = Symbol::apply("elemwise_mul", {power, power}, {}, "m");
  EXPECT_EQ(power.nodes().size(), 50'001u);
}

//===-- Attributes and scopes ---------------------------------------------===//

TEST(SymbolTest, ReservedAttributesGetUnderscores) {
  Symbol x = Symbol::variable("x", {{"ctx_group", "g"}, {"mood", "angry"}});
  EXPECT_EQ(x.attributes(),
            (Attributes{{"__ctx_group__", "g"}, {"mood", "angry"}}));
  Symbol fc =
      Symbol::apply("FullyConnected", {x},
                    {{"num_hidden", "4"}, {"weight_lr_mult", "1.2"}}, "fc");
  auto attributes = fc.allAttributes();
  EXPECT_EQ(attributes["fc_weight"]["__lr_mult__"], "1.2");
  EXPECT_EQ(attributes["fc"], (Attributes{{"num_hidden", "4"}}));
  EXPECT_EQ(errorOf(Symbol::apply("relu", {x}, {{"mood", "angry"}})),
            "operator relu: expected no parameters, got parameter 'mood'");
}

TEST(SymbolTest, SetsAttributes) {
  Symbol fc = Symbol::apply("FullyConnected", {Symbol::variable("x")},
                            {{"num_hidden", "4"}}, "fc");
  EXPECT_TRUE(fc.setAttribute("ctx_group", "dev1").isOk());
  EXPECT_EQ(fc.attributes()["__ctx_group__"], "dev1");
  EXPECT_EQ(fc.setAttribute("num_hidden", "x").message(),
            "node 'fc' (FullyConnected): parameter 'num_hidden': expected an "
            "integer of at least 1, got 'x'");
  EXPECT_EQ(fc.attributes()["num_hidden"], "4");
  EXPECT_EQ(fc.setAttribute("no_bias", "True").message(),
            "node 'fc' (FullyConnected): expected attribute 'no_bias' to leave "
            "the inputs as they are");
  Symbol parts =
      Symbol::apply("SliceChannel", {fc}, {{"num_outputs", "4"}}, "parts");
  EXPECT_EQ(parts.setAttribute("num_outputs", "1").message(),
            "node 'parts' (SliceChannel): expected attribute 'num_outputs' to "
            "leave the outputs as they are");
  EXPECT_EQ(Symbol::atomic("SliceChannel", {{"num_outputs", "4"}})
                .setAttribute("num_outputs", "1")
                .message(),
            "node 'SliceChannel' (SliceChannel): expected attribute "
            "'num_outputs' to leave the outputs as they are");
  // One that is hidden counts too.
  Symbol random =
      Symbol::apply("LeakyReLU", {fc}, {{"act_type", "rrelu"}}, "random");
  EXPECT_EQ(random.setAttribute("act_type", "leaky").message(),
            "node 'random' (LeakyReLU): expected attribute 'act_type' to leave "
            "the outputs as they are");
  EXPECT_EQ(fc.setAttribute("__mood__", "\xff").message(),
            "expected UTF-8 without zeros in attribute '__mood__'");
  EXPECT_EQ(fc.setAttribute(std::string_view("a\0b", 3), "").message(),
            "expected UTF-8 without zeros in the name of an attribute");
  // As in MXNet, what concerns an input is said when the operator is made.
  EXPECT_FALSE(fc.setAttribute("weight_lr_mult", "2").isOk());
  Symbol group = Symbol::group({fc, fc.children()});
  EXPECT_EQ(group.setAttribute("a", "b").message(),
            "expected a symbol of one node to give attribute 'a' to");
}

TEST(SymbolTest, AttributeScopesNest) {
  AttributeScope outer({{"ctx_group", "one"}, {"__a__", "1"}});
  Symbol x;
  {
    AttributeScope inner({{"ctx_group", "two"}});
    x = Symbol::variable("x", {{"__a__", "2"}});
  }
  EXPECT_EQ(x.attributes(),
            (Attributes{{"__a__", "2"}, {"__ctx_group__", "two"}}));
  Symbol y = Symbol::apply("FullyConnected", {x}, {{"num_hidden", "1"}}, "y");
  EXPECT_EQ(y.attributes()["__ctx_group__"], "one");
  EXPECT_EQ(y.allAttributes()["y_weight"]["__ctx_group__"], "one");
  AttributeScope bad({{"__mood__", "\xff"}});
  EXPECT_EQ(errorOf(Symbol::variable("z")),
            "expected UTF-8 without zeros in attribute '__mood__'");
  EXPECT_EQ(errorOf(Symbol::atomic("relu")),
            "expected UTF-8 without zeros in attribute '__mood__'");
}

TEST(SymbolTest, NameScopesPrefixAndCount) {
  Symbol x = Symbol::variable("x");
  NameScope outer;
  EXPECT_EQ(Symbol::apply("relu", {x}).name(), "relu0");
  {
    NameScope inner("net_");
    EXPECT_EQ(Symbol::apply("relu", {x}).name(), "net_relu0");
    EXPECT_EQ(Symbol::apply("relu", {x}, {}, "mine").name(), "net_mine");
    EXPECT_EQ(Symbol::variable("v").name(), "v");
  }
  EXPECT_EQ(Symbol::apply("relu", {x}).name(), "relu1");
  EXPECT_EQ(Symbol::apply("FullyConnected", {x}, {{"num_hidden", "1"}}).name(),
            "fullyconnected0");
}

// As MXNet's test_thread_local.
TEST(SymbolTest, ScopesAreThoseOfTheirThread) {
  AttributeScope attributes({{"ctx_group", "one"}});
  NameScope names("net_");
  Symbol other;
  std::thread([&] {
    Symbol x = Symbol::variable("x");
    EXPECT_EQ(x.attributes(), Attributes());
    AttributeScope own({{"ctx_group", "two"}});
    other = Symbol::apply("relu", {x});
  }).join();
  EXPECT_EQ(other.name().find("net_"), std::string::npos);
  EXPECT_EQ(other.attributes()["__ctx_group__"], "two");
  Symbol mine = Symbol::apply("relu", {other});
  EXPECT_EQ(mine.name(), "net_relu0");
  EXPECT_EQ(mine.attributes()["__ctx_group__"], "one");
}

//===-- Numbers of everything ---------------------------------------------===//

TEST(IndexedGraphTest, NumbersNodesEntriesAndEdges) {
  Symbol a = Symbol::variable("a");
  Symbol parts =
      Symbol::apply("SliceChannel", {a}, {{"num_outputs", "2"}}, "s");
  Symbol bn = Symbol::apply("BatchNorm", {parts[1]}, {}, "bn");
  Symbol net = Symbol::group({bn + bn, parts[0]});
  IndexedGraph graph(net);
  // a, s, four variables, bn, sum.
  ASSERT_EQ(graph.nodeCount(), 8u);
  EXPECT_EQ(graph.entryCount(), 1u + 2 + 4 + 3 + 1);
  for (IndexedGraph::NodeId id = 0; id < graph.nodeCount(); ++id) {
    EXPECT_EQ(graph.idOf(graph.node(id)), id);
    for (const IndexedGraph::Use &use : graph.inputs(id))
      EXPECT_LT(use.node, id);
  }
  IndexedGraph::NodeId split = 1, norm = 6, sum = 7;
  EXPECT_EQ(graph.node(norm).name, "bn");
  EXPECT_EQ(graph.outputCount(norm), 3u);
  EXPECT_EQ(graph.entryId(split, 1), 2u);
  EXPECT_EQ(graph.nodeOf(2), split);
  EXPECT_EQ(graph.nodeOf(graph.entryId(sum, 0)), sum);
  EXPECT_EQ(graph.inputs(norm).size(), 5u);
  EXPECT_EQ(graph.inputs(norm)[0].index, 1u);
  // Both operands of the sum read the first output of bn.
  auto readers = graph.readers(graph.entryId(norm, 0));
  ASSERT_EQ(readers.size(), 2u);
  EXPECT_EQ(readers[0].node, sum);
  EXPECT_EQ(readers[1].input, 1u);
  EXPECT_EQ(graph.referenceCount(graph.entryId(norm, 0)), 2u);
  EXPECT_EQ(graph.referenceCount(graph.entryId(norm, 1)), 0u);
  // An output of the network counts as a reader.
  EXPECT_EQ(graph.referenceCount(graph.entryId(split, 0)), 1u);
  EXPECT_EQ(graph.inputNodes().size(), 5u);
  EXPECT_EQ(graph.argumentNodes().size(), 3u);
  ASSERT_EQ(graph.mutableNodes().size(), 2u);
  EXPECT_TRUE(graph.isMutable(graph.mutableNodes()[0]));
  EXPECT_EQ(graph.node(graph.mutableNodes()[0]).name, "bn_moving_mean");
  EXPECT_EQ(graph.outputs().size(), 2u);
}

TEST(IndexedGraphTest, CountsVersionsOfStates) {
  Symbol mean = Symbol::variable("mean"), x = Symbol::variable("x");
  NamedSymbols shared = {{"moving_mean", mean}};
  Symbol one = Symbol::apply("BatchNorm", {x}, {}, "one", shared);
  Symbol two = Symbol::apply("BatchNorm", {one}, {}, "two", shared);
  auto versionIn = [](const Symbol &symbol) {
    IndexedGraph graph(symbol);
    return graph.inputs(graph.outputs()[0].node)[3].version;
  };
  EXPECT_EQ(versionIn(one), 1u);
  EXPECT_EQ(versionIn(two), 2u);
  // The copy counts its own writes, and goes on with those of `mean`.
  Symbol three = Symbol::apply("BatchNorm", {x}, {}, "three");
  Symbol composed = three.compose({}, {{"three_moving_mean", mean}});
  EXPECT_EQ(versionIn(three), 1u);
  EXPECT_EQ(versionIn(composed), 3u);
  EXPECT_EQ(composed.outputs()[0].node->inputs[4].version, 1u);
  EXPECT_EQ(mean.outputs()[0].node->version, 3u);
  Symbol other = two.compose({}, {{"x", Symbol::variable("y")}});
  EXPECT_EQ(versionIn(other), 2u);
}
