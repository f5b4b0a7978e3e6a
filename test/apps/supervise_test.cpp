// `convoke supervise` with real ranks that are killed. A script in front of the program, by its name, kills
// it.
#include "apps/place.hpp"
#include "support/catch.hpp"
#include "support/pattern.hpp"

namespace {

/// A place with bin/convoke, which counts its starts in the file `starts` and does `first` before it becomes
/// the program.
struct Supervised : Place {
  explicit Supervised(const std::string& first) {
    fs::create_directories(*this / "bin");
    write_script(*this / "bin/convoke", "echo >> starts\nrank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}\n" +
                                            first + "\nexec " + binary() + " \"$@\"\n");
  }
  Outcome supervise(const std::string& options, const std::string& command) const {
    return run("supervise --backoff 0.01 " + options + " -- " + command);
  }
  /// In place of a launcher on several hosts: it keeps its arguments, and starts the ranks here.
  void write_launcher() const {
    write_script(*this / "bin/mpirun",
                 "printf '%s\\n' \"$*\" >> calls\nunset SLURM_JOB_NODELIST SLURM_TASKS_PER_NODE\n"
                 "while [ \"$1\" != -n ]; do shift; done\nexec " +
                     mpirun() + " \"$@\"\n");
  }
  std::string train(const std::string& more = "") const {
    return "bin/convoke train recipe.toml --quiet --output run --set train.epochs=8 " + more;
  }
  std::string undisturbed() const {
    REQUIRE(run("train recipe.toml --quiet --output alone --set train.epochs=8").code == 0);
    return bytes_of(*this / "alone/model.h5");
  }
  /// The number of processes whose command line contains the folder of this place.
  int processes() const {
    int count = 0;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      std::error_code ended;
      const std::string number = entry.path().filename().string();
      if (number.find_first_not_of("0123456789") != std::string::npos) continue;
      const fs::path work = fs::read_symlink(entry.path() / "cwd", ended);
      if (!ended && work == fs::weakly_canonical(folder.path())) ++count;
    }
    return count;
  }
};

// Kills the rank that `which` names, a second time never, once there is a checkpoint.
std::string kill_once(const std::string& which, const std::string& before = "") {
  return "if [ " + which +
         " ] && [ ! -e killed ]; then\n  me=$$\n  (until ls run/checkpoints/*.h5 > /dev/null "
         "2>&1; do sleep 0.01; done; : > killed; " +
         before + "kill -9 $me) &\nfi";
}

}  // namespace

TEST_CASE("a run whose rank is killed continues by itself, and ends with the bits of an undisturbed run") {
  const Supervised place(kill_once("$rank = 1"));
  const Outcome outcome = place.supervise("", mpirun(2) + " " + place.train("--set train.epochs=40")).ends(0);
  CAPTURE(outcome.text);
  outcome.shows("convoke supervise: a rank was killed (SIGKILL; is the memory too small?); starts it again")
      .shows("took over the lock of process ");
  CHECK(!first_match(outcome.text, "\n +1 +137 +2 +[1-9]").empty());  // it had a checkpoint
  CHECK(outcome.says("convoke supervise: done\nattempt  exit code  ranks"));
  CHECK(bytes_of(place / "starts").size() == 4);  // two ranks, twice
  CHECK(bytes_of(place / "run/restarts.log").starts_with("exit code 137 at step "));
  REQUIRE(place.run("train recipe.toml --quiet --output alone --set train.epochs=40").code == 0);
  CHECK(bytes_of(place / "run/model.h5") == bytes_of(place / "alone/model.h5"));
}

TEST_CASE("a command that is always killed is given up after two restarts, with a summary") {
  const Supervised place("kill -9 $$");
  const Outcome outcome = place.supervise("--restarts 9", place.train()).ends(137);
  CHECK(bytes_of(place / "starts").size() == 3);
  outcome.shows("gave up: 2 restarts in a row reached no new checkpoint\nattempt  exit code");
  outcome.shows("\n      3        137      -                   0");

  place.supervise("--restarts 1", place.train()).ends(137).shows("gave up: restart 1 of 1 is used");
}

