#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "interop/onnx/source.hpp"

namespace convoke::interop::onnx {

/// The values and nodes of a formula that fits.
struct Match {
  std::map<std::string, std::string> values;               ///< letter -> value
  std::vector<std::pair<std::string, std::string>> nodes;  ///< operator -> one of its outputs
};

/// Compares nodes with formulas:
///   Op(a, b)  a node; Add, Mul, Min and Max also with their inputs swapped
///   x         any value, the same one wherever the letter stands
///   $e        a constant of one number
///   @g        a constant, or a value that follows from constants
///   0.5       a constant of one number, equal to this one as float16 stores it
///   <rule>    any of the formulas of that rule
class Matcher {
 public:
  explicit Matcher(const Source& source);

  /// True if the node that gives `value` is the last one of the formula.
  bool matches(std::string_view formula, const std::string& value, Match& match) const;

 private:
  bool fits(std::string_view formula, const std::string& value, Match& match) const;
  bool fits_rule(std::string_view name, const std::string& value, Match& match) const;
  bool fits_node(std::string_view formula, std::size_t open, const std::string& value, Match& match) const;
  std::string resolved(std::string value) const;
  std::optional<double> scalar(const std::string& value) const;
  bool is_static(const std::string& value) const;

  const Source& source_;
  std::unordered_set<std::string> static_;  ///< values that follow from constants
};

}  // namespace convoke::interop::onnx
