#include "convoke/train/distillation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "convoke/data/batch_loader.hpp"
#include "convoke/engine/evaluator.hpp"
#include "convoke/engine/shares.hpp"
#include "convoke/mpi/together.hpp"

namespace convoke::train {
namespace {

constexpr std::array kDistillationKeys{
    key<&Distillation::teacher>(
        {.name = "teacher",
         .required = true,
         .help = "a model file or a run folder; an ensemble teaches the mean of its members' probabilities"}),
    key<&Distillation::temperature>(
        {.name = "temperature",
         .range = {.least = 1e-6},  // below, logits divided by it leave the range of numbers
         .help = "the probabilities are those of outputs divided by this number; larger numbers show more of "
                 "the classes that the teacher thinks less likely"}),
    key<&Distillation::weight>({.name = "weight",
                                .range = {.least = 0, .largest = 1},
                                .help = "share of the teacher's part in the loss; the labels have the rest"}),
};

//   q_k = p_k^(1 / T) / sum_j p_j^(1 / T);   adds share * q to `sum`
//
// If all powers are too small for a double, which happens at tiny temperatures, p is divided by its largest
// value.
void add_softened(std::span<const float> p, double temperature, double share, float* sum) {
  double unit = 1;
  const auto power = [&](float value) {
    return std::pow(static_cast<double>(value) / unit, 1 / temperature);
  };
  const auto total_of_powers = [&] {
    double total = 0;
    for (const float value : p) total += power(value);
    return total;
  };
  double total = total_of_powers();
  if (total < std::numeric_limits<double>::min()) {
    unit = static_cast<double>(*std::ranges::max_element(p));
    total = total_of_powers();
  }
  for (std::size_t k = 0; k < p.size(); ++k) sum[k] += static_cast<float>(share * power(p[k]) / total);
}

}  // namespace

Distillation Distillation::read(const Settings& settings) {
  Distillation options;
  if (settings.empty()) return options;
  SettingsReader read(settings, "distill");
  read_keys(kDistillationKeys, read, options);
  read.finish();
  return options;
}

Settings Distillation::settings() const {
  Settings settings;
  if (!teacher.empty()) write_keys(kDistillationKeys, *this, settings);
  return settings;
}

std::vector<OptionTable> Distillation::tables() { return {{"", describe_keys(kDistillationKeys)}}; }

SoftLabels::SoftLabels(const run::ModelSet& teacher, double temperature, const data::Split& split,
                       std::span<const std::uint32_t> ids, const engine::EngineOptions& engine,
                       const mpi::Communicator& node, const std::filesystem::path& file)
    : memory_(node, static_cast<std::size_t>(split.count() * teacher.description.classes()) * sizeof(float),
              run::half_of_free_memory(node), file) {
  const auto classes = static_cast<std::size_t>(teacher.description.classes());
  const std::size_t count = ids.size(), micro_batch = static_cast<std::size_t>(engine.micro_batch);
  const engine::MicroBatchRange mine = engine::share_of(
      {0, static_cast<std::int64_t>((count + micro_batch - 1) / micro_batch)}, node.rank(), node.size());
  const std::size_t begin = std::min(static_cast<std::size_t>(mine.first) * micro_batch, count);
  const std::size_t end = std::min(static_cast<std::size_t>(mine.first + mine.count) * micro_batch, count);
  const std::size_t segment = micro_batch * static_cast<std::size_t>(engine.threads);
  auto* const sums = reinterpret_cast<float*>(memory_.bytes().data());
  if (node.root()) std::fill(sums, sums + memory_.bytes().size() / sizeof(float), 0.0F);
  memory_.publish();
  mpi::together(node, [&] {
    const data::BatchLoader loader = teacher.description.loader(split);
    engine::Evaluator evaluator(teacher.description.graph, {.threads = engine.threads,
                                                            .chunk = engine.micro_batch,
                                                            .convolution = engine.convolution,
                                                            .loss = teacher.description.loss,
                                                            .classes = teacher.description.classes()});
    const double share = 1.0 / static_cast<double>(teacher.members.size());
    for (const run::Member& member : teacher.members) {
      evaluator.load(member.parameters);
      for (std::size_t first = begin; first < end; first += segment) {
        const std::span<const std::uint32_t> part = ids.subspan(first, std::min(segment, end - first));
        const std::vector<float> rows = evaluator.predict(loader, part);
        for (std::size_t i = 0; i < part.size(); ++i) {
          add_softened(std::span(rows).subspan(i * classes, classes), temperature, share,
                       sums + part[i] * classes);
        }
      }
    }
  });
  memory_.publish();
}

std::span<const float> SoftLabels::values() const {
  return {reinterpret_cast<const float*>(memory_.bytes().data()), memory_.bytes().size() / sizeof(float)};
}

}  // namespace convoke::train
