// SPDX-License-Identifier: Apache-2.0
//
// The .npy format: a magic string, a version, a Python dictionary as text, and
// the bytes (numpy/lib/format.py).

#include "Npy.h"
#include "Elements.h"

#include "dlc/runtime/Base/ByteReader.h"
#include "dlc/runtime/Base/File.h"
#include "dlc/runtime/Base/Names.h"

#include <algorithm>
#include <charconv>
#include <cinttypes>
#include <cstring>

using namespace dlc::rt;

static constexpr std::string_view magic = "\x93NUMPY";

namespace {

/// NumPy's name of an element type, without the byte order.
struct TypeName {
  std::string_view name;
  DataType type;
};

/// What the header says.
struct Header {
  std::string descr;
  bool isColumnMajor = false;
  std::vector<int64_t> shape;
  DataType type = DLC_F32;
  TextForm form = {}; ///< Of text.
};

/// Reads the dictionary: {'descr': '<f4', 'fortran_order': False,
/// 'shape': (2, 3), }. Keys come in any order, once each.
class HeaderParser {
public:
  HeaderParser(std::string_view text, uint8_t version)
      : rest(text), isPython2(version < 3) {}
  Status parse(Header &header);

private:
  void skipSpace();
  bool take(std::string_view token);
  bool takeString(std::string_view &value);
  bool takeBool(bool &value);
  Status takeShape(std::vector<int64_t> &shape);
  Status takeEntry(Header &header, unsigned &seen);

  std::string_view rest;
  const bool isPython2; ///< May be written by it.
};

} // namespace

static constexpr TypeName typeNames[] = {
    {"b1", DLC_BOOL}, {"i1", DLC_I8},  {"i2", DLC_I16},  {"i4", DLC_I32},
    {"i8", DLC_I64},  {"u1", DLC_U8},  {"u2", DLC_U16},  {"u4", DLC_U32},
    {"u8", DLC_U64},  {"f2", DLC_F16}, {"V2", DLC_BF16}, {"f4", DLC_F32},
    {"f8", DLC_F64},  {"c8", DLC_C64}, {"c16", DLC_C128}};

static Status malformed(const char *what) {
  return makeError(StatusCode::DataLoss, "not an .npy file: %s", what);
}

//===----------------------------------------------------------------------===//
// The header
//===----------------------------------------------------------------------===//

void HeaderParser::skipSpace() {
  while (!rest.empty() && (rest[0] == ' ' || rest[0] == '\n'))
    rest.remove_prefix(1);
}

bool HeaderParser::take(std::string_view token) {
  skipSpace();
  if (!rest.starts_with(token))
    return false;
  rest.remove_prefix(token.size());
  return true;
}

bool HeaderParser::takeString(std::string_view &value) {
  skipSpace();
  if (rest.empty() || (rest[0] != '\'' && rest[0] != '"'))
    return false;
  size_t end = rest.find(rest[0], 1);
  if (end == std::string_view::npos)
    return false;
  value = rest.substr(1, end - 1);
  rest.remove_prefix(end + 1);
  return true;
}

bool HeaderParser::takeBool(bool &value) {
  value = take("True");
  return value || take("False");
}

/// A tuple of sizes, which NumPy on Python 2 wrote as (2L, 3L).
Status HeaderParser::takeShape(std::vector<int64_t> &shape) {
  skipSpace();
  size_t end = rest.find_first_of(")}\n");
  std::string_view all = rest.substr(0, end == rest.npos ? end : end + 1);
  auto refuse = [all] {
    return makeError(StatusCode::DataLoss,
                     "not an .npy file: expected a tuple of sizes of at least "
                     "0 as 'shape', got %s",
                     toPrintable(all).c_str());
  };
  if (!take("("))
    return refuse();
  while (!take(")")) {
    skipSpace();
    int64_t dim;
    auto [after, error] =
        std::from_chars(rest.data(), rest.data() + rest.size(), dim);
    if (error != std::errc() || dim < 0)
      return refuse();
    rest.remove_prefix(after - rest.data());
    if (isPython2 && rest.starts_with('L'))
      rest.remove_prefix(1);
    shape.push_back(dim);
    if (!take(",") && (skipSpace(), !rest.starts_with(")")))
      return refuse();
  }
  return Status::ok();
}

