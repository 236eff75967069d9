// SPDX-License-Identifier: Apache-2.0
//
// Elementwise arithmetic on two operands that broadcast. Integers wrap; what
// C++ leaves undefined has a value here: x / 0 and x mod 0 are 0, and shifts
// by the width or more push all bits out.

#include "Families.h"
#include "Loop.h"
#include "ShapeRule.h"

using namespace dlc::rt;
using namespace dlc::rt::ref;

static Status inferBroadcast(const InferContext &context,
                             std::vector<TensorType> &results) {
  TensorType type = context.operand(0).type;
  DLC_RETURN_IF_ERROR(broadcastInto(type, context.operand(1).type));
  return addResult(results, std::move(type));
}

template <const TypeSet &types>
static Status inferBinary(const InferContext &context,
                          std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 2));
  DLC_RETURN_IF_ERROR(checkType(context, 0, types));
  DLC_RETURN_IF_ERROR(checkSameType(context, 0, 1));
  return inferBroadcast(context, results);
}

/// The exponent may have a type of its own.
static Status inferPow(const InferContext &context,
                       std::vector<TensorType> &results) {
  DLC_RETURN_IF_ERROR(checkOperands(context, 2));
  DLC_RETURN_IF_ERROR(checkType(context, 0, numericTypes));
  DLC_RETURN_IF_ERROR(checkType(context, 1, numericTypes));
  return inferBroadcast(context, results);
}

template <typename Function>
static Status computeBinary(ComputeContext &context) {
  return dispatchWide(context.input(0).type, [&](auto wide) {
    using T = decltype(wide);
    mapElements<T, T, 2>(context, Function());
    return Status::ok();
  });
}

/// For operations on bits, where signedness makes no difference.
template <typename Function>
static Status computeBits(ComputeContext &context) {
  mapElements<uint64_t, uint64_t, 2>(context, Function());
  return Status::ok();
}

namespace {

struct Add {
  template <typename T> T operator()(T a, T b) const { return addWide(a, b); }
};

struct Sub {
  template <typename T> T operator()(T a, T b) const {
    return subtractWide(a, b);
  }
};

struct Mul {
  template <typename T> T operator()(T a, T b) const {
    return multiplyWide(a, b);
  }
};

struct Div {
  double operator()(double a, double b) const { return a / b; }
  uint64_t operator()(uint64_t a, uint64_t b) const { return b ? a / b : 0; }
  int64_t operator()(int64_t a, int64_t b) const {
    if (b == -1)
      return 0 - static_cast<uint64_t>(a);
    return b ? a / b : 0;
  }
};

/// The remainder has the sign of the dividend, as C's fmod.
struct Remainder {
  double operator()(double a, double b) const { return std::fmod(a, b); }
  uint64_t operator()(uint64_t a, uint64_t b) const { return b ? a % b : 0; }
  int64_t operator()(int64_t a, int64_t b) const {
    return b == 0 || b == -1 ? 0 : a % b;
  }
};

/// The remainder has the sign of the divisor, as Python's %.
struct Modulo {
  template <typename T> T operator()(T a, T b) const {
    T rest = Remainder()(a, b);
    if constexpr (std::is_signed_v<T>)
      if (rest != 0 && (rest < 0) != (b < 0))
        return rest + b;
    return rest;
  }
};

/// NaN wins over any number.
struct Max {
  template <typename T> T operator()(T a, T b) const {
    return a >= b || a != a ? a : b;
  }
};

struct Min {
  template <typename T> T operator()(T a, T b) const {
    return a <= b || a != a ? a : b;
  }
};

struct Prelu {
  template <typename T> T operator()(T x, T slope) const {
    return x < 0 ? Mul()(x, slope) : x;
  }
};

struct BitAnd {
  uint64_t operator()(uint64_t a, uint64_t b) const { return a & b; }
};

struct BitOr {
  uint64_t operator()(uint64_t a, uint64_t b) const { return a | b; }
};

struct BitXor {
  uint64_t operator()(uint64_t a, uint64_t b) const { return a ^ b; }
};

/// Amounts are read as unsigned: negative ones are past every width. Bits past
/// the width of a narrow type fall off when the result is stored.
struct ShiftLeft {
  uint64_t operator()(uint64_t x, uint64_t amount) const {
    return amount < 64 ? x << amount : 0;
  }
};

/// Arithmetic for signed types: a wide value is sign-extended, so that
/// shifting on past the width of its type yields its sign.
struct ShiftRight {
  uint64_t operator()(uint64_t x, uint64_t amount) const {
    return amount < 64 ? x >> amount : 0;
  }
  int64_t operator()(int64_t x, int64_t amount) const {
    uint64_t steps = amount;
    return x >> (steps < 64 ? steps : 63);
  }
};

} // namespace

