#include "synthesize/synthetic_data.hpp"

#include <fmt/format.h>

#include <array>
#include <map>
#include <numbers>
#include <string_view>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "synthesize/canvas.hpp"
#include "synthesize/picture_file.hpp"

namespace convoke::data_prep {
namespace {

/// The shape of a bird that looks to the right, seen from the side, in units of the canvas; the origin is the
/// middle of the body.
struct Build {
  const char* name;
  double length, height;     ///< half axes of the body
  double tilt;               ///< tilt of the body with a raised breast, radians
  double neck, head;         ///< length; radius
  double beak, depth, hook;  ///< length, thickness at the head, downward bend of the tip
  double tail, fan, fork;    ///< length, width at the end, distance of the two ends
  double legs;
  double crest;
};

constexpr std::array kBuilds{
    Build{"FINCH", .33, .23, .45, .00, .17, .11, .13, .00, .28, .12, .00, .14, .00},
    Build{"HERON", .34, .20, .50, .42, .10, .34, .06, .00, .14, .12, .00, .46, .16},
    Build{"DUCK", .42, .24, .10, .16, .15, .20, .11, -.05, .12, .16, .00, .10, .00},
    Build{"OWL", .30, .30, 1.15, .00, .27, .08, .10, .06, .16, .18, .00, .10, .10},
    Build{"HAWK", .36, .24, .80, .00, .16, .12, .11, .09, .36, .24, .00, .16, .00},
    Build{"PARROT", .33, .22, .95, .00, .18, .13, .18, .13, .52, .10, .00, .10, .00},
    Build{"HUMMINGBIRD", .24, .14, .65, .00, .12, .36, .03, .02, .22, .12, .08, .04, .00},
    Build{"WOODPECKER", .34, .18, 1.05, .00, .14, .25, .07, .00, .32, .05, .00, .08, .18},
    Build{"SWALLOW", .32, .16, .20, .00, .13, .06, .07, .00, .34, .04, .24, .06, .00},
    Build{"PENGUIN", .42, .25, 1.45, .00, .16, .14, .06, .02, .08, .10, .00, .07, .00},
    Build{"FLAMINGO", .30, .20, .25, .48, .09, .17, .10, .13, .10, .10, .00, .50, .00},
    Build{"TOUCAN", .32, .21, .70, .00, .17, .42, .19, .08, .30, .10, .00, .10, .00},
    Build{"KINGFISHER", .28, .22, .65, .00, .20, .36, .09, .00, .12, .10, .00, .07, .14},
    Build{"CROW", .40, .22, .35, .00, .17, .23, .12, .04, .30, .17, .00, .19, .00},
    Build{"WREN", .25, .22, .25, .00, .15, .13, .05, .02, -.24, .09, .00, .16, .00},
    Build{"PIGEON", .38, .25, .40, .06, .12, .08, .06, .02, .30, .20, .00, .12, .00},
    Build{"GULL", .40, .20, .15, .04, .15, .18, .08, .05, .18, .12, .00, .20, .00},
    Build{"COCKATOO", .30, .21, 1.00, .00, .17, .11, .16, .11, .26, .16, .00, .10, .30},
    Build{"PHEASANT", .36, .22, .30, .16, .11, .09, .07, .03, .68, .04, .00, .20, .00},
    Build{"STORK", .36, .21, .45, .26, .12, .36, .09, .00, .14, .14, .00, .48, .00},
    Build{"IBIS", .33, .19, .40, .24, .10, .38, .06, .22, .12, .10, .00, .36, .00},
};

struct Colors {
  const char* name;
  Color back, belly;
};
// Pairs that swap their colors, so that the amount of blue in a picture does not identify a class.
constexpr std::array kColors{
    Colors{"AZURE", {.16F, .36F, .78F}, {.90F, .52F, .16F}},
    Colors{"RUFOUS", {.82F, .46F, .14F}, {.28F, .46F, .80F}},
    Colors{"EMERALD", {.14F, .50F, .24F}, {.84F, .22F, .18F}},
    Colors{"SCARLET", {.76F, .16F, .14F}, {.30F, .58F, .32F}},
    Colors{"SABLE", {.13F, .12F, .14F}, {.92F, .90F, .84F}},
};

enum class Plumage { kCapped, kStreaked, kSpotted, kBarred, kCollared };
constexpr std::array kPlumages{"CAPPED", "STREAKED", "SPOTTED", "BARRED", "COLLARED"};

constexpr std::int64_t kSpecies = 525;
static_assert(kBuilds.size() * kColors.size() * kPlumages.size() == kSpecies);

/// The shape, pattern and colors of class c: each combination once (21 and 5 have no common divisor). The
/// first 105 classes have the same colors, so that colors alone do not identify a class.
struct Species {
  const Build& build;
  const Colors& colors;
  Plumage pattern;
  std::string name;

