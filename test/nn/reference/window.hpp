#pragma once
#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <variant>

#include "reference/layer.hpp"

namespace reference {

/// A sliding window along one axis.
struct Axis {
  std::int64_t in, out, kernel, stride, dilation, before, after;
  /// Returns the input position of kernel tap k at output o; -1 in the padding.
  std::int64_t at(std::int64_t o, std::int64_t k) const {
    const std::int64_t i = o * stride + k * dilation - before;
    return i >= 0 && i < in ? i : -1;
  }
  /// Returns the number of taps at output o that lie in the image or its padding.
  double taps_with_padding(std::int64_t o) const {
    std::int64_t count = 0;
    for (std::int64_t k = 0; k < kernel; ++k)
      count += o * stride + k * dilation - before < in + after ? 1 : 0;
    return static_cast<double>(count);
  }
  /// Pads as much as the windows extend beyond the values, with an odd position at the end.
  void pad_same() {
    const std::int64_t missing =
        std::max<std::int64_t>(0, (out - 1) * stride + (kernel - 1) * dilation + 1 - in);
    before = missing / 2;
    after = missing - before;
  }
};

/// The axis of a convolution or pooling of sequences, from its settings.
inline Axis axis_of_sequence(const Call& call, const char* kernel_key) {
  const auto number = [&](const char* key) { return static_cast<std::int64_t>(call.number(key, 1)); };
  Axis axis{
      call.x().shape[0], call.node.shape[0], number(kernel_key), number("stride"), number("dilation"), 0, 0};
  const convoke::Value& padding = *call.settings.find("padding");
  if (const auto* text = std::get_if<std::string>(&padding.data())) {
    if (*text == "same") axis.pad_same();
    if (*text == "causal") axis.before = (axis.kernel - 1) * axis.dilation;
  } else {
    std::tie(axis.before, axis.after) = call.pair("padding");
  }
  return axis;
}

/// The axes of a convolution or pooling of images, from its settings.
struct Geometry {
  Axis h, w;

  Geometry(const Settings& settings, const char* kernel_key, const Shape& in, const Shape& out) {
    convoke::SettingsReader read(settings, "reference");
    const auto pair = [&](const char* key) {
      const auto list = read.get(key, std::vector<std::int64_t>{1});
      return std::pair(list.front(), list.back());
    };
    const auto kernel = pair(kernel_key), stride = pair("stride"), dilation = pair("dilation");
    const convoke::Value& padding = *settings.find("padding");
    const bool named = std::holds_alternative<std::string>(padding.data());
    const bool same = named && std::get<std::string>(padding.data()) == "same";
    // [height, width], or [top, bottom, left, right].
    std::vector<std::int64_t> around{0, 0, 0, 0};
    if (!named) {
      around = read.get("padding", std::vector<std::int64_t>{});
      if (around.size() < 4) around = {around.front(), around.front(), around.back(), around.back()};
    }
    h = {in[1], out[1], kernel.first, stride.first, dilation.first, around[0], around[1]};
    w = {in[2], out[2], kernel.second, stride.second, dilation.second, around[2], around[3]};
    if (!same) return;
    h.pad_same();
    w.pad_same();
  }

  /// Calls f(output pixel, input pixel, tap) for every tap inside the image.
  template <class F>
  void for_each_tap(const F& f) const {
    for (std::int64_t oh = 0; oh < h.out; ++oh) {
      for (std::int64_t ow = 0; ow < w.out; ++ow) {
        for (std::int64_t kh = 0; kh < h.kernel; ++kh) {
          for (std::int64_t kw = 0; kw < w.kernel; ++kw) {
            const std::int64_t ih = h.at(oh, kh), iw = w.at(ow, kw);
            if (ih >= 0 && iw >= 0) f(oh * w.out + ow, ih * w.in + iw, kh * w.kernel + kw);
          }
        }
      }
    }
  }
};

}  // namespace reference
