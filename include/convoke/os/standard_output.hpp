#pragma once
#include "convoke/os/file.hpp"

namespace convoke::os {

/// Writes to the system what was printed to standard output. Throws Error with the reason if a part of it,
/// now or earlier, was not written, for example because the disk is full.
void flush_standard_output();

/// True if a write to standard output has failed.
bool standard_output_failed();

/// Occupies the numbers of the standard streams that the parent process closed, or the first file that is
/// opened would get one of them, and what is printed would go into it. Writes to these streams still fail.
void occupy_standard_streams();

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
