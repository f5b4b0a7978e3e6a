#include "convoke/nn/window.hpp"

#include <fmt/format.h>

#include <algorithm>

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
                "for images (N, C, H, W), use the layer of the same name without 1d");
  }
  return {sequence[1], 1, sequence[0]};
}

void require_image(const Shape& input) {
  if (input.rank() == 3) return;
  throw Error(fmt::format("needs images (N, C, H, W), but its input is {}", input.with_batch()),
              input.rank() == 2
                  ? "for sequences (N, L, F), use the layer of the same kind with 1d in its name"
                  : "move it before the flatten or dense layer");
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
                "use padding = \"same\", a smaller window, or one pooling layer fewer before it");
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
                "use padding = \"same\", a smaller window, or one pooling layer fewer before it");
  }
  return window;
}

Padding padded_by(const Padding& own, const Border& border) {
  const auto sum = [](Extent a, Extent b) { return Extent(a.height + b.height, a.width + b.width); };
  return Padding::by(sum(own.before, border.before), sum(own.after, border.after));
}

}  // namespace convoke::nn
