#include "convoke/engine/model_average.hpp"

#include <algorithm>

#include "convoke/engine/update.hpp"

namespace convoke::engine {
namespace {

constexpr std::size_t kMostFloats = std::size_t{1} << 20;

std::size_t count_pieces(std::size_t size, std::size_t piece) {
  return piece == 0 ? 0 : (size + piece - 1) / piece;
}

// Returns the size of pieces of equal size, at most kMostFloats, that cover `size` floats.
std::size_t piece_floats(std::size_t size) { return count_pieces(size, count_pieces(size, kMostFloats)); }

}  // namespace

ModelAverage::ModelAverage(StepEngine& engine, std::size_t slots, const mpi::Communicator& group,
                           const sync::Strategy& strategy, std::uint64_t seed)
    : engine_(engine),
      slots_(slots),
      seed_(seed),
      rule_(strategy.state_rule()),
      momentum_(static_cast<float>(strategy.momentum())),
      share_(1.0F / static_cast<float>(group.size())),
      channels_(group),
      piece_(piece_floats(engine.layout().gradient_size())),
      sum_(channels_, piece_.span()),
      begin_(momentum_ > 0 ? engine.layout().trainable_size() : 0),
      change_(begin_.size()) {}

ModelAverage::Sums ModelAverage::sums_of(StepEngine& engine, std::size_t slots, sync::StateRule rule) {
  const std::size_t changing = engine.layout().gradient_size();
  const std::size_t piece = piece_floats(changing);
  std::size_t count = count_pieces(changing, piece);
  if (!engine.average().empty()) count *= 2;
  if (rule == sync::StateRule::kAverage)
    count += slots * count_pieces(engine.layout().trainable_size(), piece);
  return {piece, count};
}

void ModelAverage::begin_round() { std::copy_n(engine_.parameters().begin(), begin_.size(), begin_.data()); }

void ModelAverage::run() {
  const std::size_t changing = engine_.layout().gradient_size();  // the others are frozen
  average(StateArray(engine_.parameters().first(changing)));
  if (momentum_ > 0) add_momentum();
  if (!engine_.average().empty()) average(StateArray(engine_.average().first(changing)));
  if (rule_ == sync::StateRule::kReset) engine_.reset_optimizer();
  if (rule_ != sync::StateRule::kAverage) return;
  for (std::size_t slot = 0; slot < slots_; ++slot)
    average(engine_.optimizer_state(slot), kMostStates + slot);
}

// `number`: of the array, for the random numbers of its rounding. They are the same on all ranks, and an
// update of the same step uses others.
void ModelAverage::average(const StateArray& values, std::size_t number) {
  const auto step = static_cast<std::uint32_t>(engine_.steps_done());
  const StochasticRounding rounding{philox_key(seed_, Purpose::kRounding, step),
                                    static_cast<std::uint32_t>(number)};
  for (std::size_t first = 0; first < values.size(); first += piece_.size()) {
    const std::span<float> part = piece_.span().first(std::min(piece_.size(), values.size() - first));
    values.read(first, part);
    sum_.start();
    sum_.combine(true);
    sum_.finish(true);
    for (float& value : part) value *= share_;
    values.write(first, part, rounding);
  }
}

//   x_t = m_t + momentum (x_{t-1} - x_{t-2})
void ModelAverage::add_momentum() {
  const std::span<float> parameters = engine_.parameters();
  for (std::size_t i = 0; i < change_.size(); ++i) {
    parameters[i] += momentum_ * change_[i];
    change_[i] = parameters[i] - begin_[i];
  }
}

}  // namespace convoke::engine
