#include "convoke/study/tables/member_groups.hpp"

#include <algorithm>

#include "convoke/core/lookup.hpp"
#include "convoke/metrics/json.hpp"

namespace convoke::study {

MemberGroups::MemberGroups(const std::filesystem::path& run, std::int64_t ranks)
    : ranks_(std::max<std::int64_t>(ranks, 1)) {
  const std::optional<Settings> summary = metrics::read_json(run / "summary.json");
  if (!summary) return;
  gathered_ = !list_at(*summary, "gathered_from").empty();
  for (const Settings& facts : tables_at(*summary, "member_facts")) {
    const auto member = count_at(facts, "member"), rank = count_at(facts, "rank");
    if (member && rank) first_rank_of_[*member] = *rank;
  }
}

std::int64_t MemberGroups::of(std::int64_t member) const {
  if (gathered_) return member;
  const auto found = first_rank_of_.find(member);
  return found == first_rank_of_.end() ? member % ranks_ : found->second;
}

}  // namespace convoke::study
