#pragma once
#include "convoke/nn/layers/pool.hpp"

namespace convoke::nn {

struct Pool1dOptions {
  std::int64_t size = 2;
  std::int64_t stride = 0;     ///< 0: equal to size, as in Keras
  Padding padding{};           ///< along the sequence
  bool ceil = false;           ///< as in PoolOptions
  bool count_padding = false;  ///< average: as in PoolOptions
};

/// Maximum or mean over windows along a sequence, (N, L, F) -> (N, L', F), as max_pool and average_pool.
class Pool1d final : public KeyedLayer<Pool1dOptions> {
 public:
  explicit Pool1d(PoolMode mode, Pool1dOptions options = {});
  std::string_view type() const override;
  Shape output_shape(std::span<const ValueSpec> inputs) const override;
  void compile(PlanBuilder& plan, const Node& node) const override;

  static Keys keys(PoolMode mode);

 private:
  PoolOptions over_image() const;

  PoolMode mode_;
};

inline Symbol max_pool1d(Symbol x, Pool1dOptions options = {}) {
  return apply(Pool1d(PoolMode::kMax, options), x);
}
inline Symbol average_pool1d(Symbol x, Pool1dOptions options = {}) {
  return apply(Pool1d(PoolMode::kAverage, options), x);
}
inline Symbol global_average_pool1d(Symbol x) {
  return apply(GlobalPool(PoolMode::kAverage, GlobalPool::Over::kSequence), x);
}
inline Symbol global_max_pool1d(Symbol x) {
  return apply(GlobalPool(PoolMode::kMax, GlobalPool::Over::kSequence), x);
}

}  // namespace convoke::nn
