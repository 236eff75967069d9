// SPDX-License-Identifier: Apache-2.0

#include "TestKernels.h"

#include "dlc/runtime/Base/Memory.h"

#include <cstdio>
#include <cstring>

using namespace dlc::rt;

std::vector<std::byte> test::testObject(int factor) {
  std::vector<std::byte> bytes;
  static constexpr const char *paths[] = {
      DLC_TEST_KERNELS_2, DLC_TEST_KERNELS_3, DLC_TEST_KERNELS_4};
  std::FILE *file = std::fopen(paths[factor - 2], "rb");
  if (!file)
    return bytes;
  std::fseek(file, 0, SEEK_END);
  bytes.resize(std::ftell(file));
  std::rewind(file);
  if (std::fread(bytes.data(), 1, bytes.size(), file) != bytes.size())
    bytes.clear();
  std::fclose(file);
  return bytes;
}

//===----------------------------------------------------------------------===//
// The library
//===----------------------------------------------------------------------===//

namespace {

class Scale : public PreparedKernel {
public:
  Scale(int64_t count, float factor, int64_t most)
      : count(count), factor(factor), most(most) {}
  Status check(void *const *arguments) const override {
    const float first = count ? *static_cast<const float *>(arguments[0]) : 0;
    return most == 0 || first <= float(most)
               ? Status::ok()
               : makeError(StatusCode::InvalidArgument,
                           "expected at most %d, got %g", int(most), first);
  }
  int64_t tiles() const override { return count; }
  void run(void *const *arguments, int64_t begin, int64_t end) const override {
    for (int64_t i = begin; i != end; ++i)
      static_cast<float *>(arguments[1])[i] =
          static_cast<const float *>(arguments[0])[i] * factor;
  }

private:
  int64_t count;
  float factor;
  int64_t most; ///< Of the first element; 0 for any.
};

} // namespace

static Status prepareScale(const KernelCall &call,
                           std::unique_ptr<PreparedKernel> &prepared) {
  if (call.inputs.size() != 1 || call.outputs.size() != 1 ||
      call.inputs[0].type != DLC_F32 || call.outputs[0].type != DLC_F32 ||
      call.inputs[0].shape != call.outputs[0].shape)
    return makeError(StatusCode::InvalidArgument,
                     "expected one f32 tensor and its like");
  prepared = std::make_unique<Scale>(*elementCount(call.inputs[0].shape),
                                     call.attributes.getInt("factor", 1),
                                     call.attributes.getInt("most"));
  return Status::ok();
}

static const LibraryEntry *findEntry(std::string_view name) {
  static const LibraryEntry entries[] = {
      {"test.scale", prepareScale, nullptr, nullptr}};
  for (const LibraryEntry &entry : entries)
    if (entry.name == name)
      return &entry;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

static Status inferOneFloat(const ref::InferContext &,
                            std::vector<TensorType> &results) {
  results = {{DLC_F32, {1}}};
  return Status::ok();
}

static Status refuse(ref::ComputeContext &) {
  return makeError(StatusCode::InvalidArgument, "refused on purpose");
}

static Status inferVector(const ref::InferContext &,
                          std::vector<TensorType> &results) {
  results = {{DLC_F32, {kUnknownDim}}};
  return Status::ok();
}

/// One f32 vector in: what the computations rely on.
static Status inferFromVector(const ref::InferContext &context,
                              std::vector<TensorType> &results) {
  const TensorType &x = context.operand(0).type;
  if (x.type != DLC_F32 || (x.hasRank && x.rank() != 1))
    return makeError(StatusCode::InvalidArgument, "expected a vector of f32");
  return inferVector(context, results);
}

static Status computePositives(ref::ComputeContext &context) {
  std::vector<float> kept;
  const TensorView &x = context.input(0);
  for (int64_t i = 0; i != x.size(); ++i)
    if (x.as<float>()[i] > 0)
      kept.push_back(x.as<float>()[i]);
  int64_t shape[] = {int64_t(kept.size())};
  DLC_RETURN_IF_ERROR(context.allocate(0, shape));
  if (!kept.empty())
    std::memcpy(context.output(0).data, kept.data(), kept.size() * 4);
  return Status::ok();
}

static Status computeNothing(ref::ComputeContext &) { return Status::ok(); }

static Status inferTwice(const ref::InferContext &context,
                         std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(inferFromVector(context, results));
  const TensorType &x = context.operand(0).type;
  int64_t length = x.hasRank && x.rank() == 1 ? x.shape[0] : kUnknownDim;
  results = {{DLC_F32, {length < 0 ? length : 2 * length}}};
  return Status::ok();
}

static Status computeTwice(ref::ComputeContext &context) {
  const TensorView &x = context.input(0);
  for (int64_t i = 0; i != 2 * x.size(); ++i)
    context.output(0).as<float>()[i] = x.as<float>()[i / 2];
  return Status::ok();
}

/// No element is touched: only the executor's own work is left.
static Status inferStill(const ref::InferContext &context,
                         std::vector<TensorType> &results) {
  results = {context.operand(0).type};
  return Status::ok();
}

static const ref::Operation *findOperation(std::string_view name) {
  static const ref::Operation operations[] = {
      {"refuse", inferOneFloat, refuse},
      {"positives", inferFromVector, computePositives,
       /*allocatesResults=*/true},
      {"forget", inferVector, computeNothing, /*allocatesResults=*/true},
      {"still", inferStill, computeNothing},
      {"twice_length", inferTwice, computeTwice}};
  for (const ref::Operation &operation : operations)
    if (operation.name == name)
      return &operation;
  return ref::lookup(name);
}

ProgramOptions test::testOptions() {
  return {.findLibraryEntry = findEntry, .findOperation = findOperation};
}
