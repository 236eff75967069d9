// SPDX-License-Identifier: Apache-2.0
//
// Zip archives of .npy files (PKWARE APPNOTE 6.3). Sizes are taken from the
// central directory; every offset is checked before it is followed.

#include "Npy.h"
#include "Record.h"

#include "dlc/runtime/Base/ByteReader.h"
#include "dlc/runtime/Base/File.h"
#include "dlc/runtime/Base/Names.h"
#include "dlc/runtime/IO/Numpy.h"

#include <algorithm>
#include <cstring>
#include <zlib.h>

using namespace dlc::rt;

namespace {

/// One file of the archive, as the central directory has it.
struct Member {
  std::string name;
  uint16_t flags, method;
  uint32_t checksum;
  uint64_t packedSize, size, offset;
};

/// Where the central directory is.
struct Directory {
  uint64_t count, offset;
};

} // namespace

static constexpr uint32_t localMagic = 0x04034b50;
static constexpr uint32_t centralMagic = 0x02014b50;
static constexpr uint32_t endMagic = 0x06054b50;
static constexpr uint32_t end64Magic = 0x06064b50;
static constexpr uint32_t locator64Magic = 0x07064b50;
static constexpr size_t localSize = 30, centralSize = 46, endSize = 22;
static constexpr std::string_view suffix = ".npy"; ///< Of all members.
/// What deflated members may unpack to, and how often the file's size more.
static constexpr uint64_t kFreeBytes = uint64_t(64) << 20, kMostRatio = 64;
/// Version 1 of the format has no longer one, and NumPy reads none by itself.
static constexpr uint64_t kMostOfHeader = 10 + 65535;

static Status malformed(const char *what) {
  return makeError(StatusCode::DataLoss, "not an .npz file: %s", what);
}

//===----------------------------------------------------------------------===//
// The directory
//===----------------------------------------------------------------------===//

/// Whether the record that ends an archive starts at `end`. A comment fills
/// what is left of the file.
static bool readEnd(ByteReader file, uint64_t end, Directory &directory) {
  uint32_t magic, size, offset;
  uint16_t disk, firstDisk, onDisk, count, comment;
  if (!file.seek(end) ||
      !file.read(magic, disk, firstDisk, onDisk, count, size, offset, comment))
    return false;
  directory = {count, offset};
  return magic == endMagic && comment == file.remaining();
}

/// Finds the directory from the record at the end of the file, which a comment
/// of up to 65,535 bytes may follow.
static Status findDirectory(ByteReader file, Directory &directory) {
  if (file.size() < endSize)
    return malformed("it is too short");
  uint64_t end = file.size() - endSize;
  uint64_t lowest = end - std::min<uint64_t>(end, 65535);
  while (!readEnd(file, end, directory))
    if (end-- == lowest)
      return malformed("it has no directory");
  // Large archives have a second record before this one, and a locator.
  uint32_t magic, disk, firstDisk;
  uint64_t end64, recordSize, onDisk, count, size, offset;
  if (end < 20 || !file.seek(end - 20) || !file.read(magic, disk, end64) ||
      magic != locator64Magic)
    return Status::ok();
  uint16_t madeBy, needed;
  if (!file.seek(end64) ||
      !file.read(magic, recordSize, madeBy, needed, disk, firstDisk, onDisk,
                 count, size, offset) ||
      magic != end64Magic)
    return malformed("the 64-bit directory is out of place");
  directory = {count, offset};
  return Status::ok();
}

/// Takes sizes beyond 32 bits from the extra field of an entry.
static Status readExtra64(ByteReader extra, Member &member) {
  uint16_t id, length;
  while (extra.read(id, length)) {
    std::span<const std::byte> content;
    if (!extra.take(length, content))
      return malformed("an extra field leaves its entry");
    if (id != 1)
      continue;
    ByteReader sizes(content);
    for (uint64_t *field : {&member.size, &member.packedSize, &member.offset})
      if (*field == 0xffffffff && !sizes.read(*field))
        return malformed("a 64-bit size is missing");
    return Status::ok();
  }
  return Status::ok();
}

