// SPDX-License-Identifier: Apache-2.0
//
// Launches of the CPU library (CPULibrary.h) as calls of any library.

#include "Peer.h"

#include "dlc/runtime/Kernel/Library.h"

#include <string_view>

using namespace dlc;
using namespace dlc::tool;

namespace {

class LaunchReader {
public:
  LaunchReader(const abi::Program &whole, const abi::Program &program,
               const abi::Launch &launch)
      : program(program), launch(launch),
        kernel(*whole.kernels()->Get(launch.kernel())) {}

  std::vector<PeerCall> read() const;

private:
  const abi::Attribute *find(const std::string &name) const;
  std::vector<int64_t> ints(const std::string &name) const;
  int64_t integer(const std::string &name, int64_t otherwise) const;
  /// Null for an absent operand.
  const abi::Value *operand(unsigned index) const;
  std::vector<int64_t> shapeOf(unsigned index) const;
  void readActivation(const std::string &prefix, PeerCall &call) const;
  void readWindows(const std::string &prefix, PeerCall &call) const;
  PeerCall readProduct() const;
  PeerCall readConvolution() const;
  std::vector<PeerCall> readChain() const;

  const abi::Program &program;
  const abi::Launch &launch;
  const abi::Kernel &kernel;
};

} // namespace

const abi::Attribute *LaunchReader::find(const std::string &name) const {
  for (unsigned i = 0; kernel.attributes() && i < kernel.attributes()->size();
       ++i)
    if (kernel.attributes()->Get(i)->name()->str() == name)
      return kernel.attributes()->Get(i);
  return nullptr;
}

std::vector<int64_t> LaunchReader::ints(const std::string &name) const {
  const abi::Attribute *found = find(name);
  if (!found || !found->ints())
    return {};
  return {found->ints()->begin(), found->ints()->end()};
}

int64_t LaunchReader::integer(const std::string &name,
                              int64_t otherwise) const {
  const abi::Attribute *found = find(name);
  return found ? found->i() : otherwise;
}

const abi::Value *LaunchReader::operand(unsigned index) const {
  if (index >= launch.arguments()->size())
    return nullptr;
  int32_t id = launch.arguments()->Get(index);
  return id < 0 ? nullptr : program.values()->Get(id);
}

/// As it was before it was packed.
std::vector<int64_t> LaunchReader::shapeOf(unsigned index) const {
  std::vector<int64_t> unpacked = ints(rt::packedShapeName(index));
  const abi::Value *value = operand(index);
  if (!unpacked.empty() || !value || !value->shape())
    return unpacked;
  return {value->shape()->begin(), value->shape()->end()};
}

/// [N, C/16, ..., 16] as [N, C, ...].
static std::vector<int64_t> withoutBlocks(std::vector<int64_t> shape,
                                          size_t rank) {
  if (shape.size() != rank + 1)
    return shape;
  shape[1] *= shape.back();
  shape.pop_back();
  return shape;
}

void LaunchReader::readActivation(const std::string &prefix,
                                  PeerCall &call) const {
  if (const abi::Attribute *found = find(prefix + "activation");
      found && found->s())
    call.activation = found->s()->str();
  const abi::Attribute *alpha = find(prefix + "alpha");
  const abi::Attribute *beta = find(prefix + "beta");
  call.alpha = alpha ? static_cast<float>(alpha->f()) : 0;
  call.beta = beta ? static_cast<float>(beta->f()) : 0;
}

void LaunchReader::readWindows(const std::string &prefix,
                               PeerCall &call) const {
  const size_t spatial = call.w.size() - 2;
  call.strides = ints(prefix + "strides");
  call.dilations = ints(prefix + "dilations");
  call.pads = ints(prefix + "pads");
  call.strides.resize(spatial, 1);
  call.dilations.resize(spatial, 1);
  call.pads.resize(2 * spatial, 0);
}

PeerCall LaunchReader::readProduct() const {
  PeerCall call;
  call.x = shapeOf(0);
  call.w = shapeOf(1);
  call.y = shapeOf(launch.inputs());
  call.transposedX = integer("trans_a", 0);
  call.transposedW = integer("trans_b", 0);
  call.isConstantW = operand(1)->storage() == abi::Storage::Constant;
  call.hasBias = operand(2) && launch.inputs() > 2;
  call.addsToY = operand(3) && launch.inputs() > 3;
  readActivation("", call);
  return call;
}

PeerCall LaunchReader::readConvolution() const {
  PeerCall call;
  call.isConvolution = true;
  call.w = shapeOf(1);
  call.x = withoutBlocks(shapeOf(0), call.w.size());
  call.y = withoutBlocks(shapeOf(launch.inputs()), call.w.size());
  call.group = integer("group", 1);
  call.isConstantW = operand(1)->storage() == abi::Storage::Constant;
  call.hasBias = operand(2) && launch.inputs() > 2;
  call.addsToY = operand(3) && launch.inputs() > 3;
  readWindows("", call);
  readActivation("", call);
  return call;
}

/// Of the windows that `call` has over its x.
static std::vector<int64_t> resultOf(const PeerCall &call) {
  std::vector<int64_t> y = {call.x[0], call.w[0]};
  const size_t spatial = call.strides.size();
  for (size_t d = 0; d != spatial; ++d)
    y.push_back((call.x[2 + d] + call.pads[d] + call.pads[spatial + d] -
                 call.dilations[d] * (call.w[2 + d] - 1) - 1) /
                    call.strides[d] +
                1);
  return y;
}

/// Each of its convolutions reads what the one before gives.
std::vector<PeerCall> LaunchReader::readChain() const {
  // What stands before the attributes; the last windows are single pixels.
  constexpr const char *prefixes[] = {"front_", "", "last_"};
  std::vector<PeerCall> calls;
  std::vector<int64_t> x = withoutBlocks(shapeOf(0), 4);
  for (unsigned i = 0; i != 3; ++i) {
    if (!operand(1 + 2 * i))
      continue;
    PeerCall call;
    call.isConvolution = true;
    call.isConstantW = true;
    call.x = x;
    call.w = shapeOf(1 + 2 * i);
    call.group = i == 1 ? call.w[0] : 1;
    call.hasBias = operand(2 + 2 * i);
    readWindows(prefixes[i], call);
    readActivation(prefixes[i], call);
    call.y = x = resultOf(call);
    calls.push_back(std::move(call));
  }
  if (!calls.empty())
    calls.back().addsToY = operand(7) && launch.inputs() > 7;
  return calls;
}

std::vector<PeerCall> LaunchReader::read() const {
  const std::string_view name = kernel.name()->string_view();
  if (name == "cpu.matmul")
    return {readProduct()};
  if (name == "cpu.conv")
    return {readConvolution()};
  return name == "cpu.depthwise_chain" ? readChain() : std::vector<PeerCall>();
}

std::vector<PeerCall> tool::peerCallsOf(const abi::Program &whole,
                                        const abi::Program &program,
                                        const abi::Launch &launch) {
  return LaunchReader(whole, program, launch).read();
}
