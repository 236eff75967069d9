// SPDX-License-Identifier: Apache-2.0
//
// Products of warpgroups by the fake driver, and what it must find that a GPU
// would not: kernels by hand, of one product of 16-bit floats.

#include "FakeCuda.h"
#include "TestPtx.h"
#include "dlc/runtime/Base/Half.h"
#include "dlc/runtime/Device/CUDA/CUDADevice.h"
#include "dlc/runtime/Storage/DeviceSource.h"
#include "dlc/runtime/Storage/Manager.h"

#include <cstring>
#include <gtest/gtest.h>
#include <vector>

using namespace dlc::rt;
using namespace dlc::rt::test;

namespace {

constexpr int rows = 64, depth = 64; // Of which a product takes 16.

/// d (64 x columns) = a (64 x k) * b (k x columns).
struct Product {
  int columns = 16;
  bool isBrain = false, turnsA = false, turnsB = false;
  int first = 0, slices = 1; ///< Of 16 steps of k.
  int threads = 128;
  uint32_t stride = 1024; ///< Bytes from eight lines of memory to the next.
  bool usesCopies = false;

  uint32_t panel() const { return depth / 8 * stride; }
  uint32_t bytesOf(bool isTurned, int lines) const {
    return isTurned ? (lines + 63) / 64 * panel() : (lines + 7) / 8 * stride;
  }
  uint32_t startOfB() const { return bytesOf(turnsA, rows); }
  uint32_t bytes() const {
    const uint32_t step = uint32_t(threads) * 16;
    return (startOfB() + bytesOf(turnsB, columns) + step - 1) / step * step;
  }
};

/// Whole numbers, so that every order of sums gives the same.
int element(int operand, int line, int k) {
  return (line * 7 + k * 3 + line * k + operand) % 11 - 5;
}

/// Pieces of 16 bytes change places within each line of 128 bytes.
uint32_t placeOf(const Product &product, bool isTurned, int line, int k) {
  const int memoryLine = isTurned ? k : line, place = isTurned ? line % 64 : k;
  const uint32_t panel = isTurned ? line / 64 * product.panel() : 0;
  return panel + memoryLine / 8 * product.stride + memoryLine % 8 * 128 +
         (place / 8 ^ memoryLine % 8) * 16 + place % 8 * 2;
}

/// What shared memory is to have.
std::vector<std::byte> imageOf(const Product &product) {
  std::vector<std::byte> image(product.bytes());
  for (int operand : {0, 1})
    for (int line = 0; line != (operand ? product.columns : rows); ++line)
      for (int k = 0; k != depth; ++k) {
        const float value = float(element(operand, line, k));
        const uint16_t bits =
            product.isBrain ? bfloat16FromFloat(value) : halfFromFloat(value);
        const bool isTurned = operand ? product.turnsB : product.turnsA;
        const uint32_t start = operand ? product.startOfB() : 0;
        std::memcpy(&image[start + placeOf(product, isTurned, line, k)], &bits,
                    2);
      }
  return image;
}

std::string fieldsOf(const Product &product) {
  return std::to_string(uint64_t(1) << 62 |
                        uint64_t(product.stride >> 4) << 32 |
                        uint64_t(product.panel() >> 4) << 16);
}

/// One product, of a slice of k; %rd6 is where shared memory begins.
std::string productPtx(const Product &product, int slice) {
  auto start = [&](bool isTurned, uint32_t base) {
    return std::to_string(
        (base + slice * (isTurned ? 2 * product.stride : 32)) >> 4);
  };
  const std::string columns = std::to_string(product.columns),
                    type = product.isBrain ? "bf16" : "f16";
  std::string text =
      "  add.s64 %rd7, %rd6, " + start(product.turnsA, 0) +
      ";\n  or.b64 %rd7, %rd7, " + fieldsOf(product) +
      ";\n  add.s64 %rd8, %rd6, " + start(product.turnsB, product.startOfB()) +
      ";\n  or.b64 %rd8, %rd8, " + fieldsOf(product) + ";\n  mov.u32 %r9, " +
      std::to_string(slice - product.first) +
      ";\n  setp.ne.u32 %p2, %r9, 0;\n"
      "  wgmma.mma_async.sync.aligned.m64n" +
      columns + "k16.f32." + type + "." + type + "\n  {";
  for (int i = 0; i != product.columns / 2; ++i)
    text += (i ? ", %f" : "%f") + std::to_string(i);
  return text + "}, %rd7, %rd8, %p2, 1, 1, " +
         (product.turnsA ? "1, " : "0, ") + (product.turnsB ? "1" : "0") +
         ";\n";
}

/// Copies an image to shared memory, multiplies and writes what each thread
/// has.
std::string ptxOf(const Product &product) {
  const std::string step = std::to_string(product.threads * 16);
  std::string text =
      ".version 8.0\n.target sm_90a\n.address_size 64\n"
      ".extern .shared .align 1024 .b8 tile[];\n"
      ".visible .entry k(\n  .param .u64 p0,\n  .param .u64 p1)\n"
      ".maxntid 256\n{\n  .reg .pred %p<3>;\n  .reg .b32 %r<10>;\n"
      "  .reg .b64 %rd<9>;\n  .reg .f32 %f<128>;\n"
      "  ld.param.u64 %rd1, [p0];\n  ld.param.u64 %rd2, [p1];\n"
      "  mov.u32 %r1, %tid.x;\n  mul.wide.u32 %rd3, %r1, 16;\n"
      "  add.s64 %rd1, %rd1, %rd3;\n  mov.u64 %rd4, tile;\n"
      "  add.s64 %rd5, %rd4, %rd3;\n  mov.u32 %r2, 0;\n$L__COPY:\n";
  text += product.usesCopies
              ? "  cp.async.cg.shared.global [%rd5], [%rd1], 16;\n"
              : "  ld.global.v4.b32 {%r3, %r4, %r5, %r6}, [%rd1];\n"
                "  st.shared.v4.b32 [%rd5], {%r3, %r4, %r5, %r6};\n";
  text += "  add.s64 %rd1, %rd1, " + step + ";\n  add.s64 %rd5, %rd5, " + step +
          ";\n  add.s32 %r2, %r2, " + step + ";\n  setp.lt.u32 %p1, %r2, " +
          std::to_string(product.bytes()) + ";\n  @%p1 bra $L__COPY;\n";
  if (product.usesCopies)
    text += "  cp.async.commit_group;\n  cp.async.wait_group 0;\n";
  text += "  fence.proxy.async.shared::cta;\n  bar.sync 0;\n"
          "  and.b64 %rd6, %rd4, 262143;\n  shr.u64 %rd6, %rd6, 4;\n"
          "  wgmma.fence.sync.aligned;\n";
  for (int i = 0; i != product.slices; ++i)
    text += productPtx(product, product.first + i);
  text += "  wgmma.commit_group.sync.aligned;\n"
          "  wgmma.wait_group.sync.aligned 0;\n"
          "  mul.wide.u32 %rd3, %r1, " +
          std::to_string(product.columns * 2) +
          ";\n  add.s64 %rd2, %rd2, %rd3;\n";
  for (int i = 0; i != product.columns / 2; ++i)
    text += "  st.global.f32 [%rd2+" + std::to_string(i * 4) + "], %f" +
            std::to_string(i) + ";\n";
  return text + "  ret;\n}\n";
}

/// `text` with another text for one of its pieces.
std::string changed(std::string text, const std::string &from,
                    const std::string &to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return at == text.npos ? text : text.replace(at, from.size(), to);
}

/// One device and what a product there gives.
class Machine {
public:
  explicit Machine(const std::string &machine = "") : fake(machine) {
    Result<std::shared_ptr<Device>> opened = openDevice(Context::cuda());
    EXPECT_TRUE(opened.isOk()) << opened.status().message();
    device = std::move(*opened);
  }
  ~Machine() { fake.reset(); }

