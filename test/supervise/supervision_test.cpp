#include "convoke/supervise/supervision.hpp"

#include <csignal>

#include "convoke/core/text.hpp"
#include "convoke/supervise/exit_status.hpp"
#include "convoke/supervise/launch_command.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"
#include "support/text.hpp"

using namespace convoke::supervise;

namespace {

using Hosts = std::vector<LaunchHost>;

Attempt killed(std::int64_t steps) { return {137, "a rank was killed", true, false, 4, steps, 0}; }

std::string text_of(const LaunchCommand& command) { return convoke::join(command.words(), " "); }

}  // namespace

TEST_CASE("the waits between restarts double while there is no progress, and begin again after some") {
  Supervision supervision(9, 5, 100);
  CHECK(supervision.after(killed(200)).wait_seconds == 5);
  CHECK(supervision.after(killed(200)).wait_seconds == 5);
  CHECK(supervision.after(killed(300)).wait_seconds == 5);
  CHECK(supervision.after(killed(300)).wait_seconds == 5);
  const Supervision::Decision last = supervision.after(killed(300));
  CHECK_FALSE(last.again);
  CHECK(last.why_not == "2 restarts in a row reached no new checkpoint");

  Supervision from_the_start(9, 5, 0);
  CHECK(from_the_start.after(killed(0)).wait_seconds == 5);
  CHECK(from_the_start.after(killed(0)).wait_seconds == 10);
  CHECK(from_the_start.after(killed(7)).again);
}

TEST_CASE("supervision ends after its restarts, and at once for an error of the command") {
  Supervision two(2, 1, 0);
  CHECK(two.after(killed(1)).again);
  CHECK(two.after(killed(2)).again);
  CHECK(two.after(killed(3)).why_not == "restart 2 of 2 is used");
  CHECK(two.attempts().size() == 3);
  CHECK(two.table() ==
        "attempt  exit code  ranks  checkpoint at step          time  reason\n"
        "      1        137      4                   1          0 ms  a rank was killed\n"
        "      2        137      4                   2          0 ms  a rank was killed\n"
        "      3        137      4                   3          0 ms  a rank was killed\n");

  CHECK(Supervision(0, 1, 0).after(killed(1)).why_not == "no restart is allowed");
  CHECK(Supervision(5, 1, 0).after({1, "an error", false, false, 0, 0, 0}).why_not == "an error");
}

TEST_CASE("an attempt that was asked to stop costs no restart, but needs a newer checkpoint") {
  const auto asked = [](std::int64_t steps) { return Attempt{85, "stopped", true, true, 4, steps, 0}; };
  Supervision one(1, 5, 0);
  for (std::int64_t steps = 1; steps < 10; ++steps) {
    const Supervision::Decision next = one.after(asked(steps));
    CHECK(next.again);
    CHECK(next.wait_seconds == 0);
  }
  CHECK(one.after(killed(20)).again);
  CHECK(one.after(asked(21)).again);
  CHECK(one.after(killed(30)).why_not == "restart 1 of 1 is used");
  Supervision idle(9, 5, 0);
  CHECK(idle.after(asked(5)).again);
  CHECK(idle.after(asked(5)).why_not == "it reached no new checkpoint");
}

