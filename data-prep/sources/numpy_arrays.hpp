#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "convoke/data_prep/files/npy.hpp"

namespace convoke::data_prep {

/// The arrays of one split: how its samples and their labels are called.
struct NumpyPair {
  std::string split;  ///< "train", ...; empty: the names do not say
  std::string samples = {};
  std::string labels = {};
};

/// Named arrays: the members of an .npz archive or the .npy files of a folder, by the part of their name
/// before .npy, in order of their names.
class NumpyArrays {
 public:
  /// Throws Error if the archive is damaged.
  explicit NumpyArrays(const std::filesystem::path& path);
  ~NumpyArrays();

  const std::filesystem::path& path() const { return path_; }
  const std::vector<std::string>& names() const { return names_; }

  /// Throws Error if the array is damaged, or not one of numbers.
  NpyReader open(const std::string& name) const;

  /// Pairs of samples and labels, training first. Throws Error naming the arrays if there are none, if
  /// samples have no labels, labels no samples, or several could be the same.
  std::vector<NumpyPair> pairs() const;

  /// The array of the samples of `split`, which need have no labels; else the only one of samples, else the
  /// only one. Throws Error naming the arrays if there is none such.
  std::string samples_of(const std::string& split) const;

 private:
  struct Archive;

  std::filesystem::path path_;
  std::vector<std::string> names_;
  std::unique_ptr<Archive> archive_;  // none: a folder
};

/// True if the name, without .npy, is one of samples or labels.
bool names_samples_or_labels(const std::string& array);

/// Labels, and what is wrong with one in place of which there is 0.
struct NumpyLabels {
  std::vector<std::int32_t> values;
  std::vector<std::string> faults;  ///< as many; empty: nothing
  std::int64_t classes = 0;         ///< the highest + 1, or the columns of one-hot labels
};

/// Reads whole numbers (N) or (N, 1), or one-hot rows (N, K). Throws Error if they are damaged or of another
/// shape.
NumpyLabels read_labels(NpyReader& array);

}  // namespace convoke::data_prep
