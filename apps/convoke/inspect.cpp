#include "inspect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "augmented_section.hpp"
#include "convoke/core/text.hpp"
#include "convoke/data/dataset_reader.hpp"
#include "convoke/explore/inspection.hpp"
#include "convoke/report/dataset_page.hpp"
#include "convoke/run/environment.hpp"
#include "page_file.hpp"

namespace convoke::app {
namespace {

constexpr const char* kInspectExamples = R"(Examples:
  convoke inspect mnist.h5                       what is in a dataset, on the terminal
  convoke inspect mnist.h5 --html mnist.html     the same as a page with pictures, charts and maps
  convoke inspect mnist.h5 --figures figures     its charts (SVG, PDF) and tables (LaTeX, CSV) for a paper
  convoke inspect birds.h5 --html birds.html --sample 10000
  convoke inspect leaves.h5 --html leaves.html --augmented tomato-leaf     and what the network will see
)";

constexpr std::size_t kMostClasses = 20;
constexpr std::size_t kMostChannels = 8;
constexpr std::size_t kMostPairs = 5;

void print_classes(const explore::Inspection& found) {
  fmt::print("\n{:<24}", "class");
  for (const auto& split : found.survey.splits) fmt::print("{:>14}", split.name);
  fmt::print("\n");
  const auto classes = static_cast<std::size_t>(found.info.classes);
  for (std::size_t k = 0; k < std::min(classes, kMostClasses); ++k) {
    fmt::print("{:<24}", found.class_name(static_cast<std::int32_t>(k)));
    for (const auto& split : found.survey.splits) fmt::print("{:>14}", format_count(split.class_counts[k]));
    fmt::print("\n");
  }
  if (classes > kMostClasses) fmt::print("{:<24}\n", fmt::format("({} more)", classes - kMostClasses));
  fmt::print("{:<24}", "all");
  for (const auto& split : found.survey.splits) fmt::print("{:>14}", format_count(split.count));
  fmt::print("\n{:<24}{:>13.3g}:1\n", "imbalance", report::imbalance(found));
}

void print_values(const explore::Inspection& found) {
  for (const auto& split : found.survey.splits) {
    fmt::print("\n{:<24}{:>14}{:>14}{:>14}{:>14}\n", split.name, "mean", "deviation", "least", "largest");
    for (std::size_t c = 0; c < std::min(split.channels.size(), kMostChannels); ++c) {
      const explore::Moments& m = split.channels[c];
      fmt::print("  {:<22}{:>14.5g}{:>14.5g}{:>14.5g}{:>14.5g}\n",
                 fmt::format("{} {}", found.kind() == "images" ? "channel" : "feature", c), m.mean,
                 m.deviation, m.minimum, m.maximum);
    }
    if (split.channels.size() > kMostChannels)
      fmt::print("  ({} more)\n", split.channels.size() - kMostChannels);
  }
}

void print_lengths(const explore::Inspection& found) {
  fmt::print("\n{:<24}{:>14}{:>14}{:>14}{:>14}\n", "length in tokens", "median", "95 %", "least", "largest");
  for (const auto& split : found.survey.splits) {
    const explore::BoxPlot& box = split.lengths;
    fmt::print("  {:<22}{:>14.5g}{:>14.5g}{:>14.5g}{:>14.5g}\n", split.name, box.median, box.high,
               box.minimum, box.maximum);
  }
}

void print_comparison(const explore::Inspection& found) {
  const explore::Comparison& comparison = found.comparison;
  const auto place = [&](const explore::Exhibit& e) {
    return fmt::format("{} {} ({})", found.survey.splits[e.place.split].name, e.place.index,
                       found.class_name(e.label));
  };
  fmt::print("\nof a sample of {}:\n", format_count(std::ssize(comparison.places)));
  double explained = 0;
  for (std::size_t i = 0; i < comparison.pca.variance.size(); ++i) explained += comparison.pca.share(i);
  fmt::print("  {} principal components explain {:.1f} % of the variance\n", comparison.pca.variance.size(),
             100 * explained);
  fmt::print("  a vote of the 10 nearest neighbours is right for {:.1f} %\n",
             100 * comparison.neighbour_accuracy);
  for (std::size_t i = 0; i < std::min(kMostPairs, found.near_pairs.size()); ++i) {
    const explore::NearPair& pair = found.near_pairs[i];
    fmt::print("  near:      {}, {}: distance {:.3g}\n", place(pair.first), place(pair.second),
               pair.distance);
  }
  for (std::size_t i = 0; i < std::min(kMostPairs, found.far.size()); ++i) {
    fmt::print("  atypical:  {}: {:.2f} times as far from its class as usual\n", place(found.far[i].sample),
               found.far[i].score);
  }
  for (std::size_t i = 0; i < std::min(kMostPairs, found.strangers.size()); ++i) {
    const explore::Oddity& odd = found.strangers[i];
    fmt::print("  stranger:  {}: {:.0f} % of its neighbours differ, mostly {}\n", place(odd.sample),
               100 * odd.score, found.class_name(odd.neighbours_label));
  }
}

}  // namespace

