#include "convoke/optim/optimizer.hpp"

#include <array>

#include "convoke/core/table.hpp"
#include "convoke/optim/adagrad.hpp"
#include "convoke/optim/adam.hpp"
#include "convoke/optim/adamw.hpp"
#include "convoke/optim/lamb.hpp"
#include "convoke/optim/lars.hpp"
#include "convoke/optim/nadam.hpp"
#include "convoke/optim/rmsprop.hpp"
#include "convoke/optim/sgd.hpp"

namespace convoke::optim {
namespace {

template <class T>
std::unique_ptr<Optimizer> make(SettingsReader& settings) {
  return std::make_unique<T>(T::read(settings));
}

struct OptimizerEntry {
  std::string_view name;
  std::unique_ptr<Optimizer> (*make)(SettingsReader& settings);
  std::vector<KeyDescription> (*keys)();
};

constexpr std::array kOptimizers{
    OptimizerEntry{"sgd", make<Sgd>, Sgd::keys},
    OptimizerEntry{"adam", make<Adam>, Adam::keys},
    OptimizerEntry{"rmsprop", make<RmsProp>, RmsProp::keys},
    OptimizerEntry{"adamw", make<AdamW>, AdamW::keys},
    OptimizerEntry{"nadam", make<Nadam>, Nadam::keys},
    OptimizerEntry{"adagrad", make<Adagrad>, Adagrad::keys},
    OptimizerEntry{"lars", make<Lars>, Lars::keys},
    OptimizerEntry{"lamb", make<Lamb>, Lamb::keys},
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
