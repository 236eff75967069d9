// SPDX-License-Identifier: Apache-2.0
//
// What we say of cuDNN against the library itself, where there is one: the
// declarations by the compiler, and the graphs of convolutions by its planner,
// which needs no GPU (since 9.8) but the properties of one.

#include "runtime/Kernel/CUDA/Cudnn.h"
#include "runtime/Kernel/CUDA/ConvGraph.h"

#include "test/runtime/Device/CUDA/Alike.h"

#include <cudnn_graph.h>
#include <gtest/gtest.h>
#include <string>
#include <string_view>

using namespace dlc;
using namespace dlc::rt;
using namespace dlc::rt::cuda;
using namespace dlc::rt::cuda::cudnn;
using dlc::rt::test::Alike;

#define DLC_CUDNN_COMPARE(name, symbol, result, arguments)                     \
  static_assert(Alike<decltype(Library::name), decltype(&::symbol)>::value,    \
                #symbol);
DLC_CUDNN_FUNCTIONS(DLC_CUDNN_COMPARE)

TEST(Cudnn, ConstantsAreThoseOfTheHeader) {
  EXPECT_EQ(success, CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(notSupported, CUDNN_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(hostAllocationFailed,
            CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED);
  EXPECT_EQ(deviceAllocationFailed,
            CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED);
#define DLC_SAME(ours, theirs) EXPECT_EQ(int(ours), int(theirs))
  DLC_SAME(Kind::Pointwise, CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  DLC_SAME(Kind::Convolution, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  DLC_SAME(Kind::Engine, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  DLC_SAME(Kind::EngineConfig, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
  DLC_SAME(Kind::Heuristic, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  DLC_SAME(Kind::Plan, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  DLC_SAME(Kind::ConvolutionForward,
           CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
  DLC_SAME(Kind::ConvolutionBackwardFilter,
           CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR);
  DLC_SAME(Kind::ConvolutionBackwardData,
           CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR);
  DLC_SAME(Kind::PointwiseOperation,
           CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  DLC_SAME(Kind::Graph, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  DLC_SAME(Kind::Arguments, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  DLC_SAME(Kind::Tensor, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  DLC_SAME(Name::PointwiseMode, CUDNN_ATTR_POINTWISE_MODE);
  DLC_SAME(Name::PointwisePrecision, CUDNN_ATTR_POINTWISE_MATH_PREC);
  DLC_SAME(Name::PointwiseNan, CUDNN_ATTR_POINTWISE_NAN_PROPAGATION);
  DLC_SAME(Name::ConvolutionPrecision, CUDNN_ATTR_CONVOLUTION_COMP_TYPE);
  DLC_SAME(Name::ConvolutionMode, CUDNN_ATTR_CONVOLUTION_CONV_MODE);
  DLC_SAME(Name::ConvolutionDilations, CUDNN_ATTR_CONVOLUTION_DILATIONS);
  DLC_SAME(Name::ConvolutionStrides, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES);
  DLC_SAME(Name::ConvolutionPadsEnd, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS);
  DLC_SAME(Name::ConvolutionPadsBegin, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS);
  DLC_SAME(Name::ConvolutionRank, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS);
  DLC_SAME(Name::HeuristicMode, CUDNN_ATTR_ENGINEHEUR_MODE);
  DLC_SAME(Name::HeuristicGraph, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
  DLC_SAME(Name::HeuristicResults, CUDNN_ATTR_ENGINEHEUR_RESULTS);
  DLC_SAME(Name::ConfigEngine, CUDNN_ATTR_ENGINECFG_ENGINE);
  DLC_SAME(Name::PlanHandle, 400); // Marked as deprecated.
  DLC_SAME(Name::PlanConfig, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
  DLC_SAME(Name::PlanWorkspace, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
  DLC_SAME(Name::ForwardAlpha, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA);
  DLC_SAME(Name::ForwardBeta, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA);
  DLC_SAME(Name::ForwardConvolution,
           CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC);
  DLC_SAME(Name::ForwardW, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W);
  DLC_SAME(Name::ForwardX, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X);
  DLC_SAME(Name::ForwardY, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y);
  DLC_SAME(Name::DataAlpha, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA);
  DLC_SAME(Name::DataBeta, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA);
  DLC_SAME(Name::DataConvolution,
           CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC);
  DLC_SAME(Name::DataW, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W);
  DLC_SAME(Name::DataX, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX);
  DLC_SAME(Name::DataY, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY);
  DLC_SAME(Name::FilterAlpha,
           CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA);
  DLC_SAME(Name::FilterBeta, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA);
  DLC_SAME(Name::FilterConvolution,
           CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC);
  DLC_SAME(Name::FilterW, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW);
  DLC_SAME(Name::FilterX, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X);
  DLC_SAME(Name::FilterY, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY);
  DLC_SAME(Name::PointwiseOf, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
  DLC_SAME(Name::PointwiseX, CUDNN_ATTR_OPERATION_POINTWISE_XDESC);
  DLC_SAME(Name::PointwiseB, CUDNN_ATTR_OPERATION_POINTWISE_BDESC);
  DLC_SAME(Name::PointwiseY, CUDNN_ATTR_OPERATION_POINTWISE_YDESC);
  DLC_SAME(Name::GraphHandle, 800); // Marked as deprecated.
  DLC_SAME(Name::GraphOperations, CUDNN_ATTR_OPERATIONGRAPH_OPS);
  DLC_SAME(Name::TensorAlignment, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT);
  DLC_SAME(Name::TensorType, CUDNN_ATTR_TENSOR_DATA_TYPE);
  DLC_SAME(Name::TensorDimensions, CUDNN_ATTR_TENSOR_DIMENSIONS);
  DLC_SAME(Name::TensorStrides, CUDNN_ATTR_TENSOR_STRIDES);
  DLC_SAME(Name::TensorId, CUDNN_ATTR_TENSOR_UNIQUE_ID);
  DLC_SAME(Name::TensorIsVirtual, CUDNN_ATTR_TENSOR_IS_VIRTUAL);
  DLC_SAME(Name::ArgumentIds, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  DLC_SAME(Name::ArgumentPointers, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  DLC_SAME(Name::ArgumentWorkspace, CUDNN_ATTR_VARIANT_PACK_WORKSPACE);
  DLC_SAME(Name::EngineNotes, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE);
  DLC_SAME(Type::Handle, CUDNN_TYPE_HANDLE);
  DLC_SAME(Type::DataType, CUDNN_TYPE_DATA_TYPE);
  DLC_SAME(Type::Boolean, CUDNN_TYPE_BOOLEAN);
  DLC_SAME(Type::Int64, CUDNN_TYPE_INT64);
  DLC_SAME(Type::Float, CUDNN_TYPE_FLOAT);
  DLC_SAME(Type::Pointer, CUDNN_TYPE_VOID_PTR);
  DLC_SAME(Type::ConvolutionMode, CUDNN_TYPE_CONVOLUTION_MODE);
  DLC_SAME(Type::HeuristicMode, CUDNN_TYPE_HEUR_MODE);
  DLC_SAME(Type::Nan, CUDNN_TYPE_NAN_PROPOGATION);
  DLC_SAME(Type::Note, CUDNN_TYPE_NUMERICAL_NOTE);
  DLC_SAME(Type::PointwiseMode, CUDNN_TYPE_POINTWISE_MODE);
  DLC_SAME(Type::Descriptor, CUDNN_TYPE_BACKEND_DESCRIPTOR);
  DLC_SAME(realF32, CUDNN_DATA_FLOAT);
  DLC_SAME(realF16, CUDNN_DATA_HALF);
  DLC_SAME(realBF16, CUDNN_DATA_BFLOAT16);
  DLC_SAME(crossCorrelation, CUDNN_CROSS_CORRELATION);
  DLC_SAME(pointwiseAdd, CUDNN_POINTWISE_ADD);
  DLC_SAME(pointwiseRelu, CUDNN_POINTWISE_RELU_FWD);
  DLC_SAME(propagateNan, CUDNN_PROPAGATE_NAN);
  DLC_SAME(heuristicFallback, CUDNN_HEUR_MODE_FALLBACK);
  DLC_SAME(heuristicA, CUDNN_HEUR_MODE_A);
  DLC_SAME(noteTensorCore, CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
  DLC_SAME(noteDownConverts, CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS);
  DLC_SAME(noteStrictNan, CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP);
  static_assert(sizeof(bool) == 1); // CUDNN_TYPE_BOOLEAN
}

#if CUDNN_VERSION >= 90800

namespace {

/// An H100 and an A100.
const char *const properties[] = {
    R"({"maxGridSize": [2147483647, 65535, 65535], "maxBlockSize": [1024, 1024, 64], "regsPerBlock": 65536, "multiProcessorCount": 132, "warpSize": 32, "maxSharedMemoryPerBlock": 49152, "maxSharedMemoryPerBlockOptin": 232448, "reservedSharedMemoryPerBlock": 1024, "maxRegistersPerSM": 65536, "maxCtasPerSM": 32, "maxThreadsPerBlock": 1024, "maxThreadsPerSM": 2048, "pciDeviceId": 0, "isTccDriver": 0, "supportCoopLaunch": 1, "totalGlobalMem": 85520809984, "smClockRateKHz": 1980000, "memClockRateKHz": 2619000, "l2CacheSize": 52428800, "cudaDeviceId": 0, "deviceVer": 900, "driverVer": 13000, "deviceName": "NVIDIA H100 80GB HBM3"})",
    R"({"maxGridSize": [2147483647, 65535, 65535], "maxBlockSize": [1024, 1024, 64], "regsPerBlock": 65536, "multiProcessorCount": 108, "warpSize": 32, "maxSharedMemoryPerBlock": 49152, "maxSharedMemoryPerBlockOptin": 166912, "reservedSharedMemoryPerBlock": 1024, "maxRegistersPerSM": 65536, "maxCtasPerSM": 32, "maxThreadsPerBlock": 1024, "maxThreadsPerSM": 2048, "pciDeviceId": 0, "isTccDriver": 0, "supportCoopLaunch": 1, "totalGlobalMem": 42505273344, "smClockRateKHz": 1410000, "memClockRateKHz": 1215000, "l2CacheSize": 41943040, "cudaDeviceId": 0, "deviceVer": 800, "driverVer": 13000, "deviceName": "NVIDIA A100-SXM4-40GB"})"};

/// Why cuDNN has no plan for it on that GPU; empty when it has.
std::string refusal(const Library &library, const char *text,
                    const ConvPlan &plan) {
  Descriptor device;
  EXPECT_TRUE(
      Descriptor::create(library, Kind::DeviceProperties, device).isOk());
  EXPECT_TRUE(
      device
          .set(Name::DeviceText, Type::Text, std::span(std::string_view(text)))
          .isOk());
  EXPECT_TRUE(device.finalize().isOk());
  ConvGraph graph;
  return graph.build(library, plan, {.properties = &device}).message();
}

} // namespace

/// The convolutions of a ResNet-50.
TEST(Cudnn, PlansOurGraphs) {
  Result<std::shared_ptr<const Library>> library = Library::open();
  if (!library.isOk())
    GTEST_SKIP() << library.status().message();
  for (const char *device : properties)
    for (DataType type : {DLC_F16, DLC_BF16, DLC_F32}) {
      ConvPlan plan = {.type = type, .workspaceBytes = size_t(16) << 20};
      plan.mayRound = true;
      auto expectPlan = [&](int64_t batch, int64_t channels, int64_t side,
                            int64_t results, int64_t window, int64_t step) {
        const int64_t pad = window / 2,
                      out = (side + 2 * pad - window) / step + 1;
        plan.x = {batch, channels, side, side};
        plan.w = {results, channels, window, window};
        plan.y = {batch, results, out, out};
        plan.strides = {step, step};
        plan.padsBegin = plan.padsEnd = {pad, pad};
        for (int epilogue = 0; epilogue != 4; ++epilogue) {
          plan.bias = epilogue > 0;
          plan.relu = epilogue > 1;
          plan.residual = epilogue > 2;
          EXPECT_EQ(refusal(**library, device, plan), "")
              << nameOf(type) << " " << channels << " to " << results << " of "
              << side << ", epilogue " << epilogue;
        }
      };
      expectPlan(128, 8, 224, 64, 7, 2);
      expectPlan(128, 64, 56, 64, 3, 1);
      expectPlan(128, 64, 56, 256, 1, 1);
      expectPlan(128, 128, 56, 128, 3, 2);
      expectPlan(1, 512, 7, 2048, 1, 1);
    }
}

/// The same and their gradients, of channels last and of plain tensors, with
/// the workspaces that the entries ask for.
TEST(Cudnn, PlansOurGradients) {
  Result<std::shared_ptr<const Library>> library = Library::open();
  if (!library.isOk())
    GTEST_SKIP() << library.status().message();
  for (const char *device : properties)
    for (DataType type : {DLC_F16, DLC_BF16, DLC_F32}) {
      auto expectPlan = [&](int64_t channels, int64_t side, int64_t results,
                            int64_t window, int64_t step, int64_t pad) {
        const int64_t batch = 32, out = (side + 2 * pad - window) / step + 1;
        ConvPlan plan = {.type = type,
                         .x = {batch, channels, side, side},
                         .w = {results, channels, window, window},
                         .y = {batch, results, out, out},
                         .isPlainW = window != 1,
                         .strides = {step, step},
                         .padsBegin = {pad, pad},
                         .padsEnd = {pad, pad},
                         .mayRound = true};
        const int64_t all =
            batch * (channels * side * side + results * out * out);
        for (bool isPlain : {false, true}) {
          plan.result = ConvResult::W;
          plan.isPlainX = plan.isPlainY = isPlain;
          plan.workspaceBytes = uint64_t(16) << 20;
          if (isPlain || type == DLC_F32)
            plan.workspaceBytes += uint64_t(all) * sizeOf(type);
          EXPECT_EQ(refusal(**library, device, plan), "")
              << "weights of " << nameOf(type) << " " << channels << " to "
              << results << " of " << side << ", plain " << isPlain;
        }
        plan.isPlainX = plan.isPlainY = plan.isPlainW = false;
        plan.result = ConvResult::X;
        EXPECT_EQ(refusal(**library, device, plan), "")
            << "image of " << nameOf(type) << " " << channels << " to "
            << results << " of " << side;
      };
      expectPlan(64, 56, 256, 1, 1, 0);
      expectPlan(256, 56, 512, 1, 2, 0);
      expectPlan(64, 56, 64, 3, 1, 0);
      expectPlan(64, 56, 64, 3, 1, 1);
      expectPlan(128, 28, 128, 3, 2, 1);
      expectPlan(512, 7, 2048, 1, 1, 0);
    }
}

#endif
