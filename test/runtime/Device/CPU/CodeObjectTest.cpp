// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Device/CPU/CodeObject.h"

#include <cstring>
#include <gtest/gtest.h>
#include <vector>

using namespace dlc::rt;

TEST(CodeObject, RefusesWhatIsNoObject) {
  std::vector<std::byte> bytes(100);
  Result<CodeObject> object = CodeObject::load(bytes);
  ASSERT_FALSE(object.isOk());
  EXPECT_EQ(object.status().message(), "the object is not an ELF file");
  std::memcpy(bytes.data(), "\177ELF", 4); // And nothing behind it.
  object = CodeObject::load(bytes);
  ASSERT_FALSE(object.isOk());
  EXPECT_EQ(object.status().code(), StatusCode::DataLoss);
  EXPECT_TRUE(
      object.status().message().starts_with("cannot load the object: "));
}
