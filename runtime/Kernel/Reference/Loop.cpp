// SPDX-License-Identifier: Apache-2.0

#include "Loop.h"

using namespace dlc::rt;
using namespace dlc::rt::ref;

template <typename T>
void ref::loadRun(const TensorView &view, int64_t offset, int64_t stride,
                  int64_t count, T *values) {
  // The types were checked by the shape rule: dispatch cannot fail here.
  (void)dispatch(view.type, [&](auto element) {
    using E = decltype(element);
    const auto *data = view.as<typename E::Storage>() + offset;
    if (stride == 1) // In vectors.
      for (int64_t i = 0; i < count; ++i)
        values[i] = convertTo<T>(E::decode(data[i]));
    else
      for (int64_t i = 0; i < count; ++i)
        values[i] = convertTo<T>(E::decode(data[i * stride]));
    return Status::ok();
  });
}

template <typename T>
void ref::storeRun(const TensorView &view, int64_t offset, int64_t count,
                   const T *values) {
  (void)dispatch(view.type, [&](auto element) {
    using E = decltype(element);
    auto *data = view.as<typename E::Storage>() + offset;
    for (int64_t i = 0; i < count; ++i)
      data[i] = E::encode(values[i]);
    return Status::ok();
  });
}

namespace dlc::rt::ref {
template void loadRun(const TensorView &, int64_t, int64_t, int64_t, double *);
template void loadRun(const TensorView &, int64_t, int64_t, int64_t, int64_t *);
template void loadRun(const TensorView &, int64_t, int64_t, int64_t,
                      uint64_t *);
template void storeRun(const TensorView &, int64_t, int64_t, const double *);
template void storeRun(const TensorView &, int64_t, int64_t, const int64_t *);
template void storeRun(const TensorView &, int64_t, int64_t, const uint64_t *);
} // namespace dlc::rt::ref
