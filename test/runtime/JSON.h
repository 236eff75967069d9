// SPDX-License-Identifier: Apache-2.0
//
// A reader of JSON for tests of what is written: strict, small, slow.

#ifndef DLC_TEST_RUNTIME_JSON_H
#define DLC_TEST_RUNTIME_JSON_H

#include <cctype>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dlc::rt::test {

/// A value; of objects and arrays the parts.
struct JSON {
  enum Kind { Null, Bool, Number, String, Array, Object } kind = Null;
  double number = 0;  ///< Of a Bool 0 or 1.
  std::string string; ///< Escapes replaced; \uXXXX below 128 only.
  std::vector<JSON> array;
  std::map<std::string, JSON> object;

  /// The member `name`; Null when there is none.
  const JSON &operator[](const std::string &name) const {
    static const JSON none;
    auto found = object.find(name);
    return found == object.end() ? none : found->second;
  }

  /// All of `text`, or nothing when it is not JSON.
  static std::optional<JSON> parse(const std::string &text);
};

class JSONParser {
public:
  explicit JSONParser(const std::string &text) : text(text) {}

  bool value(JSON &out) {
    skipSpace();
    switch (peek()) {
    case '{':
      out.kind = JSON::Object;
      return list('}', [&] {
        JSON name;
        skipSpace();
        return string(name) && take(':') && !out.object.count(name.string) &&
               value(out.object[name.string]);
      });
    case '[':
      out.kind = JSON::Array;
      return list(']', [&] { return value(out.array.emplace_back()); });
    case '"':
      return string(out);
    case 't':
      return word("true", out, JSON::Bool, 1);
    case 'f':
      return word("false", out, JSON::Bool, 0);
    case 'n':
      return word("null", out, JSON::Null, 0);
    default:
      return number(out);
    }
  }

  bool atEnd() {
    skipSpace();
    return place == text.size();
  }

private:
  char peek() const { return place < text.size() ? text[place] : '\0'; }
  void skipSpace() {
    while (std::isspace(static_cast<unsigned char>(peek())))
      ++place;
  }
  bool take(char c) {
    skipSpace();
    if (peek() != c)
      return false;
    ++place;
    return true;
  }

  template <typename Item> bool list(char end, Item item) {
    ++place;
    if (take(end))
      return true;
    do {
      if (!item())
        return false;
    } while (take(','));
    return take(end);
  }

  bool word(const std::string &word, JSON &out, JSON::Kind kind, double value) {
    out.kind = kind;
    out.number = value;
    bool matches = text.compare(place, word.size(), word) == 0;
    place += word.size();
    return matches;
  }

  bool number(JSON &out) {
    const char *begin = text.c_str() + place;
    if (*begin != '-' && !std::isdigit(static_cast<unsigned char>(*begin)))
      return false;
    char *end;
    out.kind = JSON::Number;
    out.number = std::strtod(begin, &end);
    place += end - begin;
    return true;
  }

  bool string(JSON &out) {
    out.kind = JSON::String;
    if (peek() != '"')
      return false;
    for (++place; peek() != '"'; ++place) {
      if (static_cast<unsigned char>(peek()) < 0x20)
        return false;
      if (peek() != '\\') {
        out.string += peek();
        continue;
      }
      ++place;
      if (peek() == 'u') {
        out.string += char(std::stoi(text.substr(place + 1, 4), nullptr, 16));
        place += 4;
      } else if (peek() == '"' || peek() == '\\') {
        out.string += peek();
      } else {
        return false;
      }
    }
    ++place;
    return true;
  }

  const std::string &text;
  size_t place = 0;
};

inline std::optional<JSON> JSON::parse(const std::string &text) {
  JSONParser parser(text);
  JSON result;
  if (!parser.value(result) || !parser.atEnd())
    return std::nullopt;
  return result;
}

} // namespace dlc::rt::test

#endif // DLC_TEST_RUNTIME_JSON_H
