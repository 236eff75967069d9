// SPDX-License-Identifier: Apache-2.0
//
// dlc test: ONNX conformance folders. Each test runs in a process of its own,
// so that a crash or a hang is a failure of that test alone.

#include "Command.h"
#include "Conformance.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <poll.h>
#include <set>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace dlc;
using namespace dlc::tool;
namespace fs = std::filesystem;

namespace {

/// A test under way in a child process.
struct Child {
  size_t test;
  pid_t pid;
  int pipe;
  double deadline;
  std::string text;
};

struct TestCommand {
  std::vector<std::string> folders;
  std::string expectedFile, filter;
  unsigned jobs = 1, minimum = 0;
  double timeout = 120;
  bool verbose = false;
  ConformanceOptions options;

  int run();
  void start(size_t test);
  void collect(std::vector<ConformanceResult> &results);
  void finish(Child &child, ConformanceResult &result, bool timedOut);
  std::set<std::string> readExpectedFailures() const;
  int report(const std::vector<ConformanceResult> &results) const;

  std::vector<ConformanceTest> tests;
  std::vector<Child> children;
};

} // namespace

void TestCommand::start(size_t test) {
  int ends[2];
  if (pipe(ends) != 0)
    throw Failure{"cannot make a pipe"};
  std::fflush(nullptr);
  pid_t pid = fork();
  if (pid < 0)
    throw Failure{"cannot start a process"};
  if (pid == 0) {
    close(ends[0]);
    ConformanceResult result = runConformanceTest(tests[test], options);
    std::string text =
        char('0' + static_cast<int>(result.outcome)) + result.reason;
    for (size_t at = 0; at < text.size();) {
      ssize_t written = write(ends[1], text.data() + at, text.size() - at);
      if (written <= 0)
        break;
      at += written;
    }
    _exit(0); // The parent's buffers are not the child's to flush.
  }
  close(ends[1]);
  children.push_back({test, pid, ends[0], now() + timeout * 1e3, ""});
}

void TestCommand::finish(Child &child, ConformanceResult &result,
                         bool timedOut) {
  if (timedOut)
    kill(child.pid, SIGKILL);
  int status = 0;
  waitpid(child.pid, &status, 0);
  close(child.pipe);
  if (timedOut)
    result = {Outcome::Failed, "no answer within " +
                                   std::to_string(static_cast<int>(timeout)) +
                                   " s"};
  else if (WIFSIGNALED(status))
    result = {Outcome::Failed,
              std::string("crashed: ") + strsignal(WTERMSIG(status))};
  else if (child.text.empty() || WEXITSTATUS(status) != 0)
    result = {Outcome::Failed, "ended without an answer"};
  else
    result = {static_cast<Outcome>(child.text[0] - '0'), child.text.substr(1)};
}

void TestCommand::collect(std::vector<ConformanceResult> &results) {
  std::vector<pollfd> polled;
  for (const Child &child : children)
    polled.push_back({child.pipe, POLLIN, 0});
  poll(polled.data(), polled.size(), 200);
  for (size_t i = children.size(); i-- > 0;) {
    Child &child = children[i];
    bool ended = false;
    if (polled[i].revents) {
      char buffer[4096];
      ssize_t count = read(child.pipe, buffer, sizeof buffer);
      ended = count <= 0;
      if (count > 0)
        child.text.append(buffer, count);
    }
    bool timedOut = !ended && now() > child.deadline;
    if (!ended && !timedOut)
      continue;
    finish(child, results[child.test], timedOut);
    children.erase(children.begin() + static_cast<ptrdiff_t>(i));
  }
}

std::set<std::string> TestCommand::readExpectedFailures() const {
  std::set<std::string> names;
  if (expectedFile.empty())
    return names;
  auto buffer = llvm::MemoryBuffer::getFile(expectedFile);
  if (!buffer)
    throw Failure{"cannot read '" + expectedFile +
                  "': " + buffer.getError().message()};
  llvm::SmallVector<llvm::StringRef> lines;
  (*buffer)->getBuffer().split(lines, '\n');
  for (llvm::StringRef line : lines) {
    llvm::StringRef name = line.split('#').first.trim();
    if (!name.empty())
      names.insert(name.str());
  }
  return names;
}

int TestCommand::report(const std::vector<ConformanceResult> &results) const {
  std::set<std::string> expected = readExpectedFailures();
  size_t counts[3] = {0, 0, 0}, known = 0, surprises = 0;
  for (size_t i = 0; i < tests.size(); ++i) {
    const ConformanceResult &result = results[i];
    ++counts[static_cast<int>(result.outcome)];
    bool isKnown = expected.contains(tests[i].name);
    if (result.outcome == Outcome::Failed && isKnown)
      ++known;
    else if (result.outcome == Outcome::Failed)
      std::printf("FAIL %s: %s\n", tests[i].name.c_str(),
                  result.reason.c_str());
    else if (result.outcome == Outcome::Skipped && verbose)
      std::printf("SKIP %s: %s\n", tests[i].name.c_str(),
                  result.reason.c_str());
    if (result.outcome == Outcome::Passed && isKnown) {
      ++surprises;
      std::printf("PASS %s: expected to fail; remove it from %s\n",
                  tests[i].name.c_str(), expectedFile.c_str());
    }
  }
  if (known)
    std::printf("expected failures, among the skipped: %zu\n", known);
  std::printf("%zu passed, %zu failed, %zu skipped\n", counts[0],
              counts[1] - known, counts[2] + known);
  if (counts[0] < minimum)
    std::printf("expected at least %u to pass\n", minimum);
  return counts[1] == known && surprises == 0 && counts[0] >= minimum
             ? kOk
             : kBadInput;
}

int TestCommand::run() {
  for (const std::string &folder : folders)
    findConformanceTests(folder, tests);
  if (!filter.empty())
    std::erase_if(tests, [&](const ConformanceTest &test) {
      return test.name.find(filter) == std::string::npos;
    });
  if (tests.empty())
    throw Failure{"expected folders with model.onnx, found none"};
  std::vector<ConformanceResult> results(tests.size());
  bool progress = isatty(STDERR_FILENO);
  for (size_t next = 0; next < tests.size() || !children.empty();) {
    while (next < tests.size() && children.size() < jobs)
      start(next++);
    collect(results);
    if (progress)
      std::fprintf(stderr, "\r\033[K%zu of %zu", next - children.size(),
                   tests.size());
  }
  if (progress)
    std::fprintf(stderr, "\r\033[K");
  return report(results);
}

void dlc::tool::addTest(CommandLine &line) {
  auto command = std::make_shared<TestCommand>();
  Syntax syntax = line.add("test", "Run ONNX conformance folders",
                           [command] { return command->run(); });
  syntax.required("folders", command->folders,
                  "Folders of tests, or folders of such folders");
  syntax.positive("--jobs", command->jobs, "Tests at a time");
  syntax.positive("--timeout", command->timeout, "Seconds for one test");
  syntax.option("--filter", command->filter,
                "Only tests whose name contains this");
  syntax.option("--expected-failures", command->expectedFile,
                "File with the names of tests that may fail");
  syntax.option("--minimum", command->minimum,
                "Fail when fewer tests than this pass");
  syntax.option("--target", command->options.target, "As for dlc compile");
  syntax.option("--rtol", command->options.relative, "Relative tolerance",
                {.least = 0});
  syntax.option("--atol", command->options.absolute, "Absolute tolerance",
                {.least = 0});
  syntax.flag("--verbose", command->verbose, "Print skipped tests too");
}