  explicit Species(std::int64_t c)
      : build(kBuilds[static_cast<std::size_t>(c) % kBuilds.size()]),
        colors(kColors[static_cast<std::size_t>(c) / (kBuilds.size() * kPlumages.size())]),
        pattern(static_cast<Plumage>(static_cast<std::size_t>(c) % kPlumages.size())),
        name(fmt::format("{} {} {}", colors.name, kPlumages[static_cast<std::size_t>(pattern)], build.name)) {
  }
};

class Bird {
 public:
  Bird(const SynthesizeOptions& options, std::int64_t number, const Species& species)
      : random_(random_of(options, number)),
        canvas_(options.height, options.width),
        species_(species),
        build_(species.build),
        difficulty_(options.difficulty),
        left_(random_.uniform() < 0.5),
        size_(between(random_, 1.0 - 0.25 * difficulty_, 1.15)),
        turn_(between(random_, -0.22, 0.22)),
        middle_{between(random_, -0.14, 0.14), between(random_, -0.12, 0.12)},
        chest_(rotated({0.72 * build_.length, 0}, -build_.tilt)),
        head_(chest_ + rotated({0.10 + 0.25 * build_.neck, -0.97 * build_.neck}, 0) +
              rotated({0.35 * build_.head, -0.75 * build_.head - 0.3 * build_.height}, 0)) {}

  Image picture() {
    scenery();
    tail_and_legs();
    body();
    wing();
    face();
    light();
    return canvas_.image();
  }

 private:
  Point placed(Point local) const {
    return middle_ + size_ * rotated({left_ ? -local.x : local.x, local.y}, left_ ? -turn_ : turn_);
  }
  Point local(Point p) const {
    const Point q = (1 / size_) * rotated(p - middle_, left_ ? turn_ : -turn_);
    return {left_ ? -q.x : q.x, q.y};
  }
  template <class Points>
  void stroke(Mask& mask, const Points& points, double begin, double end) const {
    std::vector<Point> there;
    for (const Point p : points) there.push_back(placed(p));
    mask.add_stroke(there, size_ * begin, size_ * end);
  }

  // Paints sky, leaves or water, and a perch for the bird.
  void scenery() {
    const double hue = random_.uniform();
    const Color above = hsv(hue, between(random_, 0.10, 0.55), between(random_, 0.45, 0.95));
    const Color below =
        hsv(hue + between(random_, -0.2, 0.2), between(random_, 0.10, 0.60), between(random_, 0.3, 0.9));
    const Texture cloud(random_, between(random_, 0.25, 0.9), 4);
    const double contrast = 0.15 + 0.5 * difficulty_ * random_.uniform();
    canvas_.shade([&](Point p, Color) {
      return (1 + contrast * cloud.at(p)) * mix(above, below, ramp(p.y + 0.4 * cloud.at(p), -0.8, 0.8));
    });
    for (int n = whole_between(random_, 0, 3 + static_cast<int>(5 * difficulty_)); n > 0;
         --n) {  // leaves, out of focus
      Mask leaf = canvas_.mask();
      leaf.add_ellipse({between(random_, -1, 1), between(random_, -1, 1)}, between(random_, 0.1, 0.3),
                       between(random_, 0.05, 0.16), std::numbers::pi * random_.uniform(), 0.06);
      canvas_.paint(leaf, hsv(hue + between(random_, -0.3, 0.3), 0.6, between(random_, 0.2, 0.8)), 0.7);
    }
    Mask branch = canvas_.mask();
    const double foot = placed({0, 0.85 * build_.height + build_.legs}).y,
                 slope = between(random_, -0.12, 0.12);
    const std::array ends{Point{-2, foot - 2 * slope}, Point{2, foot + 2 * slope}};
    branch.add_stroke(ends, between(random_, 0.05, 0.10), between(random_, 0.04, 0.08), 0.02);
    canvas_.paint(branch, hsv(0.08, 0.35, between(random_, 0.2, 0.5)));
  }

  void tail_and_legs() {
    Mask tail = canvas_.mask(), legs = canvas_.mask();
    const Point rump = rotated({-0.75 * build_.length, 0}, -build_.tilt);
    // A negative length means a raised tail.
    const double angle = build_.tail < 0 ? std::numbers::pi + 1.0 : std::numbers::pi - 0.75 * build_.tilt;
    const double reach = std::abs(build_.tail) + 0.1;
    for (const double end : {-0.5, 0.5}) {
      const Point tip = rump + polar(reach, angle) + rotated({0, end * build_.fork}, angle);
      stroke(tail, std::array{rump, tip}, 0.55 * build_.height, std::max(0.03, build_.fan));
      if (build_.fork == 0) break;
    }
    for (const double x : {-0.06, 0.07}) {
      stroke(legs,
             std::array{Point{x, 0.6 * build_.height}, Point{x + 0.03, 0.9 * build_.height + build_.legs}},
             0.045, 0.030);
    }
    canvas_.paint(legs, {0.78F, 0.52F, 0.20F});
    canvas_.paint(tail, 0.75 * species_.colors.back);
  }

