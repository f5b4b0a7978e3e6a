// The output and exit codes of the real binary.
#include <sys/prctl.h>
#include <sys/wait.h>

#include <cerrno>

#include "apps/place.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"
#include "support/shell.hpp"
#include "support/skip.hpp"
#include "support/variable.hpp"

TEST_CASE("help shows examples, and needs no MPI") {
  REQUIRE(program("info", kWithoutMpi).code != 0);  // the guard works
  const Outcome all = program("--help", kWithoutMpi).ends(0);
  all.shows("Examples:");
  for (const char* command :
       {"prepare", "train", "evaluate", "predict", "bench", "doctor", "info", "summary"}) {
    CAPTURE(command);
    CHECK(all.says(std::string("\n  ") + command + " "));
    program(std::string(command) + " --help", kWithoutMpi)
        .ends(0)
        .shows("Examples:")
        .shows(std::string("convoke ") + command);
  }
  const Outcome version = program("--version", kWithoutMpi).ends(0);
  CHECK(version.text == "convoke " CONVOKE_VERSION "\n");
}

TEST_CASE("a program without mpirun starts no process that outlives it") {
  REQUIRE(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);  // orphans of the program become children of this process
  const Outcome info = program("info");
  prctl(PR_SET_CHILD_SUBREAPER, 0);
  CHECK(info.code == 0);
  CHECK(waitpid(-1, nullptr, WNOHANG) == -1);
  CHECK(errno == ECHILD);
}

TEST_CASE("a program without mpirun makes no folder, which another one could remove") {
  const Variable folder("OMPI_MCA_orte_tmpdir_base", "/proc/none");
  program("info").ends(0);
}

TEST_CASE("layers lists the layers of recipes and shows one, without MPI") {
  CHECK(program("layers", kWithoutMpi).says("\n  conv2d "));
  program("layers dropout", kWithoutMpi)
      .ends(0)
      .shows("  rate              probability that an element is zeroed (required)\n");
  CHECK(program("layers --markdown", kWithoutMpi).says("| **`dropout`** |"));
  CHECK(program("layers dropuot", kWithoutMpi).says("did you mean \"dropout\"?"));
}

TEST_CASE("wrong usage ends with exit code 2 and a hint") {
  program("trai", kWithoutMpi)
      .ends(2)
      .shows("error: unknown command \"trai\" (did you mean \"train\"?)\n  hint: known: bench, ");
  program("", kWithoutMpi).ends(2).shows("error: a command is missing\n  hint: convoke --help");
  program("summary mnist-ddp --plna", kWithoutMpi)
      .ends(2)
      .shows("--plna (did you mean \"--plan\"?)")
      .shows("hint: convoke summary --help");
  CHECK(program("info --threads many", kWithoutMpi).code == 2);
  program("study table times.csv", kWithoutMpi).ends(2).shows("hint: convoke study table --help");
  program("predict model.h5 a.png --threads 4097", kWithoutMpi).ends(2).shows("0 to 4096");
  program("import a.onnx --output a.h5 --input 3x32x32", kWithoutMpi)
      .ends(2)
      .shows("must be a number above 0, but is \"3x32x32\"");
  program("slurm train mnist-sync --restarts -1", kWithoutMpi)
      .ends(2)
      .shows("--restarts: must be 0 to 1000, but is \"-1\"");
  for (const char* command :
       {"train mnist-sync", "slurm train mnist-sync", "study s.toml", "gather a", "doctor"})
    program(std::string(command) + " --output ''", kWithoutMpi).ends(2).shows("--output: names nothing");
  shell("mkdir gone-$$; cd gone-$$; rmdir ../gone-$$; " + binary() + " summary mnist-sync")
      .ends(1)
      .shows("error: the working folder: No such file or directory\n  hint: change to a folder that exists");
}

