// SPDX-License-Identifier: Apache-2.0
//
// .npy and .npz: what NumPy wrote, what we write, and what nobody should.

#include "dlc/runtime/IO/Numpy.h"
#include "../InChild.h"
#include "../TemporaryFolder.h"
#include "dlc/runtime/Base/File.h"

#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <random>
#include <sys/resource.h>

using namespace dlc::rt;
using namespace dlc::rt::test;

namespace {

/// numpy.savez_compressed(a=arange(6, float32).reshape(2, 3), scalar=int64(-7))
/// of NumPy 2: deflated, with 64-bit sizes in the local headers.
constexpr uint8_t deflated[] = {
    0x50, 0x4b, 0x03, 0x04, 0x2d, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00,
    0x21, 0x00, 0x4f, 0xe9, 0x00, 0x2a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0xff, 0xff, 0x05, 0x00, 0x14, 0x00, 0x61, 0x2e, 0x6e, 0x70, 0x79, 0x01,
    0x00, 0x10, 0x00, 0x98, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x55,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x9b, 0xec, 0x17, 0xea, 0x1b,
    0x10, 0xc9, 0xc8, 0x50, 0xc6, 0x50, 0xad, 0x9e, 0x92, 0x5a, 0x9c, 0x5c,
    0xa4, 0x6e, 0xa5, 0xa0, 0x6e, 0x93, 0x66, 0xa2, 0xae, 0xa3, 0xa0, 0x9e,
    0x96, 0x5f, 0x54, 0x52, 0x94, 0x98, 0x17, 0x9f, 0x5f, 0x94, 0x92, 0x0a,
    0x12, 0x77, 0x4b, 0xcc, 0x29, 0x4e, 0x05, 0x8a, 0x17, 0x67, 0x24, 0x16,
    0xa4, 0x02, 0xf9, 0x1a, 0x46, 0x3a, 0x0a, 0xc6, 0x9a, 0x3a, 0x0a, 0xb5,
    0x0a, 0x64, 0x03, 0x2e, 0x06, 0x30, 0x68, 0xb0, 0x07, 0x12, 0x0e, 0x40,
    0x04, 0xc4, 0x0d, 0x40, 0xbc, 0xc0, 0x01, 0x00, 0x50, 0x4b, 0x03, 0x04,
    0x2d, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0x21, 0x00, 0xc8, 0xb8,
    0x3c, 0xe4, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0a, 0x00,
    0x14, 0x00, 0x73, 0x63, 0x61, 0x6c, 0x61, 0x72, 0x2e, 0x6e, 0x70, 0x79,
    0x01, 0x00, 0x10, 0x00, 0x88, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x46, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x9b, 0xec, 0x17, 0xea,
    0x1b, 0x10, 0xc9, 0xc8, 0x50, 0xc6, 0x50, 0xad, 0x9e, 0x92, 0x5a, 0x9c,
    0x5c, 0xa4, 0x6e, 0xa5, 0xa0, 0x6e, 0x93, 0x69, 0xa1, 0xae, 0xa3, 0xa0,
    0x9e, 0x96, 0x5f, 0x54, 0x52, 0x94, 0x98, 0x17, 0x9f, 0x5f, 0x94, 0x92,
    0x0a, 0x12, 0x77, 0x4b, 0xcc, 0x29, 0x4e, 0x05, 0x8a, 0x17, 0x67, 0x24,
    0x16, 0xa4, 0x02, 0xf9, 0x1a, 0x9a, 0x3a, 0x0a, 0xb5, 0x0a, 0x14, 0x01,
    0xae, 0x9f, 0xff, 0x21, 0x00, 0x00, 0x50, 0x4b, 0x01, 0x02, 0x2d, 0x03,
    0x2d, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0x21, 0x00, 0x4f, 0xe9,
    0x00, 0x2a, 0x55, 0x00, 0x00, 0x00, 0x98, 0x00, 0x00, 0x00, 0x05, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80, 0x01,
    0x00, 0x00, 0x00, 0x00, 0x61, 0x2e, 0x6e, 0x70, 0x79, 0x50, 0x4b, 0x01,
    0x02, 0x2d, 0x03, 0x2d, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0x21,
    0x00, 0xc8, 0xb8, 0x3c, 0xe4, 0x46, 0x00, 0x00, 0x00, 0x88, 0x00, 0x00,
    0x00, 0x0a, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x80, 0x01, 0x8c, 0x00, 0x00, 0x00, 0x73, 0x63, 0x61, 0x6c, 0x61,
    0x72, 0x2e, 0x6e, 0x70, 0x79, 0x50, 0x4b, 0x05, 0x06, 0x00, 0x00, 0x00,
    0x00, 0x02, 0x00, 0x02, 0x00, 0x6b, 0x00, 0x00, 0x00, 0x0e, 0x01, 0x00,
    0x00, 0x00, 0x00,
};

/// A format 1 file with that dictionary and data.
std::string npy(std::string_view dictionary, std::string_view data = "") {
  std::string file = "\x93NUMPY";
  file += {'\1', '\0', char(dictionary.size()), '\0'};
  return file + std::string(dictionary) + std::string(data);
}

std::string failureOf(const std::string &file) {
  Result<HostTensor> tensor = parseNpy(bytesOf(file));
  return tensor.isOk() ? "" : tensor.status().message();
}

template <typename T> std::vector<T> valuesOf(const HostTensor &tensor) {
  TensorView view = tensor.view();
  return std::vector<T>(view.as<T>(), view.as<T>() + view.size());
}

using Shape = std::vector<int64_t>;

} // namespace

