#include "convoke/data_prep/table/yeo_johnson.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>

namespace convoke::data_prep {
namespace {

double variance(const Eigen::ArrayXd& x) { return (x - x.mean()).square().mean(); }

/// The negative log-likelihood as a function of lambda:
///   n / 2 log var(T(x)) - (lambda - 1) sum sign(x) log(1 + |x|)
/// It is strictly convex (T. Marchand et al., "SecureFedYJ", NeurIPS 2022).
class Unlikelihood {
 public:
  explicit Unlikelihood(std::span<const double> values)
      : x_(Eigen::Map<const Eigen::ArrayXd>(values.data(), static_cast<Eigen::Index>(values.size()))),
        log_(x_.abs().log1p()),
        signed_sum_((x_ < 0).select(-log_, log_).sum()),
        one_sided_(x_.minCoeff() >= 0   ? Side::kPositive
                   : x_.maxCoeff() <= 0 ? Side::kNegative
                                        : Side::kBoth) {}

  double operator()(double lambda) const {
    const double value =
        static_cast<double>(x_.size()) / 2 * log_variance(lambda) - (lambda - 1) * signed_sum_;
    return std::isfinite(value) ? value : std::numeric_limits<double>::infinity();
  }

  /// True if the transformed values can still be distinguished. (With lambda far below 0 all large ones are 1
  /// / |lambda|.) The lambdas for which this holds are an interval around 1, if 1 is one of them.
  bool resolves(double lambda) const {
    constexpr double kResolution = 1e-9;
    const Eigen::ArrayXd t = x_.unaryExpr([=](double x) { return yeo_johnson(x, lambda); });
    return std::sqrt(variance(t)) > kResolution * t.abs().maxCoeff() && std::isfinite(variance(t));
  }

 private:
  enum class Side { kPositive, kNegative, kBoth };

  double log_variance(double lambda) const {
    if (one_sided_ == Side::kPositive) return log_variance_of_powers(lambda);
    if (one_sided_ == Side::kNegative) return log_variance_of_powers(2 - lambda);
    return std::log(variance(x_.unaryExpr([=](double x) { return yeo_johnson(x, lambda); })));
  }

  // Returns log var(((1 + |x|)^p - 1) / p) without computing powers, which overflow, or their differences to
  // 1 / p, which vanish:  2 p c + log var((e^(p (log(1 + |x|) - c)) - 1) / p)  for any c.
  double log_variance_of_powers(double p) const {
    const double c = p > 0 ? log_.maxCoeff() : log_.minCoeff();
    if (p == 0) return std::log(variance(log_ - c));
    return 2 * p * c + std::log(variance((p * (log_ - c)).expm1() / p));
  }

  Eigen::ArrayXd x_, log_;
  double signed_sum_;
  Side one_sided_;
};

// Finds the minimum of a convex function by golden-section search: J. Kiefer, "Sequential minimax search for
// a maximum", 1953. The interval grows until it contains the minimum, as far as values can be distinguished.
double minimum_of(const Unlikelihood& f) {
  if (!f.resolves(1)) return 1;
  constexpr double kPrecision = 1e-8;
  const double golden = (std::sqrt(5.0) - 1) / 2;
  double low = -2;
  double high = 2;
  while (!f.resolves(low)) low = (low + 1) / 2;
  while (!f.resolves(high)) high = (high + 1) / 2;
  while (low < 0 && f.resolves(2 * low) && f(low) <= f(low + 1e-3)) low *= 2;
  while (f.resolves(2 * high) && f(high) <= f(high - 1e-3)) high *= 2;
  double a = high - golden * (high - low);
  double b = low + golden * (high - low);
  double at_a = f(a);
  double at_b = f(b);
  while (high - low > kPrecision * std::max(1.0, std::abs(low))) {
    if (at_a <= at_b) {
      high = b;
      b = a;
      at_b = at_a;
      at_a = f(a = high - golden * (high - low));
    } else {
      low = a;
      a = b;
      at_a = at_b;
      at_b = f(b = low + golden * (high - low));
    }
  }
  return (low + high) / 2;
}

}  // namespace

double yeo_johnson(double x, double lambda) {
  const auto power = [](double l, double p) { return p == 0 ? l : std::expm1(p * l) / p; };
  return x >= 0 ? power(std::log1p(x), lambda) : -power(std::log1p(-x), 2 - lambda);
}

double yeo_johnson_lambda(std::span<const double> values) {
  bool constant = true;
  for (const double value : values) constant = constant && value == values.front();
  return constant ? 1 : minimum_of(Unlikelihood(values));
}

}  // namespace convoke::data_prep
