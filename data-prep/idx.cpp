#include "convoke/data_prep/idx.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <optional>

#include "convoke/core/error.hpp"
#include "idx_file.hpp"

namespace convoke::data_prep {
namespace {

namespace fs = std::filesystem;

/// Splits and the first part of their files' names.
struct SplitFiles {
  const char* split;
  const char* prefix;
};
constexpr std::array kSplits{SplitFiles{"train", "train"}, SplitFiles{"test", "t10k"}};

// The file of that name in `folder`: as LeCun names it or, as some copies have it, with a dot before "idx";
// plain before gzipped.
std::optional<fs::path> find_file(const fs::path& folder, const std::string& prefix,
                                  const std::string& kind) {
  for (const char* extension : {"", ".gz"}) {
    for (const char* separator : {"-", "."}) {
      fs::path file = folder / fmt::format("{}{}{}-ubyte{}", prefix, separator, kind, extension);
      if (fs::is_regular_file(file)) return file;
    }
  }
  return {};
}

fs::path require_file(const fs::path& folder, const std::string& prefix, const std::string& kind) {
  if (const auto file = find_file(folder, prefix, kind)) return *file;
  throw Error(
      fmt::format("{}: has no {}-{}-ubyte, nor the same with .gz", folder.string(), prefix, kind),
      "a folder of IDX files holds {train,t10k}-images-idx3-ubyte and {train,t10k}-labels-idx1-ubyte");
}

class IdxSource final : public Source {
 public:
  explicit IdxSource(const fs::path& folder) {
    std::vector<std::string> names;
    for (const SplitFiles& entry : kSplits) {
      const std::string prefix = entry.prefix;
      splits_.emplace_back(IdxFile(require_file(folder, prefix + "-images", "idx3"), 3, "images"));
      Split& split = splits_.back();
      IdxFile labels(require_file(folder, prefix + "-labels", "idx1"), 1, "labels");
      const std::vector<std::int64_t>& images = split.images.extents();
      if (labels.extents()[0] != images[0]) {
        throw Error(fmt::format("{} has {} images, but {} has {} labels", split.images.file().string(),
                                images[0], labels.file().string(), labels.extents()[0]));
      }
      const Shape shape{1, images[1], images[2]};
      if (splits_.size() == 1) info_.sample_shape = shape;
      if (shape != info_.sample_shape) {
        throw Error(fmt::format("{} has images of {} x {}, but {} of {} x {}", split.images.file().string(),
                                shape[1], shape[2], splits_.front().images.file().string(),
                                info_.sample_shape[1], info_.sample_shape[2]));
      }
      split.labels.resize(static_cast<std::size_t>(images[0]));
      labels.read(0, split.labels);
      info_.classes = std::max<std::int64_t>(info_.classes,
                                             *std::max_element(split.labels.begin(), split.labels.end()) + 1);
      sizes_.push_back({entry.split, images[0]});
      for (const IdxFile* file : {&split.images, &labels}) names.push_back(file->file().filename().string());
    }
    if (info_.classes < 2) {
      throw Error(fmt::format("{}: all labels are 0; a dataset needs at least 2 classes", folder.string()));
    }
    info_.provenance = fmt::format("IDX files {} of {}", fmt::join(names, ", "), folder.string());
  }

  const data::DatasetInfo& info() const override { return info_; }
  const std::vector<data::SplitSize>& splits() const override { return sizes_; }

  void read(const std::string& name, std::int64_t first, std::span<std::uint8_t> samples,
            std::span<std::int32_t> labels) override {
    const auto it =
        std::find_if(sizes_.begin(), sizes_.end(), [&](const auto& size) { return size.name == name; });
    assert(it != sizes_.end());
    Split& split = splits_[static_cast<std::size_t>(it - sizes_.begin())];
    split.images.read(first, samples);
    std::copy_n(split.labels.begin() + first, labels.size(), labels.begin());
  }

 private:
  struct Split {
    explicit Split(IdxFile file) : images(std::move(file)) {}
    IdxFile images;
    std::vector<std::uint8_t> labels;
  };

  data::DatasetInfo info_;
  std::vector<data::SplitSize> sizes_;
  std::vector<Split> splits_;
};

}  // namespace

bool is_idx(const fs::path& path) { return find_file(path, "train-images", "idx3").has_value(); }

std::unique_ptr<Source> open_idx(const fs::path& folder) { return std::make_unique<IdxSource>(folder); }

}  // namespace convoke::data_prep
