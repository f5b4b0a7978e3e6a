#include <array>
#include <cmath>
#include <string>

#include "convoke/core/random.hpp"
#include "reference/layer.hpp"

namespace reference {
namespace {

using Vector = std::vector<double>;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// W x + b.
Vector product(const Vector& weight, const Vector* bias, const Vector& x) {
  const std::size_t rows = weight.size() / x.size();
  Vector y(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    if (bias != nullptr) y[i] = (*bias)[i];
    for (std::size_t j = 0; j < x.size(); ++j) y[i] += weight[i * x.size() + j] * x[j];
  }
  return y;
}

/// Returns the factors of dropout for `width` values of a sample. Direction d uses the streams node + (1 + 2
/// d) 2^24 for the input and node + (2 + 2 d) 2^24 for the state, with the words of a dropout layer of one
/// pixel.
Vector factors(const Call& call, const char* key, std::uint32_t number, std::int64_t sample,
               std::size_t width) {
  const double rate = call.number(key);
  Vector result(width, 1);
  if (!call.training || rate == 0) return result;
  const convoke::PhiloxKey philox =
      convoke::philox_key(call.key.seed, convoke::Purpose::kDropout, call.key.epoch);
  for (std::uint32_t e = 0; e < width; ++e) {
    const convoke::PhiloxCounter words = convoke::philox4x32(
        {e / 64 * 16 + e % 16, static_cast<std::uint32_t>(call.node.index) + (number << 24),
         call.key.samples[static_cast<std::size_t>(sample)], call.repeat(sample)},
        philox);
    result[e] = words[e / 16 % 4] >= rate * 0x1p32 ? 1 / (1 - rate) : 0;
  }
  return result;
}

struct State {
  Vector h, c;
};

State lstm_cell(const Vector& a, const Vector& r, const State& before) {
  const std::size_t units = before.h.size();
  State next = before;
  for (std::size_t u = 0; u < units; ++u) {
    const auto gate = [&](std::size_t g) { return a[g * units + u] + r[g * units + u]; };
    next.c[u] = sigmoid(gate(1)) * before.c[u] + sigmoid(gate(0)) * std::tanh(gate(2));
    next.h[u] = sigmoid(gate(3)) * std::tanh(next.c[u]);
  }
  return next;
}

State gru_cell(const Vector& a, const Vector& r, const State& before) {
  const std::size_t units = before.h.size();
  State next = before;
  for (std::size_t u = 0; u < units; ++u) {
    const double z = sigmoid(a[u] + r[u]);
    const double reset = sigmoid(a[units + u] + r[units + u]);
    const double candidate = std::tanh(a[2 * units + u] + reset * r[2 * units + u]);
    next.h[u] = z * before.h[u] + (1 - z) * candidate;
  }
  return next;
}

Values recur(const Call& call, State (*cell)(const Vector&, const Vector&, const State&)) {
  const Values& x = call.x();
  const std::int64_t length = x.shape[0], features = x.shape[1];
  const auto units = static_cast<std::size_t>(call.number("units"));
  const bool sequences = call.flag("sequences"), both = call.flag("bidirectional");
  const std::int64_t width = static_cast<std::int64_t>(units) * (both ? 2 : 1);
  Values y(x.samples, call.node.shape);
  for (std::uint32_t direction = 0; direction < (both ? 2U : 1U); ++direction) {
    const std::string prefix = direction == 0 ? "" : "backward_";
    const auto find = [&](const char* name) {
      return call.has_parameter(prefix + name) ? &call.parameter(prefix + name) : nullptr;
    };
    const Vector *weight = find("weight"), *bias = find("bias");
    const Vector *recurrent_weight = find("recurrent_weight"), *recurrent_bias = find("recurrent_bias");
    for (std::int64_t n = 0; n < x.samples; ++n) {
      const Vector of_input =
          factors(call, "dropout", 1 + 2 * direction, n, static_cast<std::size_t>(features));
      const Vector of_state = factors(call, "recurrent_dropout", 2 + 2 * direction, n, units);
      State state{Vector(units), Vector(units)};
      for (std::int64_t step = 0; step < length; ++step) {
        const std::int64_t t = direction == 0 ? step : length - 1 - step;
        const bool masked = call.inputs.size() > 1 && call.inputs[1][n * length + t] == 0;
        if (!masked) {
          Vector input(of_input), seen(of_state);
          for (std::size_t f = 0; f < input.size(); ++f)
            input[f] *= x[(n * length + t) * features + static_cast<std::int64_t>(f)];
          for (std::size_t u = 0; u < units; ++u) seen[u] *= state.h[u];
          state =
              cell(product(*weight, bias, input), product(*recurrent_weight, recurrent_bias, seen), state);
        }
        if (!sequences && step + 1 < length) continue;
        const std::int64_t row = sequences ? n * length + t : n;
        for (std::size_t u = 0; u < units; ++u) {
          y[row * width + static_cast<std::int64_t>(direction * units + u)] =
              masked && sequences && both ? 0 : state.h[u];
        }
      }
    }
  }
  return y;
}

Values attention(const Call& call) {
  const Values &q = call.inputs[0], &k = call.inputs[1], &v = call.inputs[2];
  const std::int64_t length = q.shape[0], key_length = k.shape[0], features = q.shape[1],
                     outputs = v.shape[1];
  const auto heads = static_cast<std::int64_t>(call.number("heads"));
  const std::int64_t width = features / heads, out = outputs / heads;
  const double given = call.number("scale"), scale = given > 0 ? given : 1 / std::sqrt(width);
  Values y(q.samples, call.node.shape);
  for (std::int64_t n = 0; n < q.samples; ++n) {
    for (std::int64_t h = 0; h < heads; ++h) {
      for (std::int64_t i = 0; i < length; ++i) {
        Vector share(static_cast<std::size_t>(key_length));
        double sum = 0;
        for (std::int64_t j = 0; j < key_length; ++j) {
          double score = 0;
          for (std::int64_t f = h * width; f < (h + 1) * width; ++f)
            score += q[(n * length + i) * features + f] * k[(n * key_length + j) * features + f];
          sum += share[static_cast<std::size_t>(j)] = std::exp(scale * score);
        }
        for (std::int64_t f = h * out; f < (h + 1) * out; ++f) {
          for (std::int64_t j = 0; j < key_length; ++j) {
            y[(n * length + i) * outputs + f] +=
                share[static_cast<std::size_t>(j)] / sum * v[(n * key_length + j) * outputs + f];
          }
        }
      }
    }
  }
  return y;
}

Values embedding(const Call& call) {
  const std::vector<double>& weight = call.parameter("weight");
  const std::int64_t units = call.node.shape[1];
  Values y(call.x().samples, call.node.shape);
  for (std::int64_t i = 0; i < y.size(); ++i) {
    const auto token = static_cast<std::int64_t>(call.x()[i / units]);
    y[i] = weight[static_cast<std::size_t>(token * units + i % units)];
  }
  return y;
}

Values lstm(const Call& call) { return recur(call, lstm_cell); }
Values gru(const Call& call) { return recur(call, gru_cell); }

}  // namespace

std::span<const LayerEntry> sequence_layers() {
  static constexpr std::array kLayers{
      LayerEntry{.type = "attention", .forward = attention},
      LayerEntry{.type = "embedding", .forward = embedding},
      LayerEntry{.type = "gru", .forward = gru},
      LayerEntry{.type = "lstm", .forward = lstm},
  };
  return kLayers;
}

}  // namespace reference
