// SPDX-License-Identifier: Apache-2.0
//
// cublaslt.matmul through the fake library: answers, recordings, what is
// refused, and every way in which the library can fail.

#include "CallTesting.h"

#include <cmath>

using namespace dlc;
using namespace dlc::rt;
using namespace dlc::rt::test;

namespace {

struct Case {
  DataType type = DLC_F32;
  std::vector<int64_t> a, b, y;
  bool transA = false, transB = false, bias = false, residual = false;
  std::string activation = "", compute = "";
};

/// The call of a case, and what it reads.
class Matmul : public TestedCall {
public:
  explicit Matmul(const Case &test)
      : TestedCall("cublaslt.matmul", test.type), test(test) {
    add(test.a);
    add(test.b);
    add(test.bias ? std::vector{test.y.back()} : std::vector<int64_t>());
    add(test.residual ? test.y : std::vector<int64_t>());
    add(test.y);
    addWorkspace();
    for (auto [name, isSet] :
         {std::pair("trans_a", test.transA), std::pair("trans_b", test.transB)})
      if (isSet)
        attributes.set(name, int64_t(1));
    if (!test.activation.empty())
      attributes.set("activation", test.activation);
    if (!test.compute.empty())
      attributes.set("compute", test.compute);
  }
  std::vector<double> expected() const;

  const Case test;
};

std::vector<double> Matmul::expected() const {
  const int64_t m = test.y[test.y.size() - 2], n = test.y.back();
  const int64_t k = test.transA ? test.a[test.a.size() - 2] : test.a.back();
  const int64_t batch = countOf(test.y) / (m * n);
  std::vector<double> result;
  for (int64_t i = 0; i != batch; ++i)
    for (int64_t row = 0; row != m; ++row)
      for (int64_t column = 0; column != n; ++column) {
        const float *a = tensors[0].values.data() + i * m * k;
        const float *b =
            tensors[1].values.data() + (test.b.size() == 2 ? 0 : i * k * n);
        double sum = 0;
        for (int64_t p = 0; p != k; ++p)
          sum += double(test.transA ? a[p * m + row] : a[row * k + p]) *
                 (test.transB ? b[column * k + p] : b[p * n + column]);
        if (test.bias)
          sum += tensors[2].values[size_t(column)];
        if (test.residual)
          sum += tensors[3].values[size_t((i * m + row) * n + column)];
        if (test.activation == "gelu_tanh")
          sum = 0.5 * sum *
                (1 + std::tanh(std::sqrt(2 / M_PI) *
                               (sum + 0.044715 * sum * sum * sum)));
        result.push_back(sum);
      }
  return result;
}

void expectAnswer(const Case &test) {
  FakeCuda fake;
  {
    Matmul matmul(test);
    Status prepared = matmul.prepare();
    ASSERT_TRUE(prepared.isOk()) << prepared.message();
    ASSERT_TRUE(matmul.launch().isOk());
    // Values have few bits: sums are exact, and rounded once.
    expectNear(matmul.answer(), matmul.expected(),
               test.type == DLC_F32 ? 1e-5 : 2e-2);
  }
  EXPECT_EQ(fake.handles(), 0u);
}

std::string refusal(const Case &test) {
  FakeCuda fake;
  Matmul matmul(test);
  Status status = matmul.prepare();
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  return status.message();
}

} // namespace

TEST(CudaMatmul, ComputesWhatIsAsked) {
  for (DataType type : {DLC_F32, DLC_F16, DLC_BF16})
    for (int flags = 0; flags != 16; ++flags) {
      Case test{.type = type, .a = {}, .b = {}, .y = {5, 7}};
      test.transA = flags & 1;
      test.transB = flags & 2;
      test.bias = flags & 4;
      test.residual = flags & 8;
      test.a =
          test.transA ? std::vector<int64_t>{9, 5} : std::vector<int64_t>{5, 9};
      test.b =
          test.transB ? std::vector<int64_t>{7, 9} : std::vector<int64_t>{9, 7};
      if (!test.residual && flags % 3 == 0)
        test.activation = "gelu_tanh";
      SCOPED_TRACE(std::string(nameOf(type)) + " flags " +
                   std::to_string(flags));
      expectAnswer(test);
    }
}

TEST(CudaMatmul, ComputesBatches) {
  expectAnswer({.a = {2, 3, 4, 5}, .b = {2, 3, 5, 6}, .y = {2, 3, 4, 6}});
  expectAnswer({.a = {2, 3, 5, 4},
                .b = {2, 3, 6, 5},
                .y = {2, 3, 4, 6},
                .transA = true,
                .transB = true,
                .bias = true});
  expectAnswer({.a = {2, 4, 5},
                .b = {5, 6},
                .y = {2, 4, 6},
                .bias = true,
                .residual = true});
  expectAnswer({.a = {1, 4, 5}, .b = {1, 5, 6}, .y = {1, 4, 6}});
  expectAnswer({.a = {4, 5},
                .b = {5, 6},
                .y = {4, 6},
                .bias = true,
                .activation = "gelu_tanh"});
}

