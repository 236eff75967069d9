// SPDX-License-Identifier: Apache-2.0
//
// Arrays of text: who holds what when, views, files, and what is refused.

#include "../TemporaryFolder.h"
#include "NDArrayTesting.h"
#include "dlc/runtime/NDArray/DLPack.h"
#include "dlc/runtime/NDArray/File.h"

#include <thread>

using namespace dlc::rt;
using namespace dlc::rt::test;

namespace {
using Strings = std::vector<std::string>;

Status write(const NDArray &array, const Strings &texts) {
  std::vector<std::string_view> views(texts.begin(), texts.end());
  return array.copyFromTexts(std::span<const std::string_view>(views));
}

Strings stringsOf(const NDArray &array) {
  std::vector<Text> texts(array.size());
  EXPECT_OK(array.copyToTexts(texts));
  Strings strings;
  for (const Text &text : texts)
    strings.emplace_back(text.view());
  return strings;
}

NDArray textsOf(const std::shared_ptr<ArrayRuntime> &runtime,
                const Strings &texts) {
  NDArray array = makeArray(runtime, {int64_t(texts.size())}, DLC_TEXT);
  EXPECT_OK(write(array, texts));
  return array;
}
} // namespace

DLC_WITH_EVERY_ENGINE(NDArrayText);

