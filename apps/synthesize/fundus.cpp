#include "synthesize/synthetic_data.hpp"

#include <fmt/format.h>

#include <array>
#include <numbers>

#include "convoke/core/error.hpp"
#include "synthesize/canvas.hpp"
#include "synthesize/picture_file.hpp"

namespace convoke::data_prep {
namespace {

// The counts of the 35,126 pictures of EyePACS.
constexpr std::array kGradeCounts{25810, 2443, 5292, 873, 708};

int draw_grade(RandomStream& random) {
  int left = static_cast<int>(random.below(35126));
  int grade = 0;
  while (left >= kGradeCounts[static_cast<std::size_t>(grade)])
    left -= kGradeCounts[static_cast<std::size_t>(grade++)];
  return grade;
}

/// The number of lesions of each kind in an eye of a grade: fewest and most.
struct Count {
  int fewest, most;
  int draw(RandomStream& random) const { return whole_between(random, fewest, most); }
};
struct Lesions {
  Count microaneurysms, haemorrhages, exudates, cotton_wool, new_vessels, large_bleedings;
};
constexpr std::array kLesions{
    Lesions{{0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}},
    Lesions{{4, 9}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}},
    Lesions{{8, 20}, {4, 9}, {2, 4}, {0, 1}, {0, 0}, {0, 0}},
    Lesions{{15, 30}, {22, 36}, {1, 4}, {4, 8}, {0, 0}, {0, 0}},
    Lesions{{8, 20}, {4, 14}, {0, 3}, {0, 4}, {2, 4}, {1, 2}},
};

/// The properties that both eyes of a patient share.
struct Patient {
  std::array<int, 2> grades;  ///< left, right
  double hue, saturation, brightness, disc_radius;

  Patient(const SynthesizeOptions& options, std::int64_t number) {
    RandomStream random = random_of(options, number, 1);
    grades[0] = draw_grade(random);
    grades[1] = random.uniform() < 0.7 ? grades[0] : draw_grade(random);
    hue = between(random, 0.02, 0.075);
    saturation = between(random, 0.70, 0.86);
    brightness = between(random, 0.55, 0.85);
    disc_radius = between(random, 0.12, 0.16);
  }
};

class Eye {
 public:
  Eye(const SynthesizeOptions& options, std::int64_t number, const Patient& patient, bool right)
      : random_(random_of(options, number)),
        patient_(patient),
        canvas_(options.height, options.width),
        visible_(1 - 0.55 * options.difficulty),
        difficulty_(options.difficulty) {
    const double side = right ? 1 : -1;
    radius_ = between(random_, 0.93, 1.04);
    middle_ = {between(random_, -0.06, 0.06), between(random_, -0.03, 0.03)};
    disc_ = middle_ + Point{side * between(random_, 0.46, 0.58) * radius_, between(random_, -0.08, 0.08)};
    macula_ = disc_ + Point{-side * between(random_, 0.50, 0.60) * radius_, between(random_, 0.02, 0.10)};
  }

  Image picture(int grade) {
    background();
    optic_disc();
    vessels();
    lesions(kLesions[static_cast<std::size_t>(grade)]);
    expose();
    return canvas_.image();
  }

 private:
  void background() {
    const Color base = hsv(patient_.hue, patient_.saturation, patient_.brightness);
    const Texture broad(random_, 0.7, 3), fine(random_, 0.09, 3);
    canvas_.shade([&](Point p, Color) {
      const double from_macula = length(p - macula_);
      const double light = 1 + 0.10 * broad.at(p) + 0.05 * fine.at(p) -
                           0.30 * std::exp(-from_macula * from_macula / 0.03) -
                           0.30 * ramp(length(p - middle_) / radius_, 0.45, 1.1);
      return light * base;
    });
  }

