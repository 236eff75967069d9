// SPDX-License-Identifier: Apache-2.0
//
// Parameters of operators: how they are declared, and how their values are
// read from text. The text is MXNet's, which symbol files hold: "True",
// "(2, 2)", "[2,2]", "(2L, 2L)", "1e-05", "float32", "None" (dmlc::Parameter
// and mxnet::Tuple of MXNet 1.9.1). It is read strictly: what is left over, out
// of range or unknown is an error that says what was expected.

#ifndef DLC_SYMBOL_PARAMETER_H
#define DLC_SYMBOL_PARAMETER_H

#include "dlc/runtime/Base/Status.h"
#include "dlc/runtime/Base/Tensor.h"

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace dlc::symbol {

struct Operator;

/// Attributes of a node, by name: parameters of its operator and, with names
/// like `__ctx_group__`, what users and tools say about it.
using Attributes = std::map<std::string, std::string, std::less<>>;

enum class ParameterKind : uint8_t {
  Bool,         ///< "True", "false", "1"
  Int,          ///< "-3", "12L"
  Float,        ///< "0.9", "1e-05"
  Text,         ///< Anything.
  Choice,       ///< One of Parameter::choices.
  Type,         ///< "float32": an element type.
  Ints,         ///< "(1, 2)", "[1,2]", "()"; "3" means "(3,)".
  OptionalInts, ///< Ints of which each may be None: "(None, 2)".
  Floats,       ///< "(0.1, 0.2)"
};

/// "bool", "int", "float", "text", "choice", "type", "ints", "optional ints",
/// "floats".
std::string_view nameOf(ParameterKind kind);

/// The value of a parameter; monostate is None.
using ParameterValue =
    std::variant<std::monostate, bool, int64_t, double, std::string,
                 rt::DataType, std::vector<int64_t>,
                 std::vector<std::optional<int64_t>>, std::vector<double>>;

/// A parameter as an operator declares it. The functions return a changed copy,
/// so that a declaration reads as one expression.
struct Parameter {
  std::string_view name;
  ParameterKind kind;
  /// The value where none is given; without one the parameter is required.
  std::optional<std::string_view> fallback;
  std::string_view summary;
  /// "None" is a value, as any choice, type or number is.
  bool acceptsNone = false;
  std::vector<std::string_view> choices;
  /// Bounds of Int, of each of Ints, and of Float, which is finite then.
  int64_t least = std::numeric_limits<int64_t>::min();
  int64_t most = std::numeric_limits<int64_t>::max();

  Parameter orNone() const;
  Parameter atLeast(int64_t bound) const;
  Parameter within(int64_t low, int64_t high) const;
};

/// A parameter that must be given.
Parameter required(std::string_view name, ParameterKind kind,
                   std::string_view summary);
/// A parameter with a default, "None" included, which it then accepts.
Parameter optional(std::string_view name, ParameterKind kind,
                   std::string_view fallback, std::string_view summary);
/// One out of a closed set; the default as for optional().
Parameter choice(std::string_view name, std::vector<std::string_view> choices,
                 std::string_view fallback, std::string_view summary);
/// The same without a default.
Parameter requiredChoice(std::string_view name,
                         std::vector<std::string_view> choices,
                         std::string_view summary);
/// A parameter that concerns another implementation (tuning, workspaces): it is
/// read, so that its text must be a value or None, and has no meaning here.
Parameter ignored(std::string_view name, ParameterKind kind,
                  std::string_view fallback);

/// Reads the value of `parameter`. InvalidArgument says what was expected and
/// found, without naming the parameter.
rt::Result<ParameterValue> parseValue(const Parameter &parameter,
                                      std::string_view text);

/// Reads pairs of numbers from `least` to `most`, "((0, 1), (2, 2))", of which
/// there are up to 64: begins and ends, one after the other.
std::optional<std::vector<int64_t>> parsePairs(std::string_view text,
                                               int64_t least, int64_t most);

/// The text that parseValue() reads back, in the one form that printed
/// references and conditions use: "True", "(2, 2)", "None".
std::string toText(const ParameterValue &value);

/// Dimensions as text, "(1, 3, 224, 224)".
std::string toText(const std::vector<int64_t> &dims);

/// "float32" for DLC_F32: MXNet's name of an element type; "" where it has
/// none.
std::string_view typeName(rt::DataType type);
/// The inverse, or DLC_INVALID_TYPE.
rt::DataType typeOfName(std::string_view name);
/// The element type of MXNet's number for it, as in `__dtype__`, or
/// DLC_INVALID_TYPE.
rt::DataType typeOfNumber(int64_t number);

/// A parameter that an operator does not take as it is given.
struct ParameterFault {
  rt::Status status; ///< Names the parameter.
  /// What the operator takes and comes nearest, or "".
  std::string alternative;
};

/// The values of all parameters of one operator, defaults included. The getters
/// take names and kinds that the operator declares: anything else is a fault of
/// the operator's own rules and ends the program.
class Parameters {
public:
  Parameters() = default;

  /// Reads the parameters of `op` out of `attributes`. Names in double
  /// underscores are none of its business; any other name that it does not
  /// declare is an error. Errors name the parameter; `faults`, if any, gets all
  /// of them, of which the result is the first.
  static rt::Result<Parameters>
  parse(const Operator &op, const Attributes &attributes,
        std::vector<ParameterFault> *faults = nullptr);

  bool getBool(std::string_view name) const;
  int64_t getInt(std::string_view name) const;
  double getFloat(std::string_view name) const;
  /// Of a text or choice.
  const std::string &getText(std::string_view name) const;
  rt::DataType getType(std::string_view name) const;
  const std::vector<int64_t> &getInts(std::string_view name) const;
  const std::vector<std::optional<int64_t>> &
  getOptionalInts(std::string_view name) const;
  const std::vector<double> &getFloats(std::string_view name) const;
  bool isNone(std::string_view name) const;
  /// The attributes held a value; the default does not count.
  bool isGiven(std::string_view name) const;
  const ParameterValue &get(std::string_view name) const;

private:
  size_t find(std::string_view name) const;

  const Operator *op = nullptr;
  std::vector<ParameterValue> values; ///< As declared.
  std::vector<bool> given;
};

} // namespace dlc::symbol

#endif // DLC_SYMBOL_PARAMETER_H
