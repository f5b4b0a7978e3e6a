#include "results/results.hpp"

#include <fmt/format.h>

#include "convoke/recipe/toml.hpp"
#include "convoke/report/page.hpp"
#include "convoke/run/environment.hpp"
#include "convoke/train/evaluation_details.hpp"
#include "results/page_file.hpp"

namespace convoke::app {

void write_page(const run::RunFolder& folder, const recipe::Recipe& recipe) {
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
