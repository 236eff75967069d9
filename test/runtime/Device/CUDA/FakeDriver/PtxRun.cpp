// SPDX-License-Identifier: Apache-2.0

#include "PtxBlock.h"
#include "PtxOps.h"
#include "PtxValues.h"

#include <algorithm>
#include <cstring>

using namespace fake;

Block::Block(const Launch &launch, uint32_t index, Cluster &cluster)
    : launch(launch), block(index), cluster(cluster), threads(launch.threads),
      shared(launch.kernel->sharedBytes + launch.dynamicShared, 0xCD) {
  for (uint32_t i = 0; i != launch.threads; ++i) {
    threads[i].index = i;
    threads[i].registers.values.assign(launch.kernel->registers,
                                       0xCDCDCDCDCDCDCDCD);
    threads[i].local.assign(launch.kernel->localBytes, 0xCD);
  }
  if (!launch.kernel->hasProducts)
    return;
  writes.start(shared.size(), threads.size());
  for (Thread &thread : threads) {
    if (thread.index % warpgroupThreads == 0)
      warpgroups.emplace_back(*launch.kernel, shared, writes);
    thread.registers.marks.assign(launch.kernel->registers, 0);
    warpgroups.back().add(thread.registers);
  }
}

bool Block::isDone() const {
  return std::all_of(threads.begin(), threads.end(), [](const Thread &thread) {
    return thread.state == Thread::Done;
  });
}

/// Lets threads of this block go on that wait for arrivals, as often as all
/// threads of the cluster that have not ended have arrived; false if none is.
bool Block::releaseCluster() {
  uint32_t arrivals = UINT32_MAX;
  for (const auto &other : cluster)
    for (const Thread &thread : other->threads)
      if (thread.state != Thread::Done)
        arrivals = std::min(arrivals, thread.arrivals);
  bool isAny = false;
  for (Thread &thread : threads)
    if (thread.state == Thread::AtCluster && thread.arrivals <= arrivals) {
      thread.state = Thread::Ready;
      isAny = true;
    }
  if (isAny)
    writes.meet(/*hasArrived=*/true);
  return isAny;
}

bool Block::advance() {
  bool hasMoved = false;
  for (bool backwards = false;; backwards = !backwards) {
    bool isMoving = false;
    for (size_t i = 0; i != threads.size(); ++i) {
      Thread &thread = threads[backwards ? threads.size() - 1 - i : i];
      if (thread.state != Thread::Ready)
        continue;
      advance(thread);
      isMoving = true;
    }
    auto count = [&](Thread::State state) {
      return std::count_if(threads.begin(), threads.end(),
                           [&](auto &thread) { return thread.state == state; });
    };
    size_t done = count(Thread::Done), waiting = count(Thread::AtBarrier);
    if (done == threads.size())
      return true;
    if (done + waiting == threads.size()) {
      if (done)
        throw "threads have ended that others wait for in " +
            launch.kernel->name;
      reduceAtBarrier();
      writes.meet();
      for (Thread &thread : threads)
        thread.state = Thread::Ready;
      hasMoved = true;
      continue;
    }
    for (uint32_t warp = 0; warp * 32 < threads.size(); ++warp)
      if (isTogether(warp * 32, 32, Thread::AtWarp)) {
        advanceWarp(warp);
        isMoving = true;
      }
    for (uint32_t i = 0; i != warpgroups.size(); ++i)
      if (isTogether(i * warpgroupThreads, warpgroupThreads,
                     Thread::AtWarpgroup)) {
        advanceWarpgroup(i);
        isMoving = true;
      }
    isMoving |= releaseCluster();
    if (!isMoving)
      return hasMoved;
    hasMoved = true;
  }
}

void Block::advance(Thread &thread) {
  while (thread.state == Thread::Ready) {
    if (thread.next >= launch.kernel->code.size())
      throw "no end of " + launch.kernel->name;
    const Instruction &at = launch.kernel->code[thread.next];
    if (!budget--)
      fail("too many steps", at);
    if (at.guard >= 0 &&
        bool(thread.registers.values[at.guard] & 1) == at.guardIsNegated) {
      ++thread.next;
      continue;
    }
    if (step(thread, at))
      ++thread.next;
  }
}

