// SPDX-License-Identifier: Apache-2.0
//
// oneDNN's headers say what its functions are; the library itself is opened
// when it is asked for, so that dlc runs without it.

#include "Command.h"
#include "Peer.h"

#include <algorithm>
#include <chrono>
#include <dlfcn.h>
#include <limits>
#include <numeric>
#include <oneapi/dnnl/dnnl.h>

using namespace dlc;
using namespace dlc::tool;

#define DLC_DNNL_FUNCTIONS(F)                                                  \
  F(dilated_convolution_forward_desc_init)                                     \
  F(engine_create)                                                             \
  F(engine_destroy)                                                            \
  F(matmul_desc_init)                                                          \
  F(memory_create)                                                             \
  F(memory_desc_get_size)                                                      \
  F(memory_desc_init_by_strides)                                               \
  F(memory_desc_init_by_tag)                                                   \
  F(memory_destroy)                                                            \
  F(memory_get_data_handle)                                                    \
  F(post_ops_append_eltwise)                                                   \
  F(post_ops_append_sum)                                                       \
  F(post_ops_create)                                                           \
  F(post_ops_destroy)                                                          \
  F(primitive_attr_create)                                                     \
  F(primitive_attr_destroy)                                                    \
  F(primitive_attr_set_post_ops)                                               \
  F(primitive_create)                                                          \
  F(primitive_desc_create)                                                     \
  F(primitive_desc_destroy)                                                    \
  F(primitive_desc_query_md)                                                   \
  F(primitive_destroy)                                                         \
  F(primitive_execute)                                                         \
  F(stream_create)                                                             \
  F(stream_destroy)                                                            \
  F(stream_wait)                                                               \
  F(version)

struct PeerLibrary::State {
  ~State();

  dnnl_engine_t engine = nullptr;
  dnnl_stream_t stream = nullptr;
#define DLC_DNNL_MEMBER(name) decltype(&dnnl_##name) name = nullptr;
  DLC_DNNL_FUNCTIONS(DLC_DNNL_MEMBER)
#undef DLC_DNNL_MEMBER
};

PeerLibrary::State::~State() {
  if (stream)
    stream_destroy(stream);
  if (engine)
    engine_destroy(engine);
}

