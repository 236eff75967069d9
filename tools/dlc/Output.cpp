// SPDX-License-Identifier: Apache-2.0

#include "Output.h"
#include "Command.h"

#include "dlc/runtime/Base/File.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

using namespace dlc;
using namespace dlc::tool;

//===----------------------------------------------------------------------===//
// Files that are one
//===----------------------------------------------------------------------===//

namespace {
/// What makes a file the one it is; for one that does not exist yet, its folder
/// and its name in there.
struct Identity {
  dev_t device = 0;
  ino_t inode = 0;
  std::string name;

  bool operator==(const Identity &) const = default;
};
} // namespace

/// None when there is no such file.
static std::optional<Identity> findIdentity(const std::string &path) {
  struct stat facts;
  if (stat(path.c_str(), &facts))
    return std::nullopt;
  return Identity{facts.st_dev, facts.st_ino, ""};
}

/// The file that an output makes or replaces; throws a Failure when it cannot.
static Identity findOutput(const std::string &path) {
  std::string target = take(rt::findOutputTarget(path));
  if (std::optional<Identity> existing = findIdentity(target))
    return *existing;
  size_t start = target.rfind('/') + 1;
  std::string folder = start ? target.substr(0, start) : ".";
  std::optional<Identity> parent = findIdentity(folder);
  if (!parent)
    throw Failure{path + ": cannot create the file: " + std::strerror(errno)};
  parent->name = target.substr(start);
  return *parent;
}

/// The file that standard output was sent to, if it is one.
static std::optional<Identity> findRedirection() {
  struct stat facts;
  if (fstat(STDOUT_FILENO, &facts) || !S_ISREG(facts.st_mode))
    return std::nullopt;
  return Identity{facts.st_dev, facts.st_ino, ""};
}

void dlc::tool::checkOutputs(const std::vector<UsedFile> &inputs,
                             const std::vector<UsedFile> &outputs) {
  std::vector<std::pair<Identity, std::string>> known;
  for (const UsedFile &input : inputs)
    if (std::optional<Identity> identity = findIdentity(input.path))
      known.push_back({*identity, input.what});
  if (std::optional<Identity> identity = findRedirection())
    known.push_back({*identity, "standard output"});
  for (const UsedFile &output : outputs) {
    if (output.path.empty())
      continue;
    if (isStandardOutput(output.path))
      throw Failure{"expected a file for " + output.what + ", got '" +
                    output.path + "'"};
    Identity identity = findOutput(output.path);
    auto same =
        std::ranges::find(known, identity, &decltype(known)::value_type::first);
    if (same != known.end())
      throw Failure{output.path + ": expected another file for " + output.what +
                    " than for " + same->second + ", got one for both"};
    known.push_back({std::move(identity), output.what});
  }
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

bool dlc::tool::isStandardOutput(const std::string &path) {
  constexpr const char *names[] = {"-", "/dev/stdout", "/dev/fd/1",
                                   "/proc/self/fd/1"};
  return std::ranges::find(names, path) != std::end(names);
}

static Failure lostOutput(int error) {
  return {std::string("cannot write to standard output: ") +
          std::strerror(error)};
}

void dlc::tool::writeOutput(const std::string &path, std::string_view bytes) {
  if (isStandardOutput(path)) {
    if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size())
      throw lostOutput(errno);
    return finishStandardOutput();
  }
  rt::OutputFile file = take(rt::OutputFile::create(path));
  check(file.write(std::as_bytes(std::span(bytes))));
  check(file.commit());
}

void dlc::tool::prepareStreams() {
  // Open for the other direction: using it is an error, as if it were closed.
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0 &&
        open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
      break; // Without /dev/null there is no help.
  std::signal(SIGXFSZ, SIG_IGN);
}

void dlc::tool::finishStandardOutput() {
  if (std::fflush(stdout))
    throw lostOutput(errno);
  if (std::ferror(stdout)) // Of an earlier write, whose reason is gone.
    throw lostOutput(EIO);
}