TEST_CASE("a mistake of the user ends with exit code 1, an error and a hint") {
  const Outcome unknown = program("summary mnist-ensembel", kWithoutMpi).ends(1);
  CHECK(unknown.text ==
        "error: unknown recipe \"mnist-ensembel\" (did you mean \"mnist-ensemble\"?)\n"
        "  hint: known: birds, imdb-sentiment, io-patterns, mnist-ddp, mnist-ensemble, mnist-sync, "
        "retinopathy, "
        "solar-cells, tomato-leaf, tweet-sentiment; the networks of the zoo, e.g. resnet50; or pass the path "
        "of a "
        "recipe.toml\n");
  CHECK(program("summary resnet51", kWithoutMpi)
            .text.starts_with("error: unknown recipe \"resnet51\" (did you mean \"resnet50\"?)\n"));
  program("summary mnist-ddp --set train.epoch=1", kWithoutMpi)
      .ends(1)
      .shows(
          "error: --set train.epoch=1: [train]: unknown key \"epoch\" (did you mean \"epochs\"?)\n  hint: ");
}

TEST_CASE("summary shows the network and the kernels of a step") {
  program("summary mnist-ensemble", kWithoutMpi)
      .ends(0)
      .shows("parameters: 93,322")
      .shows("\ninput: data.normalize = \"unit\"\n");
  const auto cores = [](const std::string& arguments, int number) {
    const std::string host = "CONVOKE_TOPOLOGY='core:" + std::to_string(number) + " pu:2' ";
    return program("summary " + arguments, host + kWithoutMpi);
  };
  CHECK(cores("mnist-sync", 64)
            .says("cores: a step has 8 micro-batches of 8 samples, which keep 8 of 64 cores busy; "
                  "train.batch=512 with train.reference_batch=64 keeps all busy\n"));
  CHECK(cores("mnist-sync --set train.batch=512", 64).says("which keep 64 of 64 cores busy\n"));
  CHECK(cores("mnist-sync --set run.threads=4", 64).says("which keep 4 of 4 cores busy\n"));
  CHECK(cores("mnist-ddp", 48)
            .says("64 micro-batches of 32 samples, which keep 32 of 48 cores busy; train.batch="));
  CHECK(cores("mnist-ensemble", 64)
            .says("a step of each of 64 members has 8 micro-batches of 8 samples, which keep 64 of"));
  CHECK(cores("mnist-ensemble --set ensemble.members=4", 64)
            .says("4 members has 8 micro-batches of 8 samples, which keep 32 of"));
  program("summary mnist-ddp --set train.convolution=direct --plan", kWithoutMpi)
      .ends(0)
      .shows("\ntrainable parameters: 905,354 (3.5 MiB)\nnon-trainable parameters: 832 (3.2 KiB)\n")
      .shows("one micro-batch of 32 samples (of a batch of 2048)")
      .shows("MFLOP")
      .never("wino");
  // Twice the multiply-adds of the papers: 4.09e9 for ResNet-50 (torchvision's v1.5), 15.47e9 for VGG-16.
  CHECK(program("summary resnet50 --set train.batch=1", kWithoutMpi).says("forward pass: 8.18 GFLOP"));
  CHECK(program("summary vgg16 --set train.batch=1", kWithoutMpi).says("forward pass: 30.94 GFLOP"));
  const Outcome toml = program("summary mnist-sync --toml --set train.batch=128", kWithoutMpi).ends(0);
  CHECK(toml.text.find("name = \"mnist-sync\"\n") == 0);
  CHECK(toml.says("\nbatch = 128\n"));
  for (const char* both : {"--toml --json", "--toml --plan", "--json --plan"})
    CHECK(program(std::string("summary mnist-sync ") + both, kWithoutMpi).code == 2);
}

TEST_CASE("summary draws the network: a box for each layer, equal blocks once") {
  const TemporaryFolder folder;
  const std::string file = (folder / "resnet50.svg").string();
  CHECK(program("summary resnet50 --figure " + file + " --json", kWithoutMpi).code == 2);
  CHECK(
      program("summary resnet50 --figure " + file + ".gif", kWithoutMpi).says("ends in .svg, .pdf or .png"));
  const Outcome drawn = program("summary resnet50 --set train.batch=1 --figure " + file, kWithoutMpi);
  if (drawn.says("Graphviz is not installed")) return skip("no Graphviz (Debian package graphviz)");
  CHECK(drawn.code == 0);
  CHECK(drawn.says("wrote " + file));
  const std::string svg = bytes_of(file);
  // He et al. 2016, table 1: stages of 3, 4, 6 and 3 blocks; the first block of each has a projection.
  CHECK(times(svg, ">2 times<") == 2);
  CHECK(times(svg, ">3 times<") == 1);
  CHECK(times(svg, ">5 times<") == 1);
  CHECK(times(svg, ">add<") == 8);
  CHECK(times(svg, ">conv2d 7×7, 64, stride 2<") == 1);
  CHECK(times(svg, ">2,049,000 parameters<") == 1);
}

