#include "convoke/engine/update.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "convoke/core/error.hpp"
#include "convoke/core/fixed_point.hpp"
#include "convoke/core/non_temporal.hpp"
#include "convoke/core/timeline.hpp"
#include "convoke/optim/passes.hpp"

namespace convoke::engine {
namespace {

// The size of a sum, and of the pieces that workers share if parameters must be kept separate: small enough
// to distribute evenly, large enough to be worth a call. It is constant, because sums over blocks depend on
// it.
constexpr std::size_t kBlockFloats = std::size_t{1} << 14;

// States in bf16 are converted in pieces of this size, which stay in the first level of the cache.
constexpr std::size_t kPieceFloats = 1024;

// Parameters are updated aside in pieces of this size: optimizers compute factors of a step in every call.
constexpr std::size_t kAsideFloats = 8192;

// The largest piece that an update makes in one call.
std::size_t piece_floats(const UpdateOptions& options, const optim::Optimizer& optimizer, int workers) {
  if (optimizer.scope() != optim::Scope::kWholeParameter) {
    if (options.state_precision != nn::Precision::kFloat32) return kPieceFloats;
    if (workers > 1) return kAsideFloats;
  }
  return std::numeric_limits<std::size_t>::max();
}

bool is_vector(const nn::ParameterSlot& slot) { return slot.spec.shape.rank() <= 1; }

constexpr auto has_penalty = [](const auto& block) { return block.l1 != 0 || block.l2 != 0; };

}  // namespace

Update::Update(const nn::ParameterLayout& layout, const UpdateOptions& options, std::uint64_t seed,
               const optim::Optimizer& optimizer, const ModelMemory& memory, NodeTeam& team)
    : layout_(layout),
      options_(options),
      seed_(seed),
      optimizer_(optimizer),
      memory_(memory),
      team_(team),
      parameters_(memory.parameters()),
      gradients_(memory.sums(0).floats),
      fixed_(memory.sums(0).fixed),
      blocks_(cut_blocks(layout)),
      parts_(share_out(team.size())),
      piece_floats_(piece_floats(options, optimizer, team.size())),
      prepares_(options.clip_norm > 0 || std::any_of(blocks_.begin(), blocks_.end(), has_penalty)),
      prepare_([this](int worker) { prepare(worker); }),
      apply_([this](int worker) { apply(worker); }) {
  ensure(optimizer.state_slots() <= kMostStates, "an optimizer has at most four states");
}

std::size_t Update::block_count(const nn::ParameterLayout& layout) { return cut_blocks(layout).size(); }

Update::Part Update::part_of(const nn::ParameterSlot& slot, Range range) {
  return {range, is_vector(slot), slot.spec.rate_factor, slot.spec.frozen_steps};
}

std::vector<Update::Block> Update::cut_blocks(const nn::ParameterLayout& layout) {
  std::vector<Block> blocks;
  for (const nn::ParameterSlot& slot : layout.slots()) {
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

std::vector<std::vector<Update::Part>> Update::share_out(int workers) const {
  if (optimizer_.scope() == optim::Scope::kWholeParameter) return whole_parameters(workers);
  std::vector<std::vector<Part>> parts(static_cast<std::size_t>(workers));
  for (int worker = 0; worker < workers; ++worker) {
    std::vector<Part>& mine = parts[static_cast<std::size_t>(worker)];
    if (optimizer_.scope() == optim::Scope::kElements) {
      mine = parts_within(slice_of(layout_.trainable_size(), worker, workers));
    } else {
      const Range some = even_part(blocks_.size(), worker, workers);
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

// Takes the largest parameter first, and gives each to the worker with the least work.
std::vector<std::vector<Update::Part>> Update::whole_parameters(int workers) const {
  std::vector<Part> all;
  for (const nn::ParameterSlot& slot : layout_.slots()) {
    if (slot.spec.trainable) all.push_back(part_of(slot, {slot.offset, slot.offset + slot.size}));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Part& a, const Part& b) { return a.range.size() > b.range.size(); });
  std::vector<std::vector<Part>> parts(static_cast<std::size_t>(workers));
  std::vector<std::size_t> floats(parts.size());
  for (const Part& part : all) {
    const auto least = std::min_element(floats.begin(), floats.end()) - floats.begin();
    parts[static_cast<std::size_t>(least)].push_back(part);
    floats[static_cast<std::size_t>(least)] += part.range.size();
  }
  return parts;
}

double Update::run(double learning_rate, std::int64_t step) {
  const Span span(Activity::kUpdate);
  learning_rate_ = learning_rate;
  step_ = step;
  double penalty = 0;
  if (prepares_) {
    team_.run(prepare_);
    double squares = 0;
    for (const ModelMemory::BlockSums& block : memory_.blocks()) {
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

void Update::skip(std::int64_t step) {
  step_ = step;
  update_average(0, parameters_.first(layout_.gradient_size()));
  copy_frozen_to_average();
}

void Update::reset_states(std::int64_t steps_done) {
  uncounted_ = steps_done;
  if (!memory_.node().root()) return;
  for (std::size_t slot = 0; slot < optimizer_.state_slots(); ++slot) memory_.state(slot).set_to_zero();
}

void Update::prepare(int worker) {
  const Range mine = even_part(blocks_.size(), worker, team_.size());
  for (std::size_t i = mine.begin; i < mine.end; ++i) {
    const Block& block = blocks_[i];
    ModelMemory::BlockSums& sums = memory_.blocks()[i];
    const Range range = block.part.range;
    const std::span<float> gradients = gradients_.subspan(range.begin, range.size());
    to_floats(range);
    if (has_penalty(block)) {
      sums.penalty =
          optim::add_penalty(parameters_.subspan(range.begin, range.size()), block.l1, block.l2, gradients);
    }
    if (options_.clip_norm > 0) sums.squares = optim::sum_of_squares(gradients);
  }
}

void Update::apply(int worker) {
  for (const Part& part : parts_[static_cast<std::size_t>(worker)]) {
    Part piece = part;
    for (const std::size_t end = part.range.end; piece.range.begin < end;
         piece.range.begin = piece.range.end) {
      piece.range.end = piece.range.begin + std::min(end - piece.range.begin, piece_floats_);
      update_piece(piece);
    }
  }
  const std::size_t trainable = layout_.trainable_size();
  const Range share = slice_of(layout_.gradient_size() - trainable, worker, team_.size());
  const Range statistics{trainable + share.begin, trainable + share.end};
  to_floats(statistics);
  update_statistics(statistics);
  update_average(statistics.begin, parameters_.subspan(statistics.begin, statistics.size()));
  if (worker == 0) copy_frozen_to_average();
  fence_non_temporal();
}

// All workers read the parameters in the next step.
void Update::update_piece(const Part& part) {
  const std::span<float> parameters = parameters_.subspan(part.range.begin, part.range.size());
  if (team_.size() == 1 || parameters.size() > kAsideFloats) return update_piece(part, parameters);
  alignas(64) std::array<float, kAsideFloats> values;
  const std::span<float> aside = std::span(values).first(parameters.size());
  std::ranges::copy(parameters, aside.begin());
  update_piece(part, aside);
  copy_non_temporal(aside, parameters);
}

void Update::update_piece(const Part& part, std::span<float> parameters) {
  if (!prepares_) to_floats(part.range);
  clip(part.range);
  optimize(part, parameters);
  update_average(part.range.begin, parameters);
}

void Update::to_floats(Range range) {
  if (fixed_.empty()) return;
  fixed_point_to_float(fixed_.subspan(range.begin, range.size()),
                       gradients_.subspan(range.begin, range.size()));
}

void Update::clip(Range range) {
  const std::span<float> gradients = gradients_.subspan(range.begin, range.size());
  if (options_.clip_value > 0) optim::clip_by_value(gradients, static_cast<float>(options_.clip_value));
  if (factor_ != 1) optim::scale(gradients, factor_);
}

void Update::optimize(const Part& part, std::span<float> parameters) {
  const auto& [begin, end] = part.range;
  const std::size_t slots = optimizer_.state_slots();
  std::array<float*, kMostStates> states{};
  const auto optimize = [&] {
    const optim::Slice slice(parameters, gradients_.subspan(begin, end - begin),
                             std::span(states).first(slots), step_ - std::max(part.frozen_steps, uncounted_),
                             part.is_vector);
    optimizer_.step(slice, learning_rate_ * part.rate_factor);
  };
  if (options_.state_precision == nn::Precision::kFloat32) {
    for (std::size_t slot = 0; slot < slots; ++slot)
      states[slot] = memory_.state(slot).floats().data() + begin;
    return optimize();
  }
  alignas(64) std::array<std::array<float, kPieceFloats>, kMostStates> values;
  const auto values_of = [&](std::size_t slot) { return std::span(values[slot]).first(end - begin); };
  for (std::size_t slot = 0; slot < slots; ++slot) {
    memory_.state(slot).read(begin, values_of(slot));
    states[slot] = values[slot].data();
  }
  optimize();
  const PhiloxKey key = philox_key(seed_, Purpose::kRounding, static_cast<std::uint32_t>(step_));
  for (std::size_t slot = 0; slot < slots; ++slot)
    memory_.state(slot).write(begin, values_of(slot), {key, static_cast<std::uint32_t>(slot)});
}

//   running = momentum * running + (1 - momentum) * mean over the step's micro-batches
void Update::update_statistics(Range range) {
  const float* now = gradients_.data();
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
void Update::update_average(std::size_t begin, std::span<const float> parameters) {
  if (memory_.average().empty()) return;
  optim::update_average(parameters, step_ == 1 ? 0 : options_.ema,
                        memory_.average().subspan(begin, parameters.size()));
}

// The average of frozen parameters equals them bit for bit.
void Update::copy_frozen_to_average() {
  if (memory_.average().empty()) return;
  const Range frozen{layout_.gradient_size(), layout_.size()};
  std::copy_n(parameters_.begin() + static_cast<std::ptrdiff_t>(frozen.begin), frozen.size(),
              memory_.average().data() + frozen.begin);
}

}  // namespace convoke::engine
