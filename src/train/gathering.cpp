#include "convoke/train/gathering.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/nn/layer_table.hpp"
#include "convoke/train/summary.hpp"

namespace convoke::train {
namespace {

std::string difference(const Settings& a, const Settings& b) {
  for (const auto& [key, value] : a.entries()) {
    const Value* other = b.find(key);
    if (other == nullptr) return fmt::format("has {} = {} in one", key, value.to_string());
    if (!(value == *other)) {
      return fmt::format("has {} = {} in one, {} in the other", key, value.to_string(), other->to_string());
    }
  }
  for (const auto& [key, value] : b.entries()) {
    if (a.find(key) == nullptr) return fmt::format("has {} = {} in the other", key, value.to_string());
  }
  return {};
}

// Returns the layers without a difference in "trainable": a vote does not depend on it, and files of earlier
// versions also have it for layers that a stage has unfrozen.
std::vector<Settings> layers_of(const nn::Graph& graph) {
  std::vector<Settings> layers = nn::describe_graph(graph);
  for (Settings& layer : layers) layer.set("trainable", true);
  return layers;
}

std::string difference(const nn::Graph& a, const nn::Graph& b) {
  if (!(a.input_shape() == b.input_shape())) {
    return fmt::format("the input is {} in one, {} in the other", a.input_shape().to_string(),
                       b.input_shape().to_string());
  }
  const std::vector<Settings> layers = layers_of(a), others = layers_of(b);
  for (std::size_t i = 0; i < std::min(layers.size(), others.size()); ++i) {
    if (std::string what = difference(layers[i], others[i]); !what.empty()) {
      return fmt::format("layer {} {}", i + 1, what);
    }
  }
  if (layers.size() == others.size()) return {};
  return fmt::format("one has {} layers, the other {}", layers.size(), others.size());
}

}  // namespace

std::string difference(const run::ModelDescription& a, const run::ModelDescription& b) {
  if (std::string what = difference(a.graph, b.graph); !what.empty()) return what;
  if (!(a.normalization == b.normalization)) {
    return "their inputs are normalized differently";
  }
  if (a.class_names != b.class_names || a.classes() != b.classes()) return "their class names differ";
  if (!(a.loss->settings() == b.loss->settings())) return "their losses differ";
  if (a.precision != b.precision) return "they were trained in different precisions";
  return {};
}

MemberRun read_member_run(const std::string& folder, const Settings& summary,
                          const std::filesystem::path& scratch, bool keep) {
  run::ModelSet models = run::load_models(folder);
  MemberRun run{folder, models.ensemble, std::move(models.description), {}};
  for (run::Member& model : models.members) {
    TrainedMember& member = run.members.emplace_back();
    member.model = std::move(model);
    add_member_facts(summary, member);
    if (keep) member.store(scratch);
    member.model.parameters = std::vector<float>();
  }
  return run;
}

Training assemble(const Job& job, std::vector<MemberRun> runs, bool partial) {
  std::map<std::int64_t, const MemberRun*> places;
  for (const MemberRun& run : runs) {
    if (!run.ensemble) {
      throw Error(fmt::format("{}: holds one synchronous model, not a member of an ensemble", run.folder),
                  "train members by `convoke train RECIPE --member K` with mode = \"ensemble\"");
    }
    for (const TrainedMember& member : run.members) {
      const std::int64_t index = member.model.index;
      if (const auto [it, is_new] = places.emplace(index, &run); !is_new) {
        throw Error(fmt::format("member {} is in {} and in {}", index, it->second->folder, run.folder),
                    "pass every run once, and one run of each member");
      }
      if (index >= job.ensemble.members) {
        throw Error(fmt::format("{}: holds member {}, but there are {}, counted from 0", run.folder, index,
                                job.ensemble.members));
      }
    }
  }
  std::vector<std::string> missing;
  for (std::int64_t member = 0; member < job.ensemble.members; ++member) {
    if (!places.contains(member)) missing.push_back(std::to_string(member));
  }
  if (!missing.empty() && !partial) {
    throw Error(
        fmt::format("{} has {} members, but the runs lack member {}", job.name, job.ensemble.members,
                    join(missing)),
        fmt::format("train it with `convoke train {} --member {}`, or let the others vote with --partial",
                    shell_word(runs.front().folder + "/recipe.toml"), missing.front()));
  }

  Training training;
  for (MemberRun& run : runs) {
    std::ranges::move(run.members, std::back_inserter(training.members));
  }
  return training;
}

}  // namespace convoke::train
