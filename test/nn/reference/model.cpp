#include "reference/model.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "convoke/core/random.hpp"
#include "reference/layer.hpp"

namespace reference {
namespace {

using convoke::SettingsReader;

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

/// The axes of a convolution or pooling, from its settings.
struct Geometry {
  Axis h, w;

  Geometry(const Settings& settings, const char* kernel_key, const Shape& in, const Shape& out) {
    SettingsReader read(settings, "reference");
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

/// Calls f(y index, x index, weight index) for every product of a convolution.
template <class F>
void for_each_product(const Geometry& g, std::int64_t groups, const Values& x, const Values& y, const F& f) {
  const std::int64_t in = x.channels() / groups, out = y.channels() / groups, taps = g.h.kernel * g.w.kernel;
  for (std::int64_t n = 0; n < x.samples; ++n) {
    for (std::int64_t o = 0; o < y.channels(); ++o) {
      for (std::int64_t i = 0; i < in; ++i) {
        const std::int64_t x0 = (n * x.channels() + o / out * in + i) * x.pixels();
        const std::int64_t y0 = (n * y.channels() + o) * y.pixels();
        g.for_each_tap([&](std::int64_t op, std::int64_t ip, std::int64_t tap) {
          f(y0 + op, x0 + ip, (o * in + i) * taps + tap);
        });
      }
    }
  }
}

/// Returns the index of the largest value of each window (of every plane), the first among equals.
std::vector<std::int64_t> winners(const Geometry& g, const Values& x, const Values& y) {
  std::vector<std::int64_t> best(y.data.size(), -1);
  for (std::int64_t plane = 0; plane < x.samples * x.channels(); ++plane) {
    g.for_each_tap([&](std::int64_t op, std::int64_t ip, std::int64_t) {
      std::int64_t& winner = best[static_cast<std::size_t>(plane * y.pixels() + op)];
      const std::int64_t i = plane * x.pixels() + ip;
      if (winner < 0 || x[i] > x[winner]) winner = i;
    });
  }
  return best;
}

/// Returns the number of pixels of each window that lie inside the image or, with `padding`, also in its
/// padding.
std::vector<double> window_sizes(const Geometry& g, bool padding) {
  std::vector<double> sizes(static_cast<std::size_t>(g.h.out * g.w.out));
  if (padding) {
    for (std::int64_t o = 0; o < g.h.out * g.w.out; ++o) {
      sizes[static_cast<std::size_t>(o)] =
          g.h.taps_with_padding(o / g.w.out) * g.w.taps_with_padding(o % g.w.out);
    }
    return sizes;
  }
  g.for_each_tap([&](std::int64_t op, std::int64_t, std::int64_t) { ++sizes[static_cast<std::size_t>(op)]; });
  return sizes;
}

/// Returns the number of channels, or of features of a sequence.
std::int64_t channel_count(const Values& x) { return x.shape.rank() == 2 ? x.shape[1] : x.channels(); }
std::int64_t channel_size(const Values& x) { return x.shape.elements() / channel_count(x); }

/// Calls f(index, channel) for one micro-batch's values of each channel.
template <class F>
void for_each_of_micro_batch(const Values& x, std::int64_t micro_batch, std::int64_t first, const F& f) {
  const std::int64_t channels = channel_count(x), size = x.shape.elements();
  for (std::int64_t i = first * size; i < (first + micro_batch) * size; ++i)
    f(i, x.shape.rank() == 2 ? i % channels : i / x.pixels() % channels);
}

/// Mean and biased variance of each channel of a micro-batch.
struct Moments {
  std::vector<double> mean, variance;

  Moments(const Values& x, std::int64_t micro_batch, std::int64_t first)
      : mean(static_cast<std::size_t>(channel_count(x))), variance(mean) {
    const auto count = static_cast<double>(micro_batch * channel_size(x));
    const auto at = [](std::int64_t c) { return static_cast<std::size_t>(c); };
    for_each_of_micro_batch(x, micro_batch, first,
                            [&](std::int64_t i, std::int64_t c) { mean[at(c)] += x[i] / count; });
    for_each_of_micro_batch(x, micro_batch, first, [&](std::int64_t i, std::int64_t c) {
      variance[at(c)] += (x[i] - mean[at(c)]) * (x[i] - mean[at(c)]) / count;
    });
  }
};

/// Returns the softmax of row n.
std::vector<double> softmax(const Values& x, std::int64_t n) {
  const std::int64_t k = x.shape.elements();
  std::vector<double> y(x.data.begin() + n * k, x.data.begin() + (n + 1) * k);
  const double largest = *std::max_element(y.begin(), y.end());
  double sum = 0;
  for (double& value : y) sum += value = std::exp(value - largest);
  for (double& value : y) value /= sum;
  return y;
}

double activate(std::string_view type, double x) {
  if (type == "relu") return x > 0 ? x : 0;
  return type == "tanh" ? std::tanh(x) : 1 / (1 + std::exp(-x));
}

/// Returns dy / dx as a function of y.
double slope(std::string_view type, double y) {
  if (type == "relu") return y > 0 ? 1 : 0;
  return type == "tanh" ? 1 - y * y : y * (1 - y);
}

double number(const Node& node, const char* key) {
  const Settings settings = node.layer->settings();
  return SettingsReader(settings, "reference").get(key, 0.0);
}

bool flag(const Node& node, const char* key) {
  const Settings settings = node.layer->settings();
  return SettingsReader(settings, "reference").get(key, false);
}
bool frozen(const Node& node) { return flag(node, "frozen"); }

Geometry geometry(const Node& node, const Values& x) {
  const Settings settings = node.layer->settings();
  if (node.layer->type() == "global_average_pool") {
    const Settings all{{"size", convoke::Value::Array{x.shape[1], x.shape[2]}}, {"padding", "valid"}};
    return {all, "size", x.shape, {1, 1, 1}};
  }
  return {settings, node.layer->type() == "conv2d" ? "kernel" : "size", x.shape, node.shape};
}

bool counts_padding(const Node& node) {
  const Settings settings = node.layer->settings();
  return SettingsReader(settings, "reference").get("count_padding", false);
}

bool node_frozen(const Graph& graph, const Node& node) { return !graph.owner(node).options.trainable; }
bool is_activation(std::string_view type) { return type == "relu" || type == "sigmoid" || type == "tanh"; }
bool is_average(std::string_view type) { return type == "average_pool" || type == "global_average_pool"; }

}  // namespace

const Node& Model::head() const {
  const Node& last = graph_.nodes().back();
  const bool part_of_loss = training_ && last.layer->type() == "softmax" && last.shape.rank() == 1;
  return part_of_loss ? graph_.node(last.inputs[0]) : last;
}

const Values& Model::forward(const Values& x, bool training, const StepKey& key) {
  training_ = training;
  key_ = key;
  values_.assign(graph_.nodes().size(), {});
  values_[0] = x;
  for (const Node& node : graph_.nodes()) {
    if (node.layer != nullptr) forward(node);
  }
  return values_[head().index];
}

double Model::loss(std::span<const std::int32_t> labels) const {
  const Values& logits = values_[head().index];
  double sum = 0;
  for (std::int64_t n = 0; n < logits.samples; ++n) {
    sum -= std::log(softmax(logits, n)[static_cast<std::size_t>(labels[static_cast<std::size_t>(n)])]);
  }
  return sum;
}

Parameters Model::backward(std::span<const std::int32_t> labels, std::int64_t batch) {
  batch_ = batch;
  results_.clear();
  for (const auto& [name, value] : parameters) results_[name].assign(value.size(), 0);
  gradients_.clear();
  for (const Values& value : values_) gradients_.emplace_back(value.samples, value.shape);
  Values& start = gradients_[head().index];
  for (std::int64_t n = 0; n < start.samples; ++n) {
    const std::vector<double> y = softmax(values_[head().index], n);
    for (std::size_t k = 0; k < y.size(); ++k) {
      const bool label = static_cast<std::int32_t>(k) == labels[static_cast<std::size_t>(n)];
      start[n * start.shape.elements() + static_cast<std::int64_t>(k)] =
          (y[k] - (label ? 1 : 0)) / static_cast<double>(batch);
    }
  }
  for (std::size_t i = head().index; i > 0; --i) backward(graph_.node(i));
  for (const Node& node : graph_.nodes()) {
    for (const auto& spec : node.parameters) {
      if (spec.frozen) results_.erase(node.name + "." + spec.name);
    }
  }
  return std::move(results_);
}

// Element e = pixel * C + channel of a sample uses word e / 16 % 4 of the Philox counter (e / 64 * 16 + e %
// 16, node, sample, 0), and is dropped if it is below rate * 2^32. A flattened image counts as an image.
Values Model::dropout_factors(const Node& node) const {
  const Node* image = &node;
  while (image->shape.rank() == 1 && image->layer != nullptr) {
    const std::string_view type = image->layer->type();
    if (type != "flatten" && type != "dropout" && type != "add" && !is_activation(type)) break;
    image = &graph_.node(image->inputs[0]);
  }
  const double rate = number(node, "rate");
  // With `spatial`, the channel alone decides for all its elements.
  const bool spatial = flag(node, "spatial"), sequence = image->shape.rank() == 2;
  const std::int64_t channels = sequence ? image->shape[1] : image->shape[0];
  const std::int64_t pixels = image->shape.elements() / channels;
  const convoke::PhiloxKey key = convoke::philox_key(key_.seed, convoke::Purpose::kDropout, key_.epoch);
  Values factors(values_[0].samples, node.shape);
  for (std::int64_t n = 0; n < factors.samples; ++n) {
    for (std::int64_t c = 0; c < channels; ++c) {
      for (std::int64_t p = 0; p < pixels; ++p) {
        const auto e = static_cast<std::uint32_t>(spatial ? c : p * channels + c);
        const convoke::PhiloxCounter words =
            convoke::philox4x32({e / 64 * 16 + e % 16, static_cast<std::uint32_t>(node.index),
                                 key_.samples[static_cast<std::size_t>(n)], 0},
                                key);
        const bool keep = words[e / 16 % 4] >= rate * 0x1p32;
        const std::int64_t at = sequence ? (n * pixels + p) * channels + c : (n * channels + c) * pixels + p;
        factors[at] = keep ? 1 / (1 - rate) : 0;
      }
    }
  }
  return factors;
}

std::vector<double> Model::coefficients(const Node& node, const char* name, double otherwise) const {
  const std::string& owner = graph_.owner(node).name;
  const auto given = parameters.find(owner + "." + name);
  const std::size_t channels = parameters.at(owner + ".running_mean").size();
  return given != parameters.end() ? given->second : std::vector<double>(channels, otherwise);
}

Call Model::call(const Node& node) const {
  Call call{graph_, node, node.layer->settings(), micro_batch_, training_, key_, {}, {}};
  for (const std::size_t from : node.inputs) call.inputs.push_back(values_[from]);
  for (const auto& spec : graph_.owner(node).parameters)
    call.parameters[spec.name] = parameters.at(graph_.owner(node).name + "." + spec.name);
  return call;
}

// dx_i = sum_j dy_j (f_j(x + h e_i) - f_j(x - h e_i)) / 2h, for every element of every input and parameter.
void Model::backward_by_differences(const Node& node, const LayerEntry& layer) {
  constexpr double kStep = 1e-5;
  const std::vector<double>& dy = gradients_[node.index].data;
  Call varied = call(node);
  const auto differentiate = [&](std::vector<double>& values, std::vector<double>& gradient) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double before = values[i];
      values[i] = before + kStep;
      const std::vector<double> above = layer.forward(varied).data;
      values[i] = before - kStep;
      const std::vector<double> below = layer.forward(varied).data;
      values[i] = before;
      double sum = 0;
      for (std::size_t j = 0; j < dy.size(); ++j) sum += dy[j] * (above[j] - below[j]);
      gradient[i] += sum / (2 * kStep);
    }
  };
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const std::size_t from = node.inputs[i];
    if (graph_.node(from).shape.type == convoke::nn::ValueType::kReal)
      differentiate(varied.inputs[i].data, gradients_[from].data);
  }
  for (const auto& spec : graph_.owner(node).parameters) {
    if (spec.trainable)
      differentiate(varied.parameters[spec.name], results_.at(graph_.owner(node).name + "." + spec.name));
  }
}

