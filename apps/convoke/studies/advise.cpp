#include "cli/options.hpp"
#include "commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/recipe/recipe.hpp"
#include "convoke/run/checkpoint_interval.hpp"
#include "convoke/study/analysis/analysis.hpp"
#include "convoke/study/analysis/offers.hpp"
#include "convoke/sync/strategy.hpp"
#include "studies/study_results.hpp"

namespace convoke::app {
namespace {

namespace fs = std::filesystem;

/// `convoke study advise`
struct AdviseOptions {
  std::vector<std::string> studies;
  std::string machines, deadline, keep;
  study::Demands demands;  ///< without what the options above say
  bool all = false, json = false;
};

constexpr const char* kAdviseHelp = R"(Examples:
  convoke study advise studies/first --machines prices.toml --deadline 2h --accuracy 0.95
  convoke study advise studies/first --machines prices.toml --deadline "30 min" --all
  convoke study advise times.csv --machines prices.toml --accuracy 0.85 --data-gb 1.3 --keep 720h

The first line names the cheapest machine and number of workers that meet the demands. The table below it has
the best number of workers for each machine, and why it is not the first. Numbers of workers that the study
did not measure have a time by Amdahl's law, marked as predicted. A time meets a demand if the upper end of
its 95 % interval does, an accuracy if the lower end does.

If no machine meets the demands, the command names the closest, and its exit code is 1. docs/advise.md
describes the file of machines and prices.
)";

std::uintmax_t bytes_of(const fs::path& path) {
  if (!fs::is_directory(path)) return fs::file_size(path);
  std::uintmax_t bytes = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) bytes += entry.file_size();
  }
  return bytes;
}

// Adds what the recipes in the folder of a study say: whether ranks train one model, as local SGD does not,
// and unless it is given, the size of the largest dataset that is found here.
void add_recipes(const fs::path& study, bool given, study::Demands& demands) {
  std::error_code missing;
  for (const fs::directory_entry& entry : fs::directory_iterator(study / "recipes", missing)) {
    try {
      const recipe::Recipe recipe = recipe::Recipe::load(entry.path().string());
      const auto& loop = recipe.train.loop;
      if (!loop.strategy->sums_gradients(loop.epochs - 1)) demands.separate.insert(recipe.name);
      if (given) continue;
      const auto bytes = static_cast<double>(bytes_of(recipe::resolve_dataset(recipe)));
      demands.gigabytes = std::max(demands.gigabytes.value_or(0), 1e-9 * bytes);
    } catch (const std::exception&) {
      continue;  // the dataset is on another machine, so its size is not known here
    }
  }
}

study::Demands demands_of(const AdviseOptions& options, const study::Analysis& analysis) {
  constexpr std::int64_t kBeyond = 4;
  study::Demands demands = options.demands;
  if (!options.deadline.empty()) demands.deadline_seconds = run::seconds_from(options.deadline);
  if (!options.keep.empty()) demands.keep_seconds = run::seconds_from(options.keep);
  for (const study::MeasuredConfiguration& configuration : analysis.configurations) {
    if (options.demands.up_to == 0)
      demands.up_to = std::max(demands.up_to, kBeyond * configuration.at.workers());
  }
  for (const std::string& study : options.studies)
    add_recipes(study, options.demands.gigabytes.has_value(), demands);
  return demands;
}

std::string text_of(const study::Demands& demands) {
  std::vector<std::string> parts;
  if (demands.deadline_seconds) parts.push_back("ends within " + format_duration(*demands.deadline_seconds));
  if (demands.accuracy)
    parts.push_back(fmt::format("reaches an accuracy of {:g} %", 100 * *demands.accuracy));
  return parts.empty() ? "was measured" : join(parts, " and ");
}

// The costs of transfer and storage are left out if the size of the dataset is unknown.
std::string note_on_data(const study::Demands& demands, const std::vector<study::PricedMachine>& machines) {
  const bool priced = std::ranges::any_of(machines, [](const study::PricedMachine& machine) {
    const study::DataPrices& data = machine.data;
    return data.megabytes_per_second > 0 || data.transfer_price_per_gb > 0 ||
           data.storage_price_per_gb_month > 0;
  });
  if (!priced) return {};
  if (!demands.gigabytes) {
    return "the size of the dataset is unknown, so transfer and storage are left out: pass --data-gb\n";
  }
  return fmt::format("dataset: {:.3g} GB\n", *demands.gigabytes);
}

int study_advise(const AdviseOptions& options) {
  // 1. The measurements, the prices, the demands.
  const std::vector<study::PricedMachine> machines = study::read_machines(options.machines);
  const std::vector<fs::path> studies(options.studies.begin(), options.studies.end());
  const study::Analysis analysis = analysis_of(studies);
  const study::Demands demands = demands_of(options, analysis);
  const std::string& currency = machines.front().currency;

  // 2. The offers.
  const std::vector<study::Offer> all =
      study::offers(analysis.curves, analysis.configurations, machines, demands);
  if (all.empty()) {
    throw Error(fmt::format("{} has no makespans of trainings that end, so there is nothing to advise",
                            join(options.studies)),
                "pass the folder of a study, or a table with the column makespan_seconds");
  }
  const std::vector<study::Offer> shown = options.all ? all : study::best_of_each(all);

  // 3. Print them, the cheapest first.
  const study::Offer& first = all.front();
  if (options.json) {
    fmt::print("{}\n",
               metrics::to_json(Settings{{"currency", currency}, {"offers", study::to_value(shown)}}, true));
  } else {
    if (first.fits()) fmt::print("cheapest: {}\n\n", study::sentence(first, currency));
    fmt::print("{}\n{}", study::to_text(study::table_of(shown, currency)), note_on_data(demands, machines));
  }
  if (first.fits()) return EXIT_SUCCESS;
  throw Error(fmt::format("no machine and number of workers {}; the closest is {}: {}", text_of(demands),
                          study::sentence(first, currency), join(first.reasons, "; ")),
              "allow more time or a lower accuracy, or measure more ranks or a recipe that trains longer");
}

}  // namespace

std::function<int()> add_study_advise(CLI::App& parser) {
  auto options = std::make_shared<AdviseOptions>();
  add_option(parser, "studies", options->studies, "STUDY", "Folders of studies, or tables of times")
      ->required();
  add_option(parser, "--machines", options->machines, "FILE.toml", "A file of machines and their prices")
      ->required();
  add_option(parser, "--deadline", options->deadline, "TIME",
             "The longest time from the start of the transfer to the trained model (\"90 s\", \"2h\")");
  add_option(parser, "--accuracy", options->demands.accuracy, "SHARE",
             "The least accuracy on the test samples")
      ->check(in_range(0, 1));
  add_option(parser, "--data-gb", options->demands.gigabytes, "GB",
             "Size of the dataset to transfer and to store, in 10^9 bytes; that of the recipe by default")
      ->check(in_range(0, 1e9));
  add_option(parser, "--keep", options->keep, "TIME",
             "How long the dataset is stored (\"720h\"); until the model is trained by default");
  add_option(parser, "--up-to", options->demands.up_to, "N",
             "The largest number of workers to predict; by default four times the most that were measured")
      ->check(in_range(1, 1'000'000));
  parser.add_flag("--all", options->all, "Show all numbers of workers");
  parser.add_flag("--json", options->json, "Print JSON instead of text");
  parser.footer(kAdviseHelp);
  return [options] { return study_advise(*options); };
}

}  // namespace convoke::app
