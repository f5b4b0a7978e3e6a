#include "results/results.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <optional>
#include <system_error>

#include "convoke/core/error.hpp"
#include "convoke/core/lookup.hpp"
#include "convoke/core/text.hpp"
#include "convoke/data/dataset.hpp"
#include "convoke/os/atomic_file.hpp"
#include "convoke/recipe/toml.hpp"
#include "convoke/report/figures.hpp"
#include "convoke/report/page.hpp"
#include "convoke/run/environment.hpp"
#include "convoke/run/model_file.hpp"
#include "convoke/train/grad_cam.hpp"

namespace convoke::app {

void write_page(const run::RunFolder& folder, const recipe::Recipe& recipe) {
  if (!recipe.run.report) return;
  write_page_or_warn(
      [&] { return report::run_page(with_class_maps(read_run_and_recipe(folder.path())), made_by_line()); },
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
  run.recipe = recipe::parse_toml(run.recipe_text, (folder / "recipe.toml").string());
  return run;
}

std::string made_by_line() { return fmt::format("Made by convoke {} report.", run::convoke_version()); }

namespace {

// Tests the permission without writing, so that existing files stay unchanged.
void require_writable(const std::filesystem::path& folder, const std::filesystem::path& file) {
  if (::access(folder.c_str(), W_OK | X_OK) == 0) return;
  throw Error(fmt::format("{}: cannot be written: {}", file.string(), std::generic_category().message(errno)),
              "name a file in an existing folder that you may write to");
}

// A page may replace a page or an empty file, but no other file of that name.
void require_page_or_nothing(const std::filesystem::path& file) {
  os::require_replaceable(file);
  std::error_code missing;
  if (!std::filesystem::exists(file, missing)) return;
  constexpr std::size_t kBeginning = 256;
  std::string beginning(kBeginning, '\0');
  std::ifstream in(file, std::ios::binary);
  if (!in) throw Error(file.string() + ": cannot be read, and might not be a page", "name a new file");
  in.read(beginning.data(), kBeginning);
  beginning.resize(static_cast<std::size_t>(in.gcount()));
  if (beginning.empty() || report::begins_as_page(beginning)) return;
  throw Error(file.string() + ": exists, and is not a page: it would be lost",
              "name a page or a new file, such as page.html");
}

void require_folder(const std::filesystem::path& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) {
    throw Error(fmt::format("{}: cannot be created: {}", folder.string(), failed.message()),
                "name a new folder, or one that you may write to");
  }
  require_writable(folder, folder);
}

}  // namespace

void require_outputs(const std::filesystem::path& html, const std::filesystem::path& figures) {
  if (!html.empty()) {
    report::require_charts();
    require_page_or_nothing(html);
    require_writable(std::filesystem::weakly_canonical(std::filesystem::absolute(html)).parent_path(), html);
  }
  if (!figures.empty()) require_folder(figures);
}

void write_outputs(const report::Page& page, const std::filesystem::path& html,
                   const std::filesystem::path& figures) {
  if (!html.empty()) {
    const std::string text = page.html();
    require_page_or_nothing(html);
    os::replace_text(html, text);
    fmt::print("{}: {}\n", html.string(), format_bytes(text.size()));
  }
  if (figures.empty()) return;
  const report::FiguresWritten written =
      report::write_figures(page.charts(), page.tables(), figures, page.galleries(), page.heat_maps());
  if (!written.notice.empty()) fmt::print(stderr, "note: {}\n", written.notice);
  fmt::print("{}: {} files\n", figures.string(), written.files.size());
}

void write_page_or_warn(const std::function<report::Page()>& make, const std::filesystem::path& file) {
  const auto warn = [&](const std::exception& error, const std::string& hint) {
    fmt::print(stderr, "warning: {} was not written: {}{}{}\n", file.filename().string(), error.what(),
               hint.empty() ? "" : "; hint: ", hint);
  };
  try {
    report::require_charts();
    require_page_or_nothing(file);
    os::replace_text(file, make().html());
  } catch (const Error& error) {
    warn(error, error.hint());
  } catch (const std::exception& error) {
    warn(error, {});
  }
}

namespace {

/// The models of a run, and the split of its test.
struct Tested {
  run::ModelSet models;
  data::Dataset dataset;
};

std::optional<Tested> tested_by(const report::RunRecord& run) {
  try {
    Tested tested{run::load_models(run.folder),
                  data::Dataset::open(text_at(run.evaluation, "data"), {text_at(run.evaluation, "split")},
                                      data::private_storage(0))};
    if (tested.dataset.info().content_hash != text_at(run.evaluation, "content_hash")) return std::nullopt;
    return tested;
  } catch (const Error&) {
    return std::nullopt;  // the page says why it cannot show the samples
  }
}

// Adds a member's map, scaled to at most 1, to the mean over `members`.
void add_scaled(report::Overlay& mean, const train::ActivationMap& map, std::size_t members) {
  mean.height = map.height;
  mean.width = map.width;
  mean.values.resize(map.values.size());
  const auto largest = static_cast<double>(std::ranges::max(map.values));
  if (!(largest > 0)) return;
  for (std::size_t i = 0; i < map.values.size(); ++i)
    mean.values[i] += static_cast<double>(map.values[i]) / largest / static_cast<double>(members);
}

}  // namespace

report::RunRecord with_class_maps(report::RunRecord run) {
  std::vector<report::WorstMistake> mistakes = report::worst_mistakes(run);
  std::erase_if(mistakes, [](const report::WorstMistake& mistake) { return mistake.decision < 0; });
  if (mistakes.empty()) return run;
  const std::optional<Tested> tested = tested_by(run);
  if (!tested) return run;
  const run::ModelDescription& model = tested->models.description;
  const std::optional<std::size_t> node = train::GradCam::node_of(model);
  if (!node) return run;

  run.mapped_node = model.graph.node(*node).name;
  const data::BatchLoader loader = model.loader(tested->dataset.split(text_at(run.evaluation, "split")));
  train::GradCam cam(model);
  for (const run::Member& member : tested->models.members) {
    cam.load(member.parameters);
    for (const report::WorstMistake& mistake : mistakes) {
      const std::vector<train::ActivationMap> maps = cam.maps(
          loader, static_cast<std::uint32_t>(mistake.sample), std::array{mistake.decision, mistake.truth});
      report::MistakeMaps& mean = run.maps[mistake.sample];
      add_scaled(mean.predicted, maps[0], tested->models.members.size());
      add_scaled(mean.truth, maps[1], tested->models.members.size());
    }
  }
  return run;
}

}  // namespace convoke::app
