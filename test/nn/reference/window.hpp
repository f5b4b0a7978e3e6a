#pragma once
#include <algorithm>
#include <utility>

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
};

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
    const auto axis = [&](std::int64_t i, std::int64_t o, std::int64_t k, std::int64_t s, std::int64_t d,
                          std::int64_t before, std::int64_t after) {
      // "same" pads as much as the windows extend beyond the image, with an odd pixel at the end.
      const std::int64_t missing = std::max<std::int64_t>(0, (o - 1) * s + (k - 1) * d + 1 - i);
      if (same) return Axis{i, o, k, s, d, missing / 2, missing - missing / 2};
      return Axis{i, o, k, s, d, before, after};
    };
    h = axis(in[1], out[1], kernel.first, stride.first, dilation.first, around[0], around[1]);
    w = axis(in[2], out[2], kernel.second, stride.second, dilation.second, around[2], around[3]);
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