void Model::forward(const Node& node) {
  const std::string_view type = node.layer->type();
  if (const LayerEntry* layer = find_layer(type)) {
    values_[node.index] = layer->forward(call(node));
    return;
  }
  const Values& x = values_[node.inputs[0]];
  Values y(x.samples, node.shape);
  if (type == "conv2d") {
    const std::vector<double>& weight = parameter(node, "weight");
    for_each_product(geometry(node, x), static_cast<std::int64_t>(number(node, "groups")), x, y,
                     [&](std::int64_t o, std::int64_t i, std::int64_t w) {
                       y[o] += x[i] * weight[static_cast<std::size_t>(w)];
                     });
  } else if (type == "dense") {
    const std::vector<double>& weight = parameter(node, "weight");
    const std::int64_t in = x.shape.elements(), units = node.shape[0];
    for (std::int64_t o = 0; o < y.size(); ++o) {
      for (std::int64_t i = 0; i < in; ++i)
        y[o] += x[o / units * in + i] * weight[static_cast<std::size_t>(o % units * in + i)];
    }
  } else if (type == "max_pool") {
    const std::vector<std::int64_t> best = winners(geometry(node, x), x, y);
    for (std::int64_t i = 0; i < y.size(); ++i) y[i] = x[best[static_cast<std::size_t>(i)]];
  } else if (is_average(type)) {
    const Geometry g = geometry(node, x);
    const std::vector<double> sizes = window_sizes(g, counts_padding(node));
    for (std::int64_t plane = 0; plane < x.samples * x.channels(); ++plane) {
      g.for_each_tap([&](std::int64_t op, std::int64_t ip, std::int64_t) {
        y[plane * y.pixels() + op] += x[plane * x.pixels() + ip] / sizes[static_cast<std::size_t>(op)];
      });
    }
  } else if (type == "batch_norm") {
    const std::vector<double> gamma = coefficients(node, "gamma", 1), beta = coefficients(node, "beta", 0);
    const double epsilon = number(node, "epsilon");
    for (std::int64_t first = 0; first < x.samples; first += micro_batch_) {
      Moments m(x, micro_batch_, first);
      if (!training_ || frozen(node) || node_frozen(graph_, node)) {
        m.mean = parameter(node, "running_mean");
        m.variance = parameter(node, "running_variance");
      }
      for_each_of_micro_batch(x, micro_batch_, first, [&](std::int64_t i, std::int64_t channel) {
        const auto c = static_cast<std::size_t>(channel);
        y[i] = gamma[c] * (x[i] - m.mean[c]) / std::sqrt(m.variance[c] + epsilon) + beta[c];
      });
    }
  } else if (is_activation(type)) {
    for (std::int64_t i = 0; i < x.size(); ++i) y[i] = activate(type, x[i]);
  } else if (type == "dropout") {
    y.data = x.data;
    if (training_) {
      const Values factors = dropout_factors(node);
      for (std::int64_t i = 0; i < y.size(); ++i) y[i] *= factors[i];
    }
  } else if (type == "flatten") {
    y.data = x.data;
  } else if (type == "add") {
    for (const std::size_t from : node.inputs) {
      for (std::int64_t i = 0; i < y.size(); ++i) y[i] += values_[from][i];
    }
  } else {
    throw std::logic_error("the reference has no layer " + std::string(type));
  }
  if ((type == "conv2d" || type == "dense") && graph_.owner(node).parameters.size() > 1) {
    const std::vector<double>& bias = parameter(node, "bias");
    for (std::int64_t i = 0; i < y.size(); ++i)
      y[i] += bias[static_cast<std::size_t>(i / y.pixels() % y.channels())];
  }
  values_[node.index] = std::move(y);
}

