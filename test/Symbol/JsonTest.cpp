// SPDX-License-Identifier: Apache-2.0

#include "dlc/Symbol/Json.h"
#include "dlc/Symbol/Inference.h"

#include "gtest/gtest.h"

#include <fstream>
#include <sstream>

using namespace dlc;
using namespace dlc::symbol;

namespace {

using Names = std::vector<std::string>;

std::string readInput(const std::string &name) {
  std::ifstream file(DLC_TEST_INPUTS "/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

Symbol parse(std::string_view text) {
  rt::Result<Symbol> symbol = fromJson(text);
  return symbol.isOk() ? *symbol : Symbol(std::move(symbol.status()));
}

/// A file with one relu on one variable, where `key` stands for `value`.
std::string errorWith(const std::string &key, const std::string &value) {
  std::string text = R"({
    "nodes": [{"op": "null", "name": "x", "inputs": []},
              {"op": "relu", "name": "r", "inputs": [[0, 0, 0]]}],
    "arg_nodes": [0],
    "heads": [[1, 0, 0]],
    "attrs": {"mxnet_version": ["int", 10901]}
  })";
  size_t at = text.find(key);
  EXPECT_NE(at, std::string::npos) << key;
  text.replace(at, key.size(), value);
  return parse(text).status().message();
}

} // namespace

TEST(JsonTest, WritesWhatItReads) {
  Symbol data = Symbol::variable("data", {{"__shape__", "(1, 3)"}});
  Symbol fc =
      Symbol::apply("FullyConnected", {data}, {{"num_hidden", "2"}}, "fc");
  Symbol bn = Symbol::apply("BatchNorm", {fc}, {}, "bn");
  Symbol net = Symbol::group(
      {bn + 1.5, Symbol::apply("SliceChannel", {bn}, {{"num_outputs", "2"}},
                               "parts")[1]});
  ASSERT_TRUE(net.addControlDependencies(Symbol::variable("first")).isOk());
  rt::Result<std::string> text = toJson(net);
  ASSERT_TRUE(text.isOk()) << text.status().message();
  Symbol again = parse(*text);
  ASSERT_TRUE(again.isOk()) << again.status().message();
  EXPECT_EQ(again.print(), net.print());
  EXPECT_EQ(*toJson(again), *text);
}

TEST(JsonTest, HasTheFormOfMXNet) {
  Symbol x = Symbol::variable("x");
  EXPECT_EQ(*toJson(Symbol::apply("relu", {x}, {}, "r")), R"({
  "nodes": [
    {
      "op": "null",
      "name": "x",
      "inputs": []
    },
    {
      "op": "relu",
      "name": "r",
      "inputs": [
        [
          0,
          0,
          0
        ]
      ]
    }
  ],
  "arg_nodes": [
    0
  ],
  "node_row_ptr": [
    0,
    1,
    2
  ],
  "heads": [
    [
      1,
      0,
      0
    ]
  ],
  "attrs": {
    "mxnet_version": [
      "int",
      10901
    ]
  }
}
)");
}

TEST(JsonTest, RefusesToWriteNothing) {
  EXPECT_EQ(toJson(Symbol()).status().message(),
            "expected a symbol with outputs, got none");
  EXPECT_EQ(toJson(Symbol::apply("no_such", {})).status().message(),
            "unknown operator 'no_such'");
  EXPECT_EQ(toJson(Symbol::atomic("relu")).status().message(),
            "node 'relu' (relu): expected an operator that is applied");
}