TEST_CASE("an error of the command is not repeated") {
  const Supervised place("");
  for (const auto& [more, code] :
       {std::pair("--set train.epoch=1", 1), {"--set data.path=nowhere.h5", 1}, {"--no-such-option", 2}}) {
    fs::remove(place / "starts");
    const Outcome outcome = place.supervise("", place.train(more)).ends(code);
    CHECK(bytes_of(place / "starts").size() == 1);
    outcome.shows("convoke supervise: gave up: ");
  }
  CHECK(place.supervise("", "no-such-launcher bin/convoke train x --output run").code == 1);
  CHECK(place.supervise("", "bin/convoke train recipe.toml").says("hint: add --output FOLDER"));
  CHECK(place.supervise("", "sleep 9").says("contains no `convoke train`"));
  fs::create_directories(place / "run/.heartbeats/reported");  // a stall of an earlier attempt
  place.supervise("", "false bin/convoke train x --output run").ends(1).shows("gave up: an error, see its");
}

TEST_CASE("a batch script learns whether its job goes back to the queue") {
  const Place place;
  const auto ask = [&](int code, const std::string& more = "") {
    return place.run("supervise --backoff 0 --ended " + std::to_string(code) + " --output run " + more);
  };
  const auto job = [](const char* number) { return ::setenv("SLURM_JOB_ID", number, 1); };
  job("88");
  // Without a checkpoint: the end of its time is refused at once, a killed rank after two restarts.
  Outcome stopped = ask(85);
  CHECK(stopped.code == 85);
  CHECK(stopped.says("not started again: it reached no new checkpoint"));
  // A rank that is killed before the run folder exists: its restarts count, and training can begin there.
  const std::string early = "supervise --backoff 0 --restarts 1 --ended 137 --output early";
  place.run(early + "/run").ends(0);
  place.run(early + "/run").ends(137).shows("restart 1 of 1 is used");
  place.run("train recipe.toml --quiet --output early/run --resume --set train.epochs=1").ends(0);
  write_file(place / "early/file", "");
  place.run(early + "/file").ends(137).shows("not started again: early/file/restarts.log cannot be written");
  REQUIRE(place.run("train recipe.toml --quiet --output run --set train.epochs=1").code == 0);
  fs::remove(place / "run/restarts.log");
  CHECK(ask(137).code == 0);  // there is a checkpoint now
  CHECK(ask(205).code == 0);
  const Outcome third = ask(87).ends(87);
  CHECK(
      third.text ==
      "ranks waited too long for others; not started again: 2 restarts in a row reached no new checkpoint\n");
  CHECK_FALSE(whole_match(bytes_of(place / "run/restarts.log"),
                          "job 88: exit code 137 at step [1-9][0-9]*: .*\njob 88: exit code 205 .*\n")
                  .empty());
  // Another job counts anew, and has its own number of restarts.
  job("89");
  CHECK(ask(137, "--restarts 1").code == 0);
  CHECK(ask(137, "--restarts 1").says("restart 1 of 1 is used"));
  CHECK(ask(137, "--restarts 0").says("no restart is allowed"));
  job("90");
  const Outcome time = ask(85).ends(0);
  CHECK(time.text == "stopped by a signal, with a checkpoint\n");
  CHECK(ask(138).says("the time limit is too short (--time, --warning)"));
  for (const int code : {1, 2, 88, 127, 130}) CHECK(ask(code).code == code);
  // An error after a stall is none.
  fs::create_directories(place / "run/.heartbeats/reported");
  CHECK(place.run("train recipe.toml --output run --resume --set train.epoch=1").code == 1);
  CHECK(ask(1).code == 1);
  ::unsetenv("SLURM_JOB_ID");

  CHECK(place.run("supervise --ended 1").code == 2);
  CHECK(place.run("supervise --ended 0 --output run").code == 2);
  CHECK(place.run("supervise").says("hint: name it after --"));
}