Status HeaderParser::takeEntry(Header &header, unsigned &seen) {
  auto refuse = [] {
    return malformed("expected 'descr', 'fortran_order' and 'shape'");
  };
  std::string_view key, descr;
  if (!takeString(key) || !take(":"))
    return refuse();
  unsigned bit = key == "descr" ? 1 : key == "fortran_order" ? 2 : 4;
  if ((bit == 4 && key != "shape") || (seen & bit))
    return refuse();
  seen |= bit;
  if (bit == 2)
    return takeBool(header.isColumnMajor) ? Status::ok() : refuse();
  if (bit == 4)
    return takeShape(header.shape);
  if (!takeString(descr))
    return refuse();
  header.descr = descr;
  return Status::ok();
}

Status HeaderParser::parse(Header &header) {
  unsigned seen = 0;
  if (!take("{"))
    return malformed("expected a dictionary");
  while (!take("}")) {
    if (take("'descr': ["))
      return makeError(StatusCode::Unsupported,
                       "arrays of structures are not supported");
    DLC_RETURN_IF_ERROR(takeEntry(header, seen));
    if (!take(",") && (skipSpace(), !rest.starts_with("}")))
      return malformed("expected a comma between entries");
  }
  skipSpace();
  if (seen != 7 || !rest.empty())
    return malformed("expected 'descr', 'fortran_order' and 'shape'");
  return Status::ok();
}

/// The type, and for text its form.
static Status parseType(std::string_view descr, DataType &type,
                        TextForm &form) {
  bool hasOrder = !descr.empty() && std::string_view("<|>=").find(descr[0]) !=
                                        std::string_view::npos;
  std::string_view name = hasOrder ? descr.substr(1) : descr;
  auto entry = std::ranges::find(typeNames, name, &TypeName::name);
  std::optional<TextForm> known = textFormOf(name);
  if (entry == std::end(typeNames) && !known)
    return makeError(StatusCode::Unsupported,
                     "element type '%s' is not supported",
                     toPrintable(descr).c_str());
  if (descr[0] == '>' && (known ? known->isUnicode : sizeOf(entry->type) > 1))
    return makeError(StatusCode::Unsupported,
                     "expected little-endian data, got '%s'",
                     toPrintable(descr).c_str());
  type = known ? DLC_TEXT : entry->type;
  form = known.value_or(TextForm());
  return Status::ok();
}

