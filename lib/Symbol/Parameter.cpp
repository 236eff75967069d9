// SPDX-License-Identifier: Apache-2.0

#include "dlc/Symbol/Parameter.h"

#include "dlc/Frontend/Faults.h"
#include "dlc/Symbol/Operator.h"
#include "dlc/runtime/Base/Names.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

using namespace dlc;
using namespace dlc::symbol;
using rt::Result;
using rt::Status;
using rt::StatusCode;

//===-- Declarations ------------------------------------------------------===//

Parameter Parameter::orNone() const {
  Parameter copy = *this;
  copy.acceptsNone = true;
  return copy;
}

Parameter Parameter::atLeast(int64_t bound) const {
  return within(bound, std::numeric_limits<int64_t>::max());
}

Parameter Parameter::within(int64_t low, int64_t high) const {
  Parameter copy = *this;
  copy.least = low;
  copy.most = high;
  return copy;
}

Parameter symbol::required(std::string_view name, ParameterKind kind,
                           std::string_view summary) {
  Parameter parameter;
  parameter.name = name;
  parameter.kind = kind;
  parameter.summary = summary;
  return parameter;
}

Parameter symbol::optional(std::string_view name, ParameterKind kind,
                           std::string_view fallback,
                           std::string_view summary) {
  Parameter parameter = required(name, kind, summary);
  parameter.fallback = fallback;
  parameter.acceptsNone = fallback == "None";
  return parameter;
}

Parameter symbol::choice(std::string_view name,
                         std::vector<std::string_view> choices,
                         std::string_view fallback, std::string_view summary) {
  Parameter parameter =
      optional(name, ParameterKind::Choice, fallback, summary);
  parameter.choices = std::move(choices);
  return parameter;
}

Parameter symbol::requiredChoice(std::string_view name,
                                 std::vector<std::string_view> choices,
                                 std::string_view summary) {
  Parameter parameter = required(name, ParameterKind::Choice, summary);
  parameter.choices = std::move(choices);
  return parameter;
}

Parameter symbol::ignored(std::string_view name, ParameterKind kind,
                          std::string_view fallback) {
  return optional(name, kind, fallback, "Without a meaning here.").orNone();
}

std::string_view symbol::nameOf(ParameterKind kind) {
  constexpr std::string_view names[] = {"bool", "int",           "float",
                                        "text", "choice",        "type",
                                        "ints", "optional ints", "floats"};
  return names[static_cast<size_t>(kind)];
}

//===-- Element types -----------------------------------------------------===//

namespace {
struct TypeRow {
  rt::DataType type;
  int number;
  std::string_view name;
};
} // namespace

/// mshadow's type flags.
static constexpr std::array<TypeRow, 13> typeRows = {{
    {DLC_F32, 0, "float32"},
    {DLC_F64, 1, "float64"},
    {DLC_F16, 2, "float16"},
    {DLC_U8, 3, "uint8"},
    {DLC_I32, 4, "int32"},
    {DLC_I8, 5, "int8"},
    {DLC_I64, 6, "int64"},
    {DLC_BOOL, 7, "bool"},
    {DLC_I16, 8, "int16"},
    {DLC_U16, 9, "uint16"},
    {DLC_U32, 10, "uint32"},
    {DLC_U64, 11, "uint64"},
    {DLC_BF16, 12, "bfloat16"},
}};

std::string_view symbol::typeName(rt::DataType type) {
  for (const TypeRow &row : typeRows)
    if (row.type == type)
      return row.name;
  return "";
}

rt::DataType symbol::typeOfName(std::string_view name) {
  for (const TypeRow &row : typeRows)
    if (row.name == name)
      return row.type;
  return DLC_INVALID_TYPE;
}

rt::DataType symbol::typeOfNumber(int64_t number) {
  for (const TypeRow &row : typeRows)
    if (row.number == number)
      return row.type;
  return DLC_INVALID_TYPE;
}

//===-- Reading -----------------------------------------------------------===//

