#include "convoke/study/analysis/audit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "convoke/core/text.hpp"
#include "study/analysis/derivation.hpp"

namespace convoke::study {
namespace {

Agreement agreement(const Printed& printed, const Range& derived) {
  const double half =
      printed.half_unit + 1e-9 * std::max(1.0, std::abs(printed.value));  // tolerance for binary fractions
  if (std::abs(derived.value - printed.value) <= half) return Agreement::kPrinted;
  const Range range{printed.value, printed.value - half, printed.value + half};
  return overlap(range, derived) ? Agreement::kRounding : Agreement::kDifferent;
}

// Formats a number with as many digits as were printed.
std::string like(const Printed& printed, double value) {
  return fmt::format("{:.{}f}", value, std::min(digits_of(printed.half_unit), 9));
}

std::vector<Check> checks_by(const Definition& definition, std::string_view column, const Rows& rows) {
  std::vector<Check> checks;
  for (const TableRow& row : rows) {
    const Printed* printed = row.find(column);
    const auto derived = printed == nullptr ? std::nullopt : definition.derive(rows, row);
    if (!derived) continue;
    checks.push_back({row.where, name_of(row), std::string(column), definition.name, printed->value,
                      derived->value, agreement(*printed, *derived)});
  }
  return checks;
}

// Describes a figure that does not follow: the derived value, and another definition that gives the printed
// one.
AuditFinding contradiction(const Check& check, const Definition& best, const std::vector<Definition>& all,
                           const Rows& rows, const TableRow& row) {
  const Printed& printed = *row.find(check.column);
  std::string text = fmt::format("{} is printed, but {} gives {}", like(printed, printed.value), best.name,
                                 like(printed, check.derived));
  for (const Definition& other : all) {
    const auto derived = &other == &best ? std::nullopt : other.derive(rows, row);
    if (!derived) continue;
    text += fmt::format(
        "; {} gives {}{}", other.name, like(printed, derived->value),
        agreement(printed, *derived) == Agreement::kDifferent ? "" : ", which is the printed value");
  }
  return {true, fmt::format("{} of {}", check.column, check.row), text};
}

// Describes a column that follows from an unusual definition.
AuditFinding unusual(std::string_view column, const Definition& definition, const Rows& rows) {
  constexpr std::size_t kExamples = 4;
  std::vector<std::string> examples;
  for (const TableRow& row : rows) {
    const Printed* printed = row.find(column);
    const auto usual = printed == nullptr ? std::nullopt : definition.usual(rows, row);
    if (!usual || agreement(*printed, *usual) != Agreement::kDifferent || examples.size() == kExamples)
      continue;
    examples.push_back(fmt::format("{} instead of {} for {}", like(*printed, usual->value),
                                   like(*printed, printed->value), name_of(row)));
  }
  std::string text = fmt::format("is {} in every row", definition.name);
  if (!examples.empty()) text += fmt::format("; {} gives {}", definition.usual_name, join(examples, "; "));
  return {!examples.empty(), std::string(column), text};
}

// Checks a column by the definition that fits most of it; among equals by the one with the most exact
// figures, and then by the first.
void check_column(std::string_view column, const Rows& rows, Audit& audit) {
  const std::vector<Definition> all = definitions(column, rows);
  const Definition* best = nullptr;
  std::vector<Check> checks;
  std::tuple<std::int64_t, std::int64_t> most{-1, -1};
  for (const Definition& definition : all) {
    std::vector<Check> candidate = checks_by(definition, column, rows);
    const auto exact = std::ranges::count(candidate, Agreement::kPrinted, &Check::agreement);
    const auto rounded = std::ranges::count(candidate, Agreement::kRounding, &Check::agreement);
    if (candidate.empty() || std::tuple(exact + rounded, exact) <= most) continue;
    most = {exact + rounded, exact};
    best = &definition;
    checks = std::move(candidate);
  }
  if (best == nullptr) return;
  auto check = checks.begin();  // in the order of the rows, of which some have none
  for (const TableRow& row : rows) {
    if (check == checks.end() || check->where != row.where) continue;
    if (check->agreement == Agreement::kDifferent)
      audit.findings.push_back(contradiction(*check, *best, all, rows, row));
    ++check;
  }
  if (best->usual) audit.findings.push_back(unusual(column, *best, rows));
  audit.checks.insert(audit.checks.end(), checks.begin(), checks.end());
}

}  // namespace

std::string_view to_string(Agreement agreement) {
  constexpr std::array<std::string_view, 3> kNames{"as printed", "within rounding", "does not follow"};
  return kNames[static_cast<std::size_t>(agreement)];
}

Audit audit(std::span<const TableRow> table) {
  std::vector<TableRow> counting;  // counted as in the configurations: without failed runs, and without
                                   // contended ones if there are others
  for (const TableRow& row : table) {
    const Measurement& m = row.measurement;
    const auto has_others = [&] {
      return std::ranges::any_of(table, [&](const TableRow& other) {
        return !other.measurement.has_mark("contended") && !other.measurement.has_mark("failed") &&
               coordinates(other.measurement) == coordinates(m);
      });
    };
    if (!m.has_mark("failed") && !(m.has_mark("contended") && has_others())) counting.push_back(row);
  }
  const Rows rows(counting);
  Audit result;
  for (const std::string_view column : kDerivedColumns) check_column(column, rows, result);
  for (const auto suspicion : {means_over_ranks, impossible_speedups, free_preemptions}) {
    for (AuditFinding& finding : suspicion(rows)) result.findings.push_back(std::move(finding));
  }
  return result;
}

}  // namespace convoke::study
