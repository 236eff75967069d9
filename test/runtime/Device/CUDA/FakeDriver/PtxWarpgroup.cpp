// SPDX-License-Identifier: Apache-2.0

#include "PtxWarpgroup.h"

#include <algorithm>
#include <bit>
#include <cstring>

using namespace fake;

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

uint32_t SharedMatrix::offsetOf(uint32_t line, uint32_t k) const {
  const uint32_t plain =
      isTransposed
          ? line / 64 * leading + k / 8 * stride + k % 8 * 128 + line % 64 * 2
          : line / 8 * stride + line % 8 * 128 + k * 2;
  // By the address and not by the place within the operand.
  const uint32_t offset = start + plain;
  return offset ^ (offset >> 3 & 0x70);
}

std::optional<SharedMatrix> fake::matrixOf(uint64_t descriptor,
                                           bool isTransposed, uint32_t lines) {
  auto bytes = [&](int bit) {
    return uint32_t(descriptor >> bit & 0x3FFF) << 4;
  };
  const uint64_t fields =
      uint64_t(0x3FFF) | uint64_t(0x3FFF) << 16 | uint64_t(0x3FFF) << 32;
  if ((descriptor & ~fields) != uint64_t(1) << 62)
    return std::nullopt;
  return SharedMatrix{bytes(0), bytes(16), bytes(32), lines, isTransposed};
}

/// A float has 112 more exponents below one.
static float halfToFloat(uint16_t half) {
  const uint32_t sign = uint32_t(half & 0x8000) << 16,
                 rest = uint32_t(half & 0x7FFF) << 13;
  const float value = (half & 0x7C00) == 0x7C00
                          ? std::bit_cast<float>(rest | 0x7F800000)
                          : std::bit_cast<float>(rest) * 0x1p112f;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(value) | sign);
}

void fake::gather(const SharedMatrix &matrix,
                  const std::vector<uint8_t> &memory, bool isBrain,
                  Gathered gathered) {
  const uint32_t step = matrix.isTransposed ? gathered.lineStep : gathered.step;
  forPieces(matrix, [&](uint32_t line, uint32_t k, uint32_t offset) {
    uint16_t piece[8];
    std::memcpy(piece, memory.data() + offset, sizeof piece);
    float *to = gathered.to + line * gathered.lineStep + k * gathered.step;
    for (uint32_t i = 0; i != 8; ++i)
      to[i * step] = isBrain ? std::bit_cast<float>(uint32_t(piece[i]) << 16)
                             : halfToFloat(piece[i]);
  });
}

void fake::multiply(const float *__restrict a, const float *__restrict b,
                    float *__restrict sums, uint32_t columns) {
  std::fill_n(sums, productRows * columns, 0.0f);
  for (uint32_t row = 0; row != productRows; ++row)
    for (uint32_t k = 0; k != productDepth; ++k) {
      const float factor = a[row * productDepth + k];
      for (uint32_t column = 0; column != columns; ++column)
        sums[row * columns + column] += factor * b[k * columns + column];
    }
}

//===----------------------------------------------------------------------===//
// Writes
//===----------------------------------------------------------------------===//

void SharedWrites::note(size_t offset, size_t bytes, uint32_t thread) {
  for (size_t i = offset / 2; i * 2 < offset + bytes; ++i)
    writes[i] = {thread, now};
}

void SharedWrites::fence(uint32_t thread) {
  ++now;
  if (isOn())
    threads[thread].fenced = now;
}

void SharedWrites::arrive(uint32_t thread) {
  if (isOn())
    threads[thread].arrived = threads[thread].fenced;
}

void SharedWrites::meet(bool hasArrived) {
  for (Thread &thread : threads)
    thread.seen =
        hasArrived ? std::max(thread.seen, thread.arrived) : thread.fenced;
}

const char *SharedWrites::missing(size_t offset) const {
  for (size_t i = offset / 2; i != offset / 2 + 8; ++i) {
    const Thread &thread = threads[writes[i].thread];
    if (writes[i].time >= thread.fenced)
      return "fence.proxy.async";
    if (writes[i].time >= thread.seen)
      return "barrier behind fence.proxy.async";
  }
  return nullptr;
}