TEST(Npy, ReadsEveryOrderOfKeysAndBothLayouts) {
  std::string data("\1\0\2\0\3\0\4\0\5\0\6\0", 12);
  Result<HostTensor> rows = parseNpy(bytesOf(npy(
      "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }\n", data)));
  ASSERT_TRUE(rows.isOk()) << rows.status().message();
  EXPECT_EQ(rows->shape, (Shape{2, 3}));
  EXPECT_EQ(valuesOf<int16_t>(*rows), (std::vector<int16_t>{1, 2, 3, 4, 5, 6}));
  Result<HostTensor> columns = parseNpy(bytesOf(
      npy("{\"shape\":(2,3),'fortran_order':True,'descr':'<i2'}", data)));
  ASSERT_TRUE(columns.isOk()) << columns.status().message();
  EXPECT_EQ(valuesOf<int16_t>(*columns),
            (std::vector<int16_t>{1, 3, 5, 2, 4, 6}));
}

TEST(Npy, RearrangesThreeDimensions) {
  std::string data;
  for (int i = 0; i != 24; ++i)
    data += char(i);
  Result<HostTensor> tensor = parseNpy(bytesOf(npy(
      "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 4)}", data)));
  ASSERT_TRUE(tensor.isOk());
  for (int i = 0; i != 2; ++i)
    for (int j = 0; j != 3; ++j)
      for (int k = 0; k != 4; ++k)
        EXPECT_EQ(tensor->view().as<uint8_t>()[(i * 3 + j) * 4 + k],
                  i + 2 * j + 6 * k);
}

TEST(Npy, ReadsScalarsAndEmptyTensors) {
  Result<HostTensor> scalar = parseNpy(bytesOf(
      npy("{'descr': '|b1', 'fortran_order': False, 'shape': ()}", "\1")));
  ASSERT_TRUE(scalar.isOk()) << scalar.status().message();
  EXPECT_EQ(scalar->type, DLC_BOOL);
  EXPECT_EQ(scalar->shape, Shape{});
  Result<HostTensor> empty = parseNpy(
      bytesOf(npy("{'descr': '<f8', 'fortran_order': True, 'shape': (3, 0)}")));
  ASSERT_TRUE(empty.isOk()) << empty.status().message();
  EXPECT_EQ(empty->shape, (Shape{3, 0}));
}