/// bar.red.or.pred d, barrier, p: PTX ISA 9.7.13.1. All wait at one, and have
/// passed it.
void Block::reduceAtBarrier() {
  const Instruction &at = launch.kernel->code[threads[0].next - 1];
  if (!has(at, "red"))
    return;
  if (!has(at, "or") || !has(at, "pred") || at.operands.size() != 3)
    fail("unknown reduction", at);
  bool isAny = false;
  for (Thread &thread : threads) {
    if (thread.next != threads[0].next)
      fail("threads at another barrier", at);
    isAny |= read(thread, at.operands[2]) & 1;
  }
  for (Thread &thread : threads)
    write(thread, at.operands[0], isAny);
}

/// All of a warp, or of more, are at the same instruction.
bool Block::isTogether(uint32_t begin, uint32_t count, Thread::State state) {
  uint32_t end = std::min<size_t>(begin + count, threads.size());
  for (uint32_t i = begin; i != end; ++i)
    if (threads[i].state != state || threads[i].next != threads[begin].next)
      return false;
  return true;
}

void Block::advanceWarp(uint32_t warp) {
  uint32_t begin = warp * 32,
           end = std::min<size_t>(begin + 32, threads.size());
  const Instruction &at = launch.kernel->code[threads[begin].next];
  if (at.op != op_shfl && end - begin != 32)
    fail("a warp without all of its threads", at);
  if (at.op == op_shfl)
    shuffle(at, begin, end);
  else if (at.op == op_ldmatrix)
    loadMatrices(at, begin);
  else
    multiplyMatrices(at, begin);
  for (uint32_t i = begin; i != end; ++i) {
    threads[i].state = Thread::Ready;
    ++threads[i].next;
  }
}

/// shfl.sync.MODE.b32 d, a, b, c, mask: PTX ISA 9.7.9.6.
void Block::shuffle(const Instruction &at, uint32_t begin, uint32_t end) {
  std::vector<uint64_t> old;
  for (uint32_t i = begin; i != end; ++i)
    old.push_back(read(threads[i], at.operands[1]));
  for (uint32_t i = begin; i != end; ++i) {
    Thread &thread = threads[i];
    int lane = i - begin;
    int b = read(thread, at.operands[2]) & 31, c = read(thread, at.operands[3]);
    if (masked(read(thread, at.operands[4]), 32) != 0xFFFFFFFF)
      fail("a mask of less than a warp", at);
    int segment = c >> 8 & 31, clamp = c & 31;
    int most = (lane & segment) | (clamp & ~segment), least = lane & segment;
    int from = at.words[2] == "bfly"   ? lane ^ b
               : at.words[2] == "down" ? lane + b
               : at.words[2] == "up"   ? lane - b
                                       : least | (b & ~segment);
    bool isIn = at.words[2] == "up" ? from >= most : from <= most;
    if (!isIn)
      from = lane;
    if (from < 0 || from >= int(old.size()))
      fail("a shuffle from a thread that is not there", at);
    write(thread, at.operands[0], old[from]);
  }
}

/// ldmatrix.sync.aligned.m8n8.x4[.trans].shared.b16: PTX ISA 9.7.14.5.15. Eight
/// lanes have the addresses of the lines of one of four matrices.
void Block::loadMatrices(const Instruction &at, uint32_t begin) {
  if (!has(at, "m8n8") || !has(at, "x4") || !has(at, "b16"))
    fail("unknown matrices", at);
  uint16_t matrices[4][8][8];
  for (uint32_t lane = 0; lane != 32; ++lane) {
    Thread &thread = threads[begin + lane];
    const Operand &place = at.operands[1];
    std::memcpy(matrices[lane / 8][lane % 8],
                memory(thread, at, Space::Shared,
                       read(thread, place) + place.value, 16),
                16);
  }
  for (uint32_t lane = 0; lane != 32; ++lane)
    for (int i = 0; i != 4; ++i) {
      uint64_t pair = 0;
      for (int half = 0; half != 2; ++half) {
        int line = lane / 4, place = lane % 4 * 2 + half;
        pair |= uint64_t(has(at, "trans") ? matrices[i][place][line]
                                          : matrices[i][line][place])
                << (16 * half);
      }
      write(threads[begin + lane], at.operands[0].parts.at(i), pair);
    }
}

/// mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32: PTX ISA 9.7.14.5.6.
void Block::multiplyRounded(const Instruction &at, uint32_t begin) {
  double a[16][8], b[8][8];
  float c[16][8];
  auto floatOf = [&](uint32_t lane, int operand, int part) {
    uint64_t bits =
        read(threads[begin + lane], at.operands[operand].parts.at(part));
    return bitsAs<float>(operand == 3 ? bits : bits & ~uint64_t(0x1fff));
  };
  for (uint32_t lane = 0; lane != 32; ++lane) {
    int group = lane / 4, within = lane % 4;
    for (int part = 0; part != 4; ++part) {
      a[group + part % 2 * 8][within + part / 2 * 4] = floatOf(lane, 1, part);
      if (part < 2)
        b[within + part * 4][group] = floatOf(lane, 2, part);
      c[group + part / 2 * 8][within * 2 + part % 2] = floatOf(lane, 3, part);
    }
  }
  for (int row = 0; row != 16; ++row)
    for (int column = 0; column != 8; ++column) {
      double exact = c[row][column];
      for (int k = 0; k != 8; ++k)
        exact += a[row][k] * b[k][column];
      c[row][column] = float(exact);
    }
  for (uint32_t lane = 0; lane != 32; ++lane)
    for (int part = 0; part != 4; ++part)
      write(threads[begin + lane], at.operands[0].parts.at(part),
            asBits(c[lane / 4 + part / 2 * 8][lane % 4 * 2 + part % 2]));
}

/// mma.sync.aligned.m16n8k16.row.col.f32.TYPE.TYPE.f32: PTX ISA 9.7.14.5.8.
void Block::multiplyMatrices(const Instruction &at, uint32_t begin) {
  if (has(at, "tf32") && has(at, "m16n8k8"))
    return multiplyRounded(at, begin);
  bool isBrain = has(at, "bf16");
  if (!has(at, "m16n8k16") || !(isBrain || has(at, "f16")) || !has(at, "f32"))
    fail("unknown product", at);
  double a[16][16], b[16][8];
  float c[16][8];
  auto halfOf = [&](uint32_t lane, int operand, int part, int half) {
    uint64_t pair =
        read(threads[begin + lane], at.operands[operand].parts.at(part));
    return toDouble(masked(pair >> (16 * half), 16), isBrain ? 'h' : 'f', 16);
  };
  for (uint32_t lane = 0; lane != 32; ++lane) {
    int group = lane / 4, within = lane % 4 * 2;
    for (int part = 0; part != 4; ++part)
      for (int half = 0; half != 2; ++half) {
        a[group + part % 2 * 8][within + half + part / 2 * 8] =
            halfOf(lane, 1, part, half);
        if (part < 2)
          b[within + half + part * 8][group] = halfOf(lane, 2, part, half);
        c[group + part / 2 * 8][within + part % 2] = bitsAs<float>(
            read(threads[begin + lane], at.operands[3].parts.at(part)));
      }
  }
  for (auto &row : a)
    for (int column = 0; column != 8; ++column) {
      float &sum = c[&row - a][column];
      double exact = sum;
      for (int k = 0; k != 16; ++k)
        exact += row[k] * b[k][column];
      sum = float(exact);
    }
  for (uint32_t lane = 0; lane != 32; ++lane)
    for (int part = 0; part != 4; ++part)
      write(threads[begin + lane], at.operands[0].parts.at(part),
            asBits(c[lane / 4 + part / 2 * 8][lane % 4 * 2 + part % 2]));
}

/// wgmma: PTX ISA 9.7.15.
void Block::advanceWarpgroup(uint32_t index) {
  const uint32_t begin = index * warpgroupThreads;
  const Instruction &at = launch.kernel->code[threads[begin].next];
  if (!warpgroups[index].isWhole())
    fail("a warpgroup without all of its threads", at);
  if (at.words[1] == "fence")
    warpgroups[index].fence();
  else if (at.words[1] == "commit_group")
    warpgroups[index].commit();
  else if (at.words[1] == "wait_group")
    warpgroups[index].wait(at.operands[0].value);
  else
    startProduct(index, at);
  for (uint32_t i = begin; i != begin + warpgroupThreads; ++i) {
    threads[i].state = Thread::Ready;
    ++threads[i].next;
  }
}

