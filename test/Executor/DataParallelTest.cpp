// SPDX-License-Identifier: Apache-2.0
//
// Batches in parts on several devices: what they compute is what executors of
// the parts compute, summed in the order of the devices.

#include "ExecutorTesting.h"

#include "dlc/runtime/Binding/DataParallel.h"

#include <array>
#include <random>

using namespace dlc;
using namespace dlc::test;
using rt::BatchRows;
using rt::BoundNetwork;
using rt::Context;
using rt::DataParallelExecutor;
using rt::DataParallelOptions;
using rt::splitBatch;

namespace {

constexpr int64_t kBatch = 10, kWidth = 6;

/// Two layers with batch normalisation between them.
Symbol makeNet() {
  Symbol x = Symbol::variable("x");
  Symbol a = Symbol::apply("FullyConnected", {x}, {{"num_hidden", "5"}}, "a");
  Symbol n = Symbol::apply("BatchNorm", {a}, {{"fix_gamma", "False"}}, "n");
  Symbol h = Symbol::apply("tanh", {n});
  return Symbol::apply("FullyConnected", {h}, {{"num_hidden", "3"}}, "b");
}

rt::KnownVariables knownOf(int64_t batch) {
  return {.shapes = {{"x", {batch, kWidth}}}, .types = {}};
}

DataParallelOptions onDevices(int16_t count) {
  DataParallelOptions options;
  for (int16_t i = 0; i < count; ++i)
    options.devices.push_back(Context::cpu(i));
  options.batched = {"x"};
  return options;
}

std::unique_ptr<DataParallelExecutor>
bindParts(const DataParallelOptions &options,
          const std::map<std::string, GradientRequest> &requests = {}) {
  auto network = makeNetwork(makeNet());
  EXPECT_TRUE(network.isOk()) << network.status().message();
  auto executor = DataParallelExecutor::simpleBind(
      *network, makeRuntime(), knownOf(kBatch), options, GradientRequest::Write,
      requests);
  EXPECT_TRUE(executor.isOk()) << executor.status().message();
  return executor.isOk() ? std::move(*executor) : nullptr;
}

Floats randomFloats(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  Floats values(count);
  for (float &value : values)
    value = static_cast<float>(random() % 2001) / 1000.f - 1.f;
  return values;
}

/// The same values for the same argument in every executor.
void writeArguments(const BoundNetwork &executor) {
  for (size_t i = 0; i < executor.arguments().size(); ++i)
    write(executor.arguments()[i],
          randomFloats(executor.arguments()[i].size(), i));
  for (size_t i = 0; i < executor.auxiliaryStates().size(); ++i)
    EXPECT_OK(executor.auxiliaryStates()[i].fill(1));
}

void append(Floats &to, const Floats &from) {
  to.insert(to.end(), from.begin(), from.end());
}

/// What parts of the batch give one after the other; of states the mean.
struct ByHand {
  std::vector<Floats> gradients, states;
  Floats output;
};

/// A run of an executor, as one program or as two.
void run(BoundNetwork &executor, bool inParts) {
  if (!inParts) {
    EXPECT_OK(executor.forwardBackward());
    return;
  }
  EXPECT_OK(executor.forward(true));
  EXPECT_OK(executor.backward());
}

ByHand runByHand(std::span<const BatchRows> parts, bool inParts = false) {
  ByHand result;
  for (const BatchRows &rows : parts) {
    auto executor = take(
        simpleBind(makeNet(), makeRuntime(), knownOf(rows.end - rows.begin)));
    if (!executor)
      return result;
    writeArguments(*executor);
    Floats x = randomFloats(kBatch * kWidth, 0);
    write(*executor->argument("x"), Floats(x.begin() + rows.begin * kWidth,
                                           x.begin() + rows.end * kWidth));
    run(*executor, inParts);
    append(result.output, read(executor->outputs()[0]));
    bool isFirst = result.gradients.empty();
    for (size_t i = 0; i < executor->gradients().size(); ++i) {
      Floats term = read(executor->gradients()[i]);
      if (isFirst)
        result.gradients.push_back(term);
      else if (i == 0)
        append(result.gradients[0], term); // The rows of x.
      else
        for (size_t k = 0; k < term.size(); ++k)
          result.gradients[i][k] += term[k];
    }
    for (size_t i = 0; i < executor->auxiliaryStates().size(); ++i) {
      Floats term = read(executor->auxiliaryStates()[i]);
      if (isFirst)
        result.states.push_back(term);
      for (size_t k = 0; k < term.size() && !isFirst; ++k)
        result.states[i][k] += term[k];
    }
  }
  for (Floats &state : result.states)
    for (float &value : state)
      value /= static_cast<float>(parts.size());
  return result;
}

void expectAsByHand(DataParallelExecutor &executor, const ByHand &expected) {
  EXPECT_EQ(read(executor.outputs()[0]), expected.output);
  ASSERT_EQ(executor.gradients().size(), expected.gradients.size());
  for (size_t i = 0; i < expected.gradients.size(); ++i)
    EXPECT_EQ(read(executor.gradients()[i]), expected.gradients[i])
        << executor.network().arguments()[i];
  ASSERT_EQ(executor.auxiliaryStates().size(), expected.states.size());
  for (size_t i = 0; i < expected.states.size(); ++i)
    EXPECT_EQ(read(executor.auxiliaryStates()[i]), expected.states[i]);
}

} // namespace

