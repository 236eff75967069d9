// SPDX-License-Identifier: Apache-2.0
//
// Reads packing problems from text that nobody vouches for.

#include "dlc/Planning/Memory/Csv.h"

#include <array>
#include <bit>
#include <charconv>
#include <unordered_map>

namespace dlc::planning {
namespace {

enum Column { Id, Lower, Upper, Size, Alignment, Offset, AliasOf, AliasDelta };
constexpr size_t kColumns = 8;
constexpr size_t kRequiredColumns = 4; // the first of them
constexpr std::array<std::string_view, kColumns> kColumnNames = {
    "id",        "lower",  "upper",    "size",
    "alignment", "offset", "alias_of", "alias_delta"};

/// User text as messages show it: short and printable.
std::string quote(std::string_view text) {
  constexpr size_t kLongest = 40;
  std::string result = "'";
  for (char c : text.substr(0, kLongest))
    result += c >= ' ' && c <= '~' ? c : '?';
  return result + (text.size() > kLongest ? "...'" : "'");
}

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> fields;
  while (true) {
    const size_t comma = line.find(',');
    fields.push_back(line.substr(0, comma));
    if (comma == std::string_view::npos)
      return fields;
    line.remove_prefix(comma + 1);
  }
}

class CsvReader {
public:
  explicit CsvReader(std::string_view text) : rest(text) {}

  Error read(Problem &problem);

private:
  struct Reference { // an alias whose base may be further down
    size_t view = 0, line = 0;
    std::string_view base;
    int64_t delta = 0;
  };

  bool nextLine(std::string_view &line);
  Error readHeader(std::string_view header);
  Error readRow(std::string_view row);
  Error readBuffer(Buffer &buffer);
  Error readAlias(size_t view);
  Error resolveAliases();
  bool has(Column column) const { return places[column].has_value(); }
  std::string_view field(Column column) const {
    return has(column) ? fields[*places[column]] : std::string_view();
  }
  Error readNumber(Column column, int64_t &value, bool maySign = false) const;
  std::string at(size_t number) const {
    return "line " + std::to_string(number) + ": ";
  }
  std::string here() const { return at(lineNumber); }

  std::string_view rest;
  size_t lineNumber = 0;
  std::array<std::optional<size_t>, kColumns> places; // column -> field
  size_t width = 0;                                   // fields of a row
  std::vector<std::string_view> fields;               // of the row at hand
  Problem result;
  std::vector<Reference> references;
  /// id -> buffer; every row is one line, so the line is known from it.
  std::unordered_map<std::string_view, size_t> known;
};

bool CsvReader::nextLine(std::string_view &line) {
  if (rest.empty())
    return false;
  const size_t end = rest.find('\n');
  line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  if (line.ends_with('\r'))
    line.remove_suffix(1);
  ++lineNumber;
  return true;
}

Error CsvReader::read(Problem &problem) {
  std::string_view line;
  if (!nextLine(line))
    return "line 1: expected a header, got nothing";
  if (Error error = readHeader(line))
    return error;
  size_t emptyLine = 0;
  while (nextLine(line)) {
    if (line.empty()) {
      emptyLine = emptyLine ? emptyLine : lineNumber;
      continue;
    }
    if (emptyLine)
      return at(emptyLine) + "expected a row, got an empty line";
    if (Error error = readRow(line))
      return error;
  }
  if (Error error = resolveAliases())
    return error;
  if (Error error = checkProblem(result))
    return error;
  problem = std::move(result);
  return std::nullopt;
}

Error CsvReader::readHeader(std::string_view header) {
  const std::vector<std::string_view> names = split(header);
  width = names.size();
  for (size_t k = 0; k < width; ++k) {
    size_t column = 0;
    while (column < kColumns && kColumnNames[column] != names[k])
      ++column;
    if (column == kColumns)
      return here() + "expected a known column, got " + quote(names[k]);
    if (places[column])
      return here() + "expected column " + quote(names[k]) + " once, got it " +
             "twice";
    places[column] = k;
  }
  for (size_t column = 0; column < kRequiredColumns; ++column)
    if (!places[column])
      return here() + "expected a column '" +
             std::string(kColumnNames[column]) + "', got none";
  if (has(AliasDelta) && !has(AliasOf))
    return here() + "expected a column 'alias_of' beside 'alias_delta', got "
                    "none";
  return std::nullopt;
}

Error CsvReader::readNumber(Column column, int64_t &value, bool maySign) const {
  const std::string_view text = field(column);
  const std::string name = "'" + std::string(kColumnNames[column]) + "'";
  const char *end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, value);
  if (code == std::errc::result_out_of_range && stop == end)
    return here() + "expected a number below 2^63 in column " + name +
           ", got " + quote(text);
  if (code != std::errc() || stop != end)
    return here() + "expected a number in column " + name + ", got " +
           quote(text);
  if (value < 0 && !maySign)
    return here() + "expected a number >= 0 in column " + name + ", got " +
           std::to_string(value);
  return std::nullopt;
}

