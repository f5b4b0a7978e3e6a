#include "convoke/optim/optimizer.hpp"

#include <array>

#include "convoke/core/table.hpp"
#include "convoke/optim/adam.hpp"
#include "convoke/optim/large_batch.hpp"
#include "convoke/optim/rmsprop.hpp"
#include "convoke/optim/sgd.hpp"

namespace convoke::optim {
namespace {

template <class T>
std::unique_ptr<Optimizer> make(SettingsReader& settings) {
  typename T::Options options;
  read_keys(T::keys(), settings, options);
  if constexpr (requires { T::check(settings, options); }) T::check(settings, options);
  return std::make_unique<T>(options);
}

template <class T>
std::vector<KeyDescription> describe() {
  return describe_keys(T::keys());
}

struct OptimizerEntry {
  std::string_view name;
  std::unique_ptr<Optimizer> (*make)(SettingsReader& settings);
  std::vector<KeyDescription> (*keys)();
};

constexpr std::array kOptimizers{
    OptimizerEntry{"sgd", make<Sgd>, describe<Sgd>},
    OptimizerEntry{"adam", make<Adam>, describe<Adam>},
    OptimizerEntry{"rmsprop", make<RmsProp>, describe<RmsProp>},
    OptimizerEntry{"adamw", make<AdamW>, describe<AdamW>},
    OptimizerEntry{"nadam", make<Nadam>, describe<Nadam>},
    OptimizerEntry{"adagrad", make<Adagrad>, describe<Adagrad>},
    OptimizerEntry{"lars", make<Lars>, describe<Lars>},
    OptimizerEntry{"lamb", make<Lamb>, describe<Lamb>},
};

/// Options of all optimizers.
struct CommonOptions {
  double learning_rate = 1e-3;
};
constexpr std::array kCommonKeys{key<&CommonOptions::learning_rate>(
    {.name = "learning_rate", .range = {.above = 0}, .help = "base rate, which the schedule multiplies"})};

}  // namespace

std::unique_ptr<Optimizer> make_optimizer(const Settings& settings) {
  const std::string name = SettingsReader(settings, "optimizer").get("name", "adam");
  const OptimizerEntry& entry = find_in(kOptimizers, name, "optimizer", settings.where());

  SettingsReader read(settings, "optimizer \"" + name + "\"");
  read.has("name");
  CommonOptions common;
  read_keys(kCommonKeys, read, common);
  std::unique_ptr<Optimizer> optimizer = entry.make(read);
  read.finish();
  return optimizer;
}

double learning_rate_of(const Settings& settings) {
  SettingsReader read(settings, "optimizer");
  CommonOptions common;
  read_keys(kCommonKeys, read, common);
  return common.learning_rate;
}

std::vector<OptionTable> optimizer_tables() {
  std::vector<OptionTable> tables{{"", describe_keys(kCommonKeys)}};
  for (const OptimizerEntry& entry : kOptimizers) tables.push_back({std::string(entry.name), entry.keys()});
  return tables;
}

std::vector<std::string> optimizer_names() { return names_in(kOptimizers); }

}  // namespace convoke::optim
