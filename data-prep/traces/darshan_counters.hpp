#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "convoke/data_prep/traces/io_features.hpp"

namespace convoke::data_prep {

/// Adds up the counters that darshan-parser prints for each file and rank (module POSIX).
class DarshanCounters {
 public:
  /// Takes the value of a counter, such as POSIX_READS, of a file and rank.
  void add(const std::string& rank, const std::string& file, const std::string& counter, std::int64_t value);

  /// Returns the features of the job; none if it has neither read nor written.
  std::optional<IoFeatures> features() const;

 private:
  /// The counters of a file and rank.
  struct Record {
    std::string file;
    std::map<std::string, std::int64_t> counters;

    std::int64_t get(const std::string& name) const;
    std::int64_t requests() const { return get("POSIX_READS") + get("POSIX_WRITES"); }
  };

  static void add_sizes(const Record& record, IoFeatures& features);

  std::map<std::string, Record> records_;  // by rank and file
};

}  // namespace convoke::data_prep
