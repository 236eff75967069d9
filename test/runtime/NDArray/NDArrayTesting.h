// SPDX-License-Identifier: Apache-2.0
//
// What the tests of arrays share.

#ifndef DLC_TEST_RUNTIME_NDARRAY_NDARRAYTESTING_H
#define DLC_TEST_RUNTIME_NDARRAY_NDARRAYTESTING_H

#include "../Engine/EngineTesting.h"
#include "dlc/runtime/NDArray/NDArray.h"

namespace dlc::rt::test {

using Shape = std::vector<int64_t>;

inline Shape shapeOf(const NDArray &array) {
  return {array.shape().begin(), array.shape().end()};
}

inline std::shared_ptr<ArrayRuntime>
makeRuntime(const EngineOptions &options = {.kind = EngineKind::Naive}) {
  return std::make_shared<ArrayRuntime>(makeEngine(options));
}

/// The value of a result that is expected to have one.
template <typename T> T valueOf(Result<T> result) {
  EXPECT_OK(result.status());
  return result.isOk() ? std::move(*result) : T();
}

inline NDArray makeArray(const std::shared_ptr<ArrayRuntime> &runtime,
                         const Shape &shape, DataType type = DLC_F32,
                         Context context = Context::cpu()) {
  return valueOf(NDArray::create(runtime, type, shape, context));
}

/// An f32 vector of these values.
inline NDArray vectorOf(const std::shared_ptr<ArrayRuntime> &runtime,
                        const std::vector<float> &values) {
  NDArray array = makeArray(runtime, {int64_t(values.size())});
  EXPECT_OK(array.copyFromHost(std::span(values)));
  return array;
}

/// The elements of an f32 array, in one row.
inline std::vector<float> floatsOf(const NDArray &array) {
  std::vector<float> values(array.size());
  EXPECT_OK(array.copyToHost(std::span(values)));
  return values;
}

/// Tests that run with every engine.
class WithEveryEngine : public testing::TestWithParam<EngineOptions> {
protected:
  std::shared_ptr<ArrayRuntime> runtime = makeRuntime(GetParam());
};

#define DLC_WITH_EVERY_ENGINE(name)                                            \
  class name : public WithEveryEngine {};                                      \
  INSTANTIATE_TEST_SUITE_P(                                                    \
      , name, testing::ValuesIn(allEngines()),                                 \
      [](const auto &info) { return engineName(info.param); })

} // namespace dlc::rt::test

#endif // DLC_TEST_RUNTIME_NDARRAY_NDARRAYTESTING_H
