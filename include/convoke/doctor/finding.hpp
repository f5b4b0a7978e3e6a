#pragma once
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convoke/core/settings.hpp"

namespace convoke::doctor {

/// kNote: worth knowing. kWarning: the job runs, but slower than it could. kError: the job cannot succeed, or
/// the way it was started is surely a mistake.
enum class Severity { kOk, kNote, kWarning, kError };

std::string_view to_string(Severity severity);

/// The result of a check.
struct Finding {
  Severity severity = Severity::kOk;
  std::string subject = {};   ///< the check's name: "binding"
  std::string evidence = {};  ///< the facts, with host, ranks and numbers
  std::string fix = {};       ///< the command or setting that fixes it; empty: nothing to do
};

inline Finding ok(std::string subject, std::string evidence) {
  return {Severity::kOk, std::move(subject), std::move(evidence)};
}
inline Finding note(std::string subject, std::string evidence, std::string fix = {}) {
  return {Severity::kNote, std::move(subject), std::move(evidence), std::move(fix)};
}
inline Finding warning(std::string subject, std::string evidence, std::string fix) {
  return {Severity::kWarning, std::move(subject), std::move(evidence), std::move(fix)};
}
inline Finding error(std::string subject, std::string evidence, std::string fix) {
  return {Severity::kError, std::move(subject), std::move(evidence), std::move(fix)};
}

/// The highest severity; kOk if there are no findings.
Severity worst(std::span<const Finding> findings);

/// Findings as tables of severity, subject, evidence and fix, and back.
Value::Array to_values(std::span<const Finding> findings);
std::vector<Finding> findings_from(const std::vector<Settings>& tables);

/// Exit code of `convoke doctor`: 3 for warnings, 4 for errors, else 0.
int exit_code(Severity severity);

}  // namespace convoke::doctor
