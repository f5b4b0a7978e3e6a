#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace convoke::study {

/// A loop of multiplications and additions without memory access that, like training, keeps the
/// floating-point units of a core busy in every cycle. It takes the same time whenever it has a core for
/// itself at the same clock, and longer if another hardware thread of the core computes. (A chain in which
/// each step waits for the previous one leaves units free, and would not notice such a thread.)
float spin(std::uint64_t iterations);

/// The times of the loops on a quiet machine, by the number of busy cores (which lowers the clock). Detects
/// before and after a run whether other programs use the machine.
class SpinLoops {
 public:
  /// Uses loops of about `loop_seconds` on the first of `cores`; reads earlier calibrations from `file`.
  SpinLoops(std::vector<int> cores, std::filesystem::path file, double loop_seconds = 0.02);

  /// Calibrates `busy` cores with the fastest of several loops, because other programs can only slow them
  /// down. Stores the result in the file, so that a resumed study uses the same. At most once for each number
  /// of cores.
  void calibrate(std::int64_t busy);

  /// Returns how much slower the slowest of `busy` cores is now than calibrated: 0.3 for 30 %. If it is
  /// faster, the machine was not quiet during calibration: then this time becomes the calibration, and 0 is
  /// returned.
  double slowdown(std::int64_t busy);
  /// Returns by how much calibrations were too slow since the last call: 0.3 for 30 %.
  double take_correction() { return std::exchange(correction_, 0); }

  /// Stores the corrections of slowdown().
  void write() const;

  /// Calibrated seconds by number of busy cores.
  const std::map<std::int64_t, double>& calibrated() const { return calibrated_; }

 private:
  std::span<const int> first(std::int64_t busy) const;
  void read();

  std::vector<int> cores_;
  std::filesystem::path file_;
  std::uint64_t iterations_ = 0;
  std::map<std::int64_t, double> calibrated_;
  double correction_ = 0;
};

}  // namespace convoke::study
