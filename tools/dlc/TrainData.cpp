// SPDX-License-Identifier: Apache-2.0

#include "TrainData.h"

#include "Elements.h"

#include "dlc/Training/Text.h"

#include <cmath>
#include <cstring>

using namespace dlc;
using namespace dlc::tool;
using dlc::training::toText;

static std::string placeOf(int64_t example) {
  return " in example " + std::to_string(example) + ", counted from 0";
}

/// One NaN makes all parameters NaN. Infinite numbers may be meant, as in
/// masks.
static void checkNumbers(const std::string &path, const std::string &name,
                         const HostTensor &tensor) {
  if (!rt::isFloat(tensor.type))
    return;
  int64_t size = tensor.view().size();
  for (int64_t i = 0; i != size; ++i)
    if (std::optional<double> number = numberAt(tensor.view(), i);
        number && std::isnan(*number))
      throw Failure{path + ": expected numbers in '" + name + "', got NaN" +
                    placeOf(i / (size / tensor.shape[0]))};
}

TrainData::TrainData(const std::string &path) : file(path) {
  for (rt::NamedTensor &entry : take(rt::readNpz(path)))
    tensors[entry.name] = std::move(entry.tensor);
  if (tensors.empty())
    throw Failure{path + ": expected arrays of examples, got none"};
  const std::string *first = nullptr;
  for (const auto &[name, tensor] : tensors) {
    if (tensor.shape.empty())
      throw Failure{path +
                    ": expected examples along the first dimension of "
                    "'" +
                    name + "', got a scalar"};
    if (!first) {
      first = &name;
      count = tensor.shape[0];
    }
    if (tensor.shape[0] != count)
      throw Failure{path + ": expected as many examples in every array, got " +
                    std::to_string(count) + " in '" + *first + "' and " +
                    std::to_string(tensor.shape[0]) + " in '" + name + "'"};
  }
  if (count == 0)
    throw Failure{path + ": expected examples, got arrays without any"};
  for (const auto &[name, tensor] : tensors)
    checkNumbers(path, name, tensor);
}

const HostTensor &TrainData::array(const std::string &name) const {
  auto found = tensors.find(name);
  if (found != tensors.end())
    return found->second;
  std::string known;
  for (const auto &[each, tensor] : tensors)
    known += (known.empty() ? "" : ", ") + each;
  throw Failure{file + ": expected an array '" + name + "', got " + known};
}

std::vector<int64_t> TrainData::batchShape(const HostTensor &array,
                                           int64_t count) {
  std::vector<int64_t> shape = array.shape;
  shape[0] = count;
  return shape;
}

void TrainData::convert(const std::string &name, const rt::TensorType &batch,
                        int64_t size) {
  array(name); // Throws where there is none.
  HostTensor &tensor = tensors.at(name);
  if (batch.shape.empty() || batch.shape.front() != size)
    throw Failure{file + ": expected a network that takes '" + name + "' as " +
                  std::to_string(size) +
                  " examples, one for each of a batch, got one that takes " +
                  rt::toString(batch)};
  if (batchShape(tensor, size) != batch.shape)
    throw Failure{file + ": expected examples of '" + name +
                  "' that make a batch of " + rt::toString(batch) + ", got " +
                  rt::toString(rt::TensorType{tensor.type, tensor.shape})};
  convertElements(tensor, batch.type, file + ": expected '" + name + "'");
}

void TrainData::flattenColumn(const std::string &name) {
  array(name); // Throws where there is none.
  std::vector<int64_t> &shape = tensors.at(name).shape;
  if (shape.size() == 2 && shape[1] == 1)
    shape.pop_back();
}

void TrainData::checkClasses(const std::string &name, int64_t classes) const {
  const HostTensor &tensor = array(name);
  rt::TensorView view = tensor.view();
  int64_t size = view.size(), each = size / count;
  for (int64_t i = 0; i != size; ++i) {
    int64_t label = view.as<int64_t>()[i];
    if (label < 0 || label >= classes)
      throw Failure{file + ": expected labels from 0 to " +
                    std::to_string(classes - 1) + " in '" + name + "', got " +
                    std::to_string(label) + placeOf(i / each)};
  }
}

void TrainData::checkFractions(const std::string &name) const {
  const HostTensor &tensor = array(name);
  int64_t size = tensor.view().size(), each = size / count;
  for (int64_t i = 0; i != size; ++i) {
    double label = numberAt(tensor.view(), i).value_or(NAN);
    if (!(label >= 0 && label <= 1))
      throw Failure{file + ": expected labels from 0 to 1 in '" + name +
                    "', got " + toText(label) + placeOf(i / each)};
  }
}

std::string TrainData::describeOthers(const std::string &name,
                                      int64_t classes) const {
  const HostTensor &tensor = array(name);
  int64_t size = tensor.view().size(), each = size / count, others = 0;
  std::string first;
  for (int64_t i = 0; i != size; ++i) {
    double label = numberAt(tensor.view(), i).value_or(NAN);
    if (label != std::trunc(label) || !(std::abs(label) < 0x1p53)) // NaN, too.
      throw Failure{file + ": expected classes from 0 to " +
                    std::to_string(classes - 1) + " in '" + name + "', got " +
                    toText(label) + placeOf(i / each)};
    if (label >= 0 && label < static_cast<double>(classes))
      continue;
    if (others++ == 0)
      first = std::to_string(static_cast<int64_t>(label)) + placeOf(i / each);
  }
  if (others == 0)
    return "";
  return std::to_string(others) + " of " + std::to_string(size) +
         " labels in '" + name + "' are no class from 0 to " +
         std::to_string(classes - 1) + ", the first " + first;
}

void TrainData::gather(const std::string &name,
                       std::span<const int64_t> examples,
                       HostTensor &batch) const {
  const HostTensor &from = tensors.at(name);
  size_t bytes = from.view().bytes() / count;
  for (size_t i = 0; i != examples.size() && bytes; ++i)
    std::memcpy(batch.data.data() + i * bytes,
                from.data.data() + examples[i] * bytes, bytes);
}
