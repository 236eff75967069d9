// SPDX-License-Identifier: Apache-2.0

#include "dlc/Tuning/Table.h"

#include "dlc/runtime/Base/File.h"
#include "dlc/runtime/Base/Hash.h"
#include "dlc/runtime/Device/CPU/Features.h"

#include <charconv>
#include <cinttypes>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

using namespace dlc::tuning;
using namespace dlc::rt;

static constexpr std::string_view kForm = "dlc-tuning 1";
static constexpr std::string_view kMachine = "machine ";
static constexpr std::string_view kChecksum = "checksum ";

/// A day: sums of times stay far from their type's end.
static constexpr uint64_t kMostNanoseconds = 86'400'000'000'000;

std::string dlc::tuning::thisMachine() {
  std::string text = cpuModel();
  for (std::string_view feature : CPUFeatures::ofHost().names())
    text += " " + std::string(feature);
  return text + ", dlc " DLC_VERSION "-" DLC_KERNELS;
}

static std::string checksumOf(std::string_view text) {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016" PRIx64,
                xxHash64(std::as_bytes(std::span(text))));
  return digits;
}

std::string dlc::tuning::print(const Table &table) {
  std::string text(kForm);
  text += "\n";
  for (const auto &[machine, times] : table) {
    text += std::string(kMachine) + machine + "\n";
    for (const auto &[call, time] : times)
      text += std::to_string(time) + " " + call + "\n";
  }
  return text + std::string(kChecksum) + checksumOf(text) + "\n";
}

namespace {
/// Takes lines of a text.
class Lines {
public:
  explicit Lines(std::string_view text) : rest(text) {}
  bool isAtEnd() const { return rest.empty(); }
  size_t number() const { return count; }
  /// The next line without its end, which must be there.
  std::optional<std::string_view> next() {
    size_t end = rest.find('\n');
    if (end == std::string_view::npos)
      return std::nullopt;
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    ++count;
    return line;
  }
  /// What is in front of the lines not taken.
  std::string_view taken(std::string_view text) const {
    return text.substr(0, text.size() - rest.size());
  }

private:
  std::string_view rest;
  size_t count = 0;
};
} // namespace

static Status expected(std::string_view what, std::string_view found) {
  constexpr size_t most = 60;
  return makeError(StatusCode::InvalidArgument, "expected %s, got '%s'",
                   std::string(what).c_str(),
                   std::string(found.substr(0, most)).c_str());
}

/// "980511 cpu.conv ..."
static Status parseTime(std::string_view line, size_t number, Times &times) {
  uint64_t time = 0;
  auto [end, error] =
      std::from_chars(line.data(), line.data() + line.size(), time);
  size_t digits = static_cast<size_t>(end - line.data());
  bool isTime = error == std::errc() && time > 0 && time <= kMostNanoseconds &&
                digits + 1 < line.size() && line[digits] == ' ';
  if (!isTime)
    return expected("nanoseconds and a call in line " + std::to_string(number),
                    line);
  times[std::string(line.substr(digits + 1))] = time;
  return Status::ok();
}

Result<Table> dlc::tuning::parse(std::string_view text) {
  Lines lines(text);
  std::string_view form = lines.next().value_or(text);
  if (form != kForm)
    return expected("'" + std::string(kForm) + "' in the first line", form);
  Table table;
  Times *times = nullptr;
  while (true) {
    std::string_view body = lines.taken(text);
    std::optional<std::string_view> line = lines.next();
    if (!line)
      return makeError(StatusCode::DataLoss,
                       "expected a checksum in the last line, got none");
    if (line->starts_with(kChecksum)) {
      if (line->substr(kChecksum.size()) != checksumOf(body) ||
          !lines.isAtEnd())
        return makeError(StatusCode::DataLoss,
                         "expected the checksum %s at the end, got '%s'",
                         checksumOf(body).c_str(),
                         std::string(line->substr(0, 40)).c_str());
      return table;
    }
    if (line->starts_with(kMachine)) {
      times = &table[std::string(line->substr(kMachine.size()))];
      continue;
    }
    if (!times)
      return expected("a machine in line " + std::to_string(lines.number()),
                      *line);
    DLC_RETURN_IF_ERROR(parseTime(*line, lines.number(), *times));
  }
}

void dlc::tuning::merge(Table &to, const Table &from) {
  for (const auto &[machine, times] : from)
    for (const auto &[call, time] : times)
      to[machine][call] = time;
}

static std::string_view textOf(const MappedFile &file) {
  std::span<const std::byte> bytes = file.bytes();
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

Result<Table> dlc::tuning::readTable(const std::string &path) {
  Result<MappedFile> file = MappedFile::open(path);
  if (!file.isOk())
    return std::move(file.status());
  Result<Table> table = parse(textOf(*file));
  if (!table.isOk())
    return std::move(table.status()).withContext(path);
  return table;
}

Status dlc::tuning::writeTable(const std::string &path, const Table &table) {
  Result<OutputFile> file = OutputFile::create(path);
  if (!file.isOk())
    return std::move(file.status());
  std::string text = print(table);
  DLC_RETURN_IF_ERROR(file->write(std::as_bytes(std::span(text))));
  return file->commit();
}

namespace {
/// Keeps others that change files of the same folder waiting. Where that is not
/// possible, the last one wins.
class FolderLock {
public:
  explicit FolderLock(const std::string &path) {
    size_t end = path.rfind('/');
    std::string folder =
        end == std::string::npos ? "." : path.substr(0, end + 1);
    descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor >= 0)
      (void)flock(descriptor, LOCK_EX);
  }
  FolderLock(const FolderLock &) = delete;
  ~FolderLock() {
    if (descriptor >= 0)
      close(descriptor);
  }

private:
  int descriptor;
};
} // namespace

Status dlc::tuning::updateTable(const std::string &path, const Table &from) {
  FolderLock lock(path);
  Table table;
  Result<MappedFile> file = MappedFile::open(path);
  if (file.isOk()) {
    std::string_view text = textOf(*file);
    Result<Table> known = parse(text);
    if (known.isOk())
      table = std::move(*known);
    else if (!text.starts_with(std::string(kForm) + "\n"))
      return std::move(known.status()).withContext(path);
  } else if (file.status().code() != StatusCode::NotFound) {
    return std::move(file.status());
  }
  merge(table, from);
  return writeTable(path, table);
}
