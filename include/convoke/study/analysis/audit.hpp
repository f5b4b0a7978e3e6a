#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoke/study/tables/published_table.hpp"

namespace convoke::study {

/// How a published figure stands to what follows from the other columns.
enum class Agreement {
  kPrinted,    ///< equal to the digits that are printed
  kRounding,   ///< may be equal: what it is made from is rounded, too
  kDifferent,  ///< does not follow
};

/// "as printed", "within rounding", "does not follow".
std::string_view to_string(Agreement agreement);

/// One published figure, derived again.
struct Check {
  std::string where;       ///< "times.csv:7"
  std::string row;         ///< "PyTorch, data parallel, 2 ranks"
  std::string column;      ///< "scaling_percent"
  std::string definition;  ///< of all that are known the one that most of the column follows: "100 T1 / (n
                           ///< Tn) of makespans"
  double printed = 0, derived = 0;
  Agreement agreement = Agreement::kPrinted;
};

/// What is wrong with a table, or to be known about it, and why.
struct AuditFinding {
  bool wrong = false;   ///< else a remark
  std::string subject;  ///< "scaling_percent of PyTorch, data parallel, 2 ranks"
  std::string text;
};

struct Audit {
  std::vector<Check> checks;
  std::vector<AuditFinding> findings;
};

/// Derives every published column again from the others of the rows, with the definitions in use, and looks
/// for figures that cannot be: a speed-up above the workers, an efficiency that is divided by a constant,
/// means over ranks in place of makespans, preemptible machines that are never taken back. Everything is
/// computed from the rows; columns that nothing can be said of are left out.
Audit audit(std::span<const TableRow> rows);

}  // namespace convoke::study
