#include "convoke/study/running/study_folder.hpp"

#include <fmt/format.h>

#include <system_error>

#include "convoke/core/error.hpp"
#include "convoke/core/lookup.hpp"
#include "convoke/core/text.hpp"
#include "convoke/os/atomic_file.hpp"
#include "convoke/os/clock.hpp"
#include "convoke/os/environment.hpp"
#include "convoke/recipe/recipe.hpp"

namespace convoke::study {
namespace {

namespace fs = std::filesystem;

void make(const fs::path& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) {
    throw Error(fmt::format("{}: cannot be created: {}", folder.string(), failed.message()),
                "choose a writable folder with --output FOLDER");
  }
}

// Throws Error unless the recipe in `file` is that of `now`, which `name` names. Values count, not the text:
// a program with more keys than the one that wrote the file adds their defaults. The description may change.
void require_same_recipe(const fs::path& file, const recipe::Recipe& now, const std::string& name) {
  recipe::Recipe then = recipe::Recipe::load(file.string(), {});
  then.description = now.description;
  const std::vector<std::string> changed =
      differences(flattened(then.settings()), flattened(now.settings()), "in the folder");
  if (changed.empty()) return;
  throw Error(
      fmt::format("{}: {} has changed since this study began ({})", file.string(), name, join(changed, "; ")),
      "runs of different recipes are not repeats: start a new study with another --output");
}

// Throws Error unless the name, [set] and new_seeds in `file` are those of `now`.
void require_same_runs(const fs::path& file, const StudyFile& now) {
  const auto values_of = [](const StudyFile& study) {
    std::vector<std::pair<std::string, std::string>> values{
        {"name", study.name}, {"new_seeds", study.new_seeds ? "true" : "false"}};
    for (const std::string& change : study.set) {
      const std::size_t equals = change.find('=');
      values.emplace_back("set." + change.substr(0, equals), change.substr(equals + 1));
    }
    return values;
  };
  const std::vector<std::string> changed =
      differences(values_of(StudyFile::load(file)),
                  values_of(StudyFile::parse(now.to_toml(), file.string())),  // as it would be stored
                  "in the folder");
  if (changed.empty()) return;
  throw Error(fmt::format("{}: name, [set] or new_seeds has changed since this study began ({})",
                          file.string(), join(changed, "; ")),
              "start a new study with another --output");
}

// Stores each recipe with the changes of [set], which is common to all configurations.
void keep_recipes(const StudyFile& study, const fs::path& folder) {
  make(folder);
  for (const std::string& name : study.recipes) {
    const recipe::Recipe recipe = recipe::Recipe::load(name, study.set);
    const fs::path file = folder / (recipe.name + ".toml");
    if (fs::exists(file)) require_same_recipe(file, recipe, name);
    os::replace_text(file, recipe.to_toml());
  }
}

void require_empty(const fs::path& folder) {
  if (!run::has_content(folder)) return;
  throw Error(fmt::format("{}: is not empty, and study folders are never overwritten", folder.string()),
              "choose another --output, or continue that study with --resume");
}

}  // namespace

StudyFolder StudyFolder::create(const StudyFile& study, const fs::path& output, bool resume) {
  StudyFolder folder(output.empty() ? fs::path("studies") / fmt::format("{}-{}", study.name, os::time_stamp())
                                    : output);
  if (resume) {
    open(folder.path());  // throws unless it is a study's
    folder.lock();
    require_same_runs(folder.study_file(), study);
  } else {
    make(folder.path());
    require_empty(folder.path());
    folder.lock();
    require_empty(folder.path());  // another study may have begun and ended in the meantime
    os::replace_text(folder.study_file(), study.to_toml());  // from here on, --resume continues
  }
  keep_recipes(study, folder.path() / "recipes");
  make(folder.path() / "runs");
  make(folder.path() / "calibration");
  os::replace_text(folder.study_file(), study.to_toml());
  return folder;
}

StudyFolder StudyFolder::open(const fs::path& folder) {
  StudyFolder there(folder);
  if (!fs::exists(there.study_file())) {
    throw Error(fmt::format("{}: is not a study folder: study.toml is missing", folder.string()),
                "pass the folder of a study; convoke study FILE --output FOLDER begins one");
  }
  return there;
}

fs::path StudyFolder::run_at(const Coordinates& configuration, std::int64_t repeat) const {
  return path_ / "runs" / fmt::format("{}-{}", run_name(configuration), repeat);
}

fs::path StudyFolder::run(const Configuration& configuration, std::int64_t repeat) const {
  return path_ / "runs" / fmt::format("{}-{}", configuration.name, repeat);
}

fs::path StudyFolder::warm_up(const Configuration& configuration, std::int64_t repeat) const {
  return run(configuration, repeat).string() + "-warm-up";
}

fs::path StudyFolder::log(const Configuration& configuration, std::int64_t repeat) const {
  return run(configuration, repeat).string() + ".log";
}

fs::path StudyFolder::row(const Configuration& configuration, std::int64_t repeat) const {
  return run(configuration, repeat).string() + ".csv";
}

fs::path StudyFolder::calibration() const { return path_ / "calibration" / (os::host_name() + ".json"); }

std::shared_ptr<const run::RunLock> StudyFolder::lock_run(const Configuration& configuration,
                                                          std::int64_t repeat) const {
  const fs::path folder = run(configuration, repeat).string() + ".lock";
  make(folder);
  return {new run::RunLock(folder), [folder](const run::RunLock* lock) {
            delete lock;
            std::error_code taken;  // by another process
            fs::remove(folder, taken);
          }};
}

std::vector<Measurement> StudyFolder::read() const {
  if (!fs::exists(measurements())) return {};
  return read_measurements(measurements());
}

}  // namespace convoke::study
