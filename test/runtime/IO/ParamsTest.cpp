// SPDX-License-Identifier: Apache-2.0
//
// MXNet's lists of arrays: what MXNet wrote (the samples of make_samples.py),
// what we write, and what nobody should.

#include "dlc/runtime/IO/Params.h"
#include "../TemporaryFolder.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>
#include <random>

using namespace dlc::rt;
using namespace dlc::rt::test;

namespace {

using Shape = std::vector<int64_t>;

/// Bytes of a list in the making.
struct Record : std::string {
  template <typename T> Record &put(std::initializer_list<T> values) {
    for (T value : values)
      append(reinterpret_cast<const char *>(&value), sizeof(value));
    return *this;
  }
  Record &u32(std::initializer_list<uint32_t> v) { return put(v); }
  Record &u64(std::initializer_list<uint64_t> v) { return put(v); }
  Record &i32(std::initializer_list<int32_t> v) { return put(v); }
  Record &i64(std::initializer_list<int64_t> v) { return put(v); }
  Record &name(std::string_view text) {
    u64({text.size()});
    append(text);
    return *this;
  }
};

} // namespace

static constexpr uint32_t v1 = 0xF993FAC8, v2 = 0xF993FAC9, v3 = 0xF993FACA;

static std::string samplePath(const std::string &name) {
  return DLC_TEST_SEEDS "/ParamsFuzzer.seeds/" + name + ".params";
}

/// A list without names of one array.
static Record listOf(const Record &array) {
  Record text;
  text.u64({0x112, 0, 1});
  text.append(array);
  return text.u64({0}), text;
}

/// What is wrong with a list; empty when it is read.
static std::string failureOf(const std::string &text) {
  Result<ParamsList> list = parseParams(bytesOf(text));
  return list.isOk() ? "" : list.status().message();
}

/// What is wrong with a list of that array.
static std::string arrayFailureOf(const Record &array) {
  return failureOf(listOf(array));
}

template <typename T> static std::vector<T> valuesOf(const ParamsBlock &block) {
  TensorView view = block.view();
  EXPECT_TRUE(isAligned(view.data, sizeof(T)));
  return {view.as<T>(), view.as<T>() + view.size()};
}

TEST(Params, ReadsArchivesOfNumPy) {
  TemporaryFolder folder;
  const float weights[] = {1, 2, 3, 4, 5, 6};
  const int64_t step[] = {7};
  const Shape matrix{2, 3}, scalar;
  const NamedView members[] = {
      {"arg:w", {DLC_F32, matrix, const_cast<float *>(weights)}},
      {"aux:step", {DLC_I64, scalar, const_cast<int64_t *>(step)}}};
  ASSERT_TRUE(writeNpz(folder / "p.npz", members).isOk());
  Result<ParamsList> list = readParams(folder / "p.npz");
  ASSERT_TRUE(list.isOk()) << list.status().message();
  EXPECT_TRUE(list->isNamed);
  ASSERT_EQ(list->arrays.size(), 2u);
  const ParamsArray *array = list->find("arg:w");
  ASSERT_NE(array, nullptr);
  EXPECT_EQ(array->type.shape, matrix);
  EXPECT_EQ(std::memcmp(array->values.data, weights, sizeof(weights)), 0);
  ASSERT_NE(list->find("aux:step"), nullptr);
  EXPECT_EQ(list->find("aux:step")->version, ParamsVersion::V3);
  ASSERT_TRUE(writeNpz(folder / "none.npz", {}).isOk());
  Result<ParamsList> none = readParams(folder / "none.npz");
  ASSERT_TRUE(none.isOk()) << none.status().message();
  EXPECT_TRUE(none->arrays.empty());
}

//===----------------------------------------------------------------------===//
// What MXNet wrote
//===----------------------------------------------------------------------===//