  void body() {
    Mask mask = canvas_.mask();
    mask.add_ellipse(middle_, size_ * build_.length, size_ * build_.height,
                     left_ ? std::numbers::pi + build_.tilt - turn_ : -build_.tilt + turn_);
    stroke(mask, std::array{0.55 * chest_, head_}, 1.5 * build_.height,
           std::min(1.7, 1 + 2 * build_.neck) * 0.9 * build_.head);
    mask.add_disc(placed(head_), size_ * build_.head);
    const Texture feathers(random_, 0.05, 2);
    canvas_.shade(mask, 1, [&](Point p, Color) {
      const Point at = local(p);
      const Point along = rotated(at, build_.tilt);  // the axes of the body: forwards and downwards
      const bool underside = along.y > 0.05 * build_.height && at.x > -0.8 * build_.length;
      const Color color = length(at - head_) < build_.head ? species_.colors.back
                          : underside                      ? breast(along)
                                                           : species_.colors.back;
      return (1 + 0.12 * feathers.at(p) - 0.25 * along.y) * color;
    });
    marks();
  }

  // The color of the breast with its pattern.
  Color breast(Point along) const {
    const Color belly = species_.colors.belly, dark = 0.35 * species_.colors.back;
    const auto wave = [](double value) { return 0.5 + 0.5 * std::cos(2 * std::numbers::pi * value); };
    switch (species_.pattern) {
      case Plumage::kStreaked:
        return mix(belly, dark, ramp(wave(along.y / 0.085), 0.55, 0.75));
      case Plumage::kBarred:
        return mix(belly, dark, ramp(wave(along.x / 0.10), 0.50, 0.70));
      case Plumage::kSpotted:
        return mix(belly, dark, ramp(wave(along.x / 0.11) * wave(along.y / 0.11), 0.45, 0.62));
      default:
        return belly;
    }
  }

  // Paints a cap, or a ring around the neck.
  void marks() {
    Mask mark = canvas_.mask();
    if (species_.pattern == Plumage::kCapped) {
      const Point middle = placed(head_);
      mark.add(middle, size_ * build_.head, 0, [&](Point p) {
        const Point at = local(p) - head_;
        return size_ * std::max(length(at) - build_.head, at.y + 0.25 * build_.head);
      });
      canvas_.paint(mark, mix(species_.colors.belly, {1, 1, 1}, 0.25));
    } else if (species_.pattern == Plumage::kCollared) {
      const Point down = rotated({0, 1.15 * build_.head}, 0.35);
      const Point side = 0.80 * build_.head * Point{1, 0.25};
      stroke(mark, std::array{head_ + down - side, head_ + down + side}, 0.075, 0.075);
      canvas_.paint(mark, {0.97F, 0.96F, 0.90F});
    }
    if (build_.crest > 0) {
      Mask crest = canvas_.mask();
      for (const double angle : {0.35, 0.65, 0.95}) {
        const Point root = head_ + polar(0.8 * build_.head, -std::numbers::pi + angle + 0.4);
        stroke(crest, std::array{root, root + polar(build_.crest, -std::numbers::pi + angle)}, 0.09, 0.02);
      }
      canvas_.paint(crest, species_.colors.back);
    }
  }

  void wing() {
    Mask mask = canvas_.mask();
    const double angle = build_.tilt * 0.9 + 0.10;
    const Point at = rotated({-0.18 * build_.length, -0.12 * build_.height}, -build_.tilt);
    mask.add_ellipse(placed(at), size_ * 0.78 * build_.length, size_ * 0.48 * build_.height,
                     left_ ? std::numbers::pi + angle - turn_ : -angle + turn_);
    canvas_.shade(mask, 0.95, [&](Point p, Color) {
      const Point q = rotated(local(p) - at, angle);
      const double feather = 0.5 + 0.5 * std::cos(2 * std::numbers::pi * (q.x + 1.4 * q.y) / 0.13);
      const bool barred = species_.pattern == Plumage::kBarred && feather > 0.6;
      const Color base = barred ? mix(species_.colors.back, {1, 1, 1}, 0.75) : species_.colors.back;
      return (0.62 + 0.28 * feather) * base;
    });
  }

