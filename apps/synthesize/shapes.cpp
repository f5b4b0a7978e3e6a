#include <fmt/format.h>

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#define STBI_WRITE_NO_STDIO
#include <stb/stb_image_write.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>
#include <string>
#include <string_view>

#include "convoke/core/checksum.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/pictures/image.hpp"
#include "synthesize/synthesize.hpp"

namespace convoke::data_prep {
namespace {

using pictures::Image;

/// A place relative to the middle of a shape, in its own axes; the shape is within 1 of the middle.
struct Place {
  double u, v;
};

/// A negative number inside the shape.
struct Form {
  const char* name;
  double (*border)(Place);
};

constexpr std::array kForms{
    Form{"disc", [](Place p) { return std::hypot(p.u, p.v) - 0.8; }},
    Form{"triangle", [](Place p) { return std::max(-p.v, 0.87 * std::abs(p.u) + 0.5 * p.v) - 0.45; }},
    Form{"square", [](Place p) { return std::max(std::abs(p.u), std::abs(p.v)) - 0.7; }},
    Form{"cross",
         [](Place p) {
           const double u = std::abs(p.u), v = std::abs(p.v);
           return std::min(std::max(u, 3 * v), std::max(3 * u, v)) - 0.9;
         }},
    Form{"star",
         [](Place p) { return std::hypot(p.u, p.v) - 0.65 - 0.3 * std::cos(5 * std::atan2(p.v, p.u)); }},
    Form{"bar", [](Place p) { return std::max(std::abs(p.u), 4 * std::abs(p.v)) - 0.95; }},
};

/// True where the shape has its color.
struct Filling {
  const char* name;
  bool (*filled)(Place, double border);
};

constexpr std::array kFillings{
    Filling{"", [](Place, double) { return true; }},
    Filling{"hollow-", [](Place, double border) { return border > -0.2; }},
    Filling{"striped-", [](Place p, double) { return std::sin(14 * p.u) > 0; }},
    Filling{"checked-", [](Place p, double) { return std::sin(9 * p.u) * std::sin(9 * p.v) > 0; }},
};

/// Class k: one form and filling, or several such shapes in one picture.
struct ShapeClass {
  const Form& form;
  const Filling& filling;
  std::int64_t copies;

  explicit ShapeClass(std::size_t k)
      : form(kForms[k / kFillings.size() % kForms.size()]),
        filling(kFillings[k % kFillings.size()]),
        copies(1 + static_cast<std::int64_t>(k / (kForms.size() * kFillings.size()))) {}