// NumPy on Python 2 wrote sizes of type long; formats 1 and 2 are read so.
TEST(Npy, ReadsSizesOfPython2) {
  std::string text = npy(
      "{'descr': '|u1', 'fortran_order': False, 'shape': (2L, 1L), }\n", "ab");
  auto tensor = parseNpy(bytesOf(text));
  ASSERT_TRUE(tensor.isOk()) << tensor.status().message();
  EXPECT_EQ(tensor->shape, (Shape{2, 1}));
}

TEST(Npy, SaysWhatIsWrong) {
  EXPECT_EQ(failureOf("NUMPY!"), "not an .npy file: the magic bytes differ");
  EXPECT_EQ(failureOf("PK\3\4\24\2"),
            "not an .npy file: the magic bytes are those of an .npz file");
  EXPECT_EQ(failureOf(npy("{'descr': '<f4', 'fortran_order': False, "
                          "'shape': (2,)}",
                          "1234567")),
            "expected data for 2xf32, got 7 bytes");
  EXPECT_EQ(failureOf(npy("{'descr': '>f4', 'fortran_order': False, "
                          "'shape': ()}",
                          "1234")),
            "expected little-endian data, got '>f4'");
  EXPECT_EQ(failureOf(npy("{'descr': '<c32', 'fortran_order': False, "
                          "'shape': ()}")),
            "element type '<c32' is not supported");
  EXPECT_EQ(failureOf(npy("{'descr': [('a', '<f4')], 'fortran_order': False, "
                          "'shape': ()}")),
            "arrays of structures are not supported");
  EXPECT_EQ(failureOf(npy("{'descr': '<f4', 'descr': '<f4', "
                          "'fortran_order': False}")),
            "not an .npy file: expected 'descr', 'fortran_order' and 'shape'");
  EXPECT_EQ(failureOf(npy("{'descr': '<f4', 'fortran_order': False, "
                          "'shape': (4611686018427387904, 4)}")),
            "expected data for 4611686018427387904x4xf32, got 0 bytes");
  EXPECT_EQ(failureOf(npy("{'descr': '<f4', 'fortran_order': False, "
                          "'shape': (1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)}")),
            "expected at most 16 dimensions, got 17");
  auto failureOfShape = [](const std::string &shape) {
    std::string text = failureOf(npy(
        "{'descr': '|u1', 'fortran_order': False, 'shape': " + shape + ", }\n",
        "12"));
    std::string_view start = "not an .npy file: expected a tuple of sizes of "
                             "at least 0 as 'shape', got ";
    EXPECT_TRUE(text.starts_with(start)) << text;
    return text.substr(std::min(text.size(), start.size()));
  };
  EXPECT_EQ(failureOfShape("(-2,)"), "(-2,)");
  EXPECT_EQ(failureOfShape("(2l,)"), "(2l,)");
  EXPECT_EQ(failureOfShape("(2LL,)"), "(2LL,)");
  EXPECT_EQ(failureOfShape("(L,)"), "(L,)");
  EXPECT_EQ(failureOfShape("2"), "2, }");
  for (const char *bad :
       {"", "{", "{'shape': (-1,)}", "{'shape': (1 2)}", "{'shape': (",
        "{'descr': '<f4", "{'fortran_order': 1}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': ()} x"})
    EXPECT_NE(failureOf(npy(bad)), "") << bad;
  EXPECT_EQ(failureOf(npy("{'descr': '|b1', 'fortran_order': False, "
                          "'shape': (2,)}",
                          "\1\2")),
            "expected a bool of 0 or 1, got 2");
  std::string future = npy("{}");
  future[6] = 4;
  EXPECT_EQ(failureOf(future), "expected .npy format 1 to 3, got 4");
}