PeerLibrary::PeerLibrary(unsigned threads) : state(new State) {
  const std::string file = "libdnnl.so." + std::to_string(DNNL_VERSION_MAJOR);
  // Not closed: the threads that it starts live as long as the process.
  void *library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    throw Failure{"cannot open the peer's library: " + std::string(dlerror())};
#define DLC_DNNL_FIND(name)                                                    \
  state->name =                                                                \
      reinterpret_cast<decltype(state->name)>(dlsym(library, "dnnl_" #name));  \
  if (!state->name)                                                            \
    throw Failure{file + ": expected a function 'dnnl_" #name "', got none"};
  DLC_DNNL_FUNCTIONS(DLC_DNNL_FIND)
#undef DLC_DNNL_FIND
  // Of the OpenMP library that this one brings with it.
  using SetThreads = void (*)(int);
  auto setThreads =
      reinterpret_cast<SetThreads>(dlsym(library, "omp_set_num_threads"));
  if (!setThreads)
    throw Failure{file + ": expected a library whose threads are OpenMP's"};
  setThreads(int(threads));
  if (state->engine_create(&state->engine, dnnl_cpu, 0) != dnnl_success ||
      state->stream_create(&state->stream, state->engine,
                           dnnl_stream_default_flags) != dnnl_success)
    throw Failure{file + ": expected an engine of the processor, got none"};
}

PeerLibrary::~PeerLibrary() = default;

std::string PeerLibrary::name() const {
  const dnnl_version_t *version = state->version();
  return "oneDNN " + std::to_string(version->major) + "." +
         std::to_string(version->minor) + "." + std::to_string(version->patch);
}

//===----------------------------------------------------------------------===//
// One call
//===----------------------------------------------------------------------===//

namespace {

template <typename Handle>
using Owned =
    std::unique_ptr<std::remove_pointer_t<Handle>, dnnl_status_t (*)(Handle)>;

/// A handle that `create` makes, called with its address and `arguments`; null
/// where it does not.
template <typename Handle, typename Create, typename... Arguments>
Owned<Handle> make(Create create, dnnl_status_t (*destroy)(Handle),
                   Arguments... arguments) {
  Handle handle = nullptr;
  if (create(&handle, arguments...) != dnnl_success)
    handle = nullptr;
  return {handle, destroy};
}

using Dims = std::vector<int64_t>;

Dims mapped(Dims values, int64_t (*function)(int64_t)) {
  for (int64_t &value : values)
    value = function(value);
  return values;
}

} // namespace

/// Nullopt for activations that it does not have.
static std::optional<dnnl_alg_kind_t> activationOf(const std::string &name) {
  static const std::pair<std::string_view, dnnl_alg_kind_t> known[] = {
      {"relu", dnnl_eltwise_relu},           {"clamp", dnnl_eltwise_clip},
      {"leaky_relu", dnnl_eltwise_relu},     {"sigmoid", dnnl_eltwise_logistic},
      {"tanh", dnnl_eltwise_tanh},           {"gelu", dnnl_eltwise_gelu_erf},
      {"gelu_tanh", dnnl_eltwise_gelu_tanh}, {"silu", dnnl_eltwise_swish},
      {"hard_swish", dnnl_eltwise_hardswish}};
  for (const auto &[ours, theirs] : known)
    if (ours == name)
      return theirs;
  return std::nullopt;
}

/// In any layout that the library likes.
static dnnl_memory_desc_t anyLayout(const PeerLibrary::State &state,
                                    const Dims &dims) {
  dnnl_memory_desc_t result;
  state.memory_desc_init_by_tag(&result, int(dims.size()), dims.data(),
                                dnnl_f32, dnnl_format_tag_any);
  return result;
}

/// Row by row, or column by column.
static dnnl_memory_desc_t rowMajor(const PeerLibrary::State &state,
                                   const Dims &dims, bool isTransposed) {
  Dims strides(dims.size(), 1);
  for (size_t d = dims.size() - 1; d-- != 0;)
    strides[d] = strides[d + 1] * dims[d + 1];
  if (isTransposed) {
    strides[dims.size() - 1] = dims[dims.size() - 2];
    strides[dims.size() - 2] = 1;
  }
  dnnl_memory_desc_t result;
  state.memory_desc_init_by_strides(&result, int(dims.size()), dims.data(),
                                    dnnl_f32, strides.data());
  return result;
}

static bool describeConvolution(const PeerLibrary::State &state,
                                const PeerCall &call,
                                dnnl_convolution_desc_t &result) {
  Dims w = call.w;
  if (call.group != 1) {
    w.insert(w.begin(), call.group);
    w[1] /= call.group;
  }
  const size_t spatial = call.strides.size();
  const Dims begins(call.pads.begin(), call.pads.begin() + spatial);
  Dims ends;
  for (size_t d = 0; d != spatial; ++d)
    ends.push_back((call.y[2 + d] - 1) * call.strides[d] +
                   call.dilations[d] * (call.w[2 + d] - 1) + 1 - call.x[2 + d] -
                   begins[d]);
  const Dims dilates =
      mapped(call.dilations, [](int64_t dilation) { return dilation - 1; });
  const dnnl_memory_desc_t x = anyLayout(state, call.x);
  const dnnl_memory_desc_t y = anyLayout(state, call.y);
  const dnnl_memory_desc_t weights = anyLayout(state, w);
  const dnnl_memory_desc_t bias = anyLayout(state, {call.w[0]});
  return state.dilated_convolution_forward_desc_init(
             &result, dnnl_forward_inference, dnnl_convolution_auto, &x,
             &weights, call.hasBias ? &bias : nullptr, &y, call.strides.data(),
             dilates.data(), begins.data(), ends.data()) == dnnl_success;
}

static bool describeProduct(const PeerLibrary::State &state,
                            const PeerCall &call, dnnl_matmul_desc_t &result) {
  // As many dimensions as the result has; the shapes are those in memory.
  auto logical = [&](Dims dims, bool isTransposed) {
    dims.insert(dims.begin(), call.y.size() - dims.size(), 1);
    if (isTransposed)
      std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
    return dims;
  };
  const Dims w = logical(call.w, call.transposedW);
  Dims biasDims(call.y.size(), 1);
  biasDims.back() = call.y.back();
  const dnnl_memory_desc_t x =
      rowMajor(state, logical(call.x, call.transposedX), call.transposedX);
  const dnnl_memory_desc_t weights = call.isConstantW
                                         ? anyLayout(state, w)
                                         : rowMajor(state, w, call.transposedW);
  const dnnl_memory_desc_t bias = rowMajor(state, biasDims, false);
  const dnnl_memory_desc_t y = rowMajor(state, call.y, false);
  return state.matmul_desc_init(&result, &x, &weights,
                                call.hasBias ? &bias : nullptr,
                                &y) == dnnl_success;
}

/// What follows the sum of products.
static bool appendRest(const PeerLibrary::State &state, const PeerCall &call,
                       dnnl_post_ops_t rest) {
  if (call.addsToY && state.post_ops_append_sum(rest, 1) != dnnl_success)
    return false;
  if (call.activation.empty())
    return true;
  std::optional<dnnl_alg_kind_t> activation = activationOf(call.activation);
  const float alpha = call.activation == "silu"   ? 1
                      : call.activation == "relu" ? 0
                                                  : call.alpha;
  return activation &&
         state.post_ops_append_eltwise(rest, 1, *activation, alpha,
                                       call.beta) == dnnl_success;
}

std::optional<double> PeerLibrary::microsecondsOf(const PeerCall &call,
                                                  unsigned runs) {
  const State &dnnl = *state;
  dnnl_convolution_desc_t convolution;
  dnnl_matmul_desc_t product;
  const bool isKnown = call.isConvolution
                           ? describeConvolution(dnnl, call, convolution)
                           : describeProduct(dnnl, call, product);
  auto rest =
      make<dnnl_post_ops_t>(dnnl.post_ops_create, dnnl.post_ops_destroy);
  auto attributes = make<dnnl_primitive_attr_t>(dnnl.primitive_attr_create,
                                                dnnl.primitive_attr_destroy);
  if (!isKnown || !rest || !attributes || !appendRest(dnnl, call, rest.get()) ||
      dnnl.primitive_attr_set_post_ops(attributes.get(), rest.get()) !=
          dnnl_success)
    return std::nullopt;
  const void *description =
      call.isConvolution ? static_cast<const void *>(&convolution) : &product;
  auto chosen = make<dnnl_primitive_desc_t>(
      dnnl.primitive_desc_create, dnnl.primitive_desc_destroy, description,
      attributes.get(), dnnl.engine, nullptr);
  if (!chosen)
    return std::nullopt;
  auto primitive = make<dnnl_primitive_t>(dnnl.primitive_create,
                                          dnnl.primitive_destroy, chosen.get());
  if (!primitive)
    return std::nullopt;

  const std::tuple<dnnl_query_t, int, int> operands[] = {
      {dnnl_query_src_md, 0, DNNL_ARG_SRC},
      {dnnl_query_weights_md, 0, DNNL_ARG_WEIGHTS},
      {dnnl_query_weights_md, 1, DNNL_ARG_BIAS},
      {dnnl_query_dst_md, 0, DNNL_ARG_DST}};
  std::vector<Owned<dnnl_memory_t>> memory;
  std::vector<dnnl_exec_arg_t> arguments;
  for (const auto &[query, index, argument] : operands) {
    if (argument == DNNL_ARG_BIAS && !call.hasBias)
      continue;
    const dnnl_memory_desc_t *layout =
        dnnl.primitive_desc_query_md(chosen.get(), query, index);
    memory.push_back(make<dnnl_memory_t>(dnnl.memory_create,
                                         dnnl.memory_destroy, layout,
                                         dnnl.engine, DNNL_MEMORY_ALLOCATE));
    void *data = nullptr;
    if (!memory.back() ||
        dnnl.memory_get_data_handle(memory.back().get(), &data) != dnnl_success)
      return std::nullopt;
    // Pages of zeros would be one page. y stays finite: what is added to it is
    // small.
    std::fill_n(static_cast<float *>(data),
                dnnl.memory_desc_get_size(layout) / sizeof(float), 1e-3f);
    arguments.push_back({argument, memory.back().get()});
  }

  using Clock = std::chrono::steady_clock;
  // Its threads wait for each other without sleeping, so that one that loses
  // its processor costs a thousand times a small call: as many runs as it takes
  // for some to be undisturbed. The first one is to warm up.
  constexpr auto least = std::chrono::milliseconds(20);
  constexpr auto most = std::chrono::milliseconds(500);
  double best = std::numeric_limits<double>::infinity();
  const auto start = Clock::now();
  for (unsigned i = 0; i <= runs || Clock::now() - start < least; ++i) {
    auto begin = Clock::now();
    if (i > 1 && begin - start > most)
      break;
    if (dnnl.primitive_execute(primitive.get(), dnnl.stream,
                               int(arguments.size()),
                               arguments.data()) != dnnl_success ||
        dnnl.stream_wait(dnnl.stream) != dnnl_success)
      return std::nullopt;
    std::chrono::duration<double, std::micro> time = Clock::now() - begin;
    if (i)
      best = std::min(best, time.count());
  }
  return best;
}
