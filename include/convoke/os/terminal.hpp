#pragma once
#include "convoke/os/file.hpp"

namespace convoke::os {

/// The terminal that this process' standard error ends up on, if any.
class Terminal {
 public:
  Terminal();

  /// Characters of a line; 0 if there is no terminal, or one that can only append.
  int width() const;

 private:
  File own_;             // of mpirun, opened here
  int descriptor_ = -1;  // its own, or standard error
};

}  // namespace convoke::os
