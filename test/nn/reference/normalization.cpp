#include <algorithm>
#include <array>
#include <cmath>

#include "reference/layer.hpp"

namespace reference {
namespace {

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

/// Calls f(index, channel) for one micro-batch's values of each channel.
template <class F>
void for_each_of_micro_batch(const Values& x, std::int64_t micro_batch, std::int64_t first, const F& f) {
  const Axes axes(x.shape);
  const std::int64_t size = x.shape.elements();
  for (std::int64_t i = first * size; i < (first + micro_batch) * size; ++i) f(i, axes.channel(i));
}

/// Mean and biased variance of each channel of a micro-batch.
struct Moments {
  std::vector<double> mean, variance;

  Moments(std::vector<double> m, std::vector<double> v) : mean(std::move(m)), variance(std::move(v)) {}
  Moments(const Values& x, std::int64_t micro_batch, std::int64_t first)
      : mean(static_cast<std::size_t>(Axes(x.shape).channels)), variance(mean) {
    const auto count = static_cast<double>(micro_batch * Axes(x.shape).positions);
    const auto at = [](std::int64_t c) { return static_cast<std::size_t>(c); };
    for_each_of_micro_batch(x, micro_batch, first,
                            [&](std::int64_t i, std::int64_t c) { mean[at(c)] += x[i] / count; });
    for_each_of_micro_batch(x, micro_batch, first, [&](std::int64_t i, std::int64_t c) {
      variance[at(c)] += (x[i] - mean[at(c)]) * (x[i] - mean[at(c)]) / count;
    });
  }
};

/// The statistics of a batch norm for one micro-batch: its own, or the running ones.
Moments moments(const Call& call, std::int64_t first, bool fixed) {
  Moments m(call.x(), call.micro_batch, first);
  if (fixed) m = {call.parameter("running_mean"), call.parameter("running_variance")};
  return m;
}

bool node_frozen(const Call& call) { return !call.graph.owner(call.node).options.trainable; }

/// Returns gamma or beta, or `otherwise` if the layer has none.
std::vector<double> coefficients(const Call& call, const char* name, double otherwise) {
  if (call.has_parameter(name)) return call.parameter(name);
  return std::vector<double>(call.parameter("running_mean").size(), otherwise);
}

// y = gamma_c (x - mean_c) / sqrt(var_c + epsilon) + beta_c
Values batch_norm(const Call& call) {
  const Values& x = call.x();
  Values y(x.samples, call.node.shape);
  const std::vector<double> gamma = coefficients(call, "gamma", 1), beta = coefficients(call, "beta", 0);
  const double epsilon = call.number("epsilon");
  for (std::int64_t first = 0; first < x.samples; first += call.micro_batch) {
    const Moments m = moments(call, first, !call.training || call.flag("frozen") || node_frozen(call));
    for_each_of_micro_batch(x, call.micro_batch, first, [&](std::int64_t i, std::int64_t channel) {
      const auto c = static_cast<std::size_t>(channel);
      y[i] = gamma[c] * (x[i] - m.mean[c]) / std::sqrt(m.variance[c] + epsilon) + beta[c];
    });
  }
  return y;
}

// dx = gamma / sqrt(var + eps) * (dy - mean(dy) - x_hat * mean(dy x_hat)); without the means if the
// statistics are fixed.
void batch_norm_backward(const Call& call, Gradients& gradients) {
  const Values &x = call.x(), &dy = gradients.output;
  Values& dx = *gradients.inputs.front();
  const std::vector<double> gamma = coefficients(call, "gamma", 1);
  const bool fixed = call.flag("frozen") || node_frozen(call);
  const auto count = static_cast<double>(call.micro_batch * Axes(x.shape).positions);
  const double epsilon = call.number("epsilon");
  const auto uses =
      std::count_if(call.graph.nodes().begin(), call.graph.nodes().end(),
                    [&](const Node& other) { return other.parameters_of == call.node.parameters_of; });
  const double share = static_cast<double>(call.micro_batch) / static_cast<double>(call.batch * uses);
  for (std::int64_t first = 0; first < x.samples; first += call.micro_batch) {
    const Moments m = moments(call, first, fixed);
    std::vector<double> sum(gamma.size()), product(gamma.size());
    const auto scale = [&](std::size_t c) { return 1 / std::sqrt(m.variance[c] + epsilon); };
    for_each_of_micro_batch(x, call.micro_batch, first, [&](std::int64_t i, std::int64_t channel) {
      const auto c = static_cast<std::size_t>(channel);
      sum[c] += dy[i];
      product[c] += dy[i] * (x[i] - m.mean[c]) * scale(c);
    });
    for_each_of_micro_batch(x, call.micro_batch, first, [&](std::int64_t i, std::int64_t channel) {
      const auto c = static_cast<std::size_t>(channel);
      const double x_hat = (x[i] - m.mean[c]) * scale(c);
      const double through = fixed ? 0 : sum[c] / count + x_hat * product[c] / count;
      dx[i] += gamma[c] * scale(c) * (dy[i] - through);
    });
    if (node_frozen(call)) continue;  // no gradients of parameters, no new statistics
    for (std::size_t c = 0; c < gamma.size(); ++c) {
      const auto add = [&](const char* name, double value) {
        if (const auto found = gradients.parameters.find(name); found != gradients.parameters.end())
          (*found->second)[c] += value;
      };
      add("beta", sum[c]);
      add("gamma", product[c]);
      add("running_mean", m.mean[c] * share);
      add("running_variance", m.variance[c] * share);
    }
  }
}

}  // namespace

std::span<const LayerEntry> normalizations() {
  static constexpr std::array kLayers{
      LayerEntry{.type = "batch_norm", .forward = batch_norm, .backward = batch_norm_backward},
      LayerEntry{.type = "group_norm", .forward = group_norm},
      LayerEntry{.type = "layer_norm", .forward = layer_norm},
      LayerEntry{.type = "local_response_norm", .forward = local_response_norm},
      LayerEntry{.type = "softmax", .forward = softmax},
  };
  return kLayers;
}

}  // namespace reference
