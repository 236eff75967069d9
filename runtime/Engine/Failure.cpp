// SPDX-License-Identifier: Apache-2.0

#include "Failure.h"

#include <new>

using namespace dlc::rt;

std::string dlc::rt::describeOperation(const char *name, const char *origin) {
  std::string text = name ? std::string("operation '") + name + "'"
                          : std::string("an operation without name");
  if (origin)
    text += std::string(" (") + origin + ")";
  return text;
}

FailureBook::FailureBook() {
  missingFailure.text = "an operation failed, and there is no memory to say "
                        "which";
  missingFailure.code = StatusCode::OutOfMemory;
  missingFailure.references = 1;
  missingFailure.isDelivered = true;
  missingPoison.failure = &missingFailure;
  missingPoison.references = 1;
}

FailureBook::~FailureBook() {
  // Whoever held a poison has released it; what is left was never asked for.
  while (first) {
    Failure *failure = first;
    unlink(failure);
    release(failure);
  }
}

void FailureBook::append(Failure *failure) {
  failure->previous = last;
  failure->next = nullptr;
  (last ? last->next : first) = failure;
  last = failure;
  ++failure->references;
}

void FailureBook::unlink(Failure *failure) {
  (failure->previous ? failure->previous->next : first) = failure->next;
  (failure->next ? failure->next->previous : last) = failure->previous;
}

void FailureBook::release(Failure *failure) {
  if (--failure->references == 0)
    delete failure;
}

void FailureBook::release(Poison *poison) {
  if (!poison || --poison->references)
    return;
  release(poison->failure);
  delete poison;
}

Poison *FailureBook::fail(const Status &status, const char *name,
                          const char *origin) {
  Failure *failure = new (std::nothrow) Failure;
  Poison *poison = new (std::nothrow) Poison;
  if (!failure || !poison) {
    delete failure;
    delete poison;
    if (missingFailure.isDelivered) {
      missingFailure.isDelivered = false;
      append(&missingFailure);
    }
    return retain(&missingPoison);
  }
  failure->code = status.code();
  failure->text = describeOperation(name, origin) + ": " + status.message();
  append(failure);
  poison->failure = failure;
  ++failure->references;
  return retain(poison);
}

Poison *FailureBook::extend(Poison *poison, const char *name,
                            const char *origin) {
  // A chain of a million skipped operations is not a million names long.
  if (poison->length > shownNames || poison == &missingPoison)
    return retain(poison);
  Poison *longer = new (std::nothrow) Poison;
  if (!longer)
    return retain(poison);
  longer->failure = poison->failure;
  ++longer->failure->references;
  longer->length = poison->length + 1;
  longer->way = poison->way;
  if (longer->length > shownNames) {
    longer->way += " and more";
    return retain(longer);
  }
  longer->way += longer->way.empty() ? "" : ", ";
  longer->way += name ? std::string("'") + name + "'" : "one without name";
  if (origin)
    longer->way += std::string(" (") + origin + ")";
  return retain(longer);
}

Status FailureBook::deliver(const Poison *poison) {
  if (!isAlive(poison))
    return Status::ok();
  Failure *failure = poison->failure;
  std::string text = failure->text;
  if (!poison->way.empty())
    text += "; skipped because of it: " + poison->way;
  Status status(failure->code, std::move(text));
  failure->isDelivered = true;
  unlink(failure);
  release(failure);
  return status;
}

void FailureBook::markGivenUp(Poison *poison) {
  if (poison != &missingPoison) // Which is of others too.
    poison->failure->isOfGivenUp = true;
}

void FailureBook::deliverGivenUp() {
  for (Failure *failure = first, *following; failure; failure = following) {
    following = failure->next;
    if (!failure->isOfGivenUp)
      continue;
    failure->isDelivered = true;
    unlink(failure);
    release(failure);
  }
}

Status FailureBook::deliverAll() {
  if (!first)
    return Status::ok();
  StatusCode code = first->code;
  std::string text = first->text;
  size_t others = 0;
  while (first) {
    Failure *failure = first;
    failure->isDelivered = true;
    unlink(failure);
    release(failure);
    ++others;
  }
  if (--others)
    text += "; and " + std::to_string(others) +
            (others == 1 ? " more error" : " more errors");
  return Status(code, std::move(text));
}

void GivenUp::addHanging(const std::string &title) {
  if (hangingCount++ < shownNames)
    hanging += (hanging.empty() ? "" : ", ") + title;
}

void GivenUp::nameWaiting(const std::string &title) {
  if (waiting.empty())
    waiting = title;
}

Status GivenUp::status() const {
  std::string text = hanging;
  size_t untold = skippedCount;
  if (hangingCount > shownNames)
    text += " and " + std::to_string(hangingCount - shownNames) + " more";
  if (hangingCount) {
    text += hangingCount == 1 ? ", which has not completed"
                              : ", which have not completed";
  } else if (skippedCount) {
    text = waiting;
    --untold;
  } else {
    return Status::ok();
  }
  if (untold)
    text += ", and " + std::to_string(untold) + (hangingCount ? "" : " more") +
            " that had not started";
  return Status(StatusCode::Unavailable, "gave up " + text);
}