TEST(Npy, WritesWhatItReads) {
  TemporaryFolder folder;
  std::mt19937 random(7);
  for (int type = DLC_BOOL; type <= DLC_C128; ++type) {
    for (const Shape &shape : {Shape{}, Shape{5}, Shape{2, 3}, Shape{0, 2}}) {
      TensorView view{DataType(type), shape};
      std::vector<std::byte> data(view.bytes());
      for (std::byte &byte : data)
        byte = std::byte(random() % (type == DLC_BOOL ? 2 : 256));
      view.data = data.data();
      ASSERT_TRUE(writeNpy(folder / "t.npy", view).isOk());
      Result<HostTensor> read = readNpy(folder / "t.npy");
      ASSERT_TRUE(read.isOk()) << read.status().message();
      EXPECT_EQ(read->type, type);
      EXPECT_EQ(read->shape, shape);
      EXPECT_TRUE(std::ranges::equal(read->data.bytes(), data));
    }
  }
  EXPECT_EQ(readNpy(folder / "missing.npy").status().code(),
            StatusCode::NotFound);
  // NumPy has no 8-bit floats, and no elements of less than a byte.
  TensorView nibble{DLC_I4, {}};
  EXPECT_NE(writeNpy(folder / "nibble.npy", nibble).message().find("got i4"),
            std::string::npos);
  TensorView octet{DLC_F8E5M2, {}};
  std::string path = folder / "octet.npy";
  EXPECT_EQ(writeNpy(path, octet).message(),
            path + ": expected elements that .npy files have a type for, got "
                   "f8e5m2");
  EXPECT_EQ(readNpy(path).status().code(), StatusCode::NotFound);
  NamedView member{"octet", octet};
  EXPECT_NE(writeNpz(folder / "octet.npz", {&member, 1})
                .message()
                .find("'octet': expected elements"),
            std::string::npos);
}

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

static Result<HostTensor> parseTexts(const std::string &file) {
  return parseNpy(bytesOf(file), ElementKinds::All);
}

static std::vector<std::string> stringsOf(const HostTensor &tensor) {
  std::vector<std::string> strings;
  for (const Text &text : valuesOf<Text>(tensor))
    strings.emplace_back(text.view());
  return strings;
}

TEST(NpyTexts, ReadsWhatNumPyWrote) {
  auto read = [](const char *name) {
    Result<MappedFile> file = MappedFile::open(
        std::string(DLC_TEST_SEEDS "/NpyFuzzer.seeds/") + name);
    EXPECT_TRUE(file.isOk());
    return parseNpy(file->bytes(), ElementKinds::All);
  };
  Result<HostTensor> texts = read("texts.npy"), bytes = read("bytes.npy");
  ASSERT_TRUE(texts.isOk()) << texts.status().message();
  ASSERT_TRUE(bytes.isOk()) << bytes.status().message();
  EXPECT_EQ(texts->shape, (Shape{2, 2}));
  EXPECT_EQ(stringsOf(*texts),
            (std::vector<std::string>{"a", "\xc3\xa4\xe2\x82\xac", "",
                                      "\xf0\x9f\x98\x80x"}));
  EXPECT_EQ(stringsOf(*bytes),
            (std::vector<std::string>{"one", std::string("\xff\0z", 3)}));
  EXPECT_NE(readNpy(DLC_TEST_SEEDS "/NpyFuzzer.seeds/bytes.npy")
                .status()
                .message()
                .find("bytes.npy: expected elements that are no text, got "
                      "'|S3'"),
            std::string::npos);
}

TEST(NpyTexts, RearrangesColumns) {
  Result<HostTensor> tensor =
      parseTexts(npy("{'descr': '|S2', 'fortran_order': True, 'shape': (2, 2)}",
                     std::string_view("a\0bbc\0dd", 8)));
  ASSERT_TRUE(tensor.isOk()) << tensor.status().message();
  EXPECT_EQ(stringsOf(*tensor),
            (std::vector<std::string>{"a", "c", "bb", "dd"}));
}

