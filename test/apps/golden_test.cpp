// Files of every version of the formats, as test/golden/make.sh wrote them: this program reads all of them,
// and refuses newer ones by name.
#include "apps/place.hpp"
#include "convoke/core/lookup.hpp"
#include "convoke/hdf5/file.hpp"
#include "convoke/metrics/json.hpp"
#include "support/catch.hpp"
#include "support/pattern.hpp"
#include "support/source_path.hpp"

namespace {

std::vector<fs::path> golden_folders() {
  std::vector<fs::path> folders = entries_in(source_path("test/golden"));
  std::erase_if(folders, [](const fs::path& entry) { return !fs::is_directory(entry); });
  return folders;
}

/// A copy of golden files, in which commands run.
struct Copy : Files {
  explicit Copy(const fs::path& golden) { fs::copy(golden, folder.path(), fs::copy_options::recursive); }
};

constexpr const char* kNewer = ": was written by a newer Convoke (format 2, this one reads up to 1)";
constexpr const char* kNewerDataset = ": was written by a newer Convoke (format 3, this one reads up to 2)";

void write_newer(const fs::path& file, const std::string& format, int version = 2) {
  convoke::hdf5::File newer = convoke::hdf5::File::create(file);
  newer.set_attribute("convoke_format", format);
  newer.set_attribute("format_version", version);
  newer.close();
}

// Keys that have another name in this version.
constexpr std::array kRenamed{
    std::pair<std::string_view, std::string_view>{"cells", "configurations"},
    std::pair<std::string_view, std::string_view>{"cell", "configuration"},
    std::pair<std::string_view, std::string_view>{"portion", "fraction"},
    std::pair<std::string_view, std::string_view>{"portions", "fractions"},
    std::pair<std::string_view, std::string_view>{"disturbed", "contended"},
    std::pair<std::string_view, std::string_view>{"as_if", "emulated"},
};

std::string name_now(const std::string& key) {
  const auto found = std::ranges::find(kRenamed, key, [](const auto& entry) { return entry.first; });
  return found == kRenamed.end() ? key : std::string(found->second);
}

// Returns the places in `before` that `now` lacks, or that hold a value of another kind there. Lists are
// compared by their first tables.
std::vector<std::string> missing_in(const convoke::Settings& now, const convoke::Settings& before,
                                    const std::string& path) {
  std::vector<std::string> missing;
  const auto add = [&](const std::vector<std::string>& more) {
    missing.insert(missing.end(), more.begin(), more.end());
  };
  for (const auto& [key, value] : before.entries()) {
    const std::string place = path + "/" + key;
    const convoke::Value* const found = now.find(name_now(key));
    if (found == nullptr || found->data().index() != value.data().index()) {
      missing.push_back(place);
      continue;
    }
    if (value.table() != nullptr) add(missing_in(*found->table(), *value.table(), place));
    const auto* const list = std::get_if<convoke::Value::Array>(&value.data());
    if (list == nullptr || list->empty() || list->front().table() == nullptr) continue;
    const auto& others = std::get<convoke::Value::Array>(found->data());
    if (others.empty() || others.front().table() == nullptr) {
      missing.push_back(place);
    } else {
      add(missing_in(*others.front().table(), *list->front().table(), place));
    }
  }
  return missing;
}

}  // namespace

TEST_CASE("models, ensembles and datasets of all versions are read, with the results of their time") {
  const std::vector<fs::path> all = golden_folders();
  REQUIRE_FALSE(all.empty());
  for (const fs::path& golden : all) {
    const Copy copy(golden);
    CAPTURE(golden.filename().string());
    for (const auto& [run, model] : {std::pair("run", "model.h5"), {"ensemble", "ensemble.h5"}}) {
      const auto summary = convoke::metrics::read_json(copy / (std::string(run) + "/summary.json"));
      REQUIRE(summary);
      for (const char* data : {"data.h5", "shards"}) {
        const Outcome outcome =
            copy.run(std::string("evaluate ") + run + "/" + model + " --json --data " + data).ends(0);
        const convoke::Settings result = convoke::metrics::settings_from_json(outcome.text, "evaluate");
        CHECK(convoke::number_at(result, "accuracy") ==
              Approx(convoke::number_at(*summary, "test.accuracy")).margin(1e-9));
      }
    }
  }
}

TEST_CASE("checkpoints of all versions are resumed") {
  for (const fs::path& golden : golden_folders()) {
    const Copy copy(golden);
    CAPTURE(golden.filename().string());
    copy.run("train --resume run --set train.epochs=5 --set data.path=" + (copy / "data.h5").string())
        .ends(0)
        .shows("resumed after 3 epochs");
    CHECK(fs::exists(copy / "run/checkpoints/epoch-0005.h5"));
  }
}

TEST_CASE("summaries and logs of all versions are read") {
  for (const fs::path& golden : golden_folders()) {
    const Copy copy(golden);
    CAPTURE(golden.filename().string());
    copy.run("compare run ensemble").ends(0).shows("run");
    copy.run("watch run --once").shows("complete").shows("loss");
  }
}

TEST_CASE("studies of all versions are continued") {
  for (const fs::path& golden : golden_folders()) {
    const Copy copy(golden);
    CAPTURE(golden.filename().string());
    // The study stored the recipe as it was; its user has renamed the key, as the error says.
    copy.run("study study/study.toml --output study --resume")
        .shows("recipe.toml:")
        .shows("\"train.lane\" is now \"train.micro_batch\"");
    CHECK(shell("sed -i 's/^lane = /micro_batch = /' " + (copy / "recipe.toml").string()).code == 0);
    const Outcome resumed = copy.run("study study/study.toml --output study --resume").ends(0);
    CAPTURE(resumed.text);
    resumed.shows("\n0 runs in this session");
    CHECK(!first_match(resumed.text, "golden-sync-1x1 +2 ").empty());
  }
}

TEST_CASE(
    "measurements of all versions are read, and their analysis has all keys that earlier versions wrote") {
  for (const fs::path& golden : golden_folders()) {
    const Copy copy(golden);
    CAPTURE(golden.filename().string());
    const auto before = convoke::metrics::read_json(copy / "study/analysis.json");
    REQUIRE(before);
    copy.run("study analyze study/measurements.csv --output now.json").ends(0).shows("golden");
    const auto now = convoke::metrics::read_json(copy / "now.json");
    REQUIRE(now);
    CHECK(missing_in(*now, *before, "") == std::vector<std::string>{});
    CHECK(convoke::number_at(*before, "format") >= 1);
  }
}

TEST_CASE("files of a newer format are refused by name, and a run is not begun again for them") {
  const Copy copy(golden_folders().front());
  write_newer(copy / "newer.h5", "model");
  CHECK(copy.run("evaluate newer.h5 --data data.h5").says(std::string("newer.h5") + kNewer));
  write_newer(copy / "newer.h5", "dataset", 3);
  CHECK(copy.run("evaluate run/model.h5 --data newer.h5").says(std::string("newer.h5") + kNewerDataset));

  write_newer(copy / "run/checkpoints/epoch-0004.h5", "checkpoint");
  copy.run("train --resume run --set data.path=" + (copy / "data.h5").string())
      .ends(1)
      .shows(std::string("run/checkpoints/epoch-0004.h5") + kNewer)
      .shows("hint: install the version of Convoke that wrote it, or a later one");

  write_file(copy / "run/summary.json", "{\"format\": 2, \"name\": \"golden\"}");
  copy.refuses("compare run ensemble", std::string("run/summary.json") + kNewer);
}
