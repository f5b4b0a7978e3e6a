#include "sources/numpy_arrays.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "convoke/core/error.hpp"

namespace convoke::data_prep {

namespace fs = std::filesystem;

NumpyArrays::NumpyArrays(const fs::path& path)
    : NamedArrays(path,
                  "numpy.savez(file, x_train=x, y_train=y, x_test=..., y_test=...): one array of samples and "
                  "one of labels for each split, or images and labels alone; or name the arrays with "
                  "--path-column and --label-column") {
  constexpr std::string_view kEnding = ".npy";
  std::vector<std::string> names;
  const auto add = [&](const std::string& file) {
    if (file.ends_with(kEnding)) names.push_back(file.substr(0, file.size() - kEnding.size()));
  };
  if (fs::is_directory(path)) {
    for (const fs::directory_entry& entry : fs::directory_iterator(path))
      add(entry.path().filename().string());
  } else {
    archive_.emplace(path);
    for (const archive::ZipFile::Member& member : archive_->members()) add(member.name);
  }
  set_names(std::move(names));
}

std::unique_ptr<SampleArray> NumpyArrays::open(const std::string& name, const std::string& /*labels*/) const {
  const std::string file = name + ".npy";
  if (!archive_) return std::make_unique<NpyReader>(archive::open_plain(path() / file));
  return std::make_unique<NpyReader>(archive_->open(file));
}

}  // namespace convoke::data_prep
