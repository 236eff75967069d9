// SPDX-License-Identifier: Apache-2.0
//
// Calls of floats that are rounded to bfloat16, for tests.

#ifndef DLC_TEST_RUNTIME_KERNEL_CPU_ROUNDEDTESTING_H
#define DLC_TEST_RUNTIME_KERNEL_CPU_ROUNDEDTESTING_H

#include "ConvTesting.h"
#include "MatmulTesting.h"

namespace dlc::rt::cpu::testing {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
/// The largest bfloat16, and the least float that is nearer to infinity.
inline constexpr float kLargest = 0x1.fep127f, kTooLarge = 0x1.ffp127f;

/// To the nearest one, as the contract has it, by another way than the kernels:
/// through a sum that has no more bits.
inline float rounded(float value) {
  if (!std::isfinite(value))
    return value;
  if (std::fabs(value) < 0x1p-126f)
    return std::copysign(0.0f, value);
  int exponent;
  const double mantissa = std::frexp(double(value), &exponent);
  const double result =
      std::ldexp(std::nearbyint(std::ldexp(mantissa, 8)), exponent - 8);
  return std::fabs(result) > kLargest ? std::copysign(kInfinity, value)
                                      : static_cast<float>(result);
}

/// Which tensors are of bfloat16.
struct Shorts {
  bool x, residual, y;
};
inline constexpr Shorts kShorts[] = {{true, false, false},
                                     {false, true, true},
                                     {true, true, true},
                                     {true, true, false}};

inline std::string textOf(Shorts shorts) {
  return std::string(shorts.x ? " short x" : "") +
         (shorts.residual ? " short residual" : "") +
         (shorts.y ? " short y" : "");
}

inline void roundOperand(Call &call, size_t operand) {
  for (int64_t i = 0; i < call.values[operand].size(); ++i)
    call.values[operand].data()[i] = rounded(call.values[operand].data()[i]);
}

inline void roundShorts(Call &call, Shorts shorts) {
  if (shorts.x)
    roundOperand(call, 0);
  if (shorts.residual)
    roundOperand(call, 3);
}

inline void setShort(Call &call, size_t operand,
                     const std::vector<float> &values, TensorType type) {
  const std::vector<uint16_t> shorts =
      shortsOf(values.data(), static_cast<int64_t>(values.size()));
  type.type = DLC_BF16;
  call.values[operand] = GuardedBuffer(floatsOf(type));
  std::copy_n(shorts.begin(), shorts.size(),
              reinterpret_cast<uint16_t *>(call.values[operand].data()));
  call.inputs[operand] = std::move(type);
}

/// The operands of the product are.
inline void roundOperands(Call &call) {
  for (size_t operand : {0, 1})
    roundOperand(call, operand);
}

/// Results are the nearest bfloat16 of the sums, but for sums whose order says
/// which of two that is.
inline void expectNearest(const std::vector<float> &values,
                          const std::vector<double> &expected) {
  double scale = 0;
  for (double value : expected)
    scale = std::max(scale, std::fabs(value));
  const double off = 4e-6 * scale;
  ASSERT_EQ(values.size(), expected.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const float low = rounded(static_cast<float>(expected[i] - off));
    const float high = rounded(static_cast<float>(expected[i] + off));
    ASSERT_TRUE(values[i] >= low && values[i] <= high)
        << "element " << i << ": " << values[i] << ", expected " << expected[i];
  }
}

inline MatmulCase roundedCase(int64_t m, int64_t n, int64_t k) {
  MatmulCase c{{}, {}, m, n, k, false, false, true};
  c.parts = 1;
  return c;
}

/// Cases with all that may be behind a product.
inline std::vector<MatmulCase> casesOfEpilogues() {
  std::vector<MatmulCase> cases;
  for (const char *activation : kActivations)
    for (int64_t m : {2, 53})
      for (int64_t k : {0, 40, 1100}) {
        MatmulCase c = roundedCase(m, 70, k);
        c.bias = c.residual = true;
        c.activation = activation;
        cases.push_back(c);
      }
  return cases;
}

/// The kernels' sums are those of rounded operands, but for their order.
inline void checkConvOf(const ConvCase &c, Blocks blocks, int64_t packing) {
  Call call = makeCall(c), exact = call;
  roundOperands(exact);
  const std::vector<double> plain = reference(c, exact);
  const std::vector<double> expected =
      blocks == Blocks::Input ? plain : blocked(plain.data(), call.output);
  makeBlocked(call, blocks);
  call.attributes.set("packed_w", packing);
  call.attributes.set("bf16_parts", int64_t{1});
  packW(call);
  expectMatches(call, prepareConv, expected, textOf(c, true));
  const size_t bytes =
      lookupLibraryEntry("cpu.conv")->workspaceBytes(call.view());
  if (bytes == 0)
    return;
  call.workspace = {DLC_I8, {static_cast<int64_t>(bytes)}};
  expectMatches(call, prepareConv, expected, textOf(c, true) + " workspace");
}

/// Of channels in blocks of that many.
inline std::vector<ConvCase> casesOfManyTerms(int64_t block) {
  ConvCase point = {1, 1024 + block, {7, 7}, 64 + block, {1, 1}};
  point.bias = point.residual = true;
  point.activation = "silu";
  ConvCase window = {1, 256, {9, 14}, 96, {3, 3}, {}, {1, 1, 1, 1}};
  window.bias = window.residual = true;
  window.activation = "relu";
  ConvCase large = {1, block, {20, 21}, 64, {7, 7}, {2, 1}, {3, 2, 3, 2}};
  large.bias = true;
  return {point, window, large};
}

} // namespace dlc::rt::cpu::testing

#endif // DLC_TEST_RUNTIME_KERNEL_CPU_ROUNDEDTESTING_H
