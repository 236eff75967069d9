/* SPDX-License-Identifier: Apache-2.0
 *
 * The C API of symbols from C: a network is composed, listed, written, read,
 * inferred, compiled and run.
 */

#include "dlc-c/Symbol.h"

#include "../runtime/CAPI/Check.h"

static DlcSymbol variable(const char *name) {
  DlcSymbol symbol = NULL;
  CHECK_OK(dlcSymbolCreateVariable(name, &symbol));
  return symbol;
}

/* An operator with one parameter. */
static DlcSymbol atomic(const char *op, const char *key, const char *value) {
  DlcSymbol symbol = NULL;
  CHECK_OK(dlcSymbolCreateAtomic(op, &key, &value, key ? 1 : 0, &symbol));
  return symbol;
}

/* data -> FullyConnected -> BatchNorm. */
static DlcSymbol network(void) {
  DlcSymbol data = variable("data");
  DlcSymbol fc = atomic("FullyConnected", "num_hidden", "2");
  DlcSymbol bn = atomic("BatchNorm", NULL, NULL);
  CHECK_OK(dlcSymbolCompose(fc, "fc", NULL, &data, 1));
  CHECK_OK(dlcSymbolCompose(bn, "bn", NULL, &fc, 1));
  dlcSymbolDestroy(data);
  dlcSymbolDestroy(fc);
  return bn;
}

static int isList(const char *const *names, size_t count,
                  const char *const *expected, size_t expectedCount) {
  int equal = count == expectedCount;
  for (size_t i = 0; equal && i < count; ++i)
    equal = strcmp(names[i], expected[i]) == 0;
  return equal;
}

static void testLists(void) {
  static const char *const arguments[] = {"data", "fc_weight", "fc_bias",
                                          "bn_gamma", "bn_beta"};
  static const char *const states[] = {"bn_moving_mean", "bn_moving_var"};
  static const char *const outputs[] = {"bn_output"};
  DlcSymbol net = network();
  const char *const *names = NULL;
  size_t count = 0;
  CHECK_OK(dlcSymbolListArguments(net, &names, &count));
  CHECK(isList(names, count, arguments, 5));
  CHECK_OK(dlcSymbolListAuxiliaryStates(net, &names, &count));
  CHECK(isList(names, count, states, 2));
  CHECK_OK(dlcSymbolListOutputs(net, &names, &count));
  CHECK(isList(names, count, outputs, 1));
  CHECK_OK(dlcSymbolListInputs(net, &names, &count));
  CHECK(count == 7);
  const char *text = NULL;
  CHECK_OK(dlcSymbolName(net, &text));
  CHECK(text && strcmp(text, "bn") == 0);
  CHECK_OK(dlcSymbolPrint(net, &text));
  CHECK(text && strstr(text, "Op:BatchNorm, Name=bn"));
  DlcSymbol internals = NULL, fc = NULL, children = NULL;
  CHECK_OK(dlcSymbolGetInternals(net, &internals));
  CHECK_OK(dlcSymbolGetOutput(internals, 3, &fc));
  CHECK_OK(dlcSymbolName(fc, &text));
  CHECK(strcmp(text, "fc") == 0);
  CHECK_OK(dlcSymbolGetChildren(fc, &children));
  CHECK_OK(dlcSymbolListOutputs(children, &names, &count));
  CHECK(count == 3 && strcmp(names[0], "data") == 0);
  CHECK_ERROR(dlcSymbolGetOutput(net, 1, &fc), DLC_INVALID_ARGUMENT,
              "expected an output below 1, got 1");
  dlcSymbolDestroy(children);
  dlcSymbolDestroy(fc);
  dlcSymbolDestroy(internals);
  dlcSymbolDestroy(net);
}

static void testAttributes(void) {
  DlcSymbol net = network();
  const char *value = "";
  CHECK_OK(dlcSymbolGetAttribute(net, "ctx_group", &value));
  CHECK(value == NULL);
  CHECK_OK(dlcSymbolSetAttribute(net, "ctx_group", "dev1"));
  CHECK_OK(dlcSymbolGetAttribute(net, "ctx_group", &value));
  CHECK(value && strcmp(value, "dev1") == 0);
  CHECK_ERROR(dlcSymbolSetAttribute(net, "eps", "x"), DLC_INVALID_ARGUMENT,
              "node 'bn' (BatchNorm): parameter 'eps': expected a number");
  const char *const *pairs = NULL;
  size_t count = 0;
  CHECK_OK(dlcSymbolListAttributes(net, 0, &pairs, &count));
  CHECK(count == 1 && strcmp(pairs[0], "__ctx_group__") == 0 &&
        strcmp(pairs[1], "dev1") == 0);
  CHECK_OK(dlcSymbolListAttributes(net, 1, &pairs, &count));
  int found = 0;
  for (size_t i = 0; i < count; ++i)
    found |= strcmp(pairs[2 * i], "fc$num_hidden") == 0 &&
             strcmp(pairs[2 * i + 1], "2") == 0;
  CHECK(found);
  dlcSymbolDestroy(net);
}

