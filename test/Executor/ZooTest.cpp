// SPDX-License-Identifier: Apache-2.0
//
// Networks of MXNet's zoo as MXNet 1.9.1 runs them, forward and backward, with
// values that are functions of names and places: Inputs/zoo was written by
// make_zoo.py, which says what is in it. MXNet computed in double there.
//
// In f32, roundings alone take gradients of deep networks with batch
// normalisation far apart, MXNet's two own from each other (make_zoo.py prints
// how far). So they are compared in double, where a difference is one of
// formulas; those of resnet18 and of vgg16, which has no batch normalisation,
// in f32 too.

#include "ExecutorTesting.h"

#include "dlc/Symbol/Json.h"
#include "dlc/runtime/Device/CPU/WorkerPool.h"
#include "dlc/runtime/IO/Numpy.h"

#include <zlib.h>

using namespace dlc;
using namespace dlc::test;

using Values = std::map<std::string, rt::HostTensor>;

/// A gradient of which all is smaller is 0 but for roundings in double: those
/// of a shift that the next batch normalisation takes away again.
static constexpr double kNothing = 1e-9;

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

static void replaceAll(std::string &text, std::string_view from,
                       std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

/// The text of a network, whose variables say that they are of f32; here of
/// `type`. Dropout drops nothing, as in make_zoo.py.
static std::string readText(const std::string &name, rt::DataType type) {
  std::string path = DLC_ZOO_NETWORKS "/" + name + "-symbol.json.gz", text;
  gzFile file = gzopen(path.c_str(), "rb");
  EXPECT_TRUE(file) << path;
  if (!file)
    return {};
  char buffer[1 << 14];
  int count = 0;
  while ((count = gzread(file, buffer, sizeof buffer)) > 0)
    text.append(buffer, count);
  EXPECT_EQ(count, 0) << path;
  gzclose(file);
  if (type == DLC_F64)
    replaceAll(text, "\"__dtype__\": \"0\"", "\"__dtype__\": \"1\"");
  replaceAll(text, "\"p\": \"0.5\"", "\"p\": \"0.0\"");
  return text;
}

static Symbol readNetwork(const std::string &name, rt::DataType type) {
  auto symbol = symbol::fromJson(readText(name, type));
  EXPECT_TRUE(symbol.isOk()) << symbol.status().message();
  return symbol.isOk() ? *symbol : Symbol();
}

static Values readResults(const std::string &name) {
  Values values;
  auto list = rt::readNpz(DLC_TEST_INPUTS "/zoo/" + name + ".npz");
  EXPECT_TRUE(list.isOk()) << list.status().message();
  if (list.isOk())
    for (rt::NamedTensor &entry : *list)
      values[entry.name] = std::move(entry.tensor);
  return values;
}

/// The hash "lowbias32" (C. Wellons, hash-prospector).
static uint32_t mix(uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

/// What make_zoo.py calls values(): no operation on floats here rounds but the
/// one product with a weight's scale.
static Floats makeValues(const std::string &name,
                         std::span<const int64_t> shape) {
  uint32_t seed = 2166136261u; // FNV-1a
  for (char c : name)
    seed = (seed ^ static_cast<unsigned char>(c)) * 16777619u;
  seed = mix(seed);
  int64_t count = 1;
  for (int64_t dim : shape)
    count *= dim;
  float scale = 0.125f, offset = 0;
  if (name.ends_with("weight"))
    scale = static_cast<float>(std::sqrt(6.0 / (count / shape[0])));
  else if (name.ends_with("gamma") || name.ends_with("running_var"))
    scale = 0.5f, offset = 1;
  else if (name.starts_with("data") || name == "head")
    scale = 1;
  Floats values(count);
  for (int64_t i = 0; i < count; ++i) {
    int32_t number = static_cast<int32_t>(mix(seed + i) >> 8) - (1 << 23);
    float unit = static_cast<float>(number) * 0x1p-23f;
    values[i] = offset + scale * unit;
  }
  return values;
}

/// Writes the values of that name, as the array's type has them.
static void fill(const NDArray &array, const std::string &name) {
  Floats values = makeValues(name, array.shape());
  if (array.type() == DLC_F32)
    return write(array, values);
  std::vector<double> wide(values.begin(), values.end());
  EXPECT_OK(array.copyFromHost(std::span(wide)));
}

static std::vector<double> readDoubles(const NDArray &array) {
  std::vector<double> values(array.size());
  if (array.type() == DLC_F32)
    std::ranges::copy(read(array), values.begin());
  else
    EXPECT_OK(array.copyToHost(std::span(values)));
  return values;
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

static double largestOf(std::span<const double> values) {
  double largest = 0;
  for (double value : values)
    largest = std::max(largest, std::abs(value));
  return largest;
}

static void expectAll(const NDArray &array, const rt::HostTensor &expected,
                      double tolerance) {
  std::vector<double> found = readDoubles(array);
  rt::TensorView view = expected.view();
  ASSERT_EQ(int64_t(found.size()), view.size());
  double largest = largestOf(found);
  ASSERT_GT(largest, 0);
  for (size_t i = 0; i < found.size(); ++i)
    ASSERT_NEAR(found[i], view.as<float>()[i], tolerance * largest)
        << "out, element " << i;
}

/// A row of a table: the largest value, the norm and some elements.
static void expectSampled(const std::vector<double> &found,
                          std::span<const float> row, double tolerance) {
  double largest = row[0], squares = 0;
  if (largest < kNothing) {
    EXPECT_LT(largestOf(found), kNothing);
    return;
  }
  for (double value : found)
    squares += value * value;
  EXPECT_NEAR(largestOf(found), largest, tolerance * largest);
  EXPECT_NEAR(std::sqrt(squares), row[1], tolerance * row[1]);
  std::span<const float> samples = row.subspan(2);
  size_t stride = std::max<size_t>(1, found.size() / samples.size());
  size_t count = std::min(found.size(), samples.size());
  for (size_t i = 0; i < count; ++i)
    ASSERT_NEAR(found[i * stride], samples[i], tolerance * largest)
        << "element " << i * stride << " of " << found.size();
}

static void expectTable(const std::vector<std::string> &names,
                        std::span<const NDArray> arrays,
                        const rt::HostTensor &table, double tolerance) {
  ASSERT_EQ(arrays.size(), names.size());
  ASSERT_EQ(int64_t(arrays.size()), table.shape[0]);
  size_t columns = table.shape[1];
  for (size_t i = 0; i < arrays.size(); ++i) {
    SCOPED_TRACE(names[i]);
    expectSampled(readDoubles(arrays[i]),
                  {table.view().as<float>() + i * columns, columns}, tolerance);
  }
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

namespace {
struct Subject {
  const char *network;
  rt::DataType type;
  double tolerance; ///< Of the largest value of a result.
};

class ZooTest : public testing::TestWithParam<Subject> {
protected:
  /// An executor with its values for data of the shape in `results`.
  std::unique_ptr<Executor> makeExecutor(const Values &results,
                                         GradientRequest request) {
    auto [network, type, tolerance] = GetParam();
    rt::KnownVariables known;
    rt::TensorView shape = results.at("shape").view();
    known.shapes["data"] = {shape.as<int64_t>(),
                            shape.as<int64_t>() + shape.size()};
    known.types["data"] = type;
    rt::ExecutorOptions options;
    options.workers = pool.get();
    auto executor = take(simpleBind(readNetwork(network, type), runtime, known,
                                    request, {}, rt::Context::cpu(), options));
    if (!executor)
      return nullptr;
    const rt::Network &own = executor->network();
    for (const std::string &name : own.arguments())
      fill(*executor->argument(name),
           name == "data" ? "data" + seedOf(results) : name);
    for (const std::string &name : own.auxiliaryStates())
      fill(*executor->auxiliaryState(name), name);
    return executor;
  }

  static std::string seedOf(const Values &results) {
    auto seed = results.find("seed");
    return std::to_string(
        seed == results.end() ? 0 : seed->second.view().as<int64_t>()[0]);
  }

  std::unique_ptr<rt::WorkerPool> pool =
      std::move(*rt::WorkerPool::create({.threads = 2}));
  std::shared_ptr<ArrayRuntime> runtime = makeRuntime();
};

using ZooTrainingTest = ZooTest;
} // namespace

TEST_P(ZooTest, InfersAsMXNetDoes) {
  Values results = readResults(GetParam().network);
  ASSERT_TRUE(results.count("out"));
  auto executor = makeExecutor(results, GradientRequest::Null);
  ASSERT_TRUE(executor);
  EXPECT_OK(executor->forward());
  expectAll(executor->outputs()[0], results.at("out"), GetParam().tolerance);
}

/// Batch normalisation with the batch's statistics; gradients of all arguments,
/// the data too, and what is left in the states.
TEST_P(ZooTrainingTest, TrainsAsMXNetDoes) {
  Values results = readResults(std::string(GetParam().network) + "-training");
  ASSERT_TRUE(results.count("gradients"));
  auto executor = makeExecutor(results, GradientRequest::Write);
  ASSERT_TRUE(executor);
  NDArray out = executor->outputs()[0];
  auto head = NDArray::create(runtime, out.type(),
                              {out.shape().begin(), out.shape().end()});
  ASSERT_TRUE(head.isOk());
  fill(*head, "head");
  EXPECT_OK(executor->forwardBackward({&*head, 1}));
  double tolerance = GetParam().tolerance;
  expectAll(executor->outputs()[0], results.at("out"), tolerance);
  expectTable(executor->network().arguments(), executor->gradients(),
              results.at("gradients"), tolerance);
  ASSERT_EQ(results.count("states"), !executor->auxiliaryStates().empty());
  if (results.count("states"))
    expectTable(executor->network().auxiliaryStates(),
                executor->auxiliaryStates(), results.at("states"), tolerance);
}

static std::string nameOf(const testing::TestParamInfo<Subject> &info) {
  std::string name = info.param.network;
  std::erase_if(name, [](char c) { return !std::isalnum(c); });
  return name + (info.param.type == DLC_F64 ? "Double" : "");
}

INSTANTIATE_TEST_SUITE_P(Networks, ZooTest,
                         testing::Values(Subject{"densenet121", DLC_F32, 1e-4},
                                         Subject{"inceptionv3", DLC_F32, 1e-4},
                                         Subject{"mobilenetv2_1.0", DLC_F32,
                                                 1e-4},
                                         Subject{"resnet18_v1", DLC_F32, 1e-4},
                                         Subject{"resnet50_v1", DLC_F32, 1e-4},
                                         Subject{"vgg16", DLC_F32, 1e-4}),
                         nameOf);
INSTANTIATE_TEST_SUITE_P(Networks, ZooTrainingTest,
                         testing::Values(Subject{"mobilenetv2_1.0", DLC_F64,
                                                 1e-6},
                                         Subject{"resnet18_v1", DLC_F64, 1e-6},
                                         Subject{"resnet18_v1", DLC_F32, 1e-4},
                                         Subject{"vgg16", DLC_F32, 1e-4}),
                         nameOf);
