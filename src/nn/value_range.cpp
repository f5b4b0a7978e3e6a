#include "nn/value_range.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include "convoke/core/settings.hpp"

namespace convoke::nn {
namespace {

/// n numbers between `least` and `largest`.
ValueRange between(double least, double largest, std::int64_t n) {
  return {least, largest, least * static_cast<double>(n), largest * static_cast<double>(n)};
}

/// The numbers of `x`, n of them, after min(max(x, low), high): a sum grows by at most what each number below
/// `low` lacks, and shrinks by at most what each number above `high` has too much: of numbers that are not
/// negative, by no more than their sum has above `high`.
ValueRange clamped(const ValueRange& x, double low, double high, std::int64_t n) {
  const double raised = std::max(0.0, low - x.least), lowered = std::max(0.0, x.largest - high);
  const ValueRange all = between(std::clamp(x.least, low, high), std::clamp(x.largest, low, high), n);
  double cut = lowered > 0 ? lowered * static_cast<double>(n) : 0;
  if (x.least >= 0 && high >= 0) cut = std::min(cut, std::max(0.0, x.largest_sum - high));
  const double low_sum = x.least_sum - cut;
  const double high_sum = x.largest_sum + (raised > 0 ? raised * static_cast<double>(n) : 0);
  return {all.least, all.largest, std::max(all.least_sum, low_sum), std::min(all.largest_sum, high_sum)};
}

/// scale * x + offset of n numbers.
ValueRange linear(const ValueRange& x, double scale, double offset, std::int64_t n) {
  if (scale == 0) return between(offset, offset, n);
  const double all = offset * static_cast<double>(n);
  ValueRange y{scale * x.least + offset, scale * x.largest + offset, scale * x.least_sum + all,
               scale * x.largest_sum + all};
  if (scale < 0) {
    std::swap(y.least, y.largest);
    std::swap(y.least_sum, y.largest_sum);
  }
  return y;
}

ValueRange added(const ValueRange& a, const ValueRange& b) {
  return {a.least + b.least, a.largest + b.largest, a.least_sum + b.least_sum, a.largest_sum + b.largest_sum};
}

}  // namespace

// The rounding of the largest networks' sums, clamps such as Keras' 1e-7, and that of 8 bits to 255/256 stay
// below this.
bool ValueRange::is_distribution() const {
  constexpr double kRounding = 5e-3;
  return within(-1e-6, 1 + 1e-6) && least_sum >= 1 - kRounding && largest_sum <= 1 + kRounding;
}

ValueRange range_of_same(const RangeOfInputs& at) { return at.inputs[0]; }

ValueRange range_of_some(const RangeOfInputs& at) {
  return between(at.inputs[0].least, at.inputs[0].largest, at.values());
}

ValueRange range_of_padded(const RangeOfInputs& at) {
  return between(std::min(at.inputs[0].least, 0.0), std::max(at.inputs[0].largest, 0.0), at.values());
}

ValueRange range_of_all_means(const RangeOfInputs& at) {
  const ValueRange& x = at.inputs[0];
  const double each = static_cast<double>(at.values()) / static_cast<double>(at.values_of(0));
  return {x.least, x.largest, x.least_sum * each, x.largest_sum * each};
}

// The numbers of a position sum to 1.
ValueRange range_of_softmax(const RangeOfInputs& at) {
  const double positions = static_cast<double>(at.values() / channels_of(at.node.shape));
  return {0, 1, positions, positions};
}

ValueRange range_of_probability(const RangeOfInputs& at) { return between(0, 1, at.values()); }
ValueRange range_of_tanh(const RangeOfInputs& at) { return between(-1, 1, at.values()); }

ValueRange range_of_relu(const RangeOfInputs& at) {
  return clamped(at.inputs[0], 0, std::numeric_limits<double>::infinity(), at.values());
}

ValueRange range_of_relu6(const RangeOfInputs& at) { return clamped(at.inputs[0], 0, 6, at.values()); }

ValueRange range_of_rescale(const RangeOfInputs& at) {
  const Settings settings = at.node.layer->settings();
  SettingsReader read(settings, at.node.name);
  return linear(at.inputs[0], read.get("scale", 1.0), read.get("offset", 0.0), at.values());
}

ValueRange range_of_sum(const RangeOfInputs& at) {
  ValueRange sum = at.inputs[0];
  for (const ValueRange& x : at.inputs.subspan(1)) sum = added(sum, x);
  return sum;
}

ValueRange range_of_difference(const RangeOfInputs& at) {
  return added(at.inputs[0], linear(at.inputs[1], -1, 0, at.values()));
}

ValueRange range_of_product(const RangeOfInputs& at) {
  const bool negative = std::ranges::any_of(at.inputs, [](const ValueRange& x) { return x.least < 0; });
  return negative ? ValueRange{} : ValueRange{.least = 0, .least_sum = 0};
}

ValueRange range_of_average(const RangeOfInputs& at) {
  return linear(range_of_sum(at), 1 / static_cast<double>(at.inputs.size()), 0, at.values());
}

ValueRange range_of_maximum(const RangeOfInputs& at) {
  ValueRange most = at.inputs[0];
  for (const ValueRange& x : at.inputs) {
    most.least = std::max(most.least, x.least);
    most.largest = std::max(most.largest, x.largest);
  }
  return between(most.least, most.largest, at.values());
}

ValueRange range_of_elementwise(const RangeOfInputs& at) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  const Settings settings = at.node.layer->settings();
  SettingsReader read(settings, at.node.name);
  const std::string function = read.get("function", std::string());
  if (function == "equal" || function == "greater" || function == "greater_equal") {
    return range_of_probability(at);
  }
  const auto operands = read.get("operands", std::vector<std::string>{});
  const auto number = std::ranges::find_if(operands, [](const std::string& text) { return text != "x"; });
  if (at.inputs.size() != 1 || number == operands.end()) return {};
  const double bound = std::strtod(number->c_str(), nullptr);
  if (function == "maximum") return clamped(at.inputs[0], bound, kNone, at.values());
  if (function == "minimum") return clamped(at.inputs[0], -kNone, bound, at.values());
  return {};
}

ValueRange range_of_concat(const RangeOfInputs& at) {
  ValueRange all{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(), 0, 0};
  for (const ValueRange& x : at.inputs) {
    all = {std::min(all.least, x.least), std::max(all.largest, x.largest), all.least_sum + x.least_sum,
           all.largest_sum + x.largest_sum};
  }
  return all;
}

}  // namespace convoke::nn
