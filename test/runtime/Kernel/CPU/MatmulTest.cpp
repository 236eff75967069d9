// SPDX-License-Identifier: Apache-2.0
//
// cpu.matmul against a product in double.

#include "KernelTesting.h"

#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

using namespace dlc::rt;
using namespace dlc::rt::cpu;
using namespace dlc::rt::cpu::testing;

namespace {

struct MatmulCase {
  Shape aBatch, bBatch;
  int64_t m, n, k;
  bool transA = false, transB = false, packed = false;
  bool bias = false, residual = false;
  std::string activation = {};
};

std::string textOf(const MatmulCase &c) {
  auto dims = [](const Shape &shape) {
    std::string text;
    for (int64_t dim : shape)
      text += std::to_string(dim) + ".";
    return text;
  };
  return dims(c.aBatch) + "|" + dims(c.bBatch) + " " + std::to_string(c.m) +
         "x" + std::to_string(c.n) + "x" + std::to_string(c.k) +
         (c.transA ? " trans_a" : "") + (c.transB ? " trans_b" : "") +
         (c.packed ? " packed" : "") + (c.bias ? " bias" : "") +
         (c.residual ? " residual " : " ") + c.activation;
}

Shape broadcast(const Shape &a, const Shape &b) {
  Shape result(std::max(a.size(), b.size()));
  for (size_t i = 0; i < result.size(); ++i) {
    auto dim = [&](const Shape &shape) {
      size_t skipped = result.size() - shape.size();
      return i < skipped ? 1 : shape[i - skipped];
    };
    result[i] = dim(a) == 1 ? dim(b) : dim(a);
  }
  return result;
}

Shape with(Shape shape, int64_t rows, int64_t columns, bool swapped) {
  shape.push_back(swapped ? columns : rows);
  shape.push_back(swapped ? rows : columns);
  return shape;
}

Call makeCall(const MatmulCase &c) {
  Random random(c.m * 31 + c.n * 7 + c.k);
  Call call;
  call.output = f32(with(broadcast(c.aBatch, c.bBatch), c.m, c.n, false));
  call.addInput(f32(with(c.aBatch, c.m, c.k, c.transA)), random);
  // Sums near one: the slope of an activation must not magnify their errors
  // over its largest value.
  for (int64_t i = 0; i < call.values[0].size(); ++i)
    call.values[0].data()[i] /= std::sqrt(static_cast<float>(c.k));
  call.addInput(f32(with(c.bBatch, c.k, c.n, c.transB)), random);
  if (c.bias || c.residual)
    call.addInput(c.bias ? f32({c.n}) : TensorType{}, random);
  if (c.residual)
    call.addInput(call.output, random);
  call.attributes.set("trans_a", int64_t{c.transA});
  call.attributes.set("trans_b", int64_t{c.transB});
  setActivation(call.attributes, c.activation);
  return call;
}

/// Batch `index` of an operand, in matrices.
int64_t matrixOf(const Shape &batch, const Shape &whole, int64_t index) {
  int64_t matrix = 0, scale = 1;
  for (size_t i = 0; i < whole.size(); ++i) {
    int64_t position = index % whole[whole.size() - 1 - i];
    index /= whole[whole.size() - 1 - i];
    if (i >= batch.size())
      continue;
    int64_t dim = batch[batch.size() - 1 - i];
    matrix += (dim == 1 ? 0 : position) * scale;
    scale *= dim;
  }
  return matrix;
}

std::vector<double> reference(const MatmulCase &c, Call &call) {
  Shape batch = broadcast(c.aBatch, c.bBatch);
  int64_t batches = *elementCount(batch);
  std::vector<double> result;
  for (int64_t index = 0; index < batches; ++index) {
    const float *a =
        call.values[0].data() + matrixOf(c.aBatch, batch, index) * c.m * c.k;
    const float *b =
        call.values[1].data() + matrixOf(c.bBatch, batch, index) * c.k * c.n;
    for (int64_t i = 0; i < c.m; ++i) {
      for (int64_t j = 0; j < c.n; ++j) {
        double sum = 0;
        for (int64_t l = 0; l < c.k; ++l)
          sum += double(a[c.transA ? l * c.m + i : i * c.k + l]) *
                 b[c.transB ? j * c.k + l : l * c.n + j];
        if (c.bias)
          sum += call.values[2].data()[j];
        if (c.residual)
          sum += call.values[3].data()[result.size()];
        result.push_back(activate(sum, call.attributes));
      }
    }
  }
  return result;
}

/// The forms of today and of older artifacts.
constexpr int64_t kForms[] = {2, 1};

void packB(Call &call, int64_t form = kForms[0]) {
  call.attributes.set("packed_b", form);
  const LibraryEntry *entry = lookupLibraryEntry("cpu.matmul");
  size_t bytes = entry->packedBytes(call.view(), 1);
  GuardedBuffer packed(bytes / sizeof(float));
  entry->pack(call.view(), 1, call.values[1].data(), packed.data());
  ASSERT_TRUE(packed.guardsIntact());
  call.values[1] = std::move(packed);
}

void check(const MatmulCase &c) {
  Call call = makeCall(c);
  std::vector<double> expected = reference(c, call);
  if (!c.packed)
    return expectMatches(call, prepareMatmul, expected, textOf(c));
  for (int64_t form : kForms) {
    Call packed = call;
    packB(packed, form);
    expectMatches(packed, prepareMatmul, expected,
                  textOf(c) + std::to_string(form));
  }
}

} // namespace

