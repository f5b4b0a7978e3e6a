#include "convoke/vote/rule.hpp"
#include "convoke/vote/soup.hpp"
#include "sections.hpp"

namespace convoke::recipe {
namespace {

using train::EnsembleOptions;

void read_member(SettingsReader& read, const KeyFacts& key, EnsembleOptions& ensemble) {
  if (read.holds_text(key.name)) {
    check_key(read, key, read.require_string(key.name) == "all");
    ensemble.member = -1;
  } else if (read.has(key.name)) {
    ensemble.member = read.require_int(key.name);
    check_key(read, key, ensemble.member >= 0);
  }
}

std::optional<Value> write_member(const KeyFacts&, const EnsembleOptions& ensemble) {
  return ensemble.member < 0 ? Value("all") : Value(ensemble.member);
}

constexpr std::array kEnsembleKeys{
    key<&EnsembleOptions::members>(
        {.name = "members",
         .word = "ranks",
         .help = "the number of members; `\"ranks\"`: one for each rank. With more members than ranks, a "
                 "rank that is free trains the next member; with fewer, each member has several ranks"}),
    key<&EnsembleOptions::ranks>(
        {.name = "ranks",
         .range = {.least = 1},
         .effect = Effect::kNone,
         .help = "the number of ranks of each group, for example `[4, 2, 2]`; group k trains member k first. "
                 "Empty: groups whose sizes differ by at most one"}),
    Key<EnsembleOptions>{
        {.name = "member",
         .expected = "\"all\" or a whole number of at least 0",
         .effect = Effect::kNone,
         .help = "the only member to train, counted from 0, with the same result as in the whole ensemble; "
                 "`--member K` of `convoke train` sets it, and `convoke gather` makes one ensemble of such "
                 "runs",
         .type = "whole number or text"},
        read_member,
        write_member},
    choice<data::kShardings, &EnsembleOptions::shards>(
        {.name = "shards",
         .noun = "sharding",
         .help = "the samples of each member: `\"contiguous\"` parts, `\"stratified\"` parts with every "
                 "class spread evenly, `\"bootstrap\"` (drawn with replacement), or the `\"full\"` data"}),
    key<&EnsembleOptions::rule>({.name = "rule",
                                 .noun = "voting rule",
                                 .names = vote::rule_names,
                                 .effect = Effect::kNone,
                                 .help = "the voting rule that decides: `\"majority\"`, whose ties go to the "
                                         "highest mean probability, `\"majority_lowest\"`, whose ties go to "
                                         "the lowest label, or `\"mean\"` for the highest mean probability; "
                                         "every rule is reported"}),
    key<&EnsembleOptions::soups>(
        {.name = "soups",
         .noun = "soup",
         .names = vote::soup_names,
         .effect = Effect::kNone,
         .help = "models whose parameters are a mean of the members' parameters, evaluated and stored "
                 "next to the vote ([ensembles.md](ensembles.md#one-model-from-many-soups)): `\"uniform\"` "
                 "mean, `\"weighted\"` by validation accuracy, or the mean of the members that a "
                 "`\"greedy\"` choice finds"}),
};

}  // namespace

Section ensemble_section() {
  return section_of<kEnsembleKeys, &Recipe::ensemble>(
      "ensemble", "The members and their vote, with `train.mode = \"ensemble\"`.");
}

}  // namespace convoke::recipe
