#include <algorithm>
#include <array>
#include <optional>

#include "convoke/core/error.hpp"
#include "convoke/core/lookup.hpp"
#include "convoke/data/dataset.hpp"
#include "convoke/run/model_file.hpp"
#include "convoke/train/grad_cam.hpp"
#include "results/results.hpp"

namespace convoke::app {
namespace {

/// The models of a run, and the split of its test.
struct Tested {
  run::ModelSet models;
  data::Dataset dataset;
};

std::optional<Tested> tested_by(const report::RunRecord& run) {
  try {
    Tested tested{run::load_models(run.folder),
                  data::Dataset::open(text_at(run.evaluation, "data"), {text_at(run.evaluation, "split")},
                                      data::private_storage(0))};
    if (tested.dataset.info().content_hash != text_at(run.evaluation, "content_hash")) return std::nullopt;
    return tested;
  } catch (const Error&) {
    return std::nullopt;  // the page says why it cannot show the samples
  }
}

// Adds a member's map, scaled to at most 1, to the mean over `members`.
void add_scaled(report::Overlay& mean, const train::ActivationMap& map, std::size_t members) {
  mean.height = map.height;
  mean.width = map.width;
  mean.values.resize(map.values.size());
  const auto largest = static_cast<double>(std::ranges::max(map.values));
  if (!(largest > 0)) return;
  for (std::size_t i = 0; i < map.values.size(); ++i)
    mean.values[i] += static_cast<double>(map.values[i]) / largest / static_cast<double>(members);
}

}  // namespace

report::RunRecord with_class_maps(report::RunRecord run) {
  std::vector<report::WorstMistake> mistakes = report::worst_mistakes(run);
  std::erase_if(mistakes, [](const report::WorstMistake& mistake) { return mistake.decision < 0; });
  if (mistakes.empty()) return run;
  const std::optional<Tested> tested = tested_by(run);
  if (!tested) return run;
  const run::ModelDescription& model = tested->models.description;
  const std::optional<std::size_t> node = train::GradCam::node_of(model);
  if (!node) return run;

  run.mapped_node = model.graph.node(*node).name;
  const data::BatchLoader loader = model.loader(tested->dataset.split(text_at(run.evaluation, "split")));
  train::GradCam cam(model);
  for (const run::Member& member : tested->models.members) {
    cam.load(member.parameters);
    for (const report::WorstMistake& mistake : mistakes) {
      const std::vector<train::ActivationMap> maps = cam.maps(
          loader, static_cast<std::uint32_t>(mistake.sample), std::array{mistake.decision, mistake.truth});
      report::MistakeMaps& mean = run.maps[mistake.sample];
      add_scaled(mean.predicted, maps[0], tested->models.members.size());
      add_scaled(mean.truth, maps[1], tested->models.members.size());
    }
  }
  return run;
}

}  // namespace convoke::app
