#pragma once
#include <fstream>
#include <string>
#include <vector>

#include "convoke/study/analysis/cost.hpp"
#include "support/files.hpp"

/// Returns the machines in a file with this text.
inline std::vector<convoke::study::PricedMachine> machines_of(const std::string& toml) {
  const TemporaryFolder folder;
  std::ofstream(folder / "prices.toml") << toml;
  return convoke::study::read_machines(folder / "prices.toml");
}
