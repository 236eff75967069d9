// SPDX-License-Identifier: Apache-2.0
//
// Files of NNVM's compiler: how they are told from those of MXNet, what their
// nodes become, and what is wrong with them.

#include "dlc/Symbol/Inference.h"
#include "dlc/Symbol/Json.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <fstream>
#include <sstream>

using namespace dlc;
using namespace dlc::symbol;

using Names = std::vector<std::string>;

static Symbol parse(std::string_view text) {
  rt::Result<Symbol> symbol = fromJson(text);
  return symbol.isOk() ? *symbol : Symbol(std::move(symbol.status()));
}

static std::string readInput() {
  std::ifstream file(DLC_TEST_INPUTS "/nnvm.json");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// With ' for ".
static std::string quoted(std::string text) {
  std::ranges::replace(text, '\'', '"');
  return text;
}

/// A file with three variables and one node.
static std::string fileWith(const std::string &op, const std::string &attrs,
                            const std::string &inputs = "[0, 0, 0]",
                            const std::string &ending = "") {
  return quoted("{'nodes': [{'op': 'null', 'name': 'a', 'inputs': []}, "
                "{'op': 'null', 'name': 'b', 'inputs': []}, "
                "{'op': 'null', 'name': 'c', 'inputs': []}, {'op': '" +
                op + "', 'name': 'n', 'attrs': {" + attrs + "}, 'inputs': [" +
                inputs + "]}], 'arg_nodes': [0, 1, 2], 'heads': [[3, 0, 0]]" +
                ending + "}");
}

static std::string errorOf(const std::string &op, const std::string &attrs,
                           const std::string &inputs = "[0, 0, 0]") {
  return parse(fileWith(op, attrs, inputs)).status().message();
}

TEST(NnvmTest, NodesBecomeOperatorsOfTheRegistry) {
  Symbol net = parse(readInput());
  ASSERT_TRUE(net.isOk()) << net.status().message();
  EXPECT_EQ(net.listArguments(), (Names{"data", "conv_weight", "conv_bias",
                                        "bn_gamma", "bn_beta", "fc_weight"}));
  EXPECT_EQ(net.listAuxiliaryStates(),
            (Names{"bn_moving_mean", "bn_moving_var"}));
  EXPECT_EQ(net.listOutputs(), (Names{"class_output", "fc_output"}));
  std::map<std::string, std::string_view> operators;
  for (const std::shared_ptr<Node> &node : net.nodes())
    if (!node->isVariable())
      operators[node->name] = node->op->name;
  EXPECT_EQ(operators["conv"], "transpose");
  EXPECT_EQ(operators["conv_nchw"], "Convolution");
  EXPECT_EQ(operators["bn"], "BatchNorm");
  EXPECT_EQ(operators["parts"], "_split_v2");
  EXPECT_EQ(operators["fc"], "FullyConnected");
  EXPECT_EQ(operators["class_place"], "argmax");
  EXPECT_EQ(operators["class"], "Cast");
}

TEST(NnvmTest, ShapesAreInferred) {
  KnownShapes known = {{"data", {2, 5, 7, 3}}};
  auto inferred = inferShapes(parse(readInput()), known, Completeness::Full);
  ASSERT_TRUE(inferred.isOk()) << inferred.status().message();
  EXPECT_EQ(toText(inferred->arguments[1]), "(3, 3, 3, 4)");
  EXPECT_EQ(toText(inferred->arguments.back()), "(2, 24)");
  EXPECT_EQ(toText(inferred->outputs.front()), "(2,)");
}

/// Also of nodes before that of the file, and where one has another name.
TEST(NnvmTest, MessagesNameTheNodesOfTheFile) {
  auto failure = [](const std::string &text, const KnownShapes &known) {
    Symbol net = parse(text);
    EXPECT_TRUE(net.isOk()) << net.status().message();
    auto inferred = inferShapes(net, known, Completeness::Full);
    return inferred.isOk() ? "" : inferred.status().message();
  };
  std::string message = failure(
      fileWith("conv2d",
               "'channels': '2', 'kernel_size': '(1, 1)', 'use_bias': '0', "
               "'layout': 'NHWC'",
               "[0, 0, 0], [1, 0, 0]"),
      {{"a", {1, 4, 4, 3}}, {"b", {2, 5, 1, 1}}});
  EXPECT_NE(message.find("node 'n' (conv2d)"), std::string::npos) << message;
  EXPECT_EQ(message.find("Convolution"), std::string::npos) << message;
  message = failure(fileWith("dense", "'units': '1', 'use_bias': '0'",
                             "[0, 0, 0], [1, 0, 0]"),
                    {{"a", {2, 3}}, {"b", {1, 5}}});
  EXPECT_NE(message.find("node 'n' (dense)"), std::string::npos) << message;
  message = failure(fileWith("__add_symbol__", "", "[0, 0, 0], [1, 0, 0]"),
                    {{"a", {2}}, {"b", {3}}});
  EXPECT_NE(message.find("node 'n' (__add_symbol__)"), std::string::npos)
      << message;
}

TEST(NnvmTest, IsWrittenAsANetworkOfMXNet) {
  Symbol net = parse(readInput());
  rt::Result<std::string> text = toJson(net);
  ASSERT_TRUE(text.isOk());
  EXPECT_NE(text->find("\"mxnet_version\""), std::string::npos);
  EXPECT_EQ(parse(*text).print(), net.print());
}

/// Where both have a name, the other nodes decide, or the version.
TEST(NnvmTest, FilesAreTold) {
  EXPECT_TRUE(parse(fileWith("split", "'num_outputs': '1'")).isOk());
  EXPECT_NE(errorOf("dense", "'num_hidden': '2'").find("units"),
            std::string::npos);
  std::string version = ", 'attrs': {'mxnet_version': ['int', 10901]}";
  EXPECT_EQ(parse(fileWith("dense", "'units': '2'", "[0, 0, 0]", version))
                .status()
                .message(),
            "unsupported: operator 'dense' of node 'n'");
}

TEST(NnvmTest, CompiledGraphsAreRefused) {
  rt::Status status =
      parse(fileWith("tvm_op", "'func_name': 'fuse_dense'")).status();
  EXPECT_EQ(status.code(), rt::StatusCode::Unsupported);
  EXPECT_EQ(status.message(),
            "unsupported: a graph that TVM compiled, whose nodes name kernels "
            "in a library beside the file; expected the graph before "
            "nnvm.compiler.build");
}

/// A node may become several, through which what is at fault is read.
TEST(NnvmTest, NothingBehindAFaultIsSound) {
  constexpr const char *text = R"json({"nodes": [
    {"op": "null", "name": "x", "inputs": []},
    {"op": "null", "name": "w", "inputs": []},
    {"op": "conv2d", "name": "c", "attrs": {"channels": "4", "kernel_size":
     "(3, 3)", "layout": "NHWC", "kernel_vayout": "HWIO", "use_bias": "0"},
     "inputs": [[0, 0, 0], [1, 0, 0]]},
    {"op": "avg_pool2d", "name": "p", "attrs": {"pool_size": "(2, 2)",
     "layout": "NHWC"}, "inputs": [[2, 0, 0]]},
    {"op": "avg_pool2d", "name": "q", "attrs": {"pool_size": "(2, 2)",
     "layout": "NHWC"}, "inputs": [[0, 0, 0]]}],
    "arg_nodes": [0, 1], "heads": [[3, 0, 0], [4, 0, 0]]})json";
  FileFaults all;
  EXPECT_FALSE(fromJson(text, &all).isOk());
  ASSERT_EQ(all.nodes.size(), 1u);
  EXPECT_EQ(all.nodes[0].node, "c");
  EXPECT_EQ(all.rest.listOutputs().size(), 1u);
  EXPECT_EQ(all.rest.listInputs(), std::vector<std::string>{"x"});
}

