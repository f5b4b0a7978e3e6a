#pragma once
#include <sys/wait.h>

#include <cstdio>
#include <source_location>

#include "support/catch.hpp"
#include "support/files.hpp"
#include "support/text.hpp"

// Runs the real binary ($CONVOKE_BINARY) through the shell.

struct Outcome {
  int code = 0;
  std::string text;  ///< standard output and error

  bool says(const std::string& part) const { return contains(text, part); }
  int times(const std::string& part) const { return ::times(text, part); }

  // Checks. One that fails prints its line in the test, and the output.
  using Where = std::source_location;

  /// It ended with this code; the test ends if not.
  const Outcome& ends(int expected, Where where = Where::current()) const {
    INFO(where.file_name() << ":" << where.line() << ":\n" << text);
    REQUIRE(code == expected);
    return *this;
  }
  const Outcome& shows(const std::string& part, Where where = Where::current()) const {
    INFO(where.file_name() << ":" << where.line() << ":\n" << text);
    CHECK_THAT(text, Contains(part));
    return *this;
  }
  const Outcome& once(const std::string& part, Where where = Where::current()) const {
    INFO(where.file_name() << ":" << where.line() << ": " << part << "\nin:\n" << text);
    CHECK(times(part) == 1);
    return *this;
  }
  const Outcome& never(const std::string& part, Where where = Where::current()) const {
    INFO(where.file_name() << ":" << where.line() << ": " << part << "\nin:\n" << text);
    CHECK(times(part) == 0);
    return *this;
  }
  /// It ended with an error of one message.
  const Outcome& fails(const std::string& message, Where where = Where::current()) const {
    return ends(1, where).once(message, where);
  }
};

/// Open MPI 4 gives all programs without mpirun one folder, in which two that begin at once disturb each
/// other.
inline void use_own_mpi_folder() {
  static const TemporaryFolder folder;
  ::setenv("OMPI_MCA_orte_tmpdir_base", folder.path().c_str(), 1);
}

inline Outcome shell(const std::string& command) {
  use_own_mpi_folder();
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
  Outcome outcome;
  std::array<char, 4096> buffer{};
  while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    outcome.text.append(buffer.data(), count);
  }
  const int status = pclose(pipe);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

inline std::string binary() {
  const char* path = std::getenv("CONVOKE_BINARY");
  if (path == nullptr) throw std::runtime_error("CONVOKE_BINARY is not set");
  return path;
}

inline Outcome program(const std::string& arguments, const std::string& before = "") {
  return shell(before + " " + binary() + " " + arguments);
}

/// Before the program: MPI_Init fails. What works has not called it.
inline constexpr const char* kWithoutMpi = "OMPI_MCA_pml=none_such";

/// The launcher of the MPI library that the program was built with ($CONVOKE_MPIRUN).
inline std::string launcher() {
  const char* path = std::getenv("CONVOKE_MPIRUN");
  return path == nullptr ? "mpirun" : path;
}
inline bool launcher_is_hydra() {
  static const bool is = shell(launcher() + " --version").says("HYDRA");
  return is;
}

/// Before the program; more ranks than cores are allowed, and none is bound.
inline std::string mpirun() {
  return launcher() + (launcher_is_hydra() ? " " : " --oversubscribe --bind-to none ");
}
inline std::string mpirun(int ranks) { return mpirun() + "-n " + std::to_string(ranks); }

/// Returns the exit code of such a job when one of its ranks ends in an error with `code`. Open MPI 5's
/// mpirun is asked to end the job (mpi::Session::abort), and then always returns 1.
inline int code_under_mpirun(int code) {
  static const bool open_mpi_5 = shell(launcher() + " --version").says("Open MPI) 5");
  return open_mpi_5 ? 1 : code;
}
