#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "convoke/core/error.hpp"
#include "convoke/data_prep/splits.hpp"
#include "spool.hpp"

namespace convoke::data_prep {

/// Two items with the same values, or pictures that look the same: first < second.
using Pair = std::pair<std::size_t, std::size_t>;

/// Problems of a source's samples.
struct Findings {
  std::map<std::size_t, Error> faults;  ///< items that cannot be read, and why
  std::vector<Pair> duplicates;
  std::vector<Pair> near_duplicates;

  bool empty() const { return faults.empty() && duplicates.empty() && near_duplicates.empty(); }
};

/// Finds items whose samples are equal, value for value; pairs each with the first such item.
std::vector<Pair> find_duplicates(const std::vector<Record>& records, const Spool& spool,
                                  std::size_t sample_bytes);

/// Finds pictures (H, W, C), of at least 32 x 32 pixels, that look the same though their values differ: their
/// perceptual hashes differ in at most 8 of 256 bits, and the shrunk pictures by at most 6 of 255 in the
/// mean. Skips flat pictures, whose hash carries little information. Each such picture is in at least one
/// pair.
std::vector<Pair> find_near_duplicates(const std::vector<Record>& records, const Spool& spool,
                                       std::int64_t height, std::int64_t width, std::int64_t channels);

/// Returns the number of pairs whose items are in two splits.
std::int64_t leaks(const std::vector<Pair>& pairs, const SplitAssignment& splits);

/// Returns the items without a fault.
std::vector<std::size_t> usable_items(const Catalog& catalog);

/// Returns the faults that the source knows without decoding.
std::map<std::size_t, Error> listed_faults(const Catalog& catalog);

/// Returns the names of the classes that none of `items` has.
std::vector<std::string> absent_classes(const Catalog& catalog, const std::vector<std::size_t>& items,
                                        const std::vector<std::string>& class_names);

/// Returns "set: 3 of 60 samples cannot be read:", and a line for each of the first twenty.
std::string unreadable_text(const std::map<std::size_t, Error>& faults, const Catalog& catalog,
                            const std::string& source);

/// Throws Error if there are faults, the same in every process; it names `list` if that file exists.
void expect_readable(const std::map<std::size_t, Error>& faults, const Catalog& catalog,
                     const std::string& source, const std::filesystem::path& list);

/// Throws Error if a split would have no sample without those that cannot be read.
void expect_samples_left(const std::map<std::size_t, Error>& faults, const Catalog& catalog,
                         const SplitAssignment& splits, const std::string& source);

/// Writes all findings as CSV: finding, sample, split, class, other_sample, other_split, other_class, reason.
void write_findings(const std::filesystem::path& file, const Findings& findings, const Catalog& catalog,
                    const SplitAssignment& splits);

/// Throws Error naming the first sample that is in two splits, if there is one. `list`: the file that lists
/// all of them.
void expect_no_leak(const Findings& findings, const Catalog& catalog, const SplitAssignment& splits,
                    const std::filesystem::path& list);

}  // namespace convoke::data_prep
