#include "convoke/data_prep/sources/numpy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "convoke/core/error.hpp"
#include "sources/labels.hpp"
#include "sources/numpy_arrays.hpp"

namespace convoke::data_prep {
namespace {

namespace fs = std::filesystem;

template <class T>
constexpr bool kWhole = std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::int64_t>;

// Derives the format of the samples from an array: from its shape without N, and the type of its values.
SampleFormat format_of(const NpyReader& array) {
  const std::vector<std::int64_t>& extents = array.shape().extents();
  const auto refuse = [&](const std::string& why, const std::string& hint) {
    throw Error(fmt::format("{}: has shape {} {}", array.name(), array.shape().to_string(), why), hint);
  };
  const std::size_t rank = extents.size();
  const NpyValues type = array.values(0);
  const bool bytes = std::holds_alternative<std::vector<std::uint8_t>>(type);
  const bool whole = std::visit([]<class T>(const std::vector<T>&) { return kWhole<T>; }, type);
  if (rank < 2 || rank > 4)
    refuse("", "samples must be (N, F), (N, L), (N, L, F), (N, H, W) or (N, H, W, C)");
  if (std::any_of(extents.begin() + 1, extents.end(), [](std::int64_t extent) { return extent == 0; })) {
    refuse("", "its samples are empty");
  }
  if (whole && rank > 2) {
    refuse("of whole numbers, which are tokens only in the shape (N, L)",
           "convert images with x.astype(\"uint8\"), measured numbers with x.astype(\"float32\")");
  }
  if (rank == 2) {
    const auto kind = whole ? data::SampleType::kInt32 : data::SampleType::kFloat32;
    return {.shape = {extents[1]}, .type = kind};
  }
  if (rank == 3) {
    if (bytes) return {.shape = {1, extents[1], extents[2]}};
    return {.shape = {extents[1], extents[2]}, .type = data::SampleType::kFloat32};
  }
  const bool channels_first = (extents[1] == 1 || extents[1] == 3) && extents[3] > 4;
  if (channels_first) {
    refuse("and seems to have channels first; images must be (N, H, W, C)", "save numpy.moveaxis(x, 1, -1)");
  }
  return {.shape = {extents[3], extents[1], extents[2]},
          .type = bytes ? data::SampleType::kUint8 : data::SampleType::kFloat32};
}

// Converts the values of a sample to the stored type. Throws Error if a number is invalid.
template <class T>
void convert(const std::vector<T>& row, data::SampleType type, std::span<std::byte> sample) {
  const auto store = [&]<class Stored>(Stored) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const auto value = static_cast<Stored>(row[i]);
      std::memcpy(sample.data() + i * sizeof(Stored), &value, sizeof(Stored));
    }
  };
  switch (type) {
    case data::SampleType::kUint8:
      return store(std::uint8_t{});
    case data::SampleType::kInt32:
      return store(std::int32_t{});
    case data::SampleType::kFloat32:
      return store(float{});
  }
}

// Returns why a row cannot be a sample; empty if it can.
template <class T>
std::string fault_in(const std::vector<T>& row) {
  const auto bad = std::find_if(row.begin(), row.end(), [](T value) {
    if constexpr (kWhole<T>) {
      return value < 0 || value >= std::numeric_limits<std::int32_t>::max();
    } else {
      return !std::isfinite(static_cast<float>(value));
    }
  });
  if (bad == row.end()) return {};
  return fmt::format("{} {}{}", kWhole<T> ? "its token" : "its value", *bad,
                     kWhole<T> ? "; tokens must be 0, 1, 2, ..." : " is not finite in single precision");
}

class NumpySource final : public Source {
 public:
  NumpySource(const fs::path& path, std::vector<std::string> class_names) {
    const NumpyArrays arrays(path);
    std::vector<std::string> used;
    for (const NumpyPair& pair : arrays.pairs()) {
      samples_.push_back(arrays.open(pair.samples));
      add_format(samples_.back());
      NpyReader labels = arrays.open(pair.labels);
      add_items(pair, samples_.back(), labels);
      used.insert(used.end(), {pair.samples, pair.labels});
    }
    if (format_.type == data::SampleType::kInt32) find_vocabulary();
    catalogue_.class_names = std::move(class_names);
    catalogue_.provenance = fmt::format("arrays {} of {}", fmt::join(used, ", "), path.string());
    require_classes(path.string(), catalogue_);
  }

