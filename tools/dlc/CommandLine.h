// SPDX-License-Identifier: Apache-2.0
//
// What a command line may say. Only CommandLine.cpp sees the library that
// parses it, which would take most of the time to compile every command.

#ifndef DLC_TOOLS_DLC_COMMANDLINE_H
#define DLC_TOOLS_DLC_COMMANDLINE_H

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
} // namespace CLI

namespace dlc::tool {

/// The numbers that an option accepts, ends included. NaN is in no range.
template <typename T> struct Range {
  T least = std::numeric_limits<T>::lowest();
  T most = std::numeric_limits<T>::max();
};

/// The options of one command. Names are like "-o,--output"; a name without
/// dashes is a positional argument. A value is written when the command line is
/// parsed, and keeps its default otherwise. Each option is given at most once.
class Syntax {
public:
  explicit Syntax(CLI::App &app) : app(&app) {}

  void option(const char *names, std::string &value, const std::string &help);
  /// One that may be repeated.
  void option(const char *names, std::vector<std::string> &values,
              const std::string &help);
  /// A number: T is unsigned, int64_t, uint64_t or double.
  template <typename T>
  void option(const char *names, T &value, const std::string &help,
              Range<T> range = {});
  /// A number above 0.
  template <typename T>
  void positive(const char *names, T &value, const std::string &help);

  /// An argument that must be given, or a list of them.
  void required(const char *name, std::string &value, const std::string &help);
  void required(const char *name, std::vector<std::string> &values,
                const std::string &help);

  void flag(const char *names, bool &value, const std::string &help);
  /// Whatever follows is taken and not looked at.
  void anything();

  /// Once the command line is parsed: the first of these options that it has,
  /// or null.
  const char *firstGiven(std::initializer_list<const char *> names) const;

private:
  CLI::App *app;
};

/// The whole command line: dlc COMMAND OPTIONS.
class CommandLine {
public:
  CommandLine();
  ~CommandLine();

  /// Adds a command. `run` carries it out and returns the exit code; it owns
  /// what the options are written to.
  Syntax add(const char *name, const std::string &summary,
             std::function<int()> run);

  /// Parses and carries out. Throws a Failure (kBadUsage) for a mistake in the
  /// command line; a request for help ends with kOk.
  int run(int argc, char **argv);

private:
  std::unique_ptr<CLI::App> app;
  std::function<int()> chosen;
};

} // namespace dlc::tool

#endif // DLC_TOOLS_DLC_COMMANDLINE_H