TEST_CASE("Ctrl-C, SIGTERM and SIGHUP end a supervised run without a restart, and no process is left") {
  for (const auto& [signal, ranks] : {std::pair("INT", 1), {"INT", 2}, {"TERM", 1}, {"HUP", 2}}) {
    CAPTURE(signal, ranks);
    const Supervised place("");
    const std::string command =
        (ranks == 1 ? "" : mpirun(ranks) + " ") + place.train("--set train.epochs=1000000");
    const Outcome outcome =
        place.commands("{ " + binary() + " supervise -- " + command +
                       " & pid=$!; until ls run/checkpoints/*.h5 > /dev/null 2>&1; do sleep 0.02; "
                       "done; kill -" +
                       signal + " $pid; wait $pid; exit $?; }");
    CAPTURE(outcome.text);
    CHECK(outcome.code != 0);
    if (ranks == 1) CHECK(outcome.code == 85);
    CHECK_FALSE(outcome.says("again"));
    CHECK(bytes_of(place / "starts").size() == static_cast<std::size_t>(ranks));
    CHECK(place.processes() == 0);
    place.run("train --quiet --resume run --set train.epochs=1").ends(0);
  }
}

TEST_CASE("a run continues on fewer ranks where there are fewer slots or hosts") {
  const std::string host = "localhost";
  SECTION("a hostfile with fewer slots") {
    if (launcher_is_hydra()) return;
    const Supervised place(kill_once("$rank = 2", "echo localhost slots=2 > hosts; "));
    write_file(place / "hosts", "localhost slots=3\n");
    const std::string expected = place.undisturbed();
    place.supervise("", launcher() + " --bind-to none --hostfile hosts -n 3 " + place.train())
        .ends(0)
        .shows("--bind-to none --host localhost:2 -n 2 bin/convoke");
    CHECK_THAT(bytes_of(place / "run/summary.json"), Contains("\"ranks\": 2"));
    CHECK(bytes_of(place / "run/model.h5") == expected);
  }
  SECTION("a host that does not answer any more") {
    const Supervised place(kill_once("$rank = 1", ": > gone; "));
    write_script(place / "agent", "[ ! -e gone ] || exit 255\n");
    place.write_launcher();
    const std::string expected = place.undisturbed();
    place
        .supervise("",
                   "bin/mpirun --mca plm_rsh_agent ./agent --host localhost:1,far:1 -n 2 " + place.train())
        .ends(0)
        .shows("convoke supervise: far does not answer; starts it again");
    const std::string calls = bytes_of(place / "calls");
    CHECK_THAT(calls, Contains("--host localhost:1,far:1 -n 2 bin"));
    CHECK_THAT(calls, Contains("--host localhost:1 -n 1 bin"));
    CHECK(bytes_of(place / "run/model.h5") == expected);
  }
  SECTION("a node of a Slurm job that is down") {
    const bool late = GENERATE(false, true);  // Slurm notices it when the next mpirun already waits for it
    const Supervised place(kill_once("$rank = 2", late ? "" : ": > gone; "));
    fs::create_directories(place / "slurm");
    write_script(place / "slurm/scontrol", "echo one two three\n");
    write_script(place / "slurm/sinfo", "[ ! -e gone ] || echo one down\n");
    place.write_launcher();
    if (late) {
      place.replace("bin/mpirun", "\nunset ",
                    "\n[ $(wc -l < calls) != 2 ] || { : > gone; exec sleep 60; }\nunset ");
    }
    place
        .commands("PATH=$PWD/slurm:$PATH SLURM_JOB_NODELIST=one,two,three SLURM_TASKS_PER_NODE='1(x2),2' " +
                  binary() + " supervise --backoff 0.01 -- bin/mpirun -n 4 " + place.train())
        .ends(0)
        .shows("convoke supervise: one does not answer; starts it again");
    CHECK_THAT(bytes_of(place / "calls"), Contains("--host two:1,three:2 -n 3 bin"));
  }
}
