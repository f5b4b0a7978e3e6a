#include "convoke/study/running/energy_meter.hpp"

#include <fstream>
#include <string>
#include <system_error>

namespace convoke::study {
namespace {

namespace fs = std::filesystem;

std::optional<std::uint64_t> number_in(const fs::path& file) {
  std::uint64_t number = 0;
  if (std::ifstream in(file); in >> number) return number;
  return std::nullopt;
}

std::string word_in(const fs::path& file) {
  std::string word;
  std::ifstream(file) >> word;
  return word;
}

}  // namespace

// Zones are intel-rapl:0 (a package), intel-rapl:0:1 (a part of it); "psys" is the whole system including
// packages. A package's counter includes its cores but not its memory ("dram").
EnergyMeter::EnergyMeter(const fs::path& powercap) {
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(powercap, missing)) {
    const std::string folder = entry.path().filename().string();
    if (!folder.starts_with("intel-rapl:") && !folder.starts_with("amd-rapl:")) continue;
    const std::string name = word_in(entry.path() / "name");
    if (!name.starts_with("package") && name != "dram") continue;
    const fs::path counter = entry.path() / "energy_uj";
    if (!number_in(counter)) continue;
    zones_.push_back({counter, number_in(entry.path() / "max_energy_range_uj").value_or(0)});
  }
}

void EnergyMeter::start() {
  microjoules_ = 0;
  failed_ = false;
  for (Zone& zone : zones_) {
    const auto now = number_in(zone.counter);
    failed_ = failed_ || !now;
    zone.last = now.value_or(0);
  }
}

void EnergyMeter::update() {
  for (Zone& zone : zones_) {
    const auto now = number_in(zone.counter);
    if (!now || (*now < zone.last && zone.range < zone.last)) {  // the range may be unknown
      failed_ = true;
      continue;
    }
    microjoules_ += *now >= zone.last ? *now - zone.last : zone.range - zone.last + *now;
    zone.last = *now;
  }
}

std::optional<double> EnergyMeter::joules() {
  update();
  if (zones_.empty() || failed_) return std::nullopt;
  return static_cast<double>(microjoules_) * 1e-6;
}

}  // namespace convoke::study