  std::string name() const {
    return fmt::format("{}{}{}", copies > 1 ? fmt::format("{}-", copies) : "", filling.name, form.name);
  }
};

using Color = std::array<double, 3>;  // 0 to 1; a picture with one channel uses the first

/// A shape in a picture. Lengths are fractions of the shorter side.
struct Shape {
  double row, column, radius, angle;
  Color color;
};

double between(RandomStream& random, double low, double high) {
  return low + (high - low) * random.uniform();
}

// Returns a picture of the class: shapes that are darker or lighter than the background, in any place, size
// and direction. Difficulty lowers the contrast, makes shapes smaller, and adds noise.
Image draw(const SynthesizeOptions& options, const ShapeClass& kind, std::int64_t number) {
  RandomStream random = random_of(options, number);
  const double d = options.difficulty, sign = random.uniform() < 0.5 ? -1 : 1;
  const double side = static_cast<double>(std::min(options.height, options.width));
  const double height = static_cast<double>(options.height) / side;
  const double width = static_cast<double>(options.width) / side;
  Color background{}, slope{};
  for (double& value : background) value = 0.5 - sign * between(random, 0.1, 0.25 - 0.1 * d);
  for (double& value : slope) value = between(random, -0.1, 0.1);
  std::vector<Shape> shapes;
  for (std::int64_t i = 0; i < kind.copies; ++i) {
    const double radius =
        between(random, 0.28 - 0.08 * d, 0.4 - 0.06 * d) / std::sqrt(static_cast<double>(kind.copies));
    Shape shape{between(random, radius, height - radius), between(random, radius, width - radius), radius,
                between(random, 0, 2 * std::numbers::pi), background};
    for (double& value : shape.color) value += sign * between(random, 0.25 - 0.1 * d, 0.5 - 0.2 * d);
    shapes.push_back(shape);
  }
  const auto color_at = [&](double row, double column) -> const Color& {
    for (const Shape& shape : shapes) {
      const double x = (column - shape.column) / shape.radius, y = (row - shape.row) / shape.radius;
      if (x * x + y * y > 1) continue;
      const Place place{x * std::cos(shape.angle) + y * std::sin(shape.angle),
                        y * std::cos(shape.angle) - x * std::sin(shape.angle)};
      const double border = kind.form.border(place);
      if (border < 0 && kind.filling.filled(place, border)) return shape.color;
    }
    return background;
  };
  Image image{.height = options.height, .width = options.width, .channels = options.channels};
  constexpr std::array kParts{0.25, 0.75};  // each pixel is the mean of four points
  for (std::int64_t y = 0; y < image.height; ++y) {
    for (std::int64_t x = 0; x < image.width; ++x) {
      Color sum{};
      for (const double down : kParts) {
        for (const double right : kParts) {
          const Color& color =
              color_at((static_cast<double>(y) + down) / side, (static_cast<double>(x) + right) / side);
          for (std::size_t c = 0; c < sum.size(); ++c) sum[c] += color[c] / 4;
        }
      }
      const double along = static_cast<double>(x + y) / static_cast<double>(image.height + image.width);
      for (std::size_t c = 0; c < static_cast<std::size_t>(image.channels); ++c) {
        const double noise = (0.02 + 0.12 * d) * between(random, -1, 1);
        image.values.push_back(static_cast<std::uint8_t>(
            std::clamp(255 * (sum[c] + slope[c] * (along - 0.5) + noise), 0.0, 255.0)));
      }
    }
  }
  return image;
}

constexpr std::string_view kComment = "synthetic: made by convoke synthesize";
constexpr int kJpegQuality = 92;

void append(void* bytes, void* data, int size) {
  static_cast<std::string*>(bytes)->append(static_cast<const char*>(data), static_cast<std::size_t>(size));
}

// Returns the bytes of a number, the highest first.
std::string big_endian(std::uint32_t value, int bytes) {
  std::string text;
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
    text.push_back(static_cast<char>(value >> shift & 0xFF));
  return text;
}

// Returns a color picture as JPEG with a comment segment after the start: ff fe, length including itself,
// text.
std::string jpeg(const Image& image) {
  std::string bytes;
  stbi_write_jpg_to_func(append, &bytes, static_cast<int>(image.width), static_cast<int>(image.height), 3,
                         image.values.data(), kJpegQuality);
  return bytes.insert(2, "\xFF\xFE" + big_endian(kComment.size() + 2, 2) + std::string(kComment));
}

// Returns a gray picture as PNG, because the writer's JPEGs have three channels, with a tEXt chunk after the
// header: length, name, keyword, 0, text, CRC of all but the length.
std::string png(const Image& image) {
  std::string bytes;
  const int width = static_cast<int>(image.width);
  stbi_write_png_to_func(append, &bytes, width, static_cast<int>(image.height), 1, image.values.data(),
                         width);
  const std::string chunk = std::string("tEXtComment") + '\0' + std::string(kComment);
  constexpr std::size_t kBehindHeader = 8 + 25;
  return bytes.insert(kBehindHeader, big_endian(static_cast<std::uint32_t>(chunk.size() - 4), 4) + chunk +
                                         big_endian(crc32(std::as_bytes(std::span(chunk))), 4));
}

}  // namespace

SyntheticData make_shapes(SynthesizeOptions options) {
  if (options.classes == 0) options.classes = 10;
  if (options.classes < 2) throw Error("--classes 1: shapes have at least 2 classes");
  if (options.height == 0) options.height = options.width = 64;
  if (options.channels == 0) options.channels = 3;
  if (options.channels != 1 && options.channels != 3) {
    throw Error(fmt::format("--channels {}: a picture has 1 channel or 3", options.channels));
  }
  if (options.samples == 0) options.samples = 200 * options.classes;
  require_samples(options, 5 * options.classes,
                  fmt::format("{} classes of shapes need {}, five of each to train and to test",
                              format_count(options.classes), 5 * options.classes));
  SyntheticData data{.files = options.samples};
  for (std::int64_t k = 0; k < options.classes; ++k)
    data.folders.emplace_back(ShapeClass(static_cast<std::size_t>(k)).name());
  data.write_file = [options](std::int64_t index, const std::filesystem::path& output) {
    const ShapeClass kind(static_cast<std::size_t>(index % options.classes));
    const Image picture = draw(options, kind, index);
    const bool gray = options.channels == 1;
    write_text(output / kind.name() / fmt::format("synthetic-{:05}.{}", index, gray ? "png" : "jpg"),
               gray ? png(picture) : jpeg(picture));
  };
  return data;
}

}  // namespace convoke::data_prep
