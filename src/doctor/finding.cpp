#include "convoke/doctor/finding.hpp"

#include <algorithm>
#include <array>

#include "convoke/core/keys.hpp"

namespace convoke::doctor {
namespace {

constexpr std::array kNames{Named<Severity>{"ok", Severity::kOk}, Named<Severity>{"note", Severity::kNote},
                            Named<Severity>{"warning", Severity::kWarning},
                            Named<Severity>{"error", Severity::kError}};

}  // namespace

std::string_view to_string(Severity severity) { return kNames[static_cast<std::size_t>(severity)].name; }

Severity worst(std::span<const Finding> findings) {
  Severity gravest = Severity::kOk;
  for (const Finding& finding : findings) gravest = std::max(gravest, finding.severity);
  return gravest;
}

Value::Array to_values(std::span<const Finding> findings) {
  Value::Array list;
  for (const Finding& finding : findings) {
    list.emplace_back(Settings{{"severity", to_string(finding.severity)},
                               {"subject", finding.subject},
                               {"evidence", finding.evidence},
                               {"fix", finding.fix}});
  }
  return list;
}

std::vector<Finding> findings_from(const std::vector<Settings>& tables) {
  std::vector<Finding> findings;
  for (const Settings& table : tables) {
    SettingsReader read(table, "finding");
    findings.push_back({find_in(kNames, read.require_string("severity"), "severity").value,
                        read.require_string("subject"), read.require_string("evidence"),
                        read.require_string("fix")});
    read.finish();
  }
  return findings;
}

int exit_code(Severity severity) {
  constexpr int kWarnings = 3, kErrors = 4;
  return severity == Severity::kError ? kErrors : severity == Severity::kWarning ? kWarnings : 0;
}

}  // namespace convoke::doctor
