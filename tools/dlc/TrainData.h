// SPDX-License-Identifier: Apache-2.0
//
// Examples to train with: arrays of one first dimension, and batches of them.

#ifndef DLC_TOOLS_DLC_TRAINDATA_H
#define DLC_TOOLS_DLC_TRAINDATA_H

#include "Command.h"

#include <span>

namespace dlc::tool {

class TrainData {
public:
  /// Reads an .npz file whose arrays have the same first dimension, that of the
  /// examples, and no NaN. Throws a Failure.
  explicit TrainData(const std::string &path);

  int64_t examples() const { return count; }
  const NamedTensors &arrays() const { return tensors; }
  const std::string &path() const { return file; }
  /// The array of that name; throws a Failure, which names those that are
  /// there.
  const HostTensor &array(const std::string &name) const;

  /// The shape of `count` examples of an array.
  static std::vector<int64_t> batchShape(const HostTensor &array,
                                         int64_t count);
  /// Gives the array the element type of the batches of `size` examples that a
  /// program takes: exactly. Throws where that cannot be, or its examples have
  /// another shape.
  void convert(const std::string &name, const rt::TensorType &batch,
               int64_t size);
  /// Makes a vector of an array of one column, as good a list of classes.
  void flattenColumn(const std::string &name);
  /// Throws where an element of the array, which is of i64, is no class.
  void checkClasses(const std::string &name, int64_t classes) const;
  /// Throws where an element of the array, which is of floats, is not from 0 to
  /// 1.
  void checkFractions(const std::string &name) const;
  /// "3 of 43 labels ... are no class ...": of the whole numbers of the array,
  /// of i64 or f32, which a layer may ignore. Empty where there are none such.
  /// Throws where an element is no whole number.
  std::string describeOthers(const std::string &name, int64_t classes) const;
  /// Copies examples to consecutive places of `batch`, whose type was given to
  /// convert() and which has room for them.
  void gather(const std::string &name, std::span<const int64_t> examples,
              HostTensor &batch) const;

private:
  std::string file;
  NamedTensors tensors;
  int64_t count = 0;
};

} // namespace dlc::tool

#endif // DLC_TOOLS_DLC_TRAINDATA_H