bool SharedWrites::isWritten(size_t offset, uint32_t since) const {
  for (size_t i = offset / 2; i != offset / 2 + 8; ++i)
    if (writes[i].time >= since)
      return true;
  return false;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

void Warpgroup::fence() {
  isFenced = true;
  for (Registers *thread : threads) {
    if (thread->hasTouched)
      for (uint8_t &mark : thread->marks)
        mark &= ~Registers::Touched;
    thread->hasTouched = false;
  }
}

void Warpgroup::start(const Instruction &at, uint64_t a, uint64_t b,
                      bool isAdded) {
  checkSums(at);
  const SharedMatrix first = operandOf(at, a, 1), second = operandOf(at, b, 2);
  groups.back().push_back({&at, first, second, isAdded, writes.tick()});
  mark(groups.back().back());
}

static bool haveShared(const std::vector<Operand> &some,
                       const std::vector<Operand> &others) {
  return std::any_of(some.begin(), some.end(), [&](const Operand &one) {
    return std::any_of(others.begin(), others.end(), [&](const Operand &other) {
      return one.index == other.index;
    });
  });
}

/// That registers are ordered: by wgmma.fence, or between products of one
/// shape by themselves.
void Warpgroup::checkSums(const Instruction &at) const {
  if (!isFenced)
    fail("no wgmma.fence before the first product", at);
  const std::vector<Operand> &sums = at.operands[0].parts;
  for (const Registers *thread : threads)
    if (thread->hasTouched)
      for (const Operand &sum : sums)
        if (thread->marks[sum.index] & Registers::Touched)
          fail("no wgmma.fence behind another access to a register", at);
  for (const auto &products : groups)
    for (const Product &product : products)
      if (product.sums().size() != sums.size() &&
          haveShared(product.sums(), sums))
        fail("a register of a product of another shape that nobody has waited "
             "for",
             at);
}

/// Where operand 1 or 2 is, all of which may be read.
SharedMatrix Warpgroup::operandOf(const Instruction &at, uint64_t descriptor,
                                  int operand) const {
  const std::optional<SharedMatrix> matrix =
      matrixOf(descriptor, at.operands[operand + 5].value,
               operand == 1 ? productRows : 2 * at.operands[0].parts.size());
  char text[32];
  snprintf(text, sizeof text, "0x%llx",
           static_cast<unsigned long long>(descriptor));
  if (!matrix)
    fail(std::string("expected a descriptor of 128-byte swizzle, got ") + text,
         at);
  forPieces(*matrix, [&](uint32_t, uint32_t, uint32_t offset) {
    if (offset + 16 > shared.size())
      fail(std::string("memory that is not there, of descriptor ") + text, at);
    if (const char *missing = writes.missing(offset))
      fail(std::string("no ") + missing + " after a write to shared memory",
           at);
  });
  return *matrix;
}

void Warpgroup::mark(const Product &product) {
  for (Registers *thread : threads)
    for (const Operand &sum : product.sums())
      thread->marks[sum.index] |= Registers::InFlight;
}

void Warpgroup::wait(size_t later) {
  for (; groups.size() > later + 1; groups.erase(groups.begin()))
    for (const Product &product : groups.front())
      finish(product);
  // Which later ones may have, too.
  for (const auto &products : groups)
    for (const Product &product : products)
      mark(product);
}

void Warpgroup::finish(const Product &product) {
  const Instruction &at = *product.at;
  const std::vector<Operand> &parts = product.sums();
  const uint32_t columns = product.b.lines;
  for (const SharedMatrix &matrix : {product.a, product.b})
    forPieces(matrix, [&](uint32_t, uint32_t, uint32_t offset) {
      if (writes.isWritten(offset, product.time))
        fail("shared memory was written before anybody waited", at);
    });
  float a[productRows * productDepth], b[productDepth * mostProductColumns],
      sums[productRows * mostProductColumns];
  const bool isBrain = at.type2 == 'h';
  gather(product.a, shared, isBrain, {a, productDepth, 1});
  gather(product.b, shared, isBrain, {b, 1, columns});
  multiply(a, b, sums, columns);
  // Both are 1 or -1.
  const bool isNegated = at.operands[4].value != at.operands[5].value;
  for (uint32_t i = 0; i != warpgroupThreads; ++i) {
    Registers &thread = *threads[i];
    const float *from = sums + (i / 32 * 16 + i % 32 / 4) * columns + i % 4 * 2;
    for (uint32_t part = 0; part != parts.size(); ++part) {
      const uint32_t place =
          part / 2 % 2 * 8 * columns + part / 4 * 8 + part % 2;
      const float sum = isNegated ? -from[place] : from[place];
      uint64_t &to = thread.values[parts[part].index];
      const float old = std::bit_cast<float>(uint32_t(to));
      to = std::bit_cast<uint32_t>(product.isAdded ? old + sum : sum);
      thread.marks[parts[part].index] &= ~Registers::InFlight;
    }
  }
}
