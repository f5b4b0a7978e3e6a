#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convoke/study/analysis/pivot.hpp"
#include "convoke/study/tables/text_table.hpp"

// A published system and ours, side by side.

namespace convoke::study {

/// A claim of a publication: a quantity in its table, and what is compared with it. Paths are relative to the
/// folder of the card.
struct Claim {
  std::string name;  ///< "speed-up of two GPUs"; required
  std::string quantity;
  /// How ours must lie to follow: the published value in its 95 % interval, or not entirely below or above.
  enum class Kind { kEqual, kAtLeast, kAtMost };
  Kind kind = Kind::kEqual;
  std::string published;                                  ///< a table of the publication
  std::vector<std::string> ours;                          ///< our tables; empty: not measured
  std::vector<std::string> published_only, only;          ///< "mode=sync": the configurations to use
  std::vector<std::string> by = {"workers", "fraction"};  ///< coordinates in which both agree
  std::string seconds;      ///< column of ours with the times of a ratio; "": the makespans
  bool other_data = false;  ///< ours used other data than the publication
  bool main = false;        ///< decides the verdict of the system
  std::string reason;       ///< why it is out of reach
};

/// The first one of several figures is that of their claim.
enum class Verdict { kContradicted, kFollowed, kOutOfReach };

/// Returns "contradicted", "followed" or "out of reach".
std::string_view name_of(Verdict verdict);

/// A claim in one place, such as "2 workers". Published values of one place are a range.
struct ClaimedFigure {
  std::string place, published, ours = {};  ///< texts with intervals; `ours` may be empty
  Verdict verdict = Verdict::kOutOfReach;
  std::string reason = {};  ///< what decides: "ours ends below", "one run has no interval"
};

struct CheckedClaim {
  Claim claim;
  std::vector<ClaimedFigure> figures;  ///< at least one

  Verdict verdict() const;
};

/// The claims of one publication.
struct Card {
  std::string system, page = {};  ///< name of the folder; its page next to it, or ""
  std::int64_t paper = 0;         ///< number in a list of papers; 0: none
  std::string reason = {};        ///< of the verdict, in a few words
  std::vector<CheckedClaim> claims = {};

  /// "contradicted" if a main claim is, on the publication's data; otherwise "not reproduced" if one is
  /// out of reach, or contradicted on other data; otherwise "reproduced" or "reproduced on other data".
  std::string verdict() const;
};

/// Reads `card.toml` in the folder, and the tables that it names, and decides each figure. Throws Error for a
/// file that cannot be read, an unknown key, quantity or coordinate, and for two configurations of ours in
/// one place.
Card read_card(const std::filesystem::path& folder);

/// Returns the figures of a card, a row for each.
TextTable table_of(const Card& card);

/// Returns a row for each card: its verdict, and one figure of each main claim, the last that was decided. In
/// Markdown, systems are links to their pages.
TextTable overview(std::span<const Card> cards, bool markdown);

}  // namespace convoke::study
