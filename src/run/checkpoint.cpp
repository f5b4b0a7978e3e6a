#include "convoke/run/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <span>
#include <system_error>
#include <utility>

#include "convoke/core/checksum.hpp"
#include "convoke/core/differences.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/format_version.hpp"
#include "convoke/core/text.hpp"
#include "convoke/os/atomic_file.hpp"
#include "convoke/run/parameter_group.hpp"

namespace convoke::run {
namespace {

constexpr std::int64_t kCheckpointVersion = 1;

/// Thrown for a readable checkpoint of another run, which must not be skipped, unlike a damaged one.
struct ForeignFingerprint : Error {
  using Error::Error;
};

std::string file_name(const CheckpointState& state) {
  return state.steps_done == 0
             ? fmt::format("epoch-{:04}.h5", state.epochs_done)
             : fmt::format("epoch-{:04}-step-{:06}.h5", state.epochs_done, state.steps_done);
}

/// Returns (epochs done, steps done) from the name of a checkpoint; empty for other files.
std::optional<std::pair<long, long>> position(const std::filesystem::path& file) {
  long epochs = 0;
  long steps = 0;
  if (file.extension() != ".h5") return std::nullopt;
  if (std::sscanf(file.stem().c_str(), "epoch-%ld-step-%ld", &epochs, &steps) < 1) return std::nullopt;
  return std::pair(epochs, steps);
}

// Returns the checkpoints in some folders, oldest first. Equal ones are in the order of their folders, the
// first folder last.
std::vector<std::filesystem::path> checkpoints_in(std::vector<std::filesystem::path> folders) {
  std::vector<std::filesystem::path> found;
  std::reverse(folders.begin(), folders.end());
  for (const std::filesystem::path& folder : folders) {
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
      if (position(entry.path())) found.push_back(entry.path());
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return position(a) < position(b); });
  return found;
}

// Removes all checkpoints in a folder except the newest `kept`.
void remove_older(const std::filesystem::path& folder, std::size_t kept) {
  if (folder.empty()) return;
  std::error_code failed;
  const std::vector<std::filesystem::path> all = checkpoints_in({folder});
  for (std::size_t i = 0; i + kept < all.size(); ++i) std::filesystem::remove(all[i], failed);
}

void write_numbers(hdf5::Object& object, const CheckpointState& state) {
  object.set_attribute("epochs_done", state.epochs_done);
  object.set_attribute("steps_done", state.steps_done);
  object.set_attribute("updates", state.updates);
  object.set_attribute("best_validation_accuracy", state.best_validation_accuracy);
  object.set_attribute("validation_accuracy", state.validation_accuracy);
  object.set_attribute("loss_sum", state.loss_sum);
  object.set_attribute("correct_sum", state.correct_sum);
  object.set_attribute("schedule_factor", state.feedback.factor);
  object.set_attribute("schedule_best", state.feedback.best);
  object.set_attribute("schedule_wait", state.feedback.wait);
  object.set_attribute("schedule_cooldown", state.feedback.cooldown);
  object.set_attribute("best_evaluations", state.best.evaluations);
  object.set_attribute("best_wait", state.best.wait);
  object.set_attribute("best_updates", state.best.updates);
  object.set_attribute("best_loss", state.best.loss);
  object.set_attribute("best_accuracy", state.best.accuracy);
  object.set_attribute("stopped", std::int64_t{state.best.stopped});
  object.set_attribute("restores", state.restores);
}

CheckpointState read_numbers(const hdf5::Object& object) {
  CheckpointState state;
  state.epochs_done = object.attribute<std::int64_t>("epochs_done");
  state.steps_done = object.attribute<std::int64_t>("steps_done");
  state.updates = object.attribute<std::int64_t>("updates");
  state.best_validation_accuracy = object.attribute<double>("best_validation_accuracy");
  state.validation_accuracy = object.attribute<double>("validation_accuracy");
  state.loss_sum = object.attribute<double>("loss_sum");
  state.correct_sum = object.attribute<double>("correct_sum");
  if (object.has_attribute("schedule_factor")) {  // missing in early files of this version
    state.feedback = {.factor = object.attribute<double>("schedule_factor"),
                      .best = object.attribute<double>("schedule_best"),
                      .wait = object.attribute<std::int64_t>("schedule_wait"),
                      .cooldown = object.attribute<std::int64_t>("schedule_cooldown")};
  }
  if (object.has_attribute("best_evaluations")) {  // missing in early files of this version
    state.best = {.evaluations = object.attribute<std::int64_t>("best_evaluations"),
                  .wait = object.attribute<std::int64_t>("best_wait"),
                  .updates = object.attribute<std::int64_t>("best_updates"),
                  .loss = object.attribute<double>("best_loss"),
                  .accuracy = object.attribute<double>("best_accuracy"),
                  .stopped = object.attribute<std::int64_t>("stopped") != 0,
                  .parameters = {}};
  }
  if (object.has_attribute("restores")) state.restores = object.attribute<std::int64_t>("restores");
  return state;
}

// Throws Error if the file is not a checkpoint that can be read.
Fingerprint read_fingerprint(const std::filesystem::path& path, const hdf5::File& file) {
  const std::string format = read_format(file, kCheckpointVersion);
  if (format != "checkpoint")
    throw Error(fmt::format("{}: holds a {}, not a checkpoint", path.string(), format));
  const hdf5::Group group = file.group("fingerprint");
  Fingerprint fingerprint;
  for (const std::string& key : group.attribute_names()) {
    fingerprint.emplace_back(key, group.attribute<std::string>(key));
  }
  return fingerprint;
}

}  // namespace