  void optic_disc() {
    const double radius = patient_.disc_radius;
    Mask rim = canvas_.mask(), disc = canvas_.mask(), cup = canvas_.mask();
    rim.add_ellipse(disc_, 1.25 * radius, 1.15 * radius, std::numbers::pi / 2, 0.5 * radius);
    disc.add_ellipse(disc_, 1.05 * radius, 0.92 * radius, std::numbers::pi / 2, 0.05);
    cup.add_disc(disc_, between(random_, 0.35, 0.55) * radius, 0.06);
    canvas_.paint(rim, {0.90F, 0.62F, 0.30F}, 0.35);
    canvas_.paint(disc, {0.96F, 0.80F, 0.48F}, 0.90);
    canvas_.paint(cup, {1.00F, 0.94F, 0.76F}, 0.85);
  }

  // Draws a vessel from `start` in direction `angle`, bent towards `target`, with branches.
  void vessel(Mask& mask, Point start, double angle, double turn, double reach, double width,
              int generation) {
    if (width < 0.3 * canvas_.pixel()) return;
    constexpr int kSteps = 22;
    std::vector<Point> points{start};
    const Texture wander(random_, 0.25, 2);
    double heading = angle;
    for (int i = 1; i <= kSteps; ++i) {
      heading += turn / kSteps + 0.12 * wander.at({0.1 * i, 0});
      points.push_back(points.back() + polar(reach / kSteps, heading));
      if (generation < 3 && i > 3 && i < kSteps - 2 && random_.uniform() < 0.16) {
        const double away = (random_.uniform() < 0.5 ? -1 : 1) * between(random_, 0.4, 0.9);
        const double left = 1 - static_cast<double>(i) / kSteps;
        vessel(mask, points.back(), heading + away, between(random_, -0.5, 0.5),
               reach * std::max(0.25, 0.7 * left), width * (1 - 0.4 * (1 - left)) * 0.62, generation + 1);
      }
    }
    mask.add_stroke(points, width, 0.45 * width);
  }

  void vessels() {
    Mask veins = canvas_.mask(), arteries = canvas_.mask();
    const double towards_macula = std::atan2(0.0, macula_.x - disc_.x);
    for (const double up : {-1.0, 1.0}) {
      for (Mask* mask : {&veins, &arteries}) {
        const double width = (mask == &veins ? 0.034 : 0.024) * between(random_, 0.9, 1.1);
        const double toward = towards_macula == 0 ? 1 : -1;  // the macula is to the right or to the left
        const auto angle = [&](double degrees) {  // 0: to the macula, positive: away from the middle
          const double turned = up * degrees * std::numbers::pi / 180;
          return toward > 0 ? turned : std::numbers::pi - turned;
        };
        const double shift = mask == &veins ? 0.0 : between(random_, 6, 14);
        // The arcade around the macula, and a vessel to the nasal side.
        vessel(*mask, disc_, angle(between(random_, 72, 88) - shift),
               -up * toward * between(random_, 1.0, 1.4), between(random_, 1.15, 1.4), width, 0);
        vessel(*mask, disc_, angle(between(random_, 115, 150) + shift),
               up * toward * between(random_, -0.2, 0.4), between(random_, 0.6, 0.9), 0.75 * width, 1);
      }
    }
    const Color base = hsv(patient_.hue, patient_.saturation, patient_.brightness);
    canvas_.paint(arteries, mix(base, {0.62F, 0.10F, 0.05F}, 0.75), 0.75);
    canvas_.paint(veins, mix(base, {0.38F, 0.04F, 0.04F}, 0.80), 0.85);
  }

  // Returns a random place on the retina outside the disc.
  Point place() {
    for (;;) {
      const Point p = middle_ + polar(0.88 * radius_ * std::sqrt(random_.uniform()),
                                      2 * std::numbers::pi * random_.uniform());
      if (length(p - disc_) > 1.6 * patient_.disc_radius && std::abs(p.y) < 0.95) return p;
    }
  }
  double at_least(double radius) const { return std::max(radius, 0.9 * canvas_.pixel()); }