  Result<std::unique_ptr<DeviceCode>> load(const std::string &ptx) {
    return device->load(std::as_bytes(std::span(ptx)));
  }
  /// Of all threads, as they have it; `said` is what the driver says to that.
  Status run(const Product &product, const std::string &ptx,
             std::vector<float> &result, std::string &said) {
    testing::internal::CaptureStderr();
    Status status = run(product, ptx, result);
    said = testing::internal::GetCapturedStderr();
    return status;
  }

private:
  Status run(const Product &product, const std::string &ptx,
             std::vector<float> &result) {
    StorageManagerPtr manager =
        createNaiveManager(Context::cuda(), createDeviceSource(device));
    auto queue = std::move(*device->createQueue());
    Result<std::unique_ptr<DeviceCode>> code = load(ptx);
    DLC_RETURN_IF_ERROR(std::move(code.status()));
    const std::vector<std::byte> image = imageOf(product);
    result.assign(size_t(product.threads) * product.columns / 2, -1.0f);
    const DeviceGrid grid{.blocks = 1,
                          .threads = uint32_t(product.threads),
                          .sharedBytes = product.bytes()};
    Allocation from = std::move(*manager->allocate(image.size())),
               to = std::move(*manager->allocate(result.size() * 4));
    Result<void *> function = (*code)->find("k", grid);
    DLC_RETURN_IF_ERROR(std::move(function.status()));
    void *places[] = {from.data(), to.data()};
    void *parameters[] = {&places[0], &places[1]};
    DLC_RETURN_IF_ERROR(queue->copy(from.data(), image.data(), image.size()));
    DLC_RETURN_IF_ERROR(queue->launch(*function, grid, parameters));
    DLC_RETURN_IF_ERROR(
        queue->copy(result.data(), to.data(), result.size() * 4));
    Status status = queue->synchronize();
    fake.reset(); // Else a device that failed keeps what ends now.
    return status;
  }