TEST(NnvmTest, SaysWhatItDoesNotSupport) {
  std::string text =
      fileWith("yolo_region", "",
               "[0, 0, 0]]}, {'op': 'relu', 'name': 'r', 'inputs': "
               "[[3, 4, 0]]}, {'op': 'dense', 'name': 'd', "
               "'inputs': [[4, 0, 0]");
  FileFaults all;
  EXPECT_FALSE(fromJson(text, &all).isOk());
  const std::vector<NodeFault> &faults = all.nodes;
  ASSERT_EQ(faults.size(), 2u);
  EXPECT_EQ(faults[0].status.message(),
            "unsupported: operator 'yolo_region' of node 'n' in a graph of "
            "NNVM");
  EXPECT_EQ(faults[1].node, "d");
  EXPECT_EQ(errorOf("upsampling", "'scale': '2', 'method': 'BILINEAR'"),
            "unsupported: node 'n' (upsampling): parameter 'method' of "
            "BILINEAR");
  EXPECT_EQ(errorOf("conv2d",
                    "'channels': '2', 'kernel_size': '(1, 1)', 'use_bias': "
                    "'0', 'padding': '(0, 0, 1, 1)'",
                    "[0, 0, 0], [1, 0, 0]"),
            "unsupported: node 'n' (conv2d): parameter 'padding' of more at "
            "one side");
}

