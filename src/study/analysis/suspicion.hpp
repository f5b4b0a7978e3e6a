#pragma once
#include <string>
#include <vector>

#include "convoke/study/analysis/audit.hpp"
#include "study/analysis/derivation.hpp"

// Finds figures that may be computed correctly from the wrong input.

namespace convoke::study {

std::string name_of(const TableRow& row);

/// Finds means over ranks next to makespans: how much faster the means make the job look.
std::vector<AuditFinding> means_over_ranks(const Rows& rows);

/// Finds speed-ups, measured or published, above the number of workers, and equivalent decreases.
std::vector<AuditFinding> impossible_speedups(const Rows& rows);

/// Finds preemptible machines that take as long as those on demand.
std::vector<AuditFinding> free_preemptions(const Rows& rows);

}  // namespace convoke::study