TEST(NpyTexts, SaysWhatIsWrong) {
  auto failure = [](std::string_view descr, std::string_view shape,
                    std::string_view data) {
    return parseTexts(npy("{'descr': '" + std::string(descr) +
                              "', 'fortran_order': False, 'shape': " +
                              std::string(shape) + "}",
                          data))
        .status()
        .message();
  };
  EXPECT_EQ(failure("<U1", "()", std::string_view("\0\0\x11\0", 4)),
            "expected a character of Unicode, got 0x110000");
  EXPECT_EQ(failure("<U1", "()", std::string_view("\0\xd8\0\0", 4)),
            "expected a character of Unicode, got 0xd800");
  EXPECT_EQ(failure("<U2", "(2,)", "12345678"),
            "expected data for 2xtext, got 8 bytes");
  EXPECT_EQ(failure(">U1", "()", "1234"),
            "expected little-endian data, got '>U1'");
  EXPECT_EQ(failure("|S0", "(1000000000000,)", ""),
            "expected texts of some width, got '|S0'");
  EXPECT_EQ(failure("<U4611686018427387904", "(0,)", ""),
            "element type '<U4611686018427387904' is not supported");
  EXPECT_NE(failure("|S9223372036854775807", "(4,)", ""), "");
  for (const char *descr :
       {"<U", "<U-1", "<U1x", "|S", "<U99999999999999999999"})
    EXPECT_EQ(failure(descr, "(0,)", ""),
              "element type '" + std::string(descr) + "' is not supported");
  EXPECT_EQ(failure("|S0", "(0,)", ""), "");
  EXPECT_EQ(failure(">S2", "()", "ab"), "");
}

TEST(NpyTexts, WritesTheWidthOfTheLongest) {
  TemporaryFolder folder;
  auto headerOf = [&](std::vector<Text> texts, size_t &size) {
    int64_t shape[] = {int64_t(texts.size())};
    TensorView view{DLC_TEXT, shape, texts.data()};
    EXPECT_TRUE(writeNpy(folder / "t.npy", view).isOk());
    Result<MappedFile> file = MappedFile::open(folder / "t.npy");
    std::string all(reinterpret_cast<const char *>(file->bytes().data()),
                    file->bytes().size());
    size = all.size() - 128;
    size_t from = all.find('{');
    return all.substr(from, all.find(',') - from);
  };
  auto text = [](std::string_view bytes) { return *Text::make(bytes); };
  size_t size;
  EXPECT_EQ(headerOf({text("abc"), text("\xc3\xa4")}, size), "{'descr': '<U3'");
  EXPECT_EQ(size, 24u);
  EXPECT_EQ(headerOf({text("abc"), text("\xc3")}, size), "{'descr': '|S3'");
  EXPECT_EQ(size, 6u);
  EXPECT_EQ(headerOf({Text()}, size), "{'descr': '<U1'");
  EXPECT_EQ(size, 4u);
  EXPECT_EQ(headerOf({}, size), "{'descr': '<U1'");
  EXPECT_EQ(size, 0u);
}

// All take as much room as the longest, which may be more than there is.
TEST(NpyTexts, SaysWhatThereIsNoRoomFor) {
  TemporaryFolder folder;
  constexpr size_t count = 1 << 22, length = 1 << 22;
  std::vector<Text> texts(count);
  texts[7] = *Text::make(std::string(length, 'a'));
  int64_t shape[] = {count};
  TensorView view{DLC_TEXT, shape, texts.data()};
  Status status = writeNpy(folder / "t.npy", view);
  EXPECT_EQ(status.code(), StatusCode::Unavailable);
  EXPECT_NE(status.message().find("4194304 texts of 16777216 bytes each, the "
                                  "size of the longest"),
            std::string::npos)
      << status.message();
  EXPECT_NE(status.message().find("expected room for 70368744177664 bytes"),
            std::string::npos)
      << status.message();
  NamedView member{"words", view};
  EXPECT_EQ(writeNpz(folder / "t.npz", {&member, 1}).message(),
            (folder / "t.npz").string() +
                ": 'words': .npz files of 4 GiB or more are not written");
}

