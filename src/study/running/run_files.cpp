#include "study/running/run_files.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "convoke/core/error.hpp"
#include "convoke/core/lookup.hpp"
#include "convoke/metrics/json.hpp"

namespace convoke::study {

Settings require_json(const std::filesystem::path& file) {
  if (std::optional<Settings> settings = metrics::read_json(file)) return *std::move(settings);
  throw Error(fmt::format("{} cannot be read", file.string()), "check that the run has ended");
}

double require(const Settings& table, const std::string& path) {
  if (const double number = number_at(table, path); !std::isnan(number)) return number;
  throw Error(fmt::format("{} has no number \"{}\"", table.where(), path),
              "check that this version of Convoke wrote it");
}

}  // namespace convoke::study
