#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "convoke/data_prep/files/npy.hpp"
#include "convoke/data_prep/sources/source.hpp"
#include "convoke/data_prep/sources/source_options.hpp"

namespace convoke::data_prep {

/// The arrays of one split: the names of its samples and of its labels.
struct ArrayPair {
  std::string split;  ///< "train", ...; empty: unknown
  std::string samples = {};
  std::string labels = {};
};

/// Labels and their faults; a label with a fault is 0.
struct ArrayLabels {
  std::string name = {};  ///< of the file and the array, for messages
  std::vector<std::int32_t> values = {};
  std::vector<std::string> faults = {};       ///< one per label; empty: no fault
  std::int64_t classes = 0;                   ///< the highest + 1, or the columns of one-hot labels
  std::vector<std::string> class_names = {};  ///< of texts; else none
};

/// Arrays of a file or folder by their names, such as "x_train" or "train/images".
class NamedArrays {
 public:
  virtual ~NamedArrays() = default;

  const std::filesystem::path& path() const { return path_; }
  const std::vector<std::string>& names() const { return names_; }  ///< sorted

  /// Opens an array; `labels` is the array of its labels, if it has one. Throws Error if the array is damaged
  /// or does not hold numbers.
  virtual std::unique_ptr<SampleArray> open(const std::string& name,
                                            const std::string& labels = {}) const = 0;

  /// Reads the labels of several splits: whole numbers (N) or (N, 1), or one-hot rows (N, K). Throws Error if
  /// an array is damaged or has another shape.
  virtual std::vector<ArrayLabels> labels(const std::vector<std::string>& names,
                                          const std::vector<std::string>& class_names) const;

  /// Returns pairs of samples and labels, training first. Names in `columns` (path, label) replace the usual
  /// words for samples and labels. Throws Error naming the arrays if there is no pair, if samples have no
  /// labels or labels no samples, or if the names are ambiguous.
  std::vector<ArrayPair> pairs(const ColumnOptions& columns = {}) const;

  /// Returns the array with the samples of `split`; else the only array of samples; else the only array. It
  /// need not have labels. Throws Error naming the arrays if there is none.
  ArrayPair samples_of(const std::string& split) const;

 protected:
  /// `hint`: how to write a file with names that are known.
  NamedArrays(std::filesystem::path path, std::string hint)
      : path_(std::move(path)), hint_(std::move(hint)) {}
  /// Throws Error if two names are equal.
  void set_names(std::vector<std::string> names);

 private:
  std::filesystem::path path_;
  std::string hint_;
  std::vector<std::string> names_;
};

/// True if the name is a name of samples or labels.
bool names_samples_or_labels(const std::string& array);

/// Opens arrays of samples and labels as a source; open_numpy() describes which. Throws Error as
/// open_numpy().
std::unique_ptr<Source> open_array_source(std::unique_ptr<const NamedArrays> arrays,
                                          const SourceOptions& options);

/// Opens NamedArrays::samples_of() as an array that keeps `arrays` open.
std::shared_ptr<SampleArray> open_samples_of(std::unique_ptr<const NamedArrays> arrays,
                                             const std::string& split);

/// Reads the labels of one array of numbers. Throws Error as NamedArrays::labels().
ArrayLabels read_labels(SampleArray& array);

}  // namespace convoke::data_prep