TEST(JsonTest, BringsOldFilesUpToDate) {
  Symbol net = parse(readInput("mlp-0.8.json"));
  ASSERT_TRUE(net.isOk()) << net.status().message();
  EXPECT_EQ(net.listArguments(),
            (Names{"data", "fc1_weight", "fc1_bias", "bn_gamma", "bn_beta",
                   "softmax_label"}));
  // Auxiliary states were not written down.
  EXPECT_EQ(net.listAuxiliaryStates(),
            (Names{"bn_moving_mean", "bn_moving_var"}));
  auto attributes = net.allAttributes();
  EXPECT_EQ(attributes["data"],
            (Attributes{{"__ctx_group__", "stage1"}, {"__lr_mult__", "0.2"}}));
  EXPECT_EQ(attributes["fc1_weight"], (Attributes{{"__ctx_group__", "stage1"},
                                                  {"__lr_mult__", "1.2"},
                                                  {"__wd_mult__", "0.3"}}));
  EXPECT_EQ(attributes["fc1"], (Attributes{{"__ctx_group__", "stage1"},
                                           {"no_bias", "False"},
                                           {"num_hidden", "4"}}));
  EXPECT_EQ(attributes["bn_moving_mean"]["__init__"], "[\"zero\", {}]");
  EXPECT_EQ(attributes["bn_moving_var"]["__init__"], "[\"one\", {}]");
}

TEST(JsonTest, UpgradesDependOnTheVersion) {
  auto file = [](const std::string &attrs) {
    return R"({"nodes": [{"op": "null", "name": "x", "inputs": []},
      {"op": "argmax", "name": "a", "attr": {"axis": "-1"},
       "inputs": [[0, 0, 0]]}],
      "arg_nodes": [0], "heads": [[1, 0, 0]])" +
           attrs + "}";
  };
  Symbol old = parse(file(R"(, "attrs": {"mxnet_version": ["int", 904]})"));
  EXPECT_EQ(old.attributes(), Attributes());
  Symbol later = parse(file(R"(, "attrs": {"mxnet_version": ["int", 905]})"));
  EXPECT_EQ(later.attributes(), (Attributes{{"axis", "-1"}}));
  EXPECT_EQ(parse(file("")).attributes(), Attributes());
}

TEST(JsonTest, MissingInputsAreErrorsSinceTheyAreWritten) {
  std::string text = R"({"nodes": [{"op": "null", "name": "x", "inputs": []},
      {"op": "BatchNorm", "name": "bn", "inputs": [[0, 0, 0]]}],
      "arg_nodes": [0], "heads": [[1, 0, 0]],
      "attrs": {"mxnet_version": ["int", 10000]}})";
  EXPECT_EQ(parse(text).status().message(),
            "node 'bn' (BatchNorm): expected 5 inputs (data, gamma, beta, "
            "moving_mean, moving_var), got 1");
}

/// How many there are is a number in the file: nothing is made up by it.
TEST(JsonTest, OperandsInNumbersAreNeverMissing) {
  EXPECT_EQ(parse(R"({"nodes": [
                {"op": "add_n", "name": "s", "attr": {"num_args": "65536"},
                 "inputs": []}],
              "arg_nodes": [], "heads": [[0, 0, 0]]})")
                .status()
                .message(),
            "node 's' (add_n): expected 65536 inputs (arg0, arg1, arg2, arg3, "
            "arg4, arg5, arg6, arg7), got 0");
}