Error CsvReader::readRow(std::string_view row) {
  fields = split(row);
  if (fields.size() != width)
    return here() + "expected " + std::to_string(width) + " columns, got " +
           std::to_string(fields.size());
  Buffer buffer;
  if (Error error = readBuffer(buffer))
    return error;
  const size_t index = result.buffers.size();
  if (auto [it, isNew] = known.emplace(field(Id), index); !isNew)
    return here() + "expected a unique id, got " + quote(field(Id)) +
           " as on line " + std::to_string(it->second + 2);
  result.buffers.push_back(std::move(buffer));
  return readAlias(index);
}

Error CsvReader::readBuffer(Buffer &buffer) {
  if (field(Id).empty())
    return here() + "expected an id, got an empty field";
  buffer.id = field(Id);
  if (Error error = readNumber(Lower, buffer.lower))
    return error;
  if (Error error = readNumber(Upper, buffer.upper))
    return error;
  if (Error error = readNumber(Size, buffer.size))
    return error;
  if (buffer.upper <= buffer.lower)
    return here() + "expected upper > lower " + std::to_string(buffer.lower) +
           ", got " + std::to_string(buffer.upper);
  if (has(Alignment)) {
    if (Error error = readNumber(Alignment, buffer.alignment))
      return error;
    if (!std::has_single_bit(static_cast<uint64_t>(buffer.alignment)))
      return here() + "expected an alignment that is a power of two, got " +
             std::to_string(buffer.alignment);
  }
  if (field(Offset).empty())
    return std::nullopt;
  int64_t offset = 0;
  if (Error error = readNumber(Offset, offset))
    return error;
  if (offset % buffer.alignment != 0)
    return here() + "expected an offset aligned to " +
           std::to_string(buffer.alignment) + ", got " + std::to_string(offset);
  buffer.pinnedOffset = offset;
  return std::nullopt;
}

Error CsvReader::readAlias(size_t view) {
  Reference reference{view, lineNumber, field(AliasOf), 0};
  if (!field(AliasDelta).empty()) {
    if (reference.base.empty())
      return here() + "expected an id in column 'alias_of' beside a delta, "
                      "got an empty field";
    if (Error error = readNumber(AliasDelta, reference.delta, true))
      return error;
  }
  if (!reference.base.empty())
    references.push_back(reference);
  return std::nullopt;
}

Error CsvReader::resolveAliases() {
  for (const Reference &reference : references) {
    auto it = known.find(reference.base);
    if (it == known.end())
      return at(reference.line) + "expected the id of a row in column " +
             "'alias_of', got " + quote(reference.base);
    result.aliases.push_back({reference.view, it->second, reference.delta});
  }
  return std::nullopt;
}

} // namespace

Error readCsv(std::string_view text, Problem &problem) {
  return CsvReader(text).read(problem);
}

} // namespace dlc::planning
