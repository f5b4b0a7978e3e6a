#include "reference/normalization.hpp"

#include <cmath>

namespace reference {
namespace {

/// The channels and positions (pixels, steps) of values, and their position in plain order.
struct Axes {
  bool sequence;
  std::int64_t channels, positions;

  explicit Axes(const Shape& shape)
      : sequence(shape.rank() == 2),
        channels(sequence ? shape[1] : shape[0]),
        positions(shape.elements() / channels) {}
  std::int64_t at(std::int64_t n, std::int64_t c, std::int64_t p) const {
    return sequence ? (n * positions + p) * channels + c : (n * channels + c) * positions + p;
  }
};

/// y = gamma_c (x - mean) / sqrt(var + epsilon) + beta_c over one set of (channel, position).
void normalize(const Call& call, const Axes& axes, std::int64_t n, std::int64_t first, std::int64_t last,
               std::int64_t from, std::int64_t to, Values& y) {
  const Values& x = call.x();
  const auto count = static_cast<double>((last - first) * (to - from));
  const double epsilon = call.number("epsilon");
  double mean = 0, variance = 0;
  for (std::int64_t c = first; c < last; ++c) {
    for (std::int64_t p = from; p < to; ++p) mean += x[axes.at(n, c, p)] / count;
  }
  for (std::int64_t c = first; c < last; ++c) {
    for (std::int64_t p = from; p < to; ++p) variance += std::pow(x[axes.at(n, c, p)] - mean, 2) / count;
  }
  for (std::int64_t c = first; c < last; ++c) {
    const auto i = static_cast<std::size_t>(c);
    const double gamma = call.has_parameter("gamma") ? call.parameter("gamma")[i] : 1;
    const double beta = call.has_parameter("beta") ? call.parameter("beta")[i] : 0;
    for (std::int64_t p = from; p < to; ++p) {
      const std::int64_t at = axes.at(n, c, p);
      y[at] = gamma * (x[at] - mean) / std::sqrt(variance + epsilon) + beta;
    }
  }
}

}  // namespace

Values layer_norm(const Call& call) {
  const Axes axes(call.x().shape);
  Values y(call.x().samples, call.node.shape);
  for (std::int64_t n = 0; n < y.samples; ++n) {
    for (std::int64_t p = 0; p < axes.positions; ++p) normalize(call, axes, n, 0, axes.channels, p, p + 1, y);
  }
  return y;
}

Values group_norm(const Call& call) {
  const Axes axes(call.x().shape);
  const std::int64_t size = axes.channels / call.pair("groups").first;
  Values y(call.x().samples, call.node.shape);
  for (std::int64_t n = 0; n < y.samples; ++n) {
    for (std::int64_t c = 0; c < axes.channels; c += size)
      normalize(call, axes, n, c, c + size, 0, axes.positions, y);
  }
  return y;
}

Values local_response_norm(const Call& call) {
  const Values& x = call.x();
  const double k = call.number("k"), alpha = call.number("alpha"), beta = call.number("beta");
  const std::int64_t size = call.pair("size").first, channels = x.channels(), pixels = x.pixels();
  Values y(x.samples, call.node.shape);
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const std::int64_t c = i / pixels % channels;
    double sum = 0;
    for (std::int64_t j = 0; j < size; ++j) {
      const std::int64_t other = c - size / 2 + j;
      if (other >= 0 && other < channels) sum += std::pow(x[i + (other - c) * pixels], 2);
    }
    const double base = k + alpha / static_cast<double>(size) * sum;
    y[i] = x[i] * std::pow(base, -beta);
  }
  return y;
}

Values softmax(const Call& call) {
  const Values& x = call.x();
  const Axes axes(x.shape);
  Values y(x.samples, call.node.shape);
  for (std::int64_t n = 0; n < x.samples; ++n) {
    for (std::int64_t p = 0; p < axes.positions; ++p) {
      double sum = 0;
      for (std::int64_t c = 0; c < axes.channels; ++c) sum += std::exp(x[axes.at(n, c, p)]);
      for (std::int64_t c = 0; c < axes.channels; ++c)
        y[axes.at(n, c, p)] = std::exp(x[axes.at(n, c, p)]) / sum;
    }
  }
  return y;
}

}  // namespace reference
