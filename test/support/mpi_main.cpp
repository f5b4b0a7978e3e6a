// The main function of test programs under mpirun. Every rank runs the same tests. Prints the output of rank
// 0, and that of other ranks only if a check failed there; the exit code is that of the worst rank.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

#include "convoke/core/error.hpp"
#include "convoke/mpi/session.hpp"
#include "support/run_tests.hpp"

namespace {

/// Captures standard output from now on, in a file without a name.
class Capture {
 public:
  Capture() : file_(std::tmpfile()), output_(dup(STDOUT_FILENO)) {
    if (file_ == nullptr || output_ < 0) throw convoke::Error("cannot capture this rank's output");
    std::fflush(stdout);
    dup2(fileno(file_), STDOUT_FILENO);
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  ~Capture() { std::fclose(file_); }

  /// Restores standard output; returns the captured text.
  std::string release() {
    std::fflush(stdout);
    dup2(output_, STDOUT_FILENO);
    close(output_);
    std::string text;
    std::array<char, 4096> block{};
    std::rewind(file_);
    while (const std::size_t n = std::fread(block.data(), 1, block.size(), file_))
      text.append(block.data(), n);
    return text;
  }

 private:
  std::FILE* file_;
  int output_;
};

int run_quietly(int argc, char** argv, int rank) {
  Capture capture;
  const int failures = run_tests(argc, argv);
  const std::string text = capture.release();
  if (failures != 0) {
    std::printf("---- rank %d ----\n%s", rank, text.c_str());
    std::fflush(stdout);
  }
  return failures;
}

}  // namespace

int main(int argc, char** argv) {
  const convoke::mpi::Session session;
  try {
    const convoke::mpi::Communicator& world = session.world();
    const int failures = world.root() ? run_tests(argc, argv) : run_quietly(argc, argv, world.rank());
    double worst = failures;
    world.max(std::span<double>(&worst, 1));
    return std::min(static_cast<int>(worst), 255);
  } catch (const std::exception& error) {
    convoke::mpi::Session::abort(error);
  }
}
