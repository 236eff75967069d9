// SPDX-License-Identifier: Apache-2.0

#include "dlc/Frontend/ONNX/Reader.h"

#include "Wire.h"

#include <gtest/gtest.h>
#include <random>

using namespace dlc::onnx;
using namespace dlc::onnx::test;
using dlc::rt::StatusCode;

static constexpr int64_t kFloat = 1, kUInt8 = 2, kInt64 = 7, kBool = 9,
                         kFloat16 = 10, kUInt32 = 12, kFloat8 = 17;

static Message tensor(int64_t type, std::initializer_list<int64_t> dims) {
  Message message;
  for (int64_t dim : dims)
    message.integer(1, dim);
  message.integer(2, type).bytes(8, "t");
  return message;
}

/// The message of the failure to decode `message`; "" when it decodes.
static std::string failureOf(const Message &message) {
  auto result = readTensorProto(message.text);
  return result.isOk() ? "" : result.status().message();
}

template <typename T> static std::vector<T> valuesOf(const Message &message) {
  auto result = readTensorProto(message.text);
  EXPECT_TRUE(result.isOk()) << result.status().message();
  if (!result.isOk())
    return {};
  auto *data = reinterpret_cast<const T *>(result->contents.data.data());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % alignof(T), 0u);
  return {data, data + result->contents.data.size() / sizeof(T)};
}

TEST(ReaderTest, DecodesPackedAndUnpackedFields) {
  Message packed = tensor(kInt64, {3});
  packed.bytes(7, Message().varint(1).varint(300).varint(uint64_t(-1)).text);
  EXPECT_EQ(valuesOf<int64_t>(packed), (std::vector<int64_t>{1, 300, -1}));

  Message unpacked = tensor(kInt64, {3});
  unpacked.integer(7, 1).integer(7, 300).integer(7, -1);
  EXPECT_EQ(valuesOf<int64_t>(unpacked), (std::vector<int64_t>{1, 300, -1}));

  Message mixed = tensor(kFloat, {3});
  float pair[2] = {1.5f, -2.f};
  mixed.bytes(4, std::string_view(reinterpret_cast<char *>(pair), 8));
  mixed.fixed32(4, 7.f);
  EXPECT_EQ(valuesOf<float>(mixed), (std::vector<float>{1.5f, -2.f, 7.f}));
}

TEST(ReaderTest, NarrowsValuesOfInt32Data) {
  Message halves = tensor(kFloat16, {2});
  halves.integer(5, 0x3c00).integer(5, 0xc000);
  EXPECT_EQ(valuesOf<uint16_t>(halves),
            (std::vector<uint16_t>{0x3c00, 0xc000}));
  Message bools = tensor(kBool, {3});
  bools.integer(5, 0).integer(5, 1).integer(5, 7);
  EXPECT_EQ(valuesOf<uint8_t>(bools), (std::vector<uint8_t>{0, 1, 1}));
  Message unsigned32 = tensor(kUInt32, {1});
  unsigned32.integer(11, 0xffffffff);
  EXPECT_EQ(valuesOf<uint32_t>(unsigned32),
            (std::vector<uint32_t>{0xffffffffu}));
}

TEST(ReaderTest, ViewsAlignedRawDataAndCopiesTheRest) {
  Message message = tensor(kFloat, {2});
  message.bytes(9, std::string(8, '\x11'));
  // Place the payload at every alignment in turn.
  int views = 0, copies = 0;
  for (size_t shift = 0; shift < 4; ++shift) {
    std::vector<uint64_t> storage(message.text.size() / 8 + 2);
    char *begin = reinterpret_cast<char *>(storage.data()) + shift;
    std::memcpy(begin, message.text.data(), message.text.size());
    auto result = readTensorProto({begin, message.text.size()});
    ASSERT_TRUE(result.isOk());
    auto *data = reinterpret_cast<const char *>(result->contents.data.data());
    bool isView = data >= begin && data < begin + message.text.size();
    (isView ? views : copies) += 1;
    EXPECT_EQ(isView, result->contents.owner == nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 4, 0u);
    EXPECT_EQ(std::memcmp(data, std::string(8, '\x11').data(), 8), 0);
  }
  EXPECT_EQ(views, 1);
  EXPECT_EQ(copies, 3);
}

TEST(ReaderTest, CleansRawBools) {
  Message message = tensor(kBool, {3});
  message.bytes(9, std::string_view("\x00\x02\x01", 3));
  EXPECT_EQ(valuesOf<uint8_t>(message), (std::vector<uint8_t>{0, 1, 1}));
}

TEST(ReaderTest, AcceptsScalarsAndEmptyTensors) {
  EXPECT_EQ(valuesOf<int64_t>(tensor(kInt64, {}).integer(7, 5)),
            (std::vector<int64_t>{5}));
  EXPECT_TRUE(valuesOf<float>(tensor(kFloat, {2, 0, 3})).empty());
  EXPECT_TRUE(valuesOf<float>(tensor(kFloat, {0}).bytes(9, "")).empty());
}