TEST(JsonTest, RefusesMalformedText) {
  EXPECT_NE(parse("").status().message().find("malformed JSON"),
            std::string::npos);
  EXPECT_EQ(parse("{\"nodes\": [").status().code(), rt::StatusCode::DataLoss);
  EXPECT_EQ(parse("[]").status().message(), "expected an object at the top");
  EXPECT_EQ(parse("{}").status().message(), "expected an array in 'nodes'");
  EXPECT_EQ(parse(std::string(100'000, '[')).status().message(),
            "expected at most 64 nested values");
  // Brackets in text do not nest.
  EXPECT_EQ(errorWith("\"x\"", "\"" + std::string(100, '[') + "\""), "");
}

TEST(JsonTest, RefusesWhatContradictsItself) {
  EXPECT_EQ(errorWith("\"x\"", "\"x\""), "");
  EXPECT_EQ(errorWith("\"x\"", "7"), "node 0: expected text in 'name'");
  EXPECT_EQ(errorWith("\"x\"", "\"\""),
            "node 0: expected a name of the variable, got an empty one");
  EXPECT_EQ(errorWith("[[0, 0, 0]]", "[[1, 0, 0]]"),
            "node 'r' (relu): input 0: expected the number of a node before "
            "it, below 1, got 1");
  EXPECT_EQ(errorWith("[[0, 0, 0]]", "[[-1, 0, 0]]"),
            "node 'r' (relu): input 0: expected the number of a node before "
            "it, below 1, got -1");
  EXPECT_EQ(errorWith("[[0, 0, 0]]", "[[0, 1, 0]]"),
            "node 'r' (relu): input 0: expected an output of variable 'x' "
            "below 1, got 1");
  EXPECT_EQ(errorWith("[[0, 0, 0]]", "[[0]]"),
            "node 'r' (relu): input 0: expected [node, output, version]");
  EXPECT_EQ(errorWith("[[0, 0, 0]]", "[]"),
            "node 'r' (relu): expected 1 inputs (data), got 0");
  EXPECT_EQ(errorWith("\"heads\": [[1, 0, 0]]", "\"heads\": [[1, 1, 0]]"),
            "head 0: expected an output of node 'r' (relu) below 1, got 1");
  EXPECT_EQ(errorWith("\"heads\": [[1, 0, 0]]", "\"heads\": []"),
            "expected entries in 'heads'");
  EXPECT_EQ(errorWith("\"arg_nodes\": [0]", "\"arg_nodes\": [1]"),
            "expected numbers of variables in 'arg_nodes'");
  EXPECT_EQ(errorWith("\"inputs\": []}", "\"inputs\": [[0, 0]]}"),
            "variable 'x': expected no inputs");
  EXPECT_EQ(errorWith("10901", "\"new\""),
            "expected mxnet_version as [\"int\", number]");
  EXPECT_EQ(errorWith("\"relu\", \"name\": \"r\"",
                      "\"relu\", \"name\": \"r\", \"control_deps\": [1]"),
            "node 'r' (relu): expected control dependencies on nodes before "
            "it, got 1");
}

TEST(JsonTest, SaysWhatItDoesNotSupport) {
  EXPECT_EQ(
      errorWith("\"relu\"", "\"Custom\""),
      "unsupported: operator 'Custom' of node 'r': code of a Python program "
      "that no file holds");
  EXPECT_EQ(
      errorWith("\"name\": \"r\"", "\"name\": \"r\", \"subgraphs\": [{}]"),
      "unsupported: subgraphs of node 'r' (relu)");
  EXPECT_EQ(errorWith("\"mxnet_version\"",
                      "\"is_np_shape\": [\"int\", 0], \"mxnet_version\""),
            "");
  EXPECT_EQ(errorWith("\"name\": \"r\"",
                      "\"name\": \"r\", \"attrs\": {\"axis\": \"1\"}"),
            "node 'r' (relu): expected no parameters, got parameter 'axis'");
}

TEST(JsonTest, ShowsWhatFilesSayAsText) {
  EXPECT_EQ(errorWith("\"relu\", \"name\": \"r\"",
                      R"("\u001b[2J", "name": "\u009b1m")"),
            "unsupported: operator '\\x1b[2J' of node '\\xc2\\x9b1m'");
  EXPECT_EQ(
      errorWith("\"name\": \"r\"",
                R"("name": "\u0007", "attrs": {"a\nb": "1"})"),
      "node '\\x07' (relu): expected no parameters, got parameter 'a\\x0ab'");
  EXPECT_EQ(errorWith("\"name\": \"r\"", R"("name": "r", "attrs": {"\r": 1})"),
            "node 'r' (relu): expected text of attribute '\\x0d'");
}

/// Where the caller wants to know, every operator that is at fault is told, and
/// not what only reads of one.
TEST(JsonTest, AllFaultsAtOnce) {
  constexpr const char *text = R"({"nodes": [
    {"op": "null", "name": "x", "inputs": []},
    {"op": "Custom", "name": "a", "inputs": [[0, 0, 0]]},
    {"op": "relu", "name": "b", "inputs": [[1, 7, 0]]},
    {"op": "sofmax", "name": "c", "inputs": [[2, 0, 0]]},
    {"op": "relu", "name": "d", "attr": {"axis": "1"}, "inputs": []},
    {"op": "relu", "name": "e", "inputs": [[0, 0, 0]]}],
    "arg_nodes": [0], "heads": [[3, 0, 0], [9, 0, 0], [5, 0, 0]]})";
  FileFaults all;
  rt::Result<Symbol> symbol = fromJson(text, &all);
  ASSERT_FALSE(symbol.isOk());
  const std::vector<NodeFault> &faults = all.nodes;
  ASSERT_EQ(faults.size(), 4u);
  EXPECT_EQ(symbol.status().message(), faults[0].status.message());
  EXPECT_EQ(faults[0].node, "a");
  EXPECT_EQ(faults[0].op, "Custom");
  EXPECT_NE(faults[0].status.message().find("Python"), std::string::npos);
  EXPECT_EQ(faults[1].node, "c");
  EXPECT_EQ(faults[1].alternative, "operator softmax");
  EXPECT_EQ(faults[2].node, "d");
  EXPECT_EQ(faults[2].status.code(), rt::StatusCode::InvalidArgument);
  EXPECT_EQ(faults[3].node, "");
  EXPECT_EQ(faults[3].status.message(),
            "head 1: expected the number of a node before it, below 6, got 9");
  EXPECT_EQ(all.rest.listOutputs(), std::vector<std::string>{"e_output"});
}

/// Wrong parameters of one operator do not hide each other, and what ends a
/// file does not hide them.
TEST(JsonTest, AllParametersAtOnce) {
  constexpr const char *text = R"json({"nodes": [
    {"op": "null", "name": "x", "inputs": []},
    {"op": "Pooling", "name": "p", "attrs": {"kernel": "(2", "stride": "(0, 1)",
     "pool_typ": "max", "pooling_convention": "ful"}, "inputs": [[0, 0, 0]]},
    {"op": "null", "inputs": []}],
    "arg_nodes": [0], "heads": [[1, 0, 0]]})json";
  FileFaults all;
  ASSERT_FALSE(fromJson(text, &all).isOk());
  ASSERT_EQ(all.nodes.size(), 5u);
  EXPECT_EQ(all.nodes[0].alternative, "pool_type");
  EXPECT_NE(all.nodes[1].status.message().find("'kernel'"), std::string::npos);
  EXPECT_EQ(all.nodes[2].alternative, "pooling_convention=full");
  EXPECT_NE(all.nodes[3].status.message().find("'stride'"), std::string::npos);
  EXPECT_EQ(all.nodes[4].status.message(), "node 2: expected text in 'name'");
  EXPECT_TRUE(all.rest.listOutputs().empty());
}

