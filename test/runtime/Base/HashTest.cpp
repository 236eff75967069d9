// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Base/Hash.h"

#include <gtest/gtest.h>
#include <string_view>

using namespace dlc::rt;

static uint64_t hashOf(std::string_view text, uint64_t seed = 0) {
  return xxHash64(std::as_bytes(std::span(text)), seed);
}

TEST(Hash, AgreesWithPublishedVectors) {
  EXPECT_EQ(hashOf(""), 0xef46db3751d8e999u);
  EXPECT_EQ(hashOf("a"), 0xd24ec4f1a98c6e5bu);
  EXPECT_EQ(hashOf("abc"), 0x44bc2cf5ad770999u);
  // Longer than a stripe of 32 bytes, with a tail of 7.
  EXPECT_EQ(hashOf("Nobody inspects the spammish repetition"),
            0xfbcea83c8a378bf1u);
  EXPECT_EQ(hashOf("xxhash", 20141025), 0xb559b98d844e0635u);
}

TEST(Hash, SeesEveryByteAndTheSeed) {
  std::string text(100, 'x');
  uint64_t whole = hashOf(text);
  EXPECT_NE(hashOf(text, 1), whole);
  for (size_t i = 0; i != text.size(); ++i) {
    std::string changed = text;
    changed[i] ^= 1;
    EXPECT_NE(hashOf(changed), whole) << i;
    EXPECT_NE(hashOf(std::string_view(text).substr(0, i)), whole) << i;
  }
}

TEST(Hash, PiecesDoNotMatter) {
  std::string text;
  for (int i = 0; i != 200; ++i)
    text += static_cast<char>(i * 37);
  for (size_t first = 0; first <= text.size(); ++first)
    for (size_t second : {0, 1, 7, 31, 32, 33, 64}) {
      std::string_view rest(text);
      XXHash64 hash(7);
      for (size_t piece : {first, second}) {
        hash.update(std::as_bytes(std::span(rest.substr(0, piece))));
        rest.remove_prefix(std::min(piece, rest.size()));
      }
      hash.update(std::as_bytes(std::span(rest)));
      EXPECT_EQ(hash.digest(), hashOf(text, 7)) << first << ' ' << second;
    }
}
