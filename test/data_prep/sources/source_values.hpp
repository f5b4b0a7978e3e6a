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