TEST(NnvmTest, RefusesWhatContradictsItself) {
  auto pool = [](const std::string &attrs) {
    return errorOf("max_pool2d", "'pool_size': '(2, 2)', " + attrs);
  };
  EXPECT_EQ(errorOf("dense", "'units': '2'"),
            "node 'n' (dense): expected 3 inputs (data, weight, bias), got 1");
  EXPECT_EQ(
      errorOf("dense", "'units': '0', 'use_bias': '0'", "[0, 0, 0], [1, 0, 0]")
          .substr(0, 47),
      "node 'n' (dense): parameter 'units': expected a");
  EXPECT_EQ(errorOf("concatenate", "", ""),
            "node 'n' (concatenate): expected at least 1 input, got none");
  EXPECT_EQ(errorOf("max_pool2d", "'pool_size': '(2,)'"),
            "node 'n' (max_pool2d): parameter 'pool_size': expected 2 values, "
            "got 1");
  EXPECT_EQ(pool("'padding': '(1, 1, 1)'"),
            "node 'n' (max_pool2d): parameter 'padding': expected 1, 2 or 4 "
            "values, got 3");
  EXPECT_EQ(pool("'layout': 'NCHW16c'"),
            "node 'n' (max_pool2d): parameter 'layout': expected the "
            "dimensions of NCHW in some order, got 'NCHW16c'");
  EXPECT_EQ(pool("'stride': '(2, 2)'").substr(0, 47),
            "node 'n' (max_pool2d): expected a parameter out");
  for (const char *places :
       {"0", "(2, 2)", "(3, 1)", "(0,)", "x", "", "99999999999999999999"})
    EXPECT_NE(
        errorOf("dense', 'name': 'm', 'attrs': {'units': '1', 'use_bias': "
                "'0'}, 'inputs': [[0, 0, 0], [1, 0, 0]]}, {'op': 'split",
                "'indices_or_sections': '" + std::string(places) + "'")
            .find("expected a number of parts or rising places"),
        std::string::npos)
        << places;
  for (const char *widths : {"", "()", "(1, 1)", "((1, 1)", "((1, 1), (1,))",
                             "((1, -1),)", "((1, 1) (1, 1))", "[(1, 1])"})
    EXPECT_NE(
        errorOf("dense', 'name': 'm', 'attrs': {'units': '1', 'use_bias': "
                "'0'}, 'inputs': [[0, 0, 0], [1, 0, 0]]}, {'op': 'pad",
                "'pad_width': '" + std::string(widths) + "'")
            .find("expected pairs of numbers"),
        std::string::npos)
        << widths;
  EXPECT_EQ(errorOf("leaky_relu", "", "[7, 0, 0]"),
            "node 'n' (leaky_relu): input 0: expected the number of a node "
            "before it, below 3, got 7");
  EXPECT_EQ(errorOf("leaky_relu", "'alpha': 1"),
            "node 'n' (leaky_relu): expected text of attribute 'alpha'");
}

/// The rest of a file that ends anywhere is no network, and ends nothing else.
TEST(NnvmTest, AnyPrefixIsAnError) {
  std::string text = readInput();
  for (size_t size = 0; size + 2 < text.size(); ++size)
    EXPECT_FALSE(fromJson(std::string_view(text).substr(0, size)).isOk());
}
