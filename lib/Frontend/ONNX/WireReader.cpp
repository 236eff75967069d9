// SPDX-License-Identifier: Apache-2.0

#include "WireReader.h"

#include <bit>
#include <cstring>

using namespace dlc::onnx;
using dlc::rt::makeError;
using dlc::rt::StatusCode;

static_assert(std::endian::native == std::endian::little,
              "values are read in place");

void WireReader::fail(const char *reason) {
  if (!failure.isOk())
    return;
  failure = makeError(StatusCode::DataLoss,
                      "malformed protobuf: %s at byte %zu, field %u of %s",
                      reason, buffer.offsetOf(position), number, what);
}

bool WireReader::readVarint(uint64_t &value) {
  value = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    if (position == end) {
      fail("expected a varint, found the end of the message");
      return false;
    }
    uint8_t byte = static_cast<uint8_t>(*position++);
    if (shift == 63 && byte > 1)
      break;
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (!(byte & 0x80))
      return true;
  }
  fail("expected a varint of 64 bits, found a longer one");
  return false;
}

std::string_view WireReader::take(uint64_t count) {
  if (count > static_cast<uint64_t>(end - position)) {
    fail("expected a length within the message, found one past its end");
    return {};
  }
  std::string_view bytes(position, count);
  position += count;
  return bytes;
}

bool WireReader::next() {
  if (!isOk() || position == end)
    return false;
  number = 0;
  uint64_t key = 0;
  if (!readVarint(key))
    return false;
  if (key >> 3 == 0 || key >> 3 > 0x1fffffff) {
    fail("expected a field number from 1 to 536870911");
    return false;
  }
  number = static_cast<uint32_t>(key >> 3);
  wireType = key & 7;
  return true;
}

bool WireReader::expect(uint32_t type) {
  if (!isOk())
    return false;
  if (wireType == type)
    return true;
  fail("unexpected wire type");
  return false;
}

int64_t WireReader::getInt() {
  uint64_t value = 0;
  if (!expect(kVarint) || !readVarint(value))
    return 0;
  return static_cast<int64_t>(value);
}

float WireReader::getFloat() {
  if (!expect(kFixed32))
    return 0;
  float value = 0;
  std::string_view bytes = take(sizeof(value));
  if (bytes.size() == sizeof(value))
    std::memcpy(&value, bytes.data(), sizeof(value));
  return value;
}

std::string_view WireReader::getBytes() {
  uint64_t length = 0;
  if (!expect(kBytes) || !readVarint(length))
    return {};
  return take(length);
}

void WireReader::skip() {
  uint64_t ignored = 0;
  switch (wireType) {
  case kVarint:
    readVarint(ignored);
    return;
  case kFixed64:
    take(8);
    return;
  case kBytes:
    getBytes();
    return;
  case kFixed32:
    take(4);
    return;
  default:
    fail("unexpected wire type");
  }
}

void WireReader::getInts(std::vector<int64_t> &values) {
  if (wireType != kBytes) {
    values.push_back(getInt());
    return;
  }
  std::string_view packed = getBytes();
  const char *outerEnd = end;
  position = packed.data();
  end = packed.data() + packed.size();
  uint64_t value = 0;
  while (isOk() && position != end && readVarint(value))
    values.push_back(static_cast<int64_t>(value));
  end = outerEnd;
}

void WireReader::getFloats(std::vector<float> &values) {
  if (wireType != kBytes) {
    values.push_back(getFloat());
    return;
  }
  std::string_view packed = getBytes();
  if (packed.size() % sizeof(float) != 0) {
    fail("expected packed floats of 4 bytes each");
    return;
  }
  size_t first = values.size();
  values.resize(first + packed.size() / sizeof(float));
  if (!packed.empty())
    std::memcpy(values.data() + first, packed.data(), packed.size());
}

void WireReader::getChunk(uint32_t scalarType,
                          std::vector<std::string_view> &chunks) {
  if (wireType == kBytes) {
    chunks.push_back(getBytes());
    return;
  }
  if (!expect(scalarType))
    return;
  const char *begin = position;
  skip();
  chunks.emplace_back(begin, static_cast<size_t>(position - begin));
}
