// SPDX-License-Identifier: Apache-2.0
//
// A network as MXNet 1.9.1 runs it, forward and backward: Inputs/ was written
// by make_network.py.

#include "ExecutorTesting.h"

#include "dlc/Symbol/Json.h"
#include "dlc/runtime/Base/File.h"
#include "dlc/runtime/Binding/DataParallel.h"
#include "dlc/runtime/IO/Numpy.h"

using namespace dlc;
using namespace dlc::test;

namespace {

const std::string kInputs = DLC_TEST_INPUTS;

Symbol readNetwork(const std::string &name) {
  auto file = rt::MappedFile::open(kInputs + "/" + name + "-symbol.json");
  EXPECT_TRUE(file.isOk()) << file.status().message();
  auto bytes = file->bytes();
  auto symbol = symbol::fromJson(
      {reinterpret_cast<const char *>(bytes.data()), bytes.size()});
  EXPECT_TRUE(symbol.isOk()) << symbol.status().message();
  return symbol.isOk() ? *symbol : Symbol();
}

std::map<std::string, rt::HostTensor> readValues(const std::string &name) {
  std::map<std::string, rt::HostTensor> values;
  auto list = rt::readNpz(kInputs + "/" + name + ".npz");
  EXPECT_TRUE(list.isOk()) << list.status().message();
  for (rt::NamedTensor &entry : *list)
    values[entry.name] = std::move(entry.tensor);
  return values;
}

Floats floatsOf(const rt::HostTensor &tensor) {
  rt::TensorView view = tensor.view();
  return Floats(view.as<float>(), view.as<float>() + view.size());
}

/// Within 1e-5 of the largest value.
void expectClose(const Floats &found, const Floats &expected,
                 const std::string &what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  float largest = 0;
  for (float value : expected)
    largest = std::max(largest, std::abs(value));
  for (size_t i = 0; i < found.size(); ++i)
    ASSERT_NEAR(found[i], expected[i], 1e-5 * largest) << what << " " << i;
}

/// Runs a network for training, in two programs and in one, and compares all
/// that it writes.
void expectAsMXNet(const std::string &network) {
  auto values = readValues(network);
  auto runtime = makeRuntime();
  rt::KnownVariables known;
  known.shapes["data"] = values["data"].shape;
  auto executor = take(
      simpleBind(readNetwork(network), runtime, known, GradientRequest::Add));
  ASSERT_TRUE(executor);
  const std::vector<std::string> &names = executor->network().arguments();
  for (const std::string &name : names)
    write(*executor->argument(name), floatsOf(values[name]));
  NDArray head =
      makeArray(runtime, values["head"].shape, floatsOf(values["head"]));
  for (bool isStep : {false, true}) {
    for (const std::string &name : names)
      EXPECT_OK(executor->gradient(name)->fill(1));
    for (const std::string &name : executor->network().auxiliaryStates())
      write(*executor->auxiliaryState(name), floatsOf(values[name]));
    if (isStep) {
      EXPECT_OK(executor->forwardBackward({&head, 1}));
    } else {
      EXPECT_OK(executor->forward(true));
      EXPECT_OK(executor->backward({&head, 1}));
    }
    expectClose(read(executor->outputs()[0]), floatsOf(values["out"]), "out");
    for (const std::string &name : names)
      expectClose(read(*executor->gradient(name)),
                  floatsOf(values["grad:" + name]), name);
    for (const std::string &name : executor->network().auxiliaryStates())
      expectClose(read(*executor->auxiliaryState(name)),
                  floatsOf(values["new:" + name]), name);
  }
}

} // namespace

TEST(OracleTest, RunsANetworkAsMXNetDoes) { expectAsMXNet("network"); }

/// Batch normalisation with the batch's statistics, and a layer with a label.
TEST(OracleTest, TrainsAsMXNetDoes) { expectAsMXNet("training"); }

/// A batch on two devices, three runs: sums of gradients, and states that
/// follow the mean of what the devices see.
TEST(OracleTest, TrainsPartsOfABatchAsMXNetDoes) {
  auto values = readValues("parallel");
  auto network = makeNetwork(readNetwork("training"));
  ASSERT_TRUE(network.isOk()) << network.status().message();
  rt::DataParallelOptions options;
  options.devices = {rt::Context::cpu(0), rt::Context::cpu(1)};
  options.workloads = {3, 2};
  options.batched = {"data", "label"};
  rt::KnownVariables known;
  known.shapes["data"] = values["data"].shape;
  for (bool isStep : {false, true}) {
    auto bound = rt::DataParallelExecutor::simpleBind(*network, makeRuntime(),
                                                      known, options);
    ASSERT_TRUE(bound.isOk()) << bound.status().message();
    rt::DataParallelExecutor &executor = **bound;
    for (const std::string &name : executor.network().arguments())
      write(*executor.argument(name), floatsOf(values[name]));
    for (const std::string &name : executor.network().auxiliaryStates())
      write(*executor.auxiliaryState(name), floatsOf(values[name]));
    for (int run = 0; run < 3; ++run) {
      if (isStep) {
        EXPECT_OK(executor.forwardBackward());
      } else {
        EXPECT_OK(executor.forward(true));
        EXPECT_OK(executor.backward());
      }
    }
    expectClose(read(executor.outputs()[0]), floatsOf(values["out"]), "out");
    for (const std::string &name : executor.network().arguments())
      if (name != "label")
        expectClose(read(*executor.gradient(name)),
                    floatsOf(values["grad:" + name]), name);
    for (const std::string &name : executor.network().auxiliaryStates())
      expectClose(read(*executor.auxiliaryState(name)),
                  floatsOf(values["new:" + name]), name);
  }
}
