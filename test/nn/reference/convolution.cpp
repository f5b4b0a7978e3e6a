#include "reference/convolution.hpp"

#include <algorithm>

namespace reference {
namespace {

/// Returns the padding before the first element of one axis: "same" as in Keras, "causal", or the given
/// padding.
std::int64_t padding_before(const Call& call, std::size_t axis, std::int64_t in, std::int64_t out,
                            std::int64_t stride, std::int64_t span) {
  const convoke::Value& padding = *call.settings.find("padding");
  if (const auto* text = std::get_if<std::string>(&padding.data())) {
    if (*text == "causal") return span - 1;
    return *text == "same" ? std::max<std::int64_t>(0, (out - 1) * stride + span - in) / 2 : 0;
  }
  const auto list =
      convoke::SettingsReader(call.settings, "reference").get("padding", std::vector<std::int64_t>{});
  if (list.size() == 4) return list[2 * axis];               // top, bottom, left, right
  return axis == 0 || list.size() == 1 ? list[0] : list[1];  // height, width
}

double bias(const Call& call, std::int64_t channel) {
  return call.has_parameter("bias") ? call.parameter("bias")[static_cast<std::size_t>(channel)] : 0;
}

/// Convolves channel c of x with the kernels c * multiplier + m of `weight`; plain layouts.
Values depthwise(const Call& call, const std::vector<double>& weight, std::int64_t out_h,
                 std::int64_t out_w) {
  const Values& x = call.x();
  const std::int64_t channels = x.shape[0], height = x.shape[1], width = x.shape[2];
  const auto multiplier = static_cast<std::int64_t>(call.number("multiplier"));
  const auto [kh, kw] = call.pair("kernel");
  const auto [sh, sw] = call.pair("stride");
  const auto [dh, dw] = call.pair("dilation");
  const std::int64_t top = padding_before(call, 0, height, out_h, sh, (kh - 1) * dh + 1);
  const std::int64_t left = padding_before(call, 1, width, out_w, sw, (kw - 1) * dw + 1);
  Values y(x.samples, {channels * multiplier, out_h, out_w});
  std::int64_t o = 0;
  for (std::int64_t n = 0; n < x.samples; ++n) {
    for (std::int64_t k = 0; k < channels * multiplier; ++k) {
      for (std::int64_t i = 0; i < out_h; ++i) {
        for (std::int64_t j = 0; j < out_w; ++j, ++o) {
          for (std::int64_t a = 0; a < kh; ++a) {
            for (std::int64_t b = 0; b < kw; ++b) {
              const std::int64_t h = i * sh + a * dh - top, w = j * sw + b * dw - left;
              if (h < 0 || h >= height || w < 0 || w >= width) continue;
              y[o] += x[((n * channels + k / multiplier) * height + h) * width + w] *
                      weight[static_cast<std::size_t>((k * kh + a) * kw + b)];
            }
          }
        }
      }
    }
  }
  return y;
}

}  // namespace

// y[t, o] = b[o] + sum_{k, i in the group of o} w[o, i, k] x[t * stride + k * dilation - before, i]
Values conv1d(const Call& call) {
  const Values& x = call.x();
  Values y(x.samples, call.node.shape);
  const std::int64_t length = x.shape[0], features = x.shape[1], steps = y.shape[0], filters = y.shape[1];
  const auto kernel = static_cast<std::int64_t>(call.number("kernel"));
  const auto stride = static_cast<std::int64_t>(call.number("stride"));
  const auto dilation = static_cast<std::int64_t>(call.number("dilation"));
  const auto groups = static_cast<std::int64_t>(call.number("groups"));
  const std::int64_t in = features / groups, out = filters / groups;
  const std::int64_t before = padding_before(call, 0, length, steps, stride, (kernel - 1) * dilation + 1);
  const std::vector<double>& weight = call.parameter("weight");
  for (std::int64_t n = 0; n < x.samples; ++n) {
    for (std::int64_t t = 0; t < steps; ++t) {
      for (std::int64_t o = 0; o < filters; ++o) {
        double sum = bias(call, o);
        for (std::int64_t k = 0; k < kernel; ++k) {
          const std::int64_t from = t * stride + k * dilation - before;
          if (from < 0 || from >= length) continue;
          for (std::int64_t i = 0; i < in; ++i) {
            sum += weight[static_cast<std::size_t>((o * in + i) * kernel + k)] *
                   x[(n * length + from) * features + o / out * in + i];
          }
        }
        y[(n * steps + t) * filters + o] = sum;
      }
    }
  }
  return y;
}

Values depthwise_conv2d(const Call& call) {
  Values y = depthwise(call, call.parameter("weight"), call.node.shape[1], call.node.shape[2]);
  for (std::int64_t i = 0; i < y.size(); ++i) y[i] += bias(call, i / y.pixels() % y.channels());
  return y;
}

Values separable_conv2d(const Call& call) {
  Values y(call.x().samples, call.node.shape);
  const Values middle = depthwise(call, call.parameter("depthwise_weight"), y.shape[1], y.shape[2]);
  const std::vector<double>& weight = call.parameter("pointwise_weight");
  for (std::int64_t i = 0; i < y.size(); ++i) {
    const std::int64_t n = i / y.pixels() / y.channels(), o = i / y.pixels() % y.channels(),
                       p = i % y.pixels();
    y[i] = bias(call, o);
    for (std::int64_t c = 0; c < middle.channels(); ++c) {
      y[i] += weight[static_cast<std::size_t>(o * middle.channels() + c)] *
              middle[(n * middle.channels() + c) * y.pixels() + p];
    }
  }
  return y;
}

// Each input is spread over the output: y[i * stride + k * dilation - before] += w[k] x[i].
Values conv2d_transpose(const Call& call) {
  const Values& x = call.x();
  Values y(x.samples, call.node.shape);
  const std::int64_t in_h = x.shape[1], in_w = x.shape[2], out_h = y.shape[1], out_w = y.shape[2];
  const auto [kh, kw] = call.pair("kernel");
  const auto [sh, sw] = call.pair("stride");
  const auto [dh, dw] = call.pair("dilation");
  const auto groups = static_cast<std::int64_t>(call.number("groups"));
  const std::int64_t in = x.channels() / groups, out = y.channels() / groups;
  // The padding of the convolution in the opposite direction, from y to x.
  const std::int64_t top = padding_before(call, 0, out_h, in_h, sh, (kh - 1) * dh + 1);
  const std::int64_t left = padding_before(call, 1, out_w, in_w, sw, (kw - 1) * dw + 1);
  const std::vector<double>& weight = call.parameter("weight");
  for (std::int64_t n = 0; n < x.samples; ++n) {
    for (std::int64_t o = 0; o < y.channels(); ++o) {
      const std::int64_t plane = (n * y.channels() + o) * out_h * out_w;
      for (std::int64_t p = 0; p < out_h * out_w; ++p) y[plane + p] = bias(call, o);
      for (std::int64_t i = 0; i < in; ++i) {
        for (std::int64_t h = 0; h < in_h; ++h) {
          for (std::int64_t w = 0; w < in_w; ++w) {
            const double value = x[((n * x.channels() + o / out * in + i) * in_h + h) * in_w + w];
            for (std::int64_t a = 0; a < kh; ++a) {
              for (std::int64_t b = 0; b < kw; ++b) {
                const std::int64_t i0 = h * sh + a * dh - top, j0 = w * sw + b * dw - left;
                if (i0 < 0 || i0 >= out_h || j0 < 0 || j0 >= out_w) continue;
                y[plane + i0 * out_w + j0] +=
                    value * weight[static_cast<std::size_t>(((o * in + i) * kh + a) * kw + b)];
              }
            }
          }
        }
      }
    }
  }
  return y;
}

}  // namespace reference
