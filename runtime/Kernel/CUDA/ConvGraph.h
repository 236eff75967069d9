// SPDX-License-Identifier: Apache-2.0
//
// Convolutions and their gradients as graphs of cuDNN's.

#ifndef DLC_LIB_RUNTIME_KERNEL_CUDA_CONVGRAPH_H
#define DLC_LIB_RUNTIME_KERNEL_CUDA_CONVGRAPH_H

#include "Cudnn.h"

#include "dlc/runtime/Base/Tensor.h"

#include <array>
#include <string>
#include <vector>

namespace dlc::rt::cuda {

/// Which tensor of a convolution y = x * w is computed from the other two:
/// itself, or the gradient of the image or of the weights.
enum class ConvResult { Y, X, W };

/// A convolution of two dimensions.
struct ConvPlan {
  DataType type = DLC_F16;
  ConvResult result = ConvResult::Y;
  std::array<int64_t, 4> x = {}, w = {},
                         y = {}; ///< N, C, H, W, or of w OC first.
  /// Channels lie in front of rows, as in `x`, and not last.
  bool isPlainX = false, isPlainW = false, isPlainY = false;
  std::array<int64_t, 2> strides = {1, 1}, dilations = {1, 1};
  std::array<int64_t, 2> padsBegin = {}, padsEnd = {};
  bool bias = false, residual = false, relu = false; ///< Of y alone.
  bool mayRound = false; ///< Floats to the 10 bits of tf32.
  uint64_t workspaceBytes = 0;
};

/// What a graph is planned for: a device in use, or, where there is none, one
/// of which the properties are known.
struct ConvTarget {
  cudnn::Handle handle = nullptr;
  const cudnn::Descriptor *properties = nullptr;
};

/// A convolution as a graph of cuDNN's, and the plan that computes it.
class ConvGraph {
public:
  /// What tensors are called in the graph.
  enum Id : int64_t { X = 1, W, Bias, Residual, Y, FirstVirtual };

  /// The first plan that cuDNN advises and that is exact enough and needs no
  /// more than the workspace. Errors: Unsupported (there is none).
  Status build(const cudnn::Library &library, const ConvPlan &plan,
               const ConvTarget &target);
  const cudnn::Descriptor &executionPlan() const { return execution; }

private:
  Status add(cudnn::Kind kind, cudnn::Descriptor *&added);
  Status addTensor(int64_t id, const std::array<int64_t, 4> &dims, bool isPlain,
                   bool isVirtual, cudnn::Descriptor *&added);
  Status addPointwise(int mode, const cudnn::Descriptor &x,
                      const cudnn::Descriptor *b, const cudnn::Descriptor &y);
  Status addConvolution(cudnn::Descriptor *&convolution);
  Status addOperations();
  Status addAnchor(cudnn::Descriptor *&result);
  Status next(cudnn::Descriptor *&result);
  Status chooseBy(int mode, const cudnn::Descriptor &graph,
                  std::string &reasons, bool &isChosen);
  Status tryConfig(const cudnn::Descriptor &config, bool &isChosen);

  const cudnn::Library *library = nullptr;
  ConvPlan plan;
  ConvTarget target;
  /// What the library refers to from what it is given later.
  std::vector<std::unique_ptr<cudnn::Descriptor>> parts;
  std::vector<cudnn::RawDescriptor> operations;
  int left = 0; ///< Operations whose results are still to be named.
  int64_t lastId = FirstVirtual;
  cudnn::Descriptor execution;
};

} // namespace dlc::rt::cuda

#endif // DLC_LIB_RUNTIME_KERNEL_CUDA_CONVGRAPH_H
