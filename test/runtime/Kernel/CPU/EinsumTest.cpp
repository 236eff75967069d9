// SPDX-License-Identifier: Apache-2.0

#include "OperationTesting.h"

using namespace dlc::rt;
using namespace dlc::rt::cpu;
using namespace dlc::rt::cpu::testing;

static Attributes equationOf(const char *equation) {
  Attributes given;
  given.set("equation", std::string(equation));
  return given;
}

TEST(EinsumTest, Products) {
  struct {
    const char *equation;
    Shape a, b;
  } cases[] = {
      {"ij,jk->ik", {7, 20}, {20, 33}},
      {"ij,jk->ki", {7, 20}, {20, 33}},
      {"ji,kj->ik", {20, 7}, {33, 20}},
      {"bij,bjk->bik", {3, 7, 20}, {3, 20, 33}},
      {"bij,bkj", {3, 7, 20}, {3, 9, 20}},
      {"bhqd,bhkd->bhqk", {2, 3, 17, 8}, {2, 3, 19, 8}},
      {"bqhd,bkhd->bhqk", {2, 17, 3, 8}, {2, 19, 3, 8}},
      {"bhqk,bkhd->bqhd", {2, 3, 17, 19}, {2, 19, 3, 8}},
      {"bhwc,hkc->bhwk", {2, 5, 6, 8}, {5, 7, 8}},
      {"bhwc,wkc->bhwk", {2, 5, 6, 8}, {6, 7, 8}},
      {"bhwc,hkc->bhwk", {1, 5, 6, 8}, {5, 7, 8}},
      {"nctv,vw->nctw", {2, 3, 4, 25}, {25, 25}},
      {"nkctv,kvw->nctw", {2, 3, 4, 5, 25}, {3, 25, 25}},
      {"...ij,...jk->...ik", {2, 3, 4, 5}, {2, 3, 5, 6}},
      {"...i,i->...", {4, 5, 6}, {6}},
      {"i,i", {40}, {40}},
      {"i,i->", {40}, {40}},
      {"ijk,kji->", {3, 4, 5}, {5, 4, 3}},
      {"abcd,cdef->afbe", {2, 3, 4, 5}, {4, 5, 6, 7}},
      {"abcd,dcef->abef", {2, 3, 4, 5}, {5, 4, 6, 7}},
  };
  uint64_t seed = 0;
  for (const auto &test : cases) {
    SCOPED_TRACE(test.equation);
    OperationCall call("einsum", {test.a, test.b}, equationOf(test.equation),
                       ++seed);
    call.expectSame("cpu.einsum", prepareEinsum, 2e-5);
  }
}

// What is no product of matrices is left to the Reference kernel.
TEST(EinsumTest, RefusesWhatIsNoProduct) {
  struct {
    const char *equation;
    std::vector<Shape> shapes;
    const char *why;
  } cases[] = {
      {"ii,ij->j", {{4, 4}, {4, 5}}, "no diagonals"},
      {"ij,jk->ik", {{4, 1}, {5, 6}}, "do not broadcast"},
      {"ij,kj->k", {{4, 5}, {6, 5}}, "of both operands"},
      {"i,j->ij", {{4}, {5}}, "a sum"},
      {"ij->ji", {{4, 5}}, "two inputs"},
      {"ij,jk,kl->il", {{4, 5}, {5, 6}, {6, 7}}, "two inputs"},
  };
  const LibraryEntry *entry = lookupLibraryEntry("cpu.einsum");
  ASSERT_NE(entry, nullptr);
  for (const auto &test : cases) {
    SCOPED_TRACE(test.equation);
    OperationCall call("einsum", test.shapes, equationOf(test.equation), 3);
    ASSERT_FALSE(call.reference().empty());
    std::string why;
    EXPECT_FALSE(call.readCall(*entry, why));
    EXPECT_NE(why.find(test.why), std::string::npos) << why;
  }
}

TEST(EinsumTest, RefusesMalformedCalls) {
  OperationCall call("einsum", {{2, 3}, {3, 4}}, equationOf("ij,jk->ik"), 1);
  call.output = f32({2, 4});
  const LibraryEntry *entry = lookupLibraryEntry("cpu.einsum");
  std::string why;
  ASSERT_TRUE(call.readCall(*entry, why)) << why;
  std::unique_ptr<PreparedKernel> kernel;
  EXPECT_TRUE(prepareEinsum(call.view(), Isa::Baseline, kernel).isOk());
  for (const char *equation : {"ij,jk->iz", "i", "ij,jk,kl->il", "ij,j1->i"}) {
    call.attributes.set("equation", std::string(equation));
    EXPECT_FALSE(entry->isSupported(call.view(), why)) << equation;
    EXPECT_FALSE(prepareEinsum(call.view(), Isa::Baseline, kernel).isOk());
  }
  call.attributes.set("equation", std::string("ij,jk->ki"));
  EXPECT_FALSE(entry->isSupported(call.view(), why)); // Of another output.
  call.output = f32({4, 2});
  EXPECT_TRUE(entry->isSupported(call.view(), why)) << why;
  call.workspace = {DLC_I8, {1}};
  EXPECT_FALSE(prepareEinsum(call.view(), Isa::Baseline, kernel).isOk());
}