/// Of what wgmma writes, by other instructions.
void Block::touch(Thread &thread, uint32_t index) {
  Registers &registers = thread.registers;
  if (registers.marks[index] & Registers::InFlight)
    fail("a register of a product that nobody has waited for",
         launch.kernel->code[thread.next]);
  registers.marks[index] |= Registers::Touched;
  registers.hasTouched = true;
}

/// Which operands are those of all threads.
void Block::startProduct(uint32_t index, const Instruction &at) {
  Thread *first = &threads[index * warpgroupThreads];
  uint64_t values[3];
  for (int i = 0; i != 3; ++i)
    for (uint32_t thread = 0; thread != warpgroupThreads; ++thread) {
      const uint64_t value =
          masked(read(first[thread], at.operands[i + 1]), i == 2 ? 1 : 64);
      if (thread && value != values[i])
        fail("threads of a warpgroup with other operands", at);
      values[i] = value;
    }
  warpgroups[index].start(at, values[0], values[1], values[2]);
}

/// Of memory of this block: writes of others of the cluster are not noted.
void Block::noteWrite(const Thread &thread, const uint8_t *place,
                      size_t bytes) {
  const uintptr_t offset = reinterpret_cast<uintptr_t>(place) -
                           reinterpret_cast<uintptr_t>(shared.data());
  if (writes.isOn() && offset < shared.size())
    writes.note(offset, bytes, thread.index);
}

/// cp.async.CACHE.shared.global [to], [from], bytes[, read]; its groups: PTX
/// ISA 9.7.9.25.3.
void Block::copyLater(Thread &thread, const Instruction &at) {
  if (has(at, "commit_group")) {
    thread.copies.emplace_back();
    return;
  }
  if (has(at, "wait_group"))
    return finishCopies(thread, read(thread, at.operands[0]));
  if (!has(at, "shared") || !has(at, "global"))
    fail("unknown copy", at);
  auto addressOf = [&](int i) {
    return read(thread, at.operands[i]) + at.operands[i].value;
  };
  unsigned bytes = read(thread, at.operands[2]), count = bytes;
  if (at.operands.size() > 3)
    count = masked(read(thread, at.operands[3]), 32);
  bool isKnown =
      has(at, "cg") ? bytes == 16 : bytes == 4 || bytes == 8 || bytes == 16;
  if (!isKnown || count > bytes)
    fail("an unknown number of bytes", at);
  Copy made{&at, addressOf(0), addressOf(1), bytes, count};
  if (thread.index % 2)
    finishCopy(thread, made);
  else
    thread.copies.back().push_back(made);
}

void Block::finishCopy(Thread &thread, const Copy &copy) {
  uint8_t *to = memory(thread, *copy.at, Space::Shared, copy.to, copy.bytes);
  std::memset(to, 0, copy.bytes);
  if (copy.read)
    std::memcpy(to,
                memory(thread, *copy.at, Space::Global, copy.from, copy.bytes),
                copy.read);
  noteWrite(thread, to, copy.bytes);
}

/// All groups but the `later` last ones.
void Block::finishCopies(Thread &thread, size_t later) {
  while (thread.copies.size() > later + 1) {
    for (const Copy &copy : thread.copies.front())
      finishCopy(thread, copy);
    thread.copies.erase(thread.copies.begin());
  }
}

uint64_t Block::read(Thread &thread, const Operand &operand) {
  switch (operand.kind) {
  case Operand::Register:
    if (operand.isSum) [[unlikely]]
      touch(thread, operand.index);
    return thread.registers.values[operand.index];
  case Operand::Immediate:
    if (operand.value >= sharedWindow && operand.value < localWindow)
      return operand.value + block % cluster.size() * sharedStep;
    return operand.value;
  case Operand::Special:
    switch (operand.index) {
    case 0:
      return thread.index;
    case 1:
      return launch.threads;
    case 2:
      return block;
    case 3:
      return launch.blocks;
    case 4:
      return thread.index % 32;
    default:
      return 0;
    }
  default:
    throw "an operand without a value in " + launch.kernel->name;
  }
}

