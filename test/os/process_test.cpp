#include "convoke/os/process.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "convoke/os/environment.hpp"
#include "support/catch.hpp"
#include "support/variable.hpp"

using namespace convoke;

TEST_CASE("number and start identify a process while it runs") {
  CHECK(os::process_number() == ::getpid());
  CHECK_FALSE(os::start_of_process(::getpid()).empty());
  CHECK(os::start_of_process(0).empty());
  CHECK_FALSE(os::parent_name().empty());

  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  CHECK(os::has_children(::getpid()));
  const std::string started = os::start_of_process(child);
  CHECK_FALSE(started.empty());
  ::kill(child, SIGSTOP);
  CHECK(os::start_of_process(child) == started);  // stopped, not dead
  ::kill(child, SIGKILL);
  siginfo_t ended{};
  ::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT);  // and not reaped
  CHECK(os::start_of_process(child).empty());
  CHECK_FALSE(os::has_children(::getpid()));
  ::waitpid(child, nullptr, 0);
  CHECK(os::start_of_process(child).empty());
}

TEST_CASE("numbers of nodes are read in Slurm's notation") {
  using Numbers = std::vector<std::int64_t>;
  const Variable set("CONVOKE_TEST_VARIABLE", "4(x2),3");
  CHECK(os::repeated_numbers_in("CONVOKE_TEST_VARIABLE") == Numbers{4, 4, 3});
  const Variable none("CONVOKE_TEST_VARIABLE", std::nullopt);
  CHECK(os::repeated_numbers_in("CONVOKE_TEST_VARIABLE").empty());
}

TEST_CASE("an empty variable counts as not set") {
  const Variable set("CONVOKE_TEST_VARIABLE", "12 apples");
  CHECK(os::variable("CONVOKE_TEST_VARIABLE") == "12 apples");
  CHECK(os::number_in("CONVOKE_TEST_VARIABLE") == 12);
  os::set_default("CONVOKE_TEST_VARIABLE", "13");
  CHECK(os::number_in("CONVOKE_TEST_VARIABLE") == 12);
  const Variable empty("CONVOKE_TEST_VARIABLE", "");
  CHECK_FALSE(os::variable("CONVOKE_TEST_VARIABLE"));
  const Variable words("CONVOKE_TEST_VARIABLE", "apples");
  CHECK_FALSE(os::number_in("CONVOKE_TEST_VARIABLE"));
  const Variable none("CONVOKE_TEST_VARIABLE", std::nullopt);
  CHECK_FALSE(os::variable("CONVOKE_TEST_VARIABLE"));
  os::set_default("CONVOKE_TEST_VARIABLE", "13");
  CHECK(os::number_in("CONVOKE_TEST_VARIABLE") == 13);
  CHECK_FALSE(os::host_name().empty());
}