TEST(CudaMatmul, RoundsWhereItMay) {
  FakeCuda fake;
  for (auto [compute, bits] : {std::pair("tf32", 10), std::pair("bf16", 7)}) {
    Matmul matmul({.a = {1, 1}, .b = {1, 1}, .y = {1, 1}, .compute = compute});
    float value = 1 + std::ldexp(1.0f, -12), two = 2;
    ASSERT_TRUE(
        matmul.queue->copy(matmul.tensors[0].address, &value, 4).isOk());
    ASSERT_TRUE(matmul.queue->copy(matmul.tensors[1].address, &two, 4).isOk());
    ASSERT_TRUE(matmul.prepare().isOk());
    ASSERT_TRUE(matmul.launch().isOk());
    EXPECT_EQ(matmul.answer()[0], 2.0f) << compute << " has " << bits;
  }
}

TEST(CudaMatmul, OutputMayBeTheResidual) {
  FakeCuda fake;
  Matmul matmul({.a = {4, 5}, .b = {5, 6}, .y = {4, 6}, .residual = true});
  std::vector<double> expected = matmul.expected();
  ASSERT_TRUE(matmul.prepare().isOk());
  matmul.parameters[4] = matmul.parameters[3];
  ASSERT_TRUE(matmul.launch().isOk());
  std::swap(matmul.tensors[3].address, matmul.tensors[4].address);
  // The address of the residual is that of the output now; queued before.
  expectNear(matmul.answer(), expected, 1e-5);
}

TEST(CudaMatmul, IsRecorded) {
  FakeCuda fake;
  Matmul matmul({.a = {4, 5}, .b = {5, 6}, .y = {4, 6}, .bias = true});
  expectRecorded(matmul);
  expectNear(matmul.answer(), matmul.expected(), 1e-5);
  EXPECT_EQ(fake.count("cublasLtMatmul 4x6"), 1u);
}

TEST(CudaMatmul, RefusesOtherCalls) {
  EXPECT_EQ(refusal({.a = {4, 5}, .b = {6, 5}, .y = {4, 5}}),
            "expected products of M x K and K x N, of M x N, got 4x5xf32, "
            "6x5xf32 and 4x5xf32");
  EXPECT_EQ(refusal({.a = {2, 4, 5}, .b = {3, 5, 6}, .y = {2, 4, 6}}),
            "expected equal dimensions in front of matrices, got 2x4x5xf32, "
            "3x5x6xf32 and 2x4x6xf32");
  EXPECT_EQ(
      refusal({.a = {2, 5, 4}, .b = {5, 6}, .y = {2, 4, 6}, .transA = true}),
      "expected an a of two dimensions, got 2x5x4xf32, 5x6xf32 and "
      "2x4x6xf32");
  EXPECT_EQ(
      refusal({.a = {4, 5}, .b = {5, 6}, .y = {4, 6}, .activation = "gelu"}),
      "cuBLASLt has no activation 'gelu' there");
  EXPECT_EQ(
      refusal({.a = {4, 5}, .b = {5, 6}, .y = {4, 6}, .activation = "relu"}),
      "cuBLASLt has no activation 'relu' there");
  EXPECT_EQ(refusal({.a = {4, 5},
                     .b = {5, 6},
                     .y = {4, 6},
                     .residual = true,
                     .activation = "gelu_tanh"}),
            "cuBLASLt has no activation 'gelu_tanh' there");
  EXPECT_EQ(refusal({.a = {4, 5}, .b = {5, 6}, .y = {4, 6}, .compute = "f8"}),
            "expected to compute in tf32 or bf16, got 'f8'");
}

TEST(CudaMatmul, SaysWhatFails) {
  static constexpr const char *symbols[] = {
      "cublasLtCreate",
      "cublasLtMatmulDescCreate",
      "cublasLtMatmulDescSetAttribute",
      "cublasLtMatrixLayoutCreate",
      "cublasLtMatmulPreferenceCreate",
      "cublasLtMatmulPreferenceSetAttribute",
      "cublasLtMatmulAlgoGetHeuristic",
      "cublasLtMatmul"};
  static constexpr std::pair<int, StatusCode> codes[] = {
      {1, StatusCode::Unavailable},
      {3, StatusCode::OutOfMemory},
      {15, StatusCode::Unsupported}};
  expectFailures(symbols, "says the fake cuBLASLt", codes, [] {
    return std::make_unique<Matmul>(
        Case{.a = {4, 5}, .b = {5, 6}, .y = {4, 6}});
  });
}
