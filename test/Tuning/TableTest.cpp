// SPDX-License-Identifier: Apache-2.0

#include "dlc/Tuning/Table.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <thread>

using namespace dlc::tuning;
using dlc::rt::StatusCode;

namespace {

const Table sample = {
    {"A-6-1 sse2", {{"cpu.conv f32[1] -> f32[1]", 980511}, {"cpu.conv b", 7}}},
    {"B-25-33 avx", {{"cpu.matmul a=1", 86400000000000}}}};

std::string replaced(std::string text, std::string_view what,
                     std::string_view by) {
  size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), by);
}

} // namespace

TEST(Table, ReadsWhatItPrints) {
  for (const Table &table : {sample, Table()}) {
    auto again = parse(print(table));
    ASSERT_TRUE(again.isOk()) << again.status().message();
    EXPECT_EQ(*again, table);
  }
}

TEST(Table, RefusesEveryPart) {
  std::string text = print(sample);
  for (size_t size = 0; size < text.size(); ++size)
    EXPECT_FALSE(parse(text.substr(0, size)).isOk()) << size;
}

TEST(Table, RefusesEveryOtherByte) {
  std::string text = print(sample);
  for (size_t at = 0; at < text.size(); ++at) {
    std::string other = text;
    other[at] ^= 1;
    EXPECT_FALSE(parse(other).isOk()) << at;
  }
}

TEST(Table, SaysWhatIsWrong) {
  std::string text = print(sample);
  struct Case {
    std::string text;
    StatusCode code;
    std::string_view message;
  } cases[] = {
      {"", StatusCode::InvalidArgument,
       "expected 'dlc-tuning 1' in the first line, got ''"},
      {replaced(text, "tuning 1", "tuning 2"), StatusCode::InvalidArgument,
       "expected 'dlc-tuning 1' in the first line, got 'dlc-tuning 2'"},
      {replaced(text, "machine A", "engine A"), StatusCode::InvalidArgument,
       "expected a machine in line 2, got 'engine A-6-1 sse2'"},
      {replaced(text, "980511", "soon"), StatusCode::InvalidArgument,
       "expected nanoseconds and a call in line 4, got 'soon cpu.conv"},
      {replaced(text, "980511", "-980511"), StatusCode::InvalidArgument,
       "expected nanoseconds and a call in line 4"},
      {replaced(text, "980511", "0"), StatusCode::InvalidArgument,
       "expected nanoseconds and a call in line 4"},
      {replaced(text, "980511", "18446744073709551616"),
       StatusCode::InvalidArgument, "expected nanoseconds and a call"},
      {replaced(text, "980511", "86400000000001"), StatusCode::InvalidArgument,
       "expected nanoseconds and a call"},
      {replaced(text, "980511", "980512"), StatusCode::DataLoss,
       "expected the checksum "},
      {text + "\n", StatusCode::DataLoss, "expected the checksum "},
      {text.substr(0, text.size() - 1), StatusCode::DataLoss,
       "expected a checksum in the last line, got none"},
  };
  for (const Case &one : cases) {
    auto table = parse(one.text);
    ASSERT_FALSE(table.isOk()) << one.message;
    EXPECT_EQ(table.status().code(), one.code);
    EXPECT_TRUE(table.status().message().starts_with(one.message))
        << table.status().message();
  }
}

TEST(Table, KeepsWhatOthersMeasured) {
  Table table = sample;
  merge(table, {{"A-6-1 sse2", {{"cpu.conv b", 8}}}, {"C", {{"c", 1}}}});
  EXPECT_EQ(table.size(), 3u);
  EXPECT_EQ(table["A-6-1 sse2"].size(), 2u);
  EXPECT_EQ(table["A-6-1 sse2"]["cpu.conv b"], 8u);
}

TEST(Table, NamesThisMachineInOneLine) {
  std::string machine = thisMachine();
  EXPECT_FALSE(machine.empty());
  EXPECT_EQ(machine.find('\n'), std::string::npos);
  EXPECT_EQ(machine, thisMachine());
}

TEST(Table, GoesToAFileAndBack) {
  std::string path = testing::TempDir() + "/dlc_tuning_table";
  ASSERT_TRUE(writeTable(path, sample).isOk());
  auto table = readTable(path);
  ASSERT_TRUE(table.isOk()) << table.status().message();
  EXPECT_EQ(*table, sample);
  std::ofstream(path) << "something else\n";
  table = readTable(path);
  ASSERT_FALSE(table.isOk());
  EXPECT_TRUE(table.status().message().starts_with(path + ": "));
  EXPECT_EQ(readTable(path + ".none").status().code(), StatusCode::NotFound);
}

TEST(Table, FilesGrowTogether) {
  std::string path = testing::TempDir() + "/dlc_tuning_updates";
  std::filesystem::remove(path);
  constexpr int writers = 8;
  std::vector<std::thread> threads;
  for (int i = 0; i < writers; ++i)
    threads.emplace_back([&, i] {
      EXPECT_TRUE(updateTable(path, {{"A", {{"call " + std::to_string(i), 1}}}})
                      .isOk());
    });
  for (std::thread &thread : threads)
    thread.join();
  auto table = readTable(path);
  ASSERT_TRUE(table.isOk()) << table.status().message();
  EXPECT_EQ((*table)["A"].size(), size_t(writers));
}

TEST(Table, OnlyTablesAreReplaced) {
  std::string path = testing::TempDir() + "/dlc_tuning_other";
  for (std::string_view other : {"a model\n", "dlc-tuning 2\n", ""}) {
    std::ofstream(path) << other;
    dlc::rt::Status status = updateTable(path, sample);
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument) << other;
    std::ifstream file(path);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), other);
  }
  std::ofstream(path) << print(sample).substr(0, 40); // Damaged.
  EXPECT_TRUE(updateTable(path, sample).isOk());
  auto table = readTable(path);
  ASSERT_TRUE(table.isOk()) << table.status().message();
  EXPECT_EQ(*table, sample);
}
