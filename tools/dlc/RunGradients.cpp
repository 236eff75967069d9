// SPDX-License-Identifier: Apache-2.0

#include "RunGradients.h"

#include "dlc/runtime/Base/Half.h"

using namespace dlc;
using namespace dlc::tool;

void GradientFiles::add(Syntax &syntax) {
  syntax.flag("--train", train,
              "Run backward too: gradients of all inputs and parameters of "
              "floats");
  syntax.option("--head-grads", heads,
                "Gradients of outputs by name (.npz); of these outputs only. "
                "Without it all outputs of floats count, with ones");
  syntax.option("--grads", results,
                "Write the gradients of inputs and parameters by name (.npz)");
}

void GradientFiles::checkUsage() const {
  if (train && results.empty())
    throw Failure{"expected --grads out.npz beside --train: where to write "
                  "the gradients",
                  kBadUsage};
  if (!train && (!heads.empty() || !results.empty()))
    throw Failure{std::string("expected --train beside ") +
                      (heads.empty() ? "--grads" : "--head-grads"),
                  kBadUsage};
}

NamedTensors GradientFiles::readHeads() const {
  NamedTensors tensors;
  if (heads.empty())
    return tensors;
  for (rt::NamedTensor &entry : take(rt::readNpz(heads)))
    tensors[entry.name] = std::move(entry.tensor);
  if (tensors.empty())
    throw Failure{heads + ": expected the gradient of an output, found none"};
  return tensors;
}

std::vector<std::string> dlc::tool::namesOf(const NamedTensors &tensors) {
  std::vector<std::string> names;
  for (const auto &[name, tensor] : tensors)
    names.push_back(name);
  return names;
}

/// The gradient that an output has where none is given.
static HostTensor makeOnes(const rt::Port &port) {
  const rt::TensorType &type = port.type;
  if (!type.isStatic())
    throw Failure{"expected a static shape for the " + port.name +
                  ", which is one everywhere unless --head-grads has it, got " +
                  rt::toString(type)};
  HostTensor tensor = makeZeros(type);
  rt::TensorView view = tensor.view();
  for (int64_t i = 0, count = view.size(); i < count; ++i) {
    if (type.type == DLC_F64)
      view.as<double>()[i] = 1;
    else if (type.type == DLC_F32)
      view.as<float>()[i] = 1;
    else
      view.as<uint16_t>()[i] = type.type == DLC_F16 ? rt::halfFromFloat(1)
                                                    : rt::bfloat16FromFloat(1);
  }
  return tensor;
}

/// Throws where a gradient has another shape than its output. Its elements may
/// be converted.
static void checkHead(const std::string &file, const std::string &name,
                      const HostTensor &head, const rt::Port &port) {
  if (port.type.isStatic() && port.type.shape != head.shape)
    throw Failure{file + ": expected the gradient of '" + name + "' as " +
                  rt::toString(port.type) + ", got " +
                  rt::toString(rt::TensorType{head.type, head.shape})};
}

void dlc::tool::addHeads(const LoadedModel &loaded, const std::string &file,
                         NamedTensors heads, NamedTensors &values) {
  auto ports = loaded.program->inputs().subspan(loaded.inputs);
  // "y" and "#0" may be one output.
  if (!heads.empty() && heads.size() != ports.size())
    throw Failure{"expected one gradient of each output, got " +
                  std::to_string(heads.size()) + " of " +
                  std::to_string(ports.size())};
  // The program has them in the order of the names that it was compiled for.
  auto given = heads.begin();
  for (const rt::Port &port : ports) {
    if (heads.empty()) {
      values[port.name] = makeOnes(port);
      continue;
    }
    checkHead(file, given->first, given->second, port);
    values[port.name] = std::move((given++)->second);
  }
}

void GradientFiles::write(const LoadedModel &loaded,
                          rt::Execution &execution) const {
  const rt::Program &program = *loaded.program;
  std::vector<rt::NamedView> tensors;
  size_t output = loaded.outputs;
  for (size_t i = 0; i < loaded.inputs; ++i)
    if (rt::isFloat(program.inputs()[i].type.type))
      tensors.push_back({program.inputs()[i].name, execution.output(output++)});
  check(rt::writeNpz(results, tensors));
}
