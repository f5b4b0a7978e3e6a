#include "results/results.hpp"

#include <fmt/format.h>

#include "convoke/metrics/json.hpp"
#include "convoke/os/atomic_file.hpp"
#include "convoke/recipe/toml.hpp"
#include "convoke/report/run_page.hpp"
#include "convoke/run/environment.hpp"
#include "convoke/train/evaluation_details.hpp"
#include "results/page_file.hpp"

namespace convoke::app {
namespace {

Settings evaluation_of(const train::Verdict& verdict, const data::Dataset& tested,
                       const recipe::Recipe& recipe) {
  Settings evaluation{{"data", std::filesystem::absolute(tested.file()).lexically_normal().string()},
                      {"split", recipe.data.test_split},
                      {"content_hash", tested.info().content_hash}};
  const Settings details =
      train::evaluation_details(verdict.test, verdict.rule, verdict.voters, tested.info().class_names);
  for (const auto& [key, value] : details.entries()) evaluation.set(key, value);
  return evaluation;
}

}  // namespace

void write_results(const run::RunFolder& folder, const Settings& summary, const train::Verdict& verdict,
                   const data::Dataset& tested, const recipe::Recipe& recipe) {
  os::replace_text(folder.file("evaluation.json"),
                   metrics::to_json(evaluation_of(verdict, tested, recipe)) + "\n");
  Settings whole = summary;
  if (const std::string& provenance = tested.info().provenance; !provenance.empty()) {
    whole.set("provenance", provenance);
  }
  os::replace_text(folder.file("summary.json"), metrics::to_json(whole, true) + "\n");
  if (!recipe.run.report) return;
  write_page_or_warn([&] { return report::run_page(read_run_and_recipe(folder.path()), made_by_line()); },
                     folder.file("report.html"));
}

std::string places_of(const run::RunFolder& folder) {
  std::string text = fmt::format("run folder: {}\n", folder.path().string());
  if (const auto page = folder.file("report.html"); std::filesystem::exists(page)) {
    text += fmt::format("its page:   {}\n", page.string());
  }
  return text;
}

report::RunRecord read_run_and_recipe(const std::filesystem::path& folder) {
  report::RunRecord run = report::read_run(folder);
  run.recipe = recipe::parse_toml(run.recipe_text, (folder / "recipe.toml").string()).settings;
  return run;
}

std::string made_by_line() { return fmt::format("Made by convoke {} report.", run::convoke_version()); }

}  // namespace convoke::app
