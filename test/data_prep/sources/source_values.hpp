#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "convoke/data/samples.hpp"
#include "convoke/data_prep/sources/source_table.hpp"
#include "support/error_of.hpp"
#include "support/source_path.hpp"

namespace fs = std::filesystem;
using Labels = std::vector<std::int32_t>;
using Names = std::vector<std::string>;

/// The files that make_*.py made there.
inline const fs::path kContainers = source_path("test/data_prep/files/containers");

/// Returns the error of opening a source.
inline std::string error_in(const fs::path& path, const convoke::data_prep::SourceOptions& options = {}) {
  return error_of([&] { convoke::data_prep::open_source(path, options); });
}

/// Returns the values of one item; T is the source's type.
template <class T>
std::vector<T> values_of(convoke::data_prep::Source& source, std::size_t item) {
  std::vector<T> values(static_cast<std::size_t>(source.format().shape.elements()));
  source.read(item, std::as_writable_bytes(std::span(values)));
  return values;
}

/// Fits a source to all items without a fault.
inline void fit_all(convoke::data_prep::Source& source) {
  const auto& items = source.catalog().items;
  std::vector<std::size_t> training;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].fault.empty()) training.push_back(i);
  }
  source.fit(training);
}

/// Value i of an array, as make_arrays.py and make_hdf5.py fill it.
template <class T>
T array_value(std::int64_t i, int divisor = 1) {
  return static_cast<T>(static_cast<T>(i * 37 % 251) / static_cast<T>(divisor));
}

/// Sample `row` of `size` values of an array that begins with value `start`.
template <class T>
std::vector<T> numbered(int row, int size, int start = 0, int divisor = 1) {
  std::vector<T> values;
  for (int i = start + row * size; i < start + (row + 1) * size; ++i)
    values.push_back(array_value<T>(i, divisor));
  return values;
}

/// Picture `i` of make_records.py and make_shards.py: (6, 5, 3).
inline std::vector<std::uint8_t> picture_values(int i) {
  std::vector<std::uint8_t> values;
  for (int y = 0; y < 6; ++y) {
    for (int x = 0; x < 5; ++x) {
      for (int c = 0; c < 3; ++c)
        values.push_back(static_cast<std::uint8_t>(40 * i + 9 * y + 17 * x + 80 * c));
    }
  }
  return values;
}

/// Returns the labels of all items.
inline std::vector<std::int32_t> labels_of(const convoke::data_prep::Source& source) {
  std::vector<std::int32_t> labels;
  for (const auto& item : source.catalog().items) labels.push_back(item.label);
  return labels;
}

/// Returns the splits of all items.
inline std::vector<std::string> splits_of(const convoke::data_prep::Source& source) {
  std::vector<std::string> splits;
  for (const auto& item : source.catalog().items) splits.push_back(item.split);
  return splits;
}

/// Returns the faults of all items, in order.
inline std::vector<std::string> faults_of(const convoke::data_prep::Source& source) {
  std::vector<std::string> faults;
  for (const auto& item : source.catalog().items) {
    if (!item.fault.empty()) faults.push_back(item.name + ": " + item.fault);
  }
  return faults;
}