TEST(ReaderTest, RefusesWrongSizes) {
  EXPECT_EQ(failureOf(tensor(kFloat, {2}).bytes(9, "1234")),
            "tensor 't': expected 8 bytes of data for 2xf32, got 4");
  EXPECT_EQ(failureOf(tensor(kInt64, {2}).integer(7, 1)),
            "expected 2 values in int64_data of tensor 't', got at most 1");
  EXPECT_EQ(failureOf(tensor(kInt64, {1}).integer(7, 1).integer(7, 1)),
            "expected 1 well-formed values in int64_data of tensor 't', got "
            "others or more");
  EXPECT_EQ(failureOf(tensor(kFloat, {2, -1}).bytes(9, "")),
            "expected dims of tensor 't' that are not negative, got -1");
  EXPECT_EQ(failureOf(tensor(kFloat, {int64_t(1) << 40, int64_t(1) << 40})),
            "expected a size of tensor 't' within 64 bits, got dims "
            "1099511627776x1099511627776xf32");
  // No element at all may not ask for an allocation of this size.
  EXPECT_EQ(failureOf(tensor(kUInt8, {int64_t(1) << 60})),
            "expected 1152921504606846976 values in int32_data of tensor 't', "
            "got at most 0");
}

TEST(ReaderTest, RefusesOtherElementTypesAndFields) {
  auto result = readTensorProto(tensor(kFloat8, {1}).text);
  ASSERT_FALSE(result.isOk());
  EXPECT_EQ(result.status().code(), StatusCode::Unsupported);
  EXPECT_EQ(result.status().message(),
            "unsupported: element type FLOAT8E4M3FN of tensor 't'");
  EXPECT_EQ(failureOf(tensor(99, {1})),
            "unsupported: element type type 99 of tensor 't'");
  EXPECT_EQ(failureOf(tensor(kFloat, {1}).integer(7, 1)),
            "expected elements of tensor 't' of type FLOAT in float_data "
            "alone");
  EXPECT_EQ(failureOf(tensor(kFloat, {1}).bytes(9, "1234").fixed32(4, 1)),
            "expected elements of tensor 't' in one field, found raw_data and "
            "a typed field");
  EXPECT_EQ(failureOf(tensor(kFloat, {1}).integer(14, 1)),
            "expected the elements of tensor 't' in the message, found a "
            "reference to a file");
}

TEST(ReaderTest, RefusesMalformedWire) {
  EXPECT_EQ(failureOf(Message().key(9, 2).varint(100).raw("x")),
            "malformed protobuf: expected a length within the message, found "
            "one past its end at byte 2, field 9 of TensorProto");
  // 2^32 + 1 must not be cut to 1.
  EXPECT_NE(failureOf(Message().key(9, 2).varint((1ull << 32) + 1).raw("x")),
            "");
  EXPECT_EQ(failureOf(Message().raw("\x80\x80")),
            "malformed protobuf: expected a varint, found the end of the "
            "message at byte 2, field 0 of TensorProto");
  EXPECT_NE(failureOf(Message().raw(std::string(11, '\xff'))), "");
  EXPECT_EQ(failureOf(Message().key(9, 0).varint(1)),
            "malformed protobuf: unexpected wire type at byte 1, field 9 of "
            "TensorProto");
  EXPECT_NE(failureOf(Message().key(77, 3)), ""); // A group.
  EXPECT_NE(failureOf(Message().key(0, 0).varint(1)), "");
  // Unknown fields of the four other wire types are skipped.
  Message unknown = tensor(kFloat, {0});
  unknown.integer(77, 1).bytes(78, "x").fixed32(79, 1);
  unknown.key(80, 1).raw("12345678");
  EXPECT_EQ(failureOf(unknown), "");
}

TEST(ReaderTest, ReadsAModelWithoutDecodingNestedGraphs) {
  Message attribute;
  attribute.bytes(1, "then_branch").integer(20, 5).bytes(6, "\xff\xff");
  Message node;
  node.bytes(1, "c").bytes(2, "y").bytes(4, "If").bytes(5, attribute);
  Message graph;
  graph.bytes(1, node).bytes(2, "g");
  Message model;
  model.integer(1, 8).bytes(7, graph);
  model.bytes(8, Message().bytes(1, "").integer(2, 13));
  auto result = readModel(model.text);
  ASSERT_TRUE(result.isOk()) << result.status().message();
  EXPECT_EQ(result->irVersion, 8);
  ASSERT_EQ(result->graph.nodes.size(), 1u);
  const Attribute &branch = result->graph.nodes[0].attributes.at(0);
  EXPECT_EQ(branch.kind, AttributeKind::Graph);
  EXPECT_FALSE(readGraph(branch.graph).isOk());
}

TEST(ReaderTest, SurvivesEveryTruncationAndNoise) {
  Message node;
  node.bytes(1, "x").bytes(2, "y").bytes(4, "Relu");
  Message shape;
  shape.bytes(1, Message().integer(1, 3)).bytes(1, Message().bytes(2, "n"));
  Message type;
  type.bytes(1, Message().integer(1, 1).bytes(2, shape));
  Message graph;
  graph.bytes(1, node).bytes(11, Message().bytes(1, "x").bytes(2, type));
  graph.bytes(5, tensor(kFloat, {1}).fixed32(4, 1));
  std::string model = Message().integer(1, 8).bytes(7, graph).text;
  ASSERT_TRUE(readModel(model).isOk());
  size_t refused = 0;
  for (size_t length = 0; length < model.size(); ++length) {
    // A heap copy of the exact size, so that a sanitizer sees overreads.
    std::vector<char> cut(model.begin(), model.begin() + length);
    refused += !readModel({cut.data(), cut.size()}).isOk();
  }
  EXPECT_GE(refused, model.size() - 4); // Cuts between fields are messages.

  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    std::vector<char> noisy(model.begin(), model.end());
    for (int i = 0; i < 3; ++i)
      noisy[random() % noisy.size()] = static_cast<char>(random());
    (void)readModel({noisy.data(), noisy.size()}).isOk();
  }
}
