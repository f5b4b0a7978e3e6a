#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "convoke/core/lookup.hpp"
#include "report/run/sections.hpp"

// Members of an ensemble: their results, their vote, and their disagreement.

namespace convoke::report {
namespace {

constexpr std::size_t kEnds = 16;  // of too many members, so many of the best and of the worst are shown

Cell loss_cell(const Settings& tested) {
  const double loss = number_at(tested, "loss");
  return tested.find("loss") == nullptr || std::isfinite(loss) ? Cell::number(loss) : Cell("not finite");
}

Table member_table(const RunRecord& run) {
  Table table{{"member", "test accuracy", "test loss", "ECE", "validation accuracy", "training samples",
               "shard", "epochs", "seed", "remark"},
              {}};
  bool remarks = false;
  const std::vector<Settings> tested = tables_at(run.summary, "test.members");
  const std::vector<Settings> calibrations = tables_at(run.evaluation, "member_calibration");
  for (const Settings& facts : tables_at(run.summary, "member_facts")) {
    const double member = number_at(facts, "member");
    const auto test = std::ranges::find_if(
        tested, [&](const Settings& entry) { return number_at(entry, "member") == member; });
    const bool votes = test != tested.end();
    const auto place = static_cast<std::size_t>(test - tested.begin());
    const double ece = votes && place < calibrations.size() ? number_at(calibrations[place], "ece") : NAN;
    const std::string failure = text_at(facts, "failure");
    const auto stopped = count_at(facts, "stopped_at_step");
    const std::string remark = !failure.empty() ? "left the vote: " + failure
                               : stopped        ? fmt::format("stopped early after {} steps", *stopped)
                                                : std::string();
    table.rows.push_back({fmt::format("member {:g}", member),
                          Cell::percent(votes ? number_at(*test, "accuracy") : NAN, 2),
                          votes ? loss_cell(*test) : Cell::number(NAN), Cell::number(ece, 3),
                          Cell::percent(number_at(facts, "validation_accuracy"), 2),
                          Cell::count(count_at(facts, "training_samples").value_or(0)),
                          text_at(facts, "shard"), Cell::count(count_at(facts, "epochs").value_or(0)),
                          std::to_string(count_at(facts, "seed").value_or(0)), remark});
    remarks = remarks || !remark.empty();
  }
  const auto remove = [&](std::ptrdiff_t column) {
    table.columns.erase(table.columns.begin() + column);
    for (std::vector<Cell>& row : table.rows) row.erase(row.begin() + column);
  };
  if (!remarks) remove(9);
  if (calibrations.empty()) remove(3);
  return table;
}

// Keeps the members that are best and worst on the test samples. Members without a vote are last.
Table ends_of(Table table) {
  const auto wrong = [](const std::vector<Cell>& row) {
    const double share = row[1].as_double();
    return std::isnan(share) ? HUGE_VAL : -share;
  };
  std::ranges::stable_sort(table.rows, {}, wrong);
  table.rows.erase(table.rows.begin() + kEnds, table.rows.end() - kEnds);
  return table;
}

void add_member_table(Page& page, const RunRecord& run) {
  const std::vector<Settings> facts = tables_at(run.summary, "member_facts");
  if (std::ranges::any_of(facts, [](const Settings& f) { return text_at(f, "shard") == "bootstrap"; })) {
    page.paragraph(
        "The members drew their training samples with replacement. What data.validation_split holds out is "
        "the same for all members, and none of them was trained on it.");
  }
  const Table table = member_table(run);
  if (table.rows.size() <= kMostMembers) return page.add(table);
  page.paragraph(
      fmt::format("The {0} best and the {0} worst of {1} members on the test samples; summary.json has all.",
                  kEnds, table.rows.size()));
  page.add(ends_of(table));
}

Chart prefix_chart(const RunRecord& run, std::size_t voters) {
  Chart chart{Chart::Kind::kLine,
              "Accuracy of the first members",
              "Accuracy of the vote of the first 1, 2, … members, by each rule.",
              "members that vote",
              "%",
              {{"members"}, {}}};
  chart.most = 100;
  const Settings& rules = table_at(run.summary, "test.prefix_accuracy");
  std::vector<std::vector<double>> shares;
  for (const auto& [rule, values] : rules.entries()) {
    chart.table.columns.push_back(rule);
    shares.push_back(numbers_at(rules, rule));
  }
  for (std::size_t k = 0; k < voters; ++k) {
    std::vector<Cell> row{Cell::count(static_cast<std::int64_t>(k) + 1)};
    for (const auto& of_rule : shares) row.push_back(Cell::percent(k < of_rule.size() ? of_rule[k] : NAN, 2));
    chart.table.rows.push_back(std::move(row));
  }
  return chart;
}

Chart accuracy_chart(const RunRecord& run) {
  Chart chart{Chart::Kind::kBar,
              "Error of members and of their vote",
              "Share of the test samples that each predicts wrongly.",
              "",
              "% wrong",
              {{"voter", "wrong"}, {}}};
  std::vector<Settings> members = tables_at(run.summary, "test.members");
  if (members.size() > kMostMembers) {  // only the ends and the middle
    std::ranges::stable_sort(members, {},
                             [](const Settings& member) { return -number_at(member, "accuracy"); });
    members = {members.front(), members[members.size() / 2], members.back()};
    chart.note =
        "Share of the test samples that each predicts wrongly: the best member, the median and the worst.";
  }
  for (const Settings& member : members) {
    chart.table.rows.push_back({fmt::format("member {:g}", number_at(member, "member")),
                                Cell::percent(1 - number_at(member, "accuracy"), 2)});
  }
  const Settings& rules = table_at(run.summary, "test.prefix_accuracy");
  for (const auto& [rule, values] : rules.entries()) {
    const std::vector<double> shares = numbers_at(rules, rule);
    if (!shares.empty()) {
      chart.table.rows.push_back({"all by " + rule, Cell::percent(1 - shares.back(), 2)});
    }
  }
  for (const Settings& soup : tables_at(run.summary, "test.soups")) {
    chart.table.rows.push_back(
        {text_at(soup, "soup") + " soup", Cell::percent(1 - number_at(soup, "accuracy"), 2)});
  }
  return chart;
}

// Soups: one model each, with the share of each member that votes.
void add_soups(Page& page, const RunRecord& run) {
  const std::vector<Settings> soups = tables_at(run.summary, "test.soups");
  if (soups.empty()) return;
  page.heading("Soups");
  page.paragraph(
      "Models whose parameters are a weighted mean of the members' parameters, with the share of each "
      "member. A soup predicts at the cost of one model. Members that were initialized independently have no "
      "useful mean.");
  Table table{{"soup", "test accuracy", "test loss"}, {}};
  const std::vector<double> members = numbers_at(run.evaluation, "members");
  const bool one_by_one = members.size() <= kMostMembers;
  for (const double member : members) {
    if (one_by_one) table.columns.push_back(fmt::format("member {:g}", member));
  }
  for (const Settings& soup : soups) {
    std::vector<Cell> row{text_at(soup, "soup"), Cell::percent(number_at(soup, "accuracy"), 2),
                          loss_cell(soup)};
    for (const double share : numbers_at(soup, "shares")) {
      if (one_by_one) row.push_back(Cell::percent(share));
    }
    row.resize(table.columns.size(), Cell(""));
    table.rows.push_back(std::move(row));
  }
  page.add(table);
}

// Returns a table of each member with each; `cell(a, b)` shows a value, and the diagonal stays empty.
template <class CellOf>
Table pair_table(const std::vector<double>& members, const CellOf& cell) {
  Table table{{"member"}, {}};
  for (std::size_t a = 0; a < members.size(); ++a) {
    table.columns.push_back(fmt::format("{:g}", members[a]));
    std::vector<Cell> row{fmt::format("member {:g}", members[a])};
    for (std::size_t b = 0; b < members.size(); ++b) row.push_back(a == b ? Cell("") : cell(a, b));
    table.rows.push_back(std::move(row));
  }
  return table;
}

// Returns the rows of a list of lists; NaN for what is missing.
std::vector<std::vector<double>> square_at(const Settings& settings, std::string_view path,
                                           std::size_t size) {
  std::vector<std::vector<double>> rows = rows_at(settings, path);
  rows.resize(size);
  for (std::vector<double>& row : rows) row.resize(size, NAN);
  return rows;
}

// Pairs of members, shaded by how often they disagree, the largest share with the full color, and by how
// alike they err.
void add_pairs(Page& page, const RunRecord& run) {
  const std::vector<double> members = numbers_at(run.evaluation, "members");
  const Value::Array& pairs = list_at(run.evaluation, "disagreement_of_pairs");
  const bool many = members.size() > kMostMembers;
  if (members.size() < 2 || (!many && pairs.size() != members.size())) return;
  page.heading("Disagreement");
  page.paragraph(fmt::format(
      "Share of the test samples on which two members differ; the mean over all pairs is {:.2f} %. "
      "Members that never differ cannot correct each other.",
      100 * number_at(run.summary, "test.disagreement")));
  if (many) {
    page.paragraph(fmt::format("The pairs of {} members are too many to show here{}.", members.size(),
                               pairs.empty() ? "" : "; evaluation.json has them"));
    return;
  }
  const std::vector<std::vector<double>> shares =
      square_at(run.evaluation, "disagreement_of_pairs", members.size());
  double most = 0;
  for (const std::vector<double>& row : shares) {
    for (const double share : row) most = std::max(most, share);
  }
  page.add(pair_table(members, [&](std::size_t a, std::size_t b) {
    return Cell::percent(shares[a][b], 2).shaded(most > 0 ? shares[a][b] / most : 0);
  }));
  if (list_at(run.evaluation, "q_statistic_of_pairs").empty()) return;
  page.heading("Q statistic");
  page.paragraph(fmt::format(
      "Yule's Q of which test samples two members predict rightly; the mean over all pairs is {}. 1: one "
      "errs only where the other does; 0: they err independently; below 0: they err on different samples; –: "
      "undefined, as nothing contradicts either.",
      Cell::number(number_at(run.summary, "test.q_statistic"), 3).text));
  const std::vector<std::vector<double>> qs =
      square_at(run.evaluation, "q_statistic_of_pairs", members.size());
  page.add(pair_table(members, [&](std::size_t a, std::size_t b) {
    return Cell::number(qs[a][b], 3).shaded(std::isnan(qs[a][b]) ? 0 : qs[a][b]);
  }));
}

}  // namespace

void add_members(Page& page, const RunRecord& run) {
  const std::size_t voters = tables_at(run.summary, "test.members").size();
  if (tables_at(run.summary, "member_facts").size() < 2) return;
  page.section("Members");
  add_member_table(page, run);
  if (voters > 1) page.side_by_side(std::vector<Chart>{accuracy_chart(run), prefix_chart(run, voters)});
  add_soups(page, run);
  add_pairs(page, run);
}

}  // namespace convoke::report
