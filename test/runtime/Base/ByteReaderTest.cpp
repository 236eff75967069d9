// SPDX-License-Identifier: Apache-2.0
//
// The bounds-checked reader: what fits, and that nothing moves otherwise.

#include "dlc/runtime/Base/ByteReader.h"

#include <gtest/gtest.h>
#include <string>

using namespace dlc::rt;

static ByteReader readerOf(std::string_view text) {
  return ByteReader(std::as_bytes(std::span(text)));
}

TEST(ByteReader, ReadsLittleEndianValuesAtAnyPlace) {
  ByteReader reader = readerOf(std::string_view("\1\2\3\4\5\6\7\x80\xff", 9));
  uint8_t byte;
  uint16_t half;
  int32_t word;
  ASSERT_TRUE(reader.read(byte, half, word));
  EXPECT_EQ(byte, 1);
  EXPECT_EQ(half, 0x302);
  EXPECT_EQ(word, 0x07060504);
  EXPECT_EQ(reader.offset(), 7u);
  int16_t negative;
  ASSERT_TRUE(reader.read(negative));
  EXPECT_EQ(negative, -128);
  EXPECT_TRUE(reader.isAtEnd());
  float value = 0;
  EXPECT_TRUE(readerOf(std::string_view("\0\0\x80\x3f", 4)).read(value));
  EXPECT_EQ(value, 1.0f);
}

TEST(ByteReader, ReadsAllOrNothing) {
  ByteReader reader = readerOf("abcdef");
  uint32_t first = 1, second = 2;
  EXPECT_FALSE(reader.read(first, second));
  EXPECT_EQ(first, 1u);
  EXPECT_EQ(second, 2u);
  EXPECT_EQ(reader.offset(), 0u);
  EXPECT_TRUE(reader.read(first));
  EXPECT_FALSE(reader.read(second));
  EXPECT_EQ(reader.remaining(), 2u);
}

TEST(ByteReader, TakesPartsAndSeeks) {
  ByteReader reader = readerOf("abcdef");
  std::string_view text;
  std::span<const std::byte> part;
  EXPECT_TRUE(reader.take(2, text));
  EXPECT_EQ(text, "ab");
  EXPECT_FALSE(reader.take(5, text));
  EXPECT_EQ(text, "ab");
  EXPECT_TRUE(reader.take(0, part));
  EXPECT_TRUE(reader.take(4, part));
  EXPECT_EQ(part.size(), 4u);
  EXPECT_TRUE(reader.seek(6));
  EXPECT_FALSE(reader.seek(7));
  EXPECT_FALSE(reader.skip(1));
  EXPECT_TRUE(reader.seek(1));
  EXPECT_TRUE(reader.skip(5));
  EXPECT_TRUE(reader.isAtEnd());
}

TEST(ByteReader, DoesNotOverflow) {
  ByteReader reader = readerOf("abcdef");
  std::string_view text;
  ASSERT_TRUE(reader.skip(1));
  EXPECT_FALSE(reader.take(UINT64_MAX, text));
  EXPECT_FALSE(reader.skip(UINT64_MAX));
  EXPECT_FALSE(reader.seek(UINT64_MAX));
  EXPECT_FALSE(reader.canHold(UINT64_MAX / 2, 4));
  EXPECT_TRUE(reader.canHold(2, 2));
  EXPECT_FALSE(reader.canHold(3, 2));
  EXPECT_FALSE(ByteReader().skip(1));
  EXPECT_TRUE(ByteReader().isAtEnd());
}
