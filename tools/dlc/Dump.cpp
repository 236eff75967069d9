// SPDX-License-Identifier: Apache-2.0
//
// dlc dump: what is in an artifact, without running any of it. It is also the
// check of a whole file: all checksums are compared.

#include "Command.h"

#include "dlc/abi/Artifact_generated.h"
#include "dlc/runtime/Artifact/Loader.h"

#include <cstdio>
#include <filesystem>

using namespace dlc;
using namespace dlc::tool;

static std::string typeText(const abi::Value &value) {
  rt::TensorType type;
  type.type = static_cast<rt::DataType>(value.type());
  type.hasRank = !value.unranked();
  if (value.shape())
    type.shape.assign(value.shape()->begin(), value.shape()->end());
  return rt::toString(type);
}

/// "%7:arena+64 1x8xf32"
static std::string valueText(const abi::Program &program, int32_t id) {
  if (id < 0)
    return "none";
  const abi::Value &value = *program.values()->Get(id);
  std::string text = "%" + std::to_string(id) + ":";
  switch (value.storage()) {
  case abi::Storage::Input:
    text += "input " + std::to_string(value.index());
    break;
  case abi::Storage::Output:
    text += "output " + std::to_string(value.index());
    break;
  case abi::Storage::Constant:
    text += "constant+" + std::to_string(value.offset());
    break;
  case abi::Storage::Arena:
    text += "arena+" + std::to_string(value.offset());
    break;
  case abi::Storage::Pool:
    text += "pool";
    break;
  }
  return text + " " + typeText(value);
}

static std::string attributeText(const abi::Attribute &attribute) {
  std::string text = attribute.name()->str() + "=";
  auto list = [&](auto *values) {
    for (unsigned i = 0; values && i < values->size(); ++i)
      text += (i ? "," : "") + std::to_string(values->Get(i));
  };
  switch (attribute.kind()) {
  case abi::AttributeKind::Int:
    return text + std::to_string(attribute.i());
  case abi::AttributeKind::Float:
    return text + std::to_string(attribute.f());
  case abi::AttributeKind::String:
    return text + (attribute.s() ? attribute.s()->str() : "");
  case abi::AttributeKind::Ints:
    list(attribute.ints());
    return text;
  case abi::AttributeKind::Floats:
    list(attribute.floats());
    return text;
  }
  return text;
}

template <typename List, typename Function>
static void forEach(const List *list, Function function) {
  for (unsigned i = 0; list && i < list->size(); ++i)
    function(i, *list->Get(i));
}

static void printKernel(unsigned id, const abi::Kernel &kernel) {
  std::printf("kernel @%u %s %s", id, abi::EnumNameKernelKind(kernel.kind()),
              kernel.name()->c_str());
  if (kernel.kind() == abi::KernelKind::Generated ||
      kernel.kind() == abi::KernelKind::AnyShape)
    std::printf(" tiles=%lld", static_cast<long long>(kernel.tiles()));
  forEach(kernel.attributes(), [](unsigned, const abi::Attribute &attribute) {
    std::printf(" %s", attributeText(attribute).c_str());
  });
  if (kernel.note() && kernel.note()->size())
    std::printf(" (%s)", kernel.note()->c_str());
  if (kernel.entry()) {
    std::printf(", or %s operands=", kernel.entry()->c_str());
    for (size_t i = 0;
         kernel.entry_operands() && i != kernel.entry_operands()->size(); ++i)
      std::printf(i ? ",%d" : "%d", kernel.entry_operands()->Get(i));
    forEach(kernel.entry_attributes(),
            [](unsigned, const abi::Attribute &attribute) {
              std::printf(" %s", attributeText(attribute).c_str());
            });
  }
  std::printf("\n");
}

static void printDevice(unsigned, const abi::Device &device) {
  std::printf("device %s:%d arena=%llu lower_bound=%llu\n",
              abi::EnumNameDeviceKind(device.kind()), device.index(),
              static_cast<unsigned long long>(device.arena_bytes()),
              static_cast<unsigned long long>(device.lower_bound()));
}

