// SPDX-License-Identifier: Apache-2.0

#include "dlc/Numerics/Inputs.h"

#include "dlc/dialects/Graph/GraphOps.h"
#include "dlc/dialects/Graph/Plain.h"
#include "dlc/runtime/Base/Random.h"

#include "llvm/ADT/APFloat.h"

#include <cstring>

using namespace mlir;
using namespace dlc;
using namespace dlc::numerics;

static constexpr int64_t kChosenExtent = 3;

/// Writes `real` where the type is of floats, else `whole`, as element `index`.
static void put(rt::DataType type, void *data, int64_t index, double real,
                uint64_t whole) {
  char *at = static_cast<char *>(data) + index * rt::sizeOf(type);
  auto write = [&](auto number) { std::memcpy(at, &number, sizeof(number)); };
  switch (type) {
  case DLC_F64:
    return write(real);
  case DLC_F32:
    return write(static_cast<float>(real));
  case DLC_F16:
  case DLC_BF16: {
    llvm::APFloat number(real);
    bool losesInfo;
    number.convert(type == DLC_F16 ? llvm::APFloat::IEEEhalf()
                                   : llvm::APFloat::BFloat(),
                   llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    return write(static_cast<uint16_t>(number.bitcastToAPInt().getZExtValue()));
  }
  default:
    std::memcpy(at, &whole, rt::sizeOf(type)); // Little-endian, as all of it.
  }
}

rt::Status dlc::numerics::makeTensor(const rt::TensorType &type,
                                     ArrayRef<double> numbers, Tensor &tensor) {
  rt::ref::OwnedTensor memory;
  DLC_RETURN_IF_ERROR(
      rt::ref::OwnedTensor::allocate(type.type, type.shape, memory));
  bool isReal = rt::isFloat(type.type);
  for (auto [i, number] : llvm::enumerate(numbers))
    put(type.type, memory.data(), i, number,
        isReal ? 0 : static_cast<uint64_t>(static_cast<int64_t>(number)));
  tensor = toTensor(std::move(memory));
  return rt::Status::ok();
}

rt::Status dlc::numerics::makeInput(const rt::TensorType &type, uint64_t seed,
                                    Integers integers, Tensor &tensor) {
  rt::ref::OwnedTensor memory;
  DLC_RETURN_IF_ERROR(
      rt::ref::OwnedTensor::allocate(type.type, type.shape, memory));
  rt::RandomDraws draws{seed};
  for (int64_t i = 0, size = *rt::elementCount(type.shape); i < size; ++i) {
    rt::RandomWords words = draws.block(i);
    uint64_t whole = type.type == DLC_BOOL         ? words[1] % 2
                     : integers == Integers::Small ? words[1] % 3
                                                   : 0;
    put(type.type, memory.data(), i, words[0] * 0x1p-30 - 2, whole);
  }
  tensor = toTensor(std::move(memory));
  return rt::Status::ok();
}

/// The extents that `argument` holds places in; empty where it holds none.
static SmallVector<int64_t> extentsOf(BlockArgument argument) {
  for (Operation *user : argument.getUsers())
    if (auto indexed = dyn_cast<graph::IndexedOpInterface>(user))
      if (indexed.getIndicesOperand().get() == argument)
        return indexed.getIndexedExtents().value_or(SmallVector<int64_t>());
  return {};
}

static rt::Status makePlaces(const rt::TensorType &type, uint64_t seed,
                             ArrayRef<int64_t> extents, Tensor &tensor) {
  DLC_RETURN_IF_ERROR(makeInput(type, seed, Integers::Zero, tensor));
  rt::RandomDraws draws{seed};
  for (int64_t i = 0, size = tensor.size(); i < size; ++i) {
    int64_t extent = std::max<int64_t>(extents[i % extents.size()], 1);
    put(type.type, const_cast<void *>(tensor.data), i, 0,
        draws.block(i)[0] % extent);
  }
  return rt::Status::ok();
}

static rt::Status makeArgument(FunctionOpInterface function, unsigned number,
                               uint64_t seed, Integers integers,
                               Tensor &tensor) {
  if (auto initial = function.getArgAttrOfType<ElementsAttr>(
          number, graph::GraphDialect::kInitialAttr)) {
    auto raw =
        std::make_shared<graph::RawElements>(graph::RawElements::get(initial));
    if (*raw) {
      tensor = {graph::toTensorType(initial.getType()), raw->data().data(),
                raw};
      return rt::Status::ok();
    }
  }
  BlockArgument argument = function.getArgument(number);
  rt::TensorType type = graph::toTensorType(argument.getType());
  if (type.type == DLC_INVALID_TYPE || !type.hasRank)
    return rt::makeError(rt::StatusCode::Unsupported,
                         "expected a tensor of a known rank as argument #%u",
                         number);
  for (int64_t &extent : type.shape)
    if (extent == rt::kUnknownDim)
      extent = kChosenExtent;
  SmallVector<int64_t> extents = extentsOf(argument);
  if (!extents.empty() && integers == Integers::Small)
    return makePlaces(type, seed, extents, tensor);
  return makeInput(type, seed, integers, tensor);
}

rt::Status dlc::numerics::makeInputs(FunctionOpInterface function,
                                     uint64_t seed, Integers integers,
                                     std::vector<Tensor> &inputs) {
  inputs.clear();
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    Tensor tensor;
    // Arguments are told apart by the upper half of the seed.
    DLC_RETURN_IF_ERROR(makeArgument(function, i,
                                     seed ^ static_cast<uint64_t>(i + 1) << 32,
                                     integers, tensor));
    inputs.push_back(std::move(tensor));
  }
  return rt::Status::ok();
}
