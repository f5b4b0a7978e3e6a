#pragma once
#include "convoke/doctor/finding.hpp"
#include "support/catch.hpp"

/// Returns a finding as "severity: evidence | fix".
inline std::string told(const convoke::doctor::Finding& finding) {
  return fmt::format("{}: {} | {}", to_string(finding.severity), finding.evidence, finding.fix);
}

/// The same of the only finding of a check; the test ends if there is none or another one.
inline std::string told(const std::vector<convoke::doctor::Finding>& found) {
  REQUIRE(found.size() == 1);
  return told(found.front());
}
