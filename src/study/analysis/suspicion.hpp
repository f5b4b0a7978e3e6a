#pragma once
#include <string>
#include <vector>

#include "convoke/study/analysis/audit.hpp"
#include "study/analysis/derivation.hpp"

// Figures that may be computed rightly from the wrong thing.

namespace convoke::study {

std::string name_of(const TableRow& row);

/// Means over ranks beside makespans: how much faster the one makes it look.
std::vector<AuditFinding> means_over_ranks(const Rows& rows);

/// Speed-ups, measured or published, above the number of workers, and decreases that come to that.
std::vector<AuditFinding> impossible_speedups(const Rows& rows);

/// Preemptible machines that take as long as those on demand.
std::vector<AuditFinding> free_preemptions(const Rows& rows);

}  // namespace convoke::study
