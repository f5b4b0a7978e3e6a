#include "convoke/train/reports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "convoke/core/error.hpp"
#include "convoke/core/lookup.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/train/verdict.hpp"

namespace convoke::train {

namespace {

constexpr std::size_t kMostUnwritten = 100'000;  // records

std::filesystem::path copy_of(int rank, const run::RunFolder& folder) {
  return folder.file(fmt::format("metrics-{}.jsonl", rank));
}

}  // namespace

void Reports::step_done(std::int64_t step, std::int64_t steps, const metrics::ProgressFields& fields) const {
  progress.update(step, fields);
  if (status == nullptr) return;
  status->publish({.title = title,
                   .epoch = fields.epoch,
                   .epochs = fields.epochs,
                   .step = step,
                   .steps = steps,
                   .loss = fields.loss,
                   .accuracy = fields.accuracy,
                   .images_per_second = fields.images_per_second});
}

void Reports::epoch_done(std::int64_t member, std::int64_t updates, const metrics::EpochFields& epoch) const {
  progress.epoch_line(epoch);
  if (logs == nullptr) return;
  Settings record{{"event", "epoch"},          {"member", member}, {"epoch", epoch.epoch},
                  {"epochs", epoch.epochs},    {"step", updates},  {"loss", epoch.loss},
                  {"accuracy", epoch.accuracy}};
  if (!std::isnan(epoch.validation_loss)) record.set("validation_loss", epoch.validation_loss);
  if (!std::isnan(epoch.validation_objective)) record.set("validation_objective", epoch.validation_objective);
  if (!std::isnan(epoch.validation_accuracy)) record.set("validation_accuracy", epoch.validation_accuracy);
  if (!std::isnan(epoch.learning_rate)) record.set("learning_rate", epoch.learning_rate);
  record.set("images_per_second", epoch.images_per_second);
  record.set("seconds", epoch.seconds);
  logs->append(record);
}

void Reports::restored(std::int64_t member, const run::CheckpointState& state, const std::string& why) const {
  progress.warn(
      fmt::format("{}; training goes back to step {}, with {:g} times the learning rate (restore {})", why,
                  state.updates, state.feedback.factor, state.restores));
  if (logs == nullptr) return;
  logs->begin(member, state.updates);
  logs->append({{"event", "restore"},
                {"member", member},
                {"step", state.updates},
                {"restores", state.restores},
                {"learning_rate_factor", state.feedback.factor}});
}

RunLogs::RunLogs(const Job& job, const run::RunFolder& folder, int rank)
    : job_(job), folder_(folder), rank_(rank) {
  try {
    if (rank > 0) copy_.emplace(copy_of(rank, folder));
  } catch (const Error&) {  // this host does not see the folder
  }
  if (rank == 0) lines_.emplace(folder.metrics());
  if (rank == 0 && job.log.csv) csv_.emplace(folder.file("metrics.csv"));
}

RunLogs::~RunLogs() {
  try {
    write_lines();
  } catch (const std::exception& error) {
    fmt::print(stderr, "warning: {}; the last lines of metrics.jsonl are lost\n", error.what());
  }
}

void RunLogs::write_lines() {
  for (; lines_ && !unwritten_.empty(); unwritten_.pop_front()) lines_->append(unwritten_.front());
}

void RunLogs::append(const Settings& record) {
  unwritten_.push_back(record);
  try {
    write_lines();
    if (csv_) csv_->append(record);
    if (copy_) copy_->append(record);
    warned_ = false;
  } catch (const Error& error) {
    if (!std::exchange(warned_, true)) {
      fmt::print(stderr, "warning: {}; training goes on, and lines of metrics.jsonl are written later\n",
                 error.what());
    }
    if (lines_ && unwritten_.size() > kMostUnwritten) unwritten_.pop_front();
  }
  if (!events_) return;
  try {
    append_curves(*events_, record);
  } catch (const Error& error) {  // as a disk that is full: the curves have a gap then
    fmt::print(stderr, "warning: {}; training goes on\n", error.what());
  }
}

void RunLogs::remove_after(const std::map<std::int64_t, std::int64_t>& steps) {
  const auto unwanted = [&](const Settings& record) {
    const auto last = steps.find(count_at(record, "member").value_or(-1));
    return last != steps.end() && count_at(record, "step").value_or(0) > last->second;
  };
  std::erase_if(unwritten_, unwanted);
  if (lines_) lines_->remove_if(unwanted);
  if (csv_) csv_->remove_if(unwanted);
  if (copy_) copy_->remove_if(unwanted);
}

void RunLogs::begin(std::int64_t member, std::optional<std::int64_t> resumed_after) try {
  events_.reset();
  if (resumed_after) remove_after({{member, *resumed_after}});
  if (job_.log.tensorboard) events_.emplace(events_folder(job_, folder_, member), resumed_after);
} catch (const Error& error) {
  throw JobError(error.what(), error.hint());  // all members need the disk
}

bool RunLogs::append_of_another(const std::vector<Settings>& records) {
  std::map<std::int64_t, std::int64_t> before;  // the steps before those of `records`, by member
  for (const Settings& record : records) {
    const auto member = count_at(record, "member"), step = count_at(record, "step");
    if (!member || !step) continue;
    const auto known = before.emplace(*member, *step - 1).first;
    known->second = std::min(known->second, *step - 1);
  }
  try {
    remove_after(before);
  } catch (const Error& error) {
    fmt::print(stderr, "warning: {}; metrics.jsonl has some steps twice\n", error.what());
  }
  for (const Settings& record : records) append(record);
  return unwritten_.empty();
}

void RunLogs::append_copies() {
  std::error_code failed;
  std::set<std::filesystem::path> copies;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path(), failed)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("metrics-") && name.ends_with(".jsonl")) copies.insert(entry.path());
  }
  for (const std::filesystem::path& copy : copies) {
    try {
      if (!append_of_another(metrics::read_json_lines(copy))) continue;
    } catch (const Error& error) {
      const std::string kept = copy.string() + ".damaged";
      std::filesystem::rename(copy, kept, failed);
      fmt::print(stderr, "warning: {}; metrics.jsonl lacks its lines, which are kept in {}\n", error.what(),
                 kept);
      continue;
    }
    std::filesystem::remove(copy, failed);
  }
}

