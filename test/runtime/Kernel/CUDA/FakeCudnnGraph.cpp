// SPDX-License-Identifier: Apache-2.0

#include "FakeCudnnGraph.h"

#include "FakeFloats.h"

#include "test/runtime/Device/CUDA/FakeDriver/FakeDriver.h"

#include <cmath>

using namespace dlc::rt::test;
using namespace dlc::rt::test::cudnn;

static constexpr int realF32 = 0, realF16 = 2; // Else bfloat16.

static Real realOf(int real) {
  return real == realF32 ? Real::F32 : real == realF16 ? Real::F16 : Real::BF16;
}

/// A kernel writes its result while others of its blocks still read: only the
/// element that a thread replaces may be in the same place.
void Work::refuseOverlaps(const Tensor &result) const {
  auto bytes = [](const Tensor &tensor) {
    return tensor.elements() * bytesOf(realOf(tensor.real));
  };
  const uint8_t *begin = find(result), *end = begin + bytes(result);
  auto check = [&](const Tensor &read, bool isElementwise) {
    const uint8_t *at = find(read);
    if (at < end && begin < at + bytes(read) && !(isElementwise && at == begin))
      throw std::string("the result overlaps tensor ") +
          std::to_string(read.id);
  };
  for (const Tensor &tensor : tensors)
    if (&tensor != &computed())
      check(tensor, false);
  for (const Step &step : steps)
    if (step.b)
      check(*step.b, step.b->dims == result.dims);
}

uint8_t *Work::find(const Tensor &tensor) const {
  auto known = addresses.find(tensor.id);
  if (known == addresses.end())
    return nullptr;
  return static_cast<uint8_t *>(fakeCudaMemory(
      known->second, tensor.elements() * bytesOf(realOf(tensor.real))));
}

std::vector<float> Work::load(const Tensor &tensor) const {
  const uint8_t *bytes = find(tensor);
  if (!bytes)
    throw std::string("no memory of tensor " + std::to_string(tensor.id));
  std::vector<float> values(tensor.elements());
  for (size_t i = 0; i != values.size(); ++i)
    values[i] =
        loadReal(realOf(tensor.real), bytes + i * bytesOf(realOf(tensor.real)));
  return values;
}

/// Calls `visit` with each position of four dimensions.
template <typename Visit> void forEach(const Shape &dims, Visit &&visit) {
  for (int64_t a = 0; a != dims[0]; ++a)
    for (int64_t b = 0; b != dims[1]; ++b)
      for (int64_t c = 0; c != dims[2]; ++c)
        for (int64_t d = 0; d != dims[3]; ++d)
          visit(a, b, c, d);
}

/// Each element of x, w and y meets each other one that it may: what lies
/// outside of an image is a zero that is multiplied, and of the gradient of an
/// image so is what no window reaches by some tap.
std::vector<float> Work::runAnchor() const {
  const Tensor &x = tensors[0], &w = tensors[1], &y = tensors[2],
               &result = computed();
  std::vector<double> sums(result.elements());
  std::vector<float> image = &x == &result ? std::vector<float>() : load(x),
                     weights = &w == &result ? std::vector<float>() : load(w),
                     windowed = &y == &result ? std::vector<float>() : load(y);
  if (kind == BackwardData) {
    forEach(x.dims, [&](int64_t n, int64_t c, int64_t h, int64_t v) {
      double &sum = sums[size_t(x.at(n, c, h, v))];
      const Shape all = {w.dims[0], 1, w.dims[2], w.dims[3]};
      forEach(all, [&](int64_t oc, int64_t, int64_t kh, int64_t kw) {
        const int64_t down = h + pads[0] - kh * windows[2],
                      right = v + pads[1] - kw * windows[3],
                      oh = down / windows[0], ow = right / windows[1];
        bool isThere = down >= 0 && right >= 0 && down % windows[0] == 0 &&
                       right % windows[1] == 0 && oh < y.dims[2] &&
                       ow < y.dims[3];
        sum += double(isThere ? windowed[size_t(y.at(n, oc, oh, ow))] : 0) *
               weights[size_t(w.at(oc, c, kh, kw))];
      });
    });
    return {sums.begin(), sums.end()};
  }
  forEach(y.dims, [&](int64_t n, int64_t oc, int64_t oh, int64_t ow) {
    const Shape all = {1, w.dims[1], w.dims[2], w.dims[3]};
    forEach(all, [&](int64_t, int64_t c, int64_t kh, int64_t kw) {
      int64_t h = oh * windows[0] - pads[0] + kh * windows[2];
      int64_t v = ow * windows[1] - pads[1] + kw * windows[3];
      bool isInside = h >= 0 && h < x.dims[2] && v >= 0 && v < x.dims[3];
      double tap = isInside ? image[size_t(x.at(n, c, h, v))] : 0;
      const auto atY = size_t(y.at(n, oc, oh, ow)),
                 atW = size_t(w.at(oc, c, kh, kw));
      if (kind == Forward)
        sums[atY] += tap * weights[atW];
      else
        sums[atW] += tap * windowed[atY];
    });
  });
  return {sums.begin(), sums.end()};
}

