// SPDX-License-Identifier: Apache-2.0
//
// cpu.matmul against a product in double.

#include "MatmulTesting.h"

#include <array>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

using namespace dlc::rt;
using namespace dlc::rt::cpu;
using namespace dlc::rt::cpu::testing;

namespace {

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
  for (int64_t m : {1, 2, 3, 4, 7, 12, 49}) {
    for (int64_t n : {1, 8, 16, 17, 40, 49, 64, 100, 1000, -49, -100}) {
      Call call = makeCall({{}, {}, m, std::abs(n), m == 49 ? 82 : 24});
      call.attributes.set("bf16_parts", int64_t{3});
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
      for (Isa isa : runnableIsas(call)) {
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
      for (int form = 0; form < 6; ++form) {
        const int64_t n = form < 3 ? 33 : 1;
        const MatmulCase c{{},           {}, m, n, k, false, form % 3 == 1,
                           form % 3 == 2};
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
  // Rows in parts that share panels, as one and by themselves.
  check({{}, {}, 32, 384, 1536, false, false, true});
  check({{}, {}, 61, 72, 1100, false, false, true});
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

TEST(MatmulTest, Columns) {
  for (int64_t m : {2, 5, 64, 300})
    for (int64_t k : {1, 16, 77, 400})
      for (bool transA : {false, true})
        for (bool transB : {false, true}) {
          check({{}, {}, m, 1, k, transA, transB});
          check({{3}, {}, m, 1, k, transA, transB, false, false, true, "tanh"});
          check({{2, 1}, {1, 3}, m, 1, k, transA, transB});
          check({{}, {4}, m, 1, k, transA, transB, false, true, false, "relu"});
        }
}

/// Those that are dot products, and those of less than a vector.
TEST(MatmulTest, FewColumns) {
  for (int64_t n : {1, 2, 3, 5, 8, 15})
    for (int64_t k : {1, 3, 16, 17, 40, 384, 385, 3000})
      for (bool isTurned : {false, true}) {
        const int64_t m = 4 + (n + k) % 60;
        MatmulCase c{{}, {}, m, n, k, false, isTurned};
        check(c);
        c.bias = c.residual = true;
        c.activation = k % 2 == 0 ? "clamp" : "silu";
        check(c);
        c.packed = !isTurned;
        check(c);
        c.aBatch = c.bBatch = {3};
        c.packed = false;
        check(c);
      }
  // Threads may be handed several tiles as one, of which the last is small.
  for (const auto &[m, n, k] : {std::array<int64_t, 3>{15, 14, 2000},
                                {13, 9, 3000},
                                {37, 12, 1024},
                                {123, 2, 3000},
                                {146, 9, 1024}})
    check({{}, {}, m, n, k, false, false, true});
}

// Whether or not the call says that b is packed.
TEST(MatmulTest, OnePackedForm) {
  const LibraryEntry *entry = lookupLibraryEntry("cpu.matmul");
  for (int64_t m : {1, 30, 300})
    for (int64_t n : {1, 2, 40}) {
      Call call = makeCall({{2}, {}, m, n, 50});
      const size_t bytes = entry->packedBytes(call.view(), 1);
      EXPECT_EQ(bytes, size_t((n + 15) / 16 * 16 * 50 * 4)) << n;
      std::vector<float> first(bytes / 4), second(bytes / 4);
      entry->pack(call.view(), 1, call.values[1].data(), first.data());
      call.attributes.set("packed_b", int64_t(2));
      EXPECT_EQ(entry->packedBytes(call.view(), 1), bytes);
      entry->pack(call.view(), 1, call.values[1].data(), second.data());
      EXPECT_EQ(first, second);
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
    for (Isa isa : runnableIsas(call)) {
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

//===----------------------------------------------------------------------===//
// Tiles of bfloat16
//===----------------------------------------------------------------------===//

namespace {
/// A call of a product in parts.
MatmulCase inParts(int64_t m, int64_t n, int64_t k, bool packed = true) {
  MatmulCase c{{}, {}, m, n, k, false, false, packed};
  c.parts = 3;
  return c;
}

/// Both kinds of tiles give what sums of floats give: what is not finite in the
/// same elements, the others within 2e-6 of the largest value.
void expectSumsAgree(Call &call, const std::vector<double> &expected,
                     const std::string &label) {
  const std::vector<float> plain = runCall(call, prepareMatmul, Isa::Baseline);
  for (Isa isa : {Isa::AMX, Isa::AMXModel}) {
    if (!canRun(isa))
      continue;
    SCOPED_TRACE(label + " " + std::string(nameOf(isa)));
    const std::vector<float> values = runCall(call, prepareMatmul, isa);
    ASSERT_EQ(values.size(), plain.size());
    double scale = 0, error = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      EXPECT_EQ(std::isnan(values[i]), std::isnan(plain[i])) << i;
      EXPECT_EQ(std::isinf(values[i]), std::isinf(plain[i])) << i;
      if (!std::isfinite(plain[i]))
        continue;
      scale = std::max(scale, std::fabs(expected[i]));
      error = std::max(error, std::fabs(values[i] - expected[i]));
    }
    // Denormal results have few bits: each of some terms may lose half a one.
    constexpr double denormal = 0x1p-149;
    EXPECT_LE(error, 2e-6 * scale + 32 * denormal) << "of " << scale;
  }
}
} // namespace

TEST(MatmulTest, PartsOfEveryShape) {
  for (int64_t m : {48, 49, 64, 65, 96, 113, 128})
    for (int64_t n : {64, 65, 80, 95, 130})
      for (int64_t k : {64, 65, 79, 80, 82, 96, 100})
        for (bool packed : {false, true})
          check(inParts(m, n, k, packed));
}

TEST(MatmulTest, PartsOfManyTiles) {
  for (bool packed : {false, true}) {
    check(inParts(129, 700, 300, packed));
    check(inParts(300, 70, 520, packed));
    check(inParts(48, 65, 8300, packed)); // Sums of several chains.
  }
  for (int64_t batches : {1, 3}) {
    MatmulCase c = inParts(50, 100, 64, false);
    c.aBatch = {batches, 2};
    c.bBatch = {2};
    check(c);
  }
}

TEST(MatmulTest, PartsWithEpilogues) {
  for (const char *activation : kActivations)
    for (bool packed : {false, true}) {
      MatmulCase c = inParts(53, 70, 450, packed);
      c.bias = c.residual = true;
      c.activation = activation;
      check(c);
    }
}

TEST(MatmulTest, PartsMayOverwriteTheResidual) {
  MatmulCase c = inParts(60, 140, 800);
  c.residual = true;
  for (float outlier : {0.0f, 1e30f}) { // The latter has plain products.
    Call call = makeCall(c);
    call.values[0].data()[801] += outlier;
    const std::vector<double> expected = reference(c, call);
    packB(call);
    for (Isa isa : runnableIsas(call)) {
      std::unique_ptr<PreparedKernel> kernel;
      ASSERT_TRUE(prepareMatmul(call.view(), isa, kernel).isOk());
      GuardedBuffer c0 = call.values[3];
      void *arguments[] = {call.values[0].data(), call.values[1].data(),
                           nullptr, c0.data(), c0.data()};
      kernel->run(arguments, 0, kernel->tiles());
      EXPECT_TRUE(c0.guardsIntact());
      EXPECT_LE(errorOf({c0.data(), c0.data() + c0.size()}, expected), 4e-6);
    }
  }
}

/// Three parts hold all 24 bits: the error is that of sums of floats.
TEST(MatmulTest, PartsAreAsExactAsFloats) {
  for (int64_t k : {64, 96, 768, 4096}) {
    const MatmulCase c = inParts(64, 64, k);
    Call call = makeCall(c);
    const std::vector<double> expected = reference(c, call);
    packB(call);
    const double plain =
        errorOf(runCall(call, prepareMatmul, Isa::Baseline), expected);
    for (Isa isa : {Isa::AMX, Isa::AMXModel})
      if (canRun(isa)) {
        EXPECT_LE(errorOf(runCall(call, prepareMatmul, isa), expected),
                  std::max(2 * plain, 4e-7))
            << k << " " << nameOf(isa);
      }
  }
}

/// Whatever is anywhere, parts give what floats do: what is not finite is so in
/// the same elements, what overflows does, and tiny results are there.
TEST(MatmulTest, PartsOfAnyValues) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const MatmulCase c = inParts(48, 160, 96);
  for (float value : {infinity, -infinity, std::nanf(""), 3e38f, -1e30f, 1e20f,
                      1e-20f, 1e-38f, 1e-45f, -0.0f})
    for (int operand : {0, 1})
      for (int64_t at : {0, 95, 700, 48 * 96 - 1}) {
        Call call = makeCall(c);
        call.values[operand].data()[at] = value;
        const std::vector<double> expected = reference(c, call);
        packB(call);
        expectSumsAgree(call, expected,
                        std::to_string(value) + " in operand " +
                            std::to_string(operand) + " at " +
                            std::to_string(at));
      }
}

TEST(MatmulTest, PartsOfAnyMagnitude) {
  const MatmulCase c = inParts(48, 160, 96);
  for (float a : {1e-44f, 1e-40f, 1e-30f, 1e-19f, 1.0f, 1e15f, 1e19f, 1e38f})
    for (float b :
         {1e-44f, 1e-40f, 1e-30f, 1e-19f, 1.0f, 1e15f, 1e19f, 1e38f}) {
      if (double(a) * b > 1e36 || (a != 1 && b != 1 && double(a) * b < 1e-30))
        continue; // Nothing is left of either.
      Call call = makeCall(c);
      for (int64_t i = 0; i < call.values[0].size(); ++i)
        call.values[0].data()[i] *= a;
      for (int64_t i = 0; i < call.values[1].size(); ++i)
        call.values[1].data()[i] *= b;
      const std::vector<double> expected = reference(c, call);
      packB(call);
      expectSumsAgree(call, expected,
                      std::to_string(std::log10(a)) + " " +
                          std::to_string(std::log10(b)));
    }
}

/// Terms that cancel leave what floats leave, of the terms' size.
TEST(MatmulTest, PartsOfTermsThatCancel) {
  const MatmulCase c = inParts(64, 64, 256);
  Call call = makeCall(c);
  float *a = call.values[0].data(), *b = call.values[1].data();
  for (int64_t row = 0; row < c.m; ++row)
    for (int64_t l = 0; l < c.k; l += 2)
      a[row * c.k + l + 1] = -a[row * c.k + l];
  for (int64_t l = 0; l < c.k; l += 2)
    for (int64_t j = 0; j < c.n; ++j)
      b[(l + 1) * c.n + j] = b[l * c.n + j];
  packB(call);
  for (Isa isa : runnableIsas(call))
    for (float value : runCall(call, prepareMatmul, isa))
      EXPECT_LE(std::fabs(value), 1e-6) << nameOf(isa);
}

/// The model is the definition of what the instructions do.
TEST(MatmulTest, ModelOfTilesIsExact) {
  if (!canRun(Isa::AMX))
    GTEST_SKIP() << "this machine has no AMX";
  Call call = makeCall(inParts(50, 100, 400));
  packB(call);
  EXPECT_EQ(runCall(call, prepareMatmul, Isa::AMX),
            runCall(call, prepareMatmul, Isa::AMXModel));
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
  for (int64_t parts : {-1, 2, 4})
    attribute("bf16_parts", parts, "'bf16_parts' to be 0, 1 or 3, got");
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
  refuse(
      [](Call &c) {
        c.inputs[0].shape = {int64_t{1} << 32, 1 << 20, 7};
      },
      "at most 2^45 elements");
  refuse(
      [](Call &c) {
        c.inputs[0].shape = {0, INT64_MAX, INT64_MAX};
      },
      "at most 2^45 elements");
  refuse([](Call &c) { c.inputs[1].shape[0] = 8; }, "equal inner dimensions");
  refuse([](Call &c) { c.inputs[1].shape[1] = 6; }, "M rows and N columns");
  refuse(
      [](Call &c) {
        c.inputs[1].shape = {3, 7, 5};
      },
      "batch dimensions that broadcast");
  refuse([](Call &c) { c.output.shape[0] = 1; },
         "batch dimensions that broadcast");
  refuse(
      [](Call &c) {
        c.output.shape = {3, 5};
      },
      "batch dimensions that broadcast");
  refuse([](Call &c) { c.output.shape[1] = 4; }, "M rows and N columns");
  refuse([](Call &c) { c.inputs[2].shape = {1}; }, "a bias of 5 elements");
  refuse(
      [](Call &c) {
        c.inputs[2].shape = {1, 5};
      },
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
  for (Isa isa : {Isa::Baseline, Isa::AVX2, Isa::AVX512, Isa::AMX}) {
    std::unique_ptr<PreparedKernel> kernel;
    Status status = prepareMatmul(call.view(), isa, kernel);
    EXPECT_EQ(status.isOk(), canRun(isa));
    if (!canRun(isa)) {
      EXPECT_EQ(status.code(), StatusCode::Unsupported);
    }
  }
}
