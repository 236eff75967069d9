// SPDX-License-Identifier: Apache-2.0
//
// dlc test: ONNX conformance folders. Tests run in processes that take one
// after the other, so that a crash or a hang is a failure of one test alone,
// and a device is opened once for many.

#include "Command.h"
#include "Conformance.h"

#include "dlc/runtime/Device/Device.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <poll.h>
#include <set>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace dlc;
using namespace dlc::tool;
namespace fs = std::filesystem;

namespace {

/// A child process: it is sent numbers of tests and answers each with the
/// length of a text and that.
struct Worker {
  pid_t pid;
  int socket;
  std::optional<size_t> test; ///< Under way.
  double deadline = 0;
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
  [[noreturn]] void serve(int socket) const;
  Worker startWorker() const;
  void give(size_t test);
  void collect(std::vector<ConformanceResult> &results);
  bool takeAnswer(Worker &worker,
                  std::vector<ConformanceResult> &results) const;
  ConformanceResult end(Worker &worker, bool timedOut) const;
  size_t countBusy() const;
  std::set<std::string> readExpectedFailures() const;
  int report(const std::vector<ConformanceResult> &results) const;

  std::vector<ConformanceTest> tests;
  std::vector<Worker> workers;
};

} // namespace

static bool sendAll(int socket, const void *bytes, size_t count) {
  const auto *at = static_cast<const char *>(bytes);
  while (count) {
    ssize_t sent = send(socket, at, count, MSG_NOSIGNAL);
    if (sent <= 0)
      return false;
    at += sent;
    count -= sent;
  }
  return true;
}

/// The child's side, until the parent is done with it.
void TestCommand::serve(int socket) const {
  // Devices stay open as long as somebody has them.
  std::shared_ptr<rt::Device> device;
  if (options.target.find("cuda:") != std::string::npos)
    if (auto opened = rt::openDevice(rt::Context::cuda()); opened.isOk())
      device = std::move(*opened);
  uint32_t test = 0;
  while (recv(socket, &test, sizeof test, MSG_WAITALL) == sizeof test) {
    ConformanceResult result = runConformanceTest(tests[test], options);
    std::string text =
        char('0' + static_cast<int>(result.outcome)) + result.reason;
    auto length = static_cast<uint32_t>(text.size());
    if (!sendAll(socket, &length, sizeof length) ||
        !sendAll(socket, text.data(), text.size()))
      break;
  }
  _exit(0); // The parent's buffers are not the child's to flush.
}

Worker TestCommand::startWorker() const {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
    throw Failure{"cannot make a pair of sockets"};
  std::fflush(nullptr);
  pid_t pid = fork();
  if (pid < 0)
    throw Failure{"cannot start a process"};
  if (pid == 0) {
    close(ends[0]);
    serve(ends[1]);
  }
  close(ends[1]);
  return {pid, ends[0], {}, 0, ""};
}

/// There is a worker for it: one that waits, or fewer than there may be.
void TestCommand::give(size_t test) {
  auto free = std::ranges::find_if(
      workers, [](const Worker &worker) { return !worker.test; });
  auto number = static_cast<uint32_t>(test);
  if (free != workers.end() && !sendAll(free->socket, &number, sizeof number)) {
    end(*free, /*timedOut=*/false); // It has ended behind its last answer.
    workers.erase(free);
    return give(test);
  }
  if (free == workers.end()) {
    free = workers.insert(free, startWorker());
    sendAll(free->socket, &number, sizeof number); // Else its end tells.
  }
  free->test = test;
  free->deadline = now() + timeout * 1e3;
}

/// Ends a worker with its test, if it has one.
ConformanceResult TestCommand::end(Worker &worker, bool timedOut) const {
  if (timedOut || !worker.test)
    kill(worker.pid, SIGKILL);
  int status = 0;
  waitpid(worker.pid, &status, 0);
  close(worker.socket);
  if (timedOut)
    return {Outcome::Failed, "no answer within " +
                                 std::to_string(static_cast<int>(timeout)) +
                                 " s"};
  if (WIFSIGNALED(status))
    return {Outcome::Failed,
            std::string("crashed: ") + strsignal(WTERMSIG(status))};
  return {Outcome::Failed, "ended without an answer"};
}

/// Reads what there is of an answer; false when the worker has ended.
bool TestCommand::takeAnswer(Worker &worker,
                             std::vector<ConformanceResult> &results) const {
  char buffer[4096];
  ssize_t count = read(worker.socket, buffer, sizeof buffer);
  if (count <= 0)
    return false;
  worker.text.append(buffer, count);
  uint32_t length = 0;
  if (worker.text.size() < sizeof length)
    return true;
  std::memcpy(&length, worker.text.data(), sizeof length);
  if (worker.text.size() < sizeof length + length)
    return true;
  results[*worker.test] = {
      static_cast<Outcome>(worker.text[sizeof length] - '0'),
      worker.text.substr(sizeof length + 1)};
  worker.test.reset();
  worker.text.clear();
  return true;
}

void TestCommand::collect(std::vector<ConformanceResult> &results) {
  std::vector<pollfd> polled; // Those without a test are none, -1.
  for (const Worker &worker : workers)
    polled.push_back({worker.test ? worker.socket : -1, POLLIN, 0});
  poll(polled.data(), polled.size(), 200);
  for (size_t i = workers.size(); i-- > 0;) {
    Worker &worker = workers[i];
    if (!worker.test)
      continue;
    bool ended = polled[i].revents && !takeAnswer(worker, results);
    bool timedOut = !ended && worker.test && now() > worker.deadline;
    if (!ended && !timedOut)
      continue;
    results[*worker.test] = end(worker, timedOut);
    workers.erase(workers.begin() + static_cast<ptrdiff_t>(i));
  }
}

size_t TestCommand::countBusy() const {
  return std::ranges::count_if(
      workers, [](const Worker &worker) { return worker.test.has_value(); });
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
  for (size_t next = 0; next < tests.size() || countBusy() > 0;) {
    while (next < tests.size() && countBusy() < jobs)
      give(next++);
    collect(results);
    if (progress)
      std::fprintf(stderr, "\r\033[K%zu of %zu", next - countBusy(),
                   tests.size());
  }
  for (Worker &worker : workers)
    end(worker, /*timedOut=*/false);
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
