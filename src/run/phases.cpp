#include "convoke/run/phases.hpp"

#include <array>
#include <cstring>
#include <span>

namespace convoke::run {

PhaseSpreads spread_over_ranks(const Phases& mine, const mpi::Communicator& world) {
  const std::array<double, 8> values{
      mine.load,       mine.steps,      mine.compute(), mine.exposed_communication,
      mine.checkpoint, mine.evaluation, mine.gather,    mine.first_step};
  std::array<double, 8> max = values;
  std::array<double, 8> sum = values;
  std::array<double, 8> min = values;
  world.max(max);
  world.sum(sum);
  world.min(min);
  const auto spread = [&](std::size_t i) { return Spread{max[i], sum[i] / world.size(), min[i]}; };
  return {spread(0), spread(1), spread(2), spread(3), spread(4), spread(5), spread(6), spread(7)};
}

RankPhases phases_of_ranks(const Phases& mine, const mpi::Communicator& world) {
  using Row = std::array<double, 6>;
  const Row own{mine.load,       mine.steps,      mine.exposed_communication,
                mine.checkpoint, mine.evaluation, mine.gather};
  RankPhases all;
  for (const std::vector<std::byte>& bytes : world.gather(std::as_bytes(std::span(own)))) {
    Row row{};
    std::memcpy(row.data(), bytes.data(), sizeof row);
    all.load.push_back(row[0]);
    all.steps.push_back(row[1]);
    all.exposed_communication.push_back(row[2]);
    all.checkpoint.push_back(row[3]);
    all.evaluation.push_back(row[4]);
    all.gather.push_back(row[5]);
  }
  return all;
}

FeatureUse sum_over_ranks(const FeatureUse& mine, const mpi::Communicator& world) {
  std::array<std::int64_t, 4> sums{mine.computed, mine.read, mine.bytes, mine.file_bytes};
  double seconds = mine.seconds;
  world.sum(sums);
  world.max({&seconds, 1});
  return {sums[0], sums[1], sums[2], sums[3], seconds};
}

CheckpointUse sum_over_ranks(const CheckpointUse& mine, const mpi::Communicator& world) {
  std::array<std::int64_t, 2> sums{mine.written, mine.left_out};
  std::array<double, 2> longest{mine.longest_wait, mine.longest_writing};
  world.sum(sums);
  world.max(longest);
  return {sums[0], sums[1], longest[0], longest[1]};
}

}  // namespace convoke::run