static Status computeShiftRight(ComputeContext &context) {
  if (isUnsignedInteger(context.input(0).type))
    return computeBits<ShiftRight>(context);
  mapElements<int64_t, int64_t, 2>(context, ShiftRight());
  return Status::ok();
}

static Status computeMod(ComputeContext &context) {
  bool asDividend = context.attrs().getInt("fmod", 0);
  return asDividend ? computeBinary<Remainder>(context)
                    : computeBinary<Modulo>(context);
}

/// base^exponent modulo 2^64.
static uint64_t powerOf(uint64_t base, uint64_t exponent) {
  uint64_t power = 1;
  for (; exponent; exponent >>= 1, base *= base)
    if (exponent & 1)
      power *= base;
  return power;
}

/// The reciprocal of a power, truncated: 0 but for 1 and -1; 0 for 1 / 0.
static uint64_t inversePowerOf(int64_t base, bool isOdd, bool isSigned) {
  if (base == -1 && isSigned)
    return isOdd ? -1 : 1;
  return base == 1;
}

static Status computePow(ComputeContext &context) {
  DataType base = context.input(0).type, exponent = context.input(1).type;
  if (isFloat(base) || isFloat(exponent)) {
    mapElements<double, double, 2>(
        context, [](double x, double y) { return std::pow(x, y); });
    return Status::ok();
  }
  if (isUnsignedInteger(exponent)) {
    mapElements<uint64_t, uint64_t, 2>(context, powerOf);
    return Status::ok();
  }
  bool isSigned = isSignedInteger(base);
  mapElements<int64_t, uint64_t, 2>(context, [=](int64_t x, int64_t y) {
    return y < 0 ? inversePowerOf(x, y & 1, isSigned) : powerOf(x, y);
  });
  return Status::ok();
}

std::span<const Operation> ref::binaryOperations() {
  static constexpr Operation operations[] = {
      {"add", inferBinary<numericTypes>, computeBinary<Add>},
      {"bitwise_and", inferBinary<integerTypes>, computeBits<BitAnd>},
      {"bitwise_or", inferBinary<integerTypes>, computeBits<BitOr>},
      {"bitwise_xor", inferBinary<integerTypes>, computeBits<BitXor>},
      {"div", inferBinary<numericTypes>, computeBinary<Div>},
      {"logical_and", inferBinary<boolType>, computeBits<BitAnd>},
      {"logical_or", inferBinary<boolType>, computeBits<BitOr>},
      {"logical_xor", inferBinary<boolType>, computeBits<BitXor>},
      {"max", inferBinary<numericTypes>, computeBinary<Max>},
      {"min", inferBinary<numericTypes>, computeBinary<Min>},
      {"mod", inferBinary<numericTypes>, computeMod},
      {"mul", inferBinary<numericTypes>, computeBinary<Mul>},
      {"pow", inferPow, computePow},
      {"prelu", inferBinary<numericTypes>, computeBinary<Prelu>},
      {"shift_left", inferBinary<integerTypes>, computeBits<ShiftLeft>},
      {"shift_right", inferBinary<integerTypes>, computeShiftRight},
      {"sub", inferBinary<numericTypes>, computeBinary<Sub>},
  };
  return operations;
}