void add_inspect(CLI::App& parser, InspectOptions& options) {
  parser.add_option("dataset", options.dataset, "A dataset, as `convoke prepare` makes it")
      ->required()
      ->type_name("DATASET");
  parser
      .add_option("--html", options.html,
                  "Write a page with pictures, charts and maps, which needs no network")
      ->type_name("FILE");
  parser
      .add_option(
          "--figures", options.figures,
          "Write the page's charts as SVG and PDF (by gnuplot), tables as LaTeX and CSV, pictures as PNG")
      ->type_name("FOLDER");
  parser
      .add_option("--augmented", options.augmented,
                  "Show on the page how a recipe augments the training samples")
      ->type_name("RECIPE")
      ->needs("--html");
  parser
      .add_option("--sample", options.sample,
                  "How many samples are compared with each other: neighbours, maps, atypical ones")
      ->check(CLI::Range(1, 50'000))
      ->capture_default_str();
  parser.add_option("--seed", options.seed, "Of the choice of samples; equal seeds give equal pages")
      ->capture_default_str();
  parser.footer(kInspectExamples);
}

int inspect(const InspectOptions& options) {
  // 1. Whether there can be a page and figures, before anything takes time.
  require_outputs(options.html, options.figures);

  // 2. What there is.
  const data::DatasetReader reader(options.dataset);
  explore::InspectionOptions work;
  work.seed = options.seed;
  work.sample = options.sample;
  const explore::Inspection found = explore::inspect(reader, work);

  // 3. On the terminal.
  fmt::print("{}: {} of {} ({}), {} classes\n", options.dataset, found.kind(),
             data::stored_shape(found.info.sample_shape).to_string(), data::name_of(found.info.sample_type),
             found.info.classes);
  if (!found.info.provenance.empty()) fmt::print("{}\n", found.info.provenance);
  print_classes(found);
  if (found.kind() == "tokens") {
    print_lengths(found);
  } else {
    print_values(found);
  }
  print_comparison(found);
  fmt::print("\n");
  for (const std::string& finding : report::findings(found)) fmt::print("note: {}\n", finding);

  // 4. As a page, and as figures for a paper.
  if (options.html.empty() && options.figures.empty()) return EXIT_SUCCESS;
  const std::string made_by =
      fmt::format("Made by convoke {} inspect, seed {}, {} samples compared.", run::convoke_version(),
                  options.seed, format_count(std::ssize(found.comparison.places)));
  report::Page page = report::dataset_page(found, made_by);
  if (!options.augmented.empty()) add_augmented(page, options.dataset, options.augmented);
  write_outputs(page, options.html, options.figures);
  return EXIT_SUCCESS;
}

}  // namespace convoke::app