// The file is larger than the memory that its process may take.
TEST(NpyTexts, WritesMoreThanThereIsMemoryFor) {
  TemporaryFolder folder;
  constexpr size_t count = 1 << 10, length = 1 << 14; // 64 MiB of file.
  std::vector<Text> texts(count);
  texts[3] = *Text::make("\xc3\xa4");
  texts[7] = *Text::make(std::string(length, 'a'));
  int64_t shape[] = {count};
  TensorView view{DLC_TEXT, shape, texts.data()};
  NamedView member{"words", view};
  ASSERT_EQ(inChild([&] {
              size_t pages = 0;
              std::ifstream("/proc/self/statm") >> pages;
              rlimit limit = {};
              limit.rlim_cur = limit.rlim_max = (pages << 12) + (16 << 20);
              if (setrlimit(RLIMIT_AS, &limit))
                return 2;
              return writeNpy(folder / "t.npy", view).isOk() &&
                             writeNpz(folder / "t.npz", {&member, 1}).isOk()
                         ? 0
                         : 1;
            }),
            0);
  Result<MappedFile> one = MappedFile::open(folder / "t.npy");
  ASSERT_TRUE(one.isOk());
  EXPECT_EQ(one->bytes().size(), 128 + count * length * 4);
  Result<MappedFile> all = MappedFile::open(folder / "t.npz");
  ASSERT_TRUE(all.isOk());
  for (std::span<const std::byte> bytes : {one->bytes(), all->bytes()}) {
    bool isArchive = bytes.size() != one->bytes().size();
    std::vector<std::string> strings;
    if (isArchive) {
      auto tensors = parseNpz(bytes, ElementKinds::All);
      ASSERT_TRUE(tensors.isOk()) << tensors.status().message();
      strings = stringsOf((*tensors)[0].tensor);
    } else {
      Result<HostTensor> tensor = parseNpy(bytes, ElementKinds::All);
      ASSERT_TRUE(tensor.isOk()) << tensor.status().message();
      strings = stringsOf(*tensor);
    }
    EXPECT_EQ(strings[3], "\xc3\xa4");
    EXPECT_EQ(strings[7], std::string(length, 'a'));
    EXPECT_EQ(strings[8], "");
  }
}

