#include "convoke/doctor/processor.hpp"

#include "convoke/os/processors.hpp"
#include "doctor/told.hpp"
#include "support/files.hpp"

namespace doctor = convoke::doctor;
using doctor::Processor;

namespace {

Processor on(const std::string& host, double ghz = 3, const std::string& set = "avx2") {
  return {.host = host, .instruction_set = set, .model = "CPU", .measured_ghz = ghz};
}

}  // namespace

TEST_CASE("ranks of different instruction sets are found") {
  CHECK_THAT(told(doctor::check_processors({on("alpha", 3, "avx512_core"), on("beta"), on("beta")})),
             StartsWith("warning: ") && Contains("avx2 on beta; avx512_core on alpha"));
  CHECK_THAT(told(doctor::check_processors({on("alpha"), on("beta")})), StartsWith("ok: "));
}

TEST_CASE("slow hosts and governors that keep the clock low are found") {
  CHECK_THAT(told(doctor::check_processors({on("alpha", 3.5), on("beta", 2.2)})),
             StartsWith("warning: beta: a busy core runs at 2.20 GHz, but at 3.50 GHz on the fastest host"));

  Processor host = on("alpha", 1.2);
  host.governor = "powersave", host.driver = "acpi-cpufreq", host.largest_ghz = 3.6;
  const auto low = doctor::check_processors({host, host});
  REQUIRE(low.size() == 3);  // the governor once, and the clock of each rank that measured
  CHECK_THAT(
      told(low[0]),
      StartsWith("warning: alpha: the frequency governor of the processor is powersave, which keeps the "
                 "clock low | cpupower frequency-set -g performance"));
  CHECK_THAT(told(low[1]),
             StartsWith("note: alpha: a busy core runs at 1.20 GHz; the maximum is 3.60 GHz |"));
  host = on("alpha"), host.governor = "powersave", host.driver = "intel_pstate";
  CHECK_THAT(told(doctor::check_processors({host})[0]), StartsWith("ok: "));
  host.model.clear(), host.measured_ghz = 0;  // unknown
  CHECK(doctor::check_processors({host})[0].evidence == "avx2 on all ranks");
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