  void face() {
    Mask beak = canvas_.mask(), ring = canvas_.mask(), eye = canvas_.mask(), glint = canvas_.mask();
    constexpr int kSteps = 8;
    std::vector<Point> points;
    const Point root = head_ + Point{0.75 * build_.head, 0.10 * build_.head};
    for (int i = 0; i <= kSteps; ++i) {
      const double t = static_cast<double>(i) / kSteps;
      points.push_back(root + Point{t * (build_.beak + 0.25 * build_.head), t * t * build_.hook});
    }
    stroke(beak, points, build_.depth, 0.02);
    canvas_.paint(beak, {0.93F, 0.66F, 0.14F});
    const Point at = placed(head_ + Point{0.30 * build_.head, -0.18 * build_.head});
    const double radius = size_ * std::max(0.032, 0.2 * build_.head);
    ring.add_disc(at, 1.4 * radius);
    eye.add_disc(at, radius);
    glint.add_disc(at - Point{0.3 * radius, 0.3 * radius}, 0.3 * radius);
    canvas_.paint(ring, {0.96F, 0.94F, 0.85F}, 0.8);
    canvas_.paint(eye, {0.05F, 0.04F, 0.04F});
    canvas_.paint(glint, {1, 1, 1});
  }

  void light() {
    const double gain = between(random_, 0.70, 1.25);
    const Point lamp = polar(between(random_, 0, 0.25), 2 * std::numbers::pi * random_.uniform());
    const double warm = between(random_, 0.9, 1.1);
    canvas_.shade([&](Point p, Color color) {
      const double light = gain * (1 + dot(p, lamp));
      return light * Color{static_cast<float>(warm) * color.red, color.green,
                           static_cast<float>(2 - warm) * color.blue};
    });
    canvas_.photograph(random_, 0.3 + 0.9 * difficulty_ * random_.uniform(), 0.008 + 0.04 * difficulty_);
  }

  RandomStream random_;
  Canvas canvas_;
  const Species& species_;
  const Build& build_;
  double difficulty_;
  bool left_;
  double size_, turn_;
  Point middle_;
  Point chest_, head_;  ///< in the bird's coordinates
};

class Birds final : public SyntheticData {
 public:
  explicit Birds(SynthesizeOptions options) : options_(std::move(options)) {
    if (options_.classes == 0) options_.classes = kSpecies;
    if (options_.classes < 2 || options_.classes > kSpecies) {
      throw Error(fmt::format("--classes {}: birds have 2 to {}", options_.classes, kSpecies));
    }
    constexpr std::int64_t kEach = 10;  // eight to train, one to validate, one to test
    if (options_.samples == 0) options_.samples = kEach * options_.classes;
    const std::int64_t enough_for = options_.samples / kEach;
    require_samples(options_, kEach * options_.classes,
                    fmt::format("{} classes of birds need {}, ten of each", options_.classes,
                                format_count(kEach * options_.classes)),
                    enough_for < 2 ? "" : fmt::format(", or --classes {}", enough_for));
    if (options_.height == 0) options_.height = options_.width = 224;
  }

  std::vector<std::filesystem::path> folders() const override {
    std::vector<std::filesystem::path> folders;
    for (const char* split : {"train", "valid", "test"}) {
      for (std::int64_t c = 0; c < options_.classes; ++c)
        folders.push_back(std::filesystem::path(split) / Species(c).name);
    }
    return folders;
  }
  std::int64_t files() const override { return options_.samples; }

  void write_file(std::int64_t index, const std::filesystem::path& output) const override {
    const Species species(index % options_.classes);
    write_synthetic_picture(output / path(index), Bird(options_, index, species).picture());
  }

  // Classes are numbered in the order of their names, as in the original.
  void write_tables(const std::filesystem::path& output) const override {
    std::map<std::string, std::vector<std::int64_t>> by_name;
    for (std::int64_t i = 0; i < options_.samples; ++i)
      by_name[Species(i % options_.classes).name].push_back(i);
    std::string table = "class id,filepaths,labels,data set,scientific name\n";
    for (const char* part : {"train", "test", "valid"}) {
      std::int64_t id = 0;
      for (const auto& [name, samples] : by_name) {
        for (const std::int64_t i : samples) {
          if (split(i) == part)
            table += fmt::format("{},{},{},{},SYNTHETIC {}\n", id, path(i), name, part, name);
        }
        ++id;
      }
    }
    write_text(output / "birds.csv", table);
  }

 private:
  std::string_view split(std::int64_t index) const {
    const std::int64_t number = index / options_.classes % 10;
    return number == 8 ? "valid" : number == 9 ? "test" : "train";
  }
  std::string path(std::int64_t index) const {
    return fmt::format("{}/{}/synthetic-{:03}.jpg", split(index), Species(index % options_.classes).name,
                       index / options_.classes + 1);
  }

  SynthesizeOptions options_;
};

}  // namespace

std::unique_ptr<SyntheticData> make_birds(const SynthesizeOptions& options) {
  return std::make_unique<Birds>(options);
}

}  // namespace convoke::data_prep