/// That of the whole, too.
TEST(DataParallelTest, FillsFixedGammasWithOnes) {
  Symbol network = Symbol::apply("BatchNorm", {Symbol::variable("x")}, {}, "n");
  auto executor = DataParallelExecutor::simpleBind(
      *makeNetwork(network), makeRuntime(),
      {.shapes = {{"x", {4, 3}}}, .types = {}},
      {.devices = {rt::Context::cpu(0), rt::Context::cpu(1)},
       .workloads = {},
       .batched = {"x"}});
  ASSERT_TRUE(executor.isOk()) << executor.status().message();
  NDArray gamma = *(*executor)->argument("n_gamma");
  write(gamma, {2, 3, 4});
  EXPECT_OK((*executor)->forward(true));
  EXPECT_EQ(read(gamma), (Floats{1, 1, 1}));
}

TEST(DataParallelTest, RefusesABudgetThatNoPartFits) {
  DataParallelOptions options = onDevices(2);
  options.memoryBudget = 100;
  auto executor = bindParts(options);
  ASSERT_TRUE(executor);
  EXPECT_FAILS(executor->forwardBackward(), InvalidArgument,
               "expected a memory budget of at least ");
}

TEST(DataParallelTest, SplitsBatchesByWorkload) {
  auto split = [](int64_t rows, std::vector<double> workloads) {
    return splitBatch(rows, workloads);
  };
  EXPECT_EQ(*split(10, {1}), (std::vector<BatchRows>{{0, 10}}));
  EXPECT_EQ(*split(9, {2, 4, 3}),
            (std::vector<BatchRows>{{0, 2}, {2, 6}, {6, 9}}));
  EXPECT_EQ(*split(10, {1, 1, 1}),
            (std::vector<BatchRows>{{0, 3}, {3, 7}, {7, 10}}));
  EXPECT_FAILS(split(10, {}).status(), InvalidArgument, "workload, got none");
  EXPECT_FAILS(split(10, {1, -2}).status(), InvalidArgument, "above 0, got -2");
  EXPECT_FAILS(split(10, {1e308, 1e308}).status(), InvalidArgument,
               "a finite sum, got inf");
  EXPECT_FAILS(split(10, {1, 0}).status(), InvalidArgument, "above 0, got 0");
  EXPECT_FAILS(split(10, {1, NAN}).status(), InvalidArgument, "above 0");
  EXPECT_FAILS(split(10, {1, INFINITY}).status(), InvalidArgument, "above 0");
  EXPECT_FAILS(split(2, {1, 1, 1}).status(), InvalidArgument,
               "expected a row for each of 3 devices, got none of 2");
  EXPECT_FAILS(split(0, {1}).status(), InvalidArgument, "expected a row");
}

TEST(DataParallelTest, SumsWhatThePartsGive) {
  for (int16_t devices : {1, 2, 4}) {
    SCOPED_TRACE(devices);
    auto executor = bindParts(onDevices(devices));
    ASSERT_TRUE(executor);
    for (bool inParts : {false, true}) {
      ByHand expected = runByHand(executor->rows(), inParts);
      // Again and again the same, whoever is ready first.
      for (int again = 0; again < 5; ++again) {
        writeArguments(*executor);
        run(*executor, inParts);
        expectAsByHand(*executor, expected);
      }
    }
  }
}

