#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "convoke/core/lookup.hpp"
#include "convoke/core/text.hpp"
#include "report/run/sections.hpp"

// Confusion matrix and scores of each class.

namespace convoke::report {
namespace {

constexpr std::int64_t kMostClasses = 40;  // in a whole matrix, and in a chart
constexpr std::size_t kMostConfusions = 40;

struct Confusion {
  std::int64_t truth, said, count;
};

std::vector<Confusion> confusions_of(const Settings& evaluation) {
  std::vector<Confusion> confusions;
  for (const Value& entry : list_at(evaluation, "confusion")) {
    const std::vector<double> numbers = numbers_at(Settings{{"entry", entry}}, "entry");
    if (numbers.size() != 3) continue;
    confusions.push_back({std::llround(numbers[0]), std::llround(numbers[1]), std::llround(numbers[2])});
  }
  return confusions;
}

// Blue: the share of the class that is right. Orange: the share of a confusion relative to the worst one;
// otherwise it would hardly be visible next to the blue cells.
Table matrix_table(const std::vector<Confusion>& confusions, const std::vector<double>& support,
                   const ClassNames& names) {
  const auto classes = static_cast<std::size_t>(names.count());
  std::vector<std::vector<std::int64_t>> counts(classes, std::vector<std::int64_t>(classes));
  for (const Confusion& each : confusions) {
    if (each.truth < 0 || each.truth >= names.count() || each.said < 0 || each.said >= names.count())
      continue;
    counts[static_cast<std::size_t>(each.truth)][static_cast<std::size_t>(each.said)] = each.count;
  }
  const auto share = [&](std::size_t truth, std::size_t said) {
    const double samples = truth < support.size() ? support[truth] : 0;
    return samples > 0 ? static_cast<double>(counts[truth][said]) / samples : 0;
  };
  double worst = 0;
  for (std::size_t truth = 0; truth < classes; ++truth) {
    for (std::size_t said = 0; said < classes; ++said) {
      if (truth != said) worst = std::max(worst, share(truth, said));
    }
  }
  Table table{{"true class"}, {}};
  for (std::size_t truth = 0; truth < classes; ++truth) {
    table.columns.push_back(names(static_cast<std::int64_t>(truth)));
    std::vector<Cell> row{names(static_cast<std::int64_t>(truth))};
    for (std::size_t said = 0; said < classes; ++said) {
      const double shade = truth == said ? share(truth, said) : -share(truth, said) / worst;
      const std::int64_t count = counts[truth][said];
      row.push_back(count == 0 ? Cell::zero() : Cell::count(count).shaded(shade));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

// The strength of a cell that is not 0 begins above 0, so that a single sample among thousands is visible.
HeatMap matrix_map(const std::vector<Confusion>& confusions, const std::vector<double>& support,
                   const ClassNames& names) {
  constexpr double kVisible = 0.3;
  HeatMap map{
      .title = "Confusion matrix of all classes",
      .note =
          "Test samples by true and predicted class. Correct predictions are blue, wrong ones orange; "
          "the larger the share of the true class, the stronger the color.",
      .row_title = "true class",
      .column_title = "predicted",
      .unit = "samples"};
  for (std::int64_t label = 0; label < names.count(); ++label) map.rows.push_back(names(label));
  map.columns = map.rows;
  for (const Confusion& each : confusions) {
    const auto truth = static_cast<std::size_t>(each.truth), said = static_cast<std::size_t>(each.said);
    if (truth >= map.rows.size() || said >= map.rows.size() || each.count == 0) continue;
    const double share =
        truth < support.size() && support[truth] > 0 ? static_cast<double>(each.count) / support[truth] : 0;
    const double shade = kVisible + (1 - kVisible) * std::min(share, 1.0);
    map.cells.push_back({truth, said, static_cast<double>(each.count), truth == said ? shade : -shade});
  }
  std::ranges::sort(map.cells, [](const HeatMap::Cell& a, const HeatMap::Cell& b) {
    return std::pair(a.row, a.column) < std::pair(b.row, b.column);
  });
  return map;
}

Table worst_confusions(std::vector<Confusion> confusions, const std::vector<double>& support,
                       const ClassNames& names) {
  std::erase_if(confusions, [](const Confusion& each) { return each.truth == each.said; });
  std::ranges::stable_sort(confusions,
                           [](const Confusion& a, const Confusion& b) { return a.count > b.count; });
  confusions.resize(std::min(confusions.size(), kMostConfusions));
  Table table{{"true class", "predicted", "samples", "share of the class"}, {}};
  for (const Confusion& each : confusions) {
    const auto truth = static_cast<std::size_t>(each.truth);
    table.rows.push_back(
        {names(each.truth), names(each.said), Cell::count(each.count),
         Cell::percent(truth < support.size() ? static_cast<double>(each.count) / support[truth] : NAN)});
  }
  return table;
}

/// Scores of each class. A score with a denominator of 0 is NaN here; evaluation.json has 0, as scikit-learn
/// does.
struct ClassScores {
  std::vector<double> precision, recall, f1, support;
  std::vector<std::int64_t> never_predicted, without_samples;

  ClassScores(const Settings& evaluation, const std::vector<Confusion>& confusions) {
    const Settings& scores = table_at(evaluation, "class_scores");
    precision = numbers_at(scores, "precision"), recall = numbers_at(scores, "recall");
    f1 = numbers_at(scores, "f1"), support = numbers_at(scores, "support");
    const std::size_t classes = std::min({precision.size(), recall.size(), f1.size(), support.size()});
    for (std::vector<double>* each : {&precision, &recall, &f1, &support}) each->resize(classes);
    std::vector<std::int64_t> predicted(classes);
    for (const Confusion& each : confusions) {
      if (const auto said = static_cast<std::size_t>(each.said); said < classes)
        predicted[said] += each.count;
    }
    for (std::size_t c = 0; c < classes; ++c) {
      if (predicted[c] == 0) {
        precision[c] = NAN;
        never_predicted.push_back(static_cast<std::int64_t>(c));
      }
      if (support[c] == 0) {
        recall[c] = NAN;
        without_samples.push_back(static_cast<std::int64_t>(c));
      }
      if (predicted[c] == 0 && support[c] == 0) f1[c] = NAN;
    }
  }
};

Table score_table(const ClassScores& scores, const ClassNames& names) {
  Table table{{"class", "precision", "recall", "F1", "samples"}, {}};
  for (std::size_t c = 0; c < scores.support.size(); ++c) {
    table.rows.push_back({names(static_cast<std::int64_t>(c)), Cell::percent(scores.precision[c], 2),
                          Cell::percent(scores.recall[c], 2), Cell::percent(scores.f1[c], 2),
                          Cell::count(std::llround(scores.support[c]))});
  }
  return table;
}

// Shows errors instead of scores, because small differences of scores near 100 % are hard to see.
Chart score_chart(const ClassScores& scores, const ClassNames& names) {
  Chart chart{
      Chart::Kind::kBar,
      "Errors by class",
      "Missed: the share of the class that was predicted as another (100 % − recall). False: the share "
      "of the predictions of the class that are wrong (100 % − precision).",
      "",
      "%",
      {{"class", "missed", "false"}, {}}};
  for (std::size_t c = 0; c < scores.support.size(); ++c) {
    chart.table.rows.push_back({names(static_cast<std::int64_t>(c)), Cell::percent(1 - scores.recall[c], 2),
                                Cell::percent(1 - scores.precision[c], 2)});
  }
  return chart;
}

// Returns "bee, cat and 3 more".
std::string names_of(const std::vector<std::int64_t>& labels, const ClassNames& names) {
  constexpr std::size_t kMostNames = 10;
  std::vector<std::string> some;
  for (const std::int64_t label : labels) {
    if (some.size() < kMostNames) some.push_back(names(label));
  }
  const std::size_t more = labels.size() - some.size();
  return join(some) + (more > 0 ? fmt::format(" and {} more", more) : std::string());
}

void add_unknown(Page& page, const ClassScores& scores, const ClassNames& names) {
  if (!scores.never_predicted.empty()) {
    page.paragraph(
        fmt::format("Never predicted: {}. Their precision is undefined (–); weighted means count it as 0, as "
                    "scikit-learn's do.",
                    names_of(scores.never_predicted, names)));
  }
  if (!scores.without_samples.empty()) {
    page.paragraph(fmt::format("Without test samples: {}. Their recall is undefined (–).",
                               names_of(scores.without_samples, names)));
  }
}

}  // namespace

ClassNames::ClassNames(const Settings& evaluation)
    : names_(texts_at(evaluation, "class_names")), count_(count_at(evaluation, "classes").value_or(0)) {}

std::string ClassNames::operator()(std::int64_t label) const {
  const auto at = static_cast<std::size_t>(label);
  return at < names_.size() ? names_[at] : std::to_string(label);
}

void add_classes(Page& page, const RunRecord& run) {
  const std::vector<Confusion> confusions = confusions_of(run.evaluation);
  if (confusions.empty()) return;
  const ClassNames names(run.evaluation);
  const std::vector<double> support = numbers_at(run.evaluation, "class_scores.support");
  const bool votes = numbers_at(run.evaluation, "members").size() > 1;
  page.section("Classes");
  page.heading("Confusion matrix");
  const std::string decided =
      votes ? fmt::format("the {} vote", text_at(run.evaluation, "rule")) : std::string("the model");
  if (names.count() <= kMostClasses) {
    page.paragraph(fmt::format(
        "Test samples: a row for each true class, a column for each class that {} predicts. Correct "
        "predictions are blue, wrong ones orange; the larger the share of the class, the stronger the color.",
        decided));
    page.add(matrix_table(confusions, support, names));
  } else {
    page.paragraph(fmt::format("Test samples of {} classes, as {} predicts them.",
                               format_count(names.count()), decided));
    page.add(matrix_map(confusions, support, names));
    page.heading("Most frequent confusions");
    page.add(worst_confusions(confusions, support, names));
  }
  const ClassScores scores(run.evaluation, confusions);
  page.heading("Scores of each class");
  if (votes) page.paragraph(fmt::format("Scores of the classes that {} predicts.", decided));
  add_unknown(page, scores, names);
  if (names.count() <= kMostClasses) page.add(score_chart(scores, names));
  page.add(score_table(scores, names));
}

}  // namespace convoke::report
