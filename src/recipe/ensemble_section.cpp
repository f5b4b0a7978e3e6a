#include "convoke/recipe/section_reader.hpp"
#include "convoke/vote/rule.hpp"
#include "sections.hpp"

namespace convoke::recipe {

std::string to_string(data::Sharding sharding) {
  for (const auto& entry : data::kShardings) {
    if (entry.value == sharding) return std::string(entry.name);
  }
  throw Error("this way to share samples has no name");
}

EnsembleRecipe read_ensemble(const TomlDocument& document) {
  SectionReader read(document, "ensemble");
  EnsembleRecipe ensemble;
  ensemble.members = read.get_count_or("members", "ranks");
  ensemble.shards = read.get_entry("shards", to_string(ensemble.shards), data::kShardings, "sharding").value;
  ensemble.rule = read.get("rule", ensemble.rule);
  read.at("rule", [&] { return vote::find_rule(ensemble.rule); });
  read.finish();
  return ensemble;
}

Settings write(const EnsembleRecipe& ensemble) {
  return {{"members", count_or(ensemble.members, "ranks")},
          {"shards", to_string(ensemble.shards)},
          {"rule", ensemble.rule}};
}

}  // namespace convoke::recipe
