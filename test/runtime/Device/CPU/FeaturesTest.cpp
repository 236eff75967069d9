// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Device/CPU/Features.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace dlc::rt;

TEST(Features, NamesAreLLVMs) {
  EXPECT_EQ(nameOf(CPUFeature::SSE2), "sse2");
  EXPECT_EQ(nameOf(CPUFeature::AVX512VNNI), "avx512vnni");
  EXPECT_EQ(nameOf(CPUFeature::AMXINT8), "amx-int8");
}

TEST(Features, SetsHoldWhatWasAdded) {
  CPUFeatures features;
  EXPECT_TRUE(features.names().empty());
  features.add(CPUFeature::AMXINT8);
  features.add(CPUFeature::AVX2);
  EXPECT_TRUE(features.has("avx2"));
  EXPECT_FALSE(features.has("avx"));
  EXPECT_FALSE(features.has("no-such-feature"));
  EXPECT_EQ(features.names(),
            (std::vector<std::string_view>{"avx2", "amx-int8"}));
}

#if defined(__x86_64__)
// The compiler's own probe covers part of the list, with other code.
TEST(Features, AgreeWithTheCompiler) {
  CPUFeatures host = CPUFeatures::ofHost();
  EXPECT_TRUE(host.has(CPUFeature::SSE2));
  EXPECT_EQ(host.has("sse4.2"), bool(__builtin_cpu_supports("sse4.2")));
  EXPECT_EQ(host.has("avx"), bool(__builtin_cpu_supports("avx")));
  EXPECT_EQ(host.has("avx2"), bool(__builtin_cpu_supports("avx2")));
  EXPECT_EQ(host.has("fma"), bool(__builtin_cpu_supports("fma")));
  EXPECT_EQ(host.has("bmi2"), bool(__builtin_cpu_supports("bmi2")));
  EXPECT_EQ(host.has("avx512f"), bool(__builtin_cpu_supports("avx512f")));
  EXPECT_EQ(host.has("avx512bw"), bool(__builtin_cpu_supports("avx512bw")));
  EXPECT_EQ(host.has("avx512vnni"), bool(__builtin_cpu_supports("avx512vnni")));
  EXPECT_EQ(host.has("avx512bf16"), bool(__builtin_cpu_supports("avx512bf16")));
}

TEST(Features, TilesAreGrantedOrRefused) {
  bool hasTiles = CPUFeatures::ofHost().has(CPUFeature::AMXTile);
  Status status = enableAMX();
  if (!hasTiles)
    EXPECT_EQ(status.code(), StatusCode::Unsupported);
  EXPECT_EQ(enableAMX().isOk(), status.isOk());
}
#endif
