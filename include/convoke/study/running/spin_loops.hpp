#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace convoke::study {

/// A loop of multiplications and additions without memory that, as training does, keeps the floating-point
/// units of a core busy in every cycle: it takes the same time whenever a core is there for it alone, at the
/// same clock, and longer beside another hardware thread that computes. (A chain in which each step waits for
/// the one before leaves units free, and does not feel such a neighbour.)
float spin(std::uint64_t iterations);

/// Seconds of that loop on each of `cores` (logical CPUs), in a thread of its own on each, from when all are
/// there.
std::vector<double> spin_on(std::span<const int> cores, std::uint64_t iterations);

/// What the loops take on a quiet machine, by the number of cores that are busy at once (clocks fall with
/// them). Says before and after a run whether something else was at work.
class SpinLoops {
 public:
  /// Loops of about `loop_seconds` on the first of `cores`; what was calibrated before, if `file` says so.
  SpinLoops(std::vector<int> cores, std::filesystem::path file, double loop_seconds = 0.02);

  /// The fastest of several on `busy` cores, since whatever else is at work can only add to it. Kept in the
  /// file: a resumed study judges by the same. At most once for each number of cores.
  void calibrate(std::int64_t busy);

  /// How much slower the slowest of `busy` cores is now than calibrated: 0.3 for 30 %. If it is faster, the
  /// machine was not quiet when it was calibrated: then this is the calibration from now on, and 0.
  double slowdown(std::int64_t busy);
  /// By how much calibrations were found to be too slow since this was last asked: 0.3 for 30 %.
  double take_correction() { return std::exchange(correction_, 0); }

  /// Keeps what slowdown() has corrected.
  void write() const;

  /// By number of busy cores, in seconds.
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
