#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "convoke/core/text.hpp"
#include "shown.hpp"

// Maps of the dataset: principal components and t-SNE. Samples made of few principal components, and the
// error.

namespace convoke::report {
namespace {

constexpr std::int64_t kMostGroups = 20;      // classes with a separate color
constexpr std::int64_t kMostComponents = 12;  // shown as pictures
constexpr double kComponentSide = 112, kRebuiltSide = 84;
constexpr std::array<std::int64_t, 5> kComponents{1, 5, 10, 25, 50};  // of which samples are made
constexpr double kLargestByte = 255;

std::string trust(double value) {
  return std::isfinite(value) ? fmt::format(" Trustworthiness (12 neighbors): {:.3f}.", value) : "";
}

Chart map_chart(const Shown& shown, const std::string& title, const std::string& note, const std::string& x,
                const std::string& y, const explore::Matrix& map) {
  const explore::Comparison& comparison = shown.found.comparison;
  Chart chart{Chart::Kind::kScatter, title, note, x, y, {{"x", "y", "class", "sample"}, {}}};
  const auto frequent =
      explore::largest<std::int32_t>(shown.found.survey.splits.front().class_counts, kMostGroups);
  for (std::int64_t i = 0; i < map.rows; ++i) {
    const auto at = static_cast<std::size_t>(comparison.mapped[static_cast<std::size_t>(i)]);
    const std::int32_t label = comparison.labels[at];
    const bool colored = std::ranges::find(frequent, label) != frequent.end();
    chart.table.rows.push_back({Cell::number(map(i, 0)), Cell::number(map.columns > 1 ? map(i, 1) : 0),
                                colored ? shown.class_name(label) : "other classes",
                                shown.place(comparison.samples[at])});
  }
  return chart;
}

Chart shares(const explore::Pca& pca) {
  Chart chart{Chart::Kind::kLine,
              "Variance explained",
              "Share of the variance along the first components, each and cumulative.",
              "components",
              "%",
              {{"components", "share", "cumulative"}, {}}};
  double sum = 0;
  for (std::size_t i = 0; i < pca.variance.size(); ++i) {
    sum += pca.share(i);
    chart.table.rows.push_back(
        {Cell::count(static_cast<std::int64_t>(i) + 1), Cell::percent(pca.share(i)), Cell::percent(sum)});
  }
  return chart;
}

Chart error_chart(const Shown& shown) {
  const bool bytes = shown.found.info.sample_type == data::SampleType::kUint8;
  Chart chart{Chart::Kind::kLine,
              "Reconstruction error",
              "The root of the mean squared error of a value, if samples are made of their first principal "
              "components; at 0, of their mean.",
              "components",
              bytes ? "error, of values from 0 to 255" : "error, of standardized values",
              {{"components", "error"}, {}}};
  chart.from_zero = true;
  std::int64_t components = 0;
  for (const double error : explore::reconstruction_errors(shown.found.comparison.pca))
    chart.table.rows.push_back(
        {Cell::count(components++), Cell::number(bytes ? kLargestByte * error : error)});
  return chart;
}

// Pictures of 8-bit values from 0 to 255, others between the ends of the original.
Picture picture_of_vector(const Shown& shown, const std::vector<double>& vector,
                          std::span<const double> original) {
  if (shown.found.info.sample_type == data::SampleType::kUint8)
    return picture_of(shown.found.comparison.vector_shape, vector,
                      [](double value, std::size_t) { return kLargestByte * value; });
  const auto [low, high] = std::ranges::minmax_element(original);
  return picture_of(shown.found.comparison.vector_shape, vector,
                    [&](double value, std::size_t) { return level_between(*low, *high, value); });
}

}  // namespace

void add_maps(Page& page, const Shown& shown) {
  const explore::Comparison& comparison = shown.found.comparison;
  page.section("Maps");
  if (comparison.pca.variance.empty()) {
    page.paragraph("All samples are equal, so there is nothing to map.");
    return;
  }
  page.paragraph(
      fmt::format("{} samples of all splits, as {}, in the space of their first {} principal components. The "
                  "maps show {} of them.",
                  format_count(std::ssize(comparison.samples)), comparison.vectors,
                  comparison.pca.variance.size(), format_count(std::ssize(comparison.mapped))));
  const explore::Matrix plane =
      explore::first_columns(explore::rows_at(comparison.pca.scores, comparison.mapped), 2);
  const auto axis = [&](std::size_t c) {
    return c < comparison.pca.variance.size()
               ? fmt::format("component {} ({:.1f} %)", c + 1, 100 * comparison.pca.share(c))
               : fmt::format("component {}", c + 1);
  };
  page.side_by_side(std::vector<Chart>{
      map_chart(shown, "Principal components", "The plane of largest variance." + trust(comparison.pca_trust),
                axis(0), axis(1), plane),
      map_chart(shown, "t-SNE",
                "Neighbors stay together; distances between clusters have no meaning." +
                    trust(comparison.tsne_trust),
                "", "", comparison.tsne)});
  page.add(shares(comparison.pca));
  if (comparison.vector_shape.rank() != 3) return;
  std::vector<Figure> figures;
  for (std::int64_t c = 0; c < std::min(kMostComponents, comparison.pca.components.rows); ++c) {
    figures.push_back(
        row_of({shown.relief(comparison.vector_shape, comparison.pca.components.row(c))},
               fmt::format("{}: {:.1f} %", c + 1, 100 * comparison.pca.share(static_cast<std::size_t>(c))),
               kComponentSide));
  }
  page.heading("First components as pictures");
  page.add(figures);
}

void add_reconstruction(Page& page, const Shown& shown) {
  const explore::Comparison& comparison = shown.found.comparison;
  if (comparison.pca.variance.empty() || shown.tokens()) return;
  page.add(error_chart(shown));
  std::vector<Figure> figures;
  for (std::size_t i = 0; i < comparison.rebuilt.size(); ++i) {
    const std::int64_t point = comparison.rebuilt[i];
    const std::span<const double> original = comparison.originals.row(static_cast<std::int64_t>(i));
    std::vector<Picture> parts{picture_of_vector(shown, {original.begin(), original.end()}, original)};
    for (const std::int64_t components : kComponents) {
      if (components > comparison.pca.components.rows) break;
      parts.push_back(
          picture_of_vector(shown, explore::reconstruct(comparison.pca, point, components), original));
    }
    figures.push_back(
        row_of(parts, shown.class_name(comparison.labels[static_cast<std::size_t>(point)]), kRebuiltSide));
  }
  if (figures.empty()) return;
  page.heading("Samples made of few components");
  page.paragraph(
      "Each picture: a sample, and then the sample made of its first 1, 5, 10, 25 and 50 components.");
  page.add(figures);
}

}  // namespace convoke::report
