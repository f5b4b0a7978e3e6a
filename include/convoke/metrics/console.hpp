#pragma once
#include <functional>
#include <string_view>

namespace convoke::metrics {

/// Where progress is shown, and the clock it goes by.
struct Console {
  std::function<void(std::string_view)> write;
  std::function<double()> now;  ///< seconds from any start
  std::function<int()> width;   ///< columns of the terminal; 0: no terminal, write plain lines
};

/// stderr. It counts as a terminal also when it is a pipe to an mpirun whose own stderr is one.
Console standard_error();

}  // namespace convoke::metrics
