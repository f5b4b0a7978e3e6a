#include "synthesize/synthetic_data.hpp"

#include <fmt/format.h>

#include <array>
#include <numbers>

#include "convoke/core/error.hpp"
#include "synthesize/canvas.hpp"
#include "synthesize/picture_file.hpp"

namespace convoke::data_prep {
namespace {

class Leaf {
 public:
  explicit Leaf(const SynthesizeOptions& options, std::int64_t number)
      : random_(random_of(options, number)),
        canvas_(options.height, options.width),
        seen_(canvas_.mask()),
        visible_(1 - 0.5 * options.difficulty),
        difficulty_(options.difficulty),
        middle_{between(random_, -0.1, 0.1), between(random_, -0.1, 0.1)},
        angle_(2 * std::numbers::pi * random_.uniform()),
        half_length_(between(random_, 0.72, 0.90)),
        half_width_(between(random_, 0.42, 0.58)),
        bend_(between(random_, -0.12, 0.12)),
        edge_(random_, 0.35, 3),
        hue_(between(random_, 0.22, 0.36)) {}

  void (Leaf::*disease)() = nullptr;  ///< paints the lesions; null: healthy
  double narrow = 1, wavy = 0;        ///< deformation of the leaf by a disease

  Image picture() {
    half_width_ *= narrow;
    ground();
    blade();
    if (disease != nullptr) (this->*disease)();
    light();
    return canvas_.image();
  }

  void bacterial_spot() {
    Mask halos = canvas_.mask(), spots = canvas_.mask();
    for (int n = whole_between(random_, 35, 80); n > 0; --n) {
      const Point at = place();
      const double radius = at_least(between(random_, 0.016, 0.034));
      halos.add_disc(at, 1.9 * radius, 1.2 * radius);
      spots.add_disc(at, radius);
    }
    paint(halos, kYellow, 0.6);
    paint(spots, {0.14F, 0.10F, 0.06F}, 1.0);
  }

  void early_blight() {
    for (int n = whole_between(random_, 3, 6); n > 0; --n) {
      const Point at = place();
      const double radius = between(random_, 0.11, 0.20);
      Mask halo = canvas_.mask(), spot = canvas_.mask();
      halo.add_disc(at, 1.35 * radius, 0.5 * radius);
      patch(spot, at, radius, 0.02);
      paint(halo, kYellow, 0.75);
      spot.limit(seen_);
      canvas_.shade(spot, visible_, [&](Point p, Color) {  // rings about the middle
        const double ring = 0.5 + 0.5 * std::cos(2 * std::numbers::pi * 3.5 * length(p - at) / radius);
        return mix({0.26F, 0.15F, 0.07F}, {0.58F, 0.40F, 0.20F}, ring);
      });
    }
  }

  void late_blight() {
    for (int n = whole_between(random_, 2, 3); n > 0; --n) {  // from the margin inwards
      const double u = between(random_, -0.7, 0.8), side = random_.uniform() < 0.5 ? -1 : 1;
      const Point at = on_leaf(u, side * 0.8);
      const double radius = between(random_, 0.24, 0.38);
      Mask rim = canvas_.mask(), rot = canvas_.mask();
      patch(rim, at, 1.15 * radius, 0.12);
      patch(rot, at, radius, 0.06);
      paint(rim, {0.62F, 0.68F, 0.38F}, 0.7);
      paint(rot, {0.25F, 0.21F, 0.16F}, 0.9);
    }
  }

  void leaf_mold() {
    Mask pale = canvas_.mask(), olive = canvas_.mask();
    for (int n = whole_between(random_, 7, 13); n > 0; --n) {
      const Point at = place();
      const double radius = between(random_, 0.09, 0.17);
      patch(pale, at, radius, 1.1 * radius);
      patch(olive, at, 0.4 * radius, 0.5 * radius);
    }
    paint(pale, {0.86F, 0.84F, 0.38F}, 0.9);
    paint(olive, {0.52F, 0.46F, 0.22F}, 0.6);
  }

  void septoria() {
    Mask rings = canvas_.mask(), centers = canvas_.mask();
    for (int n = whole_between(random_, 22, 45); n > 0; --n) {
      const Point at = place();
      const double radius = at_least(between(random_, 0.036, 0.056));
      rings.add_disc(at, radius);
      centers.add_disc(at, 0.62 * radius);
    }
    paint(rings, {0.20F, 0.13F, 0.08F}, 0.95);
    paint(centers, {0.80F, 0.75F, 0.64F}, 0.95);
  }

  void spider_mites() {
    Mask dots = canvas_.mask();
    for (int n = whole_between(random_, 500, 800); n > 0; --n) {
      dots.add_disc(place(), at_least(between(random_, 0.007, 0.012)));
    }
    paint(dots, {0.90F, 0.88F, 0.58F}, 0.85);
  }

