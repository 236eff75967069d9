// SPDX-License-Identifier: Apache-2.0
//
// Arrays in files: what is saved is loaded, from every format.

#include "dlc/runtime/NDArray/File.h"
#include "../TemporaryFolder.h"
#include "NDArrayTesting.h"

#include <filesystem>
#include <fstream>

using namespace dlc::rt;
using namespace dlc::rt::test;

DLC_WITH_EVERY_ENGINE(NDArrayFile);

TEST_P(NDArrayFile, LoadsWhatItSaved) {
  TemporaryFolder folder;
  NDArray x = makeArray(runtime, {2, 3}), scalar = makeArray(runtime, {});
  EXPECT_OK(x.fill(1));
  EXPECT_OK(scalar.fill(4));
  x = valueOf(apply("add", {x, scalar})); // The file waits for it.
  for (ArrayFormat format : {ArrayFormat::Npz, ArrayFormat::Params}) {
    NamedArray arrays[] = {
        {"arg:x", x}, {"row", valueOf(x.at(1))}, {"scalar", scalar}};
    size_t count = format == ArrayFormat::Npz ? 3 : 2;
    EXPECT_OK(saveArrays(folder / "f", {arrays, count}, format));
    auto loaded = valueOf(loadArrays(runtime, folder / "f"));
    ASSERT_EQ(loaded.size(), count);
    for (size_t i = 0; i != count; ++i) {
      EXPECT_EQ(loaded[i].name, arrays[i].name);
      EXPECT_EQ(shapeOf(loaded[i].array), shapeOf(arrays[i].array));
      EXPECT_EQ(floatsOf(loaded[i].array), floatsOf(arrays[i].array));
    }
    EXPECT_OK(loaded[0].array.fill(9)); // Memory of its own.
  }
  NamedArray one = {"", scalar};
  for (ArrayFormat format : {ArrayFormat::Npy, ArrayFormat::Params}) {
    EXPECT_OK(saveArrays(folder / "f", {&one, 1}, format));
    auto loaded = valueOf(loadArrays(runtime, folder / "f"));
    ASSERT_EQ(loaded.size(), 1u);
    EXPECT_EQ(loaded[0].name, "");
    EXPECT_EQ(floatsOf(loaded[0].array), std::vector<float>{4});
  }
}

TEST_P(NDArrayFile, LoadsOntoDevices) {
  auto loaded = valueOf(
      loadArrays(runtime, DLC_TEST_SEEDS "/ParamsFuzzer.seeds/sparse.params",
                 {Context::null(2)}));
  ASSERT_EQ(loaded.size(), 4u);
  EXPECT_EQ(loaded[0].array.context(), Context::null(2));
  EXPECT_EQ(floatsOf(loaded[0].array),
            (std::vector<float>{0, 0, 1, 2, 0, 0, 3, 4, 0, 0}));
  loaded = valueOf(
      loadArrays(runtime, DLC_TEST_SEEDS "/NpzFuzzer.seeds/deflated.npz"));
  EXPECT_EQ(loaded[0].name, "a");
  EXPECT_EQ(floatsOf(loaded[0].array), (std::vector<float>{0, 1, 2, 3, 4, 5}));
}

