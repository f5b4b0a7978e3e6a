#pragma once
#include <cstdint>
#include <span>

namespace convoke::metrics {

/// What the area under a class' ROC curve is made of: how many pairs of a sample of the class and one of
/// another its scores put in order. Whole numbers, so that it does not matter who counts.
struct RocPairs {
  std::int64_t twice_ordered = 0;  ///< two for each pair in order, one for each tie
  std::int64_t positives = 0;      ///< samples of the class
  std::int64_t negatives = 0;      ///< all others

  /// Share of pairs in order, a tie counting half (Mann and Whitney's U / all pairs). NaN without positives
  /// or negatives.
  double area() const;
};

/// Counts the pairs of `positive` against all other classes. `scores`: how sure a model is of it, `truth`:
/// the true class, of each sample. A score that is NaN makes the area NaN. O(n log n).
RocPairs roc_pairs(std::span<const double> scores, std::span<const std::int32_t> truth,
                   std::int32_t positive);

/// scikit-learn's roc_auc_score, multi_class="ovr": with two classes the area of the second, else the mean
/// over all of them. `classes`: one entry per class. NaN if one of them is undefined.
double roc_auc(std::span<const RocPairs> classes);

}  // namespace convoke::metrics
