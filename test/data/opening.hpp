#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "convoke/data/dataset.hpp"
#include "support/error_of.hpp"

template <class T>
std::vector<T> copy(std::span<const T> values) {
  return {values.begin(), values.end()};
}

/// The error that opening a split of a dataset ends with; "" if there is none.
inline std::string open_error(const std::filesystem::path& file, const std::string& split = "train") {
  return error_of([&] { convoke::data::Dataset::open(file, {split}); });
}
