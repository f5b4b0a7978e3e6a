#pragma once
#include <filesystem>
#include <map>
#include <span>
#include <string>

#include "convoke/core/settings.hpp"
#include "convoke/study/tables/measurement.hpp"

namespace convoke::study {

/// Reads the measurement of a finished run from its folder, without coordinates and marks. Phases are means
/// over the ranks; the time of an epoch is the mean over the epochs of the slowest member; the training
/// accuracy is that of the last epoch, the mean over the members. `columns`: names with dots of further
/// numbers of summary.json. Throws Error naming the file if it is missing or not from Convoke.
Measurement read_finished_run(const std::filesystem::path& folder, std::span<const std::string> columns = {});

/// Returns those of these numbers that the run's summary.json has. Throws Error if it cannot be read.
std::map<std::string, double, std::less<>> further_numbers(const std::filesystem::path& folder,
                                                           std::span<const std::string> columns);

/// Returns the placement of its ranks in a comparable form, "host 0: 0; host 0: 1": hosts are numbered by
/// their first rank, because a queue may assign any of several equal hosts. Empty if environment.json has no
/// placement.
std::string bindings_of(const std::filesystem::path& folder);

/// Completes the folder of an ensemble whose members were trained one after another, each alone, and which
/// `convoke gather` made from the runs in members/: its summary.json and metrics.jsonl become those of a run
/// in which all members trained at the same time, each on its own cores. The makespan is that of the slowest
/// member plus the gathering. Each member evaluated itself on all test samples, which is the work of a rank
/// of that run, so the votes of `convoke gather` do not count. Competition of members for memory, caches and
/// the clock of the processor is missing. Adds `emulated` to summary.json. Throws Error naming a file that is
/// missing or not from Convoke.
void complete_emulated_run(const std::filesystem::path& folder);

/// Returns the content of a file of a finished run. Throws Error naming it if it cannot be read.
Settings require_json(const std::filesystem::path& file);

/// Returns the number at `path`, keys with dots. Throws Error naming the file of `table` if there is none.
double require(const Settings& table, const std::string& path);

}  // namespace convoke::study
