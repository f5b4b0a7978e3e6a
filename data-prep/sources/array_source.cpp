#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/data_prep/preparation.hpp"
#include "sources/axes.hpp"
#include "sources/labels.hpp"
#include "sources/named_arrays.hpp"
#include "sources/value_range.hpp"

namespace convoke::data_prep {
namespace {

template <class T>
constexpr bool kWhole = std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::int64_t>;

// Returns what the axes of an array are, unless the options say it. Throws Error if no rule fits.
std::string usual_axes(const SampleArray& array) {
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
  if (whole && rank > 2) {
    refuse("of whole numbers, which are tokens only in the shape (N, L)",
           "convert images with x.astype(\"uint8\"), measured numbers with x.astype(\"float32\")");
  }
  if (rank == 2) return whole ? "NL" : "NF";
  if (rank == 3) return bytes ? "NHW" : "NLF";
  const bool channels_first = (extents[1] == 1 || extents[1] == 3) && extents[3] > 4;
  if (channels_first) {
    refuse("and seems to have channels first; images must be (N, H, W, C)",
           "add --axes NCHW if that is so, or --axes NHWC if it is not");
  }
  return "NHWC";
}

SampleFormat format_of(const SampleArray& array, const Axes& axes) {
  const std::vector<std::int64_t> extents = axes.in_order(array.shape()).extents();
  if (std::any_of(extents.begin() + 1, extents.end(), [](std::int64_t extent) { return extent == 0; }))
    throw Error(
        fmt::format("{}: has shape {}: its samples are empty", array.name(), array.shape().to_string()));
  const NpyValues type = array.values(0);
  const bool bytes = std::holds_alternative<std::vector<std::uint8_t>>(type);
  const bool whole = std::visit([]<class T>(const std::vector<T>&) { return kWhole<T>; }, type);
  if (!axes.are_pictures()) {
    const bool tokens = whole && extents.size() == 2 && axes.letters().find('F') == std::string::npos;
    const auto kind = tokens ? data::SampleType::kInt32 : data::SampleType::kFloat32;
    return {.shape = Shape(std::vector<std::int64_t>(extents.begin() + 1, extents.end())), .type = kind};
  }
  return {.shape = {extents.size() == 4 ? extents[3] : 1, extents[1], extents[2]},
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

// Returns why a row cannot be a sample of this type; empty if it can.
template <class T>
std::string fault_in(const std::vector<T>& row, data::SampleType type) {
  const bool tokens = type == data::SampleType::kInt32;
  const auto bad = std::find_if(row.begin(), row.end(), [&](T value) {
    if constexpr (kWhole<T>) {
      if (!tokens) return false;
      return value < 0 || value >= std::numeric_limits<std::int32_t>::max();
    } else {
      return !std::isfinite(static_cast<float>(value));
    }
  });
  if (bad == row.end()) return {};
  return fmt::format("{} {}{}", kWhole<T> ? "its token" : "its value", *bad,
                     kWhole<T> ? "; tokens must be 0, 1, 2, ..." : " is not finite in single precision");
}

class ArraySource final : public Source {
 public:
  ArraySource(std::unique_ptr<const NamedArrays> owned, const SourceOptions& options)
      : arrays_(std::move(owned)) {
    const NamedArrays& arrays = *arrays_;
    const std::vector<ArrayPair> pairs = arrays.pairs(options.columns);
    std::vector<std::string> samples, names, used;
    for (const ArrayPair& pair : pairs) {
      samples.push_back(pair.samples);
      names.push_back(pair.labels);
      used.insert(used.end(), {pair.samples, pair.labels});
    }
    for (const ArrayPair& pair : pairs) samples_.push_back(arrays.open(pair.samples, pair.labels));
    std::vector<ArrayLabels> labels = arrays.labels(names, options.class_names);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      if (i == 0) axes_ = Axes(options.arrays.axes.empty() ? usual_axes(*samples_[0]) : options.arrays.axes);
      add_format(*samples_[i]);
      add_items(pairs[i], *samples_[i], std::move(labels[i]));
    }
    if (!options.arrays.axes.empty()) format_.preparation = preparation_of_axes(options.arrays.axes);
    if (format_.type == data::SampleType::kInt32) find_vocabulary();
    if (!options.class_names.empty()) catalog_.class_names = options.class_names;
    say_what_was_taken(samples, names, options);
    catalog_.provenance = fmt::format("arrays {} of {}", fmt::join(used, ", "), arrays.path().string());
    require_classes(arrays.path().string(), catalog_);
  }

  SampleFormat format() const override { return format_; }

  Original read(std::size_t item, std::span<std::byte> sample) override {
    const std::size_t split = split_of(item);
    read_row(split, item - first_[split]);
    std::visit(
        [&](auto& row) {
          if (const std::string fault = fault_in(row, format_.type); !fault.empty()) {
            throw Error(fmt::format("{}: row {}: {}", samples_[split]->name(), item - first_[split], fault));
          }
          axes_.put_in_order(row, samples_[split]->shape());
          convert(row, format_.type, sample);
        },
        row_);
    const bool picture = format_.shape.rank() == 3;
    return {.height = static_cast<std::int32_t>(picture ? format_.shape[1] : 0),
            .width = static_cast<std::int32_t>(picture ? format_.shape[2] : 0),
            .bytes = std::visit([](const auto& row) { return row.size() * sizeof(row[0]); }, row_)};
  }

 private:
  void say_what_was_taken(const std::vector<std::string>& samples, const std::vector<std::string>& labels,
                          const SourceOptions& options) {
    const auto by_name = [](const std::string& option) {
      return option.empty() ? "by their names" : "as the option says";
    };
    catalog_.assumptions.push_back({.what = "samples",
                                    .taken = listing(samples),
                                    .why = by_name(options.columns.path),
                                    .option = "--path-column"});
    catalog_.assumptions.push_back({.what = "labels",
                                    .taken = listing(labels),
                                    .why = by_name(options.columns.label),
                                    .option = "--label-column"});
    Assumption axes = samples_taken(
        format_, options.arrays.axes.empty() ? "by the type and the number of axes" : "as the option says");
    axes.what = "axes";
    axes.taken = fmt::format("{}: {}", axes_.letters(), axes.taken);
    axes.option = "--axes";
    catalog_.assumptions.push_back(std::move(axes));
    catalog_.assumptions.push_back(classes_taken(catalog_));
    catalog_.assumptions.push_back(values_taken(*this));
  }

  void add_format(const SampleArray& array) {
    const SampleFormat format = format_of(array, axes_);
    if (&array == samples_.front().get()) {
      format_ = format;
      return;
    }
    if (format.shape == format_.shape && format.type == format_.type) return;
    throw Error(fmt::format("{}: has samples of {} {}, but {} has samples of {} {}", array.name(),
                            data::name_of(format.type), format.shape.to_string(), samples_.front()->name(),
                            data::name_of(format_.type), format_.shape.to_string()));
  }

  void add_items(const ArrayPair& pair, const SampleArray& samples, ArrayLabels labels) {
    const std::int64_t count = samples.shape()[0];
    if (std::ssize(labels.values) != count) {
      throw Error(fmt::format("{} has {} samples, but {} has {} labels", samples.name(), count, labels.name,
                              labels.values.size()));
    }
    if (count == 0) catalog_.notes.push_back(samples.name() + " has no samples, so its split is left out");
    first_.push_back(catalog_.items.size());
    for (std::size_t i = 0; i < labels.values.size(); ++i) {
      catalog_.items.push_back({.name = fmt::format("{}[{}]", pair.samples, i),
                                .split = pair.split,
                                .label = labels.values[i],
                                .fault = std::move(labels.faults[i])});
    }
    catalog_.classes = std::max(catalog_.classes, labels.classes);
    catalog_.class_names = labels.class_names;
  }

  std::size_t split_of(std::size_t item) const {
    return static_cast<std::size_t>(std::upper_bound(first_.begin(), first_.end(), item) - first_.begin()) -
           1;
  }

  void read_row(std::size_t split, std::size_t row) {
    const auto count = static_cast<std::size_t>(format_.shape.elements());
    const NpyValues type = samples_[split]->values(0);
    const bool fits = row_.index() == type.index() &&
                      std::visit([&](const auto& values) { return values.size() == count; }, row_);
    if (!fits) row_ = samples_[split]->values(count);
    samples_[split]->read(row * count, row_);
  }

  // Tokens are small, so all are checked when the source is opened.
  void find_vocabulary() {
    for (std::size_t item = 0; item < catalog_.items.size(); ++item) {
      const std::size_t split = split_of(item);
      read_row(split, item - first_[split]);
      Item& listed = catalog_.items[item];
      std::visit(
          [&](const auto& row) {
            if (listed.fault.empty()) listed.fault = fault_in(row, format_.type);
            if (!listed.fault.empty()) return;
            format_.vocabulary = std::max(
                format_.vocabulary, static_cast<std::int64_t>(*std::max_element(row.begin(), row.end())) + 1);
          },
          row_);
    }
  }

  std::unique_ptr<const NamedArrays> arrays_;  // outlives what was opened of it
  SampleFormat format_;
  Axes axes_;
  std::vector<std::unique_ptr<SampleArray>> samples_;  // of each split
  std::vector<std::size_t> first_;                     // first item of each split
  NpyValues row_;                                      // the row that was read last
};

}  // namespace

std::unique_ptr<Source> open_array_source(std::unique_ptr<const NamedArrays> arrays,
                                          const SourceOptions& options) {
  return std::make_unique<ArraySource>(std::move(arrays), options);
}

}  // namespace convoke::data_prep
