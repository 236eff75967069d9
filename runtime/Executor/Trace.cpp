// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Base/File.h"
#include "dlc/runtime/Executor/Observer.h"
#include "dlc/runtime/Executor/Program.h"

#include <cinttypes>
#include <cstdio>

using namespace dlc::rt;

TraceRecorder::TraceRecorder(const Program &program, size_t capacity)
    : program(program), capacity(capacity) {
  events.reserve(capacity);
}

void TraceRecorder::onLaunch(size_t launch, uint64_t begin, uint64_t end) {
  if (events.size() == capacity)
    ++droppedEvents;
  else
    events.push_back({launch, begin, end});
}

/// Text as a JSON string. Bytes that are not ASCII pass as they are: labels
/// come from models, which hold UTF-8.
static void appendQuoted(std::string &out, std::string_view text) {
  out += '"';
  for (char c : text) {
    if (c == '"' || c == '\\')
      out += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) {
      out += c;
      continue;
    }
    char escape[8];
    std::snprintf(escape, sizeof(escape), "\\u%04x", c);
    out += escape;
  }
  out += '"';
}

std::string TraceRecorder::toJSON() const {
  std::string out = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
  uint64_t origin = events.empty() ? 0 : events.front().begin;
  for (size_t i = 0; i != events.size(); ++i) {
    const Event &event = events[i];
    LaunchInfo info = program.launch(event.launch);
    out += i ? ",\n{\"name\":" : "\n{\"name\":";
    appendQuoted(out, info.label.empty() ? info.kernel : info.label);
    char text[192];
    std::snprintf(text, sizeof(text),
                  ",\"ph\":\"X\",\"pid\":0,\"tid\":0,\"ts\":%.3f,\"dur\":%.3f,"
                  "\"args\":{\"launch\":%zu,\"flops\":%" PRIu64
                  ",\"bytes\":%" PRIu64 ",\"kernel\":",
                  (event.begin - origin) * 1e-3,
                  (event.end - event.begin) * 1e-3, event.launch, info.flops,
                  info.bytes);
    out += text;
    appendQuoted(out, info.kernel);
    out += "}}";
  }
  return out + "\n]}\n";
}

Status TraceRecorder::write(const std::string &path) const {
  Result<OutputFile> file = OutputFile::create(path);
  if (!file.isOk())
    return std::move(file.status());
  std::string text = toJSON();
  DLC_RETURN_IF_ERROR(file->write(std::as_bytes(std::span(text))));
  return file->commit();
}
