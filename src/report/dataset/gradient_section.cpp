#include <algorithm>
#include <cmath>
#include <numbers>

#include "convoke/explore/gradients.hpp"
#include "shown.hpp"

// Edges and histograms of oriented gradients, as pictures.

namespace convoke::report {
namespace {

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
