#include "convoke/nn/losses/loss.hpp"
#include "convoke/optim/optimizer.hpp"
#include "convoke/optim/schedule.hpp"
#include "convoke/train/distillation.hpp"
#include "convoke/train/early_stopping.hpp"
#include "convoke/train/on_divergence.hpp"
#include "sections.hpp"

namespace convoke::recipe {
namespace {

using TrainKey = Key<TrainRecipe>;

constexpr std::array<Named<engine::Reduction>, 2> kReductions{
    {{"fast", engine::Reduction::kFast}, {"exact", engine::Reduction::kExact}}};
constexpr std::array<Named<nn::ConvolutionChoice>, 3> kConvolutions{
    {{"auto", nn::ConvolutionChoice::kAuto},
     {"direct", nn::ConvolutionChoice::kDirect},
     {"winograd", nn::ConvolutionChoice::kWinograd}}};
constexpr std::array<Named<sync::Wire>, 2> kWires{
    {{"fp32", sync::Wire::kFloat32}, {"bf16", sync::Wire::kBfloat16}}};
constexpr std::array<Named<nn::Precision>, 2> kPrecisions{
    {{"fp32", nn::Precision::kFloat32}, {"bf16", nn::Precision::kBfloat16}}};
constexpr std::array<Named<bool>, 2> kMemories{{{"normal", false}, {"low", true}}};

void read_optimizer(SettingsReader& read, const KeyFacts& key, TrainRecipe& train) {
  const Settings written = read.table(key.name);
  train.loop.learning_rate = optim::learning_rate_of(written);
  train.loop.optimizer = optim::make_optimizer(written);
}

// Writes name, learning_rate, and every option of the optimizer with its value.
std::optional<Value> write_optimizer(const KeyFacts&, const TrainRecipe& train) {
  const Settings options = train.loop.optimizer->settings();
  Settings all{{"name", *options.find("name")}, {"learning_rate", train.loop.learning_rate}};
  for (const auto& [name, value] : options.entries()) all.set(name, value);
  return all;
}

void read_loss(SettingsReader& read, const KeyFacts& key, TrainRecipe& train) {
  if (const Settings written = read.table(key.name); !written.empty()) train.loss = nn::make_loss(written);
}

std::optional<Value> write_loss(const KeyFacts&, const TrainRecipe& train) { return train.loss->settings(); }

// Makes what a table describes, e.g. the schedule.
template <auto kMake, auto kMember>
void read_part(SettingsReader& read, const KeyFacts& key, TrainRecipe& train) {
  train.loop.*kMember = kMake(read.table(key.name));
}

template <auto kMember>
std::optional<Value> write_part(const KeyFacts&, const TrainRecipe& train) {
  const auto& part = train.loop.*kMember;
  if constexpr (requires { part.settings(); }) {
    return part.settings();
  } else {
    return part->settings();
  }
}

std::optional<Value> write_early_stopping(const KeyFacts&, const TrainRecipe& train) {
  if (train.loop.early_stopping.stops()) return train.loop.early_stopping.settings();
  return std::nullopt;
}

void read_distill(SettingsReader& read, const KeyFacts& key, TrainRecipe& train) {
  read.at(key.name, [&] { train.loop.distill = train::Distillation::read(read.table(key.name)); });
}

std::optional<Value> write_distill(const KeyFacts&, const TrainRecipe& train) {
  if (train.loop.distill.teacher.empty()) return std::nullopt;
  return train.loop.distill.settings();
}

// Reads "balanced", or a list that becomes an option of the loss.
void read_class_weights(SettingsReader& read, const KeyFacts& key, TrainRecipe& train) {
  constexpr std::array<Named<bool>, 2> kRules{{{"balanced", true}, {"none", false}}};
  const Value* const written = read.find(key.name);
  if (written == nullptr) return;
  const bool by_name = read.holds_text(key.name);
  train.balance_classes =
      by_name &&
      find_in(kRules, read.get(key.name, ""), "rule for class weights", read.place(key.name)).value;
  if (by_name && !train.balance_classes) return;
  Settings loss = train.loss->settings();
  if (loss.find(key.name) != nullptr) {
    read.fail_at(key.name, "class weights are set here and in train.loss", "remove one of them");
  }
  if (by_name) return;
  loss.set(key.name, *written);
  read.at(key.name, [&] { train.loss = nn::make_loss(loss); });
}

std::optional<Value> write_class_weights(const KeyFacts&, const TrainRecipe& train) {
  return train.balance_classes ? "balanced" : "none";
}

template <auto... kMembers>
void read_list(SettingsReader& read, const KeyFacts& key, TrainRecipe& train) {
  using List = typename keys::Path<kMembers...>::Held;
  for (const Settings& table : read.tables(key.name)) {
    keys::Path<kMembers...>::in(train).push_back(List::value_type::read(table));
  }
}

template <auto... kMembers>
std::optional<Value> write_list(const KeyFacts&, const TrainRecipe& train) {
  Value::Array tables;
  for (const auto& entry : keys::Path<kMembers...>::in(train)) tables.emplace_back(entry.settings());
  if (tables.empty()) return std::nullopt;
  return tables;
}

constexpr std::array kTrainKeys{
    key<&TrainRecipe::mode>(
        {.name = "mode",
         .names =
             [] {
               return std::vector<std::string>{"sync", "ensemble"};
             },
         .help = "`\"sync\"`: one model, whose gradients are summed over all ranks; `\"ensemble\"`: members "
                 "that vote"}),
    key<&TrainRecipe::loop, &train::LoopOptions::epochs>(
        {.name = "epochs",
         .range = {.least = 0},
         .effect = Effect::kNone,
         .help = "passes over the training samples; 0: only evaluate the initial weights. A "
                 "resumed run may have more epochs, unless its schedule depends on their number; fewer "
                 "than it has trained have no effect"}),
    key<&TrainRecipe::step, &engine::StepOptions::batch>(
        {.name = "batch",
         .range = {.least = 1, .largest = 1 << 24},
         .help = "samples per step: of all ranks together in `sync`, of each member in `ensemble`"}),
    key<&TrainRecipe::step, &engine::StepOptions::micro_batch>(
        {.name = "micro_batch",
         .word = "auto",
         .help = "samples per micro-batch, a divisor of the batch; `\"auto\"`: a 64th of the batch, at least "
                 "8"}),
    choice<kReductions, &TrainRecipe::step, &engine::StepOptions::reduction>(
        {.name = "reduction",
         .help = "`\"fast\"`: sums in fp32; `\"exact\"`: sums in fixed point, so that the model has the same "
                 "bits on any number of ranks"}),
    TrainKey{
        {.name = "strategy",
         .effect = Effect::kNewResult,
         .help =
             "how the ranks of a model exchange: a name, or a table, e.g. `{ name = \"local-sgd\", every = 8 "
             "}`. `\"allreduce\"`: gradients are summed in every step; `\"local-sgd\"`: each rank trains on "
             "its share of the batch, and the models are averaged after some steps; `\"none\"`: only at the "
             "end of an epoch and before a validation, as all strategies do",
         .tables = sync::strategy_tables,
         .type = "text or table"},
        read_part<sync::make_strategy, &train::LoopOptions::strategy>,
        write_part<&train::LoopOptions::strategy>},
    choice<kWires, &TrainRecipe::step, &engine::StepOptions::wire>(
        {.name = "wire",
         .effect = Effect::kNewResult,
         .help =
             "the type in which gradients are sent between nodes. `\"bf16\"`: half the bytes; what rounding "
             "takes away is added to the next step's gradients (error feedback)"}),
    choice<kConvolutions, &TrainRecipe::step, &engine::StepOptions::convolution>(
        {.name = "convolution",
         .help = "`\"auto\"`: the algorithm of each pass of each convolution follows from its shape, not "
                 "from timings; `convoke summary --plan` shows the choice"}),
    choice<kPrecisions, &TrainRecipe::step, &engine::StepOptions::precision>(
        {.name = "precision",
         .effect = Effect::kNewResult,
         .help = "`\"bf16\"`: activations, their gradients and a working copy of the weights in bf16"}),
    choice<kMemories, &TrainRecipe::step, &engine::StepOptions::low_memory>(
        {.name = "memory",
         .effect = Effect::kNone,
         .help = "`\"low\"`: backward computes most activations again, from a few that are kept (gradient "
                 "checkpointing): the same bits, less memory, about a fifth more time"}),
    key<&TrainRecipe::emulate_bf16>(
        {.name = "emulate_bf16",
         .effect = Effect::kNone,
         .help = "allow `\"bf16\"` on processors that have AVX-512 but do not multiply bf16 natively: slower "
                 "than fp32"}),
    TrainKey{{.name = "loss",
              .effect = Effect::kNewResult,
              .help = "the name of a loss, or a table with its options",
              .tables = nn::loss_tables,
              .type = "text or table"},
             read_loss,
             write_loss},
    TrainKey{
        {.name = "class_weights",
         .expected = "\"none\", \"balanced\" or a list",
         .effect = Effect::kNewResult,
         .help =
             "`\"balanced\"`: a sample of class k has the weight n / (K n_k) in the loss, from the class counts "
             "of the training split, as in scikit-learn's `class_weight`; or a list with a number for each class",
         .type = "text or list of numbers"},
        read_class_weights,
        write_class_weights},
    key<&TrainRecipe::reference_batch>({.name = "reference_batch",
                                        .range = {.least = 0},
                                        .effect = Effect::kNewResult,
                                        .help = "the batch for which `learning_rate` was chosen: the rate is "
                                                "multiplied by `batch` / `reference_batch`; 0: not scaled"}),
    key<&TrainRecipe::step, &engine::StepOptions::update, &engine::UpdateOptions::clip_value>(
        {.name = "clip_value",
         .range = {.least = 0},
         .effect = Effect::kNewResult,
         .help = "clip every element of the gradient to plus or minus this value; 0: off"}),
    key<&TrainRecipe::step, &engine::StepOptions::update, &engine::UpdateOptions::clip_norm>(
        {.name = "clip_norm",
         .range = {.least = 0},
         .effect = Effect::kNewResult,
         .help = "scale the gradient of all parameters down to this norm if it is longer; 0: off"}),
    key<&TrainRecipe::step, &engine::StepOptions::update, &engine::UpdateOptions::ema>(
        {.name = "ema",
         .range = {.least = 0, .below = 1},
         .effect = Effect::kNewResult,
         .help = "decay of a moving average of the weights, e.g. 0.999; the average is evaluated and stored; "
                 "0: off"}),
    choice<kPrecisions, &TrainRecipe::step, &engine::StepOptions::update,
           &engine::UpdateOptions::state_precision>(
        {.name = "state_precision",
         .effect = Effect::kNewResult,
         .help =
             "`\"bf16\"`: the optimizer keeps its state in bf16 with stochastic rounding: half the memory; "
             "not for `lars` and `lamb`"}),
    TrainKey{
        {.name = "optimizer",
         .fallback = "\"adam\"",
         .help = "the name of an optimizer, or a table, e.g. `{ name = \"adam\", learning_rate = 1e-3 }`",
         .tables = optim::optimizer_tables,
         .type = "text or table"},
        read_optimizer,
        write_optimizer},
    TrainKey{{.name = "schedule",
              .fallback = "\"constant\"",
              .help = "how the learning rate changes: a name, or a table, e.g. `{ name = \"cosine\", "
                      "warmup_epochs = 5 }`",
              .tables = optim::schedule_tables,
              .type = "text or table"},
             read_part<optim::make_schedule, &train::LoopOptions::schedule>,
             write_part<&train::LoopOptions::schedule>},
    key<&TrainRecipe::loop, &train::LoopOptions::validate_every>(
        {.name = "validate_every",
         .range = {.least = 0},
         .effect = Effect::kNewResult,
         .help = "steps between validations, in addition to the one after each epoch; 0: "
                 "only after epochs. Needs `data.validation_split`"}),
    key<&TrainRecipe::loop, &train::LoopOptions::top_k>(
        {.name = "top_k",
         .range = {.least = 0},
         .effect = Effect::kNone,
         .help = "evaluations report how often the true class is among the k most probable ones, "
                 "if there are more than k classes; 0: off"}),
    TrainKey{
        {.name = "early_stopping",
         .help = "a table, e.g. `{ patience = 5 }`: training stops after this many validations that were not "
                 "better than the best. Needs `data.validation_split`; `{}`: off",
         .tables = train::EarlyStopping::tables,
         .type = "table"},
        read_part<train::EarlyStopping::read, &train::LoopOptions::early_stopping>,
        write_early_stopping},
    TrainKey{
        {.name = "on_divergence",
         .effect = Effect::kNone,
         .help =
             "what happens if the loss or a parameter is not finite: a name, or a table, e.g. `{ name = "
             "\"restore\", factor = 0.5, times = 3 }`. `\"drop-member\"`: the member of an ensemble does "
             "not vote, and a single model ends the job; `\"stop\"`: the job ends; `\"restore\"`: training "
             "goes back to the newest checkpoint, with a lower learning rate",
         .tables = train::OnDivergence::tables,
         .type = "text or table"},
        read_part<train::OnDivergence::read, &train::LoopOptions::on_divergence>,
        write_part<&train::LoopOptions::on_divergence>},
    TrainKey{
        {.name = "distill",
         .help =
             "a table, e.g. `{ teacher = \"runs/votes\" }`: the network also learns the predictions of a "
             "trained model or ensemble for the training samples ([ensembles.md](ensembles.md#distillation))",
         .tables = train::Distillation::tables,
         .type = "table"},
        read_distill,
        write_distill},
    TrainKey{
        {.name = "groups",
         .help = "`[[train.groups]]`: nodes with their own learning rate; if two groups name a node, the "
                 "later group counts",
         .tables = nn::RateGroup::tables,
         .type = "list of tables"},
        read_list<&TrainRecipe::groups>,
        write_list<&TrainRecipe::groups>},
    TrainKey{{.name = "stages",
              .help = "`[[train.stages]]`: changes at the beginning of an epoch. A stage after the last "
                      "epoch is ignored",
              .tables = train::Stage::tables,
              .type = "list of tables"},
             read_list<&TrainRecipe::loop, &train::LoopOptions::stages>,
             write_list<&TrainRecipe::loop, &train::LoopOptions::stages>},
};

void read_train(SettingsReader& read, const Settings&, Recipe& recipe) {
  if (!recipe.model.loss.empty()) recipe.train.loss = nn::make_loss(recipe.model.loss);
  read_keys(kTrainKeys, read, recipe.train);
  check_train(read, recipe.model, recipe.data, recipe.train);
}

}  // namespace

Section train_section() {
  return section_of<kTrainKeys, &Recipe::train>("train", "The training of the network.", read_train);
}

std::string to_string(engine::Reduction reduction) { return name_of(kReductions, reduction); }
std::string to_string(sync::Wire wire) { return name_of(kWires, wire); }
std::string to_string(nn::Precision precision) { return name_of(kPrecisions, precision); }

}  // namespace convoke::recipe