  FakeCuda fake;
  std::shared_ptr<Device> device;
};

/// `sign` times the product, and `initial`.
void expectProduct(const Product &product, const std::string &ptx,
                   float sign = 1, float initial = 0) {
  std::vector<float> result;
  std::string said;
  Status status = Machine().run(product, ptx, result, said);
  ASSERT_TRUE(status.isOk()) << status.message() << ": " << said;
  for (int thread = 0; thread != product.threads; ++thread)
    for (int part = 0; part != product.columns / 2; ++part) {
      const int warp = thread / 32 % 4, lane = thread % 32;
      const int row = 16 * warp + lane / 4 + part % 4 / 2 * 8,
                column = part / 4 * 8 + lane % 4 * 2 + part % 2;
      float sum = 0;
      for (int k = product.first * 16;
           k != (product.first + product.slices) * 16; ++k)
        sum += float(element(0, row, k) * element(1, column, k));
      ASSERT_EQ(result[size_t(thread) * product.columns / 2 + part],
                initial + sign * sum)
          << "row " << row << ", column " << column;
    }
}
void expectProduct(const Product &product) {
  expectProduct(product, ptxOf(product));
}

/// Ends with an error in which the driver says this.
void expectFailure(const Product &product, const std::string &ptx,
                   const std::string &expected) {
  std::vector<float> result;
  std::string said;
  Status status = Machine().run(product, ptx, result, said);
  EXPECT_FALSE(status.isOk()) << expected;
  EXPECT_NE(said.find(expected), said.npos) << said;
}

const std::string fence = "  wgmma.fence.sync.aligned;\n",
                  commitGroup = "  wgmma.commit_group.sync.aligned;\n",
                  waitGroup = "  wgmma.wait_group.sync.aligned 0;\n",
                  proxyFence = "  fence.proxy.async.shared::cta;\n",
                  barrier = "  bar.sync 0;\n";

} // namespace

TEST(Warpgroup, MultipliesEveryLayout) {
  for (bool isBrain : {false, true})
    for (bool turnsA : {false, true})
      for (bool turnsB : {false, true})
        expectProduct({.isBrain = isBrain, .turnsA = turnsA, .turnsB = turnsB});
}

TEST(Warpgroup, MultipliesEveryNumberOfColumns) {
  for (int columns = 8; columns <= 256; columns += 8)
    for (bool turnsB : {false, true})
      expectProduct({.columns = columns, .turnsB = turnsB});
}

