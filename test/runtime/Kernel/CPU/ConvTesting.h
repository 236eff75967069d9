// SPDX-License-Identifier: Apache-2.0
//
// What the tests of cpu.conv share: cases, their calls, and the definition of a
// convolution in double.

#ifndef DLC_TEST_RUNTIME_KERNEL_CPU_CONVTESTING_H
#define DLC_TEST_RUNTIME_KERNEL_CPU_CONVTESTING_H

#include "KernelTesting.h"

namespace dlc::rt::cpu::testing {

struct ConvCase {
  int64_t batch, channels;
  Shape in;
  int64_t outChannels;
  Shape kernel;
  Shape strides = {}, pads = {}, dilations = {}; ///< Empty: ones or zeros.
  int64_t group = 1;
  bool bias = false, residual = false;
  std::string activation = {};
};

inline std::string textOf(const ConvCase &c, bool packed) {
  auto dims = [](const Shape &shape) {
    std::string text;
    for (int64_t dim : shape)
      text += "." + std::to_string(dim);
    return text;
  };
  return std::to_string(c.batch) + "x" + std::to_string(c.channels) +
         dims(c.in) + " oc" + std::to_string(c.outChannels) + " k" +
         dims(c.kernel) + " s" + dims(c.strides) + " p" + dims(c.pads) + " d" +
         dims(c.dilations) + " g" + std::to_string(c.group) +
         (c.bias ? " bias" : "") + (c.residual ? " residual " : " ") +
         c.activation + (packed ? " packed" : "");
}

inline int64_t at(const Shape &shape, size_t index, int64_t otherwise) {
  return shape.empty() ? otherwise : shape[index];
}

/// Spatial dimensions of the result.
inline Shape outputDims(const ConvCase &c) {
  Shape out;
  size_t spatial = c.in.size();
  for (size_t d = 0; d < spatial; ++d) {
    int64_t room = c.in[d] + at(c.pads, d, 0) + at(c.pads, spatial + d, 0) -
                   (c.kernel[d] - 1) * at(c.dilations, d, 1) - 1;
    out.push_back(room < 0 ? 0 : room / at(c.strides, d, 1) + 1);
  }
  return out;
}

inline Shape with(int64_t first, int64_t second, const Shape &rest) {
  Shape shape = {first, second};
  shape.insert(shape.end(), rest.begin(), rest.end());
  return shape;
}

inline Call makeCall(const ConvCase &c) {
  Random random(c.channels * 31 + c.outChannels);
  Call call;
  call.output = f32(with(c.batch, c.outChannels, outputDims(c)));
  call.addInput(f32(with(c.batch, c.channels, c.in)), random);
  int64_t inGroup = c.channels / c.group;
  call.addInput(f32(with(c.outChannels, inGroup, c.kernel)), random);
  // Sums near one: the slope of an activation must not magnify their errors
  // over its largest value.
  int64_t terms = std::max<int64_t>(inGroup * *elementCount(c.kernel), 1);
  for (int64_t i = 0; i < call.values[1].size(); ++i)
    call.values[1].data()[i] /= std::sqrt(static_cast<float>(terms));
  if (c.bias || c.residual)
    call.addInput(c.bias ? f32({c.outChannels}) : TensorType{}, random);
  if (c.residual)
    call.addInput(call.output, random);
  auto setInts = [&](const char *name, const Shape &values) {
    if (!values.empty())
      call.attributes.set(name, values);
  };
  setInts("strides", c.strides);
  setInts("pads", c.pads);
  setInts("dilations", c.dilations);
  if (c.group != 1)
    call.attributes.set("group", c.group);
  setActivation(call.attributes, c.activation);
  return call;
}

/// The plain definition, as two-dimensional.
inline std::vector<double> reference(const ConvCase &c, Call &call) {
  auto pair = [&](const Shape &shape, int64_t otherwise) {
    bool flat = c.in.size() == 1;
    return Shape{flat ? otherwise : at(shape, 0, otherwise),
                 at(shape, flat ? 0 : 1, otherwise)};
  };
  Shape in = pair(c.in, 1), kernel = pair(c.kernel, 1);
  Shape out = pair(outputDims(c), 1), stride = pair(c.strides, 1);
  Shape pad = pair(c.pads, 0), dilation = pair(c.dilations, 1);
  int64_t inGroup = c.channels / c.group;
  int64_t outGroup = c.outChannels / c.group;
  const float *x = call.values[0].data(), *w = call.values[1].data();
  std::vector<double> result;
  for (int64_t n = 0; n < c.batch; ++n)
    for (int64_t oc = 0; oc < c.outChannels; ++oc)
      for (int64_t oy = 0; oy < out[0]; ++oy)
        for (int64_t ox = 0; ox < out[1]; ++ox) {
          double sum = c.bias ? call.values[2].data()[oc] : 0;
          for (int64_t ic = 0; ic < inGroup; ++ic)
            for (int64_t ky = 0; ky < kernel[0]; ++ky)
              for (int64_t kx = 0; kx < kernel[1]; ++kx) {
                int64_t iy = oy * stride[0] - pad[0] + ky * dilation[0];
                int64_t ix = ox * stride[1] - pad[1] + kx * dilation[1];
                if (iy < 0 || iy >= in[0] || ix < 0 || ix >= in[1])
                  continue;
                int64_t channel = n * c.channels + oc / outGroup * inGroup + ic;
                sum +=
                    double(x[(channel * in[0] + iy) * in[1] + ix]) *
                    w[((oc * inGroup + ic) * kernel[0] + ky) * kernel[1] + kx];
              }
          if (c.residual)
            sum += call.values[3].data()[result.size()];
          result.push_back(activate(sum, call.attributes));
        }
  return result;
}

/// Which tensors are blocked.
enum class Blocks { Input, Output, All };

/// The elements of [N][C][pixels] as [N][C/16][pixels][16], or in other blocks;
/// behind the last channel is NaN, which nobody may read.
template <typename T>
std::vector<T> blocked(const T *plain, const TensorType &type,
                       int64_t block = 16) {
  const int64_t count = *elementCount(type.shape);
  if (count == 0)
    return {};
  const int64_t channels = type.shape[1];
  const int64_t pixels = count / type.shape[0] / channels;
  const int64_t places = (channels + block - 1) / block * block;
  std::vector<T> result(type.shape[0] * places * pixels,
                        std::numeric_limits<T>::quiet_NaN());
  for (int64_t i = 0; i < count; ++i) {
    const int64_t pixel = i % pixels, channel = i / pixels % channels;
    const int64_t image = i / pixels / channels;
    result[((image * places + channel / block * block) * pixels) +
           pixel * block + channel % block] = plain[i];
  }
  return result;
}

inline TensorType blockedType(TensorType type, int64_t block = 16) {
  type.shape[1] = (type.shape[1] + block - 1) / block;
  type.shape.push_back(block);
  return type;
}

inline void blockInput(Call &call, size_t input) {
  std::vector<float> values =
      blocked(call.values[input].data(), call.inputs[input]);
  call.values[input] = GuardedBuffer(static_cast<int64_t>(values.size()));
  std::copy(values.begin(), values.end(), call.values[input].data());
  call.inputs[input] = blockedType(call.inputs[input]);
}

inline void makeBlocked(Call &call, Blocks blocks) {
  if (blocks != Blocks::Output)
    blockInput(call, 0);
  if (blocks == Blocks::Input)
    return;
  if (call.inputs.size() > 3)
    blockInput(call, 3);
  call.output = blockedType(call.output);
  call.attributes.set("channel_block", int64_t{16});
}

inline void packW(Call &call) {
  const LibraryEntry *entry = lookupLibraryEntry("cpu.conv");
  size_t bytes = entry->packedBytes(call.view(), 1);
  GuardedBuffer packed(bytes / sizeof(float));
  entry->pack(call.view(), 1, call.values[1].data(), packed.data());
  ASSERT_TRUE(packed.guardsIntact());
  call.values[1] = std::move(packed);
  if (call.attributes.getInt("packed_w", 0) == 0)
    call.attributes.set("packed_w", int64_t{1});
}

/// Changes the call to algorithm 'winograd', with weights that are packed or
/// are transformed in each run.
inline void makeWinograd(Call &call, bool packs = true) {
  call.attributes.set("algorithm", std::string("winograd"));
  if (packs) {
    call.attributes.set("packed_w", int64_t{1});
    packW(call);
  }
  const LibraryEntry *entry = lookupLibraryEntry("cpu.conv");
  const auto bytes = static_cast<int64_t>(entry->workspaceBytes(call.view()));
  call.workspace = bytes > 0 ? TensorType{DLC_I8, {bytes}} : TensorType();
}

/// What the sums of an algorithm may make something else of: as one element of
/// an image beside positive weights.
inline constexpr float kNotFinite[] = {INFINITY, -INFINITY, NAN, 1e38f};

inline Call makeNotFinite(const ConvCase &c, float value) {
  Call call = makeCall(c);
  for (int64_t i = 0; i < call.values[1].size(); ++i)
    call.values[1].data()[i] = std::fabs(call.values[1].data()[i]) + 0.1f;
  call.values[0].data()[call.values[0].size() / c.channels + 50] = value;
  return call;
}

/// `call` gives what `direct`, which computes by the definition, does, both
/// made of makeNotFinite() with `value`.
inline void expectSameNotFinite(Call &direct, Call &call, float value) {
  float scale = std::isfinite(value) ? value : 1;
  double tolerance = std::isfinite(value) ? 1e-5 : 1e-4;
  for (Isa isa : runnableIsas()) {
    std::vector<float> expected = runCall(direct, prepareConv, isa);
    std::vector<float> values = runCall(call, prepareConv, isa);
    ASSERT_EQ(values.size(), expected.size());
    for (size_t i = 0; i < values.size(); ++i) {
      EXPECT_EQ(std::isnan(values[i]), std::isnan(expected[i])) << i;
      EXPECT_EQ(std::isinf(values[i]), std::isinf(expected[i])) << i;
      if (std::isfinite(expected[i]))
        EXPECT_NEAR(values[i] / scale, expected[i] / scale, tolerance) << i;
    }
  }
}

} // namespace dlc::rt::cpu::testing

#endif // DLC_TEST_RUNTIME_KERNEL_CPU_CONVTESTING_H