TEST(DataParallelTest, GivesMoreToDevicesOfMoreWorkload) {
  DataParallelOptions options = onDevices(3);
  options.workloads = {2, 1, 2};
  auto executor = bindParts(options);
  ASSERT_TRUE(executor);
  EXPECT_EQ(std::vector(executor->rows().begin(), executor->rows().end()),
            (std::vector<BatchRows>{{0, 4}, {4, 6}, {6, 10}}));
  writeArguments(*executor);
  EXPECT_OK(executor->forwardBackward());
  expectAsByHand(*executor, runByHand(executor->rows()));
}

TEST(DataParallelTest, AddsToFormerGradients) {
  auto executor = bindParts(onDevices(2), {{"x", GradientRequest::Add},
                                           {"b_bias", GradientRequest::Add},
                                           {"a_bias", GradientRequest::Null}});
  ASSERT_TRUE(executor);
  EXPECT_OK(executor->gradient("x")->fill(100));
  EXPECT_OK(executor->gradient("b_bias")->fill(1000));
  writeArguments(*executor);
  // Heads are those of the whole: row i weighs i.
  auto runtime = executor->arguments()[0].runtime();
  Floats rows;
  for (int64_t i = 0; i < kBatch; ++i)
    rows.insert(rows.end(), 3, static_cast<float>(i));
  NDArray head = makeArray(runtime, {kBatch, 3}, rows);
  EXPECT_OK(executor->forwardBackward({&head, 1}));
  EXPECT_EQ(read(*executor->gradient("b_bias")), (Floats{1045, 1045, 1045}));
  Floats once = read(*executor->gradient("x"));
  EXPECT_OK(executor->forwardBackward({&head, 1}));
  Floats twice = read(*executor->gradient("x"));
  for (size_t i = 0; i < once.size(); ++i)
    EXPECT_NEAR(twice[i] - once[i], once[i] - 100, 1e-4) << i;
  EXPECT_FAILS(executor->gradient("a_bias").status(), NotFound, "'a_bias'");
  NDArray wrong = makeArray(runtime, {kBatch}, Floats(kBatch));
  EXPECT_FAILS(executor->forwardBackward({&wrong, 1}), InvalidArgument,
               "expected a gradient of 10x3xf32, got 10xf32");
}

// Whatever is written between runs, as with an executor on one device.
TEST(DataParallelTest, TakesStatesFromTheWhole) {
  auto executor = bindParts(onDevices(2));
  ASSERT_TRUE(executor);
  writeArguments(*executor);
  run(*executor, false);
  const NDArray &mean = executor->auxiliaryStates()[0];
  Floats first = read(mean);
  run(*executor, false);
  EXPECT_NE(read(mean), first);
  EXPECT_OK(mean.fill(1));
  EXPECT_OK(executor->auxiliaryStates()[1].fill(1));
  run(*executor, false);
  EXPECT_EQ(read(mean), first);
  // Inference leaves them, and computes with them on each device.
  EXPECT_OK(executor->forward());
  EXPECT_EQ(read(mean), first);
  auto single = take(simpleBind(makeNet(), makeRuntime(), knownOf(kBatch)));
  ASSERT_TRUE(single);
  writeArguments(*single);
  for (size_t i = 0; i < 2; ++i)
    write(single->auxiliaryStates()[i], read(executor->auxiliaryStates()[i]));
  EXPECT_OK(single->forward());
  Floats parts = read(executor->outputs()[0]),
         whole = read(single->outputs()[0]);
  for (size_t i = 0; i < whole.size(); ++i)
    EXPECT_NEAR(parts[i], whole[i], 1e-5) << i;
}

// What stays is not sent again, whoever writes it by which way.
TEST(DataParallelTest, SendsWhatWasWritten) {
  auto executor = bindParts(onDevices(2));
  ASSERT_TRUE(executor);
  writeArguments(*executor);
  auto sentBy = [&](auto &&action) {
    uint64_t before = executor->sentBytes();
    action();
    for (const NDArray &output : executor->outputs())
      EXPECT_OK(output.waitToRead());
    return executor->sentBytes() - before;
  };
  auto infer = [&] { EXPECT_OK(executor->forward()); };
  uint64_t all = 0;
  for (const NDArray &array : executor->arguments())
    all += array.bytes();
  for (const NDArray &array : executor->auxiliaryStates())
    all += array.bytes();
  NDArray x = *executor->argument("x"), w = *executor->argument("b_weight");
  all -= x.bytes() / 2; // Half of the rows stay.
  EXPECT_EQ(sentBy(infer), all);
  EXPECT_EQ(sentBy(infer), 0u);
  EXPECT_EQ(sentBy([&] {
              EXPECT_OK(x.fill(0.5));
              infer();
            }),
            x.bytes() / 2);
  EXPECT_EQ(sentBy([&] {
              auto place = w.hostAccess(rt::VariableUse::Write);
              ASSERT_TRUE(place.isOk());
              static_cast<float *>(*place)[0] += 1;
              infer();
            }),
            w.bytes());
  EXPECT_EQ(sentBy(infer), 0u);
  Floats output = read(executor->outputs()[0]);
  // Training updates the states of each part, and then those of the whole.
  EXPECT_OK(executor->forward(true));
  uint64_t states = 0;
  for (const NDArray &array : executor->auxiliaryStates()) {
    EXPECT_OK(array.waitToRead());
    states += array.bytes();
  }
  EXPECT_EQ(sentBy(infer), states);
  EXPECT_NE(read(executor->outputs()[0]), output);
}

