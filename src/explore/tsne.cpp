#include "convoke/explore/tsne.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "convoke/core/error.hpp"
#include "convoke/core/multiversion.hpp"
#include "convoke/core/random.hpp"
#include "eigen.hpp"

namespace convoke::explore {
namespace {

constexpr std::size_t kLanes = 16;  // partial sums, in a fixed order on every processor
constexpr float kFarAway = 1e18F;   // position of the points that only fill the last lanes
constexpr double kStartDeviation = 1e-4;
constexpr double kStartNoise = 1e-6;
constexpr double kSmallestGain = 0.01;
constexpr double kEntropyTolerance = 1e-5;
constexpr int kMostHalvings = 100;

/// For one point: the attraction of its neighbors, the repulsion of all, and its share of the normalizer.
struct Forces {
  double pull_x, pull_y, push_x, push_y, sum_q;
};

// With q_j = 1 / (1 + |y_i - y_j|^2), over n points, a multiple of kLanes:
//   pull = sum_j p_j q_j (y_i - y_j),   push = sum_j q_j^2 (y_i - y_j),   sum_q = sum_j q_j
CONVOKE_MULTIVERSION
void add_forces(const float* __restrict p, const float* __restrict x, const float* __restrict y,
                std::size_t n, float xi, float yi, float* __restrict sums) {
  float pull_x[kLanes] = {}, pull_y[kLanes] = {}, push_x[kLanes] = {}, push_y[kLanes] = {};
  float sum_q[kLanes] = {};
  for (std::size_t j = 0; j < n; j += kLanes) {
    for (std::size_t l = 0; l < kLanes; ++l) {
      const float dx = xi - x[j + l];
      const float dy = yi - y[j + l];
      const float q = 1.0F / (1.0F + dx * dx + dy * dy);
      const float pull = p[j + l] * q;
      const float push = q * q;
      pull_x[l] += pull * dx;
      pull_y[l] += pull * dy;
      push_x[l] += push * dx;
      push_y[l] += push * dy;
      sum_q[l] += q;
    }
  }
  for (std::size_t l = 0; l < kLanes; ++l) {
    sums[l] = pull_x[l];
    sums[kLanes + l] = pull_y[l];
    sums[2 * kLanes + l] = push_x[l];
    sums[3 * kLanes + l] = push_y[l];
    sums[4 * kLanes + l] = sum_q[l];
  }
}

Forces forces_on(std::size_t i, const float* p, const std::vector<float>& x, const std::vector<float>& y) {
  std::array<float, 5 * kLanes> sums;
  add_forces(p, x.data(), y.data(), x.size(), x[i], y[i], sums.data());
  std::array<double, 5> totals{};
  for (std::size_t s = 0; s < sums.size(); ++s) totals[s / kLanes] += static_cast<double>(sums[s]);
  return {totals[0], totals[1], totals[2], totals[3], totals[4] - 1};  // q of i with itself is 1
}

// Returns the squared distances between all points, (n, n).
RowMajor squared_distances(const Matrix& points) {
  const auto x = view(points);
  const Eigen::VectorXd norms = x.rowwise().squaredNorm();
  RowMajor squares = -2 * (x * x.transpose());
  squares.colwise() += norms;
  squares.rowwise() += norms.transpose();
  return squares.cwiseMax(0.0);
}

// Writes exp(-beta d_j) for all j except i, scaled to sum 1, to `p`; returns the entropy in nats.
double gaussian_around(std::int64_t i, const Eigen::Ref<const Eigen::RowVectorXd>& squares, double beta,
                       std::span<double> p) {
  double nearest = std::numeric_limits<double>::infinity();
  for (std::int64_t j = 0; j < squares.size(); ++j)
    nearest = j == i ? nearest : std::min(nearest, squares[j]);
  double sum = 0;
  double weighted = 0;
  for (std::int64_t j = 0; j < squares.size(); ++j) {
    const double beyond = squares[j] - nearest;  // the common offset prevents underflow
    const double value = j == i ? 0 : std::exp(-beta * beyond);
    p[static_cast<std::size_t>(j)] = value;
    sum += value;
    weighted += value * beyond;
  }
  for (double& value : p) value /= sum;
  return std::log(sum) + beta * weighted / sum;
}

/// Returns the joint affinities (p(j|i) + p(i|j)) / 2n, rows padded with 0 to whole lanes.
std::vector<float> joint_affinities(const Matrix& points, double perplexity, std::size_t padded) {
  const Matrix p = neighbor_probabilities(points, perplexity);
  const std::int64_t n = points.rows;
  std::vector<float> joint(static_cast<std::size_t>(n) * padded, 0.0F);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      joint[static_cast<std::size_t>(i) * padded + static_cast<std::size_t>(j)] =
          static_cast<float>((p(i, j) + p(j, i)) / (2 * static_cast<double>(n)));
    }
  }
  return joint;
}

