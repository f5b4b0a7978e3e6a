#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "convoke/nn/losses/loss.hpp"
#include "convoke/nn/zoo_parts.hpp"
#include "convoke/optim/optimizer.hpp"
#include "convoke/optim/schedule.hpp"
#include "convoke/recipe/section_reader.hpp"
#include "convoke/train/early_stopping.hpp"
#include "sections.hpp"

namespace convoke::recipe {
namespace {

constexpr std::array kModes{Name{"sync"}, Name{"ensemble"}};
constexpr std::array<Named<engine::Reduction>, 2> kReductions{
    {{"fast", engine::Reduction::kFast}, {"exact", engine::Reduction::kExact}}};
constexpr std::array<Named<nn::ConvolutionChoice>, 3> kConvolutions{
    {{"auto", nn::ConvolutionChoice::kAuto},
     {"direct", nn::ConvolutionChoice::kDirect},
     {"winograd", nn::ConvolutionChoice::kWinograd}}};

constexpr std::array<Named<nn::Precision>, 2> kPrecisions{
    {{"fp32", nn::Precision::kFloat32}, {"bf16", nn::Precision::kBfloat16}}};

// Calls `work`; an Error of it gets the place of `table` in front.
template <class Work>
void placed(const Settings& table, Work work) {
  try {
    work();
  } catch (const Error& error) {
    throw Error(table.where() + ": " + error.what(), error.hint());
  }
}

// Up to three divisors of `batch` on either side of `lane`: "8, 16, 32".
std::string lanes_near(std::int64_t batch, std::int64_t lane) {
  std::vector<std::string> near;
  std::int64_t below = std::min(lane, batch + 1);
  for (int found = 0; found < 3 && --below >= 1;) {
    if (batch % below != 0) continue;
    near.insert(near.begin(), fmt::format("{}", below));
    ++found;
  }
  std::int64_t above = std::min(lane, batch);
  for (int found = 0; found < 3 && ++above <= batch;) {
    if (batch % above != 0) continue;
    near.push_back(fmt::format("{}", above));
    ++found;
  }
  return join(near);
}

void check_lane(const SectionReader& read, const TrainRecipe& train) {
  if (train.lane == 0 || train.batch % train.lane == 0) return;
  read.fail("lane", fmt::format("lane {} does not divide batch {}", train.lane, train.batch),
            fmt::format("lanes that do: {}; or lane = \"auto\"", lanes_near(train.batch, train.lane)));
}

// name, learning_rate, and every option of the optimizer with its value.
Settings resolved_optimizer(Settings written, double& learning_rate) {
  if (written.find("name") == nullptr) written.set("name", "adam");
  SettingsReader read(written, "optimizer");
  const std::string name = read.require_string("name");
  learning_rate = read.get("learning_rate", learning_rate);
  read.check("learning_rate", learning_rate > 0 && std::isfinite(learning_rate), "a number above 0");
  Settings resolved{{"name", name}, {"learning_rate", learning_rate}};
  const Settings options = optim::make_optimizer(written)->settings();
  for (const auto& [key, value] : options.entries()) {
    if (key != "learning_rate") resolved.set(key, value);
  }
  resolved.set_where(written.where());
  return resolved;
}

Settings resolved_loss(const Settings& written) {
  Settings resolved = nn::make_loss(written)->settings();
  resolved.set_where(written.where());
  return resolved;
}

Settings resolved_schedule(const Settings& written) {
  Settings resolved = optim::make_schedule(written)->settings();
  resolved.set_where(written.where());
  return resolved;
}

Settings resolved_early_stopping(const Settings& written) {
  Settings resolved = train::EarlyStopping::read(written).settings();
  resolved.set_where(written.where());
  return resolved;
}

// "balanced", or a list that becomes an option of the loss.
void read_class_weights(SectionReader& read, TrainRecipe& train) {
  const Value* const written = read.find("class_weights");
  if (written == nullptr) return;
  constexpr std::array kRules{Name{"balanced"}, Name{"none"}};
  const bool by_name = std::holds_alternative<std::string>(written->data());
  if (by_name && read.get_entry("class_weights", "", kRules, "rule for class weights").name == "none") return;
  if (train.loss.find("class_weights") != nullptr) {
    read.fail("class_weights", "class weights are given here and in train.loss", "leave one of them out");
  }
  train.balance_classes = by_name;
  if (by_name) return;
  train.loss.set("class_weights", *written);
  read.at("class_weights", [&] { train.loss = resolved_loss(train.loss); });
}

engine::UpdateOptions read_update(SectionReader& read) {
  engine::UpdateOptions update;
  for (const auto& [key, value] :
       {std::pair("clip_value", &update.clip_value), {"clip_norm", &update.clip_norm}}) {
    *value = read.get(key, 0.0);
    read.check(key, *value >= 0 && std::isfinite(*value), "at least 0; 0: no clipping");
  }
  if (update.clip_value > 0 && update.clip_norm > 0) {
    read.fail("clip_norm", "gradients are clipped by value or by norm, not by both",
              "set clip_value or clip_norm to 0");
  }
  update.ema = read.get("ema", 0.0);
  read.check("ema", update.ema >= 0 && update.ema < 1, "at least 0 and below 1; 0: no average");
  return update;
}

// Checked against the model's nodes, so that a pattern that names none is refused with its line.
std::vector<nn::RateGroup> read_groups(const std::vector<Settings>& tables, const ModelRecipe& model) {
  std::vector<nn::RateGroup> groups;
  for (const Settings& table : tables) {
    nn::RateGroup group = nn::RateGroup::read(table);
    nn::Graph graph = graph_of(model);
    placed(table, [&] {
      group.nodes = nn::resolve_parts(model.zoo, graph, group.nodes);
      nn::apply({&group, 1}, graph);
    });
    groups.push_back(std::move(group));
  }
  return groups;
}

std::vector<train::Stage> read_stages(const std::vector<Settings>& tables, const ModelRecipe& model) {
  std::vector<train::Stage> stages;
  for (const Settings& table : tables) {
    stages.push_back(train::Stage::read(table));
    placed(table, [&] {
      train::Stage& stage = stages.back();
      if (stages.size() > 1 && stage.epoch <= stages[stages.size() - 2].epoch) {
        throw Error(fmt::format("train.stages: a stage at epoch {} after one at epoch {}", stage.epoch,
                                stages[stages.size() - 2].epoch),
                    "write the stages by rising epoch");
      }
      stage.unfreeze = nn::resolve_parts(model.zoo, graph_of(model), stage.unfreeze);
      train::unfrozen_by(stages, graph_of(model), 1);  // throws for what names nothing that is frozen
    });
  }
  return stages;
}

template <class List>
Value::Array tables_of(const List& list) {
  Value::Array tables;
  for (const auto& entry : list) tables.emplace_back(entry.settings());
  return tables;
}

template <class Table, class T>
std::string name_of(const Table& table, T value) {
  const auto it =
      std::find_if(table.begin(), table.end(), [&](const auto& entry) { return entry.value == value; });
  if (it == table.end()) throw Error("this choice has no name");
  return std::string(it->name);
}

}  // namespace

std::string to_string(engine::Reduction reduction) { return name_of(kReductions, reduction); }
std::string to_string(nn::ConvolutionChoice convolution) { return name_of(kConvolutions, convolution); }
std::string to_string(nn::Precision precision) { return name_of(kPrecisions, precision); }

TrainRecipe read_train(const TomlDocument& document, const ModelRecipe& model) {
  SectionReader read(document, "train");
  TrainRecipe train;
  train.mode = read.get_entry("mode", train.mode, kModes, "mode").name;
  train.epochs = read.get_count("epochs", train.epochs, 0);
  train.batch = read.get_count("batch", train.batch, 1);
  train.lane = read.get_count_or("lane", "auto");
  check_lane(read, train);
  train.reduction = read.get_entry("reduction", to_string(train.reduction), kReductions, "reduction").value;
  train.convolution =
      read.get_entry("convolution", to_string(train.convolution), kConvolutions, "convolution").value;
  train.precision = read.get_entry("precision", to_string(train.precision), kPrecisions, "precision").value;
  train.emulate_bf16 = read.get("emulate_bf16", train.emulate_bf16);
  train.loss = resolved_loss(read.table("loss"));
  read_class_weights(read, train);
  train.reference_batch = read.get_count("reference_batch", train.reference_batch, 0);
  train.update = read_update(read);
  train.optimizer = resolved_optimizer(read.table("optimizer"), train.learning_rate);
  train.schedule = resolved_schedule(read.table("schedule"));
  train.validate_every = read.get_count("validate_every", train.validate_every, 0);
  train.early_stopping = resolved_early_stopping(read.table("early_stopping"));
  train.top_k = read.get_count("top_k", train.top_k, 0);
  train.groups = read_groups(read.tables("groups"), model);
  train.stages = read_stages(read.tables("stages"), model);
  read.finish();
  return train;
}

Settings write(const TrainRecipe& train) {
  Settings settings{{"mode", train.mode},
                    {"epochs", train.epochs},
                    {"batch", train.batch},
                    {"lane", count_or(train.lane, "auto")},
                    {"reduction", to_string(train.reduction)},
                    {"convolution", to_string(train.convolution)},
                    {"precision", to_string(train.precision)},
                    {"emulate_bf16", train.emulate_bf16},
                    {"loss", train.loss},
                    {"class_weights", train.balance_classes ? "balanced" : "none"},
                    {"reference_batch", train.reference_batch},
                    {"clip_value", train.update.clip_value},
                    {"clip_norm", train.update.clip_norm},
                    {"ema", train.update.ema},
                    {"optimizer", train.optimizer},
                    {"schedule", train.schedule},
                    {"validate_every", train.validate_every},
                    {"top_k", train.top_k}};
  if (!train.early_stopping.empty()) settings.set("early_stopping", train.early_stopping);
  if (!train.groups.empty()) settings.set("groups", tables_of(train.groups));
  if (!train.stages.empty()) settings.set("stages", tables_of(train.stages));
  return settings;
}

}  // namespace convoke::recipe