Checkpoints::Checkpoints(std::filesystem::path folder, std::vector<engine::CanonicalParameter> parameters,
                         Fingerprint fingerprint, std::string recipe, std::int64_t kept,
                         std::filesystem::path fallback)
    : folder_(std::move(folder)),
      parameters_(std::move(parameters)),
      fingerprint_(std::move(fingerprint)),
      recipe_(std::move(recipe)),
      kept_(static_cast<std::size_t>(kept)),
      fallback_(std::move(fallback)) {}

void Checkpoints::make_folder() const {
  std::error_code failed;
  std::filesystem::create_directories(folder_, failed);
  if (failed) throw Error(fmt::format("{}: cannot be created: {}", folder_.string(), failed.message()));
  os::remove_temporaries(folder_);
  if (!fallback_.empty()) os::remove_temporaries(fallback_);
}

void Checkpoints::save(const CheckpointState& state) const {
  write(folder_, state);
  remove_older(folder_, kept_);
  remove_older(fallback_, 0);
}

void Checkpoints::save_in_fallback(const CheckpointState& state) const {
  std::error_code failed;
  std::filesystem::create_directories(fallback_, failed);
  if (failed) throw Error(fmt::format("{}: cannot be created: {}", fallback_.string(), failed.message()));
  write(fallback_, state);
  remove_older(fallback_, kept_);
}

void Checkpoints::write(const std::filesystem::path& folder, const CheckpointState& state) const {
  os::replace_file(folder / file_name(state), [&](const std::filesystem::path& temporary) {
    hdf5::File file = hdf5::File::create(temporary);
    write_format(file, "checkpoint", kCheckpointVersion);
    file.set_attribute("convoke_version", CONVOKE_VERSION);
    file.set_attribute("recipe", recipe_);
    write_numbers(file, state);
    hdf5::Group fingerprint = file.create_group("fingerprint");
    for (const auto& [key, value] : fingerprint_) fingerprint.set_attribute(key, value);
    const auto write = [&](const std::string& name, const std::vector<float>& values) {
      hdf5::Group group = file.create_group(name);
      write_parameters(group, parameters_, values);
    };
    const auto write_all = [&](const char* name, const std::vector<std::vector<float>>& arrays) {
      for (std::size_t i = 0; i < arrays.size(); ++i) write(fmt::format("{}-{}", name, i), arrays[i]);
    };
    write("parameters", state.parameters);
    write_all("optimizer", state.optimizer);
    write_all("other-optimizer", state.other_optimizers);
    if (!state.average.empty()) write("average", state.average);
    if (!state.change.empty()) write("change", state.change);
    if (!state.best.parameters.empty()) write("best", state.best.parameters);
    file.close();
  });
}

std::vector<std::filesystem::path> Checkpoints::files() const {
  return fallback_.empty() ? checkpoints_in({folder_}) : checkpoints_in({folder_, fallback_});
}

std::filesystem::path Checkpoints::newest_file() const {
  const std::vector<std::filesystem::path> all = files();
  return all.empty() ? std::filesystem::path() : all.back();
}

CheckpointState Checkpoints::read(const std::filesystem::path& path) const {
  const hdf5::File file = hdf5::File::open(path);
  require_same_fingerprint(path, read_fingerprint(path, file));
  CheckpointState state = read_numbers(file);
  const auto read_one = [&](const std::string& name) {
    return read_parameters(file.group(name), parameters_);
  };
  const auto read_all = [&](const char* name) {
    std::vector<std::vector<float>> arrays;
    for (std::string group; file.has_group(group = fmt::format("{}-{}", name, arrays.size()));)
      arrays.push_back(read_one(group));
    return arrays;
  };
  state.parameters = read_one("parameters");
  state.optimizer = read_all("optimizer");
  state.other_optimizers = read_all("other-optimizer");
  if (file.has_group("average")) state.average = read_one("average");
  if (file.has_group("change")) state.change = read_one("change");
  if (file.has_group("best")) state.best.parameters = read_one("best");
  return state;
}

