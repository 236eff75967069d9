// SPDX-License-Identifier: Apache-2.0

#include "dlc-c/Profiler.h"

#include "Handles.h"
#include "dlc/runtime/Base/Wait.h"
#include "dlc/runtime/CAPI/Options.h"

using namespace dlc::rt;

static_assert(DLC_PROFILE_LAUNCH == int(ProfileKind::Launch) &&
              DLC_PROFILE_COPY == int(ProfileKind::Copy) &&
              DLC_PROFILE_WAIT == int(ProfileKind::Wait));

//===----------------------------------------------------------------------===//
// Recording
//===----------------------------------------------------------------------===//

DlcStatus dlcProfilerCreate(size_t capacity, DlcProfiler *profiler) {
  if (!profiler)
    return wrap(missing("a place for the profiler"));
  auto made =
      capacity ? makeShared<Profiler>(capacity) : makeShared<Profiler>();
  if (!made || !made->hasRoom())
    return wrap(makeError(StatusCode::OutOfMemory,
                          "no memory for a profile of %zu events", capacity));
  return makeHandle(profiler, std::move(made));
}

void dlcProfilerDestroy(DlcProfiler profiler) { delete profiler; }

DlcStatus dlcProfilerStop(DlcProfiler profiler) {
  if (!profiler)
    return wrap(missing("a profiler"));
  profiler->profiler->stop();
  return nullptr;
}

DlcStatus dlcProfilerStart(DlcProfiler profiler) {
  if (Status status = checkProfiler(profiler); !status.isOk())
    return wrap(std::move(status));
  profiler->profiler->start();
  return nullptr;
}

DlcStatus dlcProfilerAdd(DlcProfiler profiler, const DlcProfileEvent *event) {
  if (!profiler || !event)
    return wrap(missing(profiler ? "an event" : "a profiler"));
  DlcProfileEvent known = {};
  ProfileEvent span;
  Status status = checkProfiler(profiler);
  if (status.isOk())
    status = readOptions(*event, known);
  if (status.isOk() && unsigned(known.kind) > DLC_PROFILE_WAIT)
    status = outOfRange("a kind of event", known.kind);
  if (status.isOk() && !known.name)
    status = missing("the name of the event");
  if (status.isOk() && known.end < known.begin)
    status =
        makeError(StatusCode::InvalidArgument,
                  "expected an end after the begin, got %llu ns before",
                  static_cast<unsigned long long>(known.begin - known.end));
  if (status.isOk())
    status = toContext(known.device, span.device);
  if (!status.isOk())
    return wrap(std::move(status));
  span.begin = known.begin;
  span.end = known.end;
  span.kind = ProfileKind(known.kind);
  span.hasFailed = known.hasFailed != 0;
  profiler->profiler->add(span, known.name,
                          known.row ? known.row : "application",
                          known.detail ? known.detail : "");
  return nullptr;
}

uint64_t dlcProfilerNow(void) { return nowNanoseconds(); }

size_t dlcProfilerDropped(DlcProfiler profiler) {
  return profiler ? profiler->profiler->dropped() : 0;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

size_t dlcProfilerEventCount(DlcProfiler profiler) {
  return profiler ? profiler->profiler->size() : 0;
}

DlcStatus dlcProfilerClear(DlcProfiler profiler) {
  if (!profiler)
    return wrap(missing("a profiler"));
  profiler->profiler->clear();
  return nullptr;
}

DlcStatus dlcProfilerTrace(DlcProfiler profiler, const char **text,
                           size_t *size) {
  if (!profiler || !text)
    return wrap(missing("a profiler and a place for the text"));
  if (Status status = checkProfiler(profiler); !status.isOk())
    return wrap(std::move(status));
  profiler->text = profiler->profiler->toJSON();
  *text = profiler->text.c_str();
  if (size)
    *size = profiler->text.size();
  return nullptr;
}

DlcStatus dlcProfilerWriteTrace(DlcProfiler profiler, const char *path) {
  if (!profiler || !path)
    return wrap(missing(profiler ? "a path" : "a profiler"));
  if (Status status = checkProfiler(profiler); !status.isOk())
    return wrap(std::move(status));
  return wrap(profiler->profiler->write(path));
}

DlcStatus dlcProfilerTable(DlcProfiler profiler, const char **text) {
  if (!profiler || !text)
    return wrap(missing("a profiler and a place for the text"));
  if (Status status = checkProfiler(profiler); !status.isOk())
    return wrap(std::move(status));
  profiler->text = profiler->profiler->toTable();
  *text = profiler->text.c_str();
  return nullptr;
}

DlcStatus dlcProfilerSummary(DlcProfiler profiler, size_t index,
                             DlcProfileSummary *summary) {
  if (!profiler || !summary)
    return wrap(missing("a profiler and a place for the summary"));
  if (Status status = checkProfiler(profiler); !status.isOk())
    return wrap(std::move(status));
  Profiler &inside = *profiler->profiler;
  std::vector<ProfileSummary> all = inside.summarize();
  if (index >= all.size())
    return wrap(makeError(StatusCode::NotFound,
                          "the profile has %zu summaries, none with number %zu",
                          all.size(), index));
  const ProfileSummary &found = all[index];
  return wrap(fillStruct(
      summary,
      {sizeof(DlcProfileSummary), inside.text(inside.textId(found.name)),
       DlcProfileKind(found.kind), fromContext(found.device), found.count,
       found.totalNanoseconds, found.least, found.most}));
}
