// SPDX-License-Identifier: Apache-2.0
//
// Texts and their characters.

#include "dlc/runtime/Base/Text.h"

#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <vector>

using namespace dlc::rt;

static Text textOf(std::string_view bytes) {
  Result<Text> text = Text::make(bytes);
  EXPECT_TRUE(text.isOk()) << text.status().message();
  return text.isOk() ? *text : Text();
}

TEST(Text, SharesItsBytes) {
  Text none;
  EXPECT_EQ(none.view(), "");
  EXPECT_EQ(none.view().data()[0], '\0');
  Text one = textOf("one"), same = one, other = textOf("one");
  EXPECT_EQ(one.view().data(), same.view().data());
  EXPECT_NE(one.view().data(), other.view().data());
  EXPECT_EQ(one, other);
  EXPECT_EQ(one.view().data()[3], '\0');
  one = none;
  EXPECT_EQ(one.view(), "");
  EXPECT_EQ(same.view(), "one");
  same = *&same;
  EXPECT_EQ(same.view(), "one");
  one = std::move(same);
  EXPECT_EQ(one.view(), "one");
  std::string zeros("a\0b\0", 4);
  EXPECT_EQ(textOf(zeros).view(), zeros);
  EXPECT_EQ(textOf("").view(), "");
}

TEST(Text, SaysThatThereIsNoMemory) {
  auto nothing = [](char *) { FAIL(); };
  EXPECT_EQ(Text::makeFilled(SIZE_MAX, nothing).status().code(),
            StatusCode::OutOfMemory);
  EXPECT_EQ(Text::makeFilled(SIZE_MAX / 2, nothing).status().code(),
            StatusCode::OutOfMemory);
}

TEST(Text, IsCopiedByThreads) {
  Text shared = textOf("shared");
  std::vector<std::thread> threads;
  for (int i = 0; i != 4; ++i)
    threads.emplace_back([own = shared] {
      for (int turn = 0; turn != 10000; ++turn) {
        Text copy = own;
        EXPECT_EQ(copy.view(), "shared");
      }
    });
  shared = Text();
  for (std::thread &thread : threads)
    thread.join();
}

TEST(Utf8, RoundTripsEveryCharacter) {
  for (uint32_t character = 0; character != 0x110000; ++character) {
    char bytes[4];
    std::string_view view(bytes, putUtf8(character, bytes) - bytes);
    ASSERT_EQ(view.size(), utf8Length(character));
    bool isSurrogate = character >= 0xd800 && character < 0xe000;
    ASSERT_EQ(view.empty(), isSurrogate);
    if (isSurrogate)
      continue;
    ASSERT_EQ(takeUtf8(view), int32_t(character));
    ASSERT_TRUE(view.empty());
  }
  EXPECT_EQ(utf8Length(0x110000), 0u);
  EXPECT_EQ(utf8Length(UINT32_MAX), 0u);
}

TEST(Utf8, RefusesWhatIsNone) {
  for (std::string_view bad :
       {"\x80", "\xc3", "\xc3(", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80",
        "\xe2\x82", "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xf8\x88\x80\x80",
        "\xff"}) {
    std::string_view rest = bad;
    EXPECT_EQ(takeUtf8(rest), -1) << bad;
    EXPECT_EQ(rest, bad);
  }
  std::string_view two = "\xc3\xa4x";
  EXPECT_EQ(takeUtf8(two), 0xe4);
  EXPECT_EQ(two, "x");
}
