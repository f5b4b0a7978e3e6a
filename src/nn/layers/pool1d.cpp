#include "convoke/nn/layers/pool1d.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "convoke/core/error.hpp"
#include "nn/layers/pooling.hpp"
#include "nn/layers/shared_keys.hpp"

namespace convoke::nn {

Pool1d::Pool1d(Mode mode, Pool1dOptions options) : KeyedLayer(keys(mode), options), mode_(mode) {
  if (options_.stride == 0) options_.stride = options_.size;
}

std::string_view Pool1d::type() const { return mode_ == Mode::kMax ? "max_pool1d" : "average_pool1d"; }

PoolOptions Pool1d::over_image() const {
  return {.size = {1, options_.size},
          .stride = {1, options_.stride},
          .padding = options_.padding,
          .ceil = options_.ceil,
          .count_padding = options_.count_padding};
}

Shape Pool1d::output_shape(std::span<const ValueSpec> inputs) const {
  const Pool1dOptions& o = options_;
  const std::int64_t most = std::max(o.padding.before.width, o.padding.after.width);
  if (most >= o.size) {  // a window could otherwise see only padding
    throw Error(fmt::format("padding of {} is not smaller than its window of {}", most, o.size),
                "use padding = \"same\" or less padding");
  }
  const Window window =
      slide_sequence(inputs[0], o.size, o.stride, 1, o.padding, o.ceil ? Rounding::kCeil : Rounding::kFloor);
  return {window.output, inputs[0][1]};
}

Pool1d::Keys Pool1d::keys(Mode mode) {
  using O = Pool1dOptions;
  static constexpr std::array kKeys{kPoolSize<O>, kPoolStride<O>,
                                    sequence_padding<&O::padding, false>(
                                        {.name = "padding", .help = "padding before and after the sequence"}),
                                    kCeil<O>, kCountPadding<O>};
  return Keys(kKeys).first(mode == Mode::kAverage ? 5 : 4);
}

void Pool1d::compile(PlanBuilder& plan, const Node& node) const {
  mode_ == Mode::kMax ? compile_max_pool(plan, node, over_image())
                      : compile_average_pool(plan, node, over_image());
}

Symbol max_pool1d(Symbol x, Pool1dOptions options) { return apply(Pool1d(Pool1d::Mode::kMax, options), x); }
Symbol average_pool1d(Symbol x, Pool1dOptions options) {
  return apply(Pool1d(Pool1d::Mode::kAverage, options), x);
}
Symbol global_average_pool1d(Symbol x) {
  return apply(GlobalPool(GlobalPool::Mode::kAverage, GlobalPool::Over::kSequence), x);
}
Symbol global_max_pool1d(Symbol x) {
  return apply(GlobalPool(GlobalPool::Mode::kMax, GlobalPool::Over::kSequence), x);
}

}  // namespace convoke::nn
