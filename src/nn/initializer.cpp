#include "convoke/nn/initializer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "convoke/core/error.hpp"
#include "convoke/core/random.hpp"
#include "convoke/core/table.hpp"

namespace convoke::nn {
namespace {

/// The arguments of a rule.
struct Draw {
  const Settings& settings;
  const Shape& shape;
  double fan_in, fan_out;
  RandomStream random;
  NormalStream normals;
  std::span<float> values;

  double option(std::string_view key) const { return std::get<double>(settings.find(key)->data()); }
  double fan() const { return *settings.find("mode") == Value("fan_out") ? fan_out : fan_in; }

  void constant(float value) { std::fill(values.begin(), values.end(), value); }
  void uniform(double limit) {
    for (float& value : values) value = static_cast<float>((2 * random.uniform() - 1) * limit);
  }
  void normal(double mean, double deviation) {
    normals.fill(values);
    for (float& value : values) value = static_cast<float>(mean + deviation * static_cast<double>(value));
  }
  void truncated(double mean, double deviation) {
    std::array<float, 256> drawn{};
    for (std::size_t i = 0; i < values.size();) {
      normals.fill(drawn);
      for (const float z : drawn) {
        if (std::abs(z) > 2 || i == values.size()) continue;
        values[i++] = static_cast<float>(mean + deviation * static_cast<double>(z));
      }
    }
  }
};

// The standard deviation of a standard normal distribution truncated at two, by which Keras divides.
constexpr double kTruncatedDeviation = 0.87962566103423978;

// A. Saxe, J. McClelland, S. Ganguli, "Exact solutions to the nonlinear dynamics of learning in deep linear
// neural networks", ICLR 2014. Makes normal numbers orthonormal by the method of Gram and Schmidt, twice for
// each vector, so that rounding leaves no part of the other vectors.
void orthogonal(Draw& draw) {
  const auto rows = static_cast<std::size_t>(draw.shape[0]);
  const std::size_t columns = draw.values.size() / rows;
  const std::size_t count = std::min(rows, columns), length = std::max(rows, columns);
  std::vector<double> vectors(count * length);
  for (std::size_t i = 0; i < count; ++i) {
    double* const v = vectors.data() + i * length;
    for (std::size_t k = 0; k < length; ++k) v[k] = draw.random.normal();
    for (int pass = 0; pass < 2; ++pass) {
      for (std::size_t j = 0; j < i; ++j) {
        const double* const u = vectors.data() + j * length;
        double product = 0;
        for (std::size_t k = 0; k < length; ++k) product += u[k] * v[k];
        for (std::size_t k = 0; k < length; ++k) v[k] -= product * u[k];
      }
    }
    double square = 0;
    for (std::size_t k = 0; k < length; ++k) square += v[k] * v[k];
    for (std::size_t k = 0; k < length; ++k) v[k] /= std::sqrt(square);
  }
  const double gain = draw.option("gain");
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      const double unit = rows <= columns ? vectors[r * length + c] : vectors[c * length + r];
      draw.values[r * columns + c] = static_cast<float>(gain * unit);
    }
  }
}

struct Option {
  std::string_view key;  ///< empty: no option
  double value = 0;      ///< default of the option
};

struct InitializerEntry {
  std::string_view name;
  std::array<Option, 2> options;
  void (*fill)(Draw& draw);
  bool has_mode = false;
};

//   a uniform number in +- sqrt(3 v) has variance v.
// X. Glorot, Y. Bengio, "Understanding the difficulty of training deep feedforward neural networks", AISTATS
// 2010: v = 2 / (fan_in + fan_out). K. He et al., "Delving deep into rectifiers", ICCV 2015: v = 2 / fan.
// Y. LeCun et al., "Efficient backprop", 1998: v = 1 / fan_in.
double glorot_deviation(const Draw& d) { return d.option("gain") * std::sqrt(2.0 / (d.fan_in + d.fan_out)); }
double kaiming_deviation(const Draw& d) {
  return std::sqrt(2.0 / ((1 + d.option("a") * d.option("a")) * d.fan()));
}

