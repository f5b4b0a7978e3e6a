#pragma once
#include "convoke/os/file.hpp"

namespace convoke::os {

/// The terminal that shows this process's standard error, if any.
class Terminal {
 public:
  Terminal();

  /// Returns the number of characters of a line; 0 if there is no terminal, or one that can only append.
  int width() const;

 private:
  File own_;             // mpirun's, opened here
  int descriptor_ = -1;  // that one, or standard error
};

}  // namespace convoke::os
