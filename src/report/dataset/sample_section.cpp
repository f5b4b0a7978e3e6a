#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "convoke/core/text.hpp"
#include "convoke/explore/gradients.hpp"
#include "shown.hpp"

// Samples of each class: contact sheets, means, edges and histograms of oriented gradients; correlations.

namespace convoke::report {
namespace {

constexpr double kSheetWidth = 330, kMeanSide = 112;
constexpr std::int64_t kMostSignals = 4;

std::vector<Figure> contact_sheets(const Shown& shown) {
  std::vector<Figure> figures;
  for (std::size_t s = 0; s < shown.found.sheets.size(); ++s) {
    const auto& sheet = shown.found.sheets[s];
    if (sheet.empty()) continue;
    std::vector<Picture> pictures;
    for (const explore::Sample& sample : sheet) pictures.push_back(shown.picture(sample));
    const std::int64_t columns = pictures.front().width > 40 ? 5 : 10;
    Picture whole = contact_sheet(pictures, columns);
    const double scale =
        kSheetWidth / static_cast<double>(std::max(whole.width, columns * pictures.front().width));
    figures.push_back(
        {std::move(whole), shown.class_name(shown.found.survey.shown_classes[s]), std::max(1.0, scale)});
  }
  return figures;
}

std::vector<Figure> mean_images(const Shown& shown) {
  std::vector<Figure> figures;
  const explore::Survey& survey = shown.found.survey;
  const Shape stored = data::stored_shape(shown.found.info.sample_shape);
  const Shape shape = explore::fit_within(stored, explore::kLargestSide);
  std::vector<double> mean(static_cast<std::size_t>(shape.elements()));
  for (const std::int64_t s : survey.known_means()) {
    const std::int32_t label = survey.shown_classes[static_cast<std::size_t>(s)];
    explore::area_average(survey.class_means.row(s).data(), stored, shape[0], shape[1], mean.data());
    figures.push_back(row_of({shown.picture(shape, mean)}, shown.class_name(label), kMeanSide));
  }
  return figures;
}

// The mean of each class over time, with one chart per feature.
std::vector<Chart> mean_signals(const Shown& shown) {
  const explore::Survey& survey = shown.found.survey;
  const Shape& shape = shown.found.info.sample_shape;
  const std::vector<std::int64_t> known = survey.known_means();
  std::vector<Chart> charts;
  for (std::int64_t f = 0; f < std::min(shape[1], kMostSignals); ++f) {
    Chart chart{
        Chart::Kind::kLine,
        fmt::format("Mean of {} over time, by class", shown.channel_name(static_cast<std::size_t>(f))),
        shown.of_classes(),
        "step",
        "mean",
        {{"step"}, {}}};
    std::vector<double> means;  // (known, steps)
    for (const std::int64_t s : known) {
      chart.table.columns.push_back(shown.class_name(survey.shown_classes[static_cast<std::size_t>(s)]));
      for (std::int64_t step = 0; step < shape[0]; ++step)
        means.push_back(survey.class_means(s, step * shape[1] + f));
    }
    const int digits = digits_for(means);
    for (std::int64_t step = 0; step < shape[0]; ++step) {
      std::vector<Cell> row{Cell::count(step)};
      for (std::size_t k = 0; k < known.size(); ++k) {
        row.push_back(Cell::number(
            means[k * static_cast<std::size_t>(shape[0]) + static_cast<std::size_t>(step)], digits));
      }
      chart.table.rows.push_back(std::move(row));
    }
    charts.push_back(std::move(chart));
  }
  return charts;
}

// Two digits are enough for a color and a tooltip, and keep the page small.
void add_cells(HeatMap& map, const explore::Matrix& correlations) {
  for (std::int64_t r = 0; r < correlations.rows; ++r) {
    for (std::int64_t c = 0; c < correlations.columns; ++c) {
      const double value = std::round(100 * correlations(r, c)) / 100;
      if (value != 0)
        map.cells.push_back({static_cast<std::size_t>(r), static_cast<std::size_t>(c), value, value});
    }
  }
}

// Correlations between places of images; the first image pixel is the first row.
HeatMap pixel_map(const explore::PixelCorrelations& pixels) {
  HeatMap map{.title = "Correlations between pixels",
              .note =
                  "Pearson's correlation of every two pixels (of larger images: of areas of pixels), all "
                  "channels together, row by row. Blue: both are bright in the same images; orange: one is "
                  "bright where the other is dark.",
              .row_title = "pixel (row, column)",
              .column_title = "other pixel (row, column)",
              .unit = "correlation"};
  for (std::int64_t i = 0; i < pixels.correlations.rows; ++i)
    map.rows.push_back(fmt::format("{}, {}", i / pixels.width, i % pixels.width));
  map.columns = map.rows;
  add_cells(map, pixels.correlations);
  return map;
}

Table correlation_table(const std::string& title, const std::vector<std::string>& names,
                        const explore::Matrix& correlations) {
  Table table{{title}, {}};
  for (std::int64_t i = 0; i < correlations.rows; ++i) {
    table.columns.push_back(names[static_cast<std::size_t>(i)]);
    std::vector<Cell> row{names[static_cast<std::size_t>(i)]};
    for (std::int64_t j = 0; j < correlations.columns; ++j) {
      const std::string text = fmt::format("{:.2f}", correlations(i, j));
      row.push_back(Cell::exact(text, text).shaded(correlations(i, j)));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

constexpr std::size_t kMostFigures = 12;
constexpr std::int64_t kSmallCell = 4, kLargeCell = 8, kSmallImage = 40;  // pixels
constexpr std::int64_t kDrawnCell = 14;  // a cell is drawn with at least so many pixels

std::uint8_t level(double share) {
  return static_cast<std::uint8_t>(std::lround(255 * std::clamp(share, 0.0, 1.0)));
}

// A gray picture, from 0 (black) to the largest value (white), with `scale` x `scale` pixels for each value.
Picture enlarged(const explore::Matrix& values, double low, double high, std::int64_t scale) {
  Picture picture{values.columns * scale, values.rows * scale, 1, {}};
  for (std::int64_t y = 0; y < picture.height; ++y) {
    for (std::int64_t x = 0; x < picture.width; ++x) {
      const double value = values(y / scale, x / scale);
      picture.pixels.push_back(level(high > low ? (value - low) / (high - low) : 0));
    }
  }
  return picture;
}

// Draws a line through the middle of a cell; brighter lines stay.
void draw_line(Picture& picture, double x, double y, double angle, double length, std::uint8_t brightness) {
  constexpr double kStep = 0.25;
  for (double t = -length; t <= length; t += kStep) {
    const auto column = std::lround(x + t * std::cos(angle)), row = std::lround(y + t * std::sin(angle));
    if (column < 0 || column >= picture.width || row < 0 || row >= picture.height) continue;
    std::uint8_t& pixel = picture.pixels[static_cast<std::size_t>(row * picture.width + column)];
    pixel = std::max(pixel, brightness);
  }
}

// In each cell a line along the edges of each orientation, i.e. across its gradients.
Picture hog_picture(const explore::Matrix& image, std::int64_t cell, std::int64_t scale) {
  const explore::Hog hog = explore::hog(image, cell);
  Picture picture{image.columns * scale, image.rows * scale, 1, {}};
  picture.pixels.resize(static_cast<std::size_t>(picture.width * picture.height));
  const double strongest = hog.cells.empty() ? 0 : *std::ranges::max_element(hog.cells);
  if (!(strongest > 0)) return picture;
  const auto side = static_cast<double>(cell * scale);
  for (std::size_t i = 0; i < hog.cells.size(); ++i) {
    const auto place = static_cast<std::int64_t>(i) / explore::Hog::kOrientations;
    const auto orientation = static_cast<double>(static_cast<std::int64_t>(i) % explore::Hog::kOrientations);
    const double gradient = std::numbers::pi * (orientation + 0.5) / explore::Hog::kOrientations;
    draw_line(picture, side * (static_cast<double>(place % hog.columns) + 0.5),
              side * (static_cast<double>(place / hog.columns) + 0.5), gradient + std::numbers::pi / 2,
              side / 2 - 1, level(hog.cells[i] / strongest));
  }
  return picture;
}

// The image in gray, its edges, and its gradients, next to each other.
Figure gradients_of(const Shown& shown, const explore::Sample& sample) {
  const explore::Matrix image = explore::gray(sample.shape, sample.values);
  const std::int64_t side = std::min(image.rows, image.columns);
  const std::int64_t cell = std::min(side, side < kSmallImage ? kSmallCell : kLargeCell);
  const std::int64_t scale = (kDrawnCell + cell - 1) / cell;
  const explore::Matrix edges = explore::sobel(image);
  const auto [low, high] = std::ranges::minmax_element(image.values);
  const double strongest = *std::ranges::max_element(edges.values);
  const std::vector<Picture> parts{enlarged(image, *low, *high, scale), enlarged(edges, 0, strongest, scale),
                                   hog_picture(image, cell, scale)};
  return {contact_sheet(parts, std::ssize(parts)), shown.class_name(sample.label)};
}

}  // namespace

void add_samples(Page& page, const Shown& shown) {
  const std::size_t rank = shown.found.info.sample_shape.rank();
  if (shown.images()) {
    page.section("Samples");
    page.paragraph(fmt::format("Samples of each class, chosen at random. {}", shown.of_classes()));
    page.add(contact_sheets(shown));
    page.section("Mean images");
    page.paragraph(fmt::format("The mean of all images of a class, {}. {}",
                               shown.found.survey.splits.front().name, shown.of_classes()));
    page.add(mean_images(shown));
  } else if (rank == 2) {
    page.section("Mean signals");
    page.side_by_side(mean_signals(shown));
  }
}

void add_correlations(Page& page, const Shown& shown) {
  const explore::Matrix& correlations = shown.found.correlations;
  if (correlations.rows < 2) return;
  const bool features = !shown.found.correlated.empty();
  page.section("Correlations");
  page.paragraph(features
                     ? fmt::format("Pearson's correlation of {}, over {} rows of {}; 0 for constant ones.",
                                   shown.images() ? "channels" : "features",
                                   format_count(shown.found.survey.rows.rows),
                                   shown.found.survey.splits.front().name)
                     : "Pearson's correlation of the mean images of classes, pixel by pixel. It shows which "
                       "classes look alike.");
  if (features && std::ssize(shown.found.correlated) < std::ssize(shown.found.correlation_ratios)) {
    page.paragraph(fmt::format("The {} features, of {}, whose variance the class explains best.",
                               correlations.rows, shown.found.correlation_ratios.size()));
  }
  std::vector<std::string> names;
  for (const std::int64_t place : features ? shown.found.correlated : shown.found.survey.known_means()) {
    const auto at = static_cast<std::size_t>(place);
    names.push_back(features ? shown.channel_name(at)
                             : shown.class_name(shown.found.survey.shown_classes[at]));
  }
  page.add(correlation_table(features ? "feature" : "class", names, correlations));
  if (features) {
    page.paragraph(
        "Spearman's correlation of the same: that of their ranks. It is far from Pearson's where a relation "
        "is curved, or where a few large values decide.");
    page.add(correlation_table("feature (ranks)", names, shown.found.rank_correlations));
  }
  if (shown.images()) page.add(pixel_map(shown.found.comparison.pixels));
}

void add_gradients(Page& page, const Shown& shown) {
  std::vector<Figure> figures;
  for (const auto& sheet : shown.found.sheets) {
    if (!sheet.empty() && figures.size() < kMostFigures)
      figures.push_back(gradients_of(shown, sheet.front()));
  }
  if (figures.empty()) return;
  page.section("Edges and gradients");
  page.paragraph(
      "A sample of each class in gray, the strength of its edges (Sobel's operator), and its histograms of "
      "oriented gradients (Dalal and Triggs 2005): in each cell, lines along the edges of 9 orientations; "
      "the brighter, the stronger.");
  page.add(figures);
}

}  // namespace convoke::report
