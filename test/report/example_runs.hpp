#pragma once
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "convoke/core/settings.hpp"
#include "convoke/data/dataset_reader.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/report/run_record.hpp"

// Folders as written by runs.

namespace example {

using namespace convoke;

inline void write_json(const std::filesystem::path& file, const Settings& settings) {
  std::ofstream(file, std::ios::binary) << metrics::to_json(settings, true) << "\n";
}

/// An unfinished run: recipe, machine and three epochs of each of `members`, which are numbered 0, 2, 4, ...
inline void write_unfinished(const std::filesystem::path& folder, std::int64_t members, std::int64_t ranks) {
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "recipe.toml")
      << "name = \"tiny <net>\"\n[train]\nmode = \"ensemble\"\nepochs = 3\n";
  Value::Array placements;
  for (std::int64_t r = 0; r < ranks; ++r) {
    placements.emplace_back(Settings{{"rank", r}, {"host", "n1"}, {"cores", std::to_string(r)}});
  }
  write_json(folder / "environment.json", {{"date", "2026-01-02T03:04:05Z"},
                                           {"command", "convoke train it's.toml"},
                                           {"convoke", "1"},
                                           {"build", "b"},
                                           {"compiler", "12"},
                                           {"mpi", "Open MPI"},
                                           {"onednn", "2.6"},
                                           {"instruction_set", "AVX2"},
                                           {"cpu", "a processor"},
                                           {"logical_cpus", 2},
                                           {"nodes", 1},
                                           {"ranks", ranks},
                                           {"threads", 1},
                                           {"placements", std::move(placements)}});
  std::ofstream log(folder / "metrics.jsonl");
  for (std::int64_t m = 0; m < members; ++m) {
    for (std::int64_t epoch = 1; epoch <= 3; ++epoch) {
      const double part = 1.0 / static_cast<double>(epoch + m);
      log << metrics::to_json({{"event", "epoch"},
                               {"member", 2 * m},
                               {"epoch", epoch},
                               {"step", 10 * epoch},
                               {"loss", part},
                               {"accuracy", 1 - part / 4},
                               {"validation_loss", 1.5 * part},
                               {"validation_accuracy", 1 - part / 2},
                               {"learning_rate", 0.001},
                               {"images_per_second", 1000.0},
                               {"seconds", 0.1}})
          << "\n";
    }
  }
}

