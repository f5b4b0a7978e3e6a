#include "data/augment/augmentation.hpp"

#include <algorithm>
#include <cmath>

#include "convoke/core/multiversion.hpp"

namespace convoke::data {
namespace {

/// Two pictures (C, H, W), and the random numbers of their pair.
struct Pair {
  float* first;
  float* second;
  const Shape& image;
  RandomStream& random;
};

// Marsaglia and Tsang 2000, "A simple method for generating gamma variables"; for alpha below 1: gamma(alpha)
// = gamma(alpha + 1) u^(1 / alpha).
// For a small alpha, the number may be too small for a double, so its logarithm is there, too.
struct Gamma {
  double value, log;
};
Gamma draw_gamma(double alpha, RandomStream& random) {
  const double u = alpha < 1 ? 1 - random.uniform() : 1, boost = std::pow(u, 1 / alpha);
  const double d = (alpha < 1 ? alpha + 1 : alpha) - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = random.normal(), root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    if (std::log(1 - random.uniform()) < x * x / 2 + d - d * v + d * std::log(v))
      return {boost * d * v, std::log(u) / std::max(alpha, 1e-9) + std::log(d * v)};
  }
}

// Beta(alpha, alpha).
double draw_share(double alpha, RandomStream& random) {
  const Gamma a = draw_gamma(alpha, random), b = draw_gamma(alpha, random);
  const double sum = a.value + b.value;
  return sum > 0 ? a.value / sum : 1 / (1 + std::exp(b.log - a.log));
}

//   a' = share a + (1 - share) b,   b' = share b + (1 - share) a
CONVOKE_MULTIVERSION
void blend(float* __restrict a, float* __restrict b, std::size_t n, float share) {
  for (std::size_t i = 0; i < n; ++i) {
    const float x = a[i], y = b[i];
    a[i] = share * x + (1 - share) * y;
    b[i] = share * y + (1 - share) * x;
  }
}

// Both functions return the share of a picture that is still its own.

double mixup(const Pair& pair, double alpha) {
  const auto share = static_cast<float>(draw_share(alpha, pair.random));
  blend(pair.first, pair.second, static_cast<std::size_t>(pair.image.elements()), share);
  return static_cast<double>(share);
}

// Copies a box of the other picture: (1 - share) of the area, before the box is cut at the edges.
double cutmix(const Pair& pair, double alpha) {
  const double side = std::sqrt(1 - draw_share(alpha, pair.random));
  const auto part = [&](std::size_t axis) {
    return static_cast<std::int64_t>(side * static_cast<double>(pair.image[axis]));
  };
  const auto place = [&](std::size_t axis) {
    return static_cast<std::int64_t>(pair.random.below(static_cast<std::uint64_t>(pair.image[axis])));
  };
  const std::int64_t row = place(1), column = place(2);
  const Box box = box_around(row, column, part(1), part(2), pair.image);
  for (std::int64_t line = 0; line < pair.image[0] * pair.image[1]; ++line) {
    const std::int64_t y = line % pair.image[1], start = line * pair.image[2];
    if (y < box.top || y >= box.bottom) continue;
    std::swap_ranges(pair.first + start + box.left, pair.first + start + box.right,
                     pair.second + start + box.left);
  }
  const auto taken = static_cast<double>((box.bottom - box.top) * (box.right - box.left));
  return 1 - taken / static_cast<double>(pair.image[1] * pair.image[2]);
}

}  // namespace

void mix_micro_batch(const AugmentOptions& options, const Shape& image, const ViewKey& view,
                     std::size_t first, std::span<const std::uint32_t> ids, std::span<float> pictures,
                     const Targets& targets) {
  constexpr std::uint64_t kPair = std::uint64_t{1} << 32;  // not used by the sample's own picture
  const auto size = static_cast<std::size_t>(image.elements());
  std::copy(targets.labels.begin(), targets.labels.end(), targets.second.begin());
  std::fill(targets.share.begin(), targets.share.end(), 1.0F);
  for (std::size_t i = 0, j = ids.size() - 1; i < j; ++i, --j) {
    RandomStream random({view.seed, Purpose::kAugment, view.epoch, kPair | view.sample(first + i, ids[i])});
    if (random.uniform() >= options.mix_probability) continue;
    const bool boxes = options.mixup == 0 || (options.cutmix > 0 && random.next_word() % 2 == 0);
    const Pair pair{pictures.data() + i * size, pictures.data() + j * size, image, random};
    const double share = boxes ? cutmix(pair, options.cutmix) : mixup(pair, options.mixup);
    std::swap(targets.second[i], targets.second[j]);
    if (!targets.second_weights.empty()) std::swap(targets.second_weights[i], targets.second_weights[j]);
    targets.share[i] = targets.share[j] = static_cast<float>(share);
  }
}

bool wants_cutout(const AugmentOptions& options) { return options.cutout > 0; }

void draw_cutout(const AugmentOptions& options, const Shape& image, RandomStream& random, Change& change) {
  const auto row = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(image[1])));
  const auto column = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(image[2])));
  change.hole = box_around(row, column, options.cutout, options.cutout, image);
}

Box box_around(std::int64_t row, std::int64_t column, std::int64_t height, std::int64_t width,
               const Shape& image) {
  const std::int64_t top = row - height / 2, left = column - width / 2;
  return {std::clamp<std::int64_t>(top, 0, image[1]), std::clamp<std::int64_t>(left, 0, image[2]),
          std::clamp<std::int64_t>(top + height, 0, image[1]),
          std::clamp<std::int64_t>(left + width, 0, image[2])};
}

void erase(const Planes& image, const Box& hole) {
  const auto columns = static_cast<std::size_t>(hole.right - hole.left);
  for (std::size_t c = 0; c < image.channels; ++c) {
    for (std::int64_t row = hole.top; row < hole.bottom; ++row) {
      const auto first = static_cast<std::size_t>(row) * image.width + static_cast<std::size_t>(hole.left);
      std::fill_n(image.channel(c) + first, columns, 0.0F);
    }
  }
}

}  // namespace convoke::data
