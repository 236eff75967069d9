// SPDX-License-Identifier: Apache-2.0
//
// What tests of executors share.

#ifndef DLC_TEST_EXECUTOR_EXECUTORTESTING_H
#define DLC_TEST_EXECUTOR_EXECUTORTESTING_H

#include "dlc/Executor/Executor.h"

#include "gtest/gtest.h"

#include <cmath>

namespace dlc::test {

using rt::ArrayRuntime;
using rt::Bindings;
using rt::Executor;
using rt::GradientRequest;
using rt::NDArray;
using rt::Result;
using rt::Status;
using rt::StatusCode;
using symbol::Symbol;
using Floats = std::vector<float>;

inline std::shared_ptr<ArrayRuntime> makeRuntime() {
  rt::EngineOptions options;
  options.cpuWorkers = 2;
  Result<std::unique_ptr<rt::Engine>> engine = rt::Engine::create(options);
  EXPECT_TRUE(engine.isOk()) << engine.status().message();
  return std::make_shared<ArrayRuntime>(std::move(*engine));
}

inline void write(const NDArray &array, const Floats &values) {
  Status status = array.copyFromHost(std::span(values));
  EXPECT_TRUE(status.isOk()) << status.message();
}

inline NDArray makeArray(const std::shared_ptr<ArrayRuntime> &runtime,
                         const std::vector<int64_t> &shape,
                         const Floats &values) {
  Result<NDArray> array = NDArray::create(runtime, DLC_F32, shape);
  EXPECT_TRUE(array.isOk()) << array.status().message();
  write(*array, values);
  return *array;
}

inline Floats read(const NDArray &array) {
  Floats values(array.size());
  Status status = array.copyToHost(std::span(values));
  EXPECT_TRUE(status.isOk()) << status.message();
  return values;
}

inline std::unique_ptr<Executor>
take(Result<std::unique_ptr<Executor>> result) {
  EXPECT_TRUE(result.isOk()) << result.status().message();
  return result.isOk() ? std::move(*result) : nullptr;
}

inline void expectOk(const Status &status, int line) {
  EXPECT_TRUE(status.isOk()) << "line " << line << ": " << status.message();
}

inline void expectFailure(const Status &status, StatusCode code,
                          const std::string &part, int line) {
  EXPECT_EQ(status.code(), code) << "line " << line;
  EXPECT_NE(status.message().find(part), std::string::npos)
      << "line " << line << ": " << status.message();
}

} // namespace dlc::test

#define EXPECT_OK(expr) ::dlc::test::expectOk((expr), __LINE__)
#define EXPECT_FAILS(expr, code, part)                                         \
  ::dlc::test::expectFailure((expr), ::dlc::rt::StatusCode::code, (part),      \
                             __LINE__)

#endif // DLC_TEST_EXECUTOR_EXECUTORTESTING_H