/// Reads the entry of the directory that comes next.
static Status readMember(ByteReader &file, Member &member) {
  uint32_t magic, packedSize, size, externalAttributes, offset;
  uint16_t madeBy, needed, time, date, nameLength, extraLength, commentLength;
  uint16_t disk, attributes;
  if (!file.read(magic, madeBy, needed, member.flags, member.method, time, date,
                 member.checksum, packedSize, size, nameLength, extraLength,
                 commentLength, disk, attributes, externalAttributes, offset) ||
      magic != centralMagic)
    return malformed("an entry of the directory is out of place");
  member.packedSize = packedSize;
  member.size = size;
  member.offset = offset;
  std::string_view name;
  std::span<const std::byte> extra;
  if (!file.take(nameLength, name) || !file.take(extraLength, extra) ||
      !file.skip(commentLength))
    return malformed("an entry of the directory leaves the file");
  member.name = name;
  return readExtra64(ByteReader(extra), member);
}

//===----------------------------------------------------------------------===//
// Members
//===----------------------------------------------------------------------===//

static uint32_t checksumOf(std::span<const std::byte> bytes,
                           uint32_t start = 0) {
  if (bytes.empty()) // For zlib no address asks for a start.
    return start;
  return crc32_z(start, reinterpret_cast<const Bytef *>(bytes.data()),
                 bytes.size());
}

/// The stored bytes of a member.
static Status findData(ByteReader file, const Member &member,
                       std::span<const std::byte> &data) {
  if (member.flags & 1)
    return makeError(StatusCode::Unsupported, "it is encrypted");
  uint32_t magic;
  uint16_t nameLength, extraLength;
  // Between the magic and the lengths are copies of what the directory says.
  if (!file.seek(member.offset) || !file.read(magic) || magic != localMagic ||
      !file.skip(localSize - 8) || !file.read(nameLength, extraLength))
    return malformed("a member is out of place");
  if (!file.skip(nameLength) || !file.skip(extraLength) ||
      !file.take(member.packedSize, data))
    return malformed("a member leaves the file");
  return Status::ok();
}

/// Fills `target`, which the data does, or where `isStart`, its first bytes do.
static Status inflateInto(std::span<const std::byte> packed,
                          std::span<std::byte> target, bool isStart = false) {
  z_stream stream = {};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return makeError(StatusCode::OutOfMemory, "cannot start zlib");
  const auto *in = reinterpret_cast<const Bytef *>(packed.data());
  auto *out = reinterpret_cast<Bytef *>(target.data());
  size_t inLeft = packed.size(), outLeft = target.size();
  int code = Z_OK;
  // zlib counts in 32 bits: hand it pieces.
  constexpr size_t piece = 1u << 30;
  while (code == Z_OK) {
    stream.next_in = const_cast<Bytef *>(in);
    stream.next_out = out;
    uInt give = stream.avail_in = std::min(inLeft, piece);
    uInt room = stream.avail_out = std::min(outLeft, piece);
    code = inflate(&stream, Z_NO_FLUSH);
    in += give - stream.avail_in, inLeft -= give - stream.avail_in;
    out += room - stream.avail_out, outLeft -= room - stream.avail_out;
  }
  inflateEnd(&stream);
  bool isWhole = code == Z_STREAM_END || (isStart && code == Z_BUF_ERROR);
  if (!isWhole || outLeft)
    return makeError(StatusCode::DataLoss,
                     "the compressed data is damaged or has another size");
  return Status::ok();
}

static Result<HostTensor> inflateMember(const Member &member,
                                        std::span<const std::byte> packed,
                                        ElementKinds kinds,
                                        const BufferAllocator &allocate) {
  // Deflate shrinks to a 1032nd at best: a larger claim is a lie.
  if (member.size / 1032 > member.packedSize + 1)
    return makeError(StatusCode::DataLoss,
                     "the compressed data is damaged or has another size");
  // A few bytes that unpack to many must say so in front of them.
  if (member.size > kMostOfHeader) {
    std::vector<std::byte> start(kMostOfHeader);
    DLC_RETURN_IF_ERROR(inflateInto(packed, start, /*isStart=*/true));
    DLC_RETURN_IF_ERROR(checkNpyStart(start, member.size, kinds));
  }
  Result<AlignedBuffer> buffer = AlignedBuffer::allocate(member.size);
  if (!buffer.isOk())
    return std::move(buffer.status());
  DLC_RETURN_IF_ERROR(inflateInto(packed, buffer->bytes()));
  if (checksumOf(buffer->bytes()) != member.checksum)
    return makeError(StatusCode::DataLoss, "the checksum differs");
  return parseNpy(buffer->bytes(), kinds, allocate);
}

