#include "convoke/engine/worker.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "convoke/core/finite.hpp"
#include "convoke/core/fixed_point.hpp"
#include "convoke/core/multiversion.hpp"
#include "convoke/core/timeline.hpp"
#include "convoke/engine/gradient_verification.hpp"
#include "convoke/engine/work_queue.hpp"
#include "convoke/os/clock.hpp"
#include "engine/lockstep.hpp"

namespace convoke::engine {

namespace {

CONVOKE_MULTIVERSION
void accumulate(const float* values, float* sum, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) sum[i] += values[i];
}

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

std::string gradient_name(const nn::ParameterSlot& slot) {
  return (slot.spec.statistic() ? "the statistic " : "the gradient of ") + slot.name;
}

// The values of the segment's samples, or none if the step has none.
std::span<const std::uint32_t> of_segment(std::span<const std::uint32_t> step,
                                          const MicroBatchSegment& segment) {
  if (step.empty()) return {};
  return step.subspan(static_cast<std::size_t>(segment.first),
                      static_cast<std::size_t>(segment.micro_batch * segment.micro_batches));
}

}  // namespace

Worker::Worker(const nn::Graph& graph, std::shared_ptr<const nn::ParameterLayout> layout,
               const float* parameters, const std::byte* working, const data::BatchLoader& loader,
               const WorkerSums& sums, Options options)
    : graph_(graph),
      layout_(std::move(layout)),
      parameters_(parameters),
      working_(working),
      loader_(loader),
      options_(std::move(options)),
      micro_batch_bytes_per_sample_(activation_bytes_per_sample(graph, options_.plan.precision)),
      sums_(sums),
      ready_([this](std::size_t end) { ready(end); }) {
  clear_sums();
  if (options_.moments != nullptr) lockstep_ = std::make_unique<Lockstep>(*this);
}
Worker::~Worker() = default;

nn::Network& Worker::plan(std::int64_t micro_batch, std::int64_t micro_batches, std::size_t instance) {
  const std::tuple key(micro_batch, micro_batches, instance);
  auto it = plans_.find(key);
  if (it == plans_.end()) {
    nn::PlanOptions options = options_.plan;
    options.micro_batch = micro_batch;
    options.micro_batches = micro_batches;
    it = plans_.emplace(key, nn::Network(graph_, layout_, options)).first;
  }
  return it->second;
}

std::vector<MicroBatchSegment> Worker::micro_batch_segments(const StepInput& step,
                                                            MicroBatchRange micro_batches,
                                                            bool one_by_one) const {
  return engine::micro_batch_segments(static_cast<std::int64_t>(step.samples.size()), micro_batches,
                                      {.micro_batch = step.micro_batch,
                                       .one_by_one = one_by_one,
                                       .plan_bytes = options_.plan_bytes,
                                       .bytes_per_sample = micro_batch_bytes_per_sample_});
}

const std::vector<MicroBatchSegment>& Worker::segments_of(const StepInput& step,
                                                          MicroBatchRange micro_batches, bool one_by_one) {
  const std::tuple shape(static_cast<std::int64_t>(step.samples.size()), micro_batches.first, one_by_one);
  auto it = shapes_.find(shape);
  if (it != shapes_.end()) return it->second;
  return shapes_.emplace(shape, micro_batch_segments(step, micro_batches, one_by_one)).first->second;
}

nn::StepKey Worker::key_of(const StepInput& step, const MicroBatchSegment& segment) {
  return {step.seed, step.epoch, of_segment(step.samples, segment),
          static_cast<std::int64_t>(step.samples.size()), of_segment(step.repeats, segment)};
}

data::ViewKey Worker::view_of(const StepInput& step, const MicroBatchSegment& segment) {
  return {.seed = step.seed,
          .epoch = step.epoch,
          .micro_batch = segment.micro_batch,
          .repeats = of_segment(step.repeats, segment)};
}

