#include "convoke/data_prep/sources/numpy.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "convoke/core/error.hpp"
#include "sources/array_source.hpp"
#include "sources/numpy_arrays.hpp"

namespace convoke::data_prep {

namespace fs = std::filesystem;

bool is_numpy(const fs::path& path) {
  if (!fs::is_directory(path)) return path.extension() == ".npz";
  return std::any_of(
      fs::directory_iterator(path), fs::directory_iterator(), [](const fs::directory_entry& entry) {
        return entry.path().extension() == ".npy" && names_samples_or_labels(entry.path().stem().string());
      });
}

std::unique_ptr<Source> open_numpy(const fs::path& path, const SourceOptions& options) {
  if (const std::string& axes = options.arrays.axes; !axes.empty() && !axes.starts_with('N')) {
    throw Error(fmt::format("--axes {}: the samples of a NumPy array must be its first axis", axes),
                "save numpy.moveaxis(x, -1, 0), and begin with N");
  }
  return open_array_source(std::make_unique<NumpyArrays>(path), options);
}

std::shared_ptr<SampleArray> open_npz_samples(const fs::path& npz, const std::string& split) {
  return open_samples_of(std::make_unique<NumpyArrays>(npz), split);
}

}  // namespace convoke::data_prep