void Work::run() const {
  const Tensor &y = tensors[2];
  std::vector<float> result = runAnchor();
  const Tensor *last = &computed();
  for (const Step &step : steps) {
    std::vector<float> b;
    if (step.b)
      b = load(*step.b);
    for (int64_t n = 0; n != y.dims[0]; ++n)
      for (int64_t c = 0; c != y.dims[1]; ++c)
        for (int64_t h = 0; h != y.dims[2]; ++h)
          for (int64_t v = 0; v != y.dims[3]; ++v) {
            float &value = result[size_t(y.at(n, c, h, v))];
            auto in = [&](int64_t index, int i) {
              return step.b->dims[size_t(i)] == 1 ? 0 : index;
            };
            value = step.mode == 100
                        ? (step.keepsNan && std::isnan(value)
                               ? value
                               : std::fmax(value, 0.0f))
                        : value + b[size_t(step.b->at(in(n, 0), in(c, 1),
                                                      in(h, 2), in(v, 3)))];
          }
    last = &step.y;
  }
  uint8_t *bytes = find(*last);
  if (!bytes)
    throw std::string("no memory of the result");
  refuseOverlaps(*last);
  for (size_t i = 0; i != result.size(); ++i)
    storeReal(realOf(last->real), bytes + i * bytesOf(realOf(last->real)),
              result[i]);
}

/// The convolution, or a gradient of one, at the front of a graph: as the
/// number of its first attribute says, alpha.
static Work anchorOf(const Descriptor &operation) {
  Work work;
  work.kind = operation.kind;
  const int alpha = work.kind == Forward          ? 700
                    : work.kind == BackwardData   ? 706
                    : work.kind == BackwardFilter ? 712
                                                  : -1;
  if (alpha < 0)
    throw std::string("expected a convolution first");
  // w, x and y are in this order.
  for (int name : {alpha + 4, alpha + 3, alpha + 5})
    work.tensors.emplace_back(oneOf(operation, name, TensorKind));
  const Descriptor &convolution = oneOf(operation, alpha + 2, Convolution);
  auto strides = valuesOf<int64_t>(convolution, 103),
       dilations = valuesOf<int64_t>(convolution, 102),
       begins = valuesOf<int64_t>(convolution, 105),
       ends = valuesOf<int64_t>(convolution, 104);
  if (valuesOf<int>(convolution, 101).at(0) != 1 ||
      valuesOf<int64_t>(convolution, 106).at(0) != 2 ||
      valuesOf<float>(operation, alpha).at(0) != 1 ||
      valuesOf<float>(operation, alpha + 1).at(0) != 0)
    throw std::string("expected a cross-correlation");
  if (valuesOf<int>(convolution, 100).at(0) != realF32)
    throw std::string("expected sums of f32");
  work.windows = {strides.at(0), strides.at(1), dilations.at(0),
                  dilations.at(1)};
  work.pads = {begins.at(0), begins.at(1)};
  const Tensor &x = work.tensors[0], &w = work.tensors[1], &y = work.tensors[2];
  for (size_t k = 0; k != 2; ++k) {
    if (begins.at(k) < 0 || ends.at(k) < 0)
      throw std::string("expected pads that are not negative");
    if ((x.dims[2 + k] + begins.at(k) + ends.at(k) -
         (w.dims[2 + k] - 1) * dilations.at(k) - 1) /
                strides.at(k) +
            1 !=
        y.dims[2 + k])
      throw std::string("the shapes are not those of a convolution");
  }
  if (x.dims[1] != w.dims[1] || w.dims[0] != y.dims[1] ||
      x.dims[0] != y.dims[0])
    throw std::string("the channels are not those of a convolution");
  return work;
}

Work cudnn::workOf(const Descriptor &graph) {
  Work work;
  int64_t before = 0;
  auto operations = valuesOf<Descriptor *>(graph, 801);
  for (size_t i = 0; i != operations.size(); ++i) {
    const Descriptor &operation = *operations[i];
    if (!operation.isFinal)
      throw std::string("an operation is not final");
    if (i == 0) {
      work = anchorOf(operation);
      before = work.tensors[2].id;
      continue;
    }
    if (work.kind != Forward)
      throw std::string("expected nothing behind a gradient");
    if (operation.kind != PointwiseOperation)
      throw std::string("expected pointwise operations behind it");
    Tensor x(oneOf(operation, 751, TensorKind)),
        y(oneOf(operation, 753, TensorKind));
    if (x.id != before || !x.isVirtual || y.strides != work.tensors[2].strides)
      throw std::string("expected a chain");
    Work::Step step{
        valuesOf<int>(oneOf(operation, 750, Pointwise), 0).at(0), {}, y};
    const Descriptor &pointwise = oneOf(operation, 750, Pointwise);
    step.keepsNan = pointwise.attributes.contains(2) &&
                    valuesOf<int>(pointwise, 2).at(0) == 1;
    if (operation.attributes.contains(752))
      step.b.emplace(oneOf(operation, 752, TensorKind));
    if (step.mode != 100 && !(step.mode == 0 && step.b))
      throw std::string("an unknown pointwise operation");
    work.steps.push_back(step);
    before = y.id;
  }
  for (const Tensor &tensor : work.tensors)
    if (tensor.isVirtual && (work.steps.empty() || &tensor != &work.tensors[2]))
      throw std::string("expected tensors in memory");
  if (!work.steps.empty() && work.steps.back().y.isVirtual)
    throw std::string("the last result is not in memory");
  return work;
}