void Block::write(Thread &thread, const Operand &operand, uint64_t value) {
  if (operand.kind == Operand::Register) {
    if (operand.isSum) [[unlikely]]
      touch(thread, operand.index);
    thread.registers.values[operand.index] = value;
  } else if (operand.kind != Operand::None) {
    throw "an operand that is no register in " + launch.kernel->name;
  }
}

uint8_t *Block::memory(Thread &thread, const Instruction &at, Space space,
                       uint64_t address, unsigned bytes) {
  auto within = [&](std::vector<uint8_t> &memory,
                    uint64_t offset) -> uint8_t * {
    if (offset > memory.size() || bytes > memory.size() - offset)
      return nullptr;
    return memory.data() + offset;
  };
  uint8_t *place = nullptr;
  if (address >= clusterWindow) {
    const uint64_t rank = (address - clusterWindow) / clusterStep;
    if (space == Space::Cluster && rank < cluster.size() &&
        !cluster[rank]->isDone() && address % bytes == 0)
      place = within(cluster[rank]->shared,
                     (address - clusterWindow) % clusterStep);
    if (!place)
      fail("illegal address in the cluster", at);
    return place;
  }
  bool isLocal = address >= localWindow;
  bool isShared = !isLocal && address >= sharedWindow;
  bool fits = space == Space::Generic ||
              (space == Space::Local    ? isLocal
               : space == Space::Shared ? isShared
                                        : !isLocal && !isShared);
  if (fits && address % bytes == 0)
    place = isLocal    ? within(thread.local, address - localWindow)
            : isShared ? within(shared, (address - sharedWindow) % sharedStep)
                       : launch.memory(address, bytes);
  if (!place) {
    char text[32];
    snprintf(text, sizeof text, "0x%llx",
             static_cast<unsigned long long>(address));
    fail(std::string("illegal address ") + text, at);
  }
  return place;
}

void Block::access(Thread &thread, const Instruction &at) {
  bool isLoad = at.op == op_ld;
  const Operand &place = at.operands[isLoad ? 1 : 0];
  const Operand &data = at.operands[isLoad ? 0 : 1];
  size_t count = data.kind == Operand::Vector ? data.parts.size() : 1;
  unsigned bytes = std::max(at.bits / 8, 1u);
  uint8_t *memoryAt;
  if (at.space == Space::Param) {
    if (place.value + bytes * count > launch.parameters.size())
      fail("no such parameter", at);
    memoryAt = const_cast<uint8_t *>(launch.parameters.data()) + place.value;
  } else {
    uint64_t base = place.kind == Operand::Immediate
                        ? place.value
                        : read(thread, place) + place.value;
    memoryAt = memory(thread, at, at.space, base, bytes * count);
    if (!isLoad)
      noteWrite(thread, memoryAt, bytes * count);
  }
  for (size_t i = 0; i != count; ++i) {
    const Operand &part = data.kind == Operand::Vector ? data.parts[i] : data;
    uint64_t value = 0;
    if (isLoad) {
      std::memcpy(&value, memoryAt + i * bytes, bytes);
      if (at.type == 's')
        value = extended(value, at.bits);
      write(thread, part, value);
    } else {
      value = read(thread, part);
      std::memcpy(memoryAt + i * bytes, &value, bytes);
    }
  }
}

/// mov, also between a register and its parts.
void Block::move(Thread &thread, const Instruction &at) {
  const Operand &to = at.operands[0], &from = at.operands[1];
  uint64_t value = 0;
  if (from.kind == Operand::Vector) {
    unsigned bits = at.bits / from.parts.size();
    for (size_t i = 0; i != from.parts.size(); ++i)
      value |= masked(read(thread, from.parts[i]), bits) << (i * bits);
  } else {
    value = read(thread, from);
  }
  if (to.kind != Operand::Vector)
    return write(thread, to,
                 at.type == 'p' ? value & 1 : masked(value, at.bits));
  unsigned bits = at.bits / to.parts.size();
  for (size_t i = 0; i != to.parts.size(); ++i)
    write(thread, to.parts[i], masked(value >> (i * bits), bits));
}

