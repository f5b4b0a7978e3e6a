#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace convoke::study {

/// Energy of this host's processors by RAPL (Running Average Power Limit of Intel and AMD, from the kernel's
/// /sys/class/powercap): whole packages with all cores and caches, including idle ones, and their memory if
/// it is counted separately.
class EnergyMeter {
 public:
  explicit EnergyMeter(const std::filesystem::path& powercap = "/sys/class/powercap");

  /// True if there are counters that this process can read.
  bool is_available() const { return !zones_.empty(); }

  /// Starts to count.
  void start();
  /// Counters wrap around after some minutes at full power: call this at least about once a minute.
  void update();
  /// Returns joules since start(); empty if the counters cannot be read (most systems allow only root).
  std::optional<double> joules();

 private:
  struct Zone {
    std::filesystem::path counter;
    std::uint64_t range = 0;  ///< microjoules, after which the counter wraps around
    std::uint64_t last = 0;
  };
  std::vector<Zone> zones_;
  std::uint64_t microjoules_ = 0;
  bool failed_ = false;
};

}  // namespace convoke::study