nn::Network& Worker::load(const StepInput& step, const MicroBatchSegment& segment, Targets& targets,
                          std::size_t instance) {
  nn::Network& network = plan(segment.micro_batch, segment.micro_batches, instance);
  latest_ = &network;
  const Span span(Activity::kData);
  const std::span<const std::uint32_t> ids = key_of(step, segment).samples;
  targets.labels.resize(ids.size());
  if (!loader_.split().weights.empty()) {
    targets.weights.resize(ids.size());
    loader_.load_weights(ids, targets.weights);
  }
  if (graph_.input_shape().type == nn::ValueType::kToken) {
    loader_.load_tokens(ids, network.tokens(), targets.labels);
  } else {
    if (loader_.mixes()) {
      targets.second_labels.resize(ids.size());
      targets.shares.resize(ids.size());
      targets.second_weights = targets.weights;
    }
    loader_.load(ids, network.input(),
                 {targets.labels, targets.second_labels, targets.shares, targets.second_weights},
                 view_of(step, segment));
  }
  targets.soft_labels.resize(ids.size() * loader_.soft_classes());
  if (!targets.soft_labels.empty()) loader_.load_soft_labels(ids, targets.soft_labels);
  return network;
}

// Starts backward, and stores the metrics after the gradients.
void Worker::compute_loss(nn::Network& network, const StepInput& step, const Targets& targets,
                          float* gradients) {
  const auto batch = static_cast<std::int64_t>(step.samples.size());
  const nn::LossSums sums = network.loss({targets.labels, targets.weights, targets.second_labels,
                                          targets.shares, targets.second_weights, targets.soft_labels},
                                         batch);
  float* tail = gradients + layout_->gradient_size();
  tail[kLoss] = static_cast<float>(sums.loss / static_cast<double>(batch));
  tail[kCorrect] = static_cast<float>(sums.correct);
  tail[kBad] = tail[kFailed] = 0;
}

// Adds elements [begin, end) of a segment's gradients, stored at `gradients` as in the arena, to the sums.
// With floats, the first segment has written its gradients to the sums directly.
void Worker::take(const float* gradients, std::size_t begin, std::size_t end, bool first) {
  if (begin == end) return;
  if (options_.exact) {
    const std::span values(gradients + begin, end - begin);
    const auto sum = sums_.fixed.subspan(begin, end - begin);
    const bool good = first ? fixed_point_assign(values, sum, limit_) : fixed_point_add(values, sum, limit_);
    if (!good) note_bad_term(values, begin);
  } else if (!first) {
    accumulate(gradients + begin, sums_.floats.data() + begin, end - begin);
  }
}

void Worker::note_bad_term(std::span<const float> values, std::size_t begin) {
  if (bad_term_) return;
  const auto bad = std::ranges::find_if(values, [&](float value) { return !(std::abs(value) < limit_); });
  const std::size_t place = begin + static_cast<std::size_t>(bad - values.begin());
  const auto slot = std::ranges::find_if(layout_->slots(), [&](const nn::ParameterSlot& parameter) {
    return place >= parameter.offset && place - parameter.offset < parameter.size;
  });
  bad_term_ = {slot == layout_->slots().end() ? "the loss" : gradient_name(*slot), *bad, limit_};
}

void Worker::ready(std::size_t end) {
  take(gradients_, taken_, end, first_segment_);
  taken_ = end;
  if (queue_ != nullptr && options_.overlaps) last_segment_ = last_segment_ || queue_->empty();
  if (!last_segment_) return;
  publish(end);
  (*progress_)();
}

void Worker::run_segment(const StepInput& step, const MicroBatchSegment& segment, bool last,
                         const std::function<void()>& progress) {
  const bool first = micro_batches_ == 0;
  count(segment);
  nn::Network& network = load(step, segment, targets_);
  // With floats, the first segment writes its gradients to the sums; later segments write to separate memory,
  // from which they are added.
  const bool separate = !options_.exact && !first;
  if (separate && later_.size() == 0) later_ = AlignedBuffer<float>(sums_.floats.size());
  const std::span<float> gradients = separate ? later_.span() : sums_.floats;
  network.bind(parameters_, gradients.data(), working_);

  network.forward(key_of(step, segment));
  compute_loss(network, step, targets_, gradients.data());

  gradients_ = gradients.data();
  taken_ = 0;
  first_segment_ = first;
  progress_ = &progress;
  last_segment_ = last;
  network.backward(ready_);
  take(gradients_, layout_->gradient_size(), sums_.floats.size(), first);
  if (segment.first == watched_) digest_ = digest_of_floats();
}

