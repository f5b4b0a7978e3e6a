#include "convoke/train/on_divergence.hpp"

#include <array>

#include "convoke/core/table.hpp"

namespace convoke::train {
namespace {

using Action = OnDivergence::Action;

constexpr std::array kActions{
    Named<Action>{"stop", Action::kStop},
    Named<Action>{"restore", Action::kRestore},
    Named<Action>{"drop-member", Action::kDropMember},
};

constexpr std::array kRestoreKeys{
    key<&OnDivergence::factor>({.name = "factor",
                                .range = {.above = 0, .below = 1},
                                .effect = Effect::kNone,
                                .help = "the learning rate is multiplied by it at each restore"}),
    key<&OnDivergence::times>({.name = "times",
                               .range = {.least = 1},
                               .effect = Effect::kNone,
                               .help = "restores of a model; the next divergence ends its training"}),
};

}  // namespace

OnDivergence OnDivergence::read(const Settings& settings) {
  OnDivergence options;
  if (settings.empty()) return options;
  const std::string name = SettingsReader(settings, "on_divergence").require_string("name");
  options.action = find_in(kActions, name, "action on divergence", settings.where()).value;
  SettingsReader read(settings, "on_divergence \"" + name + "\"");
  read.has("name");
  if (options.action == Action::kRestore) read_keys(kRestoreKeys, read, options);
  read.finish();
  return options;
}

Settings OnDivergence::settings() const {
  Settings settings{{"name", name_of(kActions, action)}};
  if (action == Action::kRestore) write_keys(kRestoreKeys, *this, settings);
  return settings;
}

std::vector<OptionTable> OnDivergence::tables() {
  std::vector<OptionTable> tables;
  for (const Named<Action>& entry : kActions) {
    tables.push_back({std::string(entry.name), entry.value == Action::kRestore
                                                   ? describe_keys(kRestoreKeys)
                                                   : std::vector<KeyDescription>()});
  }
  return tables;
}

}  // namespace convoke::train
