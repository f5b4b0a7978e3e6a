#pragma once
#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

namespace convoke::app {

struct InspectOptions {
  std::string dataset;
  std::string html;       ///< where to write the page; empty: nowhere
  std::string figures;    ///< a folder for charts and tables as files; empty: none
  std::string augmented;  ///< a recipe whose augmentation the page shows; empty: none
  std::int64_t sample = 5000;
  std::uint64_t seed = 0;
};

void add_inspect(CLI::App& parser, InspectOptions& options);
int inspect(const InspectOptions& options);

}  // namespace convoke::app
