#pragma once
#include <optional>

#include "convoke/archive/zip.hpp"
#include "sources/named_arrays.hpp"

namespace convoke::data_prep {

/// The members of an .npz archive or the .npy files of a folder; their names are without .npy.
class NumpyArrays final : public NamedArrays {
 public:
  /// Throws Error if the archive is damaged.
  explicit NumpyArrays(const std::filesystem::path& path);

  std::unique_ptr<SampleArray> open(const std::string& name, const std::string& labels = {}) const override;

 private:
  std::optional<archive::ZipFile> archive_;  // none: a folder
};

}  // namespace convoke::data_prep
