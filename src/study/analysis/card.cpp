#include "convoke/study/analysis/card.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "convoke/core/error.hpp"
#include "convoke/core/keys.hpp"
#include "convoke/core/text.hpp"
#include "convoke/recipe/toml.hpp"
#include "study/analysis/table_parts.hpp"
#include "study/tables/columns.hpp"

namespace convoke::study {
namespace {

namespace fs = std::filesystem;

constexpr std::array kKinds{Named<Claim::Kind>{"equal", Claim::Kind::kEqual},
                            Named<Claim::Kind>{"at least", Claim::Kind::kAtLeast},
                            Named<Claim::Kind>{"at most", Claim::Kind::kAtMost}};

constexpr std::array kClaimKeys{
    key<&Claim::name>({.name = "name", .required = true, .help = "what is claimed"}),
    key<&Claim::quantity>({.name = "quantity", .required = true, .help = "for example \"speedup\""}),
    choice<kKinds, &Claim::kind>({.name = "claim"}),
    key<&Claim::published>({.name = "published", .required = true, .help = "a table of the publication"}),
    key<&Claim::ours>({.name = "ours", .help = "a list of our tables"}),
    key<&Claim::published_only>({.name = "published_only"}),
    key<&Claim::only>({.name = "only"}),
    key<&Claim::by>({.name = "by", .help = "a list of coordinates"}),
    key<&Claim::seconds>({.name = "seconds"}),
    key<&Claim::other_data>({.name = "other_data"}),
    key<&Claim::main>({.name = "main"}),
    key<&Claim::reason>({.name = "reason"}),
};

std::string unit_of(const std::string& quantity) { return heading_of(quantity).ends_with("(%)") ? " %" : ""; }

/// The tables of one side of a claim.
struct Side {
  std::vector<PublishedTable> tables;
  Analysis analysis;
  std::vector<Coordinates> wanted;
};

// Ratios are of another column's times instead of the makespans.
void take_times(PublishedTable& table, std::string name) {
  const Quantity* quantity = find_named(kQuantities, name);
  if (name.starts_with(kFurtherPrefix)) name = name.substr(kFurtherPrefix.size());
  bool any = false;
  for (TableRow& row : table.rows) {
    Measurement& run = row.measurement;
    std::optional<double> seconds = quantity != nullptr ? run.*quantity->member : std::nullopt;
    if (const auto found = run.further.find(name); found != run.further.end()) seconds = found->second;
    any = any || seconds;
    run.makespan_seconds = seconds;
    run.epoch_seconds = {};
  }
  if (!any) {
    throw Error(fmt::format("no table of ours has times in a column \"{}{}\"",
                            quantity != nullptr ? "" : kFurtherPrefix, name));
  }
}

Side side_of(const fs::path& folder, std::span<const std::string> files, std::span<const std::string> only,
             const std::string& seconds = {}) {
  Side side;
  for (const std::string& file : files) side.tables.push_back(read_table(folder / file));
  if (!seconds.empty()) {
    for (PublishedTable& table : side.tables) take_times(table, seconds);
  }
  side.analysis = analyze(side.tables, {});
  std::vector<Only> wanted;
  for (const std::string& text : only) wanted.push_back(only_from(text));
  side.wanted = wanted_configurations(side.analysis, wanted);
  return side;
}

using Place = std::vector<std::string>;

Place place_of(const Coordinates& at, const Claim& claim) {
  Place place;
  for (const std::string& name : claim.by) place.push_back(coordinate(name).value(at));
  return place;
}

std::string text_of(const Place& place, const Claim& claim) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < place.size(); ++i) {
    if (claim.by[i] == "fraction" && place[i] == "1") continue;
    parts.push_back(claim.by[i] == "workers" ? place[i] + (place[i] == "1" ? " worker" : " workers")
                                             : claim.by[i] + " " + place[i]);
  }
  return join(parts);
}

/// Published values of one place, as printed, and what each may have been rounded by.
struct PublishedRange {
  double low = 0, high = 0, half_unit = 0;
  int digits = 0;
};

void widen(std::optional<PublishedRange>& all, const PublishedRange& by) {
  if (!all) all = by;
  *all = {std::min(all->low, by.low), std::max(all->high, by.high), std::max(all->half_unit, by.half_unit),
          std::max(all->digits, by.digits)};
}

// The numbers that are printed for a configuration.
std::optional<PublishedRange> printed_at(const Side& side, const Coordinates& at, const std::string& column) {
  const double factor = is_share(column) ? 100 : 1;
  std::optional<PublishedRange> all;
  for (const Printed& printed : printed_numbers(side.tables, at, column)) {
    const double value = factor * printed.value, half = factor * printed.half_unit;
    widen(all, {value, value, half, digits_of(half)});
  }
  return all;
}

