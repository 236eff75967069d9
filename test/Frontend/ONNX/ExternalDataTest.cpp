// SPDX-License-Identifier: Apache-2.0
//
// What a hostile model tries with external data. Each attack runs against both
// ways of opening a file. The target of the attacks exists and is readable, so
// that a refusal is never a mere "not found".

#include "dlc/Frontend/ONNX/ExternalData.h"

#include "Wire.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>

using namespace dlc::onnx;
using namespace dlc::onnx::test;
namespace fs = std::filesystem;

namespace {
class ExternalDataTest : public ::testing::TestWithParam<OpenMethod> {
protected:
  void SetUp() override {
    std::string pattern = fs::temp_directory_path() / "dlc-external-XXXXXX";
    root = mkdtemp(pattern.data());
    folder = root / "model";
    fs::create_directories(folder / "sub");
    write(folder / "weights.bin", "0123456789abcdef");
    write(folder / "sub" / "more.bin", "ABCDEFGH");
    write(root / "secret.bin", "secret!!secret!!");
  }
  void TearDown() override { fs::remove_all(root); }

  static void write(const fs::path &path, std::string_view text) {
    std::ofstream(path, std::ios::binary) << text;
  }

  using Entries = std::vector<std::pair<std::string, std::string>>;

  /// Loads a u8 tensor of `count` elements through these entries.
  dlc::rt::Result<TensorContents> load(int64_t count, Entries entries) {
    Tensor tensor;
    tensor.name = "w";
    tensor.type = ElementType::UInt8;
    tensor.dims = {count};
    tensor.isExternal = true;
    for (auto &[key, value] : entries)
      tensor.external.push_back({key, value});
    return ModelFolder(folder.string(), GetParam()).load(tensor);
  }
  std::string contentsOf(int64_t count, Entries entries) {
    auto result = load(count, std::move(entries));
    EXPECT_TRUE(result.isOk()) << result.status().message();
    if (!result.isOk())
      return "";
    auto *data = reinterpret_cast<const char *>(result->data.data());
    return std::string(data, result->data.size());
  }
  std::string failureOf(int64_t count, Entries entries) {
    auto result = load(count, std::move(entries));
    return result.isOk() ? "" : result.status().message();
  }

  fs::path root, folder;
};
} // namespace

INSTANTIATE_TEST_SUITE_P(Methods, ExternalDataTest,
                         ::testing::Values(OpenMethod::Automatic,
                                           OpenMethod::ComponentWise));

TEST_P(ExternalDataTest, ReadsRangesOfRegularFiles) {
  EXPECT_EQ(contentsOf(16, {{"location", "weights.bin"}}), "0123456789abcdef");
  EXPECT_EQ(contentsOf(4, {{"location", "weights.bin"},
                           {"offset", "10"},
                           {"length", "4"},
                           {"checksum", "0"},
                           {"basepath", "/"}}),
            "abcd");
  EXPECT_EQ(contentsOf(8, {{"location", "sub/more.bin"}}), "ABCDEFGH");
  EXPECT_EQ(contentsOf(8, {{"location", "./sub//more.bin"}}), "ABCDEFGH");
  EXPECT_EQ(contentsOf(0, {{"location", "weights.bin"}, {"offset", "16"}}), "");
}

TEST_P(ExternalDataTest, RefusesToLeaveTheFolder) {
  std::string outside = "contains '..', expected one inside the model's folder";
  EXPECT_EQ(failureOf(16, {{"location", "../secret.bin"}}),
            "tensor 'w': external data location '../secret.bin' " + outside);
  EXPECT_EQ(failureOf(16, {{"location", "sub/../weights.bin"}}),
            "tensor 'w': external data location 'sub/../weights.bin' " +
                outside);
  EXPECT_EQ(failureOf(16, {{"location", "sub/.."}}),
            "tensor 'w': external data location 'sub/..' " + outside);
  std::string absolute = (root / "secret.bin").string();
  EXPECT_EQ(failureOf(16, {{"location", absolute}}),
            "tensor 'w': external data location '" + absolute +
                "' is absolute, expected one inside the model's folder");
  EXPECT_EQ(failureOf(16, {{"location", ""}}),
            "tensor 'w': external data location '' is empty");
  EXPECT_EQ(failureOf(16, {{"location", std::string("weights.bin\0x", 13)}})
                .substr(0, 45),
            "tensor 'w': external data location 'weights.b");
}

