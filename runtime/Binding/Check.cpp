// SPDX-License-Identifier: Apache-2.0
//
// Whether the arrays that are given for a network's variables can be bound.

#include "ExecutorState.h"

#include <algorithm>

using namespace dlc::rt;

std::string dlc::rt::joinNames(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

bool dlc::rt::sameType(const TensorType &one, const TensorType &other) {
  return one.type == other.type && one.hasRank == other.hasRank &&
         one.shape == other.shape;
}

Status dlc::rt::badArray(const char *what, const std::string &name,
                         const std::string &message) {
  return Status(StatusCode::InvalidArgument,
                std::string(what) + " '" + name + "': " + message);
}

const NDArray *dlc::rt::firstOf(const Bindings &bindings) {
  if (!bindings.arguments.empty())
    return &bindings.arguments.front();
  return bindings.auxiliaryStates.empty() ? nullptr
                                          : &bindings.auxiliaryStates.front();
}

static Status checkCount(const char *what,
                         const std::vector<std::string> &names, size_t count) {
  if (count == names.size())
    return Status::ok();
  return makeError(StatusCode::InvalidArgument, "expected %zu %s (%s), got %zu",
                   names.size(), what, joinNames(names).c_str(), count);
}

/// Arrays that are all there, of one engine and on one host device, that of
/// `first`, or on any where parts of the network have devices of their own.
static Status checkArrays(const char *what,
                          const std::vector<std::string> &names,
                          const std::vector<NDArray> &arrays,
                          const NDArray *first, bool isPlaced) {
  DLC_RETURN_IF_ERROR(checkCount(what, names, arrays.size()));
  for (size_t i = 0; i != arrays.size(); ++i) {
    const NDArray &array = arrays[i];
    if (array.isNull())
      return badArray(what, names[i], "expected an array, got null");
    if (Status status = checkHost(array.context()); !status.isOk())
      return std::move(status).withContext(std::string(what) + " '" + names[i] +
                                           "'");
    if (Status status = checkComputable(array); !status.isOk())
      return badArray(what, names[i], status.message());
    if (!isPlaced && array.context() != first->context())
      return badArray(what, names[i],
                      "expected an array on " + toString(first->context()) +
                          ", got one on " + toString(array.context()));
    if (Status status = checkSameEngine(*first, array); !status.isOk())
      return badArray(what, names[i], status.message());
  }
  return Status::ok();
}

/// The gradient of an argument fits it.
static Status checkGradient(const std::string &name, const NDArray &argument,
                            const NDArray &gradient) {
  if (!isFloat(argument.type()))
    return badArray("argument", name,
                    "expected one of floats for a gradient, got " +
                        toString(typeOf(argument)));
  if (gradient.isNull())
    return badArray("argument", name, "expected an array for its gradient");
  if (!sameType(typeOf(argument), typeOf(gradient)))
    return badArray("argument", name,
                    "expected a gradient of " + toString(typeOf(argument)) +
                        ", got " + toString(typeOf(gradient)));
  if (Status status = checkWritable(gradient); !status.isOk())
    return badArray("gradient of argument", name, status.message());
  if (gradient.context() != argument.context())
    return badArray("argument", name,
                    "expected a gradient on " + toString(argument.context()) +
                        ", got one on " + toString(gradient.context()));
  if (Status status = checkSameEngine(argument, gradient); !status.isOk())
    return badArray("gradient of argument", name, status.message());
  return Status::ok();
}

/// Completes what says nothing of gradients and checks the rest.
static Status checkGradients(const std::vector<std::string> &names,
                             Bindings &bindings) {
  size_t count = names.size();
  if (bindings.gradients.empty())
    bindings.gradients.resize(count);
  DLC_RETURN_IF_ERROR(
      checkCount("gradients", names, bindings.gradients.size()));
  if (bindings.requests.empty())
    for (const NDArray &gradient : bindings.gradients)
      bindings.requests.push_back(gradient.isNull() ? GradientRequest::Null
                                                    : GradientRequest::Write);
  DLC_RETURN_IF_ERROR(
      checkCount("gradient requests", names, bindings.requests.size()));
  for (size_t i = 0; i != count; ++i) {
    if (bindings.requests[i] > GradientRequest::Add)
      return badArray("argument", names[i],
                      "expected a gradient request of 0 to 2, got " +
                          std::to_string(int(bindings.requests[i])));
    if (bindings.requests[i] == GradientRequest::Null) {
      bindings.gradients[i] = NDArray();
      continue;
    }
    DLC_RETURN_IF_ERROR(
        checkGradient(names[i], bindings.arguments[i], bindings.gradients[i]));
  }
  return Status::ok();
}

namespace {
/// An array that is bound.
struct Bound {
  const char *what;
  const std::string *name;
  ArrayPiece piece;
  bool isUpdated; ///< A run reads it and writes it in place.
};
} // namespace

template <typename Predicate>
static void addBound(std::vector<Bound> &all, const char *what,
                     const std::vector<std::string> &names,
                     const std::vector<NDArray> &arrays, Predicate isUpdated) {
  for (size_t i = 0; i != arrays.size(); ++i)
    if (!arrays[i].isNull())
      all.push_back({what, &names[i], ArrayPiece(arrays[i]), isUpdated(i)});
}

/// Auxiliary states and gradients that are added to, which a run updates in
/// place, are apart from everything else, and all gradients from each other.
/// One that replaces may be written over an argument: that happens when the run
/// has read all arguments.
static Status checkApart(const Network &network, const Bindings &bindings) {
  std::vector<Bound> all;
  addBound(all, "auxiliary state", network.auxiliaryStates(),
           bindings.auxiliaryStates, [](size_t) { return true; });
  addBound(
      all, "gradient of argument", network.arguments(), bindings.gradients,
      [&](size_t i) { return bindings.requests[i] == GradientRequest::Add; });
  size_t written = all.size();
  addBound(all, "argument", network.arguments(), bindings.arguments,
           [](size_t) { return false; });
  for (size_t i = 0; i != written; ++i)
    for (size_t j = i + 1; j != (all[i].isUpdated ? all.size() : written); ++j)
      if (all[i].piece.overlaps(all[j].piece))
        return badArray(all[i].what, *all[i].name,
                        "expected memory of its own, got that of " +
                            std::string(all[j].what) + " '" + *all[j].name +
                            "'");
  return Status::ok();
}

static Status checkStates(const Network &network, const Bindings &bindings) {
  const std::vector<std::string> &names = network.auxiliaryStates();
  DLC_RETURN_IF_ERROR(checkArrays("auxiliary states", names,
                                  bindings.auxiliaryStates, firstOf(bindings),
                                  network.isPlaced()));
  for (size_t i = 0; i != names.size(); ++i)
    if (Status status = checkWritable(bindings.auxiliaryStates[i]);
        !status.isOk())
      return badArray("auxiliary state", names[i], status.message());
  return Status::ok();
}

Status dlc::rt::checkBindings(const Network &network, Bindings &bindings) {
  const std::vector<std::string> &names = network.arguments();
  DLC_RETURN_IF_ERROR(
      checkCount("arguments", names, bindings.arguments.size()));
  DLC_RETURN_IF_ERROR(checkArrays("arguments", names, bindings.arguments,
                                  firstOf(bindings), network.isPlaced()));
  DLC_RETURN_IF_ERROR(checkStates(network, bindings));
  DLC_RETURN_IF_ERROR(checkGradients(names, bindings));
  return checkApart(network, bindings);
}

static void addKnown(KnownVariables &known,
                     const std::vector<std::string> &names,
                     const std::vector<NDArray> &arrays) {
  for (size_t i = 0; i != names.size(); ++i) {
    TensorType type = typeOf(arrays[i]);
    known.shapes[names[i]] = type.shape;
    known.types[names[i]] = type.type;
  }
}

KnownVariables dlc::rt::knownOf(const Network &network,
                                const Bindings &bindings) {
  KnownVariables known;
  addKnown(known, network.arguments(), bindings.arguments);
  addKnown(known, network.auxiliaryStates(), bindings.auxiliaryStates);
  return known;
}
