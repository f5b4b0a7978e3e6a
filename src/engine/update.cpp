#include "convoke/engine/update.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "convoke/core/error.hpp"
#include "convoke/core/fixed_point.hpp"
#include "convoke/optim/passes.hpp"

namespace convoke::engine {
namespace {

// Slices of the arena that different threads write begin at cache lines.
constexpr std::size_t kSliceFloats = 16;
// The size of a sum, and of the pieces that threads share if parameters must be kept separate: small enough
// to distribute evenly, large enough to be worth a call. It is constant, because sums over blocks depend on
// it.
constexpr std::size_t kBlockFloats = std::size_t{1} << 14;

bool is_vector(const nn::ParameterSlot& slot) { return slot.spec.shape.rank() <= 1; }

constexpr auto has_penalty = [](const auto& block) { return block.l1 != 0 || block.l2 != 0; };

/// Returns part `part` of [0, size).
Range even_part(std::size_t size, int part, int parts) {
  const auto cut = [&](int i) {
    return size * static_cast<std::size_t>(i) / static_cast<std::size_t>(parts);
  };
  return {cut(part), cut(part + 1)};
}

}  // namespace

Range slice_of(std::size_t size, int part, int parts) {
  const auto cut = [&](int i) {
    if (i == parts) return size;
    return size * static_cast<std::size_t>(i) / static_cast<std::size_t>(parts) / kSliceFloats * kSliceFloats;
  };
  return {cut(part), cut(part + 1)};
}

Update::Update(const nn::ParameterLayout& layout, const UpdateOptions& options,
               const optim::Optimizer& optimizer, std::span<float> parameters, Sums sums, WorkerTeam& team)
    : layout_(layout),
      options_(options),
      optimizer_(optimizer),
      parameters_(parameters),
      sums_(sums),
      team_(team),
      average_(options.ema > 0 ? layout.size() : 0),
      blocks_(cut_blocks()),
      parts_(share_out(team.size())),
      prepares_(options.clip_norm > 0 || std::any_of(blocks_.begin(), blocks_.end(), has_penalty)),
      prepare_([this](int thread) { prepare(thread); }),
      apply_([this](int thread) { apply(thread); }) {
  for (std::size_t slot = 0; slot < optimizer.state_slots(); ++slot) {
    states_.emplace_back(layout.trainable_size());
  }
}

Update::Part Update::part_of(const nn::ParameterSlot& slot, Range range) {
  return {range, is_vector(slot), slot.spec.rate_factor, slot.spec.frozen_steps};
}

std::vector<Update::Block> Update::cut_blocks() const {
  std::vector<Block> blocks;
  for (const nn::ParameterSlot& slot : layout_.slots()) {
    if (!slot.spec.trainable) continue;
    const std::size_t end = slot.offset + slot.size;
    for (std::size_t begin = slot.offset; begin < end; begin += kBlockFloats) {
      blocks.push_back({.part = part_of(slot, {begin, std::min(begin + kBlockFloats, end)}),
                        .l1 = slot.spec.l1,
                        .l2 = slot.spec.l2});
    }
  }
  return blocks;
}

std::vector<std::vector<Update::Part>> Update::share_out(int threads) const {
  if (optimizer_.scope() == optim::Scope::kWholeParameter) return whole_parameters(threads);
  std::vector<std::vector<Part>> parts(static_cast<std::size_t>(threads));
  for (int thread = 0; thread < threads; ++thread) {
    std::vector<Part>& mine = parts[static_cast<std::size_t>(thread)];
    if (optimizer_.scope() == optim::Scope::kElements) {
      mine = parts_within(slice_of(layout_.trainable_size(), thread, threads));
    } else {
      const Range some = even_part(blocks_.size(), thread, threads);
      for (std::size_t i = some.begin; i < some.end; ++i) mine.push_back(blocks_[i].part);
    }
  }
  return parts;
}

// Returns the parts of `range` that have the same update, across parameters. There is one part, unless there
// are groups.
std::vector<Update::Part> Update::parts_within(Range range) const {
  std::vector<Part> parts;
  for (const nn::ParameterSlot& slot : layout_.slots()) {
    if (!slot.spec.trainable) continue;
    const Part part =
        part_of(slot, {std::max(range.begin, slot.offset), std::min(range.end, slot.offset + slot.size)});
    if (part.range.begin >= part.range.end) continue;
    const bool continues = !parts.empty() && parts.back().rate_factor == part.rate_factor &&
                           parts.back().frozen_steps == part.frozen_steps;
    if (continues) {
      parts.back().range.end = part.range.end;
    } else {
      parts.push_back(part);
    }
  }
  return parts;
}

// Takes the largest parameter first, and gives each to the thread with the least work.
std::vector<std::vector<Update::Part>> Update::whole_parameters(int threads) const {
  std::vector<Part> all;
  for (const nn::ParameterSlot& slot : layout_.slots()) {
    if (slot.spec.trainable) all.push_back(part_of(slot, {slot.offset, slot.offset + slot.size}));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Part& a, const Part& b) { return a.range.size() > b.range.size(); });
  std::vector<std::vector<Part>> parts(static_cast<std::size_t>(threads));
  std::vector<std::size_t> floats(parts.size());
  for (const Part& part : all) {
    const auto least = std::min_element(floats.begin(), floats.end()) - floats.begin();
    parts[static_cast<std::size_t>(least)].push_back(part);
    floats[static_cast<std::size_t>(least)] += part.range.size();
  }
  return parts;
}

