// SPDX-License-Identifier: Apache-2.0
//
// Writes protobuf messages by hand, well-formed ones and others.

#ifndef DLC_TEST_FRONTEND_ONNX_WIRE_H
#define DLC_TEST_FRONTEND_ONNX_WIRE_H

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace dlc::onnx::test {

class Message {
public:
  Message &integer(uint32_t field, int64_t value) {
    key(field, 0);
    varint(static_cast<uint64_t>(value));
    return *this;
  }
  Message &bytes(uint32_t field, std::string_view value) {
    key(field, 2);
    varint(value.size());
    text += value;
    return *this;
  }
  Message &bytes(uint32_t field, const Message &value) {
    return bytes(field, value.text);
  }
  Message &fixed32(uint32_t field, float value) {
    key(field, 5);
    text.append(reinterpret_cast<const char *>(&value), sizeof(value));
    return *this;
  }
  Message &key(uint32_t field, uint32_t wireType) {
    varint(uint64_t(field) << 3 | wireType);
    return *this;
  }
  Message &varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7)
      text += static_cast<char>(value | 0x80);
    text += static_cast<char>(value);
    return *this;
  }
  Message &raw(std::string_view value) {
    text += value;
    return *this;
  }
  std::string text;
};

/// A KeyValue entry of TensorProto.external_data.
inline Message keyValue(std::string_view key, std::string_view value) {
  return Message().bytes(1, key).bytes(2, value);
}

} // namespace dlc::onnx::test

#endif // DLC_TEST_FRONTEND_ONNX_WIRE_H