TEST(Warpgroup, TakesEverySlice) {
  for (int first = 0; first != 4; ++first)
    for (bool isTurned : {false, true})
      expectProduct({.columns = 72,
                     .turnsA = isTurned,
                     .turnsB = isTurned,
                     .first = first,
                     .stride = 2048});
}

TEST(Warpgroup, AddsUp) {
  expectProduct({.slices = 4});
  expectProduct({.columns = 256, .isBrain = true, .turnsB = true, .slices = 4});
  expectProduct({.slices = 2, .threads = 256, .usesCopies = true});
  // To what registers had, with numbers in place of a predicate, and negated.
  const Product one;
  std::string threes;
  for (int i = 0; i != one.columns / 2; ++i)
    threes += "  mov.f32 %f" + std::to_string(i) + ", 0f40400000;\n";
  std::string ptx = changed(ptxOf(one), fence, threes + fence);
  expectProduct(one, changed(ptx, "%p2, 1, 1, 0", "1, 1, 1, 0"), 1, 3);
  expectProduct(one, changed(ptx, "%p2, 1, 1, 0", "1, -1, 1, 0"), -1, 3);
  expectProduct(one, changed(ptx, "%p2, 1, 1, 0", "0, 1, -1, 0"), -1);
}

/// Groups end in order, all but the last ones.
TEST(Warpgroup, WaitsForGroups) {
  const Product two{.slices = 2};
  const std::string ptx = ptxOf(two), second = productPtx(two, 1);
  expectProduct(two, changed(ptx, second, commitGroup + second));
  expectFailure(two,
                changed(changed(ptx, second, commitGroup + second), waitGroup,
                        "  wgmma.wait_group.sync.aligned 1;\n"),
                "a register of a product that nobody has waited for in "
                "st.global.f32");
}

TEST(Warpgroup, FindsWhatNobodyWaitedFor) {
  const Product one;
  const std::string ptx = ptxOf(one);
  const std::string expected =
      "a register of a product that nobody has waited for";
  expectFailure(one, changed(ptx, waitGroup, ""), expected);
  expectFailure(one, changed(ptx, commitGroup, ""), expected);
  expectFailure(
      one, changed(ptx, waitGroup, "  mov.f32 %f1, 0f00000000;\n" + waitGroup),
      expected);
  Product wide{.columns = 24};
  expectFailure(
      wide, changed(ptxOf(wide), commitGroup, productPtx(one, 0) + commitGroup),
      "a register of a product of another shape");
  expectFailure(
      one,
      changed(ptx, waitGroup, "  st.shared.b32 [%rd4+128], %r1;\n" + waitGroup),
      "shared memory was written before anybody waited");
  expectProduct(one, changed(ptx, waitGroup,
                             waitGroup + "  st.shared.b32 [%rd4], %r1;\n"));
}

TEST(Warpgroup, FindsWhatIsNotFenced) {
  for (bool usesCopies : {false, true}) {
    const Product one{.usesCopies = usesCopies};
    const std::string ptx = ptxOf(one);
    const std::string expected =
        "no fence.proxy.async after a write to shared memory";
    expectFailure(one, changed(ptx, proxyFence, ""), expected);
    expectFailure(one, changed(ptx, proxyFence + barrier, barrier + proxyFence),
                  "no barrier behind fence.proxy.async after a write");
    expectFailure(one, changed(ptx, barrier, ""),
                  "no barrier behind fence.proxy.async after a write");
    expectFailure(
        one,
        changed(ptx, barrier, "  st.shared.b8 [%rd4+31], %r1;\n" + barrier),
        expected);
    expectProduct(one, changed(ptx, proxyFence, "  fence.proxy.async;\n"));
  }
  // Before the copies are there.
  const Product one{.usesCopies = true};
  const std::string late = "  cp.async.wait_group 0;\n";
  expectFailure(one, changed(ptxOf(one), late + proxyFence, proxyFence + late),
                "no fence.proxy.async after a write to shared memory");
}