// Returns the first two columns, scaled together to a small standard deviation along the first, with noise.
Matrix starting_map(const Matrix& points, std::uint64_t seed) {
  Matrix map(points.rows, 2);
  double squares = 0;
  for (std::int64_t i = 0; i < points.rows; ++i)
    squares += points.columns > 0 ? points(i, 0) * points(i, 0) : 0;
  const double deviation = std::sqrt(squares / static_cast<double>(points.rows));
  for (std::int64_t i = 0; i < points.rows; ++i) {
    RandomStream random({seed, Purpose::kExplore, 0, static_cast<std::uint64_t>(i)});
    for (std::int64_t c = 0; c < 2; ++c) {
      const double score = c < points.columns && deviation > 0 ? points(i, c) / deviation : 0;
      map(i, c) = kStartDeviation * score + kStartNoise * random.normal();
    }
  }
  return map;
}

/// Gradient descent with momentum and a gain for each coordinate, which grows while the gradient and the last
/// step agree (R. Jacobs 1988).
class Descent {
 public:
  explicit Descent(std::size_t n) : velocity_(2 * n, 0.0), gain_(2 * n, 1.0) {}

  void step(std::span<double> map, std::span<const double> gradient, double rate, double momentum) {
    for (std::size_t i = 0; i < map.size(); ++i) {
      const bool onward = (gradient[i] > 0) != (velocity_[i] > 0);
      gain_[i] = std::max(kSmallestGain, onward ? gain_[i] + 0.2 : gain_[i] * 0.8);
      velocity_[i] = momentum * velocity_[i] - rate * gain_[i] * gradient[i];
      map[i] += velocity_[i];
    }
  }

 private:
  std::vector<double> velocity_, gain_;
};

}  // namespace

Matrix neighbor_probabilities(const Matrix& points, double perplexity) {
  ensure(points.rows > 1 && perplexity >= 1, "there are two points or more");
  const RowMajor squares = squared_distances(points);
  const double wanted = std::log(perplexity);
  Matrix p(points.rows, points.rows);
  for (std::int64_t i = 0; i < points.rows; ++i) {
    // The entropy falls as beta = 1 / (2 sigma^2) rises: bisection, with doubling until there is an upper
    // end.
    const double mean = squares.row(i).sum() / static_cast<double>(points.rows - 1);
    double beta = mean > 0 ? 1 / mean : 1;
    double low = 0;
    double high = std::numeric_limits<double>::infinity();
    for (int halving = 0; halving < kMostHalvings; ++halving) {
      const double entropy = gaussian_around(i, squares.row(i), beta, p.row(i));
      if (std::abs(entropy - wanted) < kEntropyTolerance) break;
      (entropy > wanted ? low : high) = beta;
      beta = std::isinf(high) ? 2 * beta : (low + high) / 2;
      if (std::isinf(beta)) break;  // more equal points than the perplexity: no width separates them
    }
  }
  return p;
}

//   dC/dy_i = 4 sum_j (p_ij - q_ij / Z) q_ij (y_i - y_j)        q_ij = 1 / (1 + |y_i - y_j|^2), Z = sum q
Matrix tsne(const Matrix& points, const TsneOptions& options) {
  const auto n = static_cast<std::size_t>(points.rows);
  Matrix map = starting_map(points, options.seed);
  if (n < 3) return map;
  const std::size_t padded = (n + kLanes - 1) / kLanes * kLanes;
  const double perplexity =
      std::clamp(options.perplexity, 1.0, std::max(1.0, static_cast<double>(n - 1) / 3));
  const std::vector<float> affinities = joint_affinities(points, perplexity, padded);
  const double rate = std::max(50.0, static_cast<double>(n) / options.exaggeration / 4);

  std::vector<float> x(padded, kFarAway);
  std::vector<float> y(padded, kFarAway);
  std::vector<Forces> forces(n);
  std::vector<double> gradient(2 * n);
  Descent descent(n);
  for (int iteration = 0; iteration < options.iterations; ++iteration) {
    const bool early = iteration < options.exaggerated_iterations;
    for (std::size_t i = 0; i < n; ++i) {
      x[i] = static_cast<float>(map.values[2 * i]);
      y[i] = static_cast<float>(map.values[2 * i + 1]);
    }
    double z = 0;
    for (std::size_t i = 0; i < n; ++i) {
      forces[i] = forces_on(i, affinities.data() + i * padded, x, y);
      z += forces[i].sum_q;
    }
    const double weight = early ? options.exaggeration : 1;
    for (std::size_t i = 0; i < n; ++i) {
      gradient[2 * i] = 4 * (weight * forces[i].pull_x - forces[i].push_x / z);
      gradient[2 * i + 1] = 4 * (weight * forces[i].pull_y - forces[i].push_y / z);
    }
    descent.step(map.values, gradient, rate, early ? 0.5 : 0.8);
  }
  const Eigen::RowVectorXd center = view(std::as_const(map)).colwise().mean();
  view(map).rowwise() -= center;
  return map;
}

}  // namespace convoke::explore