// The cap of a storage, and its figures, are of all that arrays hold.
TEST_P(NDArrayFile, LoadsIntoTheStorage) {
  TemporaryFolder folder;
  constexpr size_t cap = 1 << 20, bytes = cap * 3 / 4;
  NDArray x = makeArray(runtime, {bytes / sizeof(float)});
  EXPECT_OK(x.fill(7));
  NamedArray arrays[] = {{"x", x}, {"y", x}};
  auto save = [&](ArrayFormat format, size_t count) {
    EXPECT_OK(saveArrays(folder / "f", {arrays, count}, format));
  };
  std::vector<float> expected = floatsOf(x);
  for (Context context : {Context::cpu(), Context::cpu(1), Context::null()})
    for (ArrayFormat format :
         {ArrayFormat::Npy, ArrayFormat::Npz, ArrayFormat::Params}) {
      StorageOptions options;
      options.pool.byteCap = cap;
      auto storage = std::make_shared<Storage>(options);
      auto small =
          std::make_shared<ArrayRuntime>(makeEngine(GetParam()), storage);
      auto liveBytes = [&] {
        return valueOf(storage->manager(context))->statistics().liveBytes;
      };
      save(format, 1);
      auto loaded = valueOf(loadArrays(small, folder / "f", {context}));
      EXPECT_OK(small->engine().waitForAll());
      ASSERT_EQ(loaded.size(), 1u);
      EXPECT_EQ(liveBytes(), bytes);
      EXPECT_EQ(floatsOf(loaded[0].array), expected);
      EXPECT_ERROR(loadArrays(small, folder / "f", {context}).status(),
                   OutOfMemory, (folder / "f").string());
      loaded.clear();
      EXPECT_OK(small->engine().waitForAll());
      EXPECT_EQ(liveBytes(), 0u);
      if (format == ArrayFormat::Npy)
        continue;
      save(format, 2); // What was read before the error goes.
      EXPECT_ERROR(loadArrays(small, folder / "f", {context}).status(),
                   OutOfMemory, "y");
      EXPECT_OK(small->engine().waitForAll());
      EXPECT_EQ(liveBytes(), 0u);
    }
}

// Nor do blocks that a file misaligns, members that are compressed and sparse
// arrays get round it; texts neither.
TEST_P(NDArrayFile, CountsWhatIsConverted) {
  StorageOptions options;
  auto storage = std::make_shared<Storage>(options);
  auto counted =
      std::make_shared<ArrayRuntime>(makeEngine(GetParam()), storage);
  for (const char *name :
       {"ParamsFuzzer.seeds/sparse.params", "ParamsFuzzer.seeds/types.params",
        "NpzFuzzer.seeds/deflated.npz", "NpyFuzzer.seeds/columns.npy",
        "NpyFuzzer.seeds/texts.npy"}) {
    auto loaded =
        valueOf(loadArrays(counted, std::string(DLC_TEST_SEEDS "/") + name));
    EXPECT_FALSE(loaded.empty());
    size_t bytes = 0;
    for (const NamedArray &named : loaded)
      bytes += named.array.bytes();
    EXPECT_GT(bytes, 0u) << name;
    EXPECT_EQ(valueOf(storage->manager(Context::cpu()))->statistics().liveBytes,
              bytes)
        << name;
    loaded.clear();
    EXPECT_OK(counted->engine().waitForAll());
  }
}

TEST(NDArrayFileErrors, NameTheFile) {
  TemporaryFolder folder;
  auto runtime = makeRuntime();
  EXPECT_ERROR(loadArrays(runtime, folder / "none").status(), NotFound,
               (folder / "none").string());
  std::ofstream(folder / "short") << "PK";
  EXPECT_ERROR(loadArrays(runtime, folder / "short").status(), DataLoss,
               "/short: expected an .npy, .npz or .params file, got 2 bytes "
               "that start as none of them");
  EXPECT_ERROR(loadArrays(runtime,
                          DLC_TEST_SEEDS "/ParamsFuzzer.seeds/sparse.params",
                          {Context::cpu(), 39})
                   .status(),
               InvalidArgument, "rows: expected at most 39 bytes, got 5x2xf32");
  NamedArray none[2];
  EXPECT_ERROR(saveArrays(folder / "f", none, ArrayFormat::Params),
               InvalidArgument, "expected an array, got a null handle");
  EXPECT_ERROR(saveArrays(folder / "f", none, ArrayFormat::Npy),
               InvalidArgument, "expected one array for an .npy file, got 2");
  NamedArray two[] = {{"a", vectorOf(runtime, {1})},
                      {"b", vectorOf(makeRuntime(), {2})}};
  EXPECT_ERROR(saveArrays(folder / "f", two, ArrayFormat::Npz), InvalidArgument,
               "arrays of one engine");
  NamedArray unwritten = {"a", makeArray(runtime, {2})};
  EXPECT_ERROR(saveArrays(folder / "f", {&unwritten, 1}, ArrayFormat::Npz),
               InvalidArgument, "never was");
  EXPECT_FALSE(std::filesystem::exists(folder / "f"));
}