/// Splits a file into its version, the header's text and the data.
static Status splitFile(ByteReader file, uint8_t &version,
                        std::string_view &text,
                        std::span<const std::byte> &data) {
  std::string_view start;
  uint8_t minor;
  if (!file.take(magic.size(), start) || start != magic ||
      !file.read(version, minor))
    return malformed(start.starts_with("PK")
                         ? "the magic bytes are those of an .npz file"
                         : "the magic bytes differ");
  if (version < 1 || version > 3)
    return makeError(StatusCode::Unsupported,
                     "expected .npy format 1 to 3, got %d", version);
  uint16_t shortLength;
  uint32_t length = 0;
  bool hasLength = version == 1 ? file.read(shortLength) : file.read(length);
  if (version == 1 && hasLength)
    length = shortLength;
  if (!hasLength || !file.take(length, text))
    return malformed("it ends in the header");
  file.take(file.remaining(), data);
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Copies column-major data of `shape` into row-major order.
static void copyColumnMajor(std::span<const int64_t> shape, size_t element,
                            const std::byte *source, std::byte *target) {
  // Walks the target in order; `offset` is the element's place in the source.
  std::vector<int64_t> index(shape.size(), 0), stride(shape.size(), 1);
  for (size_t i = 1; i < shape.size(); ++i)
    stride[i] = stride[i - 1] * shape[i - 1];
  int64_t offset = 0;
  while (true) {
    std::memcpy(target, source + offset * element, element);
    target += element;
    size_t dim = shape.size();
    while (dim != 0 && index[dim - 1] + 1 == shape[dim - 1]) {
      --dim;
      offset -= index[dim] * stride[dim];
      index[dim] = 0;
    }
    if (dim == 0)
      return;
    ++index[dim - 1];
    offset += stride[dim - 1];
  }
}

static Result<AlignedBuffer> copyRows(std::span<const std::byte> data,
                                      size_t element, const Header &header,
                                      const BufferAllocator &allocate) {
  Result<AlignedBuffer> buffer = allocate(data.size());
  if (!buffer.isOk() || data.empty())
    return buffer;
  if (header.isColumnMajor)
    copyColumnMajor(header.shape, element, data.data(), buffer->data());
  else
    std::memcpy(buffer->data(), data.data(), data.size());
  return buffer;
}

static Status readElements(std::span<const std::byte> data, Header &&header,
                           const BufferAllocator &allocate,
                           HostTensor &tensor) {
  DLC_RETURN_IF_ERROR(checkElements(tensor.type, data, StatusCode::DataLoss));
  Result<AlignedBuffer> buffer =
      copyRows(data, sizeOf(tensor.type), header, allocate);
  if (!buffer.isOk())
    return std::move(buffer.status());
  tensor.shape = std::move(header.shape);
  tensor.data = std::move(*buffer);
  return Status::ok();
}

static Status readTextElements(std::span<const std::byte> data, Header &&header,
                               HostTensor &tensor) {
  TextForm form = header.form;
  size_t count = *elementCount(header.shape);
  // A few bytes of a file could claim any number of empty texts.
  if (form.width == 0 && count != 0)
    return makeError(StatusCode::Unsupported,
                     "expected texts of some width, got '%s'",
                     toPrintable(header.descr).c_str());
  AlignedBuffer rows;
  if (header.isColumnMajor) {
    Result<AlignedBuffer> buffer =
        copyRows(data, form.width, header, AlignedBuffer::allocate);
    if (!buffer.isOk())
      return std::move(buffer.status());
    rows = std::move(*buffer);
    data = rows.bytes();
  }
  tensor.texts.reset(new (std::nothrow) Text[count]);
  if (!tensor.texts)
    return makeError(StatusCode::OutOfMemory, "no memory for %zu texts", count);
  tensor.shape = std::move(header.shape);
  return readTexts(form, data, {tensor.texts.get(), count});
}

/// Reads a header that a file of `size` bytes starts with, and checks it
/// against that. `data` is what lies behind it in `bytes`.
static Status readHeader(std::span<const std::byte> bytes, uint64_t size,
                         ElementKinds kinds, Header &header,
                         std::span<const std::byte> &data) {
  std::string_view text;
  uint8_t version;
  DLC_RETURN_IF_ERROR(splitFile(ByteReader(bytes), version, text, data));
  DLC_RETURN_IF_ERROR(HeaderParser(text, version).parse(header));
  DLC_RETURN_IF_ERROR(parseType(header.descr, header.type, header.form));
  if (header.type == DLC_TEXT && kinds != ElementKinds::All)
    return makeError(StatusCode::Unsupported,
                     "expected elements that are no text, got '%s'",
                     toPrintable(header.descr).c_str());
  if (header.shape.size() > DLC_MAX_RANK)
    return makeError(StatusCode::Unsupported,
                     "expected at most %d dimensions, got %zu", DLC_MAX_RANK,
                     header.shape.size());
  std::optional<int64_t> count = elementCount(header.shape);
  size_t element =
      header.type == DLC_TEXT ? header.form.width : sizeOf(header.type);
  uint64_t found = size - (bytes.size() - data.size()), expected;
  if (!count || __builtin_mul_overflow(*count, element, &expected) ||
      expected != found)
    return makeError(StatusCode::DataLoss,
                     "expected data for %s, got %" PRIu64 " bytes",
                     toString({header.type, header.shape}).c_str(), found);
  return Status::ok();
}

Result<HostTensor> dlc::rt::parseNpy(std::span<const std::byte> bytes,
                                     ElementKinds kinds,
                                     const BufferAllocator &allocate) {
  Header header;
  std::span<const std::byte> data;
  DLC_RETURN_IF_ERROR(readHeader(bytes, bytes.size(), kinds, header, data));
  HostTensor tensor;
  tensor.type = header.type;
  DLC_RETURN_IF_ERROR(
      tensor.type == DLC_TEXT
          ? readTextElements(data, std::move(header), tensor)
          : readElements(data, std::move(header), allocate, tensor));
  return tensor;
}

Status dlc::rt::checkNpyStart(std::span<const std::byte> start, uint64_t size,
                              ElementKinds kinds) {
  Header header;
  std::span<const std::byte> data;
  return readHeader(start, size, kinds, header, data);
}

Result<HostTensor> dlc::rt::readNpy(const std::string &path) {
  Result<MappedFile> file = MappedFile::open(path);
  if (!file.isOk())
    return std::move(file.status());
  Result<HostTensor> tensor = parseNpy(file->bytes());
  if (!tensor.isOk())
    return std::move(tensor.status()).withContext(path);
  return tensor;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// What stands before the data.
static std::string headerOf(const TensorView &tensor, std::string_view descr) {
  std::string text = "{'descr': '";
  text += descr;
  text += "', 'fortran_order': False, 'shape': (";
  for (int64_t dim : tensor.shape)
    text += std::to_string(dim) + (tensor.rank() == 1 ? "," : ", ");
  if (tensor.rank() > 1)
    text.resize(text.size() - 2);
  text += "), }";
  // The whole header fills a multiple of 64 bytes and ends in a newline.
  size_t total = alignUp(10 + text.size() + 1, 64);
  text.resize(total - 11, ' ');
  text += '\n';
  std::string header(magic);
  header += {'\1', '\0', char(text.size() & 0xff), char(text.size() >> 8)};
  return header + text;
}

uint64_t NpyParts::dataBytes() const {
  uint64_t size;
  if (__builtin_mul_overflow(texts.size(), form.width, &size))
    return UINT64_MAX;
  return texts.empty() ? data.size() : size;
}

Status NpyParts::visit(const TakeBytes &take) const {
  DLC_RETURN_IF_ERROR(take(std::as_bytes(std::span(header))));
  return texts.empty() ? take(data) : writeTexts(form, texts, take);
}

std::string NpyParts::describe() const {
  if (texts.empty())
    return std::to_string(data.size()) + " bytes";
  return std::to_string(texts.size()) + " texts of " +
         std::to_string(form.width) + " bytes each, the size of the longest";
}

static Result<NpyParts> encodeTexts(const TensorView &tensor) {
  NpyParts parts;
  parts.texts = {tensor.as<const Text>(), size_t(tensor.size())};
  DLC_RETURN_IF_ERROR(chooseTextForm(parts.texts, parts.form));
  parts.header =
      headerOf(tensor, (parts.form.isUnicode ? "<" : "|") + parts.form.name());
  return parts;
}

Result<NpyParts> dlc::rt::encodeNpy(const TensorView &tensor) {
  if (tensor.type == DLC_TEXT)
    return encodeTexts(tensor);
  auto entry = std::ranges::find(typeNames, tensor.type, &TypeName::type);
  if (entry == std::end(typeNames))
    return makeError(StatusCode::Unsupported,
                     "expected elements that .npy files have a type for, got "
                     "%s",
                     std::string(nameOf(tensor.type)).c_str());
  std::string descr = sizeOf(tensor.type) == 1 ? "|" : "<";
  descr += entry->name;
  NpyParts parts;
  parts.header = headerOf(tensor, descr);
  parts.data = {tensor.as<const std::byte>(), tensor.bytes()};
  return parts;
}

Status dlc::rt::writeNpy(const std::string &path, const TensorView &tensor) {
  Result<NpyParts> parts = encodeNpy(tensor);
  if (!parts.isOk())
    return std::move(parts.status()).withContext(path);
  Result<OutputFile> file = OutputFile::create(path);
  if (!file.isOk())
    return std::move(file.status());
  if (Status status = file->checkRoom(parts->dataBytes()); !status.isOk())
    return std::move(status).withContext(parts->describe());
  DLC_RETURN_IF_ERROR(parts->visit(
      [&](std::span<const std::byte> bytes) { return file->write(bytes); }));
  return file->commit();
}
