#include "convoke/doctor/processor.hpp"

#include "convoke/os/processors.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"

namespace doctor = convoke::doctor;
using doctor::Processor;
using doctor::Severity;

namespace {

Processor on(const std::string& host, double ghz = 3, const std::string& set = "avx2") {
  return {.host = host, .instruction_set = set, .model = "CPU", .measured_ghz = ghz};
}

}  // namespace

TEST_CASE("ranks of different instruction sets are found") {
  const auto found = doctor::check_processors({on("alpha", 3, "avx512_core"), on("beta"), on("beta")});
  REQUIRE(found.size() == 1);
  CHECK(found[0].severity == Severity::kWarning);
  CHECK_THAT(found[0].evidence, Contains("avx2 on beta; avx512_core on alpha"));
  const auto alike = doctor::check_processors({on("alpha"), on("beta")});
  REQUIRE(alike.size() == 1);
  CHECK(alike[0].severity == Severity::kOk);
}

TEST_CASE("slow hosts and governors that keep the clock low are found") {
  const auto slow = doctor::check_processors({on("alpha", 3.5), on("beta", 2.2)});
  REQUIRE(slow.size() == 1);
  CHECK(slow[0].severity == Severity::kWarning);
  CHECK(slow[0].evidence.find("beta: a busy core runs at 2.20 GHz, but at 3.50 GHz on the fastest host") ==
        0);

  Processor host = on("alpha", 1.2);
  host.governor = "powersave", host.driver = "acpi-cpufreq", host.largest_ghz = 3.6;
  const auto low = doctor::check_processors({host, host});
  REQUIRE(low.size() == 3);  // the governor once, and the clock of each rank that measured
  CHECK(low[0].severity == Severity::kWarning);
  CHECK(low[0].evidence ==
        "alpha: the frequency governor of the processor is powersave, which keeps the clock low");
  CHECK(low[0].fix.find("cpupower frequency-set -g performance") == 0);
  CHECK(low[1].severity == Severity::kNote);
  CHECK(low[1].evidence == "alpha: a busy core runs at 1.20 GHz; the maximum is 3.60 GHz");
  host = on("alpha"), host.governor = "powersave", host.driver = "intel_pstate";
  CHECK(doctor::check_processors({host})[0].severity == Severity::kOk);
}

TEST_CASE("governor and clock are read from the kernel, and a clock is measured") {
  const TemporaryFolder system;
  const int cpu = convoke::os::allowed_cpus().front();
  const auto folder = system / ("cpu/cpu" + std::to_string(cpu) + "/cpufreq");
  fs::create_directories(folder);
  std::ofstream(folder / "scaling_governor") << "ondemand\n";
  std::ofstream(folder / "scaling_driver") << "acpi-cpufreq\n";
  std::ofstream(folder / "cpuinfo_max_freq") << "3600000\n";
  const Processor seen = doctor::probe_processor(true, system.path());
  CHECK(seen.governor == "ondemand");
  CHECK(seen.driver == "acpi-cpufreq");
  CHECK(seen.largest_ghz == 3.6);
  CHECK(seen.measured_ghz > 0.05);  // on any machine
  CHECK(seen.measured_ghz < 20);
  CHECK_FALSE(seen.instruction_set.empty());
  CHECK(doctor::probe_processor(false, system / "none").measured_ghz == 0);
}
