// Names in a file from somewhere else are shown on terminals, in pages and in figures, and never executed.
#include "apps/place.hpp"
#include "support/catch.hpp"

namespace {

const std::vector<std::string> kHostile{"<script>document.title='x'</script><img src=x onerror=alert(1)>",
                                        "'; system(\"touch executed\"); '`touch executed`",
                                        "\x1b]0;title\x07\x1b[2J$(touch executed)",
                                        "\\input{/etc/hostname}\\write18{touch executed}%{$^_#~&"};

/// A place with a dataset that has hostile class names, and recipes with a hostile name and description.
struct HostilePlace : Place {
  HostilePlace() {
    fs::remove(*this / "data.h5");
    write_dataset(*this / "data.h5", 150, 8, 4, 60, kHostile);
    const std::string recipe = bytes_of(*this / "recipe.toml");
    write_file(*this / "recipe.toml",
               "description = \"$(touch executed) \\u001B[2J <b>\"\n" + recipe.substr(recipe.find('\n') + 1));
    write_file(*this / "it's $(touch executed) <b>.toml", bytes_of(*this / "recipe.toml"));
  }
};

bool changes_terminal(const std::string& text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7F;
  });
}

}  // namespace

TEST_CASE("names from a dataset are shown on the terminal, in pages and in figures, and never executed") {
  const HostilePlace place;
  for (const char* command :
       {"inspect data.h5", "summary recipe.toml",
        "train \"it's \\$(touch executed) <b>.toml\" --quiet --output run", "evaluate run",
        "report run --output page.html --figures figures", "export run --format onnx --output m.onnx",
        "import m.onnx --output again.h5", "export again.h5 --format keras --output m.keras",
        "import m.keras --output again2.h5"}) {
    const Outcome outcome = place.run(command);
    CAPTURE(command, outcome.text);
    CHECK((outcome.code == 0 || outcome.says("libjs-chart.js") || outcome.says("gnuplot-nox")));
    CHECK_FALSE(changes_terminal(outcome.text));
  }
  CHECK(place.run("evaluate run").says("]0;title"));
  CHECK_FALSE(fs::exists(place / "executed"));
  if (!fs::exists(place / "page.html")) return;  // built without the charts' library
  const std::string page = bytes_of(place / "page.html");
  CHECK_THAT(page, Contains("default-src 'none'; script-src 'sha256-"));
  CHECK_THAT(page, Contains("&lt;script&gt;document.title"));
  for (const char* element : {"<script>document", "<img src=x"}) {
    CAPTURE(element);
    CHECK_THAT(page, !Contains(element));
  }
  for (const auto& entry : fs::recursive_directory_iterator(place / "figures")) {
    if (entry.path().extension() != ".tex") continue;
    CAPTURE(entry.path());
    CHECK_THAT(bytes_of(entry.path()), !Contains("\\input{/etc"));
    CHECK_THAT(bytes_of(entry.path()), !Contains("\\write18{touch"));
  }
}

TEST_CASE("an error that quotes a file changes nothing on the terminal") {
  const Place place;
  write_file(place / "bad.toml",
             "name = \"tiny\"\n[data]\npath = \"\\u001B[2Jmissing.h5\"\n[model]\ninput = [4]\n"
             "layers = [{ layer = \"\\u001B[31mdense\" }]\n");
  for (const char* command : {"train bad.toml", "summary bad.toml", "train '\x1b[2Jx.toml'",
                              "inspect '\x1b]0;x\x07.h5'", "train recipe.toml --set 'train.\x1b[2J=1'"}) {
    const Outcome outcome = place.run(command);
    CAPTURE(command, outcome.text);
    CHECK(outcome.code != 0);
    CHECK_FALSE(changes_terminal(outcome.text));
  }
}

TEST_CASE("job scripts quote every option") {
  const HostilePlace place;
  place
      .run(
          "slurm train recipe.toml --nodes 1 --ranks-per-node 2 --cpus-per-rank 1 --partition 'a b; touch "
          "executed' --account \"x'y\" --output 'jobs $(touch executed)'")
      .ends(0)
      .shows("Submit with: bash 'jobs $(touch executed)/submit.sh'");
  const fs::path jobs = place / "jobs $(touch executed)";
  const std::string script = bytes_of(jobs / "train.sh");
  CHECK_THAT(script, Contains("#SBATCH --partition='a b; touch executed'\n"));
  CHECK_THAT(script, Contains("#SBATCH --account='x'\\''y'\n"));
  for (const char* each : {"train.sh", "submit.sh"}) {
    CHECK(shell("bash -n '" + (jobs / each).string() + "'").code == 0);
  }
  CHECK_FALSE(fs::exists(place / "executed"));
}
