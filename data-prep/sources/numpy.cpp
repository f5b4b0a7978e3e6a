#include "convoke/data_prep/sources/source_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "convoke/archive/zip.hpp"
#include "convoke/core/csv.hpp"
#include "convoke/core/error.hpp"
#include "sources/axes.hpp"
#include "sources/named_arrays.hpp"

namespace convoke::data_prep {
namespace {

namespace fs = std::filesystem;

/// The members of an .npz archive or the .npy files of a folder; their names are without .npy.
class NumpyArrays final : public NamedArrays {
 public:
  /// Throws Error if the archive is damaged.
  explicit NumpyArrays(const fs::path& path)
      : NamedArrays(
            path,
            "numpy.savez(file, x_train=x, y_train=y, x_test=..., y_test=...): one array of samples and "
            "one of labels for each split, or images and labels alone; or name the arrays with "
            "--path-column and --label-column") {
    constexpr std::string_view kEnding = ".npy";
    std::vector<std::string> names;
    const auto add = [&](const std::string& file) {
      if (!lower_case(file).ends_with(kEnding)) return;
      names.push_back(file.substr(0, file.size() - kEnding.size()));
      files_[names.back()] = file;
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

  std::unique_ptr<SampleArray> open(const std::string& name,
                                    const std::string& /*labels*/ = {}) const override {
    const std::string& file = files_.at(name);
    if (!archive_) return std::make_unique<NpyReader>(archive::open_plain(path() / file));
    return std::make_unique<NpyReader>(archive_->open(file));
  }

 private:
  std::optional<archive::ZipFile> archive_;   // none: a folder
  std::map<std::string, std::string> files_;  // by the names of the arrays
};

/// An array whose samples are put in the usual order of axes when they are read.
class OrderedArray final : public SampleArray {
 public:
  OrderedArray(std::shared_ptr<SampleArray> array, const std::string& axes)
      : SampleArray(array->name()), array_(std::move(array)), axes_(axes) {
    shape_ = axes_.in_order(array_->shape());
    none_ = array_->values(0);
  }

  void read(std::uint64_t first, NpyValues& values) override {
    array_->read(first, values);
    std::visit(
        [&]<class T>(std::vector<T>& all) {
          if (all.empty()) return;
          const std::int64_t size = shape_.elements() / shape_[0];
          for (auto begin = all.begin(); begin != all.end(); begin += size) {
            std::vector<T> sample(begin, begin + size);
            axes_.put_in_order(sample, array_->shape());
            std::copy(sample.begin(), sample.end(), begin);
          }
        },
        values);
  }

 private:
  std::shared_ptr<SampleArray> array_;
  Axes axes_;
};

}  // namespace

bool is_numpy(const fs::path& path) {
  const auto ends = [](const fs::path& file, const char* ending) {
    return lower_case(file.extension().string()) == ending;
  };
  if (!fs::is_directory(path)) return ends(path, ".npz");
  return std::any_of(
      fs::directory_iterator(path), fs::directory_iterator(), [&](const fs::directory_entry& entry) {
        return ends(entry.path(), ".npy") && names_samples_or_labels(entry.path().stem().string());
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

std::shared_ptr<SampleArray> in_order(std::shared_ptr<SampleArray> array, const std::string& axes) {
  return std::make_shared<OrderedArray>(std::move(array), axes);
}

}  // namespace convoke::data_prep
