#include <algorithm>
#include <array>
#include <cmath>

#include "reference/layer.hpp"
#include "reference/window.hpp"

namespace reference {
namespace {

bool is_max(const Call& call) { return call.node.layer->type().find("max") != std::string_view::npos; }

/// Gathers the values of a window; `result` is the maximum or the mean.
struct Gather {
  double sum = 0, largest = -INFINITY;
  std::int64_t count = 0;

  void see(double value) {
    sum += value;
    largest = std::max(largest, value);
    ++count;
  }
  double result(bool max) const { return max ? largest : sum / static_cast<double>(count); }
};

/// Calls f(plane, i, j) for every output pixel of every plane, in order.
template <class F>
Values image_of(const Call& call, const F& f) {
  Values y(call.x().samples, call.node.shape);
  std::int64_t o = 0;
  for (std::int64_t plane = 0; plane < y.samples * y.shape[0]; ++plane) {
    for (std::int64_t i = 0; i < y.shape[1]; ++i) {
      for (std::int64_t j = 0; j < y.shape[2]; ++j) y[o++] = f(plane, i, j);
    }
  }
  return y;
}

/// Returns a pixel of a plane of x; 0 outside.
double at(const Values& x, std::int64_t plane, std::int64_t h, std::int64_t w) {
  if (h < 0 || h >= x.shape[1] || w < 0 || w >= x.shape[2]) return 0;
  return x[(plane * x.shape[1] + h) * x.shape[2] + w];
}

/// Returns top and left of a border given as one, two or four numbers.
std::pair<std::int64_t, std::int64_t> corner(const Call& call, const char* key) {
  const auto list = convoke::SettingsReader(call.settings, "reference").get(key, std::vector<std::int64_t>{});
  return {list[0], list.size() == 4 ? list[2] : list.back()};
}

Values adaptive_pool(const Call& call) {
  const Values& x = call.x();
  const auto height = static_cast<double>(x.shape[1]), width = static_cast<double>(x.shape[2]);
  const auto rows = static_cast<double>(call.node.shape[1]),
             columns = static_cast<double>(call.node.shape[2]);
  return image_of(call, [&](std::int64_t plane, std::int64_t i, std::int64_t j) {
    Gather gather;
    for (std::int64_t h = 0; h < x.shape[1]; ++h) {
      for (std::int64_t w = 0; w < x.shape[2]; ++w) {
        const auto row = static_cast<double>(i), column = static_cast<double>(j);
        const auto y0 = static_cast<double>(h), x0 = static_cast<double>(w);
        const bool seen =
            y0 >= std::floor(row * height / rows) && y0 < std::ceil((row + 1) * height / rows) &&
            x0 >= std::floor(column * width / columns) && x0 < std::ceil((column + 1) * width / columns);
        if (seen) gather.see(at(x, plane, h, w));
      }
    }
    return gather.result(is_max(call));
  });
}

Values global_pool(const Call& call) {
  const Values& x = call.x();
  Values y(x.samples, call.node.shape);
  const bool image = x.shape.rank() == 3;
  const std::int64_t channels = y.shape[0], pixels = x.shape.elements() / channels;
  for (std::int64_t o = 0; o < y.size(); ++o) {
    Gather gather;
    for (std::int64_t p = 0; p < pixels; ++p) {
      gather.see(image ? x[o * pixels + p] : x[(o / channels * pixels + p) * channels + o % channels]);
    }
    y[o] = gather.result(is_max(call));
  }
  return y;
}

Values pool1d(const Call& call) {
  const Values& x = call.x();
  Values y(x.samples, call.node.shape);
  const Axis axis = axis_of_sequence(call, "size");
  const std::int64_t features = x.shape[1];
  const bool counts = call.flag("count_padding");
  for (std::int64_t o = 0; o < y.size(); ++o) {
    const std::int64_t n = o / features / axis.out, t = o / features % axis.out, f = o % features;
    Gather gather;
    for (std::int64_t k = 0; k < axis.kernel; ++k) {
      const std::int64_t i = axis.at(t, k);
      if (i >= 0) gather.see(x[(n * axis.in + i) * features + f]);
    }
    if (counts) gather.count = static_cast<std::int64_t>(axis.taps_with_padding(t));
    y[o] = gather.result(is_max(call));
  }
  return y;
}

Values crop(const Call& call) {
  const auto [top, left] = corner(call, "cropping");
  return image_of(call, [&, top = top, left = left](std::int64_t plane, std::int64_t i, std::int64_t j) {
    return at(call.x(), plane, i + top, j + left);
  });
}

Values zero_pad(const Call& call) {
  const auto [top, left] = corner(call, "padding");
  return image_of(call, [&, top = top, left = left](std::int64_t plane, std::int64_t i, std::int64_t j) {
    return at(call.x(), plane, i - top, j - left);
  });
}

/// The place on an axis of `in` pixels from which ONNX's Resize reads output o of `out`.
double place(const std::string& centers, std::int64_t o, std::int64_t in, std::int64_t out) {
  const auto at = static_cast<double>(o), inputs = static_cast<double>(in),
             outputs = static_cast<double>(out);
  if (centers == "asymmetric") return at * inputs / outputs;
  if (centers == "align_corners") return out == 1 ? 0 : at * (inputs - 1) / (outputs - 1);
  return (at + 0.5) * inputs / outputs - 0.5;
}

double rounded(const std::string& rounding, double place) {
  constexpr double kTie = 1e-9;  // a tie that was not rounded to one
  if (rounding == "floor") return std::floor(place + kTie);
  if (rounding == "ceil") return std::ceil(place - kTie);
  return rounding == "round_prefer_floor" ? std::ceil(place - 0.5 - kTie) : std::floor(place + 0.5 + kTie);
}

// y = sum over pixels of (1 - distance on each axis), where that is positive; pixels at the edge extend
// outwards.
Values resize(const Call& call) {
  const Values& x = call.x();
  const std::string centers = call.text("centers"), rounding = call.text("rounding");
  const bool nearest = call.text("method") == "nearest";
  const auto center = [&](std::int64_t o, std::size_t axis) {
    const double at = place(centers, o, x.shape[axis], call.node.shape[axis]);
    return std::clamp(nearest ? rounded(rounding, at) : at, 0.0, static_cast<double>(x.shape[axis] - 1));
  };
  const auto share = [](double at, std::int64_t pixel) {
    return std::max(0.0, 1 - std::abs(at - static_cast<double>(pixel)));
  };
  return image_of(call, [&](std::int64_t plane, std::int64_t i, std::int64_t j) {
    const double h = center(i, 1), w = center(j, 2);
    double sum = 0;
    for (std::int64_t a = 0; a < x.shape[1]; ++a) {
      for (std::int64_t b = 0; b < x.shape[2]; ++b) sum += share(h, a) * share(w, b) * at(x, plane, a, b);
    }
    return sum;
  });
}

Geometry windows(const Call& call) {
  const Shape& in = call.x().shape;
  if (call.node.layer->type() != "global_average_pool") return {call.settings, "size", in, call.node.shape};
  const Settings all{{"size", convoke::Value::Array{in[1], in[2]}}, {"padding", "valid"}};
  return {all, "size", in, {1, 1, 1}};
}

void max_pool(const Call& call, const AddProduct& add) {
  const Geometry g = windows(call);
  const Values& x = call.x();
  const std::int64_t in = x.pixels(), out = call.node.shape.elements() / call.node.shape[0];
  for (std::int64_t plane = 0; plane < x.samples * x.channels(); ++plane) {
    std::vector<std::int64_t> best(static_cast<std::size_t>(out), -1);  // the first among equals
    g.for_each_tap([&](std::int64_t to, std::int64_t from, std::int64_t) {
      std::int64_t& winner = best[static_cast<std::size_t>(to)];
      if (winner < 0 || x[plane * in + from] > x[winner]) winner = plane * in + from;
    });
    for (std::int64_t o = 0; o < out; ++o) add({plane * out + o, best[static_cast<std::size_t>(o)]});
  }
}

void average_pool(const Call& call, const AddProduct& add) {
  const Geometry g = windows(call);
  const std::int64_t in = call.x().pixels(), out = g.h.out * g.w.out;
  const bool padding = call.flag("count_padding");
  std::vector<double> sizes(
      static_cast<std::size_t>(out));  // pixels inside the image, or also in its padding
  g.for_each_tap([&](std::int64_t to, std::int64_t, std::int64_t) { ++sizes[static_cast<std::size_t>(to)]; });
  for (std::int64_t o = 0; padding && o < out; ++o)
    sizes[static_cast<std::size_t>(o)] =
        g.h.taps_with_padding(o / g.w.out) * g.w.taps_with_padding(o % g.w.out);
  for (std::int64_t plane = 0; plane < call.x().samples * call.x().channels(); ++plane) {
    g.for_each_tap([&](std::int64_t to, std::int64_t from, std::int64_t) {
      add({plane * out + to, plane * in + from, -1, 1 / sizes[static_cast<std::size_t>(to)]});
    });
  }
}

}  // namespace

std::span<const LayerEntry> poolings() {
  static constexpr std::array kLayers{
      LayerEntry{.type = "adaptive_average_pool", .forward = adaptive_pool},
      LayerEntry{.type = "adaptive_max_pool", .forward = adaptive_pool},
      LayerEntry{.type = "average_pool", .products = average_pool},
      LayerEntry{.type = "average_pool1d", .forward = pool1d},
      LayerEntry{.type = "crop", .forward = crop},
      LayerEntry{.type = "global_average_pool", .products = average_pool},
      LayerEntry{.type = "global_average_pool1d", .forward = global_pool},
      LayerEntry{.type = "global_max_pool", .forward = global_pool},
      LayerEntry{.type = "global_max_pool1d", .forward = global_pool},
      LayerEntry{.type = "max_pool", .products = max_pool},
      LayerEntry{.type = "max_pool1d", .forward = pool1d},
      LayerEntry{.type = "resize", .forward = resize},
      LayerEntry{.type = "zero_pad", .forward = zero_pad},
  };
  return kLayers;
}

}  // namespace reference
