// SPDX-License-Identifier: Apache-2.0
//
// cublaslt.matmul. The library's matrices are column-major: what we call y = a
// b is y' = b' a' there, of the same memory.

#include "Matmul.h"

#include "CublasLt.h"
#include "Operands.h"
#include "Session.h"

#include "dlc/abi/Tensor.h"

#include <algorithm>
#include <new>

using namespace dlc::rt;
using namespace dlc::rt::cuda;
using namespace dlc::rt::cuda::cublaslt;

namespace {

/// The call as one product, or `batch` of them one after the other.
struct MatmulPlan {
  DataType type = DLC_F32;
  int64_t m = 0, n = 0, k = 0, batch = 1;
  bool transposedA = false, transposedB = false, sharesB = true;
  uint32_t epilogue = epilogueNone;
  int compute = computeF32;
  bool bias = false, residual = false;
  uint64_t workspaceBytes = 0;
};

/// Rows and columns of the matrices of a tensor, and how many there are.
struct Matrices {
  Matrices(const TensorType &type, bool isTransposed) {
    const std::vector<int64_t> &shape = type.shape;
    rows = shape[shape.size() - 2];
    columns = shape.back();
    if (isTransposed)
      std::swap(rows, columns);
    for (size_t i = 0; i + 2 < shape.size(); ++i)
      count *= shape[i];
  }
  int64_t rows, columns, count = 1;
};

/// One of the descriptors, whose functions have their kind in their name.
template <typename Kind> class Owned {
public:
  using Destroy = Code (*)(Kind);
  explicit Owned(Destroy destroy) : destroy(destroy) {}
  Owned(Owned &&other) noexcept
      : destroy(other.destroy), kind(std::exchange(other.kind, nullptr)) {}
  ~Owned() {
    if (kind)
      destroy(kind);
  }
  Kind *place() { return &kind; }
  operator Kind() const { return kind; }

private:
  Destroy destroy;
  Kind kind = nullptr;
};

class MatmulCall final : public DeviceCall {
public:
  MatmulCall(std::shared_ptr<Session<Library>> session, const MatmulPlan &plan,
             size_t inputs)
      : session(std::move(session)), library(*this->session->library),
        plan(plan), inputs(inputs), layouts(this->session->device) {}

  /// With the device in use.
  Status prepare();
  Status queue(void *stream, void *const *parameters) const override;

private:
  Status makeLayouts();
  Status makeOperation(const void *bias, Owned<Operation> &operation) const;
  Status choose();

  const std::shared_ptr<Session<Library>> session;
  const Library &library;
  const MatmulPlan plan;
  const size_t inputs;
  struct Layouts {
    explicit Layouts(const Library &library)
        : a(library.layoutDestroy), b(library.layoutDestroy),
          y(library.layoutDestroy) {}
    Owned<Layout> a, b, y; ///< Transposed: column-major.
  };
  OnDevice<Layouts> layouts;
  Algorithm algorithm = {};
};

} // namespace

//===----------------------------------------------------------------------===//
// What the library has
//===----------------------------------------------------------------------===//

static Status planEpilogue(const KernelCall &call, MatmulPlan &plan) {
  plan.bias = hasBias(call);
  plan.residual = hasResidual(call);
  std::string_view name = call.attributes.getString("activation");
  uint32_t bits = plan.bias ? epilogueBias : 0;
  // Its ReLU makes zeros of NaN.
  if (name == "gelu_tanh" && !plan.residual)
    bits |= epilogueGelu;
  else if (!name.empty())
    return makeError(StatusCode::InvalidArgument,
                     "cuBLASLt has no activation '%.*s' there",
                     int(name.size()), name.data());
  plan.epilogue = bits ? bits : epilogueNone;
  return Status::ok();
}

static Status planCompute(const KernelCall &call, MatmulPlan &plan) {
  std::string_view name = call.attributes.getString("compute");
  if (name.empty() || plan.type != DLC_F32)
    return Status::ok();
  if (name == "tf32")
    plan.compute = computeTF32;
  else if (name == "bf16")
    plan.compute = computeBF16;
  else
    return makeError(StatusCode::InvalidArgument,
                     "expected to compute in tf32 or bf16, got '%.*s'",
                     int(name.size()), name.data());
  return Status::ok();
}