TEST_CASE("restarts.log keeps the attempts of a job") {
  const TemporaryFolder folder;
  CHECK(restarts_of(folder.path(), "88").empty());
  append_restart(folder.path(), {.code = 85, .reason = "stopped", .asked = true, .steps = 7}, "88");
  append_restart(folder.path(), {.code = 137, .reason = "a: b", .steps = 9}, "89");
  append_restart(folder.path(), {.code = 137, .reason = "a: b", .steps = 9});
  std::ofstream(folder / "restarts.log", std::ios::app) << "lost a node or a rank\njob 88: exit code 1\n";
  append_restart(folder.path(), {.code = 205, .reason = "a: b", .steps = 12}, "88");
  const std::vector<Attempt> attempts = restarts_of(folder.path(), "88");
  REQUIRE(attempts.size() == 2);
  CHECK(attempts[0].asked);
  CHECK(attempts[0].steps == 7);
  CHECK_FALSE(attempts[1].asked);
  CHECK(attempts[1].curable);
  CHECK(attempts[1].code == 205);
  CHECK(attempts[1].reason == "a: b");
  CHECK(attempts[1].steps == 12);
  CHECK(restarts_of(folder.path(), "89").size() == 1);
  CHECK_FALSE(append_restart(folder / "nowhere", attempts[0], "88"));
  fs::create_directory(folder / "full");
  fs::create_symlink("/dev/full", folder / "full/restarts.log");
  CHECK_FALSE(append_restart(folder / "full", attempts[0], "88"));
}

TEST_CASE("exit codes tell whether a restart helps") {
  CHECK(classify_exit(0).action == RecoveryAction::kNone);
  for (const int code : {1, 2, 126, 127}) CHECK(classify_exit(code).action == RecoveryAction::kCorrect);
  for (const int code : {85, 128 + SIGINT, 128 + SIGUSR1})
    CHECK(classify_exit(code).action == RecoveryAction::kResume);
  for (const int code : {87, 134, 135, 137, 139, 143, 205, 255})
    CHECK(classify_exit(code).action == RecoveryAction::kRestart);
  CHECK(classify_exit(139).reason == "a rank was killed (SIGSEGV)");
}

TEST_CASE("a launcher that ends with 1 after a stall ends as the stall does") {
  const TemporaryFolder run;
  fs::create_directory(run / ".heartbeats");
  CHECK(classify_exit(1, run.path()).action == RecoveryAction::kCorrect);
  fs::create_directory(run / ".heartbeats/reported");
  CHECK(classify_exit(1, run.path()).action == RecoveryAction::kRestart);
  CHECK(classify_exit(2, run.path()).action == RecoveryAction::kCorrect);
}

TEST_CASE("a command names its run folder, ranks and hosts") {
  const LaunchCommand plain(words_in("/bin/convoke train a.toml --output=runs/a"));
  CHECK(plain.run() == "runs/a");
  CHECK(plain.ranks() == 0);
  CHECK_FALSE(plain.by_mpirun());
  CHECK(text_of(plain.again({}, {})) == "/bin/convoke train a.toml --output=runs/a --resume");

  const LaunchCommand resumed(words_in("convoke train --resume runs/b"));
  CHECK(resumed.run() == "runs/b");
  CHECK(resumed.again({}, {}).words() == resumed.words());

  const LaunchCommand ranks(words_in(
      "env A=1 mpirun.openmpi --mca plm_rsh_agent rsh -np 4 --host a:2,b,b apptainer exec convoke.sif convoke "
      "train x --resume --output r"));
  CHECK(ranks.run() == "r");
  CHECK(ranks.ranks() == 4);
  CHECK(ranks.by_mpirun());
  CHECK(ranks.agent() == "rsh");
  CHECK(ranks.hosts() == Hosts{{"a", 2}, {"b", 2}});

  // Options of a program before the launcher are no options of the launcher.
  CHECK(LaunchCommand(words_in("nice -n 10 mpirun -n 4 convoke train x --output r")).ranks() == 4);
  CHECK(LaunchCommand(words_in("nice -n 10 convoke train x --output r")).ranks() == 0);
  const char* timed = "time -o mpirun.log nice -n 10 mpirun -n 4 convoke train x --output r";
  CHECK(LaunchCommand(words_in(timed)).ranks() == 4);

  const auto run = [](const std::string& command) { return LaunchCommand(words_in(command)).run().string(); };
  CHECK(run("mpirun -n 2 -wdir w convoke train x --output r") == "w/r");
  CHECK(run("mpirun --wdir w convoke train --resume /r") == "/r");
  CHECK(run("srun --chdir=/w -n 2 convoke train x --output r") == "/w/r");

  const auto refusal = [](const char* command) {
    return error_of([&] { const LaunchCommand refused(words_in(command)); });
  };
  CHECK(refusal("convoke evaluate r").starts_with("the command contains no `convoke train`"));
  for (const char* command : {"convoke train x", "convoke train x --resume", "convoke train x --resume auto"})
    CHECK(refusal(command).starts_with("the command names no run folder"));
}