TEST_P(ExternalDataTest, RefusesLinks) {
  auto reached = [](const std::string &name) {
    return "tensor 'w': external data '" + name +
           "' is reached through a symbolic link or leaves the model's folder "
           "(cp -L copies what links lead to)";
  };
  fs::create_symlink(root / "secret.bin", folder / "link.bin");
  EXPECT_EQ(failureOf(16, {{"location", "link.bin"}}), reached("link.bin"));
  // A link that stays inside is refused as well: it can be changed later.
  fs::create_symlink("weights.bin", folder / "inner.bin");
  EXPECT_EQ(failureOf(16, {{"location", "inner.bin"}}), reached("inner.bin"));
  fs::create_directory_symlink(root, folder / "up");
  EXPECT_EQ(failureOf(16, {{"location", "up/secret.bin"}}),
            reached("up/secret.bin"));
  fs::create_hard_link(root / "secret.bin", folder / "hard.bin");
  EXPECT_EQ(failureOf(16, {{"location", "hard.bin"}}),
            "tensor 'w': expected one hard link to external data 'hard.bin', "
            "found 2");
}

TEST_P(ExternalDataTest, RefusesWhatIsNoRegularFile) {
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(failureOf(16, {{"location", "pipe"}}),
            "tensor 'w': expected a regular file at 'pipe'");
  EXPECT_NE(failureOf(16, {{"location", "sub"}}), "");
  EXPECT_NE(failureOf(16, {{"location", "."}}), "");
  EXPECT_NE(failureOf(16, {{"location", "weights.bin/"}}), "");
  EXPECT_EQ(failureOf(16, {{"location", "absent.bin"}}),
            "tensor 'w': cannot open 'absent.bin': No such file or directory");
}

TEST_P(ExternalDataTest, RefusesRangesOutsideTheFile) {
  auto range = [&](const char *offset, const char *length) {
    return failureOf(
        8,
        {{"location", "weights.bin"}, {"offset", offset}, {"length", length}});
  };
  EXPECT_EQ(range("8", "8"), "");
  EXPECT_EQ(range("9", "8"), "tensor 'w': expected 8 bytes at offset 9 of "
                             "'weights.bin', which has 16");
  EXPECT_EQ(range("9223372036854775807", "8"),
            "tensor 'w': expected 8 bytes at offset 9223372036854775807 of "
            "'weights.bin', which has 16");
  EXPECT_EQ(range("0", "9"), "tensor 'w': expected a length of 8 bytes, got 9");
  for (const char *bad : {"-1", "0x8", " 8", "8 ", "", "1e3", "+8",
                          "9223372036854775808", "18446744073709551616"}) {
    EXPECT_EQ(range(bad, "8"),
              std::string("tensor 'w': expected a decimal offset, got '") +
                  bad + "'");
    EXPECT_EQ(range("0", bad),
              std::string("tensor 'w': expected a decimal length, got '") +
                  bad + "'");
  }
}

TEST_P(ExternalDataTest, RefusesOtherKeys) {
  EXPECT_EQ(failureOf(8, {{"location", "weights.bin"}, {"__class__", "x"}}),
            "tensor 'w': unexpected key '__class__' of external data");
  EXPECT_EQ(failureOf(8, {{"offset", "0"}}),
            "tensor 'w': expected a location of external data");
}

TEST_P(ExternalDataTest, KeepsTheMappingAlive) {
  auto result = load(16, {{"location", "weights.bin"}});
  ASSERT_TRUE(result.isOk());
  // The ModelFolder of load() is gone.
  ASSERT_NE(result->owner, nullptr);
  EXPECT_EQ(static_cast<char>(result->data[15]), 'f');
}