// A printed number, or a ratio of printed times, whose relative errors add up.
std::optional<PublishedRange> published_at(const Side& side, const Coordinates& at,
                                           const std::string& quantity) {
  const std::optional<Figure> figure = figure_of(side.analysis, at, quantity);
  if (figure && figure->base == at) return {};  // a ratio of the base to itself is no claim
  if (const auto printed = printed_at(side, at, quantity)) return printed;
  if (!figure) return {};
  // The digits of the value, not those of an interval that follows.
  const std::string text = figure->text.substr(0, figure->text.find(' '));
  const std::size_t point = std::min(text.find('.'), text.size() - 1);
  PublishedRange range{figure->value, figure->value, 0, static_cast<int>(text.size() - point) - 1};
  if (!figure->base) return range;
  for (const char* times : {"makespan_seconds", "epoch_seconds"}) {
    const auto first = printed_at(side, *figure->base, times), own = printed_at(side, at, times);
    if (!first || !own) continue;
    range.half_unit = (first->half_unit / first->low + own->half_unit / own->low) *
                      (quantity == "decrease_percent" ? 100 - figure->value : figure->value);
    break;
  }
  return range;
}

// "at least 98.2", "97.9 to 98.3 %"
std::string text_of(const PublishedRange& range, const Claim& claim) {
  const std::string low = format_fixed(range.low, range.digits),
                    high = format_fixed(range.high, range.digits);
  const std::string unit = unit_of(claim.quantity);
  if (claim.kind == Claim::Kind::kAtLeast) return "at least " + low + unit;
  if (claim.kind == Claim::Kind::kAtMost) return "at most " + high + unit;
  return (low == high ? low : low + " to " + high) + unit;
}

void decide(ClaimedFigure& made, const PublishedRange& published, const Figure& ours, const Claim& claim) {
  made.ours = marked(ours.text + unit_of(claim.quantity), ours.marks);
  const auto unreliable =
      std::ranges::find_if(ours.marks, [](const std::string& m) { return m != "emulated"; });
  if (unreliable != ours.marks.end() || !ours.interval) {
    made.reason = unreliable != ours.marks.end() ? *unreliable : "one run has no interval";
    return;
  }
  const bool below = ours.interval->high < published.low - published.half_unit;
  const bool above = ours.interval->low > published.high + published.half_unit;
  const bool contradicted =
      (below && claim.kind != Claim::Kind::kAtMost) || (above && claim.kind != Claim::Kind::kAtLeast);
  made.verdict = contradicted ? Verdict::kContradicted : Verdict::kFollowed;
  made.reason = below ? "ours is below" : above ? "ours is above" : "ours contains it";
}

// Our configuration in each place.
std::map<Place, Coordinates> our_places(const Side& side, const Claim& claim) {
  std::map<Place, Coordinates> places;
  for (const Coordinates& at : side.wanted) {
    if (!figure_of(side.analysis, at, claim.quantity)) continue;
    const auto [place, added] = places.emplace(place_of(at, claim), at);
    if (added) continue;
    throw Error(fmt::format("two configurations of ours are compared with one: {} and {}",
                            to_string(place->second), to_string(at)),
                "choose one by \"only\", or add a coordinate to \"by\"");
  }
  if (!places.empty()) return places;
  throw Error(fmt::format("no configuration of ours has a value of \"{}\"", claim.quantity),
              "use one of " + join(known_quantities(side.analysis)));
}

std::vector<ClaimedFigure> figures_of(const fs::path& folder, const Claim& claim) {
  const Side theirs = side_of(folder, std::span(&claim.published, 1), claim.published_only);
  std::vector<std::pair<Place, std::optional<PublishedRange>>> published;  // in the order of the table
  for (const Coordinates& at : theirs.wanted) {
    const std::optional<PublishedRange> range = published_at(theirs, at, claim.quantity);
    if (!range) continue;
    const Place place = place_of(at, claim);
    auto known = std::ranges::find(published, place, [](const auto& each) { return each.first; });
    if (known == published.end()) known = published.insert(known, {place, {}});
    widen(known->second, *range);
  }
  if (published.empty()) {
    throw Error(fmt::format("no configuration of {} has a value of \"{}\"", claim.published, claim.quantity),
                "use one of " + join(known_quantities(theirs.analysis)));
  }

  Side ours;
  std::map<Place, Coordinates> places;
  if (!claim.ours.empty()) {
    ours = side_of(folder, claim.ours, claim.only, claim.seconds);
    places = our_places(ours, claim);
  }
  std::vector<ClaimedFigure> figures;
  for (const auto& [place, range] : published) {
    ClaimedFigure& made = figures.emplace_back(ClaimedFigure{
        .place = text_of(place, claim), .published = text_of(*range, claim), .reason = claim.reason});
    const auto own = places.find(place);
    if (own != places.end())
      decide(made, *range, *figure_of(ours.analysis, own->second, claim.quantity), claim);
    if (made.reason.empty()) made.reason = "not measured";
  }
  return figures;
}