void RunLogs::append_evaluation(const Settings& record) {
  try {
    if (lines_) {
      lines_->remove_if([&](const Settings& line) {
        return text_at(line, "event") == "evaluation" && text_at(line, "split") == text_at(record, "split");
      });
    }
  } catch (const Error& error) {
    fmt::print(stderr, "warning: {}; metrics.jsonl keeps the evaluation of an earlier session\n",
               error.what());
  }
  append(record);
}

std::vector<Settings> RunLogs::end() {
  events_.reset();
  if (lines_) return {};
  const std::deque<Settings> kept = std::exchange(unwritten_, {});
  return {kept.begin(), kept.end()};
}

void RunLogs::remove_copy() {
  if (!copy_) return;
  copy_.reset();
  std::error_code failed;  // then the next job appends it again
  std::filesystem::remove(copy_of(rank_, folder_), failed);
}

Settings step_record(std::int64_t member, std::int64_t epoch, std::int64_t updates, double loss,
                     double accuracy, double learning_rate) {
  return {{"event", "step"},
          {"member", member},
          {"epoch", epoch},
          {"step", updates},
          {"loss", loss},
          {"accuracy", accuracy},
          {"learning_rate", learning_rate}};
}

Settings validation_record(std::int64_t member, std::int64_t epoch, std::int64_t updates,
                           const engine::Score& score) {
  Settings record{{"event", "validation"},
                  {"member", member},
                  {"epoch", epoch},
                  {"step", updates},
                  {"validation_loss", score.loss},
                  {"validation_accuracy", score.accuracy}};
  if (!std::isnan(score.objective)) record.set("validation_objective", score.objective);
  return record;
}

Settings early_stopping_record(std::int64_t member, const EarlyStopping& rule,
                               const run::CheckpointState& state) {
  return {{"event", "early_stopping"},
          {"member", member},
          {"step", state.updates},
          {"monitor", rule.monitor()},
          {"best_step", state.best.updates},
          {"best_validation_loss", state.best.loss},
          {"best_validation_accuracy", state.best.accuracy},
          {"restored", rule.restores_best()}};
}

Settings evaluation_record(const std::string& split, const Evaluation& evaluation) {
  Value::Array accuracies;
  Value::Array losses, objectives;
  for (const engine::Score& member : evaluation.members) {
    accuracies.emplace_back(member.accuracy);
    losses.emplace_back(member.loss);
    if (!std::isnan(member.objective)) objectives.emplace_back(member.objective);
  }
  Settings record{{"event", "evaluation"},
                  {"split", split},
                  {"samples", evaluation.samples},
                  {"member_accuracy", std::move(accuracies)},
                  {"member_loss", std::move(losses)},
                  {"disagreement", evaluation.diversity.disagreement()}};
  if (!objectives.empty()) record.set("member_objective", std::move(objectives));
  const double q = evaluation.diversity.q_statistic();
  if (!std::isnan(q)) record.set("q_statistic", q);
  for (const RuleOutcome& rule : evaluation.rules) record.set(rule.name + "_accuracy", accuracy(rule.all));
  for (const SoupOutcome& soup : evaluation.soups) {
    record.set(soup.name + "_soup_accuracy", soup.score.accuracy);
  }
  return record;
}

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
