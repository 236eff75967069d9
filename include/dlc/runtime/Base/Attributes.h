// SPDX-License-Identifier: Apache-2.0
//
// The attributes of an operation as plain data: what the artifact stores and
// what library and Reference kernels read.

#ifndef DLC_RUNTIME_BASE_ATTRIBUTES_H
#define DLC_RUNTIME_BASE_ATTRIBUTES_H

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace dlc::rt {

/// Booleans and element types (DlcDataType) are stored as integers.
using AttributeValue = std::variant<int64_t, double, std::string,
                                    std::vector<int64_t>, std::vector<double>>;

struct Attribute {
  std::string name;
  AttributeValue value;
};

/// A small set of named attributes, kept in the order of insertion.
class Attributes {
public:
  Attributes() = default;

  void set(std::string_view name, AttributeValue value);

  bool has(std::string_view name) const { return find(name) != nullptr; }
  int64_t getInt(std::string_view name, int64_t defaultValue = 0) const;
  double getFloat(std::string_view name, double defaultValue = 0) const;
  std::string_view getString(std::string_view name,
                             std::string_view defaultValue = "") const;
  /// Empty when absent.
  std::span<const int64_t> getInts(std::string_view name) const;
  std::span<const double> getFloats(std::string_view name) const;

  auto begin() const { return entries.begin(); }
  auto end() const { return entries.end(); }
  size_t size() const { return entries.size(); }

private:
  const AttributeValue *find(std::string_view name) const;
  std::vector<Attribute> entries;
};

} // namespace dlc::rt

#endif // DLC_RUNTIME_BASE_ATTRIBUTES_H