double Update::run(double learning_rate, std::int64_t step) {
  learning_rate_ = learning_rate;
  step_ = step;
  double penalty = 0;
  if (prepares_) {
    team_.run(prepare_);
    double squares = 0;
    for (const Block& block : blocks_) {
      penalty += block.penalty;
      squares += block.squares;
    }
    if (options_.clip_norm > 0) {
      factor_ = static_cast<float>(optim::clip_factor(std::sqrt(squares), options_.clip_norm));
    }
  }
  team_.run(apply_);
  return penalty;
}

void Update::prepare(int thread) {
  const Range mine = even_part(blocks_.size(), thread, team_.size());
  for (std::size_t i = mine.begin; i < mine.end; ++i) {
    Block& block = blocks_[i];
    const Range range = block.part.range;
    const std::span<float> gradients = sums_.floats.subspan(range.begin, range.size());
    to_floats(range);
    if (has_penalty(block)) {
      block.penalty =
          optim::add_penalty(parameters_.subspan(range.begin, range.size()), block.l1, block.l2, gradients);
    }
    if (options_.clip_norm > 0) block.squares = optim::sum_of_squares(gradients);
  }
}

void Update::apply(int thread) {
  for (const Part& part : parts_[static_cast<std::size_t>(thread)]) {
    if (!prepares_) to_floats(part.range);
    clip(part.range);
    optimize(part);
    update_average(part.range);
  }
  const std::size_t trainable = layout_.trainable_size();
  const Range share = slice_of(layout_.gradient_size() - trainable, thread, team_.size());
  const Range statistics{trainable + share.begin, trainable + share.end};
  to_floats(statistics);
  update_statistics(statistics);
  update_average(statistics);
  if (thread == 0 && average_.size() > 0) {  // the average of frozen parameters equals them bit for bit
    const Range frozen{layout_.gradient_size(), layout_.size()};
    std::copy_n(parameters_.begin() + static_cast<std::ptrdiff_t>(frozen.begin), frozen.size(),
                average_.data() + frozen.begin);
  }
}

void Update::to_floats(Range range) {
  if (sums_.fixed.empty()) return;
  fixed_point_to_float(sums_.fixed.subspan(range.begin, range.size()),
                       sums_.floats.subspan(range.begin, range.size()));
}

void Update::clip(Range range) {
  const std::span<float> gradients = sums_.floats.subspan(range.begin, range.size());
  if (options_.clip_value > 0) optim::clip_by_value(gradients, static_cast<float>(options_.clip_value));
  if (factor_ != 1) optim::scale(gradients, factor_);
}

void Update::optimize(const Part& part) {
  const auto& [begin, end] = part.range;
  std::array<float*, 4> states{};
  ensure(states_.size() <= states.size(), "an optimizer has at most four states");
  for (std::size_t slot = 0; slot < states_.size(); ++slot) states[slot] = states_[slot].data() + begin;
  const optim::Slice slice(parameters_.subspan(begin, end - begin), sums_.floats.subspan(begin, end - begin),
                           std::span(states).first(states_.size()), step_ - part.frozen_steps,
                           part.is_vector);
  optimizer_.step(slice, learning_rate_ * part.rate_factor);
}

//   running = momentum * running + (1 - momentum) * mean over the step's lanes
void Update::update_statistics(Range range) {
  const float* now = sums_.floats.data();
  for (const nn::ParameterSlot& slot : layout_.slots()) {
    if (!slot.spec.statistic() || slot.spec.momentum == 1) continue;  // 1: unchanged, bit for bit
    const auto momentum = static_cast<float>(slot.spec.momentum);
    const std::size_t begin = std::max(range.begin, slot.offset);
    const std::size_t end = std::min(range.end, slot.offset + slot.size);
    for (std::size_t i = begin; i < end; ++i) {
      parameters_[i] = momentum * parameters_[i] + (1 - momentum) * now[i];
    }
  }
}

// The statistics are averaged too, because the last step's statistics do not fit the averaged weights. The
// first step has no earlier average (as in Keras).
void Update::update_average(Range range) {
  if (average_.size() == 0) return;
  optim::update_average(parameters_.subspan(range.begin, range.size()), step_ == 1 ? 0 : options_.ema,
                        average_.span().subspan(range.begin, range.size()));
}

}  // namespace convoke::engine
