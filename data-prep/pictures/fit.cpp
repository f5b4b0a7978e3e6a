#include "convoke/data_prep/pictures/fit.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"

namespace convoke::data_prep {
namespace {

constexpr double kSearchSide = 256;       // pixels of the longer side when searching the eye
constexpr double kRimShare = 0.1;         // of the brightness range, above the background
constexpr double kLeastContrast = 6;      // gray levels between background and eye
constexpr std::size_t kLeastPoints = 16;  // on the rim

struct Point {
  double y = 0, x = 0;
};

/// The brightest channel of each pixel, (height, width).
struct Brightness {
  PictureSize extent;
  std::vector<std::uint8_t> values;
  std::uint8_t at(std::int64_t y, std::int64_t x) const {
    return values[static_cast<std::size_t>(y * extent.width + x)];
  }
};

Brightness brightness_of(const Image& image) {
  Brightness bright{image.extent(), {}};
  const auto channels = static_cast<std::ptrdiff_t>(image.channels);
  for (auto it = image.values.begin(); it != image.values.end(); it += channels) {
    bright.values.push_back(*std::max_element(it, it + channels));
  }
  return bright;
}

// The background is the darkest hundredth of the pixels; the eye is the brightest twentieth.
std::optional<double> rim_level(const Brightness& bright) {
  std::vector<std::uint8_t> sorted = bright.values;
  std::sort(sorted.begin(), sorted.end());
  const double dark = sorted[sorted.size() / 100];
  const double light = sorted[sorted.size() - 1 - sorted.size() / 20];
  if (light - dark < kLeastContrast) return {};
  return dark + std::max(kRimShare * (light - dark), kLeastContrast / 2);
}

// Returns the points where rows and columns rise above `level` for the first and the last time, without those
// at the edge of the picture.
std::vector<Point> rim_points(const Brightness& bright, double level) {
  std::vector<Point> points;
  const auto scan = [&](std::int64_t lines, std::int64_t length, const auto& value, const auto& point) {
    for (std::int64_t line = 0; line < lines; ++line) {
      std::int64_t first = 0, last = length - 1;
      while (first < length && value(line, first) <= level) ++first;
      if (first == length) continue;
      while (value(line, last) <= level) --last;
      const auto middle = static_cast<double>(line) + 0.5;
      if (first > 0) points.push_back(point(middle, static_cast<double>(first)));
      if (last < length - 1) points.push_back(point(middle, static_cast<double>(last + 1)));
    }
  };
  const auto [height, width] = bright.extent;
  scan(
      height, width, [&](std::int64_t y, std::int64_t x) { return bright.at(y, x); },
      [](double y, double x) {
        return Point{y, x};
      });
  scan(
      width, height, [&](std::int64_t x, std::int64_t y) { return bright.at(y, x); },
      [](double x, double y) {
        return Point{y, x};
      });
  return points;
}

// I. Kåsa, "A circle fitting procedure and its error analysis", IEEE Trans. Instrum. Meas. 25, 1976: least
// squares of x² + y² - (2 a x + 2 b y + c) over the points; center (a, b), radius² = c + a² + b².
std::optional<Circle> fit_circle(const std::vector<Point>& points) {
  Point mean;
  for (const Point& p : points) {
    mean.y += p.y / static_cast<double>(points.size());
    mean.x += p.x / static_cast<double>(points.size());
  }
  Eigen::Matrix3d normal = Eigen::Matrix3d::Zero();
  Eigen::Vector3d right = Eigen::Vector3d::Zero();
  for (const Point& p : points) {
    const double x = p.x - mean.x, y = p.y - mean.y;
    const Eigen::Vector3d row(2 * x, 2 * y, 1);
    normal += row * row.transpose();
    right += (x * x + y * y) * row;
  }
  const Eigen::Vector3d found = normal.ldlt().solve(right);
  const double square = found[2] + found[0] * found[0] + found[1] * found[1];
  if (!found.allFinite() || !(square > 0)) return {};
  return Circle{mean.y + found[1], mean.x + found[0], std::sqrt(square)};
}

// Repeats the fit with the points near the last circle: within twice the median distance or a pixel and a
// half.
std::optional<Circle> fit_rim(const std::vector<Point>& points) {
  constexpr int kRounds = 10;
  constexpr double kLeastReach = 1.5;
  std::vector<Point> near = points;
  std::optional<Circle> circle;
  for (int round = 0; round < kRounds && near.size() >= kLeastPoints; ++round) {
    circle = fit_circle(near);
    if (!circle) return {};
    std::vector<double> distances;
    for (const Point& p : points) {
      distances.push_back(std::abs(std::hypot(p.x - circle->x, p.y - circle->y) - circle->radius));
    }
    std::vector<double> sorted = distances;
    std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2),
                     sorted.end());
    const double reach = std::max(kLeastReach, 2 * sorted[sorted.size() / 2]);
    near.clear();
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (distances[i] <= reach) near.push_back(points[i]);
    }
  }
  return near.size() >= kLeastPoints ? circle : std::nullopt;
}

