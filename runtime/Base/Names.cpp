// SPDX-License-Identifier: Apache-2.0

#include "dlc/runtime/Base/Names.h"

#include "dlc/runtime/Base/Text.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

using namespace dlc::rt;

std::string dlc::rt::toPrintable(std::string_view text) {
  constexpr size_t most = 100;
  constexpr char digits[] = "0123456789abcdef";
  std::string result;
  while (!text.empty()) {
    std::string_view rest = text;
    int32_t character = takeUtf8(rest);
    size_t length = character < 0 ? 1 : text.size() - rest.size();
    // Control characters of ASCII and of Latin-1.
    bool isShown = character >= 0x20 && (character < 0x7f || character >= 0xa0);
    if (result.size() + (isShown ? length : 4 * length) > most)
      return result + "...";
    for (unsigned char byte : text.substr(0, length))
      if (isShown)
        result += char(byte);
      else
        result += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
    text.remove_prefix(length);
  }
  return result;
}

std::string dlc::rt::listSome(std::span<const std::string> names, size_t most) {
  std::string text;
  for (const std::string &name : names.first(std::min(names.size(), most)))
    text += (text.empty() ? "" : ", ") + name;
  if (names.size() > most)
    text += " and " + std::to_string(names.size() - most) + " more";
  return text;
}

std::vector<std::string>
dlc::rt::makeDistinct(std::vector<std::string> names,
                      std::span<const std::string> taken) {
  std::unordered_set<std::string> given(taken.begin(), taken.end()), all(given);
  all.insert(names.begin(), names.end());
  for (std::string &name : names) {
    if (given.insert(name).second)
      continue;
    std::string other;
    for (size_t i = 1; other.empty(); ++i)
      if (std::string next = name + "_" + std::to_string(i);
          all.insert(next).second)
        other = std::move(next);
    name = std::move(other);
  }
  return names;
}

Status dlc::rt::checkDistinct(std::vector<std::string_view> names,
                              std::string_view what, StatusCode code) {
  std::ranges::sort(names);
  auto twice = std::ranges::adjacent_find(names);
  if (twice == names.end())
    return Status::ok();
  return Status(code, "two " + std::string(what) + " are named '" +
                          toPrintable(*twice) + "'");
}

/// ASCII only: names of others are compared as they are.
static char toLower(char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; }

NearName::NearName(std::string_view name)
    : given(name), most(2 * ((name.size() + 1) / 3)) {
  std::ranges::transform(given, given.begin(), toLower);
}

/// How many letters are to be added, left out, changed or swapped with the next
/// to make `b` of `a`; `b` may have capitals.
static size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> beforeLast, last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j != last.size(); ++j)
    last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      bool isSame = a[i - 1] == toLower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + !isSame});
      if (i > 1 && j > 1 && a[i - 1] == toLower(b[j - 2]) &&
          a[i - 2] == toLower(b[j - 1]))
        row[j] = std::min(row[j], beforeLast[j - 2] + 1);
    }
    beforeLast = std::exchange(last, row);
  }
  return last.back();
}

/// Whether `word`, in lower case, is between underscores in `name`, or between
/// one and an end.
static bool hasWord(std::string_view name, std::string_view word) {
  for (size_t begin = 0; begin <= name.size();) {
    size_t end = std::min(name.find('_', begin), name.size());
    if (std::ranges::equal(name.substr(begin, end - begin), word, {}, toLower))
      return true;
    begin = end + 1;
  }
  return false;
}

void NearName::offer(std::string_view known) {
  size_t gap = known.size() > given.size() ? known.size() - given.size()
                                           : given.size() - known.size();
  bool isWord = given.size() > 1 && gap != 0 && hasWord(known, given);
  // Long names would take long, and nobody means them.
  if (known.size() > 64 || (2 * gap > most && !isWord))
    return;
  size_t far = isWord ? 1 : 2 * distance(given, known);
  if (far > most || (far == most && !found.empty()))
    return;
  found = known;
  most = far;
}

std::string NearName::question() const {
  return found.empty() ? "" : ": did you mean '" + std::string(found) + "'?";
}
