#include "convoke/data_prep/sources/source_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <optional>

#include "convoke/archive/byte_reader.hpp"
#include "convoke/core/error.hpp"
#include "sources/labels.hpp"
#include "sources/value_range.hpp"

namespace convoke::data_prep {
namespace {

namespace fs = std::filesystem;

/// A split and the prefix of its files' names.
struct SplitFiles {
  const char* split;
  const char* prefix;
};
constexpr std::array kIdxSplits{SplitFiles{"train", "train"}, SplitFiles{"test", "t10k"}};

// Returns the file of that name in `folder`: as LeCun names it or, in some copies, with a dot before "idx";
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
      fmt::format("{}: has no {}-{}-ubyte, plain or .gz", folder.string(), prefix, kind),
      "a folder of IDX files must hold {train,t10k}-images-idx3-ubyte and {train,t10k}-labels-idx1-ubyte");
}

std::uint32_t big_endian(std::span<const std::uint8_t, 4> bytes) {
  return static_cast<std::uint32_t>(bytes[0]) << 24 | static_cast<std::uint32_t>(bytes[1]) << 16 |
         static_cast<std::uint32_t>(bytes[2]) << 8 | bytes[3];
}

/// An IDX file of bytes, plain or gzipped: magic number 0x00000800 + axes, the extents as 32-bit big-endian
/// numbers, then the values. Read from front to back.
class IdxFile {
 public:
  /// Reads the header. `what` is the word for its items in messages. Throws Error if the file is missing,
  /// truncated, or has a wrong magic number.
  IdxFile(const fs::path& file, std::size_t axes, const char* what)
      : file_(file), bytes_(archive::open_bytes(file)) {
    std::vector<std::uint8_t> header(4 + 4 * axes);
    bytes_->read(0, std::as_writable_bytes(std::span(header)));
    const std::uint32_t magic = big_endian(std::span(header).first<4>());
    const std::uint32_t expected = 0x800 + static_cast<std::uint32_t>(axes);
    if (magic != expected) {
      throw Error(fmt::format("{}: is not an IDX file of {}: it begins with {:#010x}, not {:#010x}",
                              file.string(), what, magic, expected));
    }
    item_bytes_ = 1;
    for (std::size_t axis = 0; axis < axes; ++axis) {
      extents_.push_back(big_endian(std::span(header).subspan(4 + 4 * axis).first<4>()));
      if (axis > 0) item_bytes_ *= static_cast<std::uint64_t>(extents_.back());
      if (extents_.back() == 0 || item_bytes_ > 1U << 30) {
        throw Error(fmt::format("{}: has an invalid header: its {} have shape ({})", file.string(), what,
                                fmt::join(extents_, ", ")));
      }
    }
    header_bytes_ = header.size();
  }

  const fs::path& file() const { return file_; }
  /// Number of items, then the extents of an item.
  const std::vector<std::int64_t>& extents() const { return extents_; }

  /// Reads the items first, first + 1, ...: as many as the span holds. Going back restarts at the beginning;
  /// going forward reads the items between. After the last item it checks the end of the file: gzip's
  /// checksum, and that no bytes follow.
  void read(std::int64_t first, std::span<std::uint8_t> values) {
    ensure(first >= 0 && values.size() % item_bytes_ == 0, "whole items are read");
    const std::uint64_t total = header_bytes_ + static_cast<std::uint64_t>(extents_[0]) * item_bytes_;
    const std::uint64_t offset = header_bytes_ + static_cast<std::uint64_t>(first) * item_bytes_;
    ensure(offset + values.size() <= total, "the items lie within the file");
    bytes_->read(offset, std::as_writable_bytes(values));
    std::byte more{};
    if (offset + values.size() < total || bytes_->read_some(total, {&more, 1}) == 0) return;
    throw Error(
        fmt::format("{}: continues after the {} bytes that its header announces", file_.string(), total));
  }

 private:
  fs::path file_;
  std::unique_ptr<archive::ByteReader> bytes_;
  std::vector<std::int64_t> extents_;
  std::uint64_t header_bytes_ = 0;
  std::uint64_t item_bytes_ = 0;
};

class IdxSource final : public Source {
 public:
  IdxSource(const fs::path& folder, std::vector<std::string> class_names) {
    std::vector<std::string> names;
    for (const SplitFiles& entry : kIdxSplits) {
      const std::string prefix = entry.prefix;
      images_.emplace_back(require_file(folder, prefix + "-images", "idx3"), 3, "images");
      const IdxFile& images = images_.back();
      IdxFile labels(require_file(folder, prefix + "-labels", "idx1"), 1, "labels");
      const std::vector<std::int64_t>& extents = images.extents();
      if (labels.extents()[0] != extents[0]) {
        throw Error(fmt::format("{} has {} images, but {} has {} labels", images.file().string(), extents[0],
                                labels.file().string(), labels.extents()[0]));
      }
      const Shape shape{1, extents[1], extents[2]};
      if (images_.size() == 1) shape_ = shape;
      if (shape != shape_) {
        throw Error(fmt::format("{} has images of {} x {}, but {} has images of {} x {}",
                                images.file().string(), shape[1], shape[2], images_.front().file().string(),
                                shape_[1], shape_[2]));
      }
      add_items(entry.split, labels);
      for (const IdxFile* file : {&images, &std::as_const(labels)})
        names.push_back(file->file().filename().string());
    }
    catalog_.class_names = std::move(class_names);
    require_classes(folder.string(), catalog_);
    catalog_.assumptions = {samples_taken(format(), "by the headers of the files"), classes_taken(catalog_),
                            values_taken(*this)};
    catalog_.provenance = fmt::format("IDX files {} of {}", fmt::join(names, ", "), folder.string());
  }

  SampleFormat format() const override { return {.shape = shape_}; }

  Original read(std::size_t item, std::span<std::byte> sample) override {
    const auto last = std::upper_bound(first_.begin(), first_.end(), item);
    const auto split = static_cast<std::size_t>(last - first_.begin()) - 1;
    images_[split].read(static_cast<std::int64_t>(item - first_[split]),
                        {reinterpret_cast<std::uint8_t*>(sample.data()), sample.size()});
    return {.height = static_cast<std::int32_t>(shape_[1]),
            .width = static_cast<std::int32_t>(shape_[2]),
            .bytes = sample.size()};
  }

 private:
  void add_items(const std::string& split, IdxFile& file) {
    constexpr std::int64_t kPiece = 1 << 16;  // the header may announce more labels than there are
    const std::int64_t count = file.extents()[0];
    std::vector<std::uint8_t> labels;
    first_.push_back(catalog_.items.size());
    for (std::int64_t i = 0; i < count; ++i) {
      if (i % kPiece == 0) {
        labels.resize(static_cast<std::size_t>(std::min(kPiece, count - i)));
        file.read(i, labels);
      }
      const std::uint8_t label = labels[static_cast<std::size_t>(i % kPiece)];
      catalog_.items.push_back({.name = fmt::format("{}[{}]", split, i), .split = split, .label = label});
      catalog_.classes = std::max<std::int64_t>(catalog_.classes, label + 1);
    }
  }

  Shape shape_;
  std::vector<IdxFile> images_;     // of each split
  std::vector<std::size_t> first_;  // first item of each split
};

}  // namespace

bool is_idx(const fs::path& path) { return find_file(path, "train-images", "idx3").has_value(); }

std::unique_ptr<Source> open_idx(const fs::path& folder, const SourceOptions& options) {
  return std::make_unique<IdxSource>(folder, options.class_names);
}

}  // namespace convoke::data_prep
