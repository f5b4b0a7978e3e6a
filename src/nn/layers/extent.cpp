#include "convoke/nn/layers/extent.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "convoke/core/error.hpp"

namespace convoke::nn {

Window slide(std::int64_t input, std::int64_t kernel, std::int64_t stride, std::int64_t dilation,
             Padding::Kind padding, std::int64_t before, std::int64_t after, Rounding rounding) {
  const std::int64_t span = dilation * (kernel - 1) + 1;
  if (padding == Padding::Kind::kSame) {
    const std::int64_t output = (input + stride - 1) / stride;
    const std::int64_t total = std::max<std::int64_t>(0, (output - 1) * stride + span - input);
    return {output, total / 2, total - total / 2};
  }
  if (padding == Padding::Kind::kCausal) before = span - 1;
  const std::int64_t room = input + before + after - span;
  if (rounding == Rounding::kCeil && room > -stride) {
    std::int64_t output = (room + stride - 1) / stride + 1;
    if ((output - 1) * stride >= input + before) --output;
    return {output, before, std::max(after, (output - 1) * stride + span - input - before)};
  }
  return {room < 0 ? 0 : room / stride + 1, before, after};
}

Shape as_image(const Shape& sequence) {
  if (sequence.rank() != 2) {
    throw Error(fmt::format("needs sequences (N, L, F), but its input is {}", sequence.with_batch()),
                "use the layer of the same name without 1d for images (N, C, H, W)");
  }
  return {sequence[1], 1, sequence[0]};
}

void require_image(const Shape& input) {
  if (input.rank() == 3) return;
  throw Error(fmt::format("needs images (N, C, H, W), but its input is {}", input.with_batch()),
              "put it before the flatten or dense layer");
}

Window2d slide(const Shape& input, Extent kernel, Extent stride, Extent dilation, const Padding& padding,
               Rounding rounding) {
  require_image(input);
  const Window2d window{slide(input[1], kernel.height, stride.height, dilation.height, padding.kind,
                              padding.before.height, padding.after.height, rounding),
                        slide(input[2], kernel.width, stride.width, dilation.width, padding.kind,
                              padding.before.width, padding.after.width, rounding)};
  if (window.height.output < 1 || window.width.output < 1) {
    throw Error(fmt::format("a window of {} x {} does not fit into its input {}", kernel.height, kernel.width,
                            input.with_batch()),
                "use padding = \"same\", a smaller window, or one pooling layer less before it");
  }
  return window;
}

Window slide_sequence(const Shape& input, std::int64_t kernel, std::int64_t stride, std::int64_t dilation,
                      const Padding& padding, Rounding rounding) {
  const Window window = slide(as_image(input)[2], kernel, stride, dilation, padding.kind,
                              padding.before.width, padding.after.width, rounding);
  if (window.output < 1) {
    throw Error(fmt::format("a window of {} does not fit into its input {}", dilation * (kernel - 1) + 1,
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

std::int64_t read_count(SettingsReader& read, std::string_view key, std::int64_t fallback) {
  const std::int64_t count = read.get(key, fallback);
  if (count < 1) read.fail(fmt::format("\"{}\" must be at least 1, but is {}", key, count));
  return count;
}

Value write_extent(Extent extent) {
  if (extent.height == extent.width) return extent.height;
  return Value::Array{extent.height, extent.width};
}

namespace {

/// The text that `key` is, or "" if it is numbers.
std::string text_of(SettingsReader& read, std::string_view key) {
  try {
    return read.get(key, std::string());
  } catch (const Error&) {
    return {};
  }
}

std::optional<Padding> named_padding(const std::string& text, bool causal) {
  if (text == "valid") return Padding::valid();
  if (text == "same") return Padding::same();
  if (text == "causal" && causal) return Padding::causal();
  return std::nullopt;
}

bool any_negative(const std::vector<std::int64_t>& list) {
  return std::any_of(list.begin(), list.end(), [](std::int64_t amount) { return amount < 0; });
}

std::string_view name_of(Padding::Kind kind) {
  return kind == Padding::Kind::kSame ? "same" : kind == Padding::Kind::kCausal ? "causal" : "valid";
}

}  // namespace

std::optional<Extent> read_extent_or_auto(SettingsReader& read, std::string_view key) {
  if (!read.has(key)) return std::nullopt;
  const std::string text = text_of(read, key);
  if (text == "auto") return std::nullopt;
  if (!text.empty()) read.fail(fmt::format("\"{}\" must be \"auto\", a number >= 0 or [height, width]", key));
  return read_extent(read, key, 0, 0);
}

Padding read_padding(SettingsReader& read, std::string_view key, Padding fallback) {
  if (!read.has(key)) return fallback;
  const std::string text = text_of(read, key);
  if (const auto named = named_padding(text, false)) return *named;
  const auto list = text.empty() ? read.get(key, std::vector<std::int64_t>{}) : std::vector<std::int64_t>{};
  const std::size_t count = list.size();
  if ((count != 1 && count != 2 && count != 4) || any_negative(list)) {
    read.fail(
        fmt::format("\"{}\" must be \"valid\", \"same\", a number >= 0, [height, width] or [top, bottom, "
                    "left, right]",
                    key));
  }
  if (count == 4) return Padding::by({list[0], list[2]}, {list[1], list[3]});
  return Padding::by({list.front(), list.back()});
}

Value write_padding(const Padding& padding) {
  if (padding.kind != Padding::Kind::kExplicit) return name_of(padding.kind);
  const Extent &before = padding.before, &after = padding.after;
  if (before == after) return write_extent(before);
  return Value::Array{before.height, after.height, before.width, after.width};
}

Padding read_padding1d(SettingsReader& read, std::string_view key, Padding fallback, bool causal) {
  if (!read.has(key)) return fallback;
  const std::string text = text_of(read, key);
  if (const auto named = named_padding(text, causal)) return *named;
  const auto list = text.empty() ? read.get(key, std::vector<std::int64_t>{}) : std::vector<std::int64_t>{};
  if (list.empty() || list.size() > 2 || any_negative(list)) {
    read.fail(fmt::format("\"{}\" must be \"valid\", \"same\", {}a number >= 0 or [before, after]", key,
                          causal ? "\"causal\", " : ""));
  }
  return Padding::by({0, list.front()}, {0, list.back()});
}

Value write_padding1d(const Padding& padding) {
  if (padding.kind != Padding::Kind::kExplicit) return name_of(padding.kind);
  if (padding.before == padding.after) return padding.before.width;
  return Value::Array{padding.before.width, padding.after.width};
}

}  // namespace convoke::nn
