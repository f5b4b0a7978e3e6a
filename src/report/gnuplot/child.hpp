#pragma once
#include <string>
#include <vector>

namespace convoke::report {

/// What a program that was run has answered.
struct Answer {
  int code = 0;           ///< its exit code; not 0 if it could not be run
  std::string text = {};  ///< its output and errors
};

/// Runs `program` (found in the PATH) with `input` as its standard input, and waits for it. No shell is
/// asked. Throws Error if there is no room for temporary files.
Answer run_child(const std::string& program, const std::vector<std::string>& arguments,
                 const std::string& input);

/// Whether there is such a program in the PATH.
bool is_installed(const std::string& program);

}  // namespace convoke::report