// Checks that the eye lies within the picture, has a plausible size, and is mostly bright inside and dark
// outside.
bool is_plausible(const Circle& eye, const Brightness& bright, double level) {
  const auto height = static_cast<double>(bright.extent.height),
             width = static_cast<double>(bright.extent.width);
  const double side = std::max(height, width);
  if (eye.radius < 0.1 * side || eye.radius > side || eye.x < 0 || eye.y < 0 || eye.x > width ||
      eye.y > height) {
    return false;
  }
  double inside = 0, dark_inside = 0, outside = 0, bright_outside = 0;
  for (std::int64_t y = 0; y < bright.extent.height; ++y) {
    for (std::int64_t x = 0; x < bright.extent.width; ++x) {
      const double dy = static_cast<double>(y) + 0.5 - eye.y, dx = static_cast<double>(x) + 0.5 - eye.x;
      const bool within = std::hypot(dy, dx)<eye.radius, is_bright = bright.at(y, x)> level;
      (within ? inside : outside) += 1;
      (within ? dark_inside : bright_outside) += within != is_bright ? 1 : 0;
    }
  }
  return dark_inside < 0.5 * inside && bright_outside < 0.25 * outside;
}

}  // namespace

std::optional<Circle> find_eye(const Image& picture) {
  const Box content = picture.content();
  const double scale = std::min(1.0, kSearchSide / std::max(content.height(), content.width()));
  const auto scaled = [&](double extent) { return std::max<std::int64_t>(1, std::llround(scale * extent)); };
  const Image small = resize(picture, {scaled(content.height()), scaled(content.width())});
  const Brightness bright = brightness_of(small);
  const std::optional<double> level = rim_level(bright);
  if (!level) return {};
  const std::optional<Circle> eye = fit_rim(rim_points(bright, *level));
  if (!eye || !is_plausible(*eye, bright, *level)) return {};
  return Circle{content.top + eye->y / scale, content.left + eye->x / scale, eye->radius / scale};
}