// Nobody can tell when such memory is written.
TEST(DataParallelTest, SendsAdoptedMemoryEachTime) {
  auto network = makeNetwork(makeNet());
  ASSERT_TRUE(network.isOk());
  auto runtime = makeRuntime();
  auto types = (*network)->infer(knownOf(kBatch));
  ASSERT_TRUE(types.isOk());
  Floats x(kBatch * kWidth, 1);
  Bindings bindings;
  for (const rt::TensorType &type : types->arguments)
    bindings.arguments.push_back(makeArray(
        runtime, type.shape, Floats(*rt::elementCount(type.shape), 0.5)));
  for (const rt::TensorType &type : types->auxiliaryStates)
    bindings.auxiliaryStates.push_back(makeArray(
        runtime, type.shape, Floats(*rt::elementCount(type.shape), 1)));
  rt::ForeignMemory memory;
  memory.data = x.data();
  auto adopted = NDArray::adopt(runtime, DLC_F32,
                                std::array<int64_t, 2>{kBatch, kWidth}, memory);
  ASSERT_TRUE(adopted.isOk()) << adopted.status().message();
  bindings.arguments[0] = *adopted;
  auto executor = DataParallelExecutor::bind(*network, bindings, onDevices(2));
  ASSERT_TRUE(executor.isOk()) << executor.status().message();
  EXPECT_OK((*executor)->forward());
  Floats first = read((*executor)->outputs()[0]);
  x.assign(x.size(), 2); // The run is over.
  EXPECT_OK((*executor)->forward());
  Floats second = read((*executor)->outputs()[0]);
  EXPECT_NE(second.back(), first.back());
  EXPECT_EQ(second.back(), second.front());
}

TEST(DataParallelTest, ReshapesTheBatch) {
  auto ten = bindParts(onDevices(2));
  ASSERT_TRUE(ten);
  writeArguments(*ten);
  EXPECT_FAILS(ten->reshape({{"y", {4}}}).status(), InvalidArgument, "'y'");
  EXPECT_FAILS(ten->reshape({{"x", {1, kWidth}}}).status(), InvalidArgument,
               "expected a row for each of 2 devices");
  EXPECT_FAILS(ten->reshape({{"x", {20, kWidth}}}).status(), InvalidArgument,
               "argument 'x': expected at most the memory of 10x6xf32, got "
               "20x6xf32");
  auto six = ten->reshape({{"x", {6, kWidth}}});
  ASSERT_TRUE(six.isOk()) << six.status().message();
  EXPECT_EQ(std::vector((*six)->rows().begin(), (*six)->rows().end()),
            (std::vector<BatchRows>{{0, 3}, {3, 6}}));
  EXPECT_TRUE((*six)->argument("x")->sharesMemoryWith(*ten->argument("x")));
  EXPECT_TRUE((*six)
                  ->gradient("a_weight")
                  ->sharesMemoryWith(*ten->gradient("a_weight")));
  rt::ReshapeOptions grows{.allowsOthers = false, .allowsGrowth = true};
  auto many = (*six)->reshape({{"x", {16, kWidth}}}, grows);
  ASSERT_TRUE(many.isOk()) << many.status().message();
  // In any order, whichever shape ran before.
  for (int again = 0; again < 3; ++again)
    for (DataParallelExecutor *reshaped :
         {six->get(), many->get(), ten.get()}) {
      int64_t batch = reshaped->rows().back().end;
      SCOPED_TRACE(batch);
      auto fresh = DataParallelExecutor::simpleBind(
          *makeNetwork(makeNet()), makeRuntime(), knownOf(batch), onDevices(2));
      ASSERT_TRUE(fresh.isOk()) << fresh.status().message();
      writeArguments(*reshaped);
      writeArguments(**fresh);
      for (int step = 0; step < 2; ++step) {
        run(*reshaped, again == 1);
        run(**fresh, again == 1);
      }
      EXPECT_EQ(read(reshaped->outputs()[0]), read((*fresh)->outputs()[0]));
      for (size_t i = 0; i < reshaped->gradients().size(); ++i)
        EXPECT_EQ(read(reshaped->gradients()[i]),
                  read((*fresh)->gradients()[i]));
      for (size_t i = 0; i < reshaped->auxiliaryStates().size(); ++i)
        EXPECT_EQ(read(reshaped->auxiliaryStates()[i]),
                  read((*fresh)->auxiliaryStates()[i]));
    }
}