static void printLaunch(const abi::Program &program,
                        const abi::Launch &launch) {
  std::printf("launch @%u", launch.kernel());
  unsigned count = launch.arguments() ? launch.arguments()->size() : 0;
  for (unsigned i = 0; i < count; ++i) {
    const char *lead = i == 0 && launch.inputs() > 0 ? " reads "
                       : i == launch.inputs()        ? " writes "
                                                     : ", ";
    std::printf("%s%s", lead,
                valueText(program, launch.arguments()->Get(i)).c_str());
  }
  if (launch.label() && launch.label()->size())
    std::printf("  // %s", launch.label()->c_str());
  std::printf("\n");
}

static void printPort(const abi::Program &program, const char *kind,
                      const abi::Binding &binding) {
  bool isRandom = binding.role() == abi::BindingRole::RandomState;
  std::printf("%s \"%s\" %s%s", kind, binding.name()->c_str(),
              typeText(*program.values()->Get(binding.value())).c_str(),
              isRandom ? " random" : "");
  if (const auto *padded = binding.padded(); padded && padded->size()) {
    std::printf(" padded(");
    for (unsigned i = 0; i != padded->size(); ++i)
      std::printf(i ? ", %d" : "%d", padded->Get(i));
    std::printf(")");
  }
  std::printf("\n");
}

static void printPorts(const abi::Program &program) {
  forEach(program.inputs(), [&](unsigned, const abi::Binding &binding) {
    printPort(program, "input", binding);
  });
  forEach(program.outputs(), [&](unsigned, const abi::Binding &binding) {
    printPort(program, "output", binding);
  });
}

/// The programs that `program` runs.
static void printParts(const abi::Program &program) {
  auto print = [](const abi::Program &part) {
    forEach(part.devices(), printDevice);
    forEach(part.launches(), [&](unsigned, const abi::Launch &launch) {
      printLaunch(part, launch);
    });
  };
  forEach(program.by_rows(), [&](unsigned, const abi::Program &part) {
    std::printf("batch of %llu\n",
                static_cast<unsigned long long>(part.rows()));
    print(part);
  });
  forEach(program.by_shape(), [&](unsigned i, const abi::Program &part) {
    std::printf("shapes %u\n", i);
    printPorts(part);
    print(part);
    printParts(part);
  });
}

static int dump(const std::string &path) {
  for (const char *model : {".onnx", ".json", ".mlir"})
    if (path.ends_with(model) && std::filesystem::exists(path))
      throw Failure{path + ": expected an artifact, got a model: compile it "
                           "first"};
  rt::Artifact artifact = take(rt::Artifact::open(path));
  if (rt::Status status = artifact.verify(); !status.isOk())
    throw Failure{path + ": " + status.message()};
  const abi::Program &program = artifact.program();
  auto text = [](const flatbuffers::String *s) { return s ? s->c_str() : ""; };
  std::printf("version %u, compiler %s, model %s, options %s\n",
              artifact.header().version, text(program.compiler()),
              text(program.model()), text(program.options()));
  forEach(program.devices(), printDevice);
  forEach(program.objects(), [&](unsigned, const abi::ObjectVariant &object) {
    std::string features;
    forEach(object.features(), [&](unsigned i, const flatbuffers::String &f) {
      features += (i ? "," : "") + f.str();
    });
    std::printf("object %s %llu bytes features=%s", text(object.triple()),
                static_cast<unsigned long long>(object.size()),
                features.c_str());
    forEach(object.grids(), [](unsigned, const abi::KernelGrid &grid) {
      std::printf(" @%u:%ux%u+%u", grid.kernel(), grid.blocks(), grid.threads(),
                  grid.shared());
    });
    std::printf("\n");
  });
  std::printf("constants %zu bytes\n", artifact.constants().size());
  printPorts(program);
  forEach(program.kernels(), printKernel);
  forEach(program.launches(), [&](unsigned, const abi::Launch &launch) {
    printLaunch(program, launch);
  });
  printParts(program);
  return kOk;
}

void dlc::tool::addDump(CommandLine &line) {
  auto path = std::make_shared<std::string>();
  line.add("dump", "Print what is in an artifact",
           [path] { return dump(*path); })
      .required("artifact", *path, "Artifact (.dlc)");
}
