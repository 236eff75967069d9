// SPDX-License-Identifier: Apache-2.0
//
// What a command line may say. Only CommandLine.cpp sees the library that
// parses it, which would take most of the time to compile every command.

#ifndef DLC_TOOLS_DLC_COMMANDLINE_H
#define DLC_TOOLS_DLC_COMMANDLINE_H

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
} // namespace CLI

namespace dlc::tool {

/// The options of one command. Names are like "-o,--output"; a name without
/// dashes is a positional argument. A value is written when the command line is
/// parsed, and keeps its default otherwise. T is std::string, unsigned,
/// int64_t, uint64_t, double, or a std::vector of strings, which may be
/// repeated.
class Syntax {
public:
  explicit Syntax(CLI::App &app) : app(&app) {}

  template <typename T>
  void option(const char *names, T &value, const std::string &help);
  /// One that must be given.
  template <typename T>
  void required(const char *names, T &value, const std::string &help);
  /// One that must be above 0.
  template <typename T>
  void positive(const char *names, T &value, const std::string &help);
  void flag(const char *names, bool &value, const std::string &help);
  /// Whatever follows is taken and not looked at.
  void anything();

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

  /// Parses and carries out. A command line with a mistake ends with a message
  /// and kBadUsage, a request for help with kOk.
  int run(int argc, char **argv);

private:
  std::unique_ptr<CLI::App> app;
  std::function<int()> chosen;
};

} // namespace dlc::tool

#endif // DLC_TOOLS_DLC_COMMANDLINE_H