namespace {

double height_per_width(const PictureSize& extent) {
  return static_cast<double>(extent.height) / static_cast<double>(extent.width);
}
double height_per_width(const Box& box) { return box.height() / box.width(); }

// Rounds halves to even, as Python does.
std::int64_t rounded(double value) { return std::llrint(value); }

// Returns the largest picture of the shape of these extents that fits into the sample; rounded as by Pillow.
PictureSize contained(double height, double width, const PictureSize& sample) {
  PictureSize size = sample;
  if (height / width < height_per_width(sample)) {
    size.height = rounded(height / width * static_cast<double>(sample.width));
  } else {
    size.width = rounded(width / height * static_cast<double>(sample.height));
  }
  return {std::max<std::int64_t>(1, size.height), std::max<std::int64_t>(1, size.width)};
}

// Fit "area": the whole picture; height and width are scaled independently.
Placement place_stretched(const Image& picture, const PictureSize& sample) {
  return {.from = picture.content(), .size = sample};
}

// Fit "letter-box": the whole picture with its shape, and black borders on two sides (as Pillow's
// ImageOps.pad).
Placement place_letter_box(const Image& picture, const PictureSize& sample) {
  const Box content = picture.content();
  const PictureSize size = contained(content.height(), content.width(), sample);
  return {.from = content,
          .top = rounded(static_cast<double>(sample.height - size.height) / 2),
          .left = rounded(static_cast<double>(sample.width - size.width) / 2),
          .size = size};
}

// Fit "crop": the largest middle part with the sample's shape (as Pillow's ImageOps.fit).
Placement place_cropped(const Image& picture, const PictureSize& sample) {
  Box from = picture.content();
  const double shape = height_per_width(sample);
  if (height_per_width(from) < shape) {
    const double border = std::max(0.0, from.width() - from.height() / shape) / 2;
    from.left += border;
    from.right -= border;
  } else {
    const double border = std::max(0.0, from.height() - from.width() * shape) / 2;
    from.top += border;
    from.bottom -= border;
  }
  return {.from = from, .size = sample};
}

PictureSize enough_stretched(const PictureSize&, const PictureSize& sample) { return sample; }

PictureSize enough_letter_box(const PictureSize& picture, const PictureSize& sample) {
  return contained(static_cast<double>(picture.height), static_cast<double>(picture.width), sample);
}

// Returns the smallest rectangle of the sample's shape around the whole picture.
PictureSize enough_cropped(const PictureSize& picture, const PictureSize& sample) {
  const double scale = std::max(static_cast<double>(sample.height) / static_cast<double>(picture.height),
                                static_cast<double>(sample.width) / static_cast<double>(picture.width));
  return {static_cast<std::int64_t>(std::ceil(scale * static_cast<double>(picture.height) - 1e-9)),
          static_cast<std::int64_t>(std::ceil(scale * static_cast<double>(picture.width) - 1e-9))};
}

// Fit "fundus": the square around the eye, black where it extends beyond the picture; same as "crop" if no
// eye is found. (After B. Graham, Kaggle Diabetic Retinopathy Detection, 2015, who also scales to the
// radius.)
Placement place_fundus(const Image& picture, const PictureSize& sample) {
  const std::optional<Circle> eye = find_eye(picture);
  if (!eye) return place_cropped(picture, sample);
  // The sample's rectangle around the eye, in pixels of the picture, and its part inside the picture.
  const auto height = static_cast<double>(sample.height), width = static_cast<double>(sample.width);
  const double scale = std::min(height, width) / (2 * eye->radius);
  const double top = eye->y - height / scale / 2, left = eye->x - width / scale / 2;
  const Box content = picture.content();
  const Box from{std::max(content.top, top), std::max(content.left, left),
                 std::min(content.bottom, top + height / scale),
                 std::min(content.right, left + width / scale)};
  const auto pixel = [&](double distance) { return std::llround(distance * scale); };
  Placement place{.from = from, .top = pixel(from.top - top), .left = pixel(from.left - left)};
  place.size = {std::max<std::int64_t>(1, pixel(from.bottom - top) - place.top),
                std::max<std::int64_t>(1, pixel(from.right - left) - place.left)};
  return place;
}

// Returns a size at which an eye that is at least half as wide as the picture's shorter side loses no detail.
PictureSize enough_fundus(const PictureSize&, const PictureSize& sample) {
  return {2 * sample.height, 2 * sample.width};
}

constexpr std::array kFits{
    Fit{"area", place_stretched, enough_stretched},
    Fit{"letter-box", place_letter_box, enough_letter_box},
    Fit{"crop", place_cropped, enough_cropped},
    Fit{"fundus", place_fundus, enough_fundus, 256},
};

}  // namespace

const Fit& find_fit(std::string_view name) { return find_in(kFits, name, "fit"); }

std::vector<std::string> fit_names() { return names_in(kFits); }

// A picture that already has the size is stored unchanged, whatever the fit.
void apply(const Fit& fit, const Image& picture, const PictureSize& size, std::span<std::uint8_t> sample) {
  ensure(sample.size() == static_cast<std::size_t>(size.height * size.width * picture.channels),
         "a sample has room for the fitted picture");
  if (picture.extent() == size) {
    std::copy(picture.values.begin(), picture.values.end(), sample.begin());
    return;
  }
  const Placement place = fit.place(picture, size);
  if (place.size != size) std::fill(sample.begin(), sample.end(), std::uint8_t{0});
  resize(picture, place.from, place.size,
         sample.data() + (place.top * size.width + place.left) * picture.channels,
         size.width * picture.channels);
}

}  // namespace convoke::data_prep
