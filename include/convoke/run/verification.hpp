#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

// Are two runs, checkpoints or models equal, bit by bit? If not, where do they begin to differ?

namespace convoke::run {

/// The result for two files of the same kind: models, ensembles or checkpoints.
struct FileComparison {
  std::string position;     ///< in training: "step 120"; empty for a model without a step
  std::int64_t arrays = 0;  ///< compared
  std::int64_t values = 0;  ///< in these arrays
  /// In the order of the file, so parameters in the order of the graph, one for each array that differs:
  /// "/parameters/conv2d_1.weight[3, 0, 1, 2]: 0.25 and 0.5; 5 of 72 values differ, by at most 0.5". Then one
  /// for each differing fact. Empty if the files are equal.
  std::vector<std::string> differences;
};

/// Compares all arrays of two files by their bits, and their facts, but not the versions of Convoke that
/// wrote them. Holds one array of each in memory. Throws Error naming the file if one cannot be read, is
/// damaged, or is neither a model nor a checkpoint, and if the two are of different kinds.
FileComparison compare_files(const std::filesystem::path& a, const std::filesystem::path& b);

/// The files of two runs that can be compared: checkpoints by their order in training, then the best models,
/// then the model or the ensemble. Paths are relative to the run folders.
struct RunFiles {
  std::vector<std::filesystem::path> both;
  std::vector<std::filesystem::path> only_a, only_b;
};

/// Throws Error if `a` or `b` has no such file.
RunFiles files_of_runs(const std::filesystem::path& a, const std::filesystem::path& b);

}  // namespace convoke::run
