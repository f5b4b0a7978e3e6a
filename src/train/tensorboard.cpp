#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convoke/core/lookup.hpp"
#include "convoke/train/reports.hpp"
#include "convoke/train/verdict.hpp"

namespace convoke::train {
namespace {

using metrics::Scalar;

// Keys of records, and the curves that show them. TensorBoard groups curves by the part before the slash.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kCurves{
    {{"loss", "loss/train"},
     {"accuracy", "accuracy/train"},
     {"validation_loss", "loss/validation"},
     {"validation_objective", "objective/validation"},
     {"validation_accuracy", "accuracy/validation"},
     {"learning_rate", "learning_rate"},
     {"images_per_second", "images_per_second"}}};

std::filesystem::path all_events(const run::RunFolder& folder) { return folder.file("tensorboard"); }

}  // namespace

std::filesystem::path events_folder(const Job& job, const run::RunFolder& folder, std::int64_t member) {
  const std::filesystem::path all = all_events(folder);
  return job.is_ensemble ? all / fmt::format("member-{:03}", member) : all;
}

void append_curves(metrics::EventFile& events, const Settings& record) {
  std::vector<Scalar> scalars;
  const bool of_step = text_at(record, "event") == "step";
  for (const auto& [key, tag_of_epoch] : kCurves) {
    const std::string tag = of_step ? fmt::format("{}/step", key) : std::string(tag_of_epoch);
    const Value* const value = record.find(key);
    if (value == nullptr) continue;
    if (const auto* number = std::get_if<double>(&value->data())) scalars.push_back({tag, *number});
  }
  if (scalars.empty()) return;
  events.append(std::get<std::int64_t>(record.find("step")->data()), scalars);
}

void append_test(const Job& job, const run::RunFolder& folder, const Verdict& verdict) {
  std::int64_t last_step = 0;
  std::size_t voter = 0;
  for (const TrainedMember& member : verdict.members) {
    if (!member.failure.empty()) continue;
    const engine::Score& score = verdict.test.members[voter++];
    metrics::EventFile(events_folder(job, folder, member.model.index))
        .append(member.steps,
                std::array{Scalar{"loss/test", score.loss}, Scalar{"accuracy/test", score.accuracy}});
    last_step = std::max(last_step, member.steps);
  }
  if (!job.is_ensemble) return;
  std::vector<Scalar> votes;
  for (const RuleOutcome& rule : verdict.test.rules) {
    votes.push_back({fmt::format("accuracy/test_{}", rule.name), accuracy(rule.all)});
  }
  metrics::EventFile(all_events(folder)).append(last_step, votes);
}

}  // namespace convoke::train
