#include "convoke/data_prep/sources/source_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "convoke/archive/byte_reader.hpp"
#include "convoke/core/error.hpp"
#include "files/lines.hpp"
#include "sources/labels.hpp"
#include "sources/value_range.hpp"

namespace convoke::data_prep {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSide = 32, kArea = kSide * kSide, kChannels = 3;

struct Batch {
  const char* file;
  const char* split;
};
constexpr std::array kTenBatches{Batch{"data_batch_1.bin", "train"}, Batch{"data_batch_2.bin", "train"},
                                 Batch{"data_batch_3.bin", "train"}, Batch{"data_batch_4.bin", "train"},
                                 Batch{"data_batch_5.bin", "train"}, Batch{"test_batch.bin", "test"}};
constexpr std::array kHundredBatches{Batch{"train.bin", "train"}, Batch{"test.bin", "test"}};

/// One of the two datasets. A record is its labels, with the one that is used last, and then the red, green
/// and blue planes.
struct CifarKind {
  const char* name;
  std::span<const Batch> batches;
  std::size_t label_bytes;
  std::int32_t classes;
  const char* names;   // file with the names of the classes
  const char* pickle;  // a file of the Python version
  const char* archive;

  std::size_t record_bytes() const { return label_bytes + kChannels * kArea; }
};
constexpr std::array kKinds{
    CifarKind{"CIFAR-10", kTenBatches, 1, 10, "batches.meta.txt", "data_batch_1", "cifar-10-binary.tar.gz"},
    CifarKind{"CIFAR-100", kHundredBatches, 2, 100, "fine_label_names.txt", "meta",
              "cifar-100-binary.tar.gz"}};

std::optional<fs::path> find_file(const fs::path& folder, const std::string& name) {
  for (const char* const extension : {"", ".gz"}) {
    if (fs::path file = folder / (name + extension); fs::is_regular_file(file)) return file;
  }
  return {};
}

// Returns the dataset that has any of its files in `folder`.
const CifarKind* find_kind(const fs::path& folder) {
  const auto it = std::find_if(kKinds.begin(), kKinds.end(), [&](const CifarKind& kind) {
    return std::any_of(kind.batches.begin(), kind.batches.end(),
                       [&](const Batch& batch) { return find_file(folder, batch.file).has_value(); });
  });
  return it == kKinds.end() ? nullptr : &*it;
}

const CifarKind* find_pickled(const fs::path& folder) {
  const auto it = std::find_if(kKinds.begin(), kKinds.end(), [&](const CifarKind& kind) {
    return fs::is_regular_file(folder / kind.pickle) &&
           (fs::is_regular_file(folder / "batches.meta") || fs::is_regular_file(folder / "train"));
  });
  return it == kKinds.end() ? nullptr : &*it;
}

std::vector<std::string> read_names(const fs::path& file) {
  std::vector<std::string> names;
  Lines lines(file);
  for (std::string line; lines.next(line);) {
    if (!line.empty()) names.push_back(line);
  }
  return names;
}

class CifarSource final : public Source {
 public:
  CifarSource(const fs::path& folder, const CifarKind& kind, const std::vector<std::string>& class_names)
      : kind_(kind), record_(kind.record_bytes()) {
    catalog_.classes = kind.classes;
    for (const Batch& batch : kind.batches) add_batch(folder, batch);
    const fs::path names = folder / kind.names;
    if (!fs::exists(names)) {
      catalog_.class_names = class_names;
    } else {
      catalog_.class_names = read_names(names);
      if (catalog_.class_names.size() != static_cast<std::size_t>(kind.classes)) {
        throw Error(fmt::format("{}: has {} names; {} has {} classes", names.string(),
                                catalog_.class_names.size(), kind.name, kind.classes));
      }
      rename_classes(catalog_, class_names, folder.string());
    }
    require_classes(folder.string(), catalog_);
    catalog_.assumptions.insert(catalog_.assumptions.begin(), {samples_taken(format(), kind.name),
                                                               classes_taken(catalog_), values_taken(*this)});
    catalog_.provenance = fmt::format("{}, binary version, of {}", kind.name, folder.string());
  }

  SampleFormat format() const override { return {.shape = {kChannels, kSide, kSide}}; }

  // (C, H, W) to (H, W, C)
  Original read(std::size_t item, std::span<std::byte> sample) override {
    const auto last = std::upper_bound(first_.begin(), first_.end(), item);
    const auto batch = static_cast<std::size_t>(last - first_.begin()) - 1;
    files_[batch]->read((item - first_[batch]) * record_.size(), record_);
    const auto planes = std::span(record_).subspan(kind_.label_bytes);
    for (std::size_t i = 0; i < kArea; ++i) {
      for (std::size_t c = 0; c < kChannels; ++c) sample[i * kChannels + c] = planes[c * kArea + i];
    }
    return {.height = kSide, .width = kSide, .bytes = sample.size()};
  }

 private:
  void add_batch(const fs::path& folder, const Batch& batch) {
    const auto path = find_file(folder, batch.file);
    if (!path) {
      throw Error(
          fmt::format("{}: has no {}, plain or .gz", folder.string(), batch.file),
          fmt::format("{} needs all its files in one folder: unpack {} again", kind_.name, kind_.archive));
    }
    first_.push_back(catalog_.items.size());
    files_.push_back(archive::open_bytes(*path));
    archive::ByteReader& file = *files_.back();
    std::uint64_t offset = 0;
    for (std::size_t i = 0;; ++i) {
      const std::size_t got = file.read_some(offset, record_);
      offset += got;
      if (got == 0) break;
      if (got < record_.size()) {
        throw Error(
            fmt::format("{}: has {} bytes, which is not a multiple of {}, the size of a picture of {}",
                        path->string(), offset, record_.size(), kind_.name),
            fmt::format("get it again: it is part of {}", kind_.archive));
      }
      const auto label = std::to_integer<std::int32_t>(record_[kind_.label_bytes - 1]);
      Item item{.name = fmt::format("{}[{}]", batch.file, i), .split = batch.split, .label = label};
      if (label >= kind_.classes) {
        item.fault = fmt::format("its label is {}; {} has {} classes", label, kind_.name, kind_.classes);
        item.label = 0;
      }
      catalog_.items.push_back(std::move(item));
    }
    if (offset == 0) throw Error(fmt::format("{}: is empty", path->string()));
  }

  const CifarKind& kind_;
  std::vector<std::unique_ptr<archive::ByteReader>> files_;  // of each batch
  std::vector<std::size_t> first_;                           // first item of each batch
  std::vector<std::byte> record_;
};

}  // namespace

bool is_cifar(const fs::path& path) { return find_kind(path) != nullptr || find_pickled(path) != nullptr; }

std::unique_ptr<Source> open_cifar(const fs::path& folder, const SourceOptions& options) {
  if (const CifarKind* const kind = find_kind(folder)) {
    return std::make_unique<CifarSource>(folder, *kind, options.class_names);
  }
  const CifarKind* const pickled = find_pickled(folder);
  if (pickled == nullptr) {
    throw Error(fmt::format(
        "{}: has no files of CIFAR-10 or CIFAR-100, such as data_batch_1.bin or train.bin", folder.string()));
  }
  throw Error(fmt::format("{}: is the pickled Python version of {}: reading a pickle may run any program",
                          folder.string(), pickled->name),
              fmt::format("download the binary version, {}", pickled->archive));
}

}  // namespace convoke::data_prep