TEST(JsonTest, KeepsNumpyShapes) {
  constexpr const char *text = R"({"nodes": [
    {"op": "null", "name": "x", "inputs": []},
    {"op": "sum", "name": "s", "inputs": [[0, 0, 0]]}],
    "arg_nodes": [0], "heads": [[1, 0, 0]],
    "attrs": {"is_np_shape": ["int", 2], "mxnet_version": ["int", 10901]}})";
  rt::Result<Symbol> symbol = fromJson(text);
  ASSERT_TRUE(symbol.isOk()) << symbol.status().message();
  rt::Result<std::string> written = toJson(*symbol);
  ASSERT_TRUE(written.isOk());
  EXPECT_NE(written->find("is_np_shape"), std::string::npos);
  EXPECT_EQ(written->find("__np_shape__"), std::string::npos);
  // A sum over everything is a scalar there, and has one dimension elsewhere.
  auto shapes = inferShapes(*symbol, {{"x", {2, 3}}}, Completeness::Full);
  ASSERT_TRUE(shapes.isOk()) << shapes.status().message();
  EXPECT_EQ(shapes->outputs[0], Shape(std::vector<int64_t>{}));
  std::string old = text;
  old.replace(old.find("2], \"mx"), 1, "0");
  shapes = inferShapes(*fromJson(old), {{"x", {2, 3}}}, Completeness::Full);
  ASSERT_TRUE(shapes.isOk());
  EXPECT_EQ(shapes->outputs[0], Shape(std::vector<int64_t>{1}));
}