TEST(DataParallelTest, TellsAMonitorOfEachPart) {
  auto executor = bindParts(onDevices(2));
  ASSERT_TRUE(executor);
  writeArguments(*executor);
  std::vector<std::pair<Context, std::string>> told;
  std::map<int, Floats> outputs;
  auto monitor = [&](const std::string &name, const NDArray &array) {
    told.emplace_back(array.context(), name);
    if (name == "b_output")
      outputs[array.context().index] = read(array);
  };
  executor->setMonitor(monitor);
  EXPECT_OK(executor->forward());
  ASSERT_EQ(told.size() % 2, 0u);
  size_t each = told.size() / 2;
  EXPECT_GE(each, 4u);
  for (size_t i = 0; i < each; ++i) {
    EXPECT_EQ(told[i].first, Context::cpu(0));
    EXPECT_EQ(told[each + i].first, Context::cpu(1));
    EXPECT_EQ(told[i].second, told[each + i].second);
  }
  Floats all = outputs[0];
  append(all, outputs[1]);
  EXPECT_EQ(read(executor->outputs()[0]), all);
  size_t before = told.size();
  executor->setMonitor(monitor, /*tellsVariables=*/true);
  EXPECT_OK(executor->forwardBackward());
  EXPECT_EQ(told.size() - before, 2 * (each + 7 + 2));
  executor->setMonitor({});
  before = told.size();
  EXPECT_OK(executor->forward());
  EXPECT_EQ(told.size(), before);
}

TEST(DataParallelTest, BindsArraysOfTheCaller) {
  auto runtime = makeRuntime();
  auto network = makeNetwork(makeNet());
  ASSERT_TRUE(network.isOk());
  auto types = (*network)->infer(knownOf(kBatch));
  ASSERT_TRUE(types.isOk());
  Bindings bindings;
  auto add = [&](const rt::TensorType &type, std::vector<NDArray> &arrays) {
    arrays.push_back(makeArray(runtime, type.shape,
                               Floats(*rt::elementCount(type.shape), 3)));
  };
  for (const rt::TensorType &type : types->arguments) {
    add(type, bindings.arguments);
    add(type, bindings.gradients);
  }
  for (const rt::TensorType &type : types->auxiliaryStates)
    add(type, bindings.auxiliaryStates);
  auto status = [&](const Bindings &given, DataParallelOptions options) {
    auto bound = DataParallelExecutor::bind(*network, given, options);
    return std::move(bound.status());
  };
  // Failed binds, which leave the arrays as they are.
  Bindings wrong = bindings;
  wrong.gradients[0] = makeArray(runtime, {5, kWidth}, Floats(5 * kWidth));
  EXPECT_FAILS(status(wrong, onDevices(2)), InvalidArgument,
               "argument 'x': expected a gradient of 10x6xf32, got 5x6xf32");
  wrong = bindings;
  wrong.arguments[1] = makeArray(runtime, {5, 7}, Floats(35));
  wrong.gradients.clear();
  EXPECT_FAILS(status(wrong, onDevices(2)), InvalidArgument, "a_weight");
  wrong = bindings;
  wrong.arguments.pop_back();
  EXPECT_FAILS(status(wrong, onDevices(2)), InvalidArgument,
               "expected 7 arguments");
  DataParallelOptions elsewhere = onDevices(2);
  std::swap(elsewhere.devices[0], elsewhere.devices[1]);
  EXPECT_FAILS(status(bindings, elsewhere), InvalidArgument,
               "on the first device, cpu:1, got them on cpu:0");
  EXPECT_FAILS(status(bindings, onDevices(11)), InvalidArgument,
               "expected a row for each of 11 devices");
  for (const auto *arrays :
       {&bindings.arguments, &bindings.gradients, &bindings.auxiliaryStates})
    for (const NDArray &array : *arrays)
      EXPECT_EQ(read(array), Floats(array.size(), 3));

  auto executor = DataParallelExecutor::bind(*network, bindings, onDevices(2));
  ASSERT_TRUE(executor.isOk()) << executor.status().message();
  EXPECT_TRUE(
      (*executor)->argument("x")->sharesMemoryWith(bindings.arguments[0]));
  writeArguments(**executor);
  EXPECT_OK((*executor)->forwardBackward());
  expectAsByHand(**executor, runByHand((*executor)->rows()));
  EXPECT_NE(read(bindings.gradients[1]),
            Floats(bindings.gradients[1].size(), 3));
  std::string text = (*executor)->describe();
  EXPECT_NE(text.find("cpu:1: rows 5 to 10\nstep: "), std::string::npos)
      << text;
}

