// SPDX-License-Identifier: Apache-2.0

#include "Checkpoint.h"

#include "dlc/runtime/Base/Names.h"
#include "dlc/runtime/IO/Params.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <set>

using namespace dlc;
using namespace dlc::tool;
namespace fs = std::filesystem;

/// That of "arg:" and of "aux:".
static constexpr size_t kKindLength = 4;

/// Bytes that a sparse array may become where nothing says how many it should.
static constexpr uint64_t kMaxDense = uint64_t(1) << 30;

std::string dlc::tool::parameterOf(const NamedArray &array) {
  return array.name.substr(kKindLength);
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

std::string dlc::tool::checkpointPath(const std::string &prefix, int64_t epoch,
                                      const char *suffix) {
  char number[32];
  std::snprintf(number, sizeof number, "-%04lld",
                static_cast<long long>(epoch));
  return prefix + number + suffix;
}

static fs::path folderOf(const std::string &prefix) {
  fs::path folder = fs::path(prefix).parent_path();
  return folder.empty() ? "." : folder;
}

void dlc::tool::checkCheckpointFolder(const std::string &prefix) {
  std::error_code error;
  if (!fs::is_directory(folderOf(prefix), error))
    throw Failure{"expected a folder for --checkpoint " + prefix +
                  ", got none at '" + folderOf(prefix).string() + "'"};
}

/// The epoch of a file that checkpointPath() names so, or -1: other spellings
/// of a number are other files.
static int64_t epochOf(const std::string &name, const std::string &start) {
  std::string_view rest = name;
  if (!rest.starts_with(start))
    return -1;
  rest.remove_prefix(start.size());
  int64_t epoch = -1;
  auto [end, error] =
      std::from_chars(rest.data(), rest.data() + rest.size(), epoch);
  bool isOne = error == std::errc() && epoch >= 0 &&
               name == checkpointPath(start.substr(0, start.size() - 1), epoch,
                                      ".params");
  return isOne ? epoch : -1;
}

int64_t dlc::tool::newestCheckpoint(const std::string &prefix) {
  std::string start = fs::path(prefix).filename().string() + "-";
  int64_t newest = -1;
  std::error_code error;
  fs::directory_iterator entry(folderOf(prefix), error), end;
  for (; !error && entry != end; entry.increment(error))
    newest =
        std::max(newest, epochOf(entry->path().filename().string(), start));
  if (error)
    throw Failure{"expected to read the folder of --checkpoint " + prefix +
                  ", got: " + error.message()};
  return newest;
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

/// What a file holds for `array`, which it borrows.
static rt::ParamsArray toParams(const NamedArray &array) {
  const HostTensor &tensor = *array.tensor;
  rt::ParamsArray params;
  params.name = array.name;
  params.version =
      tensor.shape.empty() ? rt::ParamsVersion::V3 : rt::ParamsVersion::V2;
  params.type = {tensor.type, tensor.shape};
  params.values = {tensor.type, tensor.shape, tensor.data.data()};
  return params;
}

void dlc::tool::writeArrays(const std::string &path,
                            const std::vector<NamedArray> &arrays) {
  std::vector<rt::ParamsArray> params;
  for (const NamedArray &array : arrays)
    params.push_back(toParams(array));
  check(rt::writeParams(path, params, /*isNamed=*/true));
}

static rt::ParamsList readFile(const std::string &path) {
  rt::ParamsList list = take(rt::readParams(path));
  if (!list.isNamed && !list.arrays.empty())
    throw Failure{path + ": expected arrays with names, got a list without"};
  return list;
}

static void copyValues(const std::string &path, const rt::ParamsArray &from,
                       HostTensor &to) {
  rt::TensorType wanted{to.type, to.shape};
  if (!from.isDefined() || rt::toString(from.type) != rt::toString(wanted))
    throw Failure{
        path + ": expected '" + rt::toPrintable(from.name) + "' of " +
        rt::toString(wanted) + ", got " +
        (from.isDefined() ? rt::toString(from.type) : std::string("no value"))};
  HostTensor dense = take(rt::toDense(from, to.data.bytes().size()));
  std::memcpy(to.data.data(), dense.data.data(), dense.view().bytes());
}

/// Notes that the file has values of `tensor`; throws when it had some before.
static void noteOnce(const std::string &path, const std::string &name,
                     const HostTensor *tensor,
                     std::set<const HostTensor *> &seen) {
  if (!seen.insert(tensor).second)
    throw Failure{path + ": expected one array for '" + name + "', got two"};
}

void dlc::tool::readArrays(const std::string &path,
                           const std::vector<NamedArray> &arrays,
                           const std::vector<NamedArray> &optional) {
  rt::ParamsList list = readFile(path);
  std::vector<NamedArray> known = arrays;
  known.insert(known.end(), optional.begin(), optional.end());
  std::set<const HostTensor *> seen;
  for (const rt::ParamsArray &from : list.arrays) {
    auto array = std::ranges::find(known, from.name, &NamedArray::name);
    if (array == known.end())
      throw Failure{path +
                    ": expected the arrays of this network and "
                    "optimizer, got '" +
                    from.name + "', which is none of them"};
    noteOnce(path, from.name, array->tensor, seen);
    copyValues(path, from, *array->tensor);
  }
  for (const NamedArray &array : arrays)
    if (!seen.count(array.tensor))
      throw Failure{path + ": expected an array '" + array.name +
                    "', got none"};
}

/// Whether a file's array is one of a network, with or without its kind.
static bool isNamed(const NamedArray &array, const std::string &name) {
  return array.name == name || parameterOf(array) == name;
}

NamedTensors dlc::tool::readOthers(const std::string &path,
                                   const std::vector<NamedArray> &arrays) {
  NamedTensors others;
  for (const rt::ParamsArray &from : readFile(path).arrays) {
    if (!from.isDefined() ||
        std::ranges::any_of(arrays, [&](const NamedArray &array) {
          return isNamed(array, from.name);
        }))
      continue;
    bool hasKind =
        from.name.starts_with("arg:") || from.name.starts_with("aux:");
    others[from.name.substr(hasKind ? kKindLength : 0)] =
        take(rt::toDense(from, kMaxDense));
  }
  return others;
}

std::vector<std::string>
dlc::tool::readSomeArrays(const std::string &path,
                          const std::vector<NamedArray> &arrays) {
  rt::ParamsList list = readFile(path);
  std::set<const HostTensor *> seen;
  std::vector<std::string> leftOver;
  for (const rt::ParamsArray &from : list.arrays) {
    auto isIt = [&](const NamedArray &array) {
      return isNamed(array, from.name);
    };
    auto array = std::ranges::find_if(arrays, isIt);
    if (array == arrays.end()) {
      leftOver.push_back(from.name);
      continue;
    }
    noteOnce(path, from.name, array->tensor, seen);
    copyValues(path, from, *array->tensor);
  }
  if (seen.empty() && !leftOver.empty())
    throw Failure{path +
                  ": expected values of the network's parameters, got '" +
                  leftOver.front() +
                  "' and others that are of none; dlc export --params " + path +
                  " -o NEW-symbol.json gives names by structure those of the "
                  "network"};
  for (const std::string &name : leftOver)
    std::fprintf(stderr,
                 "dlc: warning: %s: array '%s' belongs to no parameter and is "
                 "left out\n",
                 path.c_str(), name.c_str());
  std::vector<std::string> missing;
  for (const NamedArray &array : arrays)
    if (!seen.count(array.tensor))
      missing.push_back(parameterOf(array));
  return missing;
}
