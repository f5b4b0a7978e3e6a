#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "convoke/core/error.hpp"
#include "convoke/data_prep/splits.hpp"
#include "duplicates.hpp"

namespace convoke::data_prep {

/// Problems of a source's samples.
struct Findings {
  std::map<std::size_t, Error> faults;  ///< items that cannot be read, and why
  std::vector<Pair> duplicates;
  std::vector<Pair> lookalikes;

  bool empty() const { return faults.empty() && duplicates.empty() && lookalikes.empty(); }
};

/// Returns the number of pairs whose items are in two splits.
std::int64_t leaks(const std::vector<Pair>& pairs, const SplitAssignment& splits);

/// Writes all findings as CSV: finding, sample, split, class, other_sample, other_split, other_class, reason.
void write_findings(const std::filesystem::path& file, const Findings& findings, const Catalogue& catalogue,
                    const SplitAssignment& splits);

/// Throws Error naming the first sample that is in two splits, if there is one. `list`: the file that lists
/// all of them.
void expect_no_leak(const Findings& findings, const Catalogue& catalogue, const SplitAssignment& splits,
                    const std::filesystem::path& list);

}  // namespace convoke::data_prep
