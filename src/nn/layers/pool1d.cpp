#include "convoke/nn/layers/pool1d.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "convoke/core/error.hpp"
#include "convoke/nn/layer_reader.hpp"
#include "nn/layers/pooling.hpp"

namespace convoke::nn {

Pool1d::Pool1d(Mode mode, Pool1dOptions options) : mode_(mode), options_(options) {
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

Settings Pool1d::settings() const {
  Settings settings{{"layer", type()},
                    {"size", options_.size},
                    {"stride", options_.stride},
                    {"padding", write_padding1d(options_.padding)},
                    {"ceil", options_.ceil}};
  if (mode_ == Mode::kAverage) settings.set("count_padding", options_.count_padding);
  return settings;
}

Pool1dOptions Pool1d::read_options(LayerReader& read, Mode mode) {
  Pool1dOptions o;
  o.size = read.count("size", o.size, "size of the window");
  o.stride = read.count("stride", o.size, "step between windows; default: the size");
  o.padding = read.padding1d("padding", o.padding, false, "padding before and after the sequence");
  o.ceil = read.get("ceil", o.ceil, "the last window may extend beyond the end, as with PyTorch's ceil_mode");
  if (mode == Mode::kAverage)
    o.count_padding =
        read.get("count_padding", o.count_padding, "padding counts as zeroes; PyTorch's default is true");
  return o;
}

void Pool1d::compile(PlanBuilder& plan, const Node& node) const {
  mode_ == Mode::kMax ? compile_max_pool(plan, node, over_image())
                      : compile_average_pool(plan, node, over_image());
}

namespace {

template <class L, class... Args>
Symbol apply_pool1d(Symbol x, const Args&... args) {
  return {x.graph, x.graph->add(std::make_shared<L>(args...), {x.node})};
}

}  // namespace

Symbol max_pool1d(Symbol x, Pool1dOptions options) {
  return apply_pool1d<Pool1d>(x, Pool1d::Mode::kMax, options);
}
Symbol average_pool1d(Symbol x, Pool1dOptions options) {
  return apply_pool1d<Pool1d>(x, Pool1d::Mode::kAverage, options);
}
Symbol global_average_pool1d(Symbol x) {
  return apply_pool1d<GlobalPool>(x, GlobalPool::Mode::kAverage, GlobalPool::Over::kSequence);
}
Symbol global_max_pool1d(Symbol x) {
  return apply_pool1d<GlobalPool>(x, GlobalPool::Mode::kMax, GlobalPool::Over::kSequence);
}

}  // namespace convoke::nn
