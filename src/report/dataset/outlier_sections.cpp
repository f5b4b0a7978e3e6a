#include <fmt/format.h>

#include "convoke/core/text.hpp"
#include "shown.hpp"

// Samples to check: equal, nearly equal, and atypical ones.

namespace convoke::report {
namespace {

constexpr double kSide = 84;

std::string names(const Shown& shown, const explore::Sample& sample) {
  return fmt::format("{} ({})", shown.class_name(sample.label), shown.place(sample.at));
}

void add_pairs(Page& page, const Shown& shown, const std::vector<explore::NearPair>& pairs,
               bool with_distance) {
  if (shown.images()) {
    std::vector<Figure> figures;
    for (const explore::NearPair& pair : pairs) {
      std::string caption = names(shown, pair.first) + " · " + names(shown, pair.second);
      if (with_distance) caption += fmt::format(" · distance {:.3g}", pair.distance);
      figures.push_back(row_of({shown.picture(pair.first), shown.picture(pair.second)}, caption, kSide));
    }
    page.add(figures);
    return;
  }
  Table table{{"first", "class", "second", "class", "distance", "values of the first", "of the second"}, {}};
  for (const explore::NearPair& pair : pairs) {
    table.rows.push_back({shown.place(pair.first.at), shown.class_name(pair.first.label),
                          shown.place(pair.second.at), shown.class_name(pair.second.label),
                          Cell::number(pair.distance, 3), shown.excerpt(pair.first),
                          shown.excerpt(pair.second)});
  }
  page.add(table);
}

// `why`: returns the reason for each sample.
template <class Why>
void add_samples_with_reason(Page& page, const Shown& shown, const std::vector<explore::Outlier>& outliers,
                             const Why& why) {
  if (shown.images()) {
    std::vector<Figure> figures;
    for (const explore::Outlier& outlier : outliers) {
      figures.push_back(row_of({shown.picture(outlier.sample)},
                               names(shown, outlier.sample) + " · " + why(outlier), kSide));
    }
    page.add(figures);
    return;
  }
  Table table{{"sample", "class", "why", shown.tokens() ? "text" : "values"}, {}};
  for (const explore::Outlier& outlier : outliers) {
    table.rows.push_back({shown.place(outlier.sample.at), shown.class_name(outlier.sample.label),
                          why(outlier), shown.excerpt(outlier.sample)});
  }
  page.add(table);
}

}  // namespace

void add_duplicates(Page& page, const Shown& shown) {
  const explore::Duplicates& duplicates = shown.found.duplicates;
  const auto& splits = shown.found.survey.splits;
  page.section("Duplicates");
  page.heading("Equal samples");
  if (duplicates.repeated == 0) {
    page.paragraph("All samples of the dataset are different.");
  } else {
    page.paragraph(
        fmt::format("{} samples equal an earlier one, byte for byte; {} of them have a different label.",
                    format_count(duplicates.repeated), format_count(duplicates.contradictory)));
    Table table{{"split"}, {}};
    for (const auto& split : splits) table.columns.push_back("also in " + split.name);
    for (std::size_t b = 0; b < splits.size(); ++b) {
      std::vector<Cell> row{splits[b].name};
      for (std::size_t a = 0; a < splits.size(); ++a) {
        row.push_back(a <= b ? Cell::count(duplicates.between[a][b]) : Cell(""));
      }
      table.rows.push_back(std::move(row));
    }
    page.add(table);
    add_pairs(page, shown, shown.found.equal_pairs, false);
  }
  page.heading("Nearly equal samples");
  if (shown.found.near_pairs.empty()) {
    page.paragraph("There are none.");
    return;
  }
  page.paragraph(fmt::format("The nearest by Euclidean distance, among {} samples chosen at random ({}).",
                             format_count(std::ssize(shown.found.comparison.samples)),
                             shown.found.comparison.vectors));
  add_pairs(page, shown, shown.found.near_pairs, true);
}

void add_outliers(Page& page, const Shown& shown) {
  page.section("Atypical samples");
  const std::string of = fmt::format("among {} samples chosen at random",
                                     format_count(std::ssize(shown.found.comparison.samples)));
  page.heading("Far from their own class");
  if (shown.found.far.empty()) {
    page.paragraph("No class has enough samples among those chosen at random.");
  } else {
    page.paragraph(fmt::format(
        "The distance to the fifth nearest sample of the class, relative to its median in the class; {}.",
        of));
    add_samples_with_reason(page, shown, shown.found.far, [](const explore::Outlier& outlier) {
      return fmt::format("{:.2f} times as far", outlier.why.score);
    });
  }
  page.heading("Among samples of another class");
  if (shown.found.suspect_labels.empty()) {
    page.paragraph(fmt::format("There are none {}.", of));
    return;
  }
  page.paragraph(fmt::format(
      "Most of their 10 nearest neighbors have another label, which may be the correct one; {}.", of));
  add_samples_with_reason(page, shown, shown.found.suspect_labels, [&](const explore::Outlier& outlier) {
    return fmt::format("{:.0f} % of neighbors differ, mostly {}", 100 * outlier.why.score,
                       shown.class_name(outlier.why.majority));
  });
}

}  // namespace convoke::report