constexpr Option kGain{"gain", 1}, kMean{"mean", 0}, kStddev{"stddev", 0.05};
constexpr std::array kInitializers{
    InitializerEntry{
        "constant", {{{"value", 0}}}, [](Draw& d) { d.constant(static_cast<float>(d.option("value"))); }},
    InitializerEntry{
        "glorot_normal", {kGain}, [](Draw& d) { d.truncated(0, glorot_deviation(d) / kTruncatedDeviation); }},
    InitializerEntry{"glorot_uniform",
                     {kGain},
                     [](Draw& d) { d.uniform(d.option("gain") * std::sqrt(6.0 / (d.fan_in + d.fan_out))); }},
    InitializerEntry{
        "he_normal", {}, [](Draw& d) { d.truncated(0, std::sqrt(2.0 / d.fan_in) / kTruncatedDeviation); }},
    InitializerEntry{"he_uniform", {}, [](Draw& d) { d.uniform(std::sqrt(6.0 / d.fan_in)); }},
    InitializerEntry{
        "kaiming_normal", {{{"a", 0}}}, [](Draw& d) { d.normal(0, kaiming_deviation(d)); }, true},
    InitializerEntry{"kaiming_uniform",
                     {{{"a", 2.23606797749979}}},
                     [](Draw& d) { d.uniform(std::sqrt(3.0) * kaiming_deviation(d)); },
                     true},
    InitializerEntry{
        "lecun_normal", {}, [](Draw& d) { d.truncated(0, std::sqrt(1.0 / d.fan_in) / kTruncatedDeviation); }},
    InitializerEntry{"lecun_uniform", {}, [](Draw& d) { d.uniform(std::sqrt(3.0 / d.fan_in)); }},
    InitializerEntry{
        "normal", {kMean, kStddev}, [](Draw& d) { d.normal(d.option("mean"), d.option("stddev")); }},
    InitializerEntry{"ones", {}, [](Draw& d) { d.constant(1); }},
    InitializerEntry{"orthogonal", {kGain}, orthogonal},
    InitializerEntry{"truncated_normal",
                     {kMean, kStddev},
                     [](Draw& d) { d.truncated(d.option("mean"), d.option("stddev")); }},
    InitializerEntry{"uniform",
                     {{{"minval", -0.05}, {"maxval", 0.05}}},
                     [](Draw& d) {
                       const double low = d.option("minval"), span = d.option("maxval") - low;
                       for (float& value : d.values)
                         value = static_cast<float>(low + span * d.random.uniform());
                     }},
    // The bias of an LSTM, which has four gates: ones for the second, the forget gate, else zeroes, as in
    // Keras.
    InitializerEntry{"unit_forget_bias",
                     {},
                     [](Draw& d) {
                       d.constant(0);
                       const std::size_t quarter = d.values.size() / 4;
                       std::fill_n(d.values.begin() + static_cast<std::ptrdiff_t>(quarter), quarter, 1.0F);
                     }},
    InitializerEntry{"xavier_normal", {kGain}, [](Draw& d) { d.normal(0, glorot_deviation(d)); }},
    InitializerEntry{"zeros", {}, [](Draw& d) { d.constant(0); }},
};

/// Other names of the same rules.
struct InitializerAlias {
  std::string_view name, of;
};
constexpr std::array kInitializerAliases{InitializerAlias{"random_normal", "normal"},
                                         InitializerAlias{"random_uniform", "uniform"},
                                         InitializerAlias{"torch_default", "kaiming_uniform"},
                                         InitializerAlias{"trunc_normal", "truncated_normal"},
                                         InitializerAlias{"xavier_uniform", "glorot_uniform"}};

const InitializerEntry& entry_of(std::string_view name, const std::string& where = {}) {
  const auto alias = std::find_if(kInitializerAliases.begin(), kInitializerAliases.end(),
                                  [&](const InitializerAlias& a) { return a.name == name; });
  return find_in(kInitializers, alias == kInitializerAliases.end() ? name : alias->of, "initializer", where);
}

/// Returns `given` with every option of its name, in the table's order.
Settings complete(const Settings& given) {
  SettingsReader read(given, "initializer");
  const InitializerEntry& entry = entry_of(read.require_string("name"), given.where());
  Settings settings{{"name", entry.name}};
  for (const Option& option : entry.options) {
    if (!option.key.empty()) settings.set(option.key, read.get(option.key, option.value));
  }
  if (entry.has_mode) {
    const std::string mode = read.get("mode", "fan_in");
    read.check("mode", mode == "fan_in" || mode == "fan_out", "\"fan_in\" or \"fan_out\"");
    settings.set("mode", mode);
  }
  if (const Value* deviation = settings.find("stddev"))
    read.check("stddev", std::get<double>(deviation->data()) >= 0, "at least 0");
  if (entry.name == "uniform") {
    const bool rising = std::get<double>(settings.find("minval")->data()) <=
                        std::get<double>(settings.find("maxval")->data());
    read.check("minval", rising, "at most \"maxval\"");
  }
  read.finish();
  return settings;
}

}  // namespace

const Initializer Initializer::kZeros("zeros");
const Initializer Initializer::kOnes("ones");
const Initializer Initializer::kGlorotUniform("glorot_uniform");

Initializer::Initializer(std::string_view name) : Initializer(Settings{{"name", name}}) {}
Initializer::Initializer(const Settings& settings) : settings_(complete(settings)) {}

Value Initializer::write() const {
  const Value& name = *settings_.find("name");
  return *this == Initializer(std::get<std::string>(name.data())) ? name : Value(settings_);
}

void Initializer::fill(const Shape& shape, std::int64_t fan_in, std::int64_t fan_out, const RandomKey& key,
                       std::span<float> values) const {
  const auto at_least_one = [](std::int64_t fan) {
    return static_cast<double>(std::max<std::int64_t>(fan, 1));
  };
  Draw draw{settings_,         shape, at_least_one(fan_in), at_least_one(fan_out), RandomStream(key),
            NormalStream(key), values};
  entry_of(std::get<std::string>(settings_.find("name")->data())).fill(draw);
}

}  // namespace convoke::nn