// The elements after the correct predictions are set by failures, not by micro-batches.
std::uint64_t Worker::digest_of_floats() const {
  return digest_of(sums_.floats.first(layout_->gradient_size() + kBad));
}

std::uint64_t Worker::recompute(const StepInput& step, std::int64_t micro_batch) {
  const MicroBatchSegment segment = micro_batch_segments(step, {micro_batch, 1}, true).front();
  nn::Network& network = load(step, segment, targets_);
  network.bind(parameters_, sums_.floats.data(), working_);
  network.forward(key_of(step, segment));
  compute_loss(network, step, targets_, sums_.floats.data());
  network.backward([](std::size_t) {});
  return digest_of_floats();
}

// Runs this worker's own segments until others have taken a micro-batch of the next one, then single
// micro-batches.
void Worker::run_queue(const StepInput& step, const std::vector<MicroBatchSegment>& own, WorkQueue& queue,
                       const std::function<void()>& progress) {
  for (const MicroBatchSegment& segment : own) {
    if (!queue.take(options_.worker, segment.micro_batches)) break;
    run_segment(step, segment, false, progress);
  }
  while (const std::optional<std::int64_t> micro_batch = queue.take_last())
    run_segment(step, {*micro_batch * step.micro_batch, step.micro_batch, 1}, false, progress);
  if (micro_batches_ == 0) clear_sums();
  queue.end(options_.worker);
}

// No work, but every rank takes part in every sum.
void Worker::clear_sums() {
  std::ranges::fill(sums_.floats, 0.0F);
  std::ranges::fill(sums_.fixed, std::int64_t{0});
}

void Worker::run(const StepInput& step, MicroBatchRange micro_batches, WorkQueue* queue,
                 const std::function<void()>& progress) {
  const os::Stopwatch watch;
  waited_ = 0;
  samples_ = micro_batches_ = 0;
  if (std::exchange(micro_batches_change_, false)) {
    plans_.clear();
    shapes_.clear();
    latest_ = nullptr;
  }
  const std::int64_t step_micro_batches =
      divide_up(static_cast<std::int64_t>(step.samples.size()), step.micro_batch);
  limit_ = fixed_point_limit(step_micro_batches);
  bad_term_.reset();
  queue_ =
      micro_batches.count > 0 ? queue : nullptr;  // a worker without micro-batches has no memory for a plan
  const std::vector<MicroBatchSegment>& list =
      segments_of(step, micro_batches, options_.exact || (queue_ != nullptr && queue_->one_by_one()));
  if (list.empty()) clear_sums();
  if (lockstep_) {
    for (const MicroBatchSegment& segment : list) count(segment);
    if (!lockstep_->run(step, list, progress)) return;
  } else if (queue_ != nullptr) {
    run_queue(step, list, *queue_, progress);
  } else {
    for (std::size_t i = 0; i < list.size(); ++i) run_segment(step, list[i], i + 1 == list.size(), progress);
  }
  if (bad_term_) sums_.fixed[layout_->gradient_size() + kBad] += 1;
  publish(sums_.floats.size());
  seconds_ = watch.seconds() - waited_;
}

void Worker::give_up() {
  const std::size_t metrics = layout_->gradient_size();
  std::ranges::fill(sums_.floats.subspan(metrics), 0.0F);
  sums_.floats[metrics + kFailed] = 1;
  if (options_.exact) {
    std::ranges::fill(sums_.fixed.subspan(metrics), 0);
    sums_.fixed[metrics + kFailed] = 1;
  }
  publish(sums_.floats.size());
}

std::string Worker::first_non_finite(const StepInput& step, MicroBatchRange micro_batches) {
  for (const MicroBatchSegment& segment : micro_batch_segments(step, micro_batches, options_.exact)) {
    nn::Network& network = load(step, segment, targets_);
    network.bind(parameters_, sums_.floats.data(), working_);
    nn::StepKey key = key_of(step, segment);
    key.batch = 0;  // each plan separately, so that a NaN does not spread to plans without one
    const std::string node = network.first_non_finite(key);
    if (!node.empty()) return node;
    if (lockstep_) continue;  // its backward pass needs those of all other micro-batches
    compute_loss(network, step, targets_, sums_.floats.data());
    network.backward([](std::size_t) {});
    const std::string gradient = first_bad_gradient();
    if (!gradient.empty()) return gradient;
  }
  return {};
}

