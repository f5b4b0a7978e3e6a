#include "convoke/nn/plan/network.hpp"

#include <algorithm>
#include <cassert>

#include "convoke/core/error.hpp"
#include "convoke/core/finite.hpp"
#include "convoke/core/timeline.hpp"
#include "convoke/nn/losses/outputs.hpp"
#include "convoke/os/clock.hpp"
#include "nn/plan/arena.hpp"
#include "nn/plan/plan_builder.hpp"

namespace convoke::nn {

std::byte* Frame::address(Ref ref) const {
  switch (ref.place) {
    case Ref::Place::kNone:
      return nullptr;
    case Ref::Place::kActivation:
      return activations + offsets[ref.id];
    case Ref::Place::kScratch:
      return scratch;
    // Parameters are only read, but oneDNN's interface has no const memory.
    case Ref::Place::kParameter:
      return reinterpret_cast<std::byte*>(const_cast<float*>(parameters) + ref.id);
    case Ref::Place::kWorking:
      return const_cast<std::byte*>(working) + ref.id;
    default:
      return reinterpret_cast<std::byte*>(gradients + ref.id);
  }
}

class Network::Compiled {
  /// A list of steps, divided where plans exchange moments.
  struct Segments {
    std::vector<std::size_t> ends;   ///< steps [ends[i - 1], ends[i]) are segment i
    std::vector<std::size_t> stops;  ///< numbers of moments after all segments but the last

    Segments() = default;
    explicit Segments(const std::vector<Step>& list) {
      for (std::size_t i = 0; i < list.size(); ++i) {
        if (list[i].moments.count == 0) continue;
        ends.push_back(i + 1);
        stops.push_back(list[i].moments.count);
      }
      ends.push_back(list.size());
    }
    std::size_t count() const { return ends.size(); }
    std::pair<std::size_t, std::size_t> steps(std::size_t segment) const {
      return {segment == 0 ? 0 : ends[segment - 1], ends[segment]};
    }
  };

 public:
  Compiled(const Graph& graph, std::shared_ptr<const ParameterLayout> layout, const PlanOptions& options)
      : layout_(std::move(layout)), options_(options), plan_(compile(graph, layout_.get(), options)) {
    place_memory();
    bind_arguments();
    find_complete_ends();
    forward_segments_ = Segments(plan_.forward);
    backward_segments_ = Segments(plan_.backward);
  }

  void bind(const float* parameters, float* gradients, const std::byte* working) {
    frame_.parameters = parameters;
    frame_.working = working;
    frame_.gradients = gradients;
    for (auto& [memory, ref] : outside_) memory.set_data_handle(frame_.address(ref));
  }

  void run(const Step& step) const {
    if (step.kernel) return step.kernel(frame_);
    // Uses the C interface, because the C++ one builds an argument list on the heap in every call.
    const dnnl_status_t status = dnnl_primitive_execute(
        step.primitive.get(), stream().get(), static_cast<int>(step.bound.size()), step.bound.data());
    if (status != dnnl_success) throw Error("oneDNN failed in " + step.info.node + ", " + step.info.what);
  }

  void start(const StepKey& key) {
    assert(frame_.parameters != nullptr || layout_->size() == 0);
    frame_.key = key;
    frame_.group = key.batch == 0 ? options_.micro_batch * options_.micro_batches : key.batch;
  }

  std::span<double> forward(std::size_t segment) {
    const Span pass(Activity::kForward);
    const auto [begin, end] = forward_segments_.steps(segment);
    for (std::size_t i = begin; i < end; ++i) {
      const Span span(Activity::kForward, plan_.forward[i].label);
      run(plan_.forward[i]);
    }
    return moments_after(plan_.forward, end);
  }

  std::span<double> backward(const Ready& ready, std::size_t segment) {
    const Span pass(Activity::kBackward);
    const auto [begin, end] = backward_segments_.steps(segment);
    for (std::size_t i = begin; i < end; ++i) {
      {
        const Span span(Activity::kBackward, plan_.backward[i].label);
        run(plan_.backward[i]);
      }
      ready(complete_[i]);
    }
    if (segment + 1 == backward_segments_.count()) ready(layout_->gradient_size());
    return moments_after(plan_.backward, end);
  }