static void testJson(void) {
  DlcSymbol net = network(), again = NULL, copy = NULL;
  const char *text = NULL;
  size_t size = 0;
  CHECK_OK(dlcSymbolToJson(net, &text, &size));
  CHECK(text && strlen(text) == size);
  CHECK_OK(dlcSymbolFromJson(text, size, &again));
  const char *second = NULL;
  CHECK_OK(dlcSymbolToJson(again, &second, NULL));
  CHECK(strcmp(text, second) == 0);
  CHECK_OK(dlcSymbolCopy(net, &copy));
  CHECK_OK(dlcSymbolToJson(copy, &second, NULL));
  CHECK(strcmp(text, second) == 0);
  DlcSymbol none = NULL;
  CHECK_ERROR(dlcSymbolFromJson("{", 1, &none), DLC_DATA_LOSS, "malformed");
  CHECK(none == NULL);
  dlcSymbolDestroy(copy);
  dlcSymbolDestroy(again);
  dlcSymbolDestroy(net);
}

/* What a symbol computes, as its operators from the last to the first. */
static void testArithmetic(void) {
  DlcSymbol a = variable("a"), b = variable("b"), result = NULL;
  const char *text = NULL;
  static const struct {
    DlcArithmetic arithmetic;
    const char *ofTwo, *withScalar, *scalarFirst;
  } cases[] = {
      {DLC_ADD, "elemwise_add", "_plus_scalar", "_plus_scalar"},
      {DLC_SUBTRACT, "elemwise_sub", "_minus_scalar", "_rminus_scalar"},
      {DLC_MULTIPLY, "elemwise_mul", "_mul_scalar", "_mul_scalar"},
      {DLC_DIVIDE, "elemwise_div", "_div_scalar", "_rdiv_scalar"}};
  for (int i = 0; i < 4; ++i) {
    CHECK_OK(dlcSymbolCombine(cases[i].arithmetic, a, b, &result));
    CHECK_OK(dlcSymbolToJson(result, &text, NULL));
    CHECK(strstr(text, cases[i].ofTwo) != NULL);
    dlcSymbolDestroy(result);
    for (int isFirst = 0; isFirst < 2; ++isFirst) {
      CHECK_OK(dlcSymbolCombineScalar(cases[i].arithmetic, a, 2.5, isFirst,
                                      &result));
      CHECK_OK(dlcSymbolToJson(result, &text, NULL));
      CHECK(strstr(text, isFirst ? cases[i].scalarFirst
                                 : cases[i].withScalar) != NULL);
      const char *value = NULL;
      CHECK_OK(dlcSymbolGetAttribute(result, "scalar", &value));
      CHECK(value && strcmp(value, "2.5") == 0);
      dlcSymbolDestroy(result);
    }
  }
  DlcSymbol parts[] = {a, b}, group = NULL, none = NULL;
  CHECK_OK(dlcSymbolCreateGroup(parts, 2, &group));
  CHECK_ERROR(dlcSymbolCombine(DLC_ADD, group, a, &none), DLC_INVALID_ARGUMENT,
              "expected a symbol with 1 output, got 2");
  CHECK_ERROR(dlcSymbolCombine((DlcArithmetic)4, a, b, &none),
              DLC_INVALID_ARGUMENT, "expected a DlcArithmetic, got 4");
  CHECK_ERROR(dlcSymbolCombine(DLC_ADD, a, NULL, &none), DLC_INVALID_ARGUMENT,
              "expected a symbol, got null");
  CHECK(none == NULL);
  dlcSymbolDestroy(group);
  dlcSymbolDestroy(b);
  dlcSymbolDestroy(a);
}

