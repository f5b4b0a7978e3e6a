#include "sections.hpp"

namespace convoke::recipe {
namespace {

using RunKey = Key<RunRecipe>;

void read_interval(SettingsReader& read, const KeyFacts& key, RunRecipe& run) {
  if (read.holds_text(key.name)) {
    read.at(key.name,
            [&] { run.checkpoints.every = run::CheckpointInterval::from(read.require_string(key.name)); });
  } else {
    read_value(read, key, run.checkpoints.every.epochs);
  }
}

std::optional<Value> write_interval(const KeyFacts&, const RunRecipe& run) {
  const run::CheckpointInterval& every = run.checkpoints.every;
  return every.steps > 0 || every.seconds > 0 ? Value(every.to_string()) : Value(every.epochs);
}

// Reads a number, or true for 1.
void read_keep_best(SettingsReader& read, const KeyFacts& key, RunRecipe& run) {
  const Value* const value = read.find(key.name);
  if (value != nullptr && std::holds_alternative<std::int64_t>(value->data())) {
    read_value(read, key, run.checkpoints.keep_best);
  } else {
    run.checkpoints.keep_best = read.get(key.name, true) ? 1 : 0;
  }
}

std::optional<Value> write_keep_best(const KeyFacts&, const RunRecipe& run) {
  return run.checkpoints.keep_best <= 1 ? Value(run.checkpoints.keep_best == 1)
                                        : Value(run.checkpoints.keep_best);
}

constexpr std::array<Named<engine::ModelSharing>, 2> kSharing{
    {{"host", engine::ModelSharing::kHost}, {"numa", engine::ModelSharing::kNuma}}};

// Reads a name, or true for "host".
void read_sharing(SettingsReader& read, const KeyFacts& key, RunRecipe& run) {
  engine::ModelSharing& sharing = run.execution.sharing;
  if (read.holds_text(key.name)) {
    const auto* const named =
        std::ranges::find(kSharing, read.require_string(key.name), &Named<engine::ModelSharing>::name);
    check_key(read, key, named != kSharing.end());
    sharing = named->value;
  } else {
    sharing = read.get(key.name, true) ? engine::ModelSharing::kHost : engine::ModelSharing::kNone;
  }
}

std::optional<Value> write_sharing(const KeyFacts&, const RunRecipe& run) {
  const engine::ModelSharing sharing = run.execution.sharing;
  return sharing == engine::ModelSharing::kNone ? Value(false) : Value(name_of(kSharing, sharing));
}

// Reads seconds, or text such as "5 min".
template <double RunRecipe::*kSeconds>
void read_seconds(SettingsReader& read, const KeyFacts& key, RunRecipe& run) {
  if (read.holds_text(key.name)) {
    read.at(key.name, [&] { run.*kSeconds = run::seconds_from(read.require_string(key.name)); });
  } else {
    read_value(read, key, run.*kSeconds);
  }
}

template <double RunRecipe::*kSeconds>
std::optional<Value> write_seconds(const KeyFacts&, const RunRecipe& run) {
  return run.*kSeconds;
}

// Makes the key of a number of bytes that is written in units of kUnit bytes.
template <std::int64_t kUnit, auto... kMembers>
constexpr RunKey size_key(KeyFacts facts) {
  using Path = keys::Path<kMembers...>;
  facts.type = "whole number";
  return {facts,
          [](SettingsReader& read, const KeyFacts& key, RunRecipe& run) {
            std::int64_t units = static_cast<std::int64_t>(Path::in(run)) / kUnit;
            read_value(read, key, units);
            Path::in(run) = static_cast<typename Path::Held>(units * kUnit);
          },
          [](const KeyFacts& key, const RunRecipe& run) -> std::optional<Value> {
            return to_value(key, static_cast<std::int64_t>(Path::in(run)) / kUnit);
          }};
}

constexpr std::array kRunKeys{
    key<&RunRecipe::execution, &engine::ExecutionOptions::threads>(
        {.name = "threads",
         .range = {.largest = 4096},
         .word = "auto",
         .effect = Effect::kNone,
         .help = "worker threads per rank; `\"auto\"`: the rank's share of the cores"}),
    RunKey{{.name = "checkpoint_every",
            .range = {.least = 0},
            .effect = Effect::kNone,
            .help = "interval between checkpoints: epochs, or text such as `\"500 steps\"`, `\"90 s\"`, "
                    "`\"10 min\"`, `\"1 h\"`; 0: only at the end",
            .type = "whole number or text"},
           read_interval,
           write_interval},
    key<&RunRecipe::checkpoints, &train::CheckpointOptions::keep>(
        {.name = "keep_checkpoints",
         .range = {.least = 1},
         .effect = Effect::kNone,
         .help = "the number of newest checkpoints to keep"}),
    key<&RunRecipe::checkpoints, &train::CheckpointOptions::fallback>(
        {.name = "checkpoint_fallback",
         .effect = Effect::kNone,
         .help = "a folder on another disk: checkpoints go there while they cannot be written into the run "
                 "folder, and `--resume` finds them there. Empty: none"}),
    RunKey{
        {.name = "keep_best",
         .range = {.least = 0},
         .effect = Effect::kNone,
         .help =
             "with validation: `checkpoints/best.h5`, a model file, holds the weights of the best validation "
             "so far. A number m keeps the m best models in order: `best.h5`, `best-2.h5` to `best-m.h5`; if "
             "two are equal, the earlier one comes first",
         .type = "true or false, or whole number"},
        read_keep_best,
        write_keep_best},
    RunKey{
        {.name = "stop_before",
         .range = {.least = 0},
         .effect = Effect::kNone,
         .help = "in a Slurm job: stop with a checkpoint and exit code 85 when this much of the job's time "
                 "is left: seconds, or text such as `\"120 s\"`, `\"5 min\"`",
         .type = "number or text"},
        read_seconds<&RunRecipe::stop_before>,
        write_seconds<&RunRecipe::stop_before>},
    RunKey{{.name = "stall_timeout",
            .range = {.least = 0},
            .effect = Effect::kNone,
            .help = "end a job that stands still for so long with exit code 87 "
                    "([reliability.md](reliability.md)): seconds, or text such as `\"90 s\"`, `\"10 min\"`; "
                    "0: never",
            .type = "number or text"},
           read_seconds<&RunRecipe::stall_timeout>,
           write_seconds<&RunRecipe::stall_timeout>},
    key<&RunRecipe::execution, &engine::ExecutionOptions::verify_every>(
        {.name = "verify_every",
         .range = {.least = 0},
         .effect = Effect::kNone,
         .help = "steps after which another rank computes a micro-batch again, and both results must have "
                 "the same bits ([reliability.md](reliability.md#silent-data-corruption)); 0: never. Needs "
                 "`train.reduction = \"exact\"`"}),
    size_key<1 << 10, &RunRecipe::execution, &engine::ExecutionOptions::bucket_bytes>(
        {.name = "bucket_kib",
         .range = {.largest = 1 << 30},
         .word = "auto",
         .effect = Effect::kNone,
         .help = "the size of a gradient bucket (the unit of exchange between ranks), in KiB"}),
    RunKey{
        {.name = "share_memory",
         .expected = "\"host\", \"numa\" or false",
         .effect = Effect::kNone,
         .help = "which ranks share one copy of the model, and sum their gradients in shared memory: "
                 "`\"host\"`: those of a host; `\"numa\"`: those of a NUMA node, which exchange with others "
                 "as nodes do ([many-cores.md](many-cores.md#a-copy-of-the-model-in-each-numa-node)); "
                 "`false`: none, they exchange through MPI",
         .type = "true or false, or text"},
        read_sharing,
        write_sharing},
    key<&RunRecipe::execution, &engine::ExecutionOptions::balance>(
        {.name = "balance",
         .effect = Effect::kNone,
         .help = "workers that are done take micro-batches from slower ones of their node, and nodes divide "
                 "the micro-batches of a step by measured speed, instead of equally. With `reduction = "
                 "\"exact\"` no bit changes; otherwise fp32 sums may be rounded differently in each run"}),
    size_key<1 << 20, &RunRecipe::memory, &train::MemoryOptions::node_bytes>(
        {.name = "memory_mib",
         .range = {.largest = std::int64_t{1} << 40},
         .word = "auto",
         .effect = Effect::kNone,
         .help =
             "memory of a node for all its ranks, in MiB; `\"auto\"`: what the system has available and the "
             "control group allows. A job that does not fit is refused before the first step"}),
    size_key<1 << 20, &RunRecipe::memory, &train::MemoryOptions::cache_bytes>(
        {.name = "cache_mib",
         .range = {.largest = std::int64_t{1} << 40},
         .word = "auto",
         .effect = Effect::kNone,
         .help =
             "memory of a node for `model.cache_features`, in MiB; a larger cache becomes a file in the run "
             "folder. `\"auto\"`: half of the free memory"}),
    key<&RunRecipe::trace>(
        {.name = "trace",
         .effect = Effect::kNone,
         .help = "write `trace.json` into the run folder: what every thread of every rank did, layer by "
                 "layer, for "
                 "ui.perfetto.dev or chrome://tracing. Each thread keeps its newest 32,768 events (1 MiB)"}),
    key<&RunRecipe::report>({.name = "report",
                             .effect = Effect::kNone,
                             .help = "write `report.html` into the run folder at the end"}),
};

constexpr std::array kLogKeys{
    key<&train::LogOptions::every_steps>(
        {.name = "every_steps",
         .range = {.least = 0},
         .effect = Effect::kNone,
         .help =
             "write the loss, the accuracy and the learning rate of every N-th step into `metrics.jsonl`; "
             "the run's page draws the loss by step; 0: off"}),
    key<&train::LogOptions::csv>({.name = "csv",
                                  .effect = Effect::kNone,
                                  .help =
                                      "write `metrics.csv`: one line for each epoch, validation and logged "
                                      "step, for spreadsheets and data frames"}),
    key<&train::LogOptions::tensorboard>(
        {.name = "tensorboard",
         .effect = Effect::kNone,
         .help =
             "write event files to `tensorboard/`, one folder for each member of an ensemble, for "
             "`tensorboard --logdir RUN`: loss, accuracy, learning rate and speed by step and time, then the "
             "test results. A resumed run removes entries that are newer than its checkpoint"}),
};

}  // namespace

Section run_section() {
  return section_of<kRunKeys, &Recipe::run>("run",
                                            "The execution of a run. These keys change no bit of the result "
                                            "with `train.reduction = \"exact\"`, and "
                                            "otherwise only the rounding of sums.");
}

Section log_section() {
  return section_of<kLogKeys, &Recipe::log>("log",
                                            "A run logs this in addition to the epochs in `metrics.jsonl`.");
}

}  // namespace convoke::recipe