static Status planShapes(const KernelCall &call, MatmulPlan &plan) {
  const Matrices a(call.inputs[0], plan.transposedA);
  const Matrices b(call.inputs[1], plan.transposedB);
  const Matrices y(call.outputs[0], false);
  if (a.columns != b.rows || y.rows != a.rows || y.columns != b.columns)
    return invalidShapes(call, "products of M x K and K x N, of M x N");
  plan.m = a.rows;
  plan.n = b.columns;
  plan.k = a.columns;
  plan.batch = a.count;
  plan.sharesB = call.inputs[1].rank() == 2;
  auto leading = [](const TensorType &type) {
    return std::span(type.shape).first(type.shape.size() - 2);
  };
  auto equal = [&](const TensorType &one, const TensorType &other) {
    return std::ranges::equal(leading(one), leading(other));
  };
  if (!equal(call.inputs[0], call.outputs[0]) ||
      (!plan.sharesB && !equal(call.inputs[0], call.inputs[1])))
    return invalidShapes(call, "equal dimensions in front of matrices");
  // What all share makes one product of all rows.
  if (plan.sharesB && !plan.transposedA) {
    plan.m *= plan.batch;
    plan.batch = 1;
  }
  if (plan.sharesB && plan.batch != 1)
    return invalidShapes(call, "an a of two dimensions");
  if (plan.m == 0 || plan.n == 0 || plan.k == 0 || plan.batch == 0)
    return invalidShapes(call, "tensors with elements");
  if (std::max({plan.m, plan.n, plan.k, plan.batch}) > INT32_MAX)
    return invalidShapes(call, "extents below 2^31");
  return Status::ok();
}

/// All but the workspace.
static Status planCall(const KernelCall &call, MatmulPlan &plan) {
  using enum AttributeKind;
  DLC_RETURN_IF_ERROR(checkAttributes(
      call.attributes,
      {{"trans_a", Int}, {"trans_b", Int}, {"compute", String}}));
  DLC_RETURN_IF_ERROR(checkOperands(call, {2, DLC_MAX_RANK}, {2, DLC_MAX_RANK},
                                    {2, DLC_MAX_RANK}));
  plan.type = call.inputs[0].type;
  DLC_RETURN_IF_ERROR(readFlag(call.attributes, "trans_a", plan.transposedA));
  DLC_RETURN_IF_ERROR(readFlag(call.attributes, "trans_b", plan.transposedB));
  DLC_RETURN_IF_ERROR(planEpilogue(call, plan));
  DLC_RETURN_IF_ERROR(planCompute(call, plan));
  DLC_RETURN_IF_ERROR(planShapes(call, plan));
  return checkBiasAndResidual(call, call.outputs[0].shape.back());
}

bool cuda::isMatmulSupported(const KernelCall &call, std::string &why) {
  MatmulPlan plan;
  Status status = planCall(call, plan);
  why = status.message();
  return status.isOk();
}

/// What NVIDIA advises for Hopper (cuBLAS, cublasSetWorkspace).
size_t cuda::matmulWorkspaceBytes(const KernelCall &) {
  return (size_t(32) << 20) + mostSkipped;
}

KernelCost cuda::matmulCost(const KernelCall &call) {
  MatmulPlan plan;
  if (!planCall(call, plan).isOk())
    return {};
  auto flops = static_cast<uint64_t>(
      saturatedProduct({2, plan.batch, plan.m, plan.n, plan.k}));
  return {.flops = flops, .bytes = bytesOf(call)};
}