void Checkpoints::require_same_fingerprint(const std::filesystem::path& file,
                                           const Fingerprint& stored) const {
  const std::vector<std::string> differing = differences(stored, fingerprint_, "in the checkpoint");
  if (differing.empty()) return;
  throw ForeignFingerprint(
      fmt::format("{}: its resume fingerprint differs ({})", file.string(), join(differing, "; ")),
      "resume with the recipe of that run (convoke train --resume RUN), or train in another folder");
}

void Checkpoints::require_resumable() const {
  const std::vector<std::filesystem::path> all = files();
  for (auto file = all.rbegin(); file != all.rend(); ++file) {
    try {
      return require_same_fingerprint(*file, read_fingerprint(*file, hdf5::File::open(*file)));
    } catch (const ForeignFingerprint&) {
      throw;
    } catch (const NewerFormat&) {
      throw;
    } catch (const Error&) {
      continue;  // a damaged file, which newest() reports
    }
  }
}

std::optional<CheckpointState> Checkpoints::newest(
    const std::function<void(const std::string&)>& note) const {
  const std::vector<std::filesystem::path> all = files();
  std::string reason;
  for (auto file = all.rbegin(); file != all.rend(); ++file) {
    try {
      return read(*file);
    } catch (const ForeignFingerprint&) {
      throw;
    } catch (const NewerFormat&) {
      throw;
    } catch (const Error& error) {
      note(fmt::format("checkpoint skipped: {}", error.what()));
      reason = error.what();
    }
  }
  if (all.empty()) return std::nullopt;
  throw Error(
      fmt::format("no checkpoint can be read; the oldest: {}", reason),
      "look at the disk and its file system; to begin the run again, move its folder checkpoints away");
}

std::filesystem::path fallback_of(const std::filesystem::path& fallback, const std::filesystem::path& run,
                                  const std::filesystem::path& folder) {
  if (fallback.empty()) return {};
  const std::filesystem::path place = std::filesystem::absolute(run).lexically_normal() / "";
  const std::string text = place.parent_path().string();
  const std::string name = fmt::format("{}-{:08x}", place.parent_path().filename().string(),
                                       crc32(std::as_bytes(std::span(text))));
  return fallback / name / folder.lexically_relative(run);
}

namespace {

// Returns the folders of each member of an ensemble in `folders`, which are those of its run.
std::vector<std::vector<std::filesystem::path>> folders_of_members(
    const std::vector<std::filesystem::path>& folders) {
  std::set<std::string> members;
  for (const std::filesystem::path& folder : folders) {
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with("member-")) members.insert(name);
    }
  }
  std::vector<std::vector<std::filesystem::path>> all;
  for (const std::string& member : members) {
    all.emplace_back();
    for (const std::filesystem::path& folder : folders) all.back().push_back(folder / member);
  }
  return all;
}

// Returns read(path, file) of the newest checkpoint in `folders` for which it does not throw; otherwise a
// default value.
template <class Read>
auto of_newest(const std::vector<std::filesystem::path>& folders, const Read& read)
    -> decltype(read(folders.front(), std::declval<const hdf5::File&>())) {
  const std::vector<std::filesystem::path> files = checkpoints_in(folders);
  for (auto file = files.rbegin(); file != files.rend(); ++file) {
    try {
      return read(*file, hdf5::File::open(*file));
    } catch (const Error&) {  // damaged, or removed meanwhile: the one before it counts
    }
  }
  return {};
}

}  // namespace

std::int64_t steps_saved(const std::vector<std::filesystem::path>& folders) {
  std::int64_t steps = of_newest(folders, [](const std::filesystem::path&, const hdf5::File& file) {
    return file.attribute<std::int64_t>("updates");
  });
  for (const auto& member : folders_of_members(folders)) steps += steps_saved(member);
  return steps;
}

Fingerprint saved_fingerprint(const std::vector<std::filesystem::path>& folders) {
  Fingerprint found = of_newest(folders, read_fingerprint);
  for (const auto& member : folders_of_members(folders)) {
    if (!found.empty()) break;
    found = saved_fingerprint(member);
  }
  return found;
}

}  // namespace convoke::run
