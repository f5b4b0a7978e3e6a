#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "convoke/data_prep/files/npy.hpp"

namespace convoke::data_prep {

/// The arrays of one split: the names of its samples and of its labels.
struct NumpyPair {
  std::string split;  ///< "train", ...; empty: unknown
  std::string samples = {};
  std::string labels = {};
};

/// Named arrays: the members of an .npz archive or the .npy files of a folder. Their names, without .npy, are
/// sorted.
class NumpyArrays {
 public:
  /// Throws Error if the archive is damaged.
  explicit NumpyArrays(const std::filesystem::path& path);
  ~NumpyArrays();

  const std::filesystem::path& path() const { return path_; }
  const std::vector<std::string>& names() const { return names_; }

  /// Throws Error if the array is damaged or does not hold numbers.
  NpyReader open(const std::string& name) const;

  /// Returns pairs of samples and labels, training first. Throws Error naming the arrays if there is no pair,
  /// if samples have no labels or labels no samples, or if the names are ambiguous.
  std::vector<NumpyPair> pairs() const;

  /// Returns the array with the samples of `split`, which need not have labels; else the only array of
  /// samples; else the only array. Throws Error naming the arrays if there is none.
  std::string samples_of(const std::string& split) const;

 private:
  struct Archive;

  std::filesystem::path path_;
  std::vector<std::string> names_;
  std::unique_ptr<Archive> archive_;  // null: a folder
};

/// True if the name, without .npy, is a name of samples or labels.
bool names_samples_or_labels(const std::string& array);

/// Labels and their faults; a label with a fault is 0.
struct NumpyLabels {
  std::vector<std::int32_t> values;
  std::vector<std::string> faults;  ///< one per label; empty: no fault
  std::int64_t classes = 0;         ///< the highest + 1, or the columns of one-hot labels
};

/// Reads whole numbers (N) or (N, 1), or one-hot rows (N, K). Throws Error if the array is damaged or has
/// another shape.
NumpyLabels read_labels(NpyReader& array);

}  // namespace convoke::data_prep
