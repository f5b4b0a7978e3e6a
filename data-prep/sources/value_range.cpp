#include "sources/value_range.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/data/samples.hpp"

namespace convoke::data_prep {
namespace {

constexpr std::size_t kExaminedBytes = 32 << 20;

/// The least and the largest value of some samples.
struct Range {
  double least = std::numeric_limits<double>::infinity();
  double largest = -std::numeric_limits<double>::infinity();
  bool whole = true;  ///< all values are whole numbers
  std::size_t samples = 0;

  template <class T>
  void add(std::span<const std::byte> sample) {
    for (; sample.size() >= sizeof(T); sample = sample.subspan(sizeof(T))) {
      T value;
      std::memcpy(&value, sample.data(), sizeof value);
      least = std::min(least, static_cast<double>(value));
      largest = std::max(largest, static_cast<double>(value));
      whole = whole && std::trunc(static_cast<double>(value)) == static_cast<double>(value);
    }
  }
};

Range range_of(Source& source) {
  const SampleFormat format = source.format();
  std::vector<std::byte> sample(format.sample_bytes());
  const std::size_t most = std::max<std::size_t>(1, kExaminedBytes / sample.size());
  Range range;
  const std::vector<Item>& items = source.catalog().items;
  for (std::size_t i = 0; i < items.size() && range.samples < most; ++i) {
    if (!items[i].fault.empty()) continue;
    try {
      source.read(i, sample);
    } catch (const Error&) {  // prepare reports it when it decodes the sample
      continue;
    }
    ++range.samples;
    if (format.type == data::SampleType::kUint8) range.add<std::uint8_t>(sample);
    if (format.type == data::SampleType::kInt32) range.add<std::int32_t>(sample);
    if (format.type == data::SampleType::kFloat32) range.add<float>(sample);
  }
  return range;
}

// Says which data.normalize suits values of this range.
void advise(const SampleFormat& format, const Range& range, Assumption& values) {
  const bool bytes = format.type == data::SampleType::kUint8, pictures = format.shape.rank() == 3;
  if (format.type == data::SampleType::kInt32) return;
  if (bytes && range.largest <= 1) {
    values.why = "divided by 255 they would nearly vanish: use data.normalize = \"none\" or \"standard\"";
    values.doubtful = true;
  } else if (bytes) {
    values.why = "data.normalize = \"unit\" divides them by 255";
  } else if (pictures && range.whole && range.least >= 0 && range.largest > 1 && range.largest <= 255) {
    values.why =
        "they look like 8-bit pixels in floating point, which data.normalize = \"none\" keeps and "
        "\"standard\" scales; only uint8 (x.astype(\"uint8\")) takes \"unit\"";
    values.doubtful = true;
  } else if (range.least >= -1 && range.largest <= 1) {
    values.why = "data.normalize = \"none\" keeps them";
  } else {
    values.why = "data.normalize = \"standard\" scales them to mean 0 and standard deviation 1";
  }
}

}  // namespace

Assumption samples_taken(const SampleFormat& format, const std::string& why) {
  return {.what = "samples",
          .taken = fmt::format("{} of {} {}", data::kind_of(format.type, format.shape),
                               data::name_of(format.type), data::stored_shape(format.shape).to_string()),
          .why = why};
}

Assumption classes_taken(const Catalog& catalog) {
  return {.what = "classes",
          .taken = fmt::format("{} classes", format_count(catalog.classes)),
          .why = catalog.class_names.empty() ? "the labels are their numbers, from 0 on"
                                             : "the different labels are their names"};
}

Assumption values_taken(Source& source) {
  const Range range = range_of(source);
  Assumption values{.what = "values", .taken = "unknown", .why = "no sample can be read"};
  if (range.samples == 0) return values;
  const std::size_t all = source.catalog().items.size();
  values.taken = fmt::format("{:g} to {:g} in {} {}", range.least, range.largest,
                             range.samples == all ? "all" : "the first",
                             counted(static_cast<std::int64_t>(range.samples), "sample"));
  values.why.clear();
  advise(source.format(), range, values);
  return values;
}

}  // namespace convoke::data_prep