TEST(DataParallelTest, PushesNothingWithWrongHeads) {
  auto executor = bindParts(onDevices(2));
  ASSERT_TRUE(executor);
  auto runtime = executor->arguments()[0].runtime();
  writeArguments(*executor);
  run(*executor, false);
  EXPECT_OK(executor->outputs()[0].fill(7));
  NDArray none;
  EXPECT_FAILS(executor->forwardBackward({&none, 1}), InvalidArgument,
               "output 'b_output': expected a gradient of 10x3xf32, got null");
  NDArray two[] = {none, none};
  EXPECT_FAILS(executor->forwardBackward(two), InvalidArgument,
               "each of the 1 outputs (b_output), got 2");
  auto elsewhere = makeArray(makeRuntime(), {kBatch, 3}, Floats(kBatch * 3));
  EXPECT_FAILS(executor->backward({&elsewhere, 1}), InvalidArgument, "engine");
  EXPECT_EQ(read(executor->outputs()[0]), Floats(kBatch * 3, 7));
  EXPECT_FAILS(executor->backward(), InvalidArgument, "expected a forward run");
}

TEST(DataParallelTest, RefusesWhatHasNoParts) {
  auto runtime = makeRuntime();
  auto status =
      [&](const DataParallelOptions &options, const Symbol &symbol = makeNet(),
          const std::map<std::string, GradientRequest> &requests = {}) {
        auto network = makeNetwork(symbol);
        EXPECT_TRUE(network.isOk());
        auto bound = DataParallelExecutor::simpleBind(
            *network, runtime, knownOf(kBatch), options, GradientRequest::Write,
            requests);
        return std::move(bound.status());
      };
  EXPECT_FAILS(status({}), InvalidArgument, "at least one device, got none");
  DataParallelOptions options = onDevices(2);
  options.workloads = {1};
  EXPECT_FAILS(status(options), InvalidArgument, "each of 2 devices, got 1");
  EXPECT_FAILS(status(onDevices(11)), InvalidArgument, "expected a row");
  options = onDevices(2);
  options.batched = {"y"};
  EXPECT_FAILS(status(options), InvalidArgument, "with the batch, got 'y'");
  options.batched = {"x", "a_weight"};
  EXPECT_FAILS(status(options), InvalidArgument,
               "'a_weight': expected a batch of 10, got 5");
  options.batched = {"x", "x"};
  EXPECT_FAILS(status(options), InvalidArgument, "'x': expected each argument");
  options.batched.clear();
  EXPECT_FAILS(status(options), InvalidArgument, "with the batch, got none");
  options = onDevices(2);
  EXPECT_FAILS(status(options, makeNet(), {{"y", GradientRequest::Add}}),
               InvalidArgument, "the gradient of, got 'y'");
  options.devices[1] = Context::cuda(0);
  EXPECT_FAILS(status(options), Unsupported, "device 1: ");
  options.devices[1] = Context::cpu(-1);
  EXPECT_FAILS(status(options), InvalidArgument,
               "expected a device, got kind 1 with number -1");
  EXPECT_FAILS(status(onDevices(2), Symbol::apply("mean", {makeNet()})),
               Unsupported, "expected a row for each of the batch");
  Symbol sum = makeNet() + Symbol::variable("label");
  EXPECT_FAILS(status(onDevices(2), sum), InvalidArgument,
               "'label': expected a shape without the batch");
}
