// SPDX-License-Identifier: Apache-2.0
//
// Outputs appear as a whole, under the name that was asked for, and spare what
// is not a regular file. Each test runs with nameless files and as on a file
// system without them.

#include "dlc/runtime/Base/File.h"
#include "../TemporaryFolder.h"

#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace dlc::rt;
using namespace dlc::rt::test;
namespace fs = std::filesystem;

namespace {

/// From here on opening a nameless file fails in this thread.
void forbidNamelessFiles() {
  constexpr auto call = offsetof(seccomp_data, nr);
  constexpr auto flags = offsetof(seccomp_data, args[2]);
  sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, call),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, flags), // The low half.
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_TMPFILE & ~O_DIRECTORY, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  sock_fprog program = {std::size(steps), steps};
  ASSERT_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  ASSERT_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
  ASSERT_EQ(open(".", O_TMPFILE | O_WRONLY, 0600), -1);
}

void write(const fs::path &path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

Status writeWhole(const fs::path &path, std::string_view text) {
  Result<OutputFile> file = OutputFile::create(path);
  if (!file.isOk())
    return std::move(file.status());
  DLC_RETURN_IF_ERROR(file->write(bytesOf(text)));
  return file->commit();
}

/// Runs each test in an empty folder.
class InFolder : public testing::Test {
protected:
  TemporaryFolder folder;
};

/// The parameter: with nameless files?
class File : public InFolder, public testing::WithParamInterface<bool> {
protected:
  /// Calls `body` as the parameter says: a filter is its thread's for ever.
  template <typename Body> void inMode(Body body) {
    if (GetParam())
      return body();
    std::thread([&] {
      forbidNamelessFiles();
      body();
    }).join();
  }
};

} // namespace

INSTANTIATE_TEST_SUITE_P(, File, testing::Values(true, false), [](auto &info) {
  return info.param ? "Nameless" : "Named";
});

TEST_P(File, AppearsWhenItIsWhole) {
  inMode([&] {
    fs::path path = folder / "out";
    Result<OutputFile> file = OutputFile::create(path);
    ASSERT_TRUE(file.isOk()) << file.status().message();
    ASSERT_TRUE(file->write(bytesOf("abc")).isOk());
    ASSERT_TRUE(file->padTo(5).isOk());
    EXPECT_EQ(file->size(), 5u);
    EXPECT_FALSE(fs::exists(path));
    EXPECT_EQ(folder.count(), GetParam() ? 0u : 1u);
    ASSERT_TRUE(file->commit().isOk());
    EXPECT_EQ(contentsOf(path), std::string_view("abc\0\0", 5));
    EXPECT_EQ(folder.count(), 1u);
  });
}

TEST_P(File, LeavesNothingWithoutACommit) {
  inMode([&] {
    write(folder / "out", "old");
    for (const char *name : {"out", "new"}) {
      Result<OutputFile> file = OutputFile::create(folder / name);
      ASSERT_TRUE(file.isOk()) << file.status().message();
      ASSERT_TRUE(file->write(bytesOf("abc")).isOk());
    }
    EXPECT_EQ(contentsOf(folder / "out"), "old");
    EXPECT_EQ(folder.count(), 1u);
  });
}

