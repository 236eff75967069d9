// SPDX-License-Identifier: Apache-2.0
//
// CLI11 splits the command line and prints help. Values are converted here and
// its errors are said again in our words.

#include "CommandLine.h"
#include "Command.h"

#include <CLI/CLI.hpp>

#include <charconv>
#include <concepts>

using namespace dlc::tool;

static Failure misuse(std::string message) {
  return {std::move(message), kBadUsage};
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

template <typename T> static const char *typeName() {
  return std::floating_point<T>    ? "FLOAT"
         : std::signed_integral<T> ? "INT"
                                   : "UINT";
}

/// The smallest number above 0.
template <typename T> static constexpr T aboveZero() {
  return std::floating_point<T> ? std::numeric_limits<T>::min() : T(1);
}

/// "a whole number from 0 to 1024"
template <typename T> static std::string describe(const Range<T> &range) {
  if constexpr (std::floating_point<T>)
    return range.least == aboveZero<T>() ? "a number above 0"
           : range.least == 0            ? "a number of at least 0"
                                         : "a number";
  else
    return "a whole number from " + std::to_string(range.least) + " to " +
           std::to_string(range.most);
}

/// Reads all of `text`; throws a Failure when it is not in the range.
template <typename T>
static T readNumber(const std::string &name, const std::string &text,
                    const Range<T> &range) {
  T value = 0;
  const char *end = text.data() + text.size();
  auto [next, error] = std::from_chars(text.data(), end, value);
  // Comparisons with NaN are false.
  bool isGood = error == std::errc() && next == end && value >= range.least &&
                value <= range.most;
  if (!isGood)
    throw misuse("expected " + describe(range) + " for " + name + ", got '" +
                 text + "'");
  return value;
}

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

using Values = std::vector<std::string>;

/// No text that is asked for may be empty, or the option would be as if it were
/// not given: an empty variable of a script, as a rule.
static const std::string &checkText(const std::string &name,
                                    const std::string &text) {
  if (text.empty())
    throw misuse("expected a value for " + name + ", got an empty one");
  return text;
}

/// Adds an option that is given once; `write` takes its name and its text.
template <typename Write>
static CLI::Option *addOnce(CLI::App &app, const char *names, const char *type,
                            const std::string &help, Write write) {
  auto name = std::make_shared<std::string>();
  CLI::callback_t read = [name, write](const Values &given) {
    if (given.size() != 1)
      throw misuse("expected " + *name + " once, got it " +
                   std::to_string(given.size()) + " times");
    write(*name, given.front());
    return true;
  };
  CLI::Option *option = app.add_option(names, std::move(read), help);
  option->type_name(type);
  option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  *name = option->get_name();
  return option;
}

static CLI::Option *addTexts(CLI::App &app, const char *names, Values &values,
                             const std::string &help) {
  auto name = std::make_shared<std::string>();
  CLI::callback_t read = [name, &values](const Values &given) {
    for (const std::string &text : given)
      values.push_back(checkText(*name, text));
    return true;
  };
  CLI::Option *option = app.add_option(names, std::move(read), help);
  option->type_name("TEXT")->expected(CLI::detail::expected_max_vector_size);
  *name = option->get_name();
  return option;
}

static CLI::Option *addText(CLI::App &app, const char *names,
                            std::string &value, const std::string &help) {
  return addOnce(app, names, "TEXT", help,
                 [&value](const std::string &name, const std::string &text) {
                   value = checkText(name, text);
                 });
}

template <typename T>
static CLI::Option *addNumber(CLI::App &app, const char *names, T &value,
                              const std::string &type, const std::string &help,
                              Range<T> range) {
  auto write = [&value, range](const std::string &name,
                               const std::string &text) {
    value = readNumber(name, text, range);
  };
  return addOnce(app, names, type.c_str(), help, write);
}

void Syntax::option(const char *names, std::string &value,
                    const std::string &help) {
  addText(*app, names, value, help);
}

void Syntax::option(const char *names, Values &values,
                    const std::string &help) {
  // Of what follows one value, the next is the program's own argument.
  addTexts(*app, names, values, help)->allow_extra_args(false);
}

template <typename T>
void Syntax::option(const char *names, T &value, const std::string &help,
                    Range<T> range) {
  addNumber(*app, names, value, typeName<T>(), help, range);
}

template <typename T>
void Syntax::positive(const char *names, T &value, const std::string &help) {
  addNumber(*app, names, value, typeName<T>() + std::string(":POSITIVE"), help,
            {.least = aboveZero<T>()});
}

void Syntax::required(const char *name, std::string &value,
                      const std::string &help) {
  addText(*app, name, value, help)->required();
}

void Syntax::required(const char *name, Values &values,
                      const std::string &help) {
  addTexts(*app, name, values, help)->required();
}

void Syntax::flag(const char *names, bool &value, const std::string &help) {
  app->add_flag(names, value, help)->disable_flag_override();
}

void Syntax::anything() {
  app->prefix_command();
  app->set_help_flag();
}

const char *
Syntax::firstGiven(std::initializer_list<const char *> names) const {
  for (const char *name : names)
    if (app->count(name))
      return name;
  return nullptr;
}

namespace dlc::tool {
using Text = std::string;
template void Syntax::option(const char *, unsigned &, const Text &,
                             Range<unsigned>);
template void Syntax::option(const char *, int64_t &, const Text &,
                             Range<int64_t>);
template void Syntax::option(const char *, uint64_t &, const Text &,
                             Range<uint64_t>);
template void Syntax::option(const char *, double &, const Text &,
                             Range<double>);
template void Syntax::positive(const char *, unsigned &, const Text &);
template void Syntax::positive(const char *, int64_t &, const Text &);
template void Syntax::positive(const char *, double &, const Text &);
} // namespace dlc::tool

//===----------------------------------------------------------------------===//
// CommandLine
//===----------------------------------------------------------------------===//

CommandLine::CommandLine()
    : app(std::make_unique<CLI::App>(
          "Compiles, runs, measures and explains neural networks")) {
  app->name("dlc");
  app->require_subcommand(1);
  app->set_version_flag("--version", "dlc " DLC_VERSION);
}

CommandLine::~CommandLine() = default;

Syntax CommandLine::add(const char *name, const std::string &summary,
                        std::function<int()> run) {
  CLI::App *command = app->add_subcommand(name, summary);
  command->callback([this, run = std::move(run)] { chosen = run; });
  return Syntax(*command);
}

/// What CLI11 found wrong, in one line of ours. Some facts are in its text
/// only, whose form is checked by test/e2e/bad_input.py.
static std::string explain(const CLI::App &app, const CLI::ParseError &error) {
  std::vector<const CLI::App *> commands =
      app.get_subcommands([](const CLI::App *) { return true; });
  std::erase_if(commands, [](const CLI::App *command) { return !*command; });
  std::string name =
      commands.empty() ? "dlc" : "dlc " + commands[0]->get_name();
  std::string see = " (see " + name + " --help), got ";
  Values extra = app.remaining(/*recurse=*/true);
  std::string found = extra.empty() ? "none" : "'" + extra[0] + "'";
  std::string text = error.what();
  switch (static_cast<CLI::ExitCodes>(error.get_exit_code())) {
  case CLI::ExitCodes::RequiredError:
    if (commands.empty())
      return "expected a command" + see + found;
    // "NAME is required"
    return "expected an argument '" + text.substr(0, text.find(' ')) + "'" +
           see + "none";
  case CLI::ExitCodes::ExtrasError:
    return (found.starts_with("'-") ? "expected an option of " + name
                                    : "expected no further argument") +
           see + found;
  case CLI::ExitCodes::ArgumentMismatch:
    // "--NAME: 1 required TYPE missing"
    if (text.ends_with(" missing"))
      return "expected a value for " + text.substr(0, text.find(':')) + see +
             "none";
    // "NAME was given a disallowed flag override"
    return "expected no value for --" + text.substr(0, text.find(' ')) + see +
           "one";
  default:
    return "expected a command line that can be read" + see + "'" + text + "'";
  }
}

int CommandLine::run(int argc, char **argv) {
  try {
    app->parse(argc, argv);
  } catch (const CLI::Success &help) {
    return app->exit(help);
  } catch (const CLI::ParseError &error) {
    throw misuse(explain(*app, error));
  }
  return chosen();
}
