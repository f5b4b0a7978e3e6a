#include <fmt/format.h>

#include <algorithm>

#include "convoke/core/lookup.hpp"
#include "convoke/core/text.hpp"
#include "convoke/nn/zoo.hpp"
#include "convoke/optim/optimizer.hpp"
#include "convoke/optim/schedule.hpp"
#include "sections.hpp"

namespace convoke::recipe {
namespace {

// Returns up to three divisors of `batch` on either side of `micro_batch`: "8, 16, 32".
std::string micro_batches_near(std::int64_t batch, std::int64_t micro_batch) {
  std::vector<std::string> near;
  std::int64_t below = std::min(micro_batch, batch + 1), above = std::min(micro_batch, batch);
  while (near.size() < 3 && --below >= 1)
    if (batch % below == 0) near.insert(near.begin(), fmt::format("{}", below));
  const std::size_t most = near.size() + 3;
  while (near.size() < most && ++above <= batch)
    if (batch % above == 0) near.push_back(fmt::format("{}", above));
  return join(near);
}

void check_micro_batch(const SettingsReader& read, const TrainRecipe& train) {
  if (train.step.micro_batch == 0 || train.step.batch % train.step.micro_batch == 0) return;
  read.fail_at(
      "micro_batch",
      fmt::format("micro-batch {} does not divide batch {}", train.step.micro_batch, train.step.batch),
      fmt::format("micro-batches that divide it: {}; or micro_batch = \"auto\"",
                  micro_batches_near(train.step.batch, train.step.micro_batch)));
}

// Checks patterns against the model's nodes, so that a pattern that matches no node is refused with its line.
// `tables`: as written.
void resolve_groups(const std::vector<Settings>& tables, const ModelRecipe& model, TrainRecipe& train) {
  for (std::size_t i = 0; i < tables.size(); ++i) {
    SettingsReader(tables[i], "train.groups").at([&] {
      nn::RateGroup& group = train.groups[i];
      nn::Graph graph = graph_of(model);
      group.nodes = nn::resolve_parts(model.zoo, graph, group.nodes);
      nn::apply({&group, 1}, graph);
    });
  }
}

void resolve_stages(const std::vector<Settings>& tables, const ModelRecipe& model, TrainRecipe& train) {
  for (std::size_t i = 0; i < tables.size(); ++i) {
    SettingsReader(tables[i], "train.stages").at([&] {
      train::Stage& stage = train.loop.stages[i];
      if (i > 0 && stage.epoch <= train.loop.stages[i - 1].epoch) {
        throw Error(fmt::format("train.stages: a stage at epoch {} after one at epoch {}", stage.epoch,
                                train.loop.stages[i - 1].epoch),
                    "write the stages in ascending order of epoch");
      }
      stage.unfreeze = nn::resolve_parts(model.zoo, graph_of(model), stage.unfreeze);
      // Throws if the pattern names no frozen node.
      train::unfrozen_by(std::span(train.loop.stages).first(i + 1), graph_of(model), 1);
    });
  }
}

// Without samples for validations, what needs them is refused.
void refuse_validation(SettingsReader& read, const TrainRecipe& train) {
  constexpr std::string_view kLack = "but data.validation_split is 0";
  if (train.loop.schedule->needs_validation()) {
    throw Error(
        fmt::format("{}: schedule \"{}\" needs the validation loss, {}", read.table("schedule").where(),
                    text_at(train.loop.schedule->settings(), "name"), kLack),
        "set data.validation_split, e.g. to 0.1, or choose another schedule");
  }
  if (train.loop.early_stopping.stops()) {
    throw Error(fmt::format("{}: early stopping needs validation samples, {}",
                            read.table("early_stopping").where(), kLack),
                "set data.validation_split, e.g. to 0.1, or remove early_stopping");
  }
  if (train.loop.validate_every > 0) {
    read.fail_at("validate_every", fmt::format("validate_every is {}, {}", train.loop.validate_every, kLack),
                 "set data.validation_split, e.g. to 0.1, or validate_every to 0");
  }
}

}  // namespace

void check_train(SettingsReader& read, const ModelRecipe& model, const DataRecipe& data, TrainRecipe& train) {
  check_micro_batch(read, train);
  if (train.step.update.clip_value > 0 && train.step.update.clip_norm > 0) {
    read.fail_at("clip_norm", "gradients are clipped by value or by norm, not by both",
                 "set clip_value or clip_norm to 0");
  }
  if (train.step.wire == sync::Wire::kBfloat16 && train.step.reduction == engine::Reduction::kExact) {
    read.fail_at("wire", "exact sums are sent in fixed point",
                 "remove train.wire, or set train.reduction = \"fast\"");
  }
  if (train.step.update.state_precision == nn::Precision::kBfloat16 &&
      train.loop.optimizer->scope() == optim::Scope::kWholeParameter) {
    read.fail_at("state_precision",
                 fmt::format("{} updates whole parameters at once, and keeps its state in fp32",
                             train.loop.optimizer->name()),
                 "remove train.state_precision, or choose another optimizer");
  }
  if (!data.validates()) refuse_validation(read, train);
  resolve_groups(read.tables("groups"), model, train);
  resolve_stages(read.tables("stages"), model, train);
}

}  // namespace convoke::recipe
