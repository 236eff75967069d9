// SPDX-License-Identifier: Apache-2.0

#include "dlc/Training/InitializerText.h"

#include "llvm/Support/JSON.h"

using namespace dlc::training;
using llvm::StringRef;

namespace {
/// A class of MXNet's: the option that is our scale, "" for none, and what
/// others have to be, their only values here.
struct Row {
  StringRef name, ours, scale;
  std::initializer_list<std::pair<StringRef, StringRef>> fixed = {};
};
} // namespace

/// mxnet/initializer.py of 1.9.1, names and aliases.
static const Row rows[] = {
    {"zero", "zero", ""},
    {"zeros", "zero", ""},
    {"one", "one", ""},
    {"ones", "one", ""},
    {"constant", "constant", "value"},
    {"uniform", "uniform", "scale"},
    {"normal", "normal", "sigma"},
    // Either way of drawing gives rows of the same distribution.
    {"orthogonal", "orthogonal", "scale", {{"rand_type", ""}}},
    {"xavier",
     "xavier",
     "magnitude",
     {{"rnd_type", "uniform"}, {"factor_type", "avg"}}},
    {"msraprelu", "msra", "slope", {{"factor_type", "avg"}}},
    {"bilinear", "bilinear", ""},
    {"lstmbias", "lstmbias", "forget_bias"},
};

static std::string names() {
  std::string text;
  for (const Row &row : rows)
    text += (text.empty() ? "" : ", ") + row.name.str();
  return text;
}

/// Reads one option of a class. What was expected of it instead, or "".
static std::string readOption(const Row &row, StringRef key,
                              const llvm::json::Value &value,
                              InitializerOptions &options) {
  std::string of =
      "'" + key.str() + "' of initializer '" + row.name.str() + "' ";
  if (!row.scale.empty() && key == row.scale) {
    options.scale = value.getAsNumber();
    return options.scale ? "" : of + "to be a number";
  }
  for (auto [name, only] : row.fixed)
    if (key == name)
      return only.empty() || value.getAsString() == only
                 ? ""
                 : of + "to be '" + only.str() + "'";
  return "no " + of.substr(0, of.size() - 1);
}

std::optional<InitializerOptions>
dlc::training::parseInitializer(StringRef text, std::string &problem) {
  auto refuse = [&](const std::string &what) -> std::nullopt_t {
    problem = "expected " + what + ", got '" + text.str() + "'";
    return std::nullopt;
  };
  llvm::json::Value whole = nullptr;
  if (!text.trim().starts_with("["))
    whole = llvm::json::Array{text.trim()};
  else if (llvm::Expected<llvm::json::Value> read = llvm::json::parse(text))
    whole = std::move(*read);
  else
    llvm::consumeError(read.takeError());
  const llvm::json::Array *parts = whole.getAsArray();
  std::optional<StringRef> name;
  if (parts && !parts->empty() && parts->size() <= 2)
    name = parts->front().getAsString();
  if (!name)
    return refuse("an initializer like [\"normal\", {\"sigma\": 0.1}]");
  const Row *row = llvm::find_if(rows, [&](const Row &each) {
    return name->equals_insensitive(each.name);
  });
  if (row == std::end(rows))
    return refuse("an initializer of " + names());
  InitializerOptions options{row->ours.str()};
  if (parts->size() == 2 && !parts->back().getAsObject())
    return refuse("an object of the initializer's options");
  if (parts->size() == 2)
    for (const auto &[key, value] : *parts->back().getAsObject())
      if (std::string wanted = readOption(*row, key, value, options);
          !wanted.empty())
        return refuse(wanted);
  if (std::optional<std::string> wrong = check(options)) {
    problem = *wrong;
    return std::nullopt;
  }
  return options;
}