  void target_spot() {
    for (int n = whole_between(random_, 8, 15); n > 0; --n) {
      const Point at = place();
      const double radius = between(random_, 0.055, 0.10);
      Mask spot = canvas_.mask(), ring = canvas_.mask(), eye = canvas_.mask();
      spot.add_disc(at, radius, 0.02);
      ring.add_disc(at, 0.72 * radius);
      eye.add_disc(at, 0.36 * radius);
      paint(spot, {0.36F, 0.22F, 0.10F}, 0.95);
      paint(ring, {0.74F, 0.60F, 0.40F}, 0.9);
      paint(eye, {0.28F, 0.16F, 0.07F}, 0.95);
    }
  }

  // Yellow from the margins and between the veins; also uses narrow and wavy.
  void yellow_curl() {
    canvas_.shade(seen_, visible_, [&](Point p, Color color) {
      const auto [u, v] = local(p);
      const double margin = ramp(std::abs(v) / width(u), 0.25, 0.95);
      return mix(color, {0.93F, 0.88F, 0.25F}, 0.85 * margin * (1 - 0.7 * vein(u, v)));
    });
  }

  void mosaic() {
    const Texture mottle(random_, 0.22, 2);
    canvas_.shade(seen_, visible_, [&](Point p, Color color) {
      const double light = ramp(mottle.at(p), -0.08, 0.12);
      return mix(0.72 * color, mix(color, {0.82F, 0.90F, 0.48F}, 0.75), light);
    });
  }

 private:
  static constexpr Color kYellow{0.88F, 0.82F, 0.25F};

  /// Along the midrib (-1 at the stalk, 1 at the tip) and across it, in units of the canvas.
  struct Local {
    double u, v;
  };
  Local local(Point p) const {
    const Point q = rotated(p - middle_, -angle_);
    const double u = q.x / half_length_;
    return {u, q.y - bend_ * (1 - u * u)};
  }
  // Returns half the width at u: widest before the middle, pointed at the tip, toothed.
  double width(double u) const {
    if (std::abs(u) >= 1) return half_length_ * (0.999 - std::abs(u));  // ends there
    const double outline = 1.72 * std::pow((1 + u) / 2, 0.5) * std::pow((1 - u) / 2, 0.75);
    const double teeth =
        0.07 * std::abs(std::sin(7.5 * std::numbers::pi * u / 2)) + (0.10 + wavy) * edge_.at({u, 0});
    return half_width_ * outline * std::max(0.3, 1 - 0.05 + teeth);
  }
  Point on_leaf(double u, double across) const {
    return middle_ + rotated({u * half_length_, bend_ * (1 - u * u) + across * width(u)}, angle_);
  }
  Point place() {
    for (;;) {  // uniform over the area: wide parts get more
      const double u = between(random_, -0.92, 0.92);
      if (random_.uniform() * half_width_ * 1.2 < width(u)) return on_leaf(u, between(random_, -0.92, 0.92));
    }
  }
  double at_least(double radius) const { return std::max(radius, 0.75 * canvas_.pixel()); }

  // Returns 1 on a vein: the midrib, and side veins that leave it towards the tip.
  double vein(double u, double v) const {
    const double phase = 5.5 * (u - 0.9 * std::abs(v));
    const double side = std::abs(phase - std::round(phase)) / 5.5;
    const double rib = 0.012 + 0.012 * (1 - u) / 2;
    return std::max(1 - ramp(std::abs(v), 0.6 * rib, 1.6 * rib), 0.6 * (1 - ramp(side, 0.004, 0.018)));
  }

  void patch(Mask& mask, Point at, double radius, double softness) {
    const Texture edge(random_, 0.7, 2);
    mask.add(at, 1.5 * radius, softness, [&, at, radius](Point p) {
      const Point q = p - at;
      return length(q) - radius * (1 + 0.6 * edge.at((0.6 / radius) * q));
    });
  }
  void paint(Mask& mask, Color color, double opacity) {
    mask.limit(seen_);
    canvas_.paint(mask, color, opacity * visible_);
  }

  void ground() {
    const double gray = between(random_, 0.40, 0.72);
    const Color paper = mix({0.50F, 0.47F, 0.50F}, hsv(random_.uniform(), 0.25, 0.55), random_.uniform());
    const Texture grain(random_, 0.05, 3), cloud(random_, 1.2, 2);
    canvas_.shade(
        [&](Point p, Color) { return (gray / 0.5) * (1 + 0.10 * grain.at(p) + 0.15 * cloud.at(p)) * paper; });
    Mask shadow = canvas_.mask();
    const Point away = polar(0.05, 2 * std::numbers::pi * random_.uniform());
    shadow.add(middle_, 1.3, 0.08, [&](Point p) {
      const auto [u, v] = local(p - away);
      return std::abs(v) - width(u);
    });
    canvas_.paint(shadow, {0.08F, 0.08F, 0.09F}, 0.55);
  }

