// SPDX-License-Identifier: Apache-2.0
//
// A profile as a trace and as a table.

#include "dlc/runtime/Base/File.h"
#include "dlc/runtime/Base/Names.h"
#include "dlc/runtime/Base/Text.h"
#include "dlc/runtime/Engine/Profiler.h"

#include <algorithm>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <map>
#include <set>

using namespace dlc::rt;

/// Text as a JSON string, which is UTF-8 (RFC 8259). A byte that is none, as
/// applications may have in names, becomes U+FFFD.
static void appendQuoted(std::string &out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    std::string_view rest = text;
    int32_t c = takeUtf8(rest);
    size_t length = c < 0 ? 1 : text.size() - rest.size();
    std::string_view character = text.substr(0, length);
    text.remove_prefix(length);
    if (c == '"' || c == '\\')
      out += '\\';
    if (c < 0 || c >= 0x20) {
      out += c < 0 ? "\xef\xbf\xbd" : character;
      continue;
    }
    char escape[8];
    std::snprintf(escape, sizeof(escape), "\\u%04x", c);
    out += escape;
  }
  out += '"';
}

__attribute__((format(printf, 2, 3))) static void
appendFormat(std::string &out, const char *format, ...) {
  char text[256]; // Every use is shorter.
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  out += text;
}

/// Nanoseconds as a number of microseconds. What printf makes of a double is
/// for the locale of the process to say.
static void appendMicroseconds(std::string &out, const char *name,
                               uint64_t nanoseconds) {
  appendFormat(out, ",\"%s\":%" PRIu64 ".%03u", name, nanoseconds / 1000,
               unsigned(nanoseconds % 1000));
}

namespace {

/// Writes trace events one by one.
class TraceWriter {
public:
  TraceWriter(uint64_t origin, const std::deque<std::string> &texts)
      : origin(origin), texts(texts) {}

  void addEvent(const ProfileEvent &event);
  void addMemory(const char *name, uint64_t time, Context device,
                 uint64_t bytes);
  /// The whole trace.
  std::string finish();

private:
  void begin() { out += out.empty() ? "\n" : ",\n"; }
  int processOf(Context device) {
    return processes.try_emplace(device, processes.size()).first->second;
  }
  void addMetadata(const char *what, int process, uint32_t thread,
                   std::string_view name);

  uint64_t origin;
  const std::deque<std::string> &texts;
  std::map<Context, int> processes;
  std::set<std::pair<int, uint32_t>> rows; ///< Process and text.
  std::string out;
};

} // namespace

void TraceWriter::addEvent(const ProfileEvent &event) {
  int process = processOf(event.device);
  rows.insert({process, event.row});
  begin();
  out += "{\"name\":";
  appendQuoted(out, texts[event.name]);
  appendFormat(out, ",\"cat\":\"%s\",\"ph\":\"X\",\"pid\":%d,\"tid\":%" PRIu32,
               nameOf(event.kind), process, event.row);
  appendMicroseconds(out, "ts", event.begin - origin);
  appendMicroseconds(out, "dur", event.end - event.begin);
  out += ",\"args\":{";
  const char *separator = "";
  auto addNumber = [&](const char *name, uint64_t value) {
    if (!value)
      return;
    appendFormat(out, "%s\"%s\":%" PRIu64, separator, name, value);
    separator = ",";
  };
  addNumber("flops", event.flops);
  addNumber("bytes", event.bytes);
  addNumber("failed", event.hasFailed);
  if (event.detail) {
    out += separator;
    out += "\"detail\":";
    appendQuoted(out, texts[event.detail]);
  }
  out += "}}";
}

void TraceWriter::addMemory(const char *name, uint64_t time, Context device,
                            uint64_t bytes) {
  begin();
  appendFormat(out, "{\"name\":\"%s\",\"ph\":\"C\",\"pid\":%d", name,
               processOf(device));
  appendMicroseconds(out, "ts", time - origin);
  appendFormat(out, ",\"args\":{\"bytes\":%" PRIu64 "}}", bytes);
}

void TraceWriter::addMetadata(const char *what, int process, uint32_t thread,
                              std::string_view name) {
  begin();
  appendFormat(out,
               "{\"name\":\"%s\",\"ph\":\"M\",\"pid\":%d,\"tid\":%" PRIu32
               ",\"args\":{\"name\":",
               what, process, thread);
  appendQuoted(out, name);
  out += "}}";
}

std::string TraceWriter::finish() {
  for (auto &[device, process] : processes)
    addMetadata("process_name", process, 0, toString(device));
  for (auto &[process, row] : rows)
    addMetadata("thread_name", process, row, texts[row]);
  return "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[" + out + "\n]}\n";
}

std::string Profiler::toJSON() const {
  std::unique_lock lock = lockTexts();
  TraceWriter writer(origin(), texts.all);
  for (const ProfileEvent &event : keptEvents())
    writer.addEvent(event);
  for (const Memory &change : keptMemory())
    writer.addMemory(nameOf(change.kind), change.time, change.device,
                     change.bytes);
  return writer.finish();
}

Status Profiler::write(const std::string &path) const {
  Result<OutputFile> file = OutputFile::create(path);
  if (!file.isOk())
    return std::move(file.status());
  std::string text = toJSON();
  DLC_RETURN_IF_ERROR(file->write(std::as_bytes(std::span(text))));
  return file->commit();
}

std::string Profiler::toTable() const {
  std::string out;
  appendFormat(out, "%10s %8s %10s %10s %10s  %-10s %-9s %s\n", "total ms",
               "count", "mean us", "min us", "max us", "device", "kind",
               "name");
  for (const ProfileSummary &sum : summarize()) {
    appendFormat(out, "%10.3f %8" PRIu64 " %10.2f %10.2f %10.2f  %-10s %-9s ",
                 sum.totalNanoseconds * 1e-6, sum.count,
                 sum.totalNanoseconds * 1e-3 / sum.count, sum.least * 1e-3,
                 sum.most * 1e-3, toString(sum.device).c_str(),
                 nameOf(sum.kind));
    out += toPrintable(sum.name) + "\n";
  }
  std::map<std::pair<Context, MemoryKind>, uint64_t> peaks;
  for (const Memory &change : keptMemory()) {
    uint64_t &peak = peaks[{change.device, change.kind}];
    peak = std::max(peak, change.bytes);
  }
  for (auto &[what, bytes] : peaks)
    appendFormat(out, "%s of %s: at most %" PRIu64 " bytes\n",
                 nameOf(what.second), toString(what.first).c_str(), bytes);
  if (size_t count = dropped())
    appendFormat(out, "%zu event%s found no room\n", count,
                 count == 1 ? "" : "s");
  return out;
}