TEST(Params, ReadsEveryElementTypeThatMXNetWrites) {
  Result<ParamsList> list = readParams(samplePath("types"));
  ASSERT_TRUE(list.isOk()) << list.status().message();
  EXPECT_TRUE(list->isNamed);
  std::vector<DataType> types;
  for (const ParamsArray &array : list->arrays) {
    types.push_back(array.type.type);
    EXPECT_EQ(array.version, ParamsVersion::V2);
    EXPECT_EQ(array.layout, ParamsLayout::Dense);
    EXPECT_EQ(array.device, (ParamsDevice{1, 0}));
    EXPECT_EQ(array.type.shape, (Shape{2, 3}));
    EXPECT_EQ(array.values.shape, (Shape{2, 3}));
  }
  EXPECT_EQ(types, (std::vector{DLC_F32, DLC_F64, DLC_F16, DLC_U8, DLC_I32,
                                DLC_I8, DLC_I64, DLC_BOOL, DLC_BF16}));
  const ParamsArray *f64 = list->find("arg:float64");
  ASSERT_TRUE(f64);
  EXPECT_EQ(valuesOf<double>(f64->values),
            (std::vector<double>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(valuesOf<int64_t>(list->find("arg:int64")->values),
            (std::vector<int64_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(valuesOf<uint8_t>(list->find("arg:bool")->values),
            (std::vector<uint8_t>{0, 1, 1, 1, 1, 1}));
  EXPECT_EQ(valuesOf<uint16_t>(list->find("aux:bfloat16")->values),
            (std::vector<uint16_t>{0, 0x3f80, 0x4000, 0x4040, 0x4080, 0x40a0}));
  EXPECT_EQ(list->find("float64"), nullptr);
}

TEST(Params, ViewsTheFileWhereItIsAligned) {
  Result<ParamsList> list = readParams(samplePath("types"));
  ASSERT_TRUE(list.isOk());
  std::span<const std::byte> file = list->file.bytes();
  size_t views = 0;
  for (const ParamsArray &array : list->arrays) {
    auto *data = static_cast<const std::byte *>(array.values.data);
    views += data >= file.data() && data < file.data() + file.size();
  }
  // The twelve bytes of f16 and the six of u8 push others off their places.
  EXPECT_EQ(views + list->copies.size(), list->arrays.size());
  EXPECT_EQ(list->find("arg:float32")->values.data, file.data() + 0x40);
  EXPECT_GE(views, 5u);
}

TEST(Params, ReadsSparseArrays) {
  Result<ParamsList> list = readParams(samplePath("sparse"));
  ASSERT_TRUE(list.isOk()) << list.status().message();
  const ParamsArray *rows = list->find("rows"), *csr = list->find("csr");
  ASSERT_TRUE(rows && csr);
  EXPECT_EQ(rows->layout, ParamsLayout::RowSparse);
  EXPECT_EQ(rows->type.shape, (Shape{5, 2}));
  EXPECT_EQ(rows->values.shape, (Shape{2, 2}));
  EXPECT_EQ(valuesOf<int64_t>(rows->indices[0]), (Shape{1, 3}));
  EXPECT_EQ(csr->layout, ParamsLayout::Csr);
  EXPECT_EQ(valuesOf<int64_t>(csr->indices[0]), (Shape{0, 1, 1, 3}));
  EXPECT_EQ(valuesOf<int64_t>(csr->indices[1]), (Shape{2, 0, 3}));
  EXPECT_EQ(list->find("no rows")->indices[0].shape, Shape{0});
  EXPECT_EQ(list->find("no csr")->indices[0].shape, Shape{0});
}

TEST(Params, MakesDenseCopies) {
  Result<ParamsList> list = readParams(samplePath("sparse"));
  ASSERT_TRUE(list.isOk());
  auto check = [&](const char *name, auto expected) {
    using T = typename decltype(expected)::value_type;
    Result<HostTensor> dense = toDense(*list->find(name), 1 << 10);
    ASSERT_TRUE(dense.isOk()) << dense.status().message();
    EXPECT_EQ(dense->shape, list->find(name)->type.shape);
    const T *values = dense->view().as<T>();
    EXPECT_EQ(std::vector(values, values + dense->view().size()), expected);
  };
  check("rows", std::vector<float>{0, 0, 1, 2, 0, 0, 3, 4, 0, 0});
  check("no rows", std::vector<float>(10));
  check("csr", std::vector<double>{0, 0, 1, 0, 0, 0, 0, 0, 2, 0, 0, 3});
  check("no csr", std::vector<double>(12));
  EXPECT_EQ(toDense(*list->find("rows"), 39).status().message(),
            "expected at most 39 bytes, got 5x2xf32");
}

TEST(Params, ReadsNumPyShapesAndListsWithoutNames) {
  Result<ParamsList> list = readParams(samplePath("numpy"));
  ASSERT_TRUE(list.isOk()) << list.status().message();
  EXPECT_EQ(list->arrays[0].version, ParamsVersion::V3);
  EXPECT_EQ(list->find("scalar")->type.shape, Shape{});
  EXPECT_EQ(valuesOf<float>(list->find("scalar")->values),
            std::vector<float>{7});
  EXPECT_EQ(list->find("empty")->type.shape, (Shape{0, 3}));
  list = readParams(samplePath("unnamed"));
  ASSERT_TRUE(list.isOk()) << list.status().message();
  EXPECT_FALSE(list->isNamed);
  EXPECT_EQ(list->arrays.size(), 2u);
  EXPECT_EQ(list->find(""), nullptr);
  EXPECT_EQ(readParams(samplePath("empty"))->arrays.size(), 0u);
}

TEST(Params, ReadsTheFirstReleases) {
  for (auto [name, version] :
       {std::pair("v0", ParamsVersion::V0), {"v1", ParamsVersion::V1}}) {
    Result<ParamsList> list = readParams(samplePath(name));
    ASSERT_TRUE(list.isOk()) << list.status().message();
    const ParamsArray *weight = list->find("fc_weight");
    ASSERT_TRUE(weight);
    EXPECT_EQ(weight->version, version);
    EXPECT_EQ(weight->type.shape, (Shape{1, 2}));
    EXPECT_EQ(valuesOf<float>(weight->values), (std::vector<float>{5, 6}));
  }
}

TEST(Params, WritesWhatItReadByteForByte) {
  TemporaryFolder folder;
  for (const char *name :
       {"types", "unnamed", "empty", "sparse", "numpy", "v0", "v1"}) {
    Result<ParamsList> list = readParams(samplePath(name));
    ASSERT_TRUE(list.isOk()) << list.status().message();
    Status status = writeParams(folder / "copy", list->arrays, list->isNamed);
    ASSERT_TRUE(status.isOk()) << status.message();
    EXPECT_EQ(contentsOf(folder / "copy"), contentsOf(samplePath(name)))
        << name;
  }
}

//===----------------------------------------------------------------------===//
// What we write
//===----------------------------------------------------------------------===//

TEST(Params, WritesEveryTypeInEveryVersion) {
  TemporaryFolder folder;
  std::mt19937 random(11);
  for (int version = 0; version != 4; ++version)
    for (int type = DLC_BOOL; type <= DLC_F64; ++type) {
      ParamsArray array;
      array.name = "a";
      array.version = ParamsVersion(version);
      array.device = {2, 3};
      array.type = {DataType(type), {3, 1, 2}};
      std::vector<uint64_t> data(6);
      for (uint64_t &value : data)
        value = type == DLC_BOOL ? 1 : random();
      array.values = {array.type.type, array.type.shape, data.data()};
      ASSERT_TRUE(writeParams(folder / "a", {&array, 1}, true).isOk());
      Result<ParamsList> list = readParams(folder / "a");
      ASSERT_TRUE(list.isOk()) << list.status().message();
      const ParamsArray &read = list->arrays.at(0);
      EXPECT_EQ(read.version, array.version);
      EXPECT_EQ(read.device, array.device);
      EXPECT_EQ(read.type.type, type);
      EXPECT_EQ(read.type.shape, array.type.shape);
      EXPECT_FALSE(std::memcmp(read.values.data, data.data(),
                               array.values.view().bytes()));
    }
}

TEST(Params, KeepsUndefinedArrays) {
  TemporaryFolder folder;
  Record text;
  text.u64({0x112, 0, 6});
  text.u32({0});                                   // V0
  text.u32({v1}).i32({0});                         // V1
  text.u32({v2}).i32({0, 0});                      // V2, dense
  text.u32({v2}).i32({1, 2}).i64({0, 4}).i32({0}); // V2, sparse
  text.u32({v3}).i32({0, -1});                     // V3, no rank
  text.u32({v3}).i32({0, 2}).i64({-1, 4});         // V3, no dimension
  text.u64({0});
  Result<ParamsList> list = parseParams(bytesOf(text));
  ASSERT_TRUE(list.isOk()) << list.status().message();
  for (const ParamsArray &array : list->arrays) {
    EXPECT_FALSE(array.isDefined());
    EXPECT_EQ(toDense(array, 100).status().message(),
              "expected an array with data, got an undefined one");
  }
  ASSERT_TRUE(writeParams(folder / "u", list->arrays, false).isOk());
  EXPECT_EQ(contentsOf(folder / "u"), text);
}

TEST(Params, RefusesToWriteWhatAVersionCannotHold) {
  TemporaryFolder folder;
  float value = 1;
  auto failure = [&](ParamsArray array) {
    Status status = writeParams(folder / "a", {&array, 1}, false);
    EXPECT_FALSE(std::filesystem::exists(folder / "a"));
    std::string path = (folder / "a").string() + ": ";
    EXPECT_TRUE(status.message().starts_with(path)) << status.message();
    return status.message().substr(path.size());
  };
  ParamsArray array;
  array.type = {DLC_F32, {}};
  array.values = {DLC_F32, {}, &value};
  EXPECT_EQ(failure(array), "array 0: version 2 cannot express scalars");
  array.type.shape = array.values.shape = {1};
  array.values.data = nullptr;
  EXPECT_EQ(failure(array), "array 0: expected the data of 1xf32, got null");
  array.values.shape = {2};
  array.values.data = &value;
  EXPECT_EQ(failure(array),
            "array 0: expected the blocks of 1xf32, got 2xf32 and 0");
  array.type.shape = array.values.shape = {0, int64_t(1) << 32};
  array.version = ParamsVersion::V0;
  EXPECT_EQ(failure(array), "array 0: version 0 cannot express dimensions of "
                            "more than 32 bits");
  array.layout = ParamsLayout::Csr;
  EXPECT_EQ(failure(array), "array 0: version 0 cannot express sparse arrays");
  array.layout = ParamsLayout(3);
  EXPECT_EQ(failure(array), "array 0: expected a layout of 0 to 2, got 3");
  ParamsArray octets;
  octets.type = {DLC_F8E5M2, {1}};
  octets.values = {DLC_F8E5M2, {1}, &value};
  EXPECT_EQ(failure(octets), "array 0: expected elements that .params files "
                             "have a type for, got f8e5m2");
  ParamsArray undefined;
  undefined.type.shape = {2};
  EXPECT_EQ(failure(undefined), "array 0: version 2 cannot express undefined "
                                "arrays with a shape");
  undefined.version = ParamsVersion::V3;
  undefined.type.shape = {-1, -2};
  EXPECT_EQ(failure(undefined), "array 0: expected a shape of at most 16 "
                                "dimensions, got ?x?xf32");
  ParamsArray twins[2];
  twins[0].name = twins[1].name = "twin";
  EXPECT_EQ(writeParams(folder / "a", twins, true).message(),
            (folder / "a").string() + ": two arrays are named 'twin'");
}

//===----------------------------------------------------------------------===//
// Dictionaries of NNVM and TVM
//===----------------------------------------------------------------------===//

namespace {
/// A dictionary of one tensor, 'w'.
struct Dictionary {
  uint64_t tensorMagic = 0xDD5E40F096B4A13F;
  Shape shape = {2, 2};
  uint8_t kind = 2, bits = 32;
  uint16_t lanes = 1;
  int64_t size = 16;
  uint64_t names = 1, tensors = 1;
  std::string data = std::string(16, '\1');

  Record text() const {
    Record text;
    text.u64({0xF7E58D4F05049CB7, 0, names});
    for (uint64_t i = 0; i < names; ++i)
      text.name("w");
    text.u64({tensors, tensorMagic, 0});
    text.i32({1, 0, int32_t(shape.size())});
    text.put<uint8_t>({kind, bits}).put<uint16_t>({lanes});
    for (int64_t dim : shape)
      text.i64({dim});
    text.i64({size}).append(data);
    return text;
  }
};
} // namespace

TEST(Params, ReadsDictionaries) {
  Record text = Dictionary().text();
  EXPECT_TRUE(isParams(bytesOf(text)));
  Result<ParamsList> list = parseParams(bytesOf(text));
  ASSERT_TRUE(list.isOk()) << list.status().message();
  const ParamsArray *array = list->find("w");
  ASSERT_TRUE(array);
  EXPECT_EQ(array->type.type, DLC_F32);
  EXPECT_EQ(array->type.shape, (Shape{2, 2}));
  EXPECT_EQ(array->version, ParamsVersion::V2);
  EXPECT_EQ(valuesOf<uint32_t>(array->values), std::vector(4, 0x01010101u));
  // As a list of MXNet afterwards.
  TemporaryFolder folder;
  ASSERT_TRUE(writeParams(folder / "d", list->arrays, true).isOk());
  EXPECT_EQ(readParams(folder / "d")->find("w")->type.shape, (Shape{2, 2}));

  Dictionary scalar;
  scalar.shape = {};
  scalar.kind = 0, scalar.bits = 8;
  scalar.size = 1, scalar.data = "\7";
  text = scalar.text();
  list = parseParams(bytesOf(text));
  ASSERT_TRUE(list.isOk()) << list.status().message();
  EXPECT_EQ(list->arrays[0].type.type, DLC_I8);
  EXPECT_EQ(list->arrays[0].version, ParamsVersion::V3);
  EXPECT_EQ(valuesOf<int8_t>(list->arrays[0].values), std::vector<int8_t>{7});
  Record none;
  none.u64({0xF7E58D4F05049CB7, 0, 0, 0});
  EXPECT_EQ(failureOf(none), "");
}

TEST(Params, SaysWhatIsWrongWithADictionary) {
  auto failure = [](auto change) {
    Dictionary dictionary;
    change(dictionary);
    return failureOf(dictionary.text());
  };
  EXPECT_EQ(failureOf(Record().u64({0xF7E58D4F05049CB7, 1, 0, 0})),
            "expected a dictionary of tensors, got other reserved bytes than "
            "0");
  EXPECT_EQ(failureOf(Record().u64({0xF7E58D4F05049CB7, 0, 1ull << 61, 0})),
            "expected 2305843009213693952 names, found 8 bytes");
  EXPECT_EQ(failure([](Dictionary &d) { d.names = 2; }),
            "two arrays are named 'w'");
  EXPECT_EQ(failure([](Dictionary &d) { d.tensors = 2; }),
            "expected 1 tensors, got 2");
  EXPECT_EQ(failure([](Dictionary &d) { d.tensorMagic = 5; }),
            "tensor 'w': expected the magic number of a tensor at byte 41, got "
            "0x0000000000000005");
  EXPECT_EQ(failure([](Dictionary &d) { d.lanes = 4; }),
            "tensor 'w': expected elements of integers or floats, got kind 2 "
            "of 32 bits and 4 lanes");
  EXPECT_EQ(failure([](Dictionary &d) { d.shape = {2, -2}; }),
            "tensor 'w': expected a dimension of at least 0, got -2");
  EXPECT_EQ(failure([](Dictionary &d) { d.shape = {2, int64_t(1) << 62}; }),
            "tensor 'w': expected a number of elements within 64 bits, got "
            "dims 2x4611686018427387904");
  EXPECT_EQ(failure([](Dictionary &d) { d.shape = Shape(17, 1); }),
            "tensor 'w': expected at most 16 dimensions, got 17");
  EXPECT_EQ(failure([](Dictionary &d) { d.size = 12; }),
            "tensor 'w': expected as many bytes as 2x2xf32 has, got 12");
  EXPECT_EQ(failure([](Dictionary &d) { d.data.pop_back(); }),
            "tensor 'w': expected the data of 2x2xf32 at byte 97, found 15 "
            "bytes");
  EXPECT_EQ(failure([](Dictionary &d) { d.data += "x"; }),
            "expected the end after the tensors, found 1 more bytes");
  // Every beginning of a file is a message.
  Record whole = Dictionary().text();
  for (size_t i = 0; i < whole.size(); ++i)
    EXPECT_NE(failureOf(whole.substr(0, i)), "") << i;
}

//===----------------------------------------------------------------------===//
// What nobody should write
//===----------------------------------------------------------------------===//

TEST(Params, SaysWhatIsWrongWithAList) {
  EXPECT_EQ(failureOf(""),
            "not a list of MXNet's arrays: the magic bytes differ");
  EXPECT_EQ(failureOf(Record().u64({0x112, 1, 0, 0})),
            "not a list of MXNet's arrays: the magic bytes differ");
  EXPECT_EQ(failureOf(Record().u64({0x112, 0})),
            "expected the number of arrays at byte 16, found 0 bytes");
  EXPECT_EQ(failureOf(Record().u64({0x112, 0, uint64_t(1) << 60, 0})),
            "expected 1152921504606846976 arrays, found 8 bytes");
  EXPECT_EQ(failureOf(Record().u64({0x112, 0, 0, 2})),
            "expected no names or 0, got 2");
  Record two;
  two.u64({0x112, 0, 2}).u32({0, 0});
  EXPECT_EQ(failureOf(Record(two)),
            "expected the number of names at byte 32, found 0 bytes");
  EXPECT_EQ(failureOf(Record(two).u64({1}).name("a")),
            "expected no names or 2, got 1");
  EXPECT_EQ(failureOf(Record(two).u64({2}).name("a")),
            "expected the length of a name at byte 49, found 0 bytes");
  EXPECT_EQ(failureOf(Record(two).u64({2}).name("a").u64({UINT64_MAX})),
            "expected a name of 18446744073709551615 bytes at byte 57, found "
            "0 bytes");
  EXPECT_EQ(failureOf(Record(two).u64({2}).name("a").name("a")),
            "two arrays are named 'a'");
  std::string odd("\xff\x1b[2J\n\0", 7);
  EXPECT_EQ(failureOf(Record(two).u64({2}).name(odd).name(odd)),
            "two arrays are named '\\xff\\x1b[2J\\x0a\\x00'");
  EXPECT_EQ(failureOf(Record(two).u64({2}).name("a").name("b").u32({0})),
            "expected the end after the names, found 4 more bytes");
  EXPECT_EQ(failureOf(Record(two).u64({2}).name("a").name("b")), "");
}

TEST(Params, SaysWhatIsWrongWithAnArray) {
  EXPECT_EQ(arrayFailureOf(Record().u32({0x4b50})),
            "array 0: expected the magic number of an array at byte 24, got "
            "0x00004b50");
  EXPECT_EQ(arrayFailureOf(Record().u32({17})),
            "array 0: expected at most 16 dimensions, got 17");
  EXPECT_EQ(arrayFailureOf(Record().u32({v2}).i32({3, 0})),
            "array 0: expected a layout of 0 to 2, got 3");
  EXPECT_EQ(arrayFailureOf(Record().u32({v3}).i32({1, 0})),
            "array 0: expected a layout of 0 to 0, got 1");
  EXPECT_EQ(arrayFailureOf(Record().u32({v2}).i32({0, -1})),
            "array 0: expected a rank of 0 to 32, got -1");
  EXPECT_EQ(arrayFailureOf(Record().u32({v1}).i32({1}).i64({-3})),
            "array 0: expected a dimension of at least 0, got -3");
  EXPECT_EQ(
      failureOf(Record().u64({0x112, 0, 1}).u32({v2}).i32({0, 2}).i64({4})),
      "array 0: expected a dimension at byte 44, found 0 bytes");
  Record vector;
  vector.u32({v2}).i32({0, 1}).i64({2}).i32({1, 0});
  EXPECT_EQ(arrayFailureOf(Record(vector).i32({13})),
            "array 0: expected an element type of 0 to 12, got 13");
  EXPECT_EQ(arrayFailureOf(Record(vector).i32({7}).put<uint8_t>({1, 2})),
            "array 0: expected a bool of 0 or 1, got 2");
  EXPECT_EQ(arrayFailureOf(Record(vector).i32({1})),
            "array 0: expected the data of 2xf64 at byte 56, found 8 bytes");
  int64_t terabyte = int64_t(1) << 40;
  EXPECT_EQ(
      arrayFailureOf(
          Record().u32({v2}).i32({0, 2}).i64({terabyte, 4}).i32({1, 0, 1})),
      "array 0: expected the data of 1099511627776x4xf64 at byte 64, found 8 "
      "bytes");
}

// No data stands behind an undefined array's shape or a sparse one's.
TEST(Params, CountsTheElementsOfEveryShape) {
  int64_t half = int64_t(1) << 62;
  const char *message = "array 0: expected a number of elements within 64 "
                        "bits, got dims 4611686018427387904x2";
  Record values, undefined;
  values.u32({v2}).i32({1, 2}).i64({half, 2});
  undefined.u32({v2}).i32({1, 2}).i64({half, 1}).i32({0});
  EXPECT_EQ(arrayFailureOf(Record(values).i32({0})), message);
  EXPECT_EQ(arrayFailureOf(undefined), "");
  Record shape;
  shape.u32({v2}).i32({1, 2}).i64({0, 2}).i32({2}).i64({half, 2});
  shape.i32({1, 0, 0, 6, 1}).i64({0});
  EXPECT_EQ(arrayFailureOf(shape), message);
  Record dense;
  dense.u32({v2}).i32({0, 2}).i64({half, 2}).i32({1, 0, 0});
  EXPECT_EQ(arrayFailureOf(dense), message);
}

namespace {
/// The pieces of a csr record of 2x3xf32 with two elements.
struct CsrText {
  int32_t indexType = 6;
  Shape stored = {2}, startShape = {3}, columnShape = {2};
  Shape starts = {0, 1, 2}, columns = {2, 0};

  Record text() const {
    Record text;
    text.u32({v2}).i32({2});
    putShape(text, stored);
    putShape(text, {2, 3});
    text.i32({1, 0, 0, indexType});
    putShape(text, startShape);
    putShape(text.i32({indexType}), columnShape);
    text.put<float>({1, 2});
    for (int64_t value : starts)
      text.i64({value});
    for (int64_t value : columns)
      text.i64({value});
    return text;
  }
  static void putShape(Record &text, const Shape &shape) {
    text.i32({int32_t(shape.size())});
    for (int64_t dim : shape)
      text.i64({dim});
  }
};
} // namespace

TEST(Params, SaysWhatIsWrongWithACsrMatrix) {
  EXPECT_EQ(arrayFailureOf(CsrText().text()), "");
  CsrText csr;
  csr.indexType = 4;
  csr.starts = {0}, csr.columns = {0, 0}; // As many bytes as i32 has.
  EXPECT_EQ(arrayFailureOf(csr.text()),
            "array 0: expected indices of i64, got i32");
  csr = {};
  csr.starts = {0, 3, 2};
  EXPECT_EQ(arrayFailureOf(csr.text()),
            "array 0: expected rows to start in order, got 2 after 3");
  csr.starts = {0, 1, 1};
  EXPECT_EQ(arrayFailureOf(csr.text()),
            "array 0: expected rows from 0 to 2, got 0 to 1");
  csr.starts = {-1, 1, 2};
  EXPECT_EQ(arrayFailureOf(csr.text()),
            "array 0: expected rows from 0 to 2, got -1 to 2");
  csr.starts = {0, 0, 2};
  EXPECT_EQ(arrayFailureOf(csr.text()),
            "array 0: expected ascending columns below 3, got 0 after 2");
  csr = {};
  csr.columns = {2, 3};
  EXPECT_EQ(arrayFailureOf(csr.text()),
            "array 0: expected ascending columns below 3, got 3 after -1");
  csr.columns = {2, -1};
  EXPECT_EQ(arrayFailureOf(csr.text()),
            "array 0: expected ascending columns below 3, got -1 after -1");
  csr = {};
  csr.startShape = {2}, csr.starts = {0, 2};
  EXPECT_EQ(arrayFailureOf(csr.text()),
            "array 0: expected indices of 3xi64, got 2xi64");
  csr = {};
  csr.columnShape = {1, 2};
  EXPECT_EQ(arrayFailureOf(csr.text()),
            "array 0: expected indices of 2xi64, got 1x2xi64");
  csr = {};
  csr.stored = {1, 2};
  EXPECT_EQ(arrayFailureOf(csr.text()),
            "array 0: expected a matrix and a vector of its elements, got "
            "2x3xf32 and 1x2xf32");
}

TEST(Params, SaysWhatIsWrongWithRows) {
  auto failure = [](Shape stored, Shape rows) {
    Record text;
    text.u32({v2}).i32({1});
    CsrText::putShape(text, stored);
    CsrText::putShape(text, {4, 2});
    text.i32({1, 0, 3, 6});
    CsrText::putShape(text, {int64_t(rows.size())});
    text.append(*elementCount(stored), 'x');
    for (int64_t row : rows)
      text.i64({row});
    return arrayFailureOf(text);
  };
  EXPECT_EQ(failure({2, 2}, {1, 3}), "");
  EXPECT_EQ(failure({2, 2}, {1, 4}),
            "array 0: expected ascending rows below 4, got 4 after 1");
  EXPECT_EQ(failure({2, 2}, {1, 1}),
            "array 0: expected ascending rows below 4, got 1 after 1");
  EXPECT_EQ(failure({2, 2}, {1}),
            "array 0: expected indices of 2xi64, got 1xi64");
  EXPECT_EQ(failure({2, 3}, {1, 2}),
            "array 0: expected rows of 4x2xu8, got 2x3xu8");
  EXPECT_EQ(failure({4}, {0, 1, 2, 3}),
            "array 0: expected rows of 4x2xu8, got 4xu8");
}

TEST(Params, SurvivesTruncationAndMutation) {
  std::mt19937 random(5);
  for (const char *name : {"types", "sparse", "numpy", "v0", "v1"}) {
    std::string whole = contentsOf(samplePath(name));
    for (size_t length = 0; length != whole.size(); ++length)
      ASSERT_NE(failureOf(whole.substr(0, length)), "") << length;
    for (int round = 0; round != 3000; ++round) {
      std::string file = whole;
      for (int i = random() % 4; i >= 0; --i)
        file[random() % file.size()] = static_cast<char>(random());
      (void)failureOf(file);
    }
  }
}