TEST(Npz, ReadsDeflatedArchivesOfNumPy) {
  auto tensors = parseNpz(std::as_bytes(std::span(deflated)));
  ASSERT_TRUE(tensors.isOk()) << tensors.status().message();
  ASSERT_EQ(tensors->size(), 2u);
  EXPECT_EQ((*tensors)[0].name, "a");
  EXPECT_EQ((*tensors)[0].tensor.shape, (Shape{2, 3}));
  EXPECT_EQ(valuesOf<float>((*tensors)[0].tensor),
            (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ((*tensors)[1].name, "scalar");
  EXPECT_EQ(valuesOf<int64_t>((*tensors)[1].tensor), std::vector<int64_t>{-7});
}

TEST(Npz, WritesWhatItReads) {
  TemporaryFolder folder;
  float a[] = {1, 2, 3};
  uint8_t b[] = {4, 5};
  Shape shapeA{3}, shapeB{1, 2};
  NamedView views[] = {{"first", {DLC_F32, shapeA, a}},
                       {"with/slash", {DLC_U8, shapeB, b}}};
  ASSERT_TRUE(writeNpz(folder / "t.npz", views).isOk());
  auto tensors = readNpz(folder / "t.npz");
  ASSERT_TRUE(tensors.isOk()) << tensors.status().message();
  ASSERT_EQ(tensors->size(), 2u);
  EXPECT_EQ((*tensors)[0].name, "first");
  EXPECT_EQ(valuesOf<float>((*tensors)[0].tensor),
            (std::vector<float>{1, 2, 3}));
  EXPECT_EQ((*tensors)[1].name, "with/slash");
  EXPECT_EQ((*tensors)[1].tensor.shape, shapeB);
  views[1].name = "first";
  EXPECT_EQ(writeNpz(folder / "t.npz", views).message(),
            (folder / "t.npz").string() + ": two tensors are named 'first'");
  ASSERT_TRUE(writeNpz(folder / "empty.npz", {}).isOk());
  EXPECT_EQ(readNpz(folder / "empty.npz")->size(), 0u);
  Shape none{0, 2};
  NamedView empty{"empty", {DLC_F32, none, nullptr}};
  ASSERT_TRUE(writeNpz(folder / "t.npz", {&empty, 1}).isOk());
  tensors = readNpz(folder / "t.npz");
  ASSERT_TRUE(tensors.isOk()) << tensors.status().message();
  EXPECT_EQ((*tensors)[0].tensor.shape, none);
}

// As numpy.savez does; a name that is given is given.
TEST(Npz, NamesWhatHasNoName) {
  TemporaryFolder folder;
  uint8_t a[] = {1};
  Shape shape{1};
  TensorView view{DLC_U8, shape, a};
  NamedView views[] = {{"", view}, {"x", view}, {"", view}};
  ASSERT_TRUE(writeNpz(folder / "t.npz", views).isOk());
  auto tensors = readNpz(folder / "t.npz");
  ASSERT_TRUE(tensors.isOk()) << tensors.status().message();
  EXPECT_EQ((*tensors)[0].name, "arr_0");
  EXPECT_EQ((*tensors)[1].name, "x");
  EXPECT_EQ((*tensors)[2].name, "arr_1");
  views[1].name = "arr_1";
  EXPECT_EQ(writeNpz(folder / "u.npz", views).message(),
            (folder / "u.npz").string() + ": two tensors are named 'arr_1'");
}

TEST(Npz, RefusesNamesThatLeaveAFolderOrAreNoText) {
  TemporaryFolder folder;
  uint8_t a[] = {1};
  Shape shape{1};
  for (std::string name : {"..", "../a", "a/../b", "a/..", "a\\..\\b"}) {
    NamedView view{name, {DLC_U8, shape, a}};
    Status status = writeNpz(folder / "t.npz", {&view, 1});
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
    EXPECT_EQ(status.message(),
              (folder / "t.npz").string() +
                  ": expected member names without '..', got '" + name + "'");
  }
  for (std::string_view name :
       {std::string_view("\xff"), std::string_view("a\0b", 3)}) {
    NamedView view{std::string(name), {DLC_U8, shape, a}};
    EXPECT_EQ(writeNpz(folder / "t.npz", {&view, 1}).message(),
              (folder / "t.npz").string() +
                  ": expected member names of UTF-8 without zeros, got another "
                  "one");
  }
  for (std::string name : {"/conv/out", "...", "..a/b..", "\xc3\xa4"}) {
    NamedView view{name, {DLC_U8, shape, a}};
    ASSERT_TRUE(writeNpz(folder / "t.npz", {&view, 1}).isOk()) << name;
    EXPECT_EQ((*readNpz(folder / "t.npz"))[0].name, name);
  }
  // The same from others: a name of the same length in both headers.
  NamedView view{"abcd", {DLC_U8, shape, a}};
  ASSERT_TRUE(writeNpz(folder / "t.npz", {&view, 1}).isOk());
  Result<MappedFile> mapped = MappedFile::open(folder / "t.npz");
  ASSERT_TRUE(mapped.isOk());
  std::string file(reinterpret_cast<const char *>(mapped->bytes().data()),
                   mapped->bytes().size());
  for (std::string name : {"../x", "\xff"
                                   "bcd"}) {
    std::string bad = file;
    for (size_t at; (at = bad.find("abcd.npy")) != bad.npos;)
      bad.replace(at, 4, name);
    auto tensors = parseNpz(bytesOf(bad));
    EXPECT_EQ(tensors.status().code(), StatusCode::DataLoss);
    EXPECT_NE(tensors.status().message().find("expected member names"),
              std::string::npos)
        << tensors.status().message();
  }
}

// What a file says is shown as text, and not all of it.
TEST(Npz, ShowsNamesOfOthersInOneLine) {
  TemporaryFolder folder;
  uint8_t a[] = {1};
  Shape shape{1};
  NamedView view{"abcd", {DLC_U8, shape, a}};
  ASSERT_TRUE(writeNpz(folder / "t.npz", {&view, 1}).isOk());
  Result<MappedFile> mapped = MappedFile::open(folder / "t.npz");
  ASSERT_TRUE(mapped.isOk());
  std::string file(reinterpret_cast<const char *>(mapped->bytes().data()),
                   mapped->bytes().size());
  auto failureWith = [&](std::string_view name, std::string_view magic) {
    std::string bad = file;
    for (size_t at; (at = bad.find("abcd.npy")) != bad.npos;)
      bad.replace(at, 8, name);
    if (size_t at = bad.find("NUMPY"); !magic.empty())
      bad.replace(at, 5, magic);
    return parseNpz(bytesOf(bad)).status().message();
  };
  EXPECT_EQ(failureWith("\xff\n\x1b.text", ""),
            "expected members with the suffix .npy, got "
            "'\\xff\\x0a\\x1b.text'");
  EXPECT_EQ(failureWith("a\nb\x1b.npy", "numpy"),
            "a\\x0ab\\x1b.npy: the checksum differs");
}

TEST(Npy, ShowsWhatAFileSaysInOneLine) {
  EXPECT_EQ(failureOf(npy("{'descr': '<f\x1b\xfe', 'fortran_order': False, "
                          "'shape': ()}")),
            "element type '<f\\x1b\\xfe' is not supported");
  std::string text = failureOf(npy("{'descr': '" + std::string(150, 'x') +
                                   "', 'fortran_order': False, 'shape': ()}"));
  EXPECT_EQ(text,
            "element type '" + std::string(100, 'x') + "...' is not supported");
  EXPECT_NE(failureOf(npy("{'descr': '|u1', 'fortran_order': False, "
                          "'shape': (\x1b[2J,)}"))
                .find("got (\\x1b[2J,)"),
            std::string::npos);
}

TEST(Npz, NoticesDamage) {
  std::vector<std::byte> file(sizeof(deflated));
  std::memcpy(file.data(), deflated, file.size());
  file[120] ^= std::byte(1); // Inside the compressed data.
  EXPECT_EQ(parseNpz(file).status().code(), StatusCode::DataLoss);
  EXPECT_EQ(parseNpz({}).status().message(),
            "not an .npz file: it is too short");
  EXPECT_EQ(parseNpz(std::vector<std::byte>(100)).status().message(),
            "not an .npz file: it has no directory");
}

TEST(Npz, RefusesMembersThatShareBytes) {
  TemporaryFolder folder;
  uint8_t zeros[2000] = {};
  Shape shape{2000};
  NamedView view{"a", {DLC_U8, shape, zeros}};
  ASSERT_TRUE(writeNpz(folder / "t.npz", {&view, 1}).isOk());
  Result<MappedFile> mapped = MappedFile::open(folder / "t.npz");
  ASSERT_TRUE(mapped.isOk());
  std::vector<std::byte> file(mapped->bytes().begin(), mapped->bytes().end());
  // One more entry of the directory for the same bytes, under another name:
  // an entry has 46 bytes and "a.npy", the end record 22.
  size_t entry = file.size() - 22 - 51;
  std::vector<std::byte> again(file.begin() + entry, file.end() - 22);
  again[46] = std::byte('b');
  file.insert(file.end() - 22, again.begin(), again.end());
  file[file.size() - 22 + 8] = file[file.size() - 22 + 10] = std::byte(2);
  EXPECT_EQ(parseNpz(file).status().message(),
            "not an .npz file: its members are larger than the file");
}

TEST(Npz, SurvivesTruncationAndMutation) {
  std::span<const std::byte> whole = std::as_bytes(std::span(deflated));
  for (size_t length = 0; length != whole.size(); ++length) {
    std::vector<std::byte> part(whole.begin(), whole.begin() + length);
    ASSERT_FALSE(parseNpz(part).isOk()) << length;
  }
  std::mt19937 random(99);
  for (int round = 0; round != 10000; ++round) {
    std::vector<std::byte> file(whole.begin(), whole.end());
    for (int i = random() % 4; i >= 0; --i)
      file[random() % file.size()] = std::byte(random());
    (void)parseNpz(file);
  }
}
