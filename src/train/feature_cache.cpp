#include "convoke/train/feature_cache.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "convoke/core/error.hpp"
#include "convoke/core/timeline.hpp"
#include "convoke/engine/canonical.hpp"
#include "convoke/engine/shares.hpp"
#include "convoke/mpi/together.hpp"
#include "convoke/nn/split.hpp"

namespace convoke::train {
namespace {

engine::EvaluatorOptions prefix_options(const Job& job) {
  engine::EvaluatorOptions options = engine::evaluator_options(job.engine, 0);
  options.chunk = job.engine.micro_batch;
  return options;
}

bool members_begin_alike(const Job& job) {
  if (job.cache_features == 0 || job.ensemble.members == 1 || !job.weights) return false;
  const std::vector<engine::CanonicalParameter> frozen =
      engine::canonical_parameters(nn::prefix_of(job.model.graph, nn::frozen_prefix(job.model.graph)));
  return std::all_of(job.weights->given.begin(),
                     job.weights->given.begin() + static_cast<std::ptrdiff_t>(frozen.size()),
                     [](bool given) { return given; });
}

}  // namespace

std::size_t cached_node(const Job& job, std::size_t stages) {
  if (job.cache_features == 0) return 0;
  const nn::Graph graph = unfrozen_by(std::span(job.loop.stages).first(stages), job.model.graph, 0);
  const std::size_t last = nn::frozen_prefix(graph);
  if (last > 0 || stages > 0) return last;
  throw Error(fmt::format("cache_features: the first layers of the network are not frozen: {} is trained",
                          nn::first_not_fixed(graph)),
              "freeze the backbone (model.freeze = [\"backbone\"]), or set model.cache_features to 0");
}

FeatureCache::FeatureCache(const Job& job, std::size_t last, const data::BatchLoader& samples,
                           std::int64_t views, std::span<const float> parameters,
                           const mpi::Communicator& node, const std::filesystem::path& file,
                           run::Phases& phases)
    : job_(job),
      samples_(samples),
      node_(node),
      phases_(phases),
      last_(last),
      prefix_(mpi::together(
          node,
          [&] { return engine::Evaluator(nn::prefix_of(job.model.graph, last_), prefix_options(job)); })),
      parameters_(parameters.begin(),
                  parameters.begin() + static_cast<std::ptrdiff_t>(prefix_.parameter_values())),
      features_(static_cast<std::size_t>(prefix_.output_shape().elements())),
      memory_(node, static_cast<std::size_t>(views) * count() * features_ * sizeof(float),
              job.memory.cache_bytes > 0 ? job.memory.cache_bytes : run::half_of_free_memory(node), file),
      computed_(static_cast<std::size_t>(views)),
      loader_(loader_of(0)) {
  prefix_.load(parameters_);
  count_bytes(1);
}

FeatureCache::~FeatureCache() { count_bytes(-1); }

void FeatureCache::count_bytes(std::int64_t sign) {
  if (node_.root()) {
    phases_.features.hold(sign * static_cast<std::int64_t>(memory_.bytes().size()), memory_.in_file());
  }
}

std::span<float> FeatureCache::view(std::size_t index) const {
  const std::size_t size = count() * features_;
  return {reinterpret_cast<float*>(memory_.bytes().data()) + index * size, size};
}

// Features are stored in the layout of the network's output, so the loader handles them as plain vectors.
// Adding -0 leaves every number unchanged, including -0.
data::BatchLoader FeatureCache::loader_of(std::size_t index) const {
  data::Split split = samples_.split();
  split.samples = std::span<const float>(view(index));
  split.stream = nullptr;
  return {split, Shape{static_cast<std::int64_t>(features_)},
          data::Normalization{std::vector<float>(features_, 1.0F), std::vector<float>(features_, -0.0F)}};
}

bool FeatureCache::select_epoch(std::int64_t epoch, const Stop& stop) {
  const std::size_t index = index_of(epoch);
  if (!computed_[index]) computed_[index] = compute(index, stop);
  if (computed_[index]) loader_ = loader_of(index);
  return computed_[index];
}

// A signal reaches all ranks of a job, so each rank watches for itself and the ranks need not wait for each
// other.
bool FeatureCache::compute(std::size_t index, const Stop& stop) {
  const Span span(Activity::kFeatures);
  const std::span<float> out = view(index);
  const auto micro_batch = static_cast<std::size_t>(job_.engine.micro_batch);
  const engine::MicroBatchRange mine = engine::share_of(
      {0, static_cast<std::int64_t>((count() + micro_batch - 1) / micro_batch)}, node_.rank(), node_.size());
  const std::size_t segment = micro_batch * static_cast<std::size_t>(job_.engine.threads);
  const std::size_t end = std::min(static_cast<std::size_t>(mine.first + mine.count) * micro_batch, count());
  const data::BatchLoader samples =
      samples_.in_view({.seed = job_.engine.seed, .epoch = static_cast<std::uint32_t>(index)});
  bool stopped = false;
  mpi::together(node_, [&] {
    std::vector<std::uint32_t> ids;
    for (std::size_t first = static_cast<std::size_t>(mine.first) * micro_batch; first < end;
         first += segment) {
      stopped = stop();
      if (stopped) return;
      ids.resize(std::min(segment, end - first));
      std::iota(ids.begin(), ids.end(), static_cast<std::uint32_t>(first));
      const std::vector<float> rows = prefix_.raw(samples, ids);
      std::copy(rows.begin(), rows.end(), out.begin() + static_cast<std::ptrdiff_t>(first * features_));
      phases_.features.computed += static_cast<std::int64_t>(ids.size());
    }
  });
  memory_.publish();
  return !mpi::any_of(node_, stopped);
}

std::int64_t cached_views(const Job& job) {
  return std::min(job.cache_features, std::max<std::int64_t>(job.loop.epochs, 1));
}

std::filesystem::path feature_file(const run::RunFolder& folder, const mpi::Communicator& world) {
  return folder.file(fmt::format("features-{}.bin", world.rank()));
}

std::vector<std::unique_ptr<FeatureCache>> common_features(const Job& job, const data::BatchLoader& loader,
                                                           const run::RunFolder& folder,
                                                           const mpi::Communicator& world,
                                                           run::Phases& phases,
                                                           const FeatureCache::Stop& stop) {
  if (!members_begin_alike(job)) return {};
  std::vector<std::unique_ptr<FeatureCache>> caches;
  const mpi::Communicator node = world.split_node();
  bool complete = true;
  for (std::int64_t epoch = 0; complete && epoch < job.loop.epochs; ++epoch) {
    const std::size_t last = cached_node(job, stages_begun(job.loop.stages, epoch));
    if (last == 0) break;
    if (caches.empty() || caches.back()->last_node() != last) {
      caches.push_back(std::make_unique<FeatureCache>(job, last, loader, cached_views(job),
                                                      job.weights->values, node, feature_file(folder, world),
                                                      phases));
    }
    complete = caches.back()->select_epoch(epoch, stop);
  }
  if (mpi::any_of(world, !complete)) return {};
  return caches;
}

}  // namespace convoke::train