  // Draws an irregular patch: an ellipse with a wavy edge.
  void patch(Mask& mask, Point at, double radius, double softness) {
    const Texture edge(random_, 0.6, 2);
    const double angle = std::numbers::pi * random_.uniform(), flat = between(random_, 0.6, 1);
    mask.add(at, 1.8 * radius, softness, [&, at, radius, angle, flat](Point p) {
      const Point local = rotated(p - at, -angle);
      const Point q{local.x, local.y / flat};
      return length(q) - radius * (1 + 0.8 * edge.at((0.5 / radius) * q));
    });
  }

  void lesions(const Lesions& lesions) {
    const Color dark_red{0.36F, 0.03F, 0.03F}, yellow{1.00F, 0.90F, 0.45F}, white{0.97F, 0.92F, 0.80F};
    Mask dots = canvas_.mask(), blots = canvas_.mask(), hard = canvas_.mask(), wool = canvas_.mask(),
         nets = canvas_.mask(), pools = canvas_.mask();
    for (int n = lesions.microaneurysms.draw(random_); n > 0; --n) {
      dots.add_disc(place(), at_least(between(random_, 0.011, 0.018)));
    }
    for (int n = lesions.haemorrhages.draw(random_); n > 0; --n) {
      patch(blots, place(), at_least(between(random_, 0.025, 0.055)), 0.012);
    }
    for (int n = lesions.exudates.draw(random_); n > 0; --n) {  // clusters of grains
      const Point at = place();
      for (int grain = whole_between(random_, 8, 18); grain > 0; --grain) {
        const Point offset =
            polar(0.13 * std::sqrt(random_.uniform()), 2 * std::numbers::pi * random_.uniform());
        hard.add_disc(at + offset, at_least(between(random_, 0.010, 0.026)));
      }
    }
    for (int n = lesions.cotton_wool.draw(random_); n > 0; --n) {
      patch(wool, place(), between(random_, 0.05, 0.09), 0.06);
    }
    for (int n = lesions.new_vessels.draw(random_); n > 0; --n) new_vessels(nets);
    for (int n = lesions.large_bleedings.draw(random_); n > 0; --n) boat(pools, place());
    canvas_.paint(wool, white, 0.80 * visible_);
    canvas_.paint(hard, yellow, 0.95 * visible_);
    canvas_.paint(blots, dark_red, 0.90 * visible_);
    canvas_.paint(dots, dark_red, 0.90 * visible_);
    canvas_.paint(nets, {0.50F, 0.04F, 0.03F}, 0.90 * visible_);
    canvas_.paint(pools, {0.30F, 0.02F, 0.02F}, 0.95 * visible_);
  }

  // Draws a tuft of fine winding vessels, often near the disc.
  void new_vessels(Mask& mask) {
    const Point at = random_.uniform() < 0.5
                         ? disc_ + polar(2.2 * patient_.disc_radius, 2 * std::numbers::pi * random_.uniform())
                         : place();
    for (int n = whole_between(random_, 7, 11); n > 0; --n) {
      vessel(mask, at, 2 * std::numbers::pi * random_.uniform(), between(random_, -4, 4),
             between(random_, 0.18, 0.30), at_least(0.013), 2);
    }
  }

  // Draws blood in front of the retina that has sunk: level above, round below.
  void boat(Mask& mask, Point at) {
    const double radius = between(random_, 0.16, 0.28);
    mask.add(at, radius, 0.02, [=](Point p) {
      return std::max(length({p.x - at.x, 1.25 * (p.y - at.y)}) - radius, at.y - p.y - 0.15 * radius);
    });
  }