/// A complete run of `members` on the test split of `dataset`, whose classes have names: 40 samples, of which
/// the last one of each class is predicted as the previous class.
inline void write_run(const std::filesystem::path& folder, const std::filesystem::path& dataset,
                      std::int64_t members, std::int64_t ranks, double makespan) {
  write_unfinished(folder, members, ranks);
  const data::DatasetInfo info = data::DatasetReader(dataset).info();
  const std::int64_t k = info.classes;
  Value::Array numbers, tested, facts, prefix, confusion, precision, support, mistakes, names, pairs, qs,
      bins, seconds, calibrations;
  for (std::int64_t m = 0; m < members; ++m) {
    numbers.emplace_back(2 * m);
    tested.emplace_back(Settings{{"member", 2 * m}, {"accuracy", 0.85}, {"loss", 0.5}});
    facts.emplace_back(
        Settings{{"member", 2 * m}, {"seed", 7}, {"shard", "full"}, {"training_samples", 80}, {"epochs", 3}});
    prefix.emplace_back(0.85 + 0.01 * static_cast<double>(m));
    Value::Array row, q;
    for (std::int64_t b = 0; b < members; ++b) {
      row.emplace_back(b == m ? 0.0 : 0.125);
      q.emplace_back(b == m ? 1.0 : b + m == 1 ? 0.875 : std::numeric_limits<double>::quiet_NaN());
    }
    pairs.emplace_back(std::move(row));
    qs.emplace_back(std::move(q));
  }
  for (std::int64_t c = 0; c < k; ++c) {
    confusion.emplace_back(Value::Array{c, c, 9});
    confusion.emplace_back(Value::Array{c, (c + k - 1) % k, 1});
    precision.emplace_back(0.9);
    support.emplace_back(10);
    names.emplace_back(info.class_names[static_cast<std::size_t>(c)]);
    Value::Array votes, probabilities;
    for (std::int64_t m = 0; m < members; ++m) {
      votes.emplace_back((c + k - 1) % k);
      probabilities.emplace_back(0.75);
    }
    mistakes.emplace_back(Settings{{"sample", c},
                                   {"truth", c},
                                   {"probability", 0.125},
                                   {"votes", std::move(votes)},
                                   {"probabilities", std::move(probabilities)},
                                   {"elected", Value::Array{(c + k - 1) % k, (c + k - 1) % k}}});
  }
  for (int b = 0; b < 15; ++b) bins.emplace_back((b + 0.5) / 15);
  const Settings calibration{{"ece", 0.0321},
                             {"mce", 0.2},
                             {"samples", Value::Array(15, 3)},
                             {"confidence", bins},
                             {"accuracy", bins}};
  for (std::int64_t m = 0; m < members; ++m) calibrations.emplace_back(calibration);
  write_json(
      folder / "evaluation.json",
      {{"data", dataset.string()},
       {"split", "test"},
       {"content_hash", info.content_hash},
       {"samples", 10 * k},
       {"classes", k},
       {"members", std::move(numbers)},
       {"rule", "majority"},
       {"rules", Value::Array{"majority", "mean"}},
       {"confusion", std::move(confusion)},
       {"class_scores",
        Settings{{"precision", precision}, {"recall", precision}, {"f1", precision}, {"support", support}}},
       {"disagreement_of_pairs", std::move(pairs)},
       {"q_statistic_of_pairs", std::move(qs)},
       {"calibration", calibration},
       {"member_calibration", std::move(calibrations)},
       {"roc",
        Settings{{"false_positive_rate", Value::Array{0.0, 0.25, 1.0}},
                 {"mean", Value::Array{0.5, 0.75, 1.0}},
                 {"classes", Value::Array{Value::Array{0.25, 0.5, 1.0}, Value::Array{0.75, 1.0, 1.0}}}}},
       {"mistakes", std::move(mistakes)},
       {"class_names", std::move(names)}});

  Settings phases, of_ranks;
  for (std::int64_t r = 0; r < ranks; ++r)
    seconds.emplace_back(makespan * (0.8 + 0.05 * static_cast<double>(r)));
  for (const char* phase : {"load", "steps", "compute", "data", "passes", "update", "exposed_communication",
                            "evaluation", "gather", "checkpoint"}) {
    phases.set(phase, Settings{{"max", makespan / 5}, {"mean", makespan / 6}, {"min", makespan / 7}});
    of_ranks.set(phase, seconds);
  }
  write_json(folder / "summary.json",
             {{"name", "tiny <net>"},
              {"mode", members > 1 ? "ensemble" : "sync"},
              {"ranks", ranks},
              {"threads", 1},
              {"members", members},
              {"epochs", 3},
              {"batch", 32},
              {"micro_batch", 8},
              {"parameters", 93322},
              {"makespan_seconds", makespan},
              {"phases", phases},
              {"rank_phases", of_ranks},
              {"exposed_share", 0.123},
              {"straggler", Settings{{"rank", ranks - 1},
                                     {"host", "node-7"},
                                     {"cause", "data"},
                                     {"excess", 0.14},
                                     {"evidence", "assembling its samples took 3.20 s"}}},
              {"images_per_second", 1000.0},
              {"core_seconds", makespan * static_cast<double>(ranks)},
              {"peak_rss_mib", 40.5},
              {"features", Settings{{"seconds", 75.0}, {"bytes", std::int64_t{3} << 20}}},
              {"test", Settings{{"samples", 10 * k},
                                {"accuracy", 0.9},
                                {"precision", 0.9},
                                {"recall", 0.9},
                                {"f1", 0.9},
                                {"rule", "majority"},
                                {"members", tested},
                                {"prefix_accuracy", Settings{{"majority", prefix}, {"mean", prefix}}},
                                {"disagreement", members > 1 ? 0.125 : 0.0},
                                {"q_statistic", 0.875},
                                {"ece", 0.0321}}},
              {"member_facts", facts}});
}

/// Gives the run `classes` classes of 5 test samples each: 4 are right, 1 is predicted as the class 7
/// further.
inline void set_many_classes(report::RunRecord& run, std::int64_t classes) {
  Value::Array confusion, names, scores, support;
  for (std::int64_t c = 0; c < classes; ++c) {
    confusion.emplace_back(Value::Array{c, c, 4});
    confusion.emplace_back(Value::Array{c, (c + 7) % classes, 1});
    names.emplace_back("bird </script> " + std::to_string(c));
    scores.emplace_back(0.8);
    support.emplace_back(5);
  }
  run.evaluation.set("classes", classes);
  run.evaluation.set("samples", 5 * classes);
  run.evaluation.set("class_names", std::move(names));
  run.evaluation.set("confusion", std::move(confusion));
  run.evaluation.set(
      "class_scores",
      Settings{{"precision", scores}, {"recall", scores}, {"f1", scores}, {"support", support}});
  run.evaluation.set("mistakes", Value::Array{});
}

}  // namespace example