/// As programs store it: a vector of floats, with its shape in an attribute.
TEST(MatmulTest, ChecksTheSizeOfAStoredPackedOperand) {
  const LibraryEntry *entry = lookupLibraryEntry("cpu.matmul");
  for (int64_t floats : {16 * 24, 16 * 24 - 1}) {
    Call call = makeCall({{}, {}, 3, 10, 24});
    call.attributes.set("packed_b", kForms[0]);
    call.attributes.set("packed_shape", std::vector<int64_t>{24, 10});
    call.inputs[1].shape = {floats};
    std::unique_ptr<PreparedKernel> kernel;
    Status status = entry->prepare(call.view(), kernel);
    if (floats == 16 * 24)
      EXPECT_TRUE(status.isOk()) << status.message();
    else
      EXPECT_EQ(status.message(),
                "expected a packed operand of 1536 bytes, got 383xf32");
  }
}

/// Packed operands come from mapped files: the page after may not be there.
TEST(MatmulTest, ReadsNothingPastThePackedOperand) {
  const long page = sysconf(_SC_PAGESIZE);
  for (int64_t m : {1, 2, 3, 4, 7, 12}) {
    for (int64_t n : {1, 8, 16, 17, 40, 49, 64, 100, 1000, -49, -100}) {
      Call call = makeCall({{}, {}, m, std::abs(n), 24});
      packB(call, kForms[n < 0]);
      const size_t bytes = call.values[1].size() * sizeof(float);
      const size_t pages = (bytes + page - 1) / page * page;
      void *memory = mmap(nullptr, pages + page, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      ASSERT_NE(memory, MAP_FAILED);
      char *end = static_cast<char *>(memory) + pages;
      ASSERT_EQ(mprotect(end, page, PROT_NONE), 0);
      std::memcpy(end - bytes, call.values[1].data(), bytes);
      std::vector<float> c(m * std::abs(n));
      for (Isa isa : {Isa::Baseline, Isa::AVX2, Isa::AVX512}) {
        if (!canRun(isa))
          continue;
        std::unique_ptr<PreparedKernel> kernel;
        ASSERT_TRUE(prepareMatmul(call.view(), isa, kernel).isOk());
        void *arguments[] = {call.values[0].data(), end - bytes, c.data()};
        kernel->run(arguments, 0, kernel->tiles());
      }
      munmap(memory, pages + page);
    }
  }
}

TEST(MatmulTest, EverySmallShape) {
  for (int64_t m : {1, 2, 3, 4, 5, 6, 7, 13, 25})
    for (int64_t n : {1, 3, 4, 7, 8, 9, 15, 16, 17, 31, 33, 64, 65, 100})
      for (int64_t k : {1, 2, 5, 8, 19})
        for (int form = 0; form < 6; ++form)
          check({{}, {}, m, n, k, form % 2 == 1, form / 2 == 1, form / 2 == 2});
}

TEST(MatmulTest, LongSums) {
  for (int64_t m : {1, 3, 6, 50})
    for (int form = 0; form < 5; ++form)
      check({{}, {}, m, 70, 1001, form == 1, form == 2 || form == 4, form > 2});
}

/// Of terms that do not cancel, as many as the first layers behind images have:
/// the error may not grow with their number.
TEST(MatmulTest, LongSumsOfPositiveTerms) {
  for (int64_t m : {1, 3, 8})
    for (int64_t k : {25088, 75264})
      for (int form = 0; form < 3; ++form) {
        const MatmulCase c{{}, {}, m, 33, k, false, form == 1, form == 2};
        Call call = makeCall(c);
        for (GuardedBuffer &value : call.values)
          for (int64_t i = 0; i < value.size(); ++i)
            value.data()[i] = std::fabs(value.data()[i]);
        std::vector<double> expected = reference(c, call);
        if (c.packed)
          packB(call);
        expectMatches(call, prepareMatmul, expected, textOf(c));
      }
}

TEST(MatmulTest, ManyTiles) {
  check({{}, {}, 401, 83, 40});
  check({{}, {}, 401, 83, 390, true, true});
  check({{}, {}, 200, 500, 30, false, false, true});
  check({{}, {}, 5, 1000, 100, false, false, true});
  check({{}, {}, 4, 999, 100, false, true});
}

TEST(MatmulTest, BroadcastsBatches) {
  for (bool transA : {false, true})
    for (bool transB : {false, true}) {
      check({{3}, {3}, 7, 20, 9, transA, transB});
      check({{2, 3}, {3}, 7, 20, 9, transA, transB});
      check({{3}, {2, 1}, 7, 20, 9, transA, transB});
      check({{2, 1, 3}, {4, 1}, 5, 9, 4, transA, transB});
      check({{2, 3}, {}, 4, 20, 9, transA, transB});
      check({{2, 3}, {1, 1}, 4, 20, 9, transA, transB, true, true, true});
      check({{}, {2, 3}, 4, 20, 9, transA, transB, true, true, true});
      check({{1}, {5}, 13, 33, 30, transA, transB, true});
    }
}

TEST(MatmulTest, EveryActivation) {
  for (const char *activation : kActivations)
    for (int64_t m : {2, 12})
      for (int64_t n : {16, 21})
        for (int form = 0; form < 8; ++form)
          check({{2},
                 {},
                 m,
                 n,
                 450,
                 false,
                 form % 2 == 1,
                 form / 4 == 1,
                 form / 2 % 2 == 0,
                 form % 2 == 1 || form / 2 % 2 == 1,
                 activation});
}

TEST(MatmulTest, EmptySums) {
  for (const char *activation : {"", "sigmoid", "clamp"})
    for (bool packed : {false, true})
      for (bool transB : {false, true})
        check(
            {{}, {}, 5, 20, 0, false, transB, packed, true, true, activation});
}

TEST(MatmulTest, EmptyResults) {
  for (const MatmulCase &c :
       {MatmulCase{{}, {}, 0, 5, 3}, MatmulCase{{}, {}, 5, 0, 3},
        MatmulCase{{0}, {}, 5, 5, 3}, MatmulCase{{2, 0}, {1}, 5, 5, 3}}) {
    Call call = makeCall(c);
    std::unique_ptr<PreparedKernel> kernel;
    ASSERT_TRUE(prepareMatmul(call.view(), bestIsa(), kernel).isOk());
    EXPECT_EQ(kernel->tiles(), 0);
  }
}

TEST(MatmulTest, NaNPassesThroughActivations) {
  for (const char *activation : kActivations) {
    Call call = makeCall(
        {{}, {}, 8, 24, 5, false, false, false, true, false, activation});
    call.values[0].data()[5 * 3 + 1] = std::nanf("");
    for (Isa isa : runnableIsas()) {
      std::vector<float> values = runCall(call, prepareMatmul, isa);
      for (int64_t i = 0; i < 8 * 24; ++i)
        EXPECT_EQ(std::isnan(values[i]), i / 24 == 3)
            << activation << " " << nameOf(isa) << " " << i;
    }
  }
}

TEST(MatmulTest, OutputMayBeTheResidual) {
  MatmulCase c{{}, {}, 30, 40, 800, false, false, true, true, true, "gelu"};
  Call call = makeCall(c);
  std::vector<double> expected = reference(c, call);
  packB(call);
  std::unique_ptr<PreparedKernel> kernel;
  ASSERT_TRUE(prepareMatmul(call.view(), bestIsa(), kernel).isOk());
  float *c0 = call.values[3].data();
  void *arguments[] = {call.values[0].data(), call.values[1].data(),
                       call.values[2].data(), c0, c0};
  kernel->run(arguments, 0, kernel->tiles());
  EXPECT_LE(errorOf({c0, c0 + 1200}, expected), 4e-6);
}

TEST(MatmulTest, Cost) {
  Call call = makeCall({{2}, {}, 3, 5, 7, false, false, false, true});
  KernelCost cost = lookupLibraryEntry("cpu.matmul")->cost(call.view());
  EXPECT_EQ(cost.flops, 2u * 2 * 3 * 5 * 7);
  EXPECT_EQ(cost.bytes, 4u * (2 * 3 * 7 + 7 * 5 + 5 + 2 * 3 * 5));
}

namespace {
/// The call is refused, alike by every question, with that in the message.
void expectRefused(const Call &call, const std::string &part) {
  const LibraryEntry *entry = lookupLibraryEntry("cpu.matmul");
  std::unique_ptr<PreparedKernel> kernel;
  Status status = entry->prepare(call.view(), kernel);
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
  EXPECT_EQ(kernel, nullptr);
  std::string why;
  EXPECT_FALSE(entry->isSupported(call.view(), why));
  EXPECT_EQ(why, status.message());
  EXPECT_EQ(entry->packedBytes(call.view(), 1), 0u);
  EXPECT_EQ(entry->cost(call.view()).flops, 0u);
}
} // namespace

TEST(MatmulTest, RefusesBadCalls) {
  const MatmulCase base{{2}, {}, 3, 5, 7, false, false, false, true, true};
  auto refuse = [&](auto change, const char *part) {
    Call call = makeCall(base);
    change(call);
    expectRefused(call, part);
  };
  auto attribute = [&](const char *name, AttributeValue value,
                       const char *part) {
    refuse([&](Call &call) { call.attributes.set(name, value); }, part);
  };
  for (int64_t form : {-1, 3})
    attribute("packed_b", form, "'packed_b' to be 0 to 2, got");
  refuse([](Call &c) { c.inputs.resize(1); }, "expected 2 to 4 inputs, got 1");
  refuse([](Call &c) { c.inputs.resize(5); }, "expected 2 to 4 inputs, got 5");
  refuse([](Call &c) { c.inputs[0].type = DLC_F64; },
         "expected input 0 to be f32, got 2x3x7xf64");
  refuse([](Call &c) { c.inputs[1] = TensorType{}; }, "input 1 to be f32");
  refuse([](Call &c) { c.inputs[1].shape = {7}; }, "to have rank 2 to 16");
  refuse([](Call &c) { c.inputs[1].shape[0] = kUnknownDim; },
         "to have a static shape");
  refuse([](Call &c) { c.inputs[1].hasRank = false; },
         "to have a static shape");
  refuse([](Call &c) { c.inputs[0].shape = {int64_t{1} << 32, 1 << 20, 7}; },
         "at most 2^45 elements");
  refuse([](Call &c) { c.inputs[0].shape = {0, INT64_MAX, INT64_MAX}; },
         "at most 2^45 elements");
  refuse([](Call &c) { c.inputs[1].shape[0] = 8; }, "equal inner dimensions");
  refuse([](Call &c) { c.inputs[1].shape[1] = 6; }, "M rows and N columns");
  refuse([](Call &c) { c.inputs[1].shape = {3, 7, 5}; },
         "batch dimensions that broadcast");
  refuse([](Call &c) { c.output.shape[0] = 1; },
         "batch dimensions that broadcast");
  refuse([](Call &c) { c.output.shape = {3, 5}; },
         "batch dimensions that broadcast");
  refuse([](Call &c) { c.output.shape[1] = 4; }, "M rows and N columns");
  refuse([](Call &c) { c.inputs[2].shape = {1}; }, "a bias of 5 elements");
  refuse([](Call &c) { c.inputs[2].shape = {1, 5}; },
         "the bias to have rank 1");
  refuse([](Call &c) { c.inputs[3].shape[2] = 1; },
         "a residual of the output's type");
  attribute("trans_b", int64_t{2}, "'trans_b' to be 0 or 1, got 2");
  attribute("trans_a", 1.0, "'trans_a' to be an integer");
  attribute("activation", std::string("swish"), "unknown activation 'swish'");
  attribute("transposed", int64_t{1}, "unknown attribute 'transposed'");
}

TEST(MatmulTest, RefusesInstructionSetsThatCannotRun) {
  Call call = makeCall({{}, {}, 3, 5, 7});
  for (Isa isa : {Isa::Baseline, Isa::AVX2, Isa::AVX512}) {
    std::unique_ptr<PreparedKernel> kernel;
    Status status = prepareMatmul(call.view(), isa, kernel);
    EXPECT_EQ(status.isOk(), canRun(isa));
    if (!canRun(isa)) {
      EXPECT_EQ(status.code(), StatusCode::Unsupported);
    }
  }
}
