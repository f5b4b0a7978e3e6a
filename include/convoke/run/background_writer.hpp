#pragma once
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace convoke::run {

/// Writes files while training goes on: a thread of its own does one piece of work after the other. A failure
/// is kept as a text and never stops it. Used by one thread.
class BackgroundWriter {
 public:
  using Work = std::function<void()>;

  BackgroundWriter() = default;
  ~BackgroundWriter();  ///< finishes what was given
  BackgroundWriter(const BackgroundWriter&) = delete;
  BackgroundWriter& operator=(const BackgroundWriter&) = delete;

  /// True once the work that was given before is done; false if it is not after `patience`.
  bool ready(std::chrono::milliseconds patience);
  /// Takes work that owns all it needs, when the work before is done.
  void give(Work work);
  /// Returns when all that was given is done.
  void wait();
  /// What has failed since this was last asked.
  std::vector<std::string> failures();
  /// Seconds that the longest piece of work has taken.
  double longest_seconds();

 private:
  void serve();
  void carry_out(const Work& work);

  std::mutex mutex_;
  std::condition_variable changed_;
  Work work_;  // under way, or to be begun; empty: there is none
  std::vector<std::string> failures_;
  double longest_seconds_ = 0;
  bool ends_ = false;
  std::thread thread_;  // begins with the first work
};

}  // namespace convoke::run
