#include <algorithm>
#include <array>
#include <utility>

#include "reference/layer.hpp"
#include "reference/window.hpp"

namespace reference {
namespace {

/// Adds the bias of each channel of an image, or of each unit.
void add_bias(const Call& call, const AddProduct& add) {
  if (!call.has_parameter("bias")) return;
  const std::int64_t channels = call.node.shape[0], pixels = call.node.shape.elements() / channels;
  for (std::int64_t y = 0; y < call.x().samples * channels * pixels; ++y) add({y, -1, y / pixels % channels});
}

/// Adds the products of a convolution of images from x to y; with `transposed`, g describes that from y to x.
void convolve(const Call& call, const Geometry& g, bool transposed, const AddProduct& add) {
  const Shape &in = call.x().shape, &out = call.node.shape;
  const auto groups = static_cast<std::int64_t>(call.number("groups"));
  const std::int64_t inputs = in[0] / groups, outputs = out[0] / groups, taps = g.h.kernel * g.w.kernel;
  for (std::int64_t plane = 0; plane < call.x().samples * out[0]; ++plane) {
    const std::int64_t n = plane / out[0], o = plane % out[0];
    for (std::int64_t i = 0; i < inputs; ++i) {
      const std::int64_t x = (n * in[0] + o / outputs * inputs + i) * in[1] * in[2];
      g.for_each_tap([&](std::int64_t to, std::int64_t from, std::int64_t tap) {
        if (transposed) std::swap(to, from);
        add({plane * out[1] * out[2] + to, x + from, (o * inputs + i) * taps + tap});
      });
    }
  }
}

double bias(const Call& call, std::int64_t channel) {
  return call.has_parameter("bias") ? call.parameter("bias")[static_cast<std::size_t>(channel)] : 0;
}

/// Convolves channel c of x with the kernels c * multiplier + m of `weight`; plain layouts.
Values depthwise(const Call& call, const std::vector<double>& weight) {
  const Values& x = call.x();
  const Geometry g(call.settings, "kernel", x.shape, call.node.shape);
  const auto multiplier = static_cast<std::int64_t>(call.number("multiplier"));
  const std::int64_t filters = x.channels() * multiplier, out = g.h.out * g.w.out,
                     taps = g.h.kernel * g.w.kernel;
  Values y(x.samples, {filters, g.h.out, g.w.out});
  for (std::int64_t plane = 0; plane < x.samples * filters; ++plane) {
    g.for_each_tap([&](std::int64_t to, std::int64_t from, std::int64_t tap) {
      y[plane * out + to] += x[plane / multiplier * x.pixels() + from] *
                             weight[static_cast<std::size_t>(plane % filters * taps + tap)];
    });
  }
  return y;
}

// y[t, o] = b[o] + sum_{k, i in the group of o} w[o, i, k] x[t * stride + k * dilation - before, i]
Values conv1d(const Call& call) {
  const Values& x = call.x();
  Values y(x.samples, call.node.shape);
  const Axis axis = axis_of_sequence(call, "kernel");
  const std::int64_t features = x.shape[1], filters = y.shape[1];
  const auto groups = static_cast<std::int64_t>(call.number("groups"));
  const std::int64_t in = features / groups, out = filters / groups;
  const std::vector<double>& weight = call.parameter("weight");
  for (std::int64_t n = 0; n < x.samples; ++n) {
    for (std::int64_t t = 0; t < axis.out; ++t) {
      for (std::int64_t o = 0; o < filters; ++o) {
        double sum = bias(call, o);
        for (std::int64_t k = 0; k < axis.kernel; ++k) {
          const std::int64_t from = axis.at(t, k);
          if (from < 0) continue;
          for (std::int64_t i = 0; i < in; ++i) {
            sum += weight[static_cast<std::size_t>((o * in + i) * axis.kernel + k)] *
                   x[(n * axis.in + from) * features + o / out * in + i];
          }
        }
        y[(n * axis.out + t) * filters + o] = sum;
      }
    }
  }
  return y;
}

Values depthwise_conv2d(const Call& call) {
  Values y = depthwise(call, call.parameter("weight"));
  for (std::int64_t i = 0; i < y.size(); ++i) y[i] += bias(call, i / y.pixels() % y.channels());
  return y;
}

Values separable_conv2d(const Call& call) {
  Values y(call.x().samples, call.node.shape);
  const Values middle = depthwise(call, call.parameter("depthwise_weight"));
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

void conv2d(const Call& call, const AddProduct& add) {
  convolve(call, Geometry(call.settings, "kernel", call.x().shape, call.node.shape), false, add);
  add_bias(call, add);
}

void conv2d_transpose(const Call& call, const AddProduct& add) {
  convolve(call, Geometry(call.settings, "kernel", call.node.shape, call.x().shape), true, add);
  add_bias(call, add);
}

void dense(const Call& call, const AddProduct& add) {
  const std::int64_t in = call.x().shape.elements(), units = call.node.shape[0];
  for (std::int64_t y = 0; y < call.x().samples * units; ++y) {
    for (std::int64_t i = 0; i < in; ++i) add({y, y / units * in + i, y % units * in + i});
  }
  add_bias(call, add);
}

}  // namespace

std::span<const LayerEntry> convolutions() {
  static constexpr std::array kLayers{
      LayerEntry{.type = "conv1d", .forward = conv1d},
      LayerEntry{.type = "conv2d", .products = conv2d},
      LayerEntry{.type = "conv2d_transpose", .products = conv2d_transpose},
      LayerEntry{.type = "dense", .products = dense},
      LayerEntry{.type = "depthwise_conv2d", .forward = depthwise_conv2d},
      LayerEntry{.type = "separable_conv2d", .forward = separable_conv2d},
  };
  return kLayers;
}

}  // namespace reference