static Result<HostTensor> readTensor(ByteReader file, const Member &member,
                                     ElementKinds kinds,
                                     const BufferAllocator &allocate) {
  std::span<const std::byte> data;
  DLC_RETURN_IF_ERROR(findData(file, member, data));
  if (member.method == 8)
    return inflateMember(member, data, kinds, allocate);
  if (member.method != 0)
    return makeError(StatusCode::Unsupported,
                     "expected stored or deflated data, got method %d",
                     int(member.method));
  if (member.size != member.packedSize)
    return malformed("a stored member has two sizes");
  if (checksumOf(data) != member.checksum)
    return makeError(StatusCode::DataLoss, "the checksum differs");
  return parseNpy(data, kinds, allocate);
}

/// Reads the directory. Members may not share bytes: a small file could claim
/// any amount of data if each of them unpacked the same ones.
static Status readMembers(ByteReader file, const Directory &directory,
                          std::vector<Member> &members) {
  if (!file.seek(directory.offset) ||
      !file.canHold(directory.count, centralSize))
    return malformed("the directory leaves the file");
  uint64_t left = file.size();
  // Values of networks shrink little; what shrinks more is there to fill
  // memory.
  uint64_t room = kFreeBytes + kMostRatio * file.size();
  members.resize(directory.count);
  for (Member &member : members) {
    DLC_RETURN_IF_ERROR(readMember(file, member));
    if (!member.name.ends_with(suffix))
      return makeError(StatusCode::Unsupported,
                       "expected members with the suffix .npy, got '%s'",
                       toPrintable(member.name).c_str());
    if (member.packedSize > left)
      return malformed("its members are larger than the file");
    left -= member.packedSize;
    if (member.method == 8 && member.size > room)
      return makeError(StatusCode::Unsupported,
                       "expected members that unpack to at most 64 MiB and 64 "
                       "times the file's size together, got more");
    room -= member.method == 8 ? member.size : 0;
  }
  return Status::ok();
}

/// A name that tools which unpack archives make a file of in their folder, and
/// that messages can show. One that starts with a slash does not: names of ONNX
/// values often do, and what unpacks an archive leaves it out.
static Status checkName(std::string_view name, StatusCode code) {
  bool isText = true;
  for (std::string_view rest = name; !rest.empty() && isText;)
    isText = takeUtf8(rest) > 0;
  if (!isText)
    return Status(code, "expected member names of UTF-8 without zeros, got "
                        "another one");
  for (std::string_view rest = name; !rest.empty();) {
    size_t length = std::min(rest.find_first_of("/\\"), rest.size());
    if (rest.substr(0, length) == "..")
      return Status(code, "expected member names without '..', got '" +
                              toPrintable(name) + "'");
    rest.remove_prefix(std::min(length + 1, rest.size()));
  }
  return Status::ok();
}

static Status checkNames(std::span<const Member> members) {
  std::vector<std::string_view> names;
  for (const Member &member : members) {
    std::string_view name = member.name;
    name.remove_suffix(suffix.size());
    DLC_RETURN_IF_ERROR(checkName(name, StatusCode::DataLoss));
    names.push_back(name);
  }
  return checkDistinct(std::move(names), "members", StatusCode::DataLoss);
}

Result<std::vector<NamedTensor>>
dlc::rt::parseNpz(std::span<const std::byte> bytes, ElementKinds kinds,
                  const BufferAllocator &allocate) {
  ByteReader file(bytes);
  Directory directory;
  std::vector<Member> members;
  DLC_RETURN_IF_ERROR(findDirectory(file, directory));
  DLC_RETURN_IF_ERROR(readMembers(file, directory, members));
  DLC_RETURN_IF_ERROR(checkNames(members));
  std::vector<NamedTensor> tensors;
  for (const Member &member : members) {
    Result<HostTensor> tensor = readTensor(file, member, kinds, allocate);
    if (!tensor.isOk())
      return std::move(tensor.status()).withContext(toPrintable(member.name));
    tensors.push_back(
        {member.name.substr(0, member.name.size() - suffix.size()),
         std::move(*tensor)});
  }
  return tensors;
}

bool dlc::rt::isNpz(std::span<const std::byte> bytes) {
  uint32_t magic = 0; // "PK\3\4", or "PK\5\6" of an empty one.
  return ByteReader(bytes).read(magic) &&
         (magic == 0x04034b50 || magic == 0x06054b50);
}