TEST_P(NDArrayText, HoldsTexts) {
  std::string zeros("a\0b\0", 4), large(100'000, 'x');
  NDArray array = textsOf(runtime, {"one", "", zeros, large});
  EXPECT_EQ(array.bytes(), 32u);
  EXPECT_EQ(stringsOf(array), (Strings{"one", "", zeros, large}));
  EXPECT_OK(write(array, {"", "two", "three", "four"}));
  EXPECT_EQ(stringsOf(array), (Strings{"", "two", "three", "four"}));
  NDArray empty = textsOf(runtime, {});
  EXPECT_EQ(stringsOf(empty), Strings());
}

TEST_P(NDArrayText, ViewsAndCopiesShareTexts) {
  NDArray whole = makeArray(runtime, {3, 2}, DLC_TEXT);
  EXPECT_OK(write(valueOf(whole.at(1)), {"c", "d"}));
  EXPECT_EQ(stringsOf(whole), (Strings{"", "", "c", "d", "", ""}));
  EXPECT_OK(write(whole, {"a", "b", "c", "d", "e", "f"}));
  NDArray copy = valueOf(whole.copy(Context::cpu(1)));
  NDArray flat = valueOf(whole.reshape({6}));
  // Overlapping parts of one array, to both sides.
  EXPECT_OK(valueOf(flat.slice(0, 5)).copyTo(valueOf(flat.slice(1, 6))));
  EXPECT_EQ(stringsOf(whole), (Strings{"a", "a", "b", "c", "d", "e"}));
  EXPECT_OK(valueOf(flat.slice(2, 6)).copyTo(valueOf(flat.slice(0, 4))));
  EXPECT_EQ(stringsOf(whole), (Strings{"b", "c", "d", "e", "d", "e"}));
  EXPECT_OK(flat.copyTo(flat));
  EXPECT_EQ(stringsOf(whole), (Strings{"b", "c", "d", "e", "d", "e"}));
  EXPECT_EQ(stringsOf(copy), (Strings{"a", "b", "c", "d", "e", "f"}));
  std::vector<Text> one(6), other(6);
  EXPECT_OK(copy.copyToTexts(one));
  EXPECT_OK(copy.copyToTexts(other));
  EXPECT_EQ(one[0].view().data(), other[0].view().data());
  whole = copy = flat = NDArray();
  EXPECT_OK(runtime->engine().waitForAll());
  EXPECT_EQ(one[5].view(), "f"); // Its own owner.
}

// LeakSanitizer and AddressSanitizer see who ends the texts.
TEST_P(NDArrayText, TheLastOwnerEndsThem) {
  std::shared_ptr<const void> memory;
  {
    NDArray array = textsOf(runtime, {"held", "by memory()"});
    memory = array.memory();
  }
  EXPECT_OK(runtime->engine().waitForAll());
  NDArray unwritten = makeArray(runtime, {2}, DLC_TEXT);
  std::vector<Text> none(2);
  EXPECT_ERROR(unwritten.copyToTexts(none), InvalidArgument, "never was");
  NDArray target = makeArray(runtime, {2}, DLC_TEXT);
  EXPECT_OK(unwritten.copyTo(target));
  EXPECT_ERROR(target.waitToRead(), InvalidArgument, "never was");
}

TEST_P(NDArrayText, IsUsedByThreads) {
  NDArray array = textsOf(runtime, {"a", "b", "c"});
  std::vector<std::thread> threads;
  for (int thread = 0; thread != 3; ++thread)
    threads.emplace_back([&, thread] {
      NDArray own = makeArray(runtime, {3}, DLC_TEXT);
      for (int turn = 0; turn != 100; ++turn) {
        EXPECT_OK(array.copyTo(own));
        Strings found = stringsOf(own);
        EXPECT_EQ(found[0].substr(0, 1), "a");
        if (thread == 0)
          EXPECT_OK(write(array, {"a" + std::to_string(turn), "b", "c"}));
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(stringsOf(array)[0], "a99");
}

TEST(Texts, SaysWhereThereIsNone) {
  auto runtime = makeRuntime();
  auto failure = [&](Context context) {
    return std::move(NDArray::create(runtime, DLC_TEXT, {2}, context).status());
  };
  EXPECT_ERROR(failure(Context::null(0)), Unsupported,
               "expected a cpu device for text, got null:0");
  EXPECT_ERROR(failure(Context::cpuShared()), Unsupported, "got cpu_shared:0");
  EXPECT_ERROR(failure(Context::cuda()), Unsupported, "got cuda:0");
  EXPECT_OK(failure(Context::cpuPinned()));
  NDArray array = textsOf(runtime, {"a", "b"});
  EXPECT_ERROR(array.copy(Context::null(1)).status(), Unsupported,
               "expected a cpu device for text");
  void *words[2] = {};
  int64_t shape[] = {2};
  EXPECT_ERROR(NDArray::adopt(runtime, DLC_TEXT, shape, {words}).status(),
               Unsupported, "without references, got text");
}

TEST(Texts, SaysWhatItIsNotFor) {
  auto runtime = makeRuntime();
  NDArray array = textsOf(runtime, {"a", "b"});
  std::byte bytes[16];
  EXPECT_ERROR(array.copyFromHost(std::span(bytes)), Unsupported,
               "expected elements without references, got 2xtext");
  EXPECT_ERROR(array.copyToHost(std::span(bytes)), Unsupported, "2xtext");
  for (VariableUse use : {VariableUse::Read, VariableUse::Write}) {
    EXPECT_ERROR(array.hostAccess(use).status(), Unsupported, "2xtext");
    EXPECT_ERROR(toDLPackVersioned(array, use).status(), Unsupported, "2xtext");
  }
  EXPECT_ERROR(toDLPack(array).status(), Unsupported, "2xtext");
  EXPECT_ERROR(array.fill(1), InvalidArgument,
               "expected elements that are computed with, got 2xtext");
  EXPECT_ERROR(array.fillUniform(), InvalidArgument, "expected an array of fl");
  for (const char *operation : {"identity", "equal", "transpose", "shape"})
    EXPECT_FALSE(apply(operation, {array, array}).status().isOk()) << operation;
  EXPECT_ERROR(apply("equal", {array, array}).status(), InvalidArgument,
               "equal: expected elements that are computed with, got 2xtext");
  std::vector<Text> three(3);
  EXPECT_ERROR(array.copyToTexts(three), InvalidArgument, "got 3 for 2xtext");
  EXPECT_ERROR(write(array, {"c"}), InvalidArgument, "got 1 for 2xtext");
  NDArray numbers = vectorOf(runtime, {1, 2, 3});
  EXPECT_ERROR(numbers.copyToTexts(three), InvalidArgument,
               "expected an array of text, got one of 3xf32");
  EXPECT_ERROR(write(numbers, {"", "", ""}), InvalidArgument, "3xf32");
  EXPECT_ERROR(array.copyTo(makeArray(runtime, {2}, DLC_I64)), InvalidArgument,
               "expected a target of 2xtext, got 2xi64");
  NDArray none;
  EXPECT_ERROR(none.copyToTexts({}), InvalidArgument, "a null handle");
  EXPECT_ERROR(write(none, {}), InvalidArgument, "a null handle");
  EXPECT_EQ(stringsOf(array), (Strings{"a", "b"}));
}

TEST(Texts, IsSavedAndLoaded) {
  auto runtime = makeRuntime();
  TemporaryFolder folder;
  std::string path = folder / "texts.npz";
  Strings texts = {"plain", "", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"},
          bytes = {"\xff\xfe", std::string("a\0b", 3), "abcde"};
  NamedArray named[] = {{"texts", textsOf(runtime, texts)},
                        {"bytes", textsOf(runtime, bytes)},
                        {"numbers", vectorOf(runtime, {1, 2})}};
  EXPECT_OK(saveArrays(path, named, ArrayFormat::Npz));
  auto loaded = valueOf(loadArrays(runtime, path));
  ASSERT_EQ(loaded.size(), 3u);
  EXPECT_EQ(stringsOf(loaded[0].array), texts);
  EXPECT_EQ(stringsOf(loaded[1].array), bytes);
  EXPECT_EQ(floatsOf(loaded[2].array), (std::vector<float>{1, 2}));
  path = folder / "texts.npy";
  NamedArray one[] = {{"", valueOf(named[0].array.reshape({3, 1}))}};
  EXPECT_OK(saveArrays(path, one, ArrayFormat::Npy));
  EXPECT_EQ(shapeOf(valueOf(loadArrays(runtime, path))[0].array),
            (Shape{3, 1}));
  EXPECT_ERROR(loadArrays(runtime, path, {Context::null(0)}).status(),
               Unsupported, "expected a cpu device for text");
  EXPECT_ERROR(saveArrays(folder / "texts.params", one, ArrayFormat::Params),
               Unsupported,
               "expected elements that .params files have a type for, got "
               "text");
  one[0].array = textsOf(runtime, {std::string("a\0", 2)});
  EXPECT_ERROR(saveArrays(folder / "zero.npy", one, ArrayFormat::Npy),
               Unsupported, "got one that ends in a zero");
}
