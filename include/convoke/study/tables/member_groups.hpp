#pragma once
#include <cstdint>
#include <filesystem>
#include <map>

namespace convoke::study {

/// The groups of ranks that trained the members of a run, as its summary.json states them: a group trains its
/// members one after another, in ascending order, and the groups train at the same time.
class MemberGroups {
 public:
  /// `run`: the folder of a run on `ranks` ranks. Gathered members count as a group each. If summary.json is
  /// missing or of a version that does not state the groups, each rank is one, and members go round them.
  MemberGroups(const std::filesystem::path& run, std::int64_t ranks);

  /// Returns the group of a member; only the equality of two of them means something.
  std::int64_t of(std::int64_t member) const;

 private:
  bool gathered_ = false;
  std::int64_t ranks_;
  std::map<std::int64_t, std::int64_t> first_rank_of_;  // by member
};

}  // namespace convoke::study
