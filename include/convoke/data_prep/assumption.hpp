#pragma once
#include <span>
#include <string>
#include <vector>

namespace convoke::data_prep {

/// Something that a source was taken for without being told. A source adds one to Catalog::assumptions for
/// each decision that another reading of its files could change:
///
///     catalog_.assumptions.push_back({.what = "labels", .taken = "column \"species\"",
///                                       .why = "the last column", .option = "--label-column"});
///
/// `convoke prepare` prints them before it decodes, the dataset stores them, and `convoke inspect`
/// prints them again.
struct Assumption {
  std::string what;         ///< in one or two words: "kind", "separator", "labels"
  std::string taken;        ///< what it was taken for: "tab", "column \"species\""
  std::string why = {};     ///< the reason: "the last column"; may be empty
  std::string option = {};  ///< the option that changes it: "--label-column"; empty: none does
  bool doubtful = false;    ///< another reading is as plausible: printed as a warning
};

/// Returns a line for each: "  labels     column "species": the last column (--label-column)".
std::string to_text(std::span<const Assumption> assumptions);

/// Returns the list as DatasetInfo::assumptions stores it; empty if there are none.
std::string to_json(std::span<const Assumption> assumptions);

/// Returns the assumptions that a dataset stores. Throws Error, beginning with `where`, if they are damaged.
std::vector<Assumption> assumptions_from(const std::string& json, const std::string& where);

}  // namespace convoke::data_prep