static std::string_view trim(std::string_view text) {
  auto isSpace = [](char c) { return c == ' ' || c == '\t' || c == '\n'; };
  while (!text.empty() && isSpace(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && isSpace(text.back()))
    text.remove_suffix(1);
  return text;
}

/// Decimal digits with a sign, and the L of Python 2.
static std::optional<int64_t> parseInt(std::string_view text) {
  text = trim(text);
  if (text.starts_with('+') && text.size() > 1 && text[1] != '-')
    text.remove_prefix(1);
  if (text.ends_with('L') && text.size() > 1)
    text.remove_suffix(1);
  int64_t value = 0;
  const char *end = text.data() + text.size();
  auto [next, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || next != end)
    return std::nullopt;
  return value;
}

static std::optional<double> parseFloat(std::string_view text) {
  text = trim(text);
  if (text.starts_with('+') && text.size() > 1 && text[1] != '-')
    text.remove_prefix(1);
  double value = 0;
  const char *end = text.data() + text.size();
  auto [next, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || next != end)
    return std::nullopt;
  return value;
}

static std::optional<bool> parseBool(std::string_view text) {
  std::string lower(trim(text));
  for (char &c : lower)
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (lower == "true" || lower == "1")
    return true;
  if (lower == "false" || lower == "0")
    return false;
  return std::nullopt;
}

/// The items of "(a, b)", "[a,b,]" or a bare "a".
static std::optional<std::vector<std::string_view>>
splitList(std::string_view text) {
  text = trim(text);
  bool isRound = text.starts_with('('), isSquare = text.starts_with('[');
  if (!isRound && !isSquare)
    return text.empty() || text.find(',') != text.npos
               ? std::nullopt
               : std::optional(std::vector{text});
  if (text.size() < 2 || !text.ends_with(isRound ? ')' : ']'))
    return std::nullopt;
  text = trim(text.substr(1, text.size() - 2));
  std::vector<std::string_view> items;
  while (!text.empty()) {
    size_t comma = text.find(',');
    items.push_back(trim(text.substr(0, comma)));
    text = comma == text.npos ? "" : trim(text.substr(comma + 1));
  }
  return items;
}

static std::string describeKind(const Parameter &parameter) {
  switch (parameter.kind) {
  case ParameterKind::Bool:
    return "True or False";
  case ParameterKind::Int:
    return "an integer";
  case ParameterKind::Float:
    return "a number";
  case ParameterKind::Text:
    return "text";
  case ParameterKind::Type:
    return "an element type such as float32";
  case ParameterKind::Ints:
    return "integers such as (2, 2)";
  case ParameterKind::OptionalInts:
    return "integers or None such as (None, 2)";
  case ParameterKind::Floats:
    return "numbers such as (0.5, 1)";
  case ParameterKind::Choice:
    break;
  }
  std::string text = "one of ";
  for (size_t i = 0; i < parameter.choices.size(); ++i)
    text += (i ? ", " : "") + std::string(parameter.choices[i]);
  return text;
}

static Status mismatch(const Parameter &parameter, std::string_view text) {
  std::string expected = describeKind(parameter);
  constexpr int64_t low = std::numeric_limits<int64_t>::min(),
                    high = std::numeric_limits<int64_t>::max();
  if (parameter.least != low && parameter.most != high)
    expected += " from " + std::to_string(parameter.least) + " to " +
                std::to_string(parameter.most);
  else if (parameter.least != low)
    expected += " of at least " + std::to_string(parameter.least);
  if (parameter.acceptsNone && parameter.kind != ParameterKind::OptionalInts)
    expected += ", or None";
  return Status(StatusCode::InvalidArgument, "expected " + expected +
                                                 ", got '" +
                                                 rt::toPrintable(text) + "'");
}

/// Each item of a list through `parse`; nullopt when one is malformed.
template <typename T, typename Parse>
static std::optional<std::vector<T>> parseList(std::string_view text,
                                               Parse &&parse) {
  std::optional<std::vector<std::string_view>> items = splitList(text);
  if (!items)
    return std::nullopt;
  std::vector<T> values;
  for (std::string_view item : *items) {
    std::optional<T> value = parse(item);
    if (!value)
      return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

/// Where there are bounds, neither nan nor inf is within them.
static std::optional<double> floatWithin(const Parameter &parameter,
                                         std::string_view text) {
  std::optional<double> value = parseFloat(text);
  bool hasLeast = parameter.least != std::numeric_limits<int64_t>::min();
  bool hasMost = parameter.most != std::numeric_limits<int64_t>::max();
  bool isGood = value && (!(hasLeast || hasMost) || std::isfinite(*value)) &&
                !(hasLeast && *value < static_cast<double>(parameter.least)) &&
                !(hasMost && *value > static_cast<double>(parameter.most));
  return isGood ? value : std::nullopt;
}

/// A value that may be absent, for Result's sake.
template <typename T>
static std::optional<ParameterValue> wrap(std::optional<T> value) {
  if (!value)
    return std::nullopt;
  return ParameterValue(std::move(*value));
}

static std::optional<ParameterValue> parsePlain(const Parameter &parameter,
                                                std::string_view text) {
  auto inRange = [&](std::string_view item) {
    std::optional<int64_t> value = parseInt(item);
    bool isGood =
        value && *value >= parameter.least && *value <= parameter.most;
    return isGood ? value : std::nullopt;
  };
  switch (parameter.kind) {
  case ParameterKind::Bool:
    return wrap(parseBool(text));
  case ParameterKind::Int:
    return wrap(inRange(text));
  case ParameterKind::Float:
    return wrap(floatWithin(parameter, text));
  case ParameterKind::Text:
    return ParameterValue(std::string(text));
  case ParameterKind::Choice:
    if (std::ranges::find(parameter.choices, trim(text)) ==
        parameter.choices.end())
      return std::nullopt;
    return ParameterValue(std::string(trim(text)));
  case ParameterKind::Type: {
    rt::DataType type = typeOfName(trim(text));
    return type == DLC_INVALID_TYPE ? std::nullopt
                                    : std::optional<ParameterValue>(type);
  }
  case ParameterKind::Ints:
    return wrap(parseList<int64_t>(text, inRange));
  case ParameterKind::OptionalInts:
    return wrap(parseList<std::optional<int64_t>>(
        text,
        [&](std::string_view item) -> std::optional<std::optional<int64_t>> {
          if (item == "None")
            return std::optional<int64_t>();
          std::optional<int64_t> value = inRange(item);
          return value ? std::optional(value) : std::nullopt;
        }));
  case ParameterKind::Floats:
    return wrap(parseList<double>(text, parseFloat));
  }
  return std::nullopt;
}

Result<ParameterValue> symbol::parseValue(const Parameter &parameter,
                                          std::string_view text) {
  if (parameter.acceptsNone && trim(text) == "None")
    return ParameterValue();
  std::optional<ParameterValue> value = parsePlain(parameter, text);
  if (!value)
    return mismatch(parameter, text);
  return std::move(*value);
}

std::optional<std::vector<int64_t>>
symbol::parsePairs(std::string_view text, int64_t least, int64_t most) {
  Parameter pair = required("", ParameterKind::Ints, "").within(least, most);
  text = trim(text);
  bool isTuple = text.starts_with('(') && text.ends_with(')');
  bool isList = text.starts_with('[') && text.ends_with(']');
  if (text.size() < 2 || (!isTuple && !isList))
    return std::nullopt;
  text = trim(text.substr(1, text.size() - 2));
  std::vector<int64_t> values;
  while (!text.empty()) {
    size_t end = text.find(text.front() == '[' ? ']' : ')');
    if ((text.front() != '(' && text.front() != '[') || end == text.npos)
      return std::nullopt;
    Result<ParameterValue> item = parseValue(pair, text.substr(0, end + 1));
    const auto *numbers =
        item.isOk() ? std::get_if<std::vector<int64_t>>(&*item) : nullptr;
    if (!numbers || numbers->size() != 2 || values.size() == 128)
      return std::nullopt;
    values.insert(values.end(), numbers->begin(), numbers->end());
    text = trim(text.substr(end + 1));
    if (!text.empty() && text.front() != ',')
      return std::nullopt;
    text = trim(text.substr(text.empty() ? 0 : 1));
  }
  return values;
}

//===-- Printing ----------------------------------------------------------===//

/// The shortest text that reads back as the same number.
static std::string printFloat(double value) {
  char text[40];
  auto [end, error] = std::to_chars(text, text + sizeof text, value);
  return error == std::errc() ? std::string(text, end) : "nan";
}

namespace {
struct Printer {
  std::string operator()(std::monostate) const { return "None"; }
  std::string operator()(bool v) const { return v ? "True" : "False"; }
  std::string operator()(int64_t v) const { return std::to_string(v); }
  std::string operator()(double v) const { return printFloat(v); }
  std::string operator()(const std::string &v) const { return v; }
  std::string operator()(rt::DataType v) const {
    return std::string(typeName(v));
  }
  std::string operator()(const std::optional<int64_t> &v) const {
    return v ? std::to_string(*v) : "None";
  }
  template <typename T> std::string operator()(const std::vector<T> &v) const {
    std::string text = "(";
    for (size_t i = 0; i < v.size(); ++i)
      text += (i ? ", " : "") + (*this)(v[i]);
    return text + (v.size() == 1 ? ",)" : ")");
  }
};
} // namespace

std::string symbol::toText(const ParameterValue &value) {
  return std::visit(Printer(), value);
}

std::string symbol::toText(const std::vector<int64_t> &dims) {
  return Printer()(dims);
}

//===-- Parameters --------------------------------------------------------===//

static bool isUserAttribute(std::string_view name) {
  return name.size() > 4 && name.starts_with("__") && name.ends_with("__");
}

static ParameterFault unknownParameter(const Operator &op,
                                       std::string_view name) {
  std::string known;
  std::vector<std::string_view> names;
  for (const Parameter &parameter : op.parameters) {
    known += (known.empty() ? "" : ", ") + std::string(parameter.name);
    names.push_back(parameter.name);
  }
  std::string found = "parameter '" + rt::toPrintable(name) + "'";
  return {Status(StatusCode::InvalidArgument,
                 known.empty() ? "expected no parameters, got " + found
                               : "expected a parameter out of " + known +
                                     ", got " + found),
          std::string(frontend::nearestName(name, names))};
}

static ParameterFault missingParameter(const Parameter &parameter) {
  std::string name(parameter.name);
  return {Status(StatusCode::InvalidArgument,
                 "expected parameter '" + name + "', " +
                     describeKind(parameter) + ", got none"),
          ""};
}

static ParameterFault wrongParameter(const Parameter &parameter,
                                     std::string_view text, Status status) {
  std::string name(parameter.name);
  std::string_view nearest = frontend::nearestName(text, parameter.choices);
  return {std::move(status).withContext("parameter '" + name + "'"),
          nearest.empty() ? "" : name + "=" + std::string(nearest)};
}

Result<Parameters> Parameters::parse(const Operator &op,
                                     const Attributes &attributes,
                                     std::vector<ParameterFault> *faults) {
  std::vector<ParameterFault> found;
  for (const auto &[name, text] : attributes) {
    auto isName = [&](const Parameter &p) { return p.name == name; };
    if (!isUserAttribute(name) && std::ranges::none_of(op.parameters, isName))
      found.push_back(unknownParameter(op, name));
  }
  Parameters result;
  result.op = &op;
  for (const Parameter &parameter : op.parameters) {
    auto attribute = attributes.find(parameter.name);
    bool isGiven = attribute != attributes.end();
    if (!isGiven && !parameter.fallback) {
      found.push_back(missingParameter(parameter));
      continue;
    }
    std::string_view text = isGiven ? attribute->second : *parameter.fallback;
    Result<ParameterValue> value = parseValue(parameter, text);
    if (!value.isOk()) {
      found.push_back(
          wrongParameter(parameter, text, std::move(value.status())));
      continue;
    }
    result.values.push_back(std::move(*value));
    result.given.push_back(isGiven);
  }
  if (found.empty())
    return result;
  Status first(found.front().status.code(), found.front().status.message());
  if (faults)
    *faults = std::move(found);
  return first;
}

size_t Parameters::find(std::string_view name) const {
  for (size_t i = 0; i < values.size(); ++i)
    if (op->parameters[i].name == name)
      return i;
  std::fprintf(stderr, "internal: no parameter '%.*s' is declared\n",
               static_cast<int>(name.size()), name.data());
  std::abort();
}

const ParameterValue &Parameters::get(std::string_view name) const {
  return values[find(name)];
}

bool Parameters::getBool(std::string_view name) const {
  return std::get<bool>(get(name));
}
int64_t Parameters::getInt(std::string_view name) const {
  return std::get<int64_t>(get(name));
}
double Parameters::getFloat(std::string_view name) const {
  return std::get<double>(get(name));
}
const std::string &Parameters::getText(std::string_view name) const {
  return std::get<std::string>(get(name));
}
rt::DataType Parameters::getType(std::string_view name) const {
  return std::get<rt::DataType>(get(name));
}
const std::vector<int64_t> &Parameters::getInts(std::string_view name) const {
  return std::get<std::vector<int64_t>>(get(name));
}
const std::vector<std::optional<int64_t>> &
Parameters::getOptionalInts(std::string_view name) const {
  return std::get<std::vector<std::optional<int64_t>>>(get(name));
}
const std::vector<double> &Parameters::getFloats(std::string_view name) const {
  return std::get<std::vector<double>>(get(name));
}
bool Parameters::isNone(std::string_view name) const {
  return std::holds_alternative<std::monostate>(get(name));
}
bool Parameters::isGiven(std::string_view name) const {
  return given[find(name)];
}