TEST(JsonTest, KeepsNumpyOperatorsWithoutNumpyShapes) {
  rt::Result<Symbol> symbol = fromJson(R"({"nodes": [
    {"op": "null", "name": "x", "inputs": []},
    {"op": "_np_sum", "name": "s", "inputs": [[0, 0, 0]]}],
    "arg_nodes": [0], "heads": [[1, 0, 0]],
    "attrs": {"mxnet_version": ["int", 10901]}})");
  ASSERT_TRUE(symbol.isOk()) << symbol.status().message();
  rt::Result<std::string> written = toJson(*symbol);
  ASSERT_TRUE(written.isOk());
  EXPECT_EQ(written->find("np_shape"), std::string::npos);
  rt::Result<Symbol> again = fromJson(*written);
  ASSERT_TRUE(again.isOk()) << again.status().message();
  EXPECT_EQ(again->print(), symbol->print());
}

/// A loop over rows of x, of which the body adds y to each.
static std::string loopText(const std::string &body) {
  return R"({"nodes": [
    {"op": "null", "name": "x", "inputs": []},
    {"op": "null", "name": "y", "inputs": []},
    {"op": "_foreach", "name": "f", "inputs": [[0, 0, 0], [1, 0, 0]],
     "attrs": {"num_args": "3", "num_outputs": "1", "num_out_data": "1",
               "in_data_locs": "[0]", "in_state_locs": "[]",
               "remain_locs": "[1]"},
     "subgraphs": [)" +
         body + R"(]}],
    "arg_nodes": [0, 1], "heads": [[2, 0, 0]],
    "attrs": {"mxnet_version": ["int", 10901]}})";
}

static std::string bodyText(const std::string &op, const std::string &more) {
  return R"({"nodes": [
    {"op": "null", "name": "row", "inputs": []},
    {"op": "null", "name": "y", "inputs": []},
    {"op": ")" +
         op + R"(", "name": "sum", "inputs": [[0, 0, 0], [1, 0, 0]]}],
    "arg_nodes": [0, 1], "heads": [[2, 0, 0])" +
         more + "]}";
}

TEST(JsonTest, SubgraphsStay) {
  std::string text = loopText(bodyText("elemwise_add", ""));
  for (int time = 0; time < 2; ++time) {
    rt::Result<Symbol> symbol = fromJson(text);
    ASSERT_TRUE(symbol.isOk()) << symbol.status().message();
    // What the body says of y follows from x, and back.
    auto shapes = inferShapes(*symbol, {{"x", {5, 2, 3}}}, Completeness::Full);
    ASSERT_TRUE(shapes.isOk()) << shapes.status().message();
    EXPECT_EQ(shapes->arguments[1], Shape({2, 3}));
    EXPECT_EQ(shapes->outputs[0], Shape({5, 2, 3}));
    rt::Result<std::string> written = toJson(symbol->copy());
    ASSERT_TRUE(written.isOk());
    text = *written;
  }
}