TEST_CASE("auto runs both CNNs with Winograd kernels except for the first layer") {
  for (const char* recipe : {"mnist-ensemble", "mnist-ddp"}) {
    const Outcome automatic = program("summary " + std::string(recipe) + " --plan", kWithoutMpi);
    const Outcome forced =
        program("summary " + std::string(recipe) + " --plan --set train.convolution=winograd", kWithoutMpi);
    CHECK(automatic.says("oneDNN"));
    CHECK(automatic.text == forced.text);
  }
}

TEST_CASE("a build folder has the recipes, wherever it is") {
  const TemporaryFolder folder;
  const std::string built = fs::path(binary()).parent_path().string();
  const std::string place = folder.path().string();
  REQUIRE(shell("cp -a " + binary() + " " + built + "/share " + place).code == 0);
  shell("cd / && CONVOKE_RECIPES= " + place + "/convoke summary mnist-ensemble")
      .ends(0)
      .shows("parameters: 93,322");
}

TEST_CASE("info shows versions and the placement of every rank, once") {
  const Outcome alone = program("info").ends(0);
  for (const char* what : {"convoke ", "oneDNN ", "instruction set ", "MPI ", "ranks ", "1 on 1 host"})
    alone.shows(what);
  const Outcome three = program("info --threads 1000", mpirun(3)).ends(0);
  three.once("oneDNN ").shows("3 on 1 host").shows("ranks 0-2 run 3000 threads");
  CHECK(three.times(" 1000  ") == 3);
}

TEST_CASE("an error message of all ranks is printed once, as the last output: no banner of MPI follows it") {
  for (const int ranks : {0, 1, 3}) {
    CAPTURE(ranks);
    const std::string before = ranks == 0 ? "" : mpirun(ranks);
    const Outcome usage = program("trian", before).ends(ranks == 0 ? 2 : code_under_mpirun(2));
    CHECK_THAT(usage.text, StartsWith("error: unknown command \"trian\""));
    CHECK(usage.times("\n") == 2);
    const Outcome recipe = program("train nonsense", before).ends(1);  // before MPI is initialized
    CHECK_THAT(recipe.text, StartsWith("error: unknown recipe \"nonsense\""));
    CHECK(recipe.times("\n") == 2);
    const Outcome model = program("evaluate nonsense.h5", before).ends(1);  // while MPI is initialized
    CHECK(model.once("error: nonsense.h5: no such file\n").times("\n") == 1);
  }
  program("summary mnist-ddp --no-such-option", mpirun(3))
      .ends(code_under_mpirun(2))
      .once("--no-such-option");
}

TEST_CASE("output that cannot be written is an error that names the cause") {
  if (!fs::exists("/dev/full")) return skip("there is no /dev/full");
  const Place place;
  REQUIRE(place.train("run").code == 0);
  const auto to = [&](const std::string& output, const std::string& arguments) {
    return place.commands("(" + binary() + " " + arguments + output + ")");
  };
  for (const char* arguments :
       {"--help", "--version", "help train", "help --man train", "layers", "layers --markdown",
        "completion bash", "summary recipe.toml", "inspect data.h5", "evaluate run", "evaluate run --json",
        "predict run data.h5", "compare run", "watch run --once", "info"}) {
    CAPTURE(arguments);
    to(" > /dev/full", arguments)
        .fails("error: ")
        .shows("error: standard output: ")
        .never("standard output: standard output")
        .shows("hint: ")
        .shows("No space left on device");
  }
  CHECK(to(" > /dev/full", "verify run run").code == 2);  // 1 would mean a difference
  CHECK(to(" > /dev/full", "no-such-command").says("unknown command"));
  to(" >&-", "layers").ends(1).shows("Bad file descriptor");
  // A file that is opened first does not become the output.
  CHECK(to(" >&-", "predict run data.h5 --output closed.csv").code == 0);
  CHECK(to("", "predict run data.h5 --output open.csv").code == 0);
  CHECK(bytes_of(place / "closed.csv") == bytes_of(place / "open.csv"));
  to(" | head -1", "layers --markdown").ends(0).never("error");
}
