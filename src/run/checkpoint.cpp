#include "convoke/run/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <span>
#include <system_error>
#include <utility>

#include "convoke/core/checksum.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/keys.hpp"
#include "convoke/core/lookup.hpp"
#include "convoke/core/text.hpp"
#include "convoke/core/versions.hpp"
#include "convoke/os/atomic_file.hpp"
#include "convoke/os/file.hpp"
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

// Removes all checkpoints in a folder except the newest `kept` up to `state`, which was written now. Later
// ones are damaged: training continued from one before them.
void remove_others(const std::filesystem::path& folder, std::size_t kept, const CheckpointState& state) {
  if (folder.empty()) return;
  const std::pair<long, long> now(state.epochs_done, state.steps_done);
  std::error_code failed;
  const std::vector<std::filesystem::path> all = checkpoints_in({folder});
  const auto later =
      std::find_if(all.begin(), all.end(), [&](const auto& file) { return position(file) > now; });
  for (auto file = all.begin(); file != all.end(); ++file) {
    const bool stays = file < later && later - file <= static_cast<std::ptrdiff_t>(kept);
    if (!stays) std::filesystem::remove(*file, failed);
  }
}

constexpr std::size_t kAlways = 7;  // the fields that every file has; early ones lack the others
constexpr std::array kStateFields{
    field<&CheckpointState::epochs_done>("epochs_done"),
    field<&CheckpointState::steps_done>("steps_done"),
    field<&CheckpointState::updates>("updates"),
    field<&CheckpointState::best_validation_accuracy>("best_validation_accuracy"),
    field<&CheckpointState::validation_accuracy>("validation_accuracy"),
    field<&CheckpointState::loss_sum>("loss_sum"),
    field<&CheckpointState::correct_sum>("correct_sum"),
    field<&CheckpointState::feedback, &optim::Feedback::factor>("schedule_factor"),
    field<&CheckpointState::feedback, &optim::Feedback::best>("schedule_best"),
    field<&CheckpointState::feedback, &optim::Feedback::wait>("schedule_wait"),
    field<&CheckpointState::feedback, &optim::Feedback::cooldown>("schedule_cooldown"),
    field<&CheckpointState::best, &BestSoFar::evaluations>("best_evaluations"),
    field<&CheckpointState::best, &BestSoFar::wait>("best_wait"),
    field<&CheckpointState::best, &BestSoFar::updates>("best_updates"),
    field<&CheckpointState::best, &BestSoFar::loss>("best_loss"),
    field<&CheckpointState::best, &BestSoFar::accuracy>("best_accuracy"),
    field<&CheckpointState::best, &BestSoFar::stopped>("stopped"),
    field<&CheckpointState::restores>("restores"),
};

void write_numbers(hdf5::Object& object, const CheckpointState& state) {
  const Settings fields = to_settings(kStateFields, state);
  for (const auto& [name, value] : fields.entries()) {
    if (const auto* number = std::get_if<double>(&value.data())) {
      object.set_attribute(name, *number);
    } else if (const auto* count = std::get_if<std::int64_t>(&value.data())) {
      object.set_attribute(name, *count);
    } else {
      object.set_attribute(name, std::int64_t{std::get<bool>(value.data())});
    }
  }
}

CheckpointState read_numbers(const hdf5::Object& object) {
  Settings fields = to_settings(kStateFields, CheckpointState());
  for (std::size_t i = 0; i < kStateFields.size(); ++i) {
    const std::string name(kStateFields[i].name);
    if (i >= kAlways && !object.has_attribute(name)) continue;
    const Value::Variant& like = fields.find(name)->data();
    if (std::holds_alternative<double>(like)) {
      fields.set(name, object.attribute<double>(name));
    } else {
      const auto count = object.attribute<std::int64_t>(name);
      fields.set(name, std::holds_alternative<bool>(like) ? Value(count != 0) : Value(count));
    }
  }
  return from_settings(kStateFields, fields, "checkpoint");
}

// Throws Error if the file is not a checkpoint that can be read.
Fingerprint read_fingerprint(const std::filesystem::path& path, const hdf5::File& file) {
  const std::string format = read_format(file, kCheckpointVersion);
  if (format != "checkpoint")
    throw Error(fmt::format("{}: holds a {}, not a checkpoint", path.string(), format));
  const hdf5::Group group = file.group("fingerprint");
  Fingerprint fingerprint;
  for (const std::string& key : group.attribute_names()) {
    fingerprint.push_back(current_entry(key, group.attribute<std::string>(key)));
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
  remove_others(folder_, kept_, state);
  remove_others(fallback_, 0, state);
}

void Checkpoints::save_in_fallback(const CheckpointState& state) const {
  std::error_code failed;
  std::filesystem::create_directories(fallback_, failed);
  if (failed) throw Error(fmt::format("{}: cannot be created: {}", fallback_.string(), failed.message()));
  write(fallback_, state);
  remove_others(fallback_, kept_, state);
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
  return read(hdf5::File::open(path), path);
}

CheckpointState Checkpoints::from_bytes(const std::string& bytes) const {
  const std::filesystem::path name = "checkpoint from another rank";
  return read(hdf5::File::open_image(std::as_bytes(std::span(bytes)), name), name);
}

CheckpointState Checkpoints::read(const hdf5::File& file, const std::filesystem::path& path) const {
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
      "resume with the recipe of that run (convoke train --resume RUN), or train in another folder; "
      "--set model.weights=RUN starts from its model");
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

std::optional<Checkpoints::Stored> Checkpoints::newest_stored(const Note& note) const {
  const std::vector<std::filesystem::path> all = files();
  std::string reason;
  for (auto file = all.rbegin(); file != all.rend(); ++file) {
    try {
      return Stored{*file, read(*file)};
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

std::optional<CheckpointState> Checkpoints::newest(const Note& note) const {
  std::optional<Stored> stored = newest_stored(note);
  if (!stored) return std::nullopt;
  return std::move(stored->state);
}

std::string Checkpoints::newest_bytes(const Note& note) const {
  const std::optional<Stored> stored = newest_stored(note);
  return stored ? os::File(stored->file, os::Access::kRead).text() : std::string();
}

std::filesystem::path fallback_of(const std::filesystem::path& fallback, const std::filesystem::path& run,
                                  const std::filesystem::path& folder) {
  if (fallback.empty()) return {};
  std::error_code unknown;  // then links count as they are written
  const std::filesystem::path written = std::filesystem::absolute(run).lexically_normal();
  const std::filesystem::path real = std::filesystem::weakly_canonical(written, unknown);
  const std::filesystem::path place = (unknown ? written : real) / "";
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

std::int64_t epochs_saved(const std::vector<std::filesystem::path>& folders) {
  std::int64_t epochs = of_newest(folders, [](const std::filesystem::path&, const hdf5::File& file) {
    return file.attribute<std::int64_t>("epochs_done");
  });
  for (const auto& member : folders_of_members(folders)) epochs = std::max(epochs, epochs_saved(member));
  return epochs;
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
