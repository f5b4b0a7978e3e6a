#include "convoke/recipe/section_reader.hpp"
#include "sections.hpp"

namespace convoke::recipe {
namespace {

using RunKey = Key<RunRecipe>;

void read_interval(SettingsReader& read, const KeyFacts& key, RunRecipe& run) {
  if (read.holds_text(key.name)) {
    read.at([&] { run.checkpoint_every = run::CheckpointInterval::from(read.require_string(key.name)); });
  } else {
    read_value(read, key, run.checkpoint_every.epochs);
  }
}

std::optional<Value> write_interval(const KeyFacts&, const RunRecipe& run) {
  const run::CheckpointInterval& every = run.checkpoint_every;
  return every.steps > 0 || every.seconds > 0 ? Value(every.to_string()) : Value(every.epochs);
}

// A number, or true for 1.
void read_keep_best(SettingsReader& read, const KeyFacts& key, RunRecipe& run) {
  const Value* const value = read.find(key.name);
  if (value != nullptr && std::holds_alternative<std::int64_t>(value->data())) {
    read_value(read, key, run.keep_best);
  } else {
    run.keep_best = read.get(key.name, true) ? 1 : 0;
  }
}

std::optional<Value> write_keep_best(const KeyFacts&, const RunRecipe& run) {
  return run.keep_best <= 1 ? Value(run.keep_best == 1) : Value(run.keep_best);
}

void read_stop_before(SettingsReader& read, const KeyFacts& key, RunRecipe& run) {
  if (read.holds_text(key.name)) {
    read.at([&] { run.stop_before = run::seconds_from(read.require_string(key.name)); });
  } else {
    read_value(read, key, run.stop_before);
  }
}

std::optional<Value> write_stop_before(const KeyFacts&, const RunRecipe& run) { return run.stop_before; }

constexpr std::array kRunKeys{
    key<&RunRecipe::threads>({.name = "threads",
                              .range = {.largest = 4096},
                              .word = "auto",
                              .effect = Effect::kNone,
                              .help = "worker threads per rank; `\"auto\"`: a rank's share of the cores"}),
    RunKey{
        {.name = "checkpoint_every",
         .range = {.least = 0},
         .effect = Effect::kNone,
         .help = "how often the state of training is kept: epochs, or text as `\"500 steps\"`, `\"90 s\"`, "
                 "`\"10 min\"`, `\"1 h\"`; 0: only at the end",
         .type = "whole number or text"},
        read_interval,
        write_interval},
    key<&RunRecipe::keep_checkpoints>({.name = "keep_checkpoints",
                                       .range = {.least = 1},
                                       .effect = Effect::kNone,
                                       .help = "the number of checkpoints that are kept, the newest ones"}),
    RunKey{
        {.name = "keep_best",
         .range = {.least = 0},
         .effect = Effect::kNone,
         .help =
             "with validation: `checkpoints/best.h5`, a model file, holds the weights of the best validation "
             "so far. A number m keeps the m best, ranked: `best.h5`, `best-2.h5` to `best-m.h5`; where two "
             "are equal, the earlier one comes first",
         .type = "true or false, or whole number"},
        read_keep_best,
        write_keep_best},
    RunKey{{.name = "stop_before",
            .range = {.least = 0},
            .effect = Effect::kNone,
            .help = "in a Slurm job: stop with a checkpoint and exit code 85 when so much of the job's time "
                    "is left: "
                    "seconds, or text as `\"120 s\"`, `\"5 min\"`",
            .type = "number or text"},
           read_stop_before,
           write_stop_before},
    key<&RunRecipe::bucket_kib>({.name = "bucket_kib",
                                 .range = {.largest = 1 << 30},
                                 .word = "auto",
                                 .effect = Effect::kNone,
                                 .help = "the size of the pieces in which gradients are exchanged, in KiB"}),
    key<&RunRecipe::memory_mib>(
        {.name = "memory_mib",
         .range = {.largest = std::int64_t{1} << 40},
         .word = "auto",
         .effect = Effect::kNone,
         .help =
             "memory of a node for all its ranks, in MiB; `\"auto\"`: what the system has available and the "
             "control group allows. A job that will not fit is refused before the first step"}),
    key<&RunRecipe::cache_mib>(
        {.name = "cache_mib",
         .range = {.largest = std::int64_t{1} << 40},
         .word = "auto",
         .effect = Effect::kNone,
         .help =
             "memory of a node for `model.cache_features`, in MiB; what needs more becomes a file in the run "
             "folder. `\"auto\"`: half of what is free"}),
    key<&RunRecipe::report>({.name = "report",
                             .effect = Effect::kNone,
                             .help = "write `report.html` into the run folder at the end"}),
};

}  // namespace

Section run_section() {
  return section_of<kRunKeys, &Recipe::run>("run", "How a run is carried out. No key changes the result.");
}

RunRecipe read_run(const TomlDocument& document) {
  SectionReader read(document, "run");
  RunRecipe run;
  read.read(kRunKeys, run);
  return run;
}

}  // namespace convoke::recipe
