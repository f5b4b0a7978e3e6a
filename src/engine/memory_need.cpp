#include "convoke/engine/memory_need.hpp"

#include <algorithm>
#include <map>
#include <memory>

#include "convoke/engine/worker.hpp"
#include "convoke/nn/backend.hpp"
#include "convoke/nn/plan/network.hpp"
#include "convoke/nn/plan/parameters.hpp"
#include "convoke/sync/allreduce.hpp"
#include "engine/execution.hpp"

namespace convoke::engine {
namespace {

using LayoutPtr = std::shared_ptr<const nn::ParameterLayout>;
using PlanShape = std::pair<std::int64_t, std::int64_t>;  // samples per micro-batch, micro-batches

std::size_t bytes_of(std::size_t floats) { return floats * sizeof(float); }

// Activation arenas by plan shape. Each shape is compiled once, because all workers need the same.
class Arenas {
 public:
  Arenas(const nn::Graph& graph, LayoutPtr layout, nn::PlanOptions options)
      : graph_(graph), layout_(std::move(layout)), options_(options) {}

  std::size_t bytes(PlanShape shape) {
    const auto [it, missing] = known_.try_emplace(shape);
    if (missing) {
      options_.micro_batch = shape.first;
      options_.micro_batches = shape.second;
      it->second = nn::predict_activation_bytes(graph_, *layout_, options_);
    }
    return it->second;
  }

 private:
  const nn::Graph& graph_;
  LayoutPtr layout_;
  nn::PlanOptions options_;
  std::map<PlanShape, std::size_t> known_;
};

// Returns the most micro-batches that a rank may get: with `balance`, all but one for each other rank.
MicroBatchRange largest_share(const EngineOptions& options, std::int64_t micro_batches, int rank, int ranks) {
  if (options.balance && micro_batches > ranks) return {ranks - 1, micro_batches - ranks + 1};
  return share_of({0, micro_batches}, rank, ranks);
}

std::size_t evaluation_bytes(const nn::Graph& graph, const EngineOptions& options) {
  const EvaluatorOptions evaluator = evaluator_options(options, graph.output_shape().elements());
  const EvaluatorPlan plan = evaluator_plan(graph, evaluator);
  const std::size_t arena = nn::predict_activation_bytes(graph, *plan.layout, plan.options);
  return bytes_of(plan.layout->size()) + nn::predict_working_bytes(*plan.layout) +
         arena * static_cast<std::size_t>(options.threads);
}

}  // namespace

MemoryNeed predict_memory(const nn::Graph& graph, const EngineOptions& of_recipe,
                          const optim::Optimizer& optimizer, std::int64_t samples, bool validates, int rank,
                          int ranks, const NodePlace& place) {
  const EngineOptions options = for_samples(of_recipe, samples);
  const int workers = worker_count(options, rank, ranks);
  nn::single_threaded();
  const auto layout = std::make_shared<const nn::ParameterLayout>(graph, options.micro_batch,
                                                                  options.convolution, options.precision);
  nn::set_primitive_threads(primitive_threads(options, workers));
  Arenas arenas(graph, layout, plan_options(options));
  const bool exact = options.reduction == Reduction::kExact;
  const bool in_step = nn::synchronizes(graph);  // all micro-batches are active at the same time
  const std::size_t gradients = layout->gradient_size() + kStepMetrics;
  const Cut cut{.micro_batch = options.micro_batch,
                .one_by_one = exact,
                .plan_bytes = segment_bytes(graph),
                .bytes_per_sample = activation_bytes_per_sample(graph, options.precision)};

  // Workers that take micro-batches from others need a plan of a single micro-batch. With exact they have it
  // anyway.
  const bool may_take = !exact && ranks * workers > 1 && steals_micro_batches(options, graph);

  MemoryNeed need;
  for (int worker = 0; worker < workers; ++worker) {
    std::map<PlanShape, std::size_t> shapes;  // number of plans of each shape at the same time
    std::size_t extra = 0;  // gradient buffers of later segments of a step, in addition to the sums
    for (const std::int64_t size : {std::min(samples, options.batch), samples % options.batch}) {
      if (size == 0) continue;
      const MicroBatchRange micro_batches =
          largest_share(options, (size + options.micro_batch - 1) / options.micro_batch, rank, ranks);
      const std::vector<MicroBatchSegment> list =
          micro_batch_segments(size, share_of(micro_batches, worker, workers), cut);
      std::map<PlanShape, std::size_t> now;
      if (in_step && list.empty())
        now[{options.micro_batch, 1}] = 1;  // needed to know where to synchronize with the others
      for (const MicroBatchSegment& segment : list) {
        std::size_t& count = now[{segment.micro_batch, segment.micro_batches}];
        count = in_step ? count + 1 : 1;
      }
      const bool one_by_one = may_take && size == options.batch && !list.empty();
      if (one_by_one) now.try_emplace({options.micro_batch, 1}, 1);
      for (const auto& [shape, count] : now) shapes[shape] = std::max(shapes[shape], count);
      const std::size_t later = one_by_one ? 1 : list.empty() ? 0 : list.size() - 1;
      extra = std::max(extra, in_step ? later : exact ? 0 : std::min<std::size_t>(later, 1));
    }
    for (const auto& [shape, count] : shapes) need.activations += count * arenas.bytes(shape);
    need.gradients += bytes_of(gradients);
    if (exact) need.gradients += gradients * sizeof(std::int64_t);
    need.gradients += extra * bytes_of(gradients);
  }
  const NodeShare share(gradients, place.rank, place.leaders);
  need.exchange = sync::AllReduce::predict_bytes(
      {share.slice().size(), exact, share.bf16_elements(layout->trainable_size())},
      {options.bucket_bytes, options.wire}, place.nodes);
  need.parameters = bytes_of(layout->size());
  const std::size_t state_bytes =
      options.update.state_precision == nn::Precision::kBfloat16 ? sizeof(sync::Bfloat16) : sizeof(float);
  need.optimizer_state = layout->trainable_size() * optimizer.state_slots() * state_bytes +
                         (options.update.ema > 0 ? bytes_of(layout->size()) : 0);
  need.working_weights = nn::predict_working_bytes(*layout);
  if (validates) need.evaluation = evaluation_bytes(graph, options);
  nn::single_threaded();
  return need;
}

}  // namespace convoke::engine