/// False when the thread goes on elsewhere, or waits.
bool Block::step(Thread &thread, const Instruction &at) {
  auto value = [&](size_t i) { return read(thread, at.operands[i]); };
  switch (at.op) {
  case op_ld:
  case op_st:
    access(thread, at);
    return true;
  case op_mov:
    move(thread, at);
    return true;
  case op_cvta:
    write(thread, at.operands[0], value(1));
    return true;
  case op_bra:
    thread.next = at.target;
    return false;
  case op_brx:
    thread.next = at.table.at(value(0));
    return false;
  case op_ret:
  case op_exit:
    thread.state = Thread::Done;
    return false;
  case op_mapa: // Of an address in shared memory and the number of a block.
    write(thread, at.operands[0],
          clusterWindow + (value(2) & 0xFFFF) * clusterStep +
              (value(1) - sharedWindow) % sharedStep);
    return true;
  case op_bar:
  case op_barrier:
    if (has(at, "cluster") && has(at, "arrive")) {
      ++thread.arrivals;
      writes.arrive(thread.index);
      return true;
    }
    if (has(at, "cluster")) {
      ++thread.next;
      thread.state = Thread::AtCluster;
      return false;
    }
    ++thread.next;
    thread.state = Thread::AtBarrier;
    return false;
  case op_shfl:
  case op_ldmatrix:
  case op_mma:
    thread.state = Thread::AtWarp;
    return false;
  case op_wgmma:
    thread.state = Thread::AtWarpgroup;
    return false;
  case op_fence:
    writes.fence(thread.index);
    return true;
  case op_cp:
    copyLater(thread, at);
    return true;
  case op_setp: {
    if (at.isPair) {
      if (at.operands.size() != 3)
        fail("unknown comparison", at);
      for (int half = 0; half != 2; ++half)
        write(thread, at.operands[0].parts.at(half),
              compare(at, value(1) >> (16 * half) & 0xFFFF,
                      value(2) >> (16 * half) & 0xFFFF));
      return true;
    }
    bool holds = compare(at, value(1), value(2));
    if (at.operands.size() > 3) {
      bool other = value(3) & 1;
      holds = at.words[2] == "and"  ? holds && other
              : at.words[2] == "or" ? holds || other
                                    : holds != other;
    }
    write(thread, at.operands[0], holds);
    return true;
  }
  case op_selp:
    write(thread, at.operands[0], value(3) & 1 ? value(1) : value(2));
    return true;
  case op_testp: {
    double x = toDouble(value(1), 'f', at.bits);
    write(thread, at.operands[0],
          at.words[1] == "infinite" ? std::isinf(x)
          : at.words[1] == "finite" ? std::isfinite(x)
                                    : std::isnan(x));
    return true;
  }
  case op_cvt: {
    if (at.operands.size() != (at.isPair ? 3 : 2))
      fail("unknown conversion", at);
    uint64_t result = convert(at, value(1));
    if (at.isPair) // The first is the upper half.
      result = masked(result, 16) << 16 | masked(convert(at, value(2)), 16);
    write(thread, at.operands[0], result);
    return true;
  }
  default:
    break;
  }
  uint64_t values[4] = {};
  for (size_t i = 1; i < at.operands.size(); ++i)
    values[i - 1] = value(i);
  uint64_t result = compute(at, values);
  if (at.isPair) {
    for (uint64_t &each : values)
      each >>= 16;
    result = masked(result, 16) | masked(compute(at, values), 16) << 16;
  }
  write(thread, at.operands[0], result);
  return true;
}

/// Blocks of a cluster move on in turn; memory of one that has ended is gone.
void fake::run(const Launch &launch) {
  const uint32_t size = launch.kernel->cluster;
  if (launch.blocks % size)
    throw "no whole number of clusters of " + launch.kernel->name;
  for (uint32_t first = launch.blocks; first != 0;) {
    first -= size;
    Block::Cluster cluster;
    for (uint32_t i = 0; i != size; ++i)
      cluster.push_back(std::make_unique<Block>(launch, first + i, cluster));
    auto isDone = [](const auto &block) { return block->isDone(); };
    while (!std::all_of(cluster.begin(), cluster.end(), isDone)) {
      bool isMoving = false;
      for (size_t i = cluster.size(); i-- != 0;)
        isMoving |= !cluster[i]->isDone() && cluster[i]->advance();
      if (!isMoving)
        throw "threads wait for each other in " + launch.kernel->name;
    }
  }
}