// In the order of the network.
std::string Worker::first_bad_gradient() const {
  const nn::ParameterSlot* first = nullptr;
  for (const nn::ParameterSlot& slot : layout_->slots()) {
    if (slot.offset + slot.size > layout_->gradient_size()) continue;
    if (first != nullptr && first->node <= slot.node) continue;
    const std::span<const float> values = sums_.floats.subspan(slot.offset, slot.size);
    if (!all_finite(values)) first = &slot;
  }
  return first == nullptr ? std::string() : gradient_name(*first);
}

std::size_t Worker::plan_bytes() const {
  std::size_t bytes = 0;
  for (const auto& [shape, network] : plans_) bytes += network.activation_bytes();
  return bytes;
}

namespace {

// The parameters that a plan reads whole. It reads few rows of a table of embeddings.
std::int64_t parameter_bytes(const nn::Graph& graph) {
  std::int64_t values = 0;
  for (const nn::Node& node : graph.nodes()) {
    const bool embeds =
        !node.inputs.empty() && graph.nodes()[node.inputs.front()].shape.type == nn::ValueType::kToken;
    for (const nn::ParameterSpec& parameter : node.parameters)
      values += embeds ? 0 : parameter.shape.elements();
  }
  return 4 * values;
}

}  // namespace

// Measured on one core: mnist-ensemble at batch 64 is as fast in two plans of 32 samples as in one of 64 (0.6
// %, within noise), and 2 % faster than in three. mnist-ddp (905k parameters, which a plan of 8 samples reads
// for the sake of few) at batch 512 on Zen 4, in huge pages, against 24 MiB: with 16 MiB 0.95, with 36 MiB
// 1.02, with 48 MiB 1.025, with 72 and 96 MiB no more (two turns); in bf16 with 43 MiB 1.02 (three turns).
std::int64_t segment_bytes(const nn::Graph& graph) {
  constexpr std::int64_t kLeast = std::int64_t{8} << 20, kMost = 6 * kLeast,
                         kUnlimited = std::int64_t{1} << 50;
  return nn::synchronizes(graph) ? kUnlimited : std::clamp(12 * parameter_bytes(graph), kLeast, kMost);
}

std::int64_t activation_bytes_per_sample(const nn::Graph& graph, nn::Precision precision) {
  std::int64_t values = 0;
  for (const nn::Node& node : graph.nodes()) {
    const nn::LayerTraits traits = node.layer == nullptr ? nn::LayerTraits{} : node.layer->traits();
    // The layer before a ReLU computes it.
    const bool nothing = traits.is_view || traits.activation == nn::FusibleActivation::kRelu;
    if (!nothing) values += node.shape.elements();
  }
  return values * (precision == nn::Precision::kBfloat16 ? 2 : 4) * 3 / 2;
}

std::vector<MicroBatchSegment> micro_batch_segments(std::int64_t samples, MicroBatchRange micro_batches,
                                                    const Cut& cut) {
  std::vector<MicroBatchSegment> list;
  const std::int64_t full_micro_batches =
      std::min(micro_batches.count, samples / cut.micro_batch - micro_batches.first);
  // As many segments as the memory limit requires, of even size.
  const std::int64_t fit =
      std::max<std::int64_t>(1, cut.plan_bytes / (cut.bytes_per_sample * cut.micro_batch));
  const std::int64_t parts = cut.one_by_one ? full_micro_batches : (full_micro_batches + fit - 1) / fit;
  for (std::int64_t part = 0; part < parts; ++part) {
    const MicroBatchRange range = share_of({micro_batches.first, full_micro_batches}, part, parts);
    list.push_back({range.first * cut.micro_batch, cut.micro_batch, range.count});
  }
  if (full_micro_batches < micro_batches.count) {  // the step's last micro-batch, which is smaller
    const std::int64_t first = (micro_batches.first + full_micro_batches) * cut.micro_batch;
    list.push_back({first, samples - first, 1});
  }
  return list;
}

}  // namespace convoke::engine
