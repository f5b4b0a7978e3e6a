#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convoke/core/settings.hpp"

namespace convoke::doctor {

/// kNote: worth knowing. kWarning: the job runs, slower or with less than it was given. kError: it cannot
/// succeed, or nobody can have meant it.
enum class Severity { kOk, kNote, kWarning, kError };

std::string_view to_string(Severity severity);

/// What a check has found out.
struct Finding {
  Severity severity = Severity::kOk;
  std::string subject = {};   ///< the check's name: "binding"
  std::string evidence = {};  ///< what was seen, with host, ranks and figures
  std::string remedy = {};    ///< the command or setting that mends it; empty if nothing is to be done
};

/// The gravest; kOk of none.
Severity worst(std::span<const Finding> findings);

/// As tables of severity, subject, evidence and remedy, and back.
Value::Array to_values(std::span<const Finding> findings);
std::vector<Finding> findings_from(const std::vector<Settings>& tables);

/// Exit code of `convoke doctor`: 0 for nothing worse than a note, 3 for warnings, 4 for errors.
int exit_code(Severity severity);

}  // namespace convoke::doctor
