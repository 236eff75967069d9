// SPDX-License-Identifier: Apache-2.0
//
// Copies of names for the life of an engine.

#ifndef DLC_RUNTIME_ENGINE_TEXTTABLE_H
#define DLC_RUNTIME_ENGINE_TEXTTABLE_H

#include "dlc/runtime/Base/Hash.h"

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <span>
#include <string_view>

namespace dlc::rt {

/// Equal texts are kept once. For any thread.
class TextTable {
public:
  TextTable() = default;
  TextTable(const TextTable &) = delete;
  TextTable &operator=(const TextTable &) = delete;
  ~TextTable() {
    for (Entry *entry : buckets)
      while (entry) {
        Entry *next = entry->next;
        std::free(entry);
        entry = next;
      }
  }

  /// Null when there is no memory.
  const char *keep(std::string_view text) {
    uint64_t hash = xxHash64(std::as_bytes(std::span(text)));
    std::lock_guard guard(mutex);
    Entry *&bucket = buckets[hash % bucketCount];
    for (Entry *entry = bucket; entry; entry = entry->next)
      if (entry->size == text.size() &&
          std::memcmp(entry + 1, text.data(), text.size()) == 0)
        return reinterpret_cast<const char *>(entry + 1);
    auto *entry =
        static_cast<Entry *>(std::malloc(sizeof(Entry) + text.size() + 1));
    if (!entry)
      return nullptr;
    char *copy = reinterpret_cast<char *>(entry + 1);
    std::memcpy(copy, text.data(), text.size());
    copy[text.size()] = 0;
    *entry = {bucket, text.size()};
    bucket = entry;
    return copy;
  }

private:
  static constexpr size_t bucketCount = 256;
  struct Entry { // The text follows.
    Entry *next;
    size_t size;
  };

  std::mutex mutex; ///< Guards the buckets.
  Entry *buckets[bucketCount] = {};
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_ENGINE_TEXTTABLE_H
