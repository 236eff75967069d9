// SPDX-License-Identifier: Apache-2.0
//
// The protobuf wire format, one message at a time. Unlike protozero's
// pbf_reader it takes 64-bit lengths (that one cuts them to 32 bits), reports
// a wire type that does not fit instead of asserting, and throws nothing.

#ifndef DLC_LIB_FRONTEND_ONNX_WIREREADER_H
#define DLC_LIB_FRONTEND_ONNX_WIREREADER_H

#include "dlc/runtime/Base/Status.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace dlc::onnx {

/// Where a message begins, for offsets in messages: the whole buffer.
struct WireBuffer {
  std::string_view bytes;
  size_t offsetOf(const char *position) const {
    return static_cast<size_t>(position - bytes.data());
  }
};

/// Reads the fields of one message. The first failure sticks: next() then
/// answers false, getters answer empty values, and status() tells why.
class WireReader {
public:
  WireReader(const WireBuffer &buffer, std::string_view message,
             const char *what)
      : buffer(buffer), position(message.data()),
        end(message.data() + message.size()), what(what) {}

  /// Moves to the next field; false at the end or after a failure.
  bool next();
  uint32_t field() const { return number; }

  // Each getter consumes the value of the current field.
  int64_t getInt();
  float getFloat();
  std::string_view getBytes();
  void skip();

  /// Repeated scalars, packed or not.
  void getInts(std::vector<int64_t> &values);
  void getFloats(std::vector<float> &values);
  /// The encoding of repeated scalars of the given wire type, packed or not.
  void getChunk(uint32_t scalarType, std::vector<std::string_view> &chunks);

  /// Takes over the failure of a nested message, if it failed.
  void absorb(rt::Status nested) {
    if (failure.isOk())
      failure = std::move(nested);
  }

  bool isOk() const { return failure.isOk(); }
  rt::Status takeStatus() { return std::move(failure); }

  static constexpr uint32_t kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5;

private:
  bool expect(uint32_t type);
  bool readVarint(uint64_t &value);
  std::string_view take(uint64_t count);
  void fail(const char *reason);

  const WireBuffer &buffer;
  const char *position;
  const char *end;
  const char *what; ///< Message name for diagnostics: "TensorProto".
  uint32_t number = 0;
  uint32_t wireType = 0;
  rt::Status failure;
};

} // namespace dlc::onnx

#endif // DLC_LIB_FRONTEND_ONNX_WIREREADER_H
