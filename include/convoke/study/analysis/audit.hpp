#pragma once
#include <span>
#include <string>
#include <vector>

#include "convoke/study/tables/measurement.hpp"

namespace convoke::study {

/// How a published figure agrees with the value derived from the other columns.
enum class Agreement {
  kPrinted,    ///< equal to the digits that are printed
  kRounding,   ///< may be equal: its inputs are rounded too
  kDifferent,  ///< does not follow
};

/// "as printed", "within rounding", "does not follow".
std::string_view to_string(Agreement agreement);

/// One published figure, derived again.
struct Check {
  std::string where;       ///< "times.csv:7"
  std::string row;         ///< "PyTorch, data parallel, 2 ranks"
  std::string column;      ///< "scaling_percent"
  std::string definition;  ///< the known definition that fits most of the column: "100 T1 / (n Tn) of
                           ///< makespans"
  double printed = 0, derived = 0;
  Agreement agreement = Agreement::kPrinted;
};

/// An error in a table, or a remark on it, and why.
struct AuditFinding {
  bool wrong = false;   ///< true: an error; false: a remark
  std::string subject;  ///< "scaling_percent of PyTorch, data parallel, 2 ranks"
  std::string text;
};

struct Audit {
  std::vector<Check> checks;
  std::vector<AuditFinding> findings;
};

/// Derives every published column from the other columns of the rows, with the definitions in use, and looks
/// for impossible figures: a speed-up above the number of workers, an efficiency that is divided by a
/// constant, means over ranks instead of makespans, preemptible machines that are never preempted. Everything
/// is computed from the rows; columns without any finding are left out.
Audit audit(std::span<const TableRow> rows);

}  // namespace convoke::study
