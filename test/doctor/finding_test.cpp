#include "convoke/doctor/finding.hpp"

#include "convoke/doctor/examination.hpp"
#include "convoke/metrics/json.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

namespace doctor = convoke::doctor;
using doctor::Finding;
using doctor::Severity;

TEST_CASE("findings are sent unchanged, and the most severe one decides") {
  const std::vector<Finding> findings{{Severity::kOk, "launcher", "1 rank", ""},
                                      {Severity::kWarning, "binding", "crowded \"core\"", "mpirun"},
                                      {Severity::kNote, "quota", "2.0 CPUs", ""}};
  const convoke::Settings back = convoke::metrics::settings_from_json(
      convoke::metrics::to_json({{"findings", doctor::to_values(findings)}}), "test");
  convoke::SettingsReader read(back, "test");
  const std::vector<Finding> again = doctor::findings_from(read.tables("findings"));
  REQUIRE(again.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(again[i].severity == findings[i].severity);
    CHECK(again[i].subject == findings[i].subject);
    CHECK(again[i].evidence == findings[i].evidence);
    CHECK(again[i].fix == findings[i].fix);
  }
  CHECK(doctor::worst(findings) == Severity::kWarning);
  CHECK(doctor::exit_code(doctor::worst({})) == 0);
  CHECK(doctor::exit_code(Severity::kNote) == 0);
  CHECK(doctor::exit_code(Severity::kWarning) == 3);
  CHECK(doctor::exit_code(Severity::kError) == 4);
}

TEST_CASE("a job prints only warnings and errors, and an error ends it unless ignored") {
  const std::vector<Finding> findings{{Severity::kOk, "launcher", "1 rank", ""},
                                      {Severity::kNote, "quota", "2.0 CPUs", ""},
                                      {Severity::kWarning, "binding", "crowded", "mpirun"},
                                      {Severity::kError, "launcher", "alone", "srun"}};
  CHECK(doctor::short_text(findings) == "warning: crowded\n  hint: mpirun\nerror: alone\n  hint: srun\n");
  CHECK(doctor::short_text(std::span(findings).first(2)).empty());
  CHECK(error_of([&] { doctor::require_health(findings, false); }) == "alone");
  CHECK_NOTHROW(doctor::require_health(findings, true));
  CHECK_NOTHROW(doctor::require_health(std::span(findings).first(3), false));
}
