// SPDX-License-Identifier: Apache-2.0

#include "Combine.h"

#include "dlc/runtime/Base/Half.h"
#include "dlc/runtime/NDArray/Access.h"

#include <algorithm>
#include <cstring>

using namespace dlc::rt;

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

namespace {

/// Elements as they are stored, and as they are added.
struct HalfElement {
  using Stored = uint16_t;
  using Sum = float;
  static Sum load(Stored bits) { return floatFromHalf(bits); }
  static Stored store(Sum value) { return halfFromFloat(value); }
};
struct BFloat16Element {
  using Stored = uint16_t;
  using Sum = float;
  static Sum load(Stored bits) { return floatFromBFloat16(bits); }
  static Stored store(Sum value) { return bfloat16FromFloat(value); }
};
template <typename T> struct PlainElement {
  using Stored = T;
  using Sum = T;
  static Sum load(Stored value) { return value; }
  static Stored store(Sum value) { return value; }
};

} // namespace

/// Piece by piece, so that sums stay in the nearest cache.
template <typename Element>
static void sumElements(std::span<const std::byte *const> terms,
                        std::byte *target, size_t count, int divisor) {
  using Stored = typename Element::Stored;
  using Sum = typename Element::Sum;
  constexpr size_t piece = 1024;
  Sum sums[piece];
  auto *result = reinterpret_cast<Stored *>(target);
  for (size_t begin = 0; begin < count; begin += piece) {
    size_t size = std::min(piece, count - begin);
    for (size_t i = 0; i != size; ++i)
      sums[i] = Element::load(result[begin + i]);
    for (const std::byte *term : terms) {
      const auto *values = reinterpret_cast<const Stored *>(term) + begin;
      for (size_t i = 0; i != size; ++i)
        sums[i] += Element::load(values[i]);
    }
    for (size_t i = 0; divisor != 1 && i != size; ++i)
      sums[i] /= static_cast<Sum>(divisor);
    for (size_t i = 0; i != size; ++i)
      result[begin + i] = Element::store(sums[i]);
  }
}

using SumFunction = void (*)(std::span<const std::byte *const> terms,
                             std::byte *target, size_t count, int divisor);

/// Null where there is none.
static SumFunction sumOf(DataType type) {
  switch (type) {
  case DLC_F16:
    return sumElements<HalfElement>;
  case DLC_BF16:
    return sumElements<BFloat16Element>;
  case DLC_F32:
    return sumElements<PlainElement<float>>;
  case DLC_F64:
    return sumElements<PlainElement<double>>;
  default:
    return nullptr;
  }
}

bool dlc::rt::isSummable(DataType type) { return sumOf(type); }

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

namespace {
/// One sum, as the engine holds it. Addresses are found while it runs, in
/// memory that is made with it.
struct SumRun {
  SumFunction function;
  std::vector<ArrayPiece> terms;
  ArrayPiece target;
  int divisor;
  std::vector<const std::byte *> addresses;

  Status operator()() {
    for (size_t i = 0; i != terms.size(); ++i) {
      Result<std::byte *> start = terms[i].readable();
      if (!start.isOk())
        return std::move(start.status());
      addresses[i] = *start;
    }
    // It is a term, too.
    if (Result<std::byte *> old = target.readable(); !old.isOk())
      return std::move(old.status());
    Result<std::byte *> start = target.writable();
    if (start.isOk())
      function(addresses, *start, target.bytes / sizeOf(target.type), divisor);
    return std::move(start.status());
  }
};
} // namespace

static PushOptions urgent(const char *name, int priority) {
  PushOptions options;
  options.property = OperationProperty::CPUPrioritized;
  options.name = name;
  options.priority = priority;
  return options;
}

static Status copyElements(const ArrayPiece &from, const ArrayPiece &to) {
  Result<std::byte *> begin = from.readable();
  if (!begin.isOk())
    return std::move(begin.status());
  Result<std::byte *> place = to.writable();
  if (place.isOk() && to.bytes)
    std::memcpy(*place, *begin, to.bytes);
  return std::move(place.status());
}

Status dlc::rt::pushCopy(const NDArray &source, const NDArray &target,
                         int priority) {
  return target.runtime()->engine().pushSync(
      [from = ArrayPiece(source), to = ArrayPiece(target)] {
        return copyElements(from, to);
      },
      target.context(), {source.variable()}, {target.variable()},
      urgent("send", priority));
}

namespace {
/// One send, as the engine holds it.
struct SendRun {
  ArrayPiece from, to;
  Variable source, target;
  std::shared_ptr<SentValues> sent;

  Status operator()(const RunContext &context) const {
    std::optional<SentValues::Versions> now = versions(context);
    if (now && now == sent->known) {
      ++sent->known->target; // This operation is counted as a write.
      return Status::ok();
    }
    sent->known.reset();
    DLC_RETURN_IF_ERROR(copyElements(from, to));
    sent->bytes->fetch_add(to.bytes, std::memory_order_relaxed);
    sent->known = now;
    if (now)
      ++sent->known->target;
    return Status::ok();
  }

private:
  /// What was written so far: nothing else writes while this runs. None where
  /// that cannot be told.
  std::optional<SentValues::Versions>
  versions(const RunContext &context) const {
    Result<uint64_t> ofSource = context.engine->version(source);
    Result<uint64_t> ofTarget = context.engine->version(target);
    std::optional<uint64_t> before = from.hostWrites(),
                            behind = to.hostWrites();
    if (!ofSource.isOk() || !ofTarget.isOk() || !before || !behind)
      return std::nullopt;
    return SentValues::Versions{*ofSource, *ofTarget, *before + *behind};
  }
};
} // namespace

Status dlc::rt::pushSend(const NDArray &source, const NDArray &target,
                         const std::shared_ptr<SentValues> &sent,
                         int priority) {
  return target.runtime()->engine().pushSync(
      SendRun{ArrayPiece(source), ArrayPiece(target), source.variable(),
              target.variable(), sent},
      target.context(), {source.variable()}, {target.variable()},
      urgent("send", priority));
}

Status dlc::rt::pushSum(std::span<const NDArray> terms, const NDArray &target,
                        int divisor, int priority) {
  SumFunction function = sumOf(target.type());
  if (!function)
    return makeError(StatusCode::Unsupported,
                     "expected floats of 16, 32 or 64 bits to add, got %s",
                     toString(typeOf(target)).c_str());
  SumRun run{function, {}, ArrayPiece(target), divisor, {}};
  run.addresses.resize(terms.size());
  std::vector<Variable> reads;
  for (const NDArray &term : terms) {
    run.terms.emplace_back(term);
    addVariable(reads, term.variable());
  }
  return target.runtime()->engine().pushSync(std::move(run), target.context(),
                                             reads, {target.variable()},
                                             urgent("sum", priority));
}