  bool finite(const Tensor& tensor) const {
    bool good = true;
    with_stored_type(tensor.desc, [&](auto zero) {
      const auto* values = frame_.at<decltype(zero)>(tensor);
      good = all_finite(std::span(values, elements_of(tensor.desc)));
    });
    return good;
  }
  template <class T>
  std::span<T> input_as(Type type) {
    const bool is = type_of(plan_.input.desc) == type;
    return {frame_.at<T>(plan_.input), is ? elements_of(plan_.input.desc) : 0};
  }

  std::shared_ptr<const ParameterLayout> layout_;
  PlanOptions options_;
  CompiledPlan plan_;
  AlignedBuffer<std::byte> arena_;
  Frame frame_;
  Segments forward_segments_, backward_segments_;

 private:
  void place_memory() {
    ArenaPlacement placement = place_buffers(plan_);
    const std::size_t scratch = placement.bytes;
    arena_ = AlignedBuffer<std::byte>(scratch + plan_.scratchpad_bytes);
    frame_.activations = arena_.data();
    frame_.offsets = std::move(placement.offsets);
    frame_.scratch = arena_.data() + scratch;
  }

  void bind_arguments() {
    for (auto* steps : {&plan_.forward, &plan_.backward}) {
      for (Step& step : *steps) {
        step.label = lasting_text(step.info.node + " " + step.info.what);
        for (const auto& [name, tensor] : step.arguments) {
          const bool inside = tensor.ref.place == Ref::Place::kActivation;
          memories_.emplace_back(tensor.desc, engine(),
                                 inside ? frame_.address(tensor.ref) : DNNL_MEMORY_NONE);
          if (!inside) outside_.emplace_back(memories_.back(), tensor.ref);
          step.bound.push_back({name, memories_.back().get()});
        }
        if (step.shares_scratch) bind_scratch(step);
      }
    }
  }

  void bind_scratch(Step& step) {
    const Desc desc({static_cast<dnnl::memory::dim>(plan_.scratchpad_bytes)}, dnnl::memory::data_type::u8,
                    Format::a);
    if (desc.get_size() == 0) return;
    memories_.emplace_back(desc, engine(), frame_.scratch);
    step.bound.push_back({DNNL_ARG_SCRATCHPAD, memories_.back().get()});
  }

  // Sets complete_[i]: gradients below this offset of the arena are final after backward step i.
  void find_complete_ends() {
    if (!options_.training) return;
    const std::span<const ParameterSlot> slots = layout_->slots();
    std::vector<bool> done(slots.size(), false);
    std::size_t next = 0;  // frozen slots come last and never become complete
    for (const Step& step : plan_.backward) {
      for (const std::size_t slot : step.completes) done[slot] = true;
      while (next < slots.size() && done[next]) ++next;
      complete_.push_back(next == 0 ? 0 : slots[next - 1].offset + slots[next - 1].size);
    }
    assert(next == slots.size() || slots[next].spec.frozen);
  }

  // Returns no moments after the last segment.
  std::span<double> moments_after(const std::vector<Step>& list, std::size_t end) const {
    if (end == 0 || list[end - 1].moments.count == 0) return {};
    const Moments& moments = list[end - 1].moments;
    return {frame_.at<double>(moments.ref), moments.count};
  }

