#pragma once
#include <filesystem>

namespace convoke::study {

/// Completes the folder of an ensemble whose members were trained one after another, each alone, and which
/// `convoke gather` made from the runs in members/: its summary.json and metrics.jsonl become those of a run
/// in which all members trained at the same time, each on its own cores. The makespan is that of the slowest
/// member plus the gathering. Each member evaluated itself on all test samples, which is the work of a rank
/// of that run, so the votes of `convoke gather` do not count. Competition of members for memory, caches and
/// the clock of the processor is missing. Adds `emulated` to summary.json. Throws Error naming a file that is
/// missing or not from Convoke.
void complete_emulated_run(const std::filesystem::path& folder);

}  // namespace convoke::study
