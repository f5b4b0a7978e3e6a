#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace convoke::study {

/// Energy that the processors of this host take, by RAPL (Intel's and AMD's Running Average Power Limit, as
/// the kernel shows it in /sys/class/powercap): whole packages, with all of their cores and caches, idle ones
/// too, and their memory where that is counted apart.
class EnergyMeter {
 public:
  explicit EnergyMeter(const std::filesystem::path& powercap = "/sys/class/powercap");

  /// Begins to count.
  void start();
  /// Counters begin anew after some minutes at full power: call this about once a minute at least.
  void update();
  /// Joules since start(); nothing where the counters cannot be read (most systems let only root).
  std::optional<double> joules();

 private:
  struct Zone {
    std::filesystem::path counter;
    std::uint64_t range = 0;  ///< microjoules, after which it begins anew
    std::uint64_t last = 0;
  };
  std::vector<Zone> zones_;
  std::uint64_t microjoules_ = 0;
  bool failed_ = false;
};

}  // namespace convoke::study