void Model::backward(const Node& node) {
  const std::string_view type = node.layer->type();
  if (const LayerEntry* layer = find_layer(type)) return backward_by_differences(node, *layer);
  const Values& x = values_[node.inputs[0]];
  const Values& y = values_[node.index];
  const Values& dy = gradients_[node.index];
  Values& dx = gradients_[node.inputs[0]];
  const auto result = [&](const char* name) -> std::vector<double>& {
    return results_.at(graph_.owner(node).name + "." + name);
  };
  if ((type == "conv2d" || type == "dense") && graph_.owner(node).parameters.size() > 1) {
    std::vector<double>& bias = result("bias");
    for (std::int64_t i = 0; i < dy.size(); ++i)
      bias[static_cast<std::size_t>(i / y.pixels() % y.channels())] += dy[i];
  }
  if (type == "conv2d") {
    const std::vector<double>& weight = parameter(node, "weight");
    std::vector<double>& dweight = result("weight");
    for_each_product(geometry(node, x), static_cast<std::int64_t>(number(node, "groups")), x, y,
                     [&](std::int64_t o, std::int64_t i, std::int64_t w) {
                       dx[i] += dy[o] * weight[static_cast<std::size_t>(w)];
                       dweight[static_cast<std::size_t>(w)] += dy[o] * x[i];
                     });
  } else if (type == "dense") {
    const std::vector<double>& weight = parameter(node, "weight");
    std::vector<double>& dweight = result("weight");
    const std::int64_t in = x.shape.elements(), units = node.shape[0];
    for (std::int64_t o = 0; o < y.size(); ++o) {
      for (std::int64_t i = 0; i < in; ++i) {
        const auto w = static_cast<std::size_t>(o % units * in + i);
        dx[o / units * in + i] += dy[o] * weight[w];
        dweight[w] += dy[o] * x[o / units * in + i];
      }
    }
  } else if (type == "max_pool") {
    const std::vector<std::int64_t> best = winners(geometry(node, x), x, y);
    for (std::int64_t i = 0; i < y.size(); ++i) dx[best[static_cast<std::size_t>(i)]] += dy[i];
  } else if (is_average(type)) {
    const Geometry g = geometry(node, x);
    const std::vector<double> sizes = window_sizes(g, counts_padding(node));
    for (std::int64_t plane = 0; plane < x.samples * x.channels(); ++plane) {
      g.for_each_tap([&](std::int64_t op, std::int64_t ip, std::int64_t) {
        dx[plane * x.pixels() + ip] += dy[plane * y.pixels() + op] / sizes[static_cast<std::size_t>(op)];
      });
    }
  } else if (type == "batch_norm" && node_frozen(graph_, node)) {
    const auto &gamma = parameter(node, "gamma"), &variance = parameter(node, "running_variance");
    for_each_of_micro_batch(x, x.samples, 0, [&](std::int64_t i, std::int64_t channel) {
      const auto c = static_cast<std::size_t>(channel);
      dx[i] += dy[i] * gamma[c] / std::sqrt(variance[c] + number(node, "epsilon"));
    });
  } else if (type == "batch_norm") {
    //   dx = gamma / sqrt(var + eps) * (dy - mean(dy) - x_hat * mean(dy x_hat))
    const std::vector<double> gamma = coefficients(node, "gamma", 1);
    const auto count = static_cast<double>(micro_batch_ * channel_size(x));
    const double epsilon = number(node, "epsilon");
    const auto uses = std::count_if(graph_.nodes().begin(), graph_.nodes().end(), [&](const Node& other) {
      return other.parameters_of == node.parameters_of;
    });
    const double share = static_cast<double>(micro_batch_) / static_cast<double>(batch_ * uses);
    for (std::int64_t first = 0; first < x.samples; first += micro_batch_) {
      Moments m(x, micro_batch_, first);
      if (frozen(node)) {
        m.mean = parameter(node, "running_mean");
        m.variance = parameter(node, "running_variance");
      }
      std::vector<double> sum(gamma.size()), product(gamma.size());
      const auto scale = [&](std::size_t c) { return 1 / std::sqrt(m.variance[c] + epsilon); };
      for_each_of_micro_batch(x, micro_batch_, first, [&](std::int64_t i, std::int64_t channel) {
        const auto c = static_cast<std::size_t>(channel);
        sum[c] += dy[i];
        product[c] += dy[i] * (x[i] - m.mean[c]) * scale(c);
      });
      for_each_of_micro_batch(x, micro_batch_, first, [&](std::int64_t i, std::int64_t channel) {
        const auto c = static_cast<std::size_t>(channel);
        const double x_hat = (x[i] - m.mean[c]) * scale(c);
        const double through = frozen(node) ? 0 : sum[c] / count + x_hat * product[c] / count;
        dx[i] += gamma[c] * scale(c) * (dy[i] - through);
      });
      for (std::size_t c = 0; c < gamma.size(); ++c) {
        const std::string& owner = graph_.owner(node).name;
        if (results_.contains(owner + ".beta")) result("beta")[c] += sum[c];
        if (results_.contains(owner + ".gamma")) result("gamma")[c] += product[c];
        result("running_mean")[c] += m.mean[c] * share;
        result("running_variance")[c] += m.variance[c] * share;
      }
    }
  } else if (is_activation(type)) {
    for (std::int64_t i = 0; i < x.size(); ++i) dx[i] += dy[i] * slope(type, y[i]);
  } else if (type == "dropout") {
    const Values factors = dropout_factors(node);
    for (std::int64_t i = 0; i < x.size(); ++i) dx[i] += dy[i] * factors[i];
  } else if (type == "flatten") {
    for (std::int64_t i = 0; i < x.size(); ++i) dx[i] += dy[i];
  } else if (type == "add") {
    for (const std::size_t from : node.inputs) {
      for (std::int64_t i = 0; i < dy.size(); ++i) gradients_[from][i] += dy[i];
    }
  }
}

}  // namespace reference