  // Applies the lamp, the camera, and the black border.
  void expose() {
    const double gain = between(random_, 0.80, 1.20);
    const Point lamp = polar(between(random_, 0, 0.35), 2 * std::numbers::pi * random_.uniform());
    const Color cast{static_cast<float>(between(random_, 0.94, 1.06)),
                     static_cast<float>(between(random_, 0.90, 1.10)),
                     static_cast<float>(between(random_, 0.85, 1.15))};
    const double hazy = 0.12 * difficulty_ * random_.uniform();
    canvas_.shade([&](Point p, Color color) {
      const double light = gain * (1 + 0.5 * dot(p - middle_, lamp));
      color = mix(color, {0.75F, 0.55F, 0.38F}, hazy);
      return light * Color{cast.red * color.red, cast.green * color.green, cast.blue * color.blue};
    });
    Mask seen = canvas_.mask();
    seen.add_disc(middle_, radius_, 0.03);
    canvas_.shade([&](Point p, Color color) { return static_cast<double>(seen.at(p)) * color; });
    canvas_.photograph(random_, 0.3 + 0.7 * difficulty_ * random_.uniform(), 0.004 + 0.02 * difficulty_);
  }

  RandomStream random_;
  const Patient& patient_;
  Canvas canvas_;
  double visible_, difficulty_;
  double radius_ = 1;
  Point middle_, disc_, macula_;
};

class Fundus final : public SyntheticData {
 public:
  explicit Fundus(SynthesizeOptions options) : options_(std::move(options)) {
    if (options_.samples == 0) options_.samples = 2000;
    const std::int64_t needed = fewest_of_two_grades();
    require_samples(options_, needed,
                    fmt::format("with this seed, retinas need {} to have two grades", needed));
    if (options_.height == 0) options_.height = 320, options_.width = 480;
    if (!options_.layout.empty() && options_.layout != "eyepacs" && options_.layout != "aptos") {
      throw Error(fmt::format("fundus has no layout \"{}\"", options_.layout), "known: aptos, eyepacs");
    }
  }
  std::vector<std::filesystem::path> folders() const override { return {pictures()}; }
  std::int64_t files() const override { return options_.samples; }

  void write_file(std::int64_t index, const std::filesystem::path& output) const override {
    const Patient patient(options_, index / 2);
    Eye eye(options_, index, patient, index % 2 == 1);
    write_synthetic_picture(output / pictures() / (name(index) + (aptos() ? ".png" : ".jpeg")),
                            eye.picture(grade(index)));
  }

  void write_tables(const std::filesystem::path& output) const override {
    std::string table = aptos() ? "id_code,diagnosis\n" : "image,level\n";
    for (std::int64_t i = 0; i < options_.samples; ++i) {
      table += fmt::format("{},{}\n", name(i), grade(i));
    }
    write_text(output / (aptos() ? "train.csv" : "trainLabels.csv"), table);
  }

 private:
  int grade(std::int64_t index) const {
    return Patient(options_, index / 2).grades[static_cast<std::size_t>(index % 2)];
  }
  std::int64_t fewest_of_two_grades() const {
    constexpr std::int64_t kToTest = 5;  // a fifth of them
    std::int64_t count = 1;
    while (grade(count) == grade(0)) ++count;
    return std::max(kToTest, count + 1);
  }
  bool aptos() const { return options_.layout == "aptos"; }
  std::string pictures() const { return aptos() ? "train_images" : "train"; }
  // EyePACS numbers patients and names the side; APTOS has arbitrary codes.
  std::string name(std::int64_t index) const {
    if (!aptos()) return fmt::format("synthetic-{}_{}", 10 + index / 2, index % 2 == 1 ? "right" : "left");
    RandomStream code = random_of(options_, index, 2);
    return fmt::format("synthetic-{:04x}{:08x}", index, code.next_word());
  }

  SynthesizeOptions options_;
};

}  // namespace

std::unique_ptr<SyntheticData> make_fundus(const SynthesizeOptions& options) {
  return std::make_unique<Fundus>(options);
}

}  // namespace convoke::data_prep
