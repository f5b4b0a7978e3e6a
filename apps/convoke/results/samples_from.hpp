#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "convoke/data/batch_loader.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/run/model_file.hpp"

namespace convoke::app {

/// Samples to label, from one input of the command line.
struct SampleSource {
  std::string name;
  std::int64_t count = 0;
  /// Samples first .. first + n - 1 for the network: (n, C, H, W), (n, L, F) or (n, F), normalized.
  std::function<std::vector<float>(std::int64_t first, std::int64_t n)> load;
};

/// The order of the axes in a .npy array of pictures; kAny: by its shape, with channels last if both fit.
enum class BatchLayout { kAny, kNhwc, kNchw };

struct SampleOptions {
  std::string split = "test";  ///< of datasets, .npz archives and HDF5 files
  BatchLayout layout = BatchLayout::kAny;
  bool raw = false;  ///< do not normalize floating-point values of arrays
};

/// Returns the samples `ids` as the evaluator takes them, (ids.size(), sample...): normalized; tokens as
/// whole numbers. `sample`: the shape of one.
std::vector<float> inputs_of(const data::BatchLoader& loader, std::span<const std::uint32_t> ids,
                             const Shape& sample);

/// Opens an input of the command line: a picture (decoded to the model's channels, and fitted to its height
/// and width like the training pictures); a .npy array, or a split of a .npz or of arrays in an HDF5 file
/// (h5py, MATLAB), read in parts, in the units of the stored samples, with the axes that the training arrays
/// had by an option of `prepare` if they fit, else with features (N, F), sequences (N, L, F), tokens (N, L)
/// or pictures (N, H, W, C), (N, C, H, W) or, with one channel, (N, H, W); a split of a dataset (.h5); or
/// texts or rows (.csv, .tsv, .txt), see samples_from_raw_file. Throws Error naming the file if it does not
/// fit the model, or has fractions of 1 for pixels; reading throws for a value of an array that is not finite
/// or no token of the model.
/// The ranks of a node hold one copy of a dataset, of which each reads its part: collective over `world`.
/// `model_name`: the file of the model, for messages.
SampleSource samples_from(const std::string& input, const SampleOptions& options,
                          const run::ModelDescription& model, const std::string& model_name,
                          const mpi::Communicator& world);

/// Texts of the command line. Throws Error if the model does not take texts, or a text is blank.
std::vector<SampleSource> samples_from_texts(const std::vector<std::string>& texts,
                                             const run::ModelDescription& model);

/// True for .csv, .tsv and .txt files; case does not count.
bool is_raw_file(const std::string& input);

/// A CSV with the text column or the table columns of the training data (other columns are ignored), or a
/// .txt with a text in each line, prepared like the training samples. Throws Error naming the file and the
/// line or column if it does not fit the model. `root`: prints warnings for doubtful readings of a CSV, and
/// for categories that the training rows lack.
SampleSource samples_from_raw_file(const std::string& file, const run::ModelDescription& model, bool root);

/// Throws Error if texts or rows of a dataset were prepared differently from the training samples of the
/// model, for example with another vocabulary.
void require_same_preparation(const run::ModelDescription& model, const data::DatasetInfo& dataset,
                              const std::string& dataset_file);

}  // namespace convoke::app