TEST_P(File, ReplacesAFileAndKeepsItsMode) {
  inMode([&] {
    write(folder / "out", "old");
    ASSERT_EQ(chmod((folder / "out").c_str(), 0640), 0);
    Status status = writeWhole(folder / "out", "new");
    ASSERT_TRUE(status.isOk()) << status.message();
    EXPECT_EQ(contentsOf(folder / "out"), "new");
    struct stat facts;
    ASSERT_EQ(stat((folder / "out").c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 07777, 0640u);
    EXPECT_EQ(folder.count(), 1u);
  });
}

TEST_P(File, FollowsLinks) {
  inMode([&] {
    write(folder / "real", "old");
    fs::create_directory(folder / "sub");
    fs::create_symlink("../real", folder / "sub" / "near");
    fs::create_symlink(folder / "sub" / "near", folder / "far");
    ASSERT_TRUE(writeWhole(folder / "far", "new").isOk());
    EXPECT_EQ(contentsOf(folder / "real"), "new");
    EXPECT_TRUE(fs::is_symlink(folder / "far"));
    EXPECT_TRUE(fs::is_symlink(folder / "sub" / "near"));
    // One that leads to nothing yet.
    fs::remove(folder / "real");
    ASSERT_TRUE(writeWhole(folder / "far", "newer").isOk());
    EXPECT_EQ(contentsOf(folder / "real"), "newer");
    EXPECT_TRUE(fs::is_symlink(folder / "far"));
    fs::create_symlink("round", folder / "round");
    Status status = writeWhole(folder / "round", "x");
    EXPECT_EQ(status.message(), (folder / "round").native() +
                                    ": cannot create the file: Too many levels "
                                    "of symbolic links");
  });
}

TEST_P(File, RefusesWhatIsNoRegularFile) {
  inMode([&] {
    ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
    fs::create_directory(folder / "sub");
    fs::create_symlink("pipe", folder / "link");
    auto expect = [&](const char *name, const char *kind) {
      Status status = writeWhole(folder / name, "x");
      EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
      EXPECT_EQ(status.message(),
                (folder / name).native() +
                    ": expected a regular file to replace, found " + kind);
    };
    expect("pipe", "a pipe");
    expect("link", "a pipe");
    expect("sub", "a folder");
    EXPECT_TRUE(fs::is_fifo(folder / "pipe"));
    EXPECT_TRUE(fs::is_symlink(folder / "link"));
    EXPECT_EQ(folder.count(), 3u);
  });
}

TEST_P(File, RefusesAFileThatHasLostItsName) {
  inMode([&] {
    int descriptor = open((folder / "gone").c_str(), O_CREAT | O_RDWR, 0600);
    ASSERT_GE(descriptor, 0);
    fs::remove(folder / "gone");
    std::string path = "/proc/self/fd/" + std::to_string(descriptor);
    EXPECT_FALSE(findOutputTarget(path).isOk());
    close(descriptor);
  });
}

TEST_P(File, LeavesNothingWhenTheNameIsTakenMeanwhile) {
  inMode([&] {
    {
      Result<OutputFile> file = OutputFile::create(folder / "out");
      ASSERT_TRUE(file.isOk()) << file.status().message();
      ASSERT_TRUE(file->write(bytesOf("abc")).isOk());
      fs::create_directory(folder / "out");
      EXPECT_EQ(file->commit().message(),
                (folder / "out").native() +
                    ": cannot rename the file: Is a directory");
    }
    EXPECT_TRUE(fs::is_directory(folder / "out"));
    EXPECT_EQ(folder.count(), 1u);
  });
}

TEST_P(File, TakesTheLongestNames) {
  inMode([&] {
    for (size_t length : {252, 255}) {
      fs::path path = folder / std::string(length, 'n');
      for (const char *text : {"first", "second"}) {
        Status status = writeWhole(path, text);
        ASSERT_TRUE(status.isOk()) << status.message();
        EXPECT_EQ(contentsOf(path), text);
      }
    }
    Status status = writeWhole(folder / std::string(256, 'n'), "x");
    EXPECT_TRUE(status.message().ends_with("File name too long"))
        << status.message();
    EXPECT_EQ(folder.count(), 2u);
  });
}

TEST_P(File, NamesAMissingFolder) {
  inMode([&] {
    Status status = writeWhole(folder / "none" / "out", "x");
    EXPECT_EQ(status.message(),
              (folder / "none" / "out").native() +
                  ": cannot create the file: No such file or directory");
    EXPECT_FALSE(writeWhole("", "x").isOk());
  });
}

TEST_P(File, ReportsASizeBeyondTheLimit) {
  // In a process of its own: the limit is the process's.
  pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    rlimit limit = {4096, 4096};
    if (!GetParam())
      forbidNamelessFiles();
    if (setrlimit(RLIMIT_FSIZE, &limit))
      _exit(2);
    Status status = writeWhole(folder / "out", std::string(10'000, 'x'));
    _exit(status.message().ends_with("cannot write the file: File too large")
              ? 0
              : 1);
  }
  int result = 0;
  ASSERT_EQ(waitpid(child, &result, 0), child);
  EXPECT_EQ(result, 0);
  EXPECT_EQ(folder.count(), 0u);
}

TEST_F(InFolder, StaysEmptyWhenTheWriterIsKilled) {
  pid_t child = fork();
  if (child == 0) {
    Result<OutputFile> file = OutputFile::create(folder / "out");
    if (file.isOk() && file->write(bytesOf("half")).isOk())
      raise(SIGKILL);
    _exit(1);
  }
  int result = 0;
  ASSERT_EQ(waitpid(child, &result, 0), child);
  EXPECT_TRUE(WIFSIGNALED(result));
  EXPECT_EQ(folder.count(), 0u);
}
