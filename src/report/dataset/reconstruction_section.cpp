#include <algorithm>
#include <array>

#include "shown.hpp"

// Samples made of few principal components, and the error.

namespace convoke::report {
namespace {

constexpr std::array<std::int64_t, 5> kComponents{1, 5, 10, 25, 50};
constexpr double kRebuiltSide = 84;
constexpr double kLargestByte = 255;

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
  return picture_of(shown.found.comparison.vector_shape, vector, [&](double value, std::size_t) {
    return *high > *low ? kLargestByte * (value - *low) / (*high - *low) : kLargestByte / 2;
  });
}

}  // namespace

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
