#pragma once
#include <filesystem>
#include <memory>
#include <string>

#include "convoke/data_prep/sources/source_table.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"

/// A file of text, and what opening it as a source gives.
struct Csv {
  TemporaryFolder folder;
  fs::path file = folder / "table.csv";

  explicit Csv(const std::string& text) { write_file(file, text); }
  std::unique_ptr<convoke::data_prep::Source> open(
      const convoke::data_prep::SourceOptions& options = {}) const {
    return open_source(file, options);
  }
  std::string error(const convoke::data_prep::SourceOptions& options = {},
                    const std::string& kind = {}) const {
    return error_of([&] { open_source(file, options, kind); });
  }
};
