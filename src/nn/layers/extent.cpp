#include "convoke/nn/layers/extent.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "convoke/core/error.hpp"

namespace convoke::nn {

Window slide(std::int64_t input, std::int64_t kernel, std::int64_t stride, std::int64_t dilation,
             const Padding& padding, std::int64_t amount) {
  const std::int64_t span = dilation * (kernel - 1) + 1;
  if (padding.kind == Padding::Kind::kSame) {
    const std::int64_t output = (input + stride - 1) / stride;
    const std::int64_t total = std::max<std::int64_t>(0, (output - 1) * stride + span - input);
    return {output, total / 2, total - total / 2};
  }
  const std::int64_t around = padding.kind == Padding::Kind::kExplicit ? amount : 0;
  const std::int64_t room = input + 2 * around - span;
  return {room < 0 ? 0 : room / stride + 1, around, around};
}

Window2d slide(const Shape& input, Extent kernel, Extent stride, Extent dilation, const Padding& padding) {
  if (input.rank() != 3) {
    throw Error(fmt::format("needs images (N, C, H, W), but its input is {}", input.with_batch()),
                "put it before the flatten or dense layer");
  }
  const Window2d window{
      slide(input[1], kernel.height, stride.height, dilation.height, padding, padding.amount.height),
      slide(input[2], kernel.width, stride.width, dilation.width, padding, padding.amount.width)};
  if (window.height.output < 1 || window.width.output < 1) {
    throw Error(fmt::format("a window of {} x {} does not fit into its input {}", kernel.height, kernel.width,
                            input.with_batch()),
                "use padding = \"same\", a smaller window, or one pooling layer less before it");
  }
  return window;
}

Extent read_extent(SettingsReader& read, std::string_view key, Extent fallback, std::int64_t least) {
  const auto list = read.get(key, std::vector<std::int64_t>{fallback.height, fallback.width});
  if (list.empty() || list.size() > 2 || *std::min_element(list.begin(), list.end()) < least) {
    read.fail(fmt::format("\"{}\" must be a number >= {} or [height, width] of such", key, least));
  }
  return {list.front(), list.back()};
}

Value write_extent(Extent extent) {
  if (extent.height == extent.width) return extent.height;
  return Value::Array{extent.height, extent.width};
}

Padding read_padding(SettingsReader& read, std::string_view key, Padding fallback) {
  if (!read.has(key)) return fallback;
  const std::string expected =
      fmt::format("\"{}\" must be \"valid\", \"same\", a number or [height, width]", key);
  try {
    const std::string text = read.get(key, std::string());
    if (text == "valid") return Padding::valid();
    if (text == "same") return Padding::same();
  } catch (const Error&) {
    return Padding::by(read_extent(read, key, 0, 0));
  }
  read.fail(expected);
}

Value write_padding(const Padding& padding) {
  switch (padding.kind) {
    case Padding::Kind::kValid:
      return "valid";
    case Padding::Kind::kSame:
      return "same";
    default:
      return write_extent(padding.amount);
  }
}

}  // namespace convoke::nn