  void blade() {
    const double value = between(random_, 0.42, 0.68), saturation = between(random_, 0.45, 0.75);
    const Color green = hsv(hue_, saturation, value);
    const Texture surface(random_, 0.10, 3), broad(random_, 0.8, 2);
    Mask stalk = canvas_.mask();
    const std::array ends{on_leaf(-0.97, 0),
                          on_leaf(-0.97, 0) + rotated({-0.32, between(random_, -0.1, 0.1)}, angle_)};
    stalk.add_stroke(ends, 0.05, 0.035);
    canvas_.paint(stalk, mix(green, {0.75F, 0.78F, 0.50F}, 0.5));
    seen_.add(middle_, 1.3, 0, [&](Point p) {
      const auto [u, v] = local(p);
      return std::abs(v) - width(u);
    });
    canvas_.shade(seen_, 1, [&](Point p, Color) {
      const auto [u, v] = local(p);
      const double phase = 5.5 * (u - 0.9 * std::abs(v));
      const double pucker = 0.10 * std::sin(2 * std::numbers::pi * phase) * (1 - std::abs(v));
      const double curl = wavy > 0 ? -0.35 * std::sin(9 * u) * ramp(std::abs(v) / width(u), 0.3, 1) : 0.0;
      const double light =
          1 + pucker + curl + 0.12 * surface.at(p) + 0.15 * broad.at(p) + (v > 0 ? 0.06 : -0.06);
      return light * mix(green, {0.78F, 0.84F, 0.56F}, 0.55 * vein(u, v));
    });
  }

  void light() {
    const double gain = between(random_, 0.75, 1.25);
    const Point lamp = polar(between(random_, 0, 0.25), 2 * std::numbers::pi * random_.uniform());
    canvas_.shade([&](Point p, Color color) { return gain * (1 + dot(p, lamp)) * color; });
    canvas_.photograph(random_, 0.3 + 0.8 * difficulty_ * random_.uniform(), 0.008 + 0.03 * difficulty_);
  }

  RandomStream random_;
  Canvas canvas_;
  Mask seen_;  ///< the area of the leaf
  double visible_, difficulty_;
  Point middle_;
  double angle_, half_length_, half_width_, bend_;
  Texture edge_;
  double hue_;
};

struct Class {
  const char* folder;
  void (Leaf::*disease)();
  double narrow = 1, wavy = 0;
};

constexpr std::array kDiseases{
    Class{"Tomato___Bacterial_spot", &Leaf::bacterial_spot},
    Class{"Tomato___Early_blight", &Leaf::early_blight},
    Class{"Tomato___Late_blight", &Leaf::late_blight},
    Class{"Tomato___Leaf_Mold", &Leaf::leaf_mold},
    Class{"Tomato___Septoria_leaf_spot", &Leaf::septoria},
    Class{"Tomato___Spider_mites Two-spotted_spider_mite", &Leaf::spider_mites},
    Class{"Tomato___Target_Spot", &Leaf::target_spot},
    Class{"Tomato___Tomato_Yellow_Leaf_Curl_Virus", &Leaf::yellow_curl, 0.75, 0.35},
    Class{"Tomato___Tomato_mosaic_virus", &Leaf::mosaic, 0.9, 0.2},
    Class{"Tomato___healthy", nullptr},
};

class Leaves final : public SyntheticData {
 public:
  explicit Leaves(SynthesizeOptions options) : options_(std::move(options)) {
    if (options_.samples == 0) options_.samples = 2000;
    require_samples(options_, 5 * std::ssize(kDiseases),
                    "ten classes of leaves need 50, four of each to train and one to validate");
    if (options_.height == 0) options_.height = options_.width = 256;
  }
  std::vector<std::filesystem::path> folders() const override {
    std::vector<std::filesystem::path> folders;
    for (const char* split : {"train", "valid"}) {
      for (const Class& leaf : kDiseases) folders.push_back(std::filesystem::path(split) / leaf.folder);
    }
    return folders;
  }
  std::int64_t files() const override { return options_.samples; }
  void write_file(std::int64_t index, const std::filesystem::path& output) const override {
    const auto classes = static_cast<std::int64_t>(kDiseases.size());
    const Class& kind = kDiseases[static_cast<std::size_t>(index % classes)];
    Leaf leaf(options_, index);
    leaf.disease = kind.disease;
    leaf.narrow = kind.narrow;
    leaf.wavy = kind.wavy;
    const char* const split = index / classes % 5 == 4 ? "valid" : "train";
    write_synthetic_picture(output / split / kind.folder / fmt::format("synthetic-{:05}.JPG", index),
                            leaf.picture());
  }
  void write_tables(const std::filesystem::path&) const override {}

 private:
  SynthesizeOptions options_;
};

}  // namespace

std::unique_ptr<SyntheticData> make_leaves(const SynthesizeOptions& options) {
  return std::make_unique<Leaves>(options);
}

}  // namespace convoke::data_prep
