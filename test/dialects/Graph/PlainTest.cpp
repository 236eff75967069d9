// SPDX-License-Identifier: Apache-2.0
//
// Types, attributes and constants go to plain data and back.

#include "dlc/dialects/Graph/Plain.h"
#include "dlc/dialects/Graph/GraphOps.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace dlc;
using namespace dlc::graph;

namespace {
struct Plain : testing::Test {
  Plain() { context.loadDialect<GraphDialect>(); }

  RankedTensorType type(ArrayRef<int64_t> shape, rt::DataType element) {
    return RankedTensorType::get(shape, toElementType(&context, element));
  }

  MLIRContext context;
  Builder builder{&context};
};
} // namespace

TEST_F(Plain, EveryElementTypeGoesAndComesBack) {
  for (int id = DLC_BOOL; id <= DLC_F64; ++id) {
    auto data = static_cast<rt::DataType>(id);
    Type element = toElementType(&context, data);
    ASSERT_TRUE(element) << id;
    EXPECT_EQ(toDataType(element), data);
  }
  EXPECT_EQ(toDataType(builder.getIntegerType(4)), DLC_INVALID_TYPE);
  EXPECT_EQ(toDataType(builder.getIntegerType(8, true)), DLC_INVALID_TYPE);
  EXPECT_EQ(toDataType(builder.getIndexType()), DLC_INVALID_TYPE);
  EXPECT_FALSE(toElementType(&context, DLC_INVALID_TYPE));
}

TEST_F(Plain, TensorTypesKeepWhatIsUnknown) {
  for (Type each :
       {Type(type({2, ShapedType::kDynamic}, DLC_U8)), Type(type({}, DLC_F32)),
        Type(UnrankedTensorType::get(builder.getI64Type())),
        Type(builder.getNoneType())})
    EXPECT_EQ(fromTensorType(&context, toTensorType(each)), each);
}

TEST_F(Plain, AttributesBecomePlain) {
  auto dictionary = builder.getDictionaryAttr({
      builder.getNamedAttr("flag", builder.getBoolAttr(true)),
      builder.getNamedAttr("axis", builder.getI64IntegerAttr(-1)),
      builder.getNamedAttr("alpha", builder.getF32FloatAttr(0.5f)),
      builder.getNamedAttr("mode", builder.getStringAttr("edge")),
      builder.getNamedAttr("to", TypeAttr::get(builder.getI64Type())),
      builder.getNamedAttr("pads", builder.getDenseI64ArrayAttr({1, 2})),
      builder.getNamedAttr("weights", builder.getDenseF32ArrayAttr({1.5f})),
      builder.getNamedAttr("other.note", builder.getI64IntegerAttr(7)),
      builder.getNamedAttr("unit", builder.getUnitAttr()),
  });
  rt::Attributes plain = toAttributes(dictionary);
  EXPECT_EQ(plain.size(), 7u);
  EXPECT_EQ(plain.getInt("flag"), 1);
  EXPECT_EQ(plain.getInt("axis"), -1);
  EXPECT_EQ(plain.getFloat("alpha"), 0.5);
  EXPECT_EQ(plain.getString("mode"), "edge");
  EXPECT_EQ(plain.getInt("to"), DLC_I64);
  ASSERT_EQ(plain.getInts("pads").size(), 2u);
  EXPECT_EQ(plain.getInts("pads")[1], 2);
  ASSERT_EQ(plain.getFloats("weights").size(), 1u);
  EXPECT_EQ(plain.getFloats("weights")[0], 1.5);
}

TEST_F(Plain, BooleansTakeOneByte) {
  SmallVector<bool> values{true,  false, true, true, false,
                           false, false, true, true};
  auto dense = DenseElementsAttr::get(type({9}, DLC_BOOL), values);
  RawElements raw = RawElements::get(dense);
  ASSERT_TRUE(raw);
  ASSERT_EQ(raw.data().size(), 9u);
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(raw.data()[i], values[i]) << i;
  EXPECT_EQ(makeElements(type({9}, DLC_BOOL), raw.data()), dense);
}

TEST_F(Plain, SplatsAreRepeatedOrKept) {
  auto dense = DenseElementsAttr::get(type({3}, DLC_F32), 2.5f);
  EXPECT_EQ(RawElements::get(dense, true).data().size(), 4u);
  EXPECT_TRUE(RawElements::get(dense, true).isSplat());
  RawElements raw = RawElements::get(dense);
  ASSERT_EQ(raw.data().size(), 12u);
  EXPECT_FALSE(raw.isSplat());
  EXPECT_EQ(makeElements(type({3}, DLC_F32), raw.data()), dense);
  // 4 PiB: one element is known, all of them are not.
  auto huge = DenseElementsAttr::get(type({1ll << 50}, DLC_F32), 2.5f);
  EXPECT_EQ(RawElements::get(huge, true).data().size(), 4u);
  EXPECT_FALSE(RawElements::get(huge));
  auto flags = DenseElementsAttr::get(type({3}, DLC_BOOL), true);
  EXPECT_EQ(RawElements::get(flags).data(),
            ArrayRef<char>({char(1), char(1), char(1)}));
}

TEST_F(Plain, LargeConstantsAreBorrowed) {
  std::vector<float> weights(1024);
  for (size_t i = 0; i < weights.size(); ++i)
    weights[i] = static_cast<float>(i);
  ArrayRef<char> bytes(reinterpret_cast<char *>(weights.data()),
                       weights.size() * sizeof(float));
  ElementsAttr elements =
      makeBorrowedElements(type({32, 32}, DLC_F32), bytes, "w");
  ASSERT_TRUE(isa<DenseResourceElementsAttr>(elements));
  EXPECT_EQ(RawElements::get(elements).data().data(), bytes.data());
  // Two of one name live side by side.
  ElementsAttr other =
      makeBorrowedElements(type({32, 32}, DLC_F32), bytes, "w");
  EXPECT_NE(elements, other);
  // Small or uniform ones are dense.
  EXPECT_TRUE(isa<DenseElementsAttr>(
      makeBorrowedElements(type({2}, DLC_F32), bytes.take_front(8), "s")));
  std::vector<float> ones(1024, 1.0f);
  ElementsAttr splat = makeBorrowedElements(
      type({1024}, DLC_F32),
      ArrayRef<char>(reinterpret_cast<char *>(ones.data()), 4096), "ones");
  EXPECT_TRUE(splat.isSplat());
}

TEST_F(Plain, IntegersAreReadWithTheirSign) {
  auto narrow = DenseElementsAttr::get(
      type({2}, DLC_I8), ArrayRef<int8_t>({int8_t(-3), int8_t(5)}));
  EXPECT_EQ(*getInts(narrow), (SmallVector<int64_t>{-3, 5}));
  auto bytes = DenseElementsAttr::get(type({1}, DLC_U8),
                                      ArrayRef<uint8_t>({uint8_t(255)}));
  EXPECT_EQ(*getInts(bytes), (SmallVector<int64_t>{255}));
  EXPECT_FALSE(getInts(DenseElementsAttr::get(type({1}, DLC_F32), 1.0f)));
  EXPECT_FALSE(getInts(makeInts(&context, {1, 2, 3}), 2));
}