TEST(JsonTest, SubgraphsMustFit) {
  auto errorOf = [](const std::string &text) {
    rt::Result<Symbol> symbol = fromJson(text);
    if (!symbol.isOk())
      return symbol.status().message();
    auto shapes = inferShapes(*symbol, {{"x", {5, 2}}}, Completeness::Full);
    return shapes.isOk() ? std::string() : shapes.status().message();
  };
  EXPECT_EQ(errorOf(loopText("")),
            "node 'f' (_foreach): expected 1 subgraphs, got 0");
  EXPECT_EQ(errorOf(loopText("7")),
            "node 'f' (_foreach): subgraph 0: expected an object");
  EXPECT_EQ(errorOf(loopText("{}")),
            "node 'f' (_foreach): subgraph 0: expected an array in 'nodes'");
  std::string body = bodyText("elemwise_add", "");
  EXPECT_EQ(errorOf(loopText(body)), "");
  EXPECT_EQ(errorOf(loopText(body + ", " + body)),
            "node 'f' (_foreach): expected 1 subgraphs, got 2");
  EXPECT_EQ(errorOf(loopText(bodyText("elemwise_add", ", [0, 0, 0]"))),
            "node 'f' (_foreach): expected 1 outputs of subgraph 0, got 2");
  EXPECT_EQ(errorOf(loopText(bodyText("relu", ""))),
            "node 'f' (_foreach): subgraph 0: node 'sum' (relu): expected 1 "
            "inputs (data), got 2");
  auto changed = [&](const std::string &from, const std::string &to) {
    std::string text = loopText(body);
    text.replace(text.find(from), from.size(), to);
    return errorOf(text);
  };
  EXPECT_EQ(changed("\"num_args\": \"3\"", "\"num_args\": \"4\""),
            "node 'f' (_foreach): expected 3 inputs (arg0, arg1, arg2), got 2");
  EXPECT_EQ(changed("\"remain_locs\": \"[1]\"", "\"remain_locs\": \"[0]\""),
            "node 'f' (_foreach): expected the numbers below 2 once each in "
            "parameters 'in_data_locs', 'in_state_locs' and 'remain_locs', got "
            "0");
  EXPECT_EQ(changed("\"remain_locs\": \"[1]\"", "\"remain_locs\": \"[]\""),
            "node 'f' (_foreach): expected a place for each of the 2 variables "
            "of subgraph 0, got 1");
  EXPECT_EQ(changed("\"num_out_data\": \"1\"", "\"num_out_data\": \"0\""),
            "node 'f' (_foreach): expected parameter 'num_outputs' to count "
            "data and states, 0 and 0, got 1");
}

/// A fully connected layer on small integers whose subgraph is `body`.
static std::string fusedText(const std::string &body, int inputs,
                             const std::string &outputs = "[3, 0, 0]") {
  std::string nodes, places;
  for (int i = 0; i < inputs; ++i) {
    std::string place = std::to_string(i);
    nodes += R"({"op": "null", "name": "v)" + place + R"(", "inputs": [])" +
             (i ? "" : R"(, "attrs": {"__dtype__": "5"})") + "}, ";
    places += (i ? ", [" : "[") + place + ", 0, 0]";
  }
  return "{\"nodes\": [" + nodes +
         R"({"op": "_sg_mkldnn_fully_connected", "name": "f",
     "attrs": {"quantized": "True", "min_calib_range": "-1",
               "max_calib_range": "1"}, "inputs": [)" +
         places + R"(], "subgraphs": [{"nodes": [
    {"op": "null", "name": "x", "inputs": []},
    {"op": "null", "name": "w", "inputs": []}, )" +
         body + R"(], "arg_nodes": [0, 1], "heads": [)" + outputs +
         R"(]}]}], "arg_nodes": [], "heads": [[)" + std::to_string(inputs) +
         R"(, 0, 0]], "attrs": {"mxnet_version": ["int", 10901]}})";
}

TEST(JsonTest, FusedLayersMustFit) {
  auto errorOf = [](const std::string &text) {
    rt::Result<Symbol> symbol = fromJson(text);
    if (!symbol.isOk())
      return symbol.status().message();
    auto shapes = inferShapes(*symbol, {{"v0", {5, 2}}}, Completeness::Full);
    return shapes.isOk() ? std::string() : shapes.status().message();
  };
  auto layer = [](const char *inputs, const char *noBias = "True") {
    return R"({"op": "FullyConnected", "name": "fc", "inputs": )" +
           std::string(inputs) +
           R"(, "attrs": {"num_hidden": "2", "no_bias": ")" + noBias + R"("}})";
  };
  std::string plain = layer("[[0, 0, 0], [1, 0, 0]]");
  std::string relu = R"({"op": "relu", "name": "r", "inputs": [[0, 0, 0]]})";
  EXPECT_EQ(errorOf(fusedText(plain, 6, "[2, 0, 0]")), "");
  EXPECT_EQ(errorOf(fusedText(plain, 5, "[2, 0, 0]")),
            "node 'f' (_sg_mkldnn_fully_connected): expected 6 inputs (x, w, "
            "min_data, max_data, min_weight, max_weight), got 5");
  EXPECT_EQ(errorOf(fusedText(plain, 6, "[2, 0, 0], [2, 0, 0]")),
            "node 'f' (_sg_mkldnn_fully_connected): expected 1 outputs of "
            "subgraph 0, got 2");
  // A function in front of the layer.
  EXPECT_EQ(
      errorOf(fusedText(relu + ", " + layer("[[2, 0, 0], [1, 0, 0]]"), 6)),
      "unsupported: node 'f' (_sg_mkldnn_fully_connected): a subgraph in "
      "another order");
  EXPECT_EQ(errorOf(fusedText(plain + ", " + relu, 6, "[2, 0, 0]")), "");
  EXPECT_EQ(errorOf(fusedText(relu, 6, "[2, 0, 0]")),
            "node 'f' (_sg_mkldnn_fully_connected): expected 5 inputs (x, "
            "min_data, max_data, min_weight, max_weight), got 6");
  EXPECT_EQ(
      errorOf(fusedText(plain + ", " + layer("[[2, 0, 0], [1, 0, 0]]"), 6)),
      "unsupported: node 'f' (_sg_mkldnn_fully_connected): a subgraph "
      "with node 'fc' (FullyConnected)");
}