static void testScopes(void) {
  static const char *const keys[] = {"ctx_group", "ctx_group"};
  static const char *const values[] = {"dev1", "dev2"};
  DlcSymbol data = variable("data"), relu = NULL;
  const char *text = NULL;
  CHECK_OK(dlcSymbolOpenAttributeScope(keys, values, 1));
  CHECK_OK(dlcSymbolOpenNameScope("left_"));
  CHECK_OK(dlcSymbolOpenAttributeScope(keys, values + 1, 1));
  relu = atomic("relu", NULL, NULL);
  CHECK_OK(dlcSymbolCompose(relu, NULL, NULL, &data, 1));
  CHECK_OK(dlcSymbolName(relu, &text));
  CHECK(strcmp(text, "left_relu0") == 0);
  CHECK_OK(dlcSymbolGetAttribute(relu, "ctx_group", &text));
  CHECK(text && strcmp(text, "dev2") == 0);
  dlcSymbolDestroy(relu);
  CHECK_OK(dlcSymbolCloseScope());
  relu = atomic("relu", NULL, NULL);
  CHECK_OK(dlcSymbolCompose(relu, NULL, NULL, &data, 1));
  CHECK_OK(dlcSymbolName(relu, &text));
  CHECK(strcmp(text, "left_relu1") == 0);
  CHECK_OK(dlcSymbolGetAttribute(relu, "ctx_group", &text));
  CHECK(text && strcmp(text, "dev1") == 0);
  dlcSymbolDestroy(relu);
  CHECK_OK(dlcSymbolCloseScope());
  CHECK_OK(dlcSymbolCloseScope());
  relu = atomic("relu", NULL, NULL);
  CHECK_OK(dlcSymbolCompose(relu, "relu", NULL, &data, 1));
  CHECK_OK(dlcSymbolGetAttribute(relu, "ctx_group", &text));
  CHECK(text == NULL);
  CHECK_ERROR(dlcSymbolCloseScope(), DLC_INVALID_ARGUMENT,
              "expected an open scope of this thread, found none");
  CHECK_ERROR(dlcSymbolOpenAttributeScope(keys, values, 2),
              DLC_INVALID_ARGUMENT, "expected one value of 'ctx_group'");
  CHECK_ERROR(dlcSymbolOpenAttributeScope(keys, NULL, 1), DLC_INVALID_ARGUMENT,
              "expected keys and values, got null");
  dlcSymbolDestroy(relu);
  dlcSymbolDestroy(data);
  /* Left open: they end with the thread. */
  CHECK_OK(dlcSymbolOpenAttributeScope(keys, values, 1));
  CHECK_OK(dlcSymbolOpenNameScope(NULL));
}

static void testFailures(void) {
  DlcSymbol symbol = NULL, data = variable("data");
  CHECK_ERROR(dlcSymbolCreateVariable("", &symbol), DLC_INVALID_ARGUMENT,
              "expected a name of a variable");
  CHECK_ERROR(dlcSymbolCreateAtomic("NoSuch", NULL, NULL, 0, &symbol),
              DLC_NOT_FOUND, "unknown operator 'NoSuch'");
  CHECK_ERROR(dlcSymbolCreateAtomic("Fullyconnected", NULL, NULL, 0, &symbol),
              DLC_NOT_FOUND, "nearest: operator FullyConnected");
  CHECK(symbol == NULL);
  DlcSymbol fc = atomic("FullyConnected", "num_hidden", "2");
  const char *key = "wieght";
  CHECK_ERROR(dlcSymbolCompose(fc, "fc", &key, &data, 1), DLC_INVALID_ARGUMENT,
              "expected an input out of data, weight, bias, got 'wieght'");
  /* It is as it was. */
  CHECK_OK(dlcSymbolCompose(fc, "fc", NULL, &data, 1));
  CHECK_ERROR(dlcSymbolAddControlDependencies(data, fc), DLC_INVALID_ARGUMENT,
              "its own results");
  CHECK_ERROR(dlcSymbolCompose(NULL, NULL, NULL, NULL, 0), DLC_INVALID_ARGUMENT,
              "expected a symbol, got null");
  CHECK_ERROR(dlcSymbolCopy(fc, NULL), DLC_INVALID_ARGUMENT,
              "a place for the symbol");
  /* Once more, another variable and name; a variable has its own. */
  DlcSymbol other = variable("other");
  const char *text = NULL;
  CHECK_OK(dlcSymbolCompose(fc, "renamed", NULL, &other, 1));
  CHECK_OK(dlcSymbolName(fc, &text));
  CHECK(strcmp(text, "renamed") == 0);
  CHECK_ERROR(dlcSymbolCompose(other, "renamed", NULL, &fc, 1),
              DLC_INVALID_ARGUMENT,
              "expected the outputs of one operator to name 'renamed', got "
              "variable 'other'");
  dlcSymbolDestroy(other);
  dlcSymbolDestroy(fc);
  dlcSymbolDestroy(data);
  dlcSymbolDestroy(NULL);
}