  const Catalogue& catalogue() const override { return catalogue_; }
  SampleFormat format() const override { return format_; }

  Original read(std::size_t item, std::span<std::byte> sample) override {
    const std::size_t split = split_of(item);
    read_row(split, item - first_[split]);
    std::visit(
        [&](const auto& row) {
          if (const std::string fault = fault_in(row); !fault.empty()) {
            throw Error(fmt::format("{}: row {}: {}", samples_[split].name(), item - first_[split], fault));
          }
          convert(row, format_.type, sample);
        },
        row_);
    const bool picture = format_.shape.rank() == 3;
    return {.height = static_cast<std::int32_t>(picture ? format_.shape[1] : 0),
            .width = static_cast<std::int32_t>(picture ? format_.shape[2] : 0),
            .bytes = std::visit([](const auto& row) { return row.size() * sizeof(row[0]); }, row_)};
  }

 private:
  void add_format(const NpyReader& array) {
    const SampleFormat format = format_of(array);
    if (samples_.size() == 1) {
      format_ = format;
      return;
    }
    if (format.shape == format_.shape && format.type == format_.type) return;
    throw Error(fmt::format("{}: has samples of {} {}, but {} has samples of {} {}", array.name(),
                            data::name_of(format.type), format.shape.to_string(), samples_.front().name(),
                            data::name_of(format_.type), format_.shape.to_string()));
  }

  void add_items(const NumpyPair& pair, const NpyReader& samples, NpyReader& array) {
    const std::int64_t count = samples.shape()[0];
    NumpyLabels labels = read_labels(array);
    if (static_cast<std::int64_t>(labels.values.size()) != count) {
      throw Error(fmt::format("{} has {} samples, but {} has {} labels", samples.name(), count, array.name(),
                              labels.values.size()));
    }
    first_.push_back(catalogue_.items.size());
    for (std::size_t i = 0; i < labels.values.size(); ++i) {
      catalogue_.items.push_back({.name = fmt::format("{}[{}]", pair.samples, i),
                                  .split = pair.split,
                                  .label = labels.values[i],
                                  .fault = std::move(labels.faults[i])});
    }
    catalogue_.classes = std::max(catalogue_.classes, labels.classes);
  }

  std::size_t split_of(std::size_t item) const {
    return static_cast<std::size_t>(std::upper_bound(first_.begin(), first_.end(), item) - first_.begin()) -
           1;
  }

  void read_row(std::size_t split, std::size_t row) {
    const auto count = static_cast<std::size_t>(format_.shape.elements());
    const NpyValues type = samples_[split].values(0);
    const bool fits = row_.index() == type.index() &&
                      std::visit([&](const auto& values) { return values.size() == count; }, row_);
    if (!fits) row_ = samples_[split].values(count);
    samples_[split].read(row * count, row_);
  }

  // Tokens are small, so all are checked when the source is opened.
  void find_vocabulary() {
    for (std::size_t item = 0; item < catalogue_.items.size(); ++item) {
      const std::size_t split = split_of(item);
      read_row(split, item - first_[split]);
      Item& listed = catalogue_.items[item];
      std::visit(
          [&](const auto& row) {
            if (listed.fault.empty()) listed.fault = fault_in(row);
            if (!listed.fault.empty()) return;
            format_.vocabulary = std::max(
                format_.vocabulary, static_cast<std::int64_t>(*std::max_element(row.begin(), row.end())) + 1);
          },
          row_);
    }
  }

  Catalogue catalogue_;
  SampleFormat format_;
  std::vector<NpyReader> samples_;  // of each split
  std::vector<std::size_t> first_;  // first item of each split
  NpyValues row_;                   // the row that was read last
};

}  // namespace

bool is_numpy(const fs::path& path) {
  if (!fs::is_directory(path)) return path.extension() == ".npz";
  return std::any_of(
      fs::directory_iterator(path), fs::directory_iterator(), [](const fs::directory_entry& entry) {
        return entry.path().extension() == ".npy" && names_samples_or_labels(entry.path().stem().string());
      });
}

std::unique_ptr<Source> open_numpy(const fs::path& path, const SourceOptions& options) {
  return std::make_unique<NumpySource>(path, options.class_names);
}

NpyArray read_samples(const fs::path& npz, const std::string& split) {
  const NumpyArrays arrays(npz);
  NpyReader array = arrays.open(arrays.samples_of(split));
  return read_all(array);
}

}  // namespace convoke::data_prep