/// On an H200 what is generated is at three quarters of the library's speed for
/// 4096 x 4096 x 4096 and at two thirds of it for f32; how few terms the
/// library needs to win has not been measured. So many take about 10 us.
bool cuda::isMatmulFaster(const KernelCall &call) {
  constexpr uint64_t shortFlops = uint64_t(1) << 33, floatFlops = uint64_t(1)
                                                                  << 29;
  return matmulCost(call).flops >=
         (call.inputs[0].type == DLC_F32 ? floatFlops : shortFlops);
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

static int realOf(DataType type) {
  return type == DLC_F32 ? realF32 : type == DLC_F16 ? realF16 : realBF16;
}

/// Sets attribute `which` of a descriptor to a value of the library's type.
template <typename Kind, typename T>
static Status set(const Library &library, const char *name,
                  Code (*function)(Kind, int, const void *, size_t), Kind kind,
                  int which, T value) {
  if (Code code = function(kind, which, &value, sizeof(value)))
    return library.error(name, code);
  return Status::ok();
}

Status MatmulCall::makeLayouts() {
  layouts.held.reset(new (std::nothrow) Layouts(library));
  if (!layouts.held)
    return makeError(StatusCode::OutOfMemory, "no memory for a call");
  auto &[a, b, y] = *layouts.held;
  const int type = realOf(plan.type);
  auto make = [&](Owned<Layout> &layout, int64_t rows, int64_t columns,
                  bool isShared) -> Status {
    DLC_LIBRARY_CHECK(library, layoutCreate, layout.place(), type,
                      uint64_t(rows), uint64_t(columns), rows);
    if (plan.batch == 1)
      return Status::ok();
    auto put = [&](int which, auto value) {
      return set(library, "layoutSet", library.layoutSet, Layout(layout), which,
                 value);
    };
    DLC_RETURN_IF_ERROR(put(layoutBatchCount, int32_t(plan.batch)));
    return put(layoutBatchStride, isShared ? int64_t(0) : rows * columns);
  };
  DLC_RETURN_IF_ERROR(plan.transposedA
                          ? make(a, plan.m, plan.k, /*isShared=*/false)
                          : make(a, plan.k, plan.m, /*isShared=*/false));
  DLC_RETURN_IF_ERROR(plan.transposedB ? make(b, plan.k, plan.n, plan.sharesB)
                                       : make(b, plan.n, plan.k, plan.sharesB));
  return make(y, plan.n, plan.m, /*isShared=*/false);
}

/// A description with that bias: they differ from one run to the next, and
/// runs may be at the same time.
Status MatmulCall::makeOperation(const void *bias,
                                 Owned<Operation> &operation) const {
  DLC_LIBRARY_CHECK(library, operationCreate, operation.place(), plan.compute,
                    realF32);
  auto put = [&](int which, auto value) {
    return set(library, "operationSet", library.operationSet,
               Operation(operation), which, value);
  };
  // The library's first factor is our second one.
  DLC_RETURN_IF_ERROR(
      put(operationTransposeA, plan.transposedB ? transposed : plain));
  DLC_RETURN_IF_ERROR(
      put(operationTransposeB, plan.transposedA ? transposed : plain));
  DLC_RETURN_IF_ERROR(put(operationEpilogue, plan.epilogue));
  return plan.bias ? put(operationBias, bias) : Status::ok();
}

Status MatmulCall::choose() {
  Owned<Operation> operation(library.operationDestroy);
  // Of a bias only the alignment counts, which its address tells.
  DLC_RETURN_IF_ERROR(
      makeOperation(reinterpret_cast<const void *>(DLC_ALIGNMENT), operation));
  Owned<Preference> preference(library.preferenceDestroy);
  DLC_LIBRARY_CHECK(library, preferenceCreate, preference.place());
  auto put = [&](int which, auto value) {
    return set(library, "preferenceSet", library.preferenceSet,
               Preference(preference), which, value);
  };
  DLC_RETURN_IF_ERROR(put(preferenceWorkspace, plan.workspaceBytes));
  for (int which : {preferenceAlignmentA, preferenceAlignmentB,
                    preferenceAlignmentC, preferenceAlignmentD})
    DLC_RETURN_IF_ERROR(put(which, uint32_t(DLC_ALIGNMENT)));
  const auto &[a, b, y] = *layouts.held;
  Choice choice = {};
  int found = 0;
  DLC_LIBRARY_CHECK(library, choose, session->handle, operation, b, a, y, y,
                    preference, 1, &choice, &found);
  if (found < 1 || choice.code != success ||
      choice.workspaceBytes > plan.workspaceBytes)
    return makeError(StatusCode::Unsupported,
                     "cuBLASLt has no algorithm for it");
  algorithm = choice.algorithm;
  return Status::ok();
}

Status MatmulCall::prepare() {
  DLC_RETURN_IF_ERROR(makeLayouts());
  return choose();
}

Status cuda::prepareMatmul(Device &device, const KernelCall &call,
                           std::shared_ptr<void> &library,
                           std::unique_ptr<DeviceCall> &prepared) {
  MatmulPlan plan;
  DLC_RETURN_IF_ERROR(planCall(call, plan));
  DLC_RETURN_IF_ERROR(readWorkspace(call, plan.workspaceBytes));
  return prepareCall<Library, MatmulCall>(device, plan, call.inputs.size(),
                                          library, prepared);
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

Status MatmulCall::queue(void *stream, void *const *parameters) const {
  auto at = [&](size_t index) {
    return *static_cast<void *const *>(parameters[index]);
  };
  const auto &[a, b, y] = *layouts.held;
  void *result = at(inputs), *workspace = alignWorkspace(at(inputs + 1));
  Owned<Operation> operation(library.operationDestroy);
  DLC_RETURN_IF_ERROR(makeOperation(plan.bias ? at(2) : nullptr, operation));
  const float one = 1, rest = plan.residual ? 1 : 0;
  DLC_LIBRARY_CHECK(library, multiply, session->handle, operation, &one, at(1),
                    b, at(0), a, &rest, plan.residual ? at(3) : result, y,
                    result, y, &algorithm, workspace, plan.workspaceBytes,
                    static_cast<Stream>(stream));
  return Status::ok();
}