TEST_CASE("a command continues on the hosts that are left, with ranks for their slots") {
  const auto again = [](const std::string& options, const Hosts& left) {
    const LaunchCommand command(words_in("mpirun " + options + " convoke train x --output r"));
    return text_of(command.again(command.hosts(), left));
  };
  const std::string train = " convoke train x --output r --resume";
  CHECK(again("-n 4 --host a:2,b:2", {{"a", 2}, {"b", 2}}) == "mpirun -n 4 --host a:2,b:2" + train);
  CHECK(again("-n 4 --host a:2,b:2", {{"b", 2}}) == "mpirun -n 2 --host b:2" + train);
  CHECK(again("-n 3 --host=a:2,b:2", {{"a", 2}}) == "mpirun -n 2 --host=a:2" + train);
  CHECK(again("-n 1 -H a,b", {{"b", 1}}) == "mpirun -n 1 -H b:1" + train);
  // Twice as many ranks as slots stay twice as many.
  CHECK(again("--oversubscribe -n 8 --host a:2,b:2", {{"a", 2}}) ==
        "mpirun --oversubscribe -n 4 --host a:2" + train);
  CHECK(again("--host a:2,b:2", {{"a", 2}}) == "mpirun --host a:2" + train);

  const TemporaryFolder folder;
  const std::string file = (folder / "hosts").string();
  std::ofstream(file) << "# three hosts\na slots=2\n\nb slots=2 max_slots=4  # new\nc\n";
  CHECK(hosts_in_file(file) == Hosts{{"a", 2}, {"b", 2}, {"c", 0}});
  CHECK(again("--hostfile " + file + " -n 5", {{"a", 2}, {"c", 0}}) == "mpirun --host a:2,c:* -n 3" + train);
  CHECK(again("--hostfile=" + file, {{"a", 2}}) == "mpirun --host=a:2" + train);
  CHECK(error_of([] { hosts_in_file("nowhere"); }) == "nowhere: this hostfile cannot be read");
}

TEST_CASE("in a Slurm job, a launcher without hosts gets the nodes that are up") {
  const Hosts all{{"n1", 2}, {"n2", 2}, {"n3", 2}}, left{{"n1", 2}, {"n3", 2}};
  const LaunchCommand srun(words_in("srun --mpi=pmix --ntasks=6 convoke train x --output r"));
  CHECK(srun.by_srun());
  CHECK(text_of(srun.again(all, left)) ==
        "srun --nodes=2 --nodelist=n1,n3 --mpi=pmix --ntasks=4 convoke train x --output r --resume");
  const LaunchCommand own(
      words_in("srun -N3 -w n1,n2,n3 -c 2 -n 6 apptainer exec -w c.sif convoke train x --output r"));
  CHECK(own.ranks() == 6);
  CHECK(text_of(own.again(all, left)) ==
        "srun -N2 -w n1,n3 -c 2 -n 4 apptainer exec -w c.sif convoke train x --output r --resume");
  const LaunchCommand bound(words_in("numactl -N 0 srun convoke train x --output r"));
  CHECK(text_of(bound.again(all, left)) ==
        "numactl -N 0 srun --nodes=2 --nodelist=n1,n3 convoke train x --output r --resume");
  const LaunchCommand mpirun(words_in("mpirun convoke train x --output r"));
  CHECK(text_of(mpirun.again(all, left)) == "mpirun --host n1:2,n3:2 convoke train x --output r --resume");
}
