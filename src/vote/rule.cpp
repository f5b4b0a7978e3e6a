#include "convoke/vote/rule.hpp"

#include <array>

#include "convoke/core/table.hpp"
#include "convoke/vote/majority.hpp"
#include "convoke/vote/mean.hpp"

namespace convoke::vote {
namespace {

struct Entry {
  std::string_view name;
  Rule rule;
};

constexpr std::array kRules{
    Entry{"majority", majority},
    Entry{"mean", mean},
};

}  // namespace

Rule find_rule(const std::string& name) { return find_in(kRules, name, "voting rule").rule; }

std::vector<std::string> rule_names() { return names_in(kRules); }

}  // namespace convoke::vote
