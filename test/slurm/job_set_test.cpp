// Scripts and their dependencies, as text; test/slurm/cases submits them to a real Slurm.
#include "convoke/slurm/job_set.hpp"

#include "convoke/core/text.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"
#include "support/shell.hpp"

using namespace convoke::slurm;

namespace {

constexpr Layout kLayout{.nodes = 4, .ranks_per_node = 2, .cpus_per_rank = 8};

JobOptions options() {
  JobOptions made;
  made.name = "net";
  made.written_by = "a test";
  return made;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("words quoted for a shell are unchanged by it") {
  for (const std::string text : {"plain", "", "two words", "it's", "$HOME `x` \"y\" \\", "a=[1, 2]", "*"}) {
    CAPTURE(text);
    CHECK(shell("printf %s " + convoke::shell_word(text)).text == text);
  }
  CHECK(convoke::shell_word("train.epochs=2") == "train.epochs=2");
}

TEST_CASE("every script of every plan is valid bash") {
  const TemporaryFolder folder;
  for (const Launcher launcher : {Launcher::kMpirun, Launcher::kSrun}) {
    for (const bool bind : {true, false}) {
      JobOptions made = options();
      made.launcher = launcher;
      made.bind = bind;
      JobSet jobs;
      add_prepare(jobs, made, kLayout, "my pictures", "net.h5", "--size 8x8");
      add_train(jobs, made, kLayout, "net");
      add_ensemble(jobs, made, kLayout, "net", 4, 2);
      add_sweep(jobs, made, kLayout, "net", {{"a=1"}, {"a=2"}}, 0);
      add_study(jobs, made, {{kLayout, {0, 1, 3}}}, {.at_once = 2, .options = "--bind none"});
      add_evaluate(jobs, made, kLayout);
      std::vector<std::string> texts{submit_script(jobs, made)};
      for (const auto& [name, script] : jobs.scripts) texts.push_back(script);
      for (const std::string& text : texts) {
        CAPTURE(text);
        std::ofstream(folder / "x.sh") << text;
        CHECK(shell("bash -n " + (folder / "x.sh").string()).code == 0);
        CHECK(text.starts_with("#!/bin/bash\n"));
      }
    }
  }
}

TEST_CASE("only options become directives") {
  JobOptions made = options();
  made.partition = "batch", made.account = "physics", made.constraint = "avx512&ib", made.mail = "me@here";
  made.time_seconds = 90000, made.warning_seconds = 300;
  Layout layout = kLayout;
  layout.memory_mib = 4096;
  layout.threads_per_core = 2;
  JobSet jobs;
  add_train(jobs, made, layout, "net --set a=1");
  const std::string& text = jobs.scripts.at(0).second;
  for (const char* line :
       {"--nodes=4\n", "--ntasks-per-node=2 ", "--cpus-per-task=8 ", "--mem=4096M ", "--time=1-01:00:00 ",
        "--partition=batch\n", "--account=physics\n", "--constraint='avx512&ib' ", "--mail-user=me@here\n",
        "--hint=nomultithread ", "--signal=B:USR1@300 ", "--requeue ", "--open-mode=append "}) {
    CAPTURE(line);
    CHECK(has(text, std::string("#SBATCH ") + line));
  }
  CHECK(has(text, "train net --set a=1 --output \"$run\" --resume &"));
  JobSet plain;
  add_train(plain, options(), kLayout, "net");
  for (const char* option : {"--partition", "--account", "--constraint", "--mail", "--mem", "--hint"}) {
    CHECK_FALSE(has(plain.scripts.at(0).second, std::string("#SBATCH ") + option));
  }
}

TEST_CASE("submit.sh submits dependent jobs with the numbers from Slurm") {
  const TemporaryFolder folder;
  JobSet jobs;
  add_prepare(jobs, options(), kLayout, "pictures", "net.h5", "");
  add_ensemble(jobs, options(), kLayout, "net", 4, 2);
  add_evaluate(jobs, options(), kLayout);
  start_after(jobs, "77:78_1");
  std::ofstream(folder / "submit.sh") << submit_script(jobs, options());
  // An sbatch that only records its arguments; on federated clusters it appends the cluster's name.
  std::ofstream(folder / "sbatch")
      << "#!/bin/sh\n[ $SLURM_CONF$SLURM_MEM_PER_CPU = conf ] || exit 1\necho \"$@\" >> " +
             (folder / "calls").string() + "\necho $((100 + $(wc -l < " + (folder / "calls").string() +
             ")))';north'\n";
  const Outcome outcome =  // inside another job
      shell("chmod +x " + (folder / "sbatch").string() +
            " && SLURM_JOB_ID=7 SLURM_CONF=conf SLURM_MEM_PER_CPU=64 PATH=" + folder.path().string() +
            ":$PATH bash " + (folder / "submit.sh").string());
  CAPTURE(outcome.text);
  REQUIRE(outcome.code == 0);
  const std::string here = folder.path().string();
  std::string calls = bytes_of(folder / "calls");
  const std::string kill = " --kill-on-invalid-dep=yes ";
  CHECK(calls == "--parsable --dependency=afterok:77:78_1" + kill + here + "/prepare.sh\n" +
                     "--parsable --dependency=afterok:101" + kill + here + "/member.sh\n" +
                     "--parsable --dependency=afterok:102" + kill + here + "/gather.sh runs/net-102\n" +
                     "--parsable --dependency=afterok:103" + kill + here +
                     "/report.sh runs/net-102/ensemble\n");
  CHECK(outcome.says("gather.sh: job 103\n"));
  CHECK(outcome.says("result: runs/net-102/ensemble"));
  JobSet odd;
  add_prepare(odd, options(), kLayout, "pictures", "$(date).h5", "");
  CHECK(has(submit_script(odd, options()), "echo result: '$(date).h5'\n"));
}

TEST_CASE("a study is an array for each size of its configurations, and a job that collects their results") {
  JobSet jobs;
  Layout small = kLayout, wide = kLayout;
  small.nodes = 1, wide.ranks_per_node = 4, wide.memory_mib = 512;
  add_study(jobs, options(), {{small, {0, 1, 2, 5}}, {wide, {3, 4, 6}}}, {});
  REQUIRE(jobs.submissions.size() == 3);
  CHECK(jobs.submissions[0].options == "--nodes=1 --ntasks-per-node=2 --array=0-2,5");
  CHECK(jobs.submissions[1].options == "--nodes=4 --ntasks-per-node=4 --array=3-4,6");
  CHECK(jobs.submissions[2].after == std::vector<std::string>{"runs_1x2x8", "runs_4x4x8"});
  const std::string submit = submit_script(jobs, options());
  CHECK(has(submit, "--output \"$study\" --begin"));  // an existing folder is refused
  CHECK(has(submit, "--dependency=\"afterany:${runs_1x2x8%%;*}:${runs_4x4x8%%;*}\""));
  CHECK(has(submit, "study=${1:-studies/net-$(date +%Y%m%d-%H%M%S)}\nconvoke study \"$here/study.toml\""));
  CHECK(has(submit, "echo \"${runs_4x4x8%%;*}\" >> \"$study/jobs.txt\"\n"));
  CHECK(has(submit, "echo \"${collect%%;*}\" >> \"$study/jobs.txt\"\n"));
  const std::string& run = jobs.scripts.at(0).second;
  CHECK(has(run, "--task \"$((SLURM_ARRAY_TASK_ID + ${2:-0}))\""));
  CHECK_FALSE(has(run, "launch"));  // `convoke study` starts the ranks
  CHECK(jobs.submissions[2].arguments == "\"$study\" \"$here\"");
  CHECK(has(jobs.scripts.at(1).second, "--collect --more \"$here\"\n"));

  JobSet more;  // with the same scripts
  add_study_runs(more, {{small, {}}, {wide, {8, 9, 1000, 1001, 2005}}}, 1, true);
  CHECK(more.scripts.empty());
  REQUIRE(more.submissions.size() == 4);  // all numbers of arrays are valid for Slurm
  CHECK(more.submissions[0].options ==
        "--nodes=4 --ntasks-per-node=4 --cpus-per-task=8 --mem=512M --array=8-9%1");
  CHECK(more.submissions[0].arguments == "\"$study\"");
  CHECK(has(more.submissions[1].options, "--array=0-1%1"));
  CHECK(more.submissions[1].arguments == "\"$study\" 1000");
  CHECK(has(more.submissions[2].options, "--array=5%1"));
  CHECK(more.submissions[3].after ==
        std::vector<std::string>{"runs_4x4x8", "runs_4x4x8_from_1000", "runs_4x4x8_from_2000"});
}
