#include "convoke/optim/optimizer.hpp"

#include <array>
#include <cmath>

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
};

constexpr std::array kOptimizers{
    OptimizerEntry{"sgd", make<Sgd>},         OptimizerEntry{"adam", make<Adam>},
    OptimizerEntry{"rmsprop", make<RmsProp>}, OptimizerEntry{"adamw", make<AdamW>},
    OptimizerEntry{"nadam", make<Nadam>},     OptimizerEntry{"adagrad", make<Adagrad>},
    OptimizerEntry{"lars", make<Lars>},       OptimizerEntry{"lamb", make<Lamb>},
};

}  // namespace

std::unique_ptr<Optimizer> make_optimizer(const Settings& settings) {
  const std::string name = SettingsReader(settings, "optimizer").require_string("name");
  const OptimizerEntry& entry = find_in(kOptimizers, name, "optimizer", settings.where());

  SettingsReader read(settings, "optimizer \"" + name + "\"");
  read.has("name");
  const double rate = read.get("learning_rate", 1e-3);
  read.check("learning_rate", rate >= 0 && std::isfinite(rate), "at least 0");
  std::unique_ptr<Optimizer> optimizer = entry.make(read);
  read.finish();
  return optimizer;
}

std::vector<std::string> optimizer_names() { return names_in(kOptimizers); }

}  // namespace convoke::optim