  std::vector<dnnl::memory> memories_;
  std::vector<std::pair<dnnl::memory, Ref>> outside_;  ///< arguments in the caller's arenas
  std::vector<std::size_t> complete_;
};

Network::Network(const Graph& graph, std::shared_ptr<const ParameterLayout> layout, PlanOptions options)
    : plan_(std::make_unique<Compiled>(graph, std::move(layout), options)) {}
Network::~Network() = default;
Network::Network(Network&&) noexcept = default;

const PlanOptions& Network::options() const { return plan_->options_; }

void Network::bind(const float* parameters, float* gradients, const std::byte* working) {
  plan_->bind(parameters, gradients, working);
}

std::span<float> Network::input() { return plan_->input_as<float>(kFloat); }
std::span<std::int32_t> Network::tokens() { return plan_->input_as<std::int32_t>(Type::s32); }

std::span<const float> Network::output() const {
  return {plan_->frame_.at(plan_->plan_.output), elements_of(plan_->plan_.output.desc)};
}

void Network::forward(const StepKey& key) {
  plan_->start(key);
  for (std::size_t i = 0; i < plan_->forward_segments_.count(); ++i) plan_->forward(i);
}

std::span<const std::size_t> Network::forward_stops() const { return plan_->forward_segments_.stops; }
std::span<const std::size_t> Network::backward_stops() const { return plan_->backward_segments_.stops; }

std::span<double> Network::forward(const StepKey& key, std::size_t segment) {
  if (segment == 0) plan_->start(key);
  return plan_->forward(segment);
}

LossSums Network::loss(const Targets& targets, std::int64_t batch) {
  ensure(static_cast<std::int64_t>(targets.labels.size()) == samples(),
         "the labels have one entry for each sample");
  const Span span(Activity::kLoss);
  Frame& frame = plan_->frame_;
  frame.batch = batch;
  const Tensor& outputs = plan_->plan_.logits;
  const auto each = static_cast<std::int64_t>(elements_of(outputs.desc)) / samples();
  const LossInputs inputs{.outputs = frame.at(outputs),
                          .outputs_per_sample = each,
                          .labels = targets.labels,
                          .sample_weights = targets.weights,
                          .batch = batch,
                          .second_labels = targets.second_labels,
                          .shares = targets.shares,
                          .second_weights = targets.second_weights,
                          .soft_labels = targets.soft_labels,
                          .classes = plan_->plan_.classes};
  float* const gradient = frame.at(plan_->plan_.loss_gradient);
  const Loss& loss = *plan_->plan_.loss;
  if (!plan_->plan_.loss_reads_probabilities) return loss.compute(inputs, gradient);
  const std::span logits(frame.at(plan_->plan_.converted), elements_of(outputs.desc));
  return loss_of_probabilities(loss, inputs, logits, gradient);
}

void Network::start_backward(std::span<const float> gradient) {
  const Tensor& start = plan_->plan_.loss_gradient;
  ensure(gradient.size() == elements_of(start.desc), "the gradient has a value for each output");
  plan_->frame_.batch = samples();
  std::copy(gradient.begin(), gradient.end(), plan_->frame_.at(start));
}

std::span<const float> Network::input_gradient() const {
  const Tensor& gradient = plan_->plan_.input_gradient;
  return {plan_->frame_.at(gradient), elements_of(gradient.desc)};
}

void Network::backward(const Ready& ready) {
  for (std::size_t i = 0; i < plan_->backward_segments_.count(); ++i) plan_->backward(ready, i);
}

std::span<double> Network::backward(const Ready& ready, std::size_t segment) {
  return plan_->backward(ready, segment);
}

std::string Network::first_non_finite(const StepKey& key) {
  const auto finite_parameters = [&](const std::string& node) {
    for (const ParameterSlot& slot : plan_->layout_->slots()) {
      const bool own = slot.name == node + "." + slot.spec.name;
      if (own && !all_finite(std::span(plan_->frame_.parameters + slot.offset, slot.size))) return false;
    }
    return true;
  };
  if (!all_finite(input())) return "input";
  plan_->start(key);
  for (const Step& step : plan_->plan_.forward) {
    // A ReLU in oneDNN turns NaN into 0, so the output may hide bad weights.
    if (!finite_parameters(step.info.node)) return step.info.node;
    plan_->run(step);
    if (step.output && !plan_->finite(step.output)) return step.info.node;
  }
  return {};
}

std::vector<PlanStep> Network::steps() const {
  std::vector<PlanStep> steps;
  for (const auto* list : {&plan_->plan_.forward, &plan_->plan_.backward}) {
    for (const Step& step : *list) steps.push_back(step.info);
  }
  return steps;
}

std::size_t Network::activation_bytes() const { return plan_->arena_.size(); }

std::vector<double> Network::time_steps(int repeats) {
  constexpr int kLeast = 3;
  constexpr double kEnough = 0.05;  // 50 ms
  std::vector<double> seconds;
  for (const auto* list : {&plan_->plan_.forward, &plan_->plan_.backward}) {
    for (const Step& step : *list) {
      double best = INFINITY;
      const os::Stopwatch all;
      for (int i = 0; i < repeats && (i < kLeast || all.seconds() < kEnough); ++i) {
        const os::Stopwatch run;
        plan_->run(step);
        best = std::min(best, run.seconds());
      }
      seconds.push_back(best);
    }
  }
  return seconds;
}

std::size_t predict_activation_bytes(const Graph& graph, const ParameterLayout& layout,
                                     const PlanOptions& options) {
  const CompiledPlan plan = compile(graph, &layout, options);
  return place_buffers(plan).bytes + plan.scratchpad_bytes;
}

}  // namespace convoke::nn
