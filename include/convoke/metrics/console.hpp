#pragma once
#include <functional>
#include <string_view>

namespace convoke::metrics {

/// The output for progress, and its clock.
struct Console {
  std::function<void(std::string_view)> write;
  std::function<double()> now;  ///< seconds from any start
  std::function<int()> width;   ///< columns of the terminal; 0: no terminal, write plain lines
};

/// Returns the console of standard error. A pipe to an mpirun whose own standard error is a terminal counts
/// as this terminal.
Console standard_error();

}  // namespace convoke::metrics