// The figure that stands for a claim: the last that was decided, otherwise the last.
const ClaimedFigure& headline(const CheckedClaim& checked) {
  const auto decided = std::find_if(checked.figures.rbegin(), checked.figures.rend(),
                                    [](const ClaimedFigure& f) { return f.verdict != Verdict::kOutOfReach; });
  return decided == checked.figures.rend() ? checked.figures.back() : *decided;
}

}  // namespace

std::string_view name_of(Verdict verdict) {
  constexpr std::array<std::string_view, 3> kNames{"contradicted", "followed", "out of reach"};
  return kNames[static_cast<std::size_t>(verdict)];
}

Verdict CheckedClaim::verdict() const {
  return std::ranges::min_element(figures, {}, &ClaimedFigure::verdict)->verdict;
}

std::string Card::verdict() const {
  bool reproduced = true, other_data = false;
  for (const CheckedClaim& each : claims) {
    if (!each.claim.main) continue;
    if (each.verdict() == Verdict::kContradicted && !each.claim.other_data) return "contradicted";
    reproduced = reproduced && each.verdict() == Verdict::kFollowed;
    other_data = other_data || each.claim.other_data;
  }
  if (!reproduced) return "not reproduced";
  return other_data ? "reproduced on other data" : "reproduced";
}

Card read_card(const fs::path& folder) {
  const fs::path file = folder / "card.toml";
  const std::optional<std::string> text = read_text(file);
  if (!text) {
    throw Error(fmt::format("{}: cannot be read", file.string()),
                "a card is a file card.toml with tables [[claim]]; docs/analysis.md describes it");
  }
  const Settings document = recipe::parse_toml(*text, file.string());
  SettingsReader read(document, "card");
  const fs::path path = fs::absolute(folder / "").lexically_normal().parent_path();
  Card card{
      .system = path.filename().string(), .paper = read.get("paper", 0), .reason = read.get("reason", "")};
  if (fs::exists(path.string() + ".md")) card.page = card.system + ".md";
  for (const Settings& table : read.tables("claim")) {
    SettingsReader keys(table, "claim");
    Claim claim;
    read_keys(kClaimKeys, keys, claim);
    keys.finish();
    card.claims.push_back({claim, keys.at([&] { return figures_of(folder, claim); })});
  }
  read.finish();
  if (card.claims.empty()) throw Error(fmt::format("{}: has no [[claim]]", file.string()));
  const bool none =
      std::ranges::none_of(card.claims, [](const CheckedClaim& each) { return each.claim.main; });
  for (CheckedClaim& each : card.claims) each.claim.main = each.claim.main || none;
  return card;
}

TextTable table_of(const Card& card) {
  TextTable table{card.system + ": " + card.verdict() + (card.reason.empty() ? "" : ": " + card.reason),
                  "ours: mean and 95 % interval, which decides; published: what was printed, up to rounding",
                  {"claim", "place", "published", "ours", "verdict", "reason"}};
  for (const CheckedClaim& checked : card.claims) {
    for (const ClaimedFigure& figure : checked.figures) {
      table.rows.push_back({checked.claim.name, figure.place, figure.published, figure.ours,
                            std::string(name_of(figure.verdict)), figure.reason});
    }
  }
  return table;
}

TextTable overview(std::span<const Card> cards, bool markdown) {
  TextTable table{"Published systems", "", {"system, paper", "verdict", "figures", "published", "ours"}};
  for (const Card& card : cards) {
    std::map<Verdict, std::int64_t> counts;
    for (const CheckedClaim& checked : card.claims) {
      for (const ClaimedFigure& figure : checked.figures) ++counts[figure.verdict];
    }
    std::vector<std::string> figures, published, ours;
    for (const auto& [verdict, count] : counts)
      figures.push_back(fmt::format("{} {}", count, name_of(verdict)));
    for (const CheckedClaim& checked : card.claims) {
      if (!checked.claim.main) continue;
      const ClaimedFigure& figure = headline(checked);
      published.push_back(checked.claim.name + (figure.place.empty() ? "" : ", " + figure.place) + ": " +
                          figure.published);
      ours.push_back(figure.ours.empty() ? figure.reason : figure.ours);
    }
    const bool link = markdown && !card.page.empty();
    const std::string verdict = markdown ? "**" + card.verdict() + "**" : card.verdict();
    table.rows.push_back({(link ? fmt::format("[{}]({})", card.system, card.page) : card.system) +
                              (card.paper > 0 ? fmt::format(" [{}]", card.paper) : ""),
                          verdict + (card.reason.empty() ? "" : ": " + card.reason), join(figures),
                          join(published, "; "), join(ours, "; ")});
  }
  return table;
}

}  // namespace convoke::study