TEST(JsonTest, FaultsInSubgraphsAreThoseOfTheirNodes) {
  FileFaults all;
  EXPECT_FALSE(fromJson(loopText(bodyText("Custom", "")), &all).isOk());
  const std::vector<NodeFault> &faults = all.nodes;
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0].node, "sum");
  EXPECT_EQ(faults[0].op, "Custom");
}

/// What is no longer told is at fault all the same.
TEST(JsonTest, FaultsBeyondTheirNumberAreFaults) {
  std::string text = loopText(bodyText("Custom", "")), many;
  for (int i = 0; i < 1000; ++i)
    many += R"({"op": "Custom", "name": "c", "inputs": [[0, 0, 0]]}, )";
  text.insert(text.find(R"({"op": "_foreach")"), many);
  text.replace(text.find("\"heads\": [[2, 0, 0]],\n    \"attrs\": {\"mxnet"),
               20, "\"heads\": [[1002, 0, 0]]");
  FileFaults all;
  EXPECT_FALSE(fromJson(text, &all).isOk());
  EXPECT_EQ(all.nodes.size(), 1000u);
  EXPECT_TRUE(all.rest.listOutputs().empty());
}

/// Subgraphs in subgraphs, and many loops, would take more than any time.
TEST(JsonTest, SubgraphsHaveBounds) {
  std::string text = bodyText("elemwise_add", "");
  for (int level = 0; level < 4; ++level)
    text = loopText(text);
  EXPECT_TRUE(fromJson(text).isOk());
  rt::Result<Symbol> deep = fromJson(loopText(text));
  ASSERT_FALSE(deep.isOk());
  EXPECT_NE(deep.status().message().find("subgraphs in more than 4 others"),
            std::string::npos)
      << deep.status().message();

  rt::Result<Symbol> loop = fromJson(loopText(bodyText("elemwise_add", "")));
  ASSERT_TRUE(loop.isOk());
  Symbol y = Symbol::variable("y");
  std::vector<Symbol> many;
  for (int i = 0; i < 12; ++i)
    many.push_back(
        loop->copy().compose({Symbol::variable("x" + std::to_string(i)), y}));
  KnownShapes shapes;
  for (int i = 0; i < 12; ++i)
    shapes["x" + std::to_string(i)] = {8000, 1};
  auto inferred =
      inferShapes(Symbol::group(many), shapes, Completeness::Partial);
  ASSERT_FALSE(inferred.isOk());
  EXPECT_NE(inferred.status().message().find("loops of more than 65536 nodes"),
            std::string::npos)
      << inferred.status().message();
}

TEST(JsonTest, ProgramsCannotMakeSubgraphs) {
  Symbol loop = Symbol::atomic("_foreach", {{"num_args", "2"}});
  EXPECT_EQ(loop.status().message(),
            "unsupported: operator '_foreach' without the subgraphs that a "
            "file gives it");
}
