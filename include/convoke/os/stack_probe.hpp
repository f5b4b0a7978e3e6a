#pragma once
#include <chrono>
#include <csignal>
#include <string>
#include <vector>

namespace convoke::os {

/// Shows where the thread that made it is, to another thread: a signal makes the thread write its return
/// addresses to memory that was prepared before. Only one such object may exist at a time. The signal is
/// SIGURG, which does nothing if it comes late. The handler runs on the stack of os::StopSignals, if that
/// exists.
class StackProbe {
 public:
  StackProbe();
  ~StackProbe();
  StackProbe(const StackProbe&) = delete;
  StackProbe& operator=(const StackProbe&) = delete;

  /// Returns the calls of that thread, the innermost first: "libmpi.so.40: PMPI_Barrier + 0x91"; empty if the
  /// thread does not answer within `patience`. Call it from one other thread.
  std::vector<std::string> calls(std::chrono::milliseconds patience) const;

 private:
  pthread_t thread_;
  struct sigaction before_ {};
};

}  // namespace convoke::os
