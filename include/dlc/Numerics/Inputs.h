// SPDX-License-Identifier: Apache-2.0
//
// Values for the arguments of functions of Graph operations that are run to
// compare, the same for the same seed.

#ifndef DLC_NUMERICS_INPUTS_H
#define DLC_NUMERICS_INPUTS_H

#include "dlc/Numerics/Interpreter.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace dlc::numerics {

/// How integers are chosen.
enum class Integers {
  Small, ///< 0, 1 or 2: indices of most tensors.
  Zero,  ///< Indices of all that are not empty.
};

/// A tensor of a static type with these elements, one each in its order,
/// rounded to what the type holds; integers are below 2^53.
rt::Status makeTensor(const rt::TensorType &type,
                      llvm::ArrayRef<double> numbers, Tensor &tensor);

/// A tensor of a static type: floats from -2 to 2, integers as said, bools of
/// both kinds. OutOfMemory where it does not fit.
rt::Status makeInput(const rt::TensorType &type, uint64_t seed,
                     Integers integers, Tensor &tensor);

/// One for each argument: its `graph.initial` value, places within the tensor
/// where it is read as such (IndexedOpInterface), or as above. Dimensions that
/// are not known are 3, so that they broadcast with each other. Fails where a
/// rank is not known or an argument is no tensor.
rt::Status makeInputs(mlir::FunctionOpInterface function, uint64_t seed,
                      Integers integers, std::vector<Tensor> &inputs);

} // namespace dlc::numerics

#endif // DLC_NUMERICS_INPUTS_H
