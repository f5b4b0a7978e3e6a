#include "convoke/train/job.hpp"

#include "convoke/core/random.hpp"

namespace convoke::train {

engine::EngineOptions Job::engine_for(std::uint64_t seed) const {
  engine::EngineOptions options = engine;
  options.seed = seed;
  return options;
}

std::uint64_t member_seed(std::uint64_t seed, std::int64_t member) {
  if (member == 0) return seed;
  // Shuffles never reach this epoch, so no other stream has this key.
  return RandomStream({seed, Purpose::kShard, 0xFFFFFFFF, static_cast<std::uint64_t>(member)}).next_word();
}

}  // namespace convoke::train