Result<std::vector<NamedTensor>> dlc::rt::readNpz(const std::string &path) {
  Result<MappedFile> file = MappedFile::open(path);
  if (!file.isOk())
    return std::move(file.status());
  Result<std::vector<NamedTensor>> tensors = parseNpz(file->bytes());
  if (!tensors.isOk())
    return std::move(tensors.status()).withContext(path);
  return tensors;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// The fields that a member's two headers share, from "version needed" to the
/// length of the name. The date is the first that zip knows.
static Record &putFacts(Record &record, const Member &member) {
  return record.put(20, 2)
      .put(member.flags, 2)
      .put(member.method, 2)
      .put(0, 2)
      .put(0x21, 2)
      .put(member.checksum, 4)
      .put(member.packedSize, 4)
      .put(member.size, 4)
      .put(member.name.size(), 2);
}

/// The names of members without the suffix: those that have none get NumPy's,
/// "arr_0" and so on.
static std::vector<std::string>
memberNames(std::span<const NamedView> tensors) {
  std::vector<std::string> names;
  size_t unnamed = 0;
  for (const NamedView &tensor : tensors)
    names.push_back(tensor.name.empty() ? "arr_" + std::to_string(unnamed++)
                                        : tensor.name);
  return names;
}

static Status checkNames(std::span<const std::string> names) {
  for (const std::string &name : names) {
    DLC_RETURN_IF_ERROR(checkName(name, StatusCode::InvalidArgument));
    if (name.size() > 65000)
      return makeError(StatusCode::Unsupported, "a name is too long for .npz");
  }
  DLC_RETURN_IF_ERROR(checkDistinct({names.begin(), names.end()}, "tensors",
                                    StatusCode::InvalidArgument));
  if (names.size() > 65535)
    return makeError(StatusCode::Unsupported,
                     "expected at most 65535 tensors, got %zu", names.size());
  return Status::ok();
}

static Status writeMember(OutputFile &file, const std::string &path,
                          const std::string &name, const TensorView &tensor,
                          Member &member) {
  auto context = [&] { return path + ": '" + toPrintable(name) + "'"; };
  Result<NpyParts> parts = encodeNpy(tensor);
  if (!parts.isOk())
    return std::move(parts.status()).withContext(context());
  uint64_t size;
  if (__builtin_add_overflow(parts->header.size(), parts->dataBytes(), &size) ||
      size >= 0xffffffff || file.size() >= 0xffffffff - size)
    return makeError(StatusCode::Unsupported,
                     "%s: .npz files of 4 GiB or more are not written",
                     context().c_str());
  // The checksum comes first: what is no memory's is made twice.
  uint32_t checksum = 0;
  DLC_RETURN_IF_ERROR(parts->visit([&](std::span<const std::byte> bytes) {
    checksum = checksumOf(bytes, checksum);
    return Status::ok();
  }));
  // Bit 11: the name is UTF-8.
  member = {name + std::string(suffix),
            /*flags=*/0x800,
            /*method=*/0,
            checksum,
            size,
            size,
            file.size()};
  Record local;
  local.put(localMagic, 4);
  putFacts(local, member).put(0, 2).put(member.name);
  DLC_RETURN_IF_ERROR(file.write(local.all()));
  return parts->visit(
      [&](std::span<const std::byte> bytes) { return file.write(bytes); });
}

static Status writeDirectory(OutputFile &file, const std::string &path,
                             std::span<const Member> members) {
  uint64_t start = file.size();
  for (const Member &member : members) {
    Record entry;
    entry.put(centralMagic, 4).put(20, 2);
    // No extra field, comment, disk or attributes.
    putFacts(entry, member).put(0, 2).put(0, 8).put(0, 2);
    entry.put(member.offset, 4).put(member.name);
    DLC_RETURN_IF_ERROR(file.write(entry.all()));
  }
  uint64_t size = file.size() - start;
  if (file.size() >= 0xffffffff)
    return makeError(StatusCode::Unsupported,
                     "%s: .npz files of 4 GiB or more are not written",
                     path.c_str());
  Record end;
  end.put(endMagic, 4).put(0, 4).put(members.size(), 2);
  end.put(members.size(), 2).put(size, 4).put(start, 4).put(0, 2);
  return file.write(end.all());
}

Status dlc::rt::writeNpz(const std::string &path,
                         std::span<const NamedView> tensors) {
  std::vector<std::string> names = memberNames(tensors);
  if (Status status = checkNames(names); !status.isOk())
    return std::move(status).withContext(path);
  Result<OutputFile> file = OutputFile::create(path);
  if (!file.isOk())
    return std::move(file.status());
  std::vector<Member> members(tensors.size());
  for (size_t i = 0; i != tensors.size(); ++i)
    DLC_RETURN_IF_ERROR(
        writeMember(*file, path, names[i], tensors[i].tensor, members[i]));
  DLC_RETURN_IF_ERROR(writeDirectory(*file, path, members));
  return file->commit();
}