TEST(Warpgroup, FindsRegistersOutOfOrder) {
  const Product one;
  const std::string ptx = ptxOf(one);
  expectFailure(one, changed(ptx, fence, ""),
                "no wgmma.fence before the first product");
  const std::string expected =
      "no wgmma.fence behind another access to a register";
  for (const char *access :
       {"  mov.f32 %f0, 0f00000000;\n", "  mov.f32 %f100, %f7;\n"})
    expectFailure(one, changed(ptx, fence, fence + access), expected);
  expectProduct(one, changed(ptx, fence, fence + "  mov.f32 %f99, %f100;\n"));
  // Again, after the results were read.
  const std::string again = productPtx(one, 0) + commitGroup + waitGroup;
  expectFailure(one, changed(ptx, "  ret;\n", again + "  ret;\n"), expected);
  expectProduct(one, changed(ptx, "  ret;\n", fence + again + "  ret;\n"));
}

TEST(Warpgroup, FindsWrongOperands) {
  const Product one;
  const std::string ptx = ptxOf(one), fields = fieldsOf(one);
  for (uint64_t other : {uint64_t(0), uint64_t(2) << 62, uint64_t(3) << 62,
                         uint64_t(1) << 62 | uint64_t(1) << 49})
    expectFailure(one, changed(ptx, fields, std::to_string(other)),
                  "expected a descriptor of 128-byte swizzle, got 0x");
  expectFailure(one, changed(ptx, "%rd7, %rd6, 0", "%rd7, %rd6, 10000"),
                "memory that is not there, of descriptor 0x");
  expectFailure(one,
                changed(ptx, "  setp.ne.u32 %p2",
                        "  setp.eq.u32 %p2, %r1, 7;\n"
                        "  setp.lt.u32 %p1"),
                "threads of a warpgroup with other operands");
  expectFailure(one,
                changed(ptx, fence,
                        "  setp.eq.u32 %p1, %r1, 9;\n  @%p1 bra $L__END;\n" +
                            fence + "$L__END:\n"),
                "threads wait for each other");
  const Product less{.threads = 64};
  expectFailure(less, ptxOf(less), "a warpgroup without all of its threads");
}

TEST(Warpgroup, IsOfOneDevice) {
  const Product one;
  const std::string ptx = ptxOf(one);
  EXPECT_TRUE(Machine("capability=90").load(ptx).isOk());
  for (const char *other : {"capability=86", "capability=100"})
    EXPECT_EQ(Machine(other).load(ptx).status().code(),
              StatusCode::Unsupported);
  auto refusal = [&](const std::string &text) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(Machine().load(text).status().code(), StatusCode::DataLoss);
    return testing::internal::GetCapturedStderr();
  };
  const std::string target = ".target sm_90a";
  EXPECT_NE(refusal(changed(ptx, target, ".target sm_90"))
                .find("wgmma without .target sm_90a"),
            std::string::npos);
  EXPECT_NE(refusal(changed(ptx, target, ".target sm_80"))
                .find("fence.proxy.async without .target sm_90"),
            std::string::npos);
  for (auto [from, to] :
       {std::pair("m64n16k16", "m64n12k16"), std::pair("n16k16", "n24k16"),
        std::pair("%f7}", "%f7, %f8}"), std::pair("f16.f16", "f16.bf16"),
        std::pair("%p2, 1, 1, 0", "%p2, 2, 1, 0"),
        std::pair("aligned 0", "aligned %r1"),
        std::pair("wgmma.commit_group", "wgmma.commit"),
        std::pair("async.shared::cta", "tensormap")})
    EXPECT_NE(refusal(changed(ptx, from, to)).find("unknown"),
              std::string::npos)
        << to;
}

TEST(Warpgroup, BlocksHaveTheMemoryOfTheDevice) {
  for (auto [machine, bytes] : {std::pair("capability=90", 232448u),
                                std::pair("capability=80", 166912u)}) {
    auto code = std::move(*Machine(machine).load(testPtx(4)));
    const DeviceGrid most{.blocks = 1, .threads = 256, .sharedBytes = bytes},
        more{.blocks = 1, .threads = 256, .sharedBytes = bytes + 1};
    EXPECT_TRUE(code->find("k.add", most).isOk()) << machine;
    EXPECT_EQ(code->find("k.add", more).status().code(),
              StatusCode::Unsupported);
  }
}