static void testInference(void) {
  DlcSymbol net = network();
  const int64_t dims[] = {3, 5};
  DlcInputShape known = {"data", dims, 2};
  DlcSymbolShapes shapes = {.structSize = sizeof(shapes)};
  CHECK_OK(dlcSymbolInferShapes(net, &known, 1, 0, &shapes));
  CHECK(shapes.isComplete);
  CHECK(shapes.argumentCount == 5 && shapes.outputCount == 1 &&
        shapes.auxiliaryStateCount == 2);
  CHECK(shapes.arguments[1].rank == 2 && shapes.arguments[1].dims[0] == 2 &&
        shapes.arguments[1].dims[1] == 5);
  CHECK(shapes.outputs[0].dims[0] == 3);
  CHECK_OK(dlcSymbolInferShapes(net, NULL, 0, 1, &shapes));
  CHECK(!shapes.isComplete && shapes.arguments[0].rank == -1);
  CHECK_ERROR(dlcSymbolInferShapes(net, NULL, 0, 0, &shapes),
              DLC_INVALID_ARGUMENT, "got none of data");
  DlcSymbolType type = {"data", DLC_F16};
  DlcSymbolTypes types = {.structSize = sizeof(types)};
  CHECK_OK(dlcSymbolInferTypes(net, &type, 1, 0, &types));
  CHECK(types.isComplete && types.arguments[1] == DLC_F16 &&
        types.auxiliaryStates[0] == DLC_F32);
  dlcSymbolDestroy(net);
}

static void testOperators(void) {
  CHECK(dlcOperatorCount() > 100);
  CHECK(dlcOperatorName(dlcOperatorCount()) == NULL);
  for (size_t i = 1; i < dlcOperatorCount(); ++i)
    CHECK(strcmp(dlcOperatorName(i - 1), dlcOperatorName(i)) < 0);
  const char *summary = NULL;
  size_t count = 0;
  CHECK_OK(dlcOperatorSummary("Softmax", &summary));
  CHECK(summary && strstr(summary, "Softmax"));
  CHECK_OK(dlcOperatorParameterCount("FullyConnected", &count));
  CHECK(count == 3);
  DlcOperatorParameter parameter;
  CHECK_OK(dlcOperatorDescribeParameter("FullyConnected", 0, &parameter));
  CHECK(strcmp(parameter.name, "num_hidden") == 0 &&
        strcmp(parameter.kind, "int") == 0 && !parameter.defaultValue);
  CHECK_OK(dlcOperatorDescribeParameter("FullyConnected", 1, &parameter));
  CHECK(strcmp(parameter.defaultValue, "False") == 0);
  CHECK_ERROR(dlcOperatorDescribeParameter("FullyConnected", 3, &parameter),
              DLC_INVALID_ARGUMENT, "expected an index below 3, got 3");
  CHECK_ERROR(dlcOperatorSummary("x", &summary), DLC_NOT_FOUND, "'x'");
}

/* relu(2 - a) over three floats. */
static void testCompile(void) {
  DlcSymbol a = variable("a"), sub = atomic("_rminus_scalar", "scalar", "2"),
            relu = atomic("relu", NULL, NULL);
  CHECK_OK(dlcSymbolCompose(sub, "sub", NULL, &a, 1));
  CHECK_OK(dlcSymbolCompose(relu, "relu", NULL, &sub, 1));
  const int64_t dims[] = {3};
  DlcInputShape shape = {"a", dims, 1};
  DlcCompilerOptions options = {.structSize = sizeof(options)};
  options.shapes = &shape;
  options.shapeCount = 1;
  DlcCompiler compiler = NULL;
  DlcBuffer buffer = NULL;
  CHECK_OK(dlcCompilerCreate(&options, &compiler));
  CHECK_OK(dlcSymbolCompile(relu, "net", compiler));
  CHECK_ERROR(dlcSymbolCompile(relu, "net", compiler), DLC_INVALID_ARGUMENT,
              "expected a compiler without a model");
  CHECK_OK(dlcCompilerWriteMemory(compiler, &buffer));
  DlcProgram program = NULL;
  CHECK_OK(dlcProgramLoadMemory(dlcBufferData(buffer), dlcBufferSize(buffer),
                                &program));
  DlcExecution execution = NULL;
  CHECK_OK(dlcExecutionCreate(program, NULL, &execution));
  const float values[] = {-1, 1.5f, 4};
  float results[3] = {0};
  DlcTensor input = {(void *)values, dims, 1, DLC_F32};
  CHECK_OK(dlcExecutionBindInput(execution, 0, &input));
  CHECK_OK(dlcExecutionRun(execution));
  DlcTensor output = {0};
  CHECK_OK(dlcExecutionOutput(execution, 0, &output));
  memcpy(results, output.data, sizeof(results));
  CHECK(results[0] == 3 && results[1] == 0.5f && results[2] == 0);
  dlcExecutionDestroy(execution);
  dlcProgramDestroy(program);
  dlcBufferDestroy(buffer);
  dlcCompilerDestroy(compiler);
  dlcSymbolDestroy(relu);
  dlcSymbolDestroy(sub);
  dlcSymbolDestroy(a);
}

int main(void) {
  testLists();
  testAttributes();
  testJson();
  testFailures();
  testInference();
  testOperators();
  testCompile();
  testArithmetic();
  testScopes();
  return failures != 0;
}
