#include "cli/options.hpp"
#include "commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/data/augmenter.hpp"
#include "convoke/data/dataset.hpp"
#include "convoke/data/dataset_reader.hpp"
#include "convoke/data/deal_groups.hpp"
#include "convoke/data_prep/assumption.hpp"
#include "convoke/explore/inspection.hpp"
#include "convoke/metrics/console.hpp"
#include "convoke/recipe/recipe.hpp"
#include "convoke/report/dataset_page.hpp"
#include "convoke/report/picture.hpp"
#include "convoke/run/environment.hpp"
#include "data/dataset_for.hpp"
#include "results/results.hpp"

namespace convoke::app {
namespace {

struct InspectOptions {
  std::string dataset;
  std::string html;       ///< the page to write; empty: none
  std::string figures;    ///< a folder for charts and tables; empty: none
  std::string augmented;  ///< a recipe whose augmentation the page shows; empty: none
  std::int64_t sample = 5000;
  std::uint64_t seed = 0;
};

constexpr const char* kInspectHelp = R"(Examples:
  convoke inspect mnist.h5                       print what a dataset holds
  convoke inspect mnist.h5 --html mnist.html     write a page with pictures, charts and maps
  convoke inspect mnist.h5 --figures figures     write its charts and tables for a paper
  convoke inspect birds.h5 --html birds.html --sample 10000
  convoke inspect leaves.h5 --html leaves.html --augmented tomato-leaf    with augmented pictures
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
    fmt::print("\n{:<24}{:>14}{:>14}{:>14}{:>14}\n", split.name, "mean", "std. dev.", "minimum", "maximum");
    for (std::size_t c = 0; c < std::min(split.channels.size(), kMostChannels); ++c) {
      const explore::Moments& m = split.channels[c];
      fmt::print("  {0:<22} {1:>13.{5}g} {2:>13.5g} {3:>13.{5}g} {4:>13.{5}g}\n",
                 fmt::format("{} {}", found.kind() == "images" ? "channel" : "feature", c), m.mean,
                 m.deviation, m.minimum, m.maximum, report::digits_for(m));
    }
    if (split.channels.size() > kMostChannels)
      fmt::print("  ({} more)\n", split.channels.size() - kMostChannels);
  }
}

void print_lengths(const explore::Inspection& found) {
  fmt::print("\n{:<24}{:>14}{:>14}{:>14}{:>14}\n", "length in tokens", "median", "95 %", "minimum",
             "maximum");
  for (const auto& split : found.survey.splits) {
    const explore::BoxPlot& box = split.lengths;
    fmt::print("  {:<22}{:>14.5g}{:>14.5g}{:>14.5g}{:>14.5g}\n", split.name, box.median, box.high,
               box.minimum, box.maximum);
  }
}

void print_comparison(const explore::Inspection& found) {
  const explore::Comparison& comparison = found.comparison;
  const auto place = [&](const explore::Sample& e) {
    return fmt::format("{} {} ({})", found.survey.splits[e.at.split].name, e.at.index,
                       found.class_name(e.label));
  };
  fmt::print("\nin a sample of {}:\n", format_count(std::ssize(comparison.samples)));
  double explained = 0;
  for (std::size_t i = 0; i < comparison.pca.variance.size(); ++i) explained += comparison.pca.share(i);
  fmt::print("  {} principal components explain {:.1f} % of the variance\n", comparison.pca.variance.size(),
             100 * explained);
  fmt::print("  the vote of the 10 nearest neighbors is right for {:.1f} %\n",
             100 * comparison.neighbor_accuracy);
  for (std::size_t i = 0; i < std::min(kMostPairs, found.near_pairs.size()); ++i) {
    const explore::NearPair& pair = found.near_pairs[i];
    fmt::print("  near:      {}, {}: distance {:.3g}\n", place(pair.first), place(pair.second),
               pair.distance);
  }
  for (std::size_t i = 0; i < std::min(kMostPairs, found.far.size()); ++i) {
    fmt::print("  atypical:  {}: {:.2f} times the usual distance from its class\n",
               place(found.far[i].sample), found.far[i].why.score);
  }
  for (std::size_t i = 0; i < std::min(kMostPairs, found.suspect_labels.size()); ++i) {
    const explore::Outlier& outlier = found.suspect_labels[i];
    fmt::print("  mislabeled? {}: {:.0f} % of its neighbors have another label, mostly {}\n",
               place(outlier.sample), 100 * outlier.why.score, found.class_name(outlier.why.majority));
  }
}

void print_encoding(const data::DatasetReader& reader) {
  std::uint64_t encoded = 0, pixels = 0;
  for (const data::DatasetReader::Part& split : reader.splits()) {
    const data::StoredLayout layout = data::stored_layout(reader.path(), split.name);
    encoded += layout.encoded_bytes;
    pixels += layout.bytes;
  }
  if (encoded > 0) fmt::print("{}\n", encoding_text(encoded, pixels));
}

void print_groups(const data::DatasetReader& reader) {
  for (const data::DatasetReader::Part& split : reader.splits()) {
    const auto groups = data::sample_groups(data::stored_groups(reader.path(), split.name));
    if (groups.empty()) continue;
    const auto sizes = [](const data::SampleGroup& group) { return std::ssize(group); };
    fmt::print("{}: {} samples in {} groups that stay whole; the largest has {}\n", split.name,
               format_count(split.count()), format_count(std::ssize(groups)),
               format_count(std::ranges::max(groups | std::views::transform(sizes))));
  }
}

/// How a recipe augments the samples of a dataset.
struct Augmentation {
  recipe::Recipe recipe;
  std::shared_ptr<const data::Augmenter> augmenter;
};

// Throws Error if the recipe does not augment, or the dataset has no 8-bit pictures or lacks the training
// split.
Augmentation augmentation_of(const data::DatasetReader& reader, const std::string& recipe_name) {
  recipe::Recipe recipe = recipe::Recipe::load(recipe_name);
  if (!recipe.augment.changes_anything()) {
    throw Error(fmt::format("{}: the recipe does not augment samples", recipe_name),
                "add a section [augment], or leave --augmented out");
  }
  const data::SampleType type = reader.info().sample_type;
  auto augmenter = std::make_shared<const data::Augmenter>(recipe.augment, reader.info().sample_shape, type);
  if (type != data::SampleType::kUint8) {
    throw Error(fmt::format("{}: the samples are not 8-bit pictures, so they cannot be shown",
                            reader.path().string()));
  }
  data::stored_layout(reader.path(), recipe.data.train_split);  // throws if there is no such split
  return {std::move(recipe), std::move(augmenter)};
}

// Adds a section with some training samples of the dataset, each as stored and as augmented by the recipe in
// its first epochs.
void add_augmented(report::Page& page, const std::filesystem::path& dataset,
                   const Augmentation& augmentation) {
  constexpr std::uint32_t kSamples = 12, kEpochs = 7;
  const auto& [recipe, augmenter] = augmentation;
  const data::Dataset samples = data::Dataset::open(dataset, {recipe.data.train_split});
  const data::Split& split = samples.split(recipe.data.train_split);
  const Shape& shape = samples.info().sample_shape;

  // Samples from all parts of the split. Each epoch takes all of them, since mixtures need partners.
  std::vector<std::uint32_t> ids;
  const auto count = static_cast<std::uint32_t>(std::min<std::int64_t>(kSamples, split.count()));
  for (std::uint32_t i = 0; i < count; ++i)
    ids.push_back(static_cast<std::uint32_t>(split.count() * i / count));
  const auto size = static_cast<std::size_t>(shape.elements());
  std::vector<std::vector<report::Picture>> rows(ids.size());
  const auto add = [&](std::span<const std::uint8_t> pixels) {
    for (std::size_t i = 0; i < ids.size(); ++i)
      rows[i].push_back(report::picture_of(data::stored_shape(shape), pixels.subspan(i * size, size)));
  };
  std::vector<std::uint8_t> stored;
  for (const std::uint32_t id : ids) {
    const auto values = split.values<std::uint8_t>().subspan(id * size, size);
    stored.insert(stored.end(), values.begin(), values.end());
  }
  add(stored);
  for (std::uint32_t epoch = 0; epoch < kEpochs; ++epoch) {
    add(data::augmented_pictures(
        split, shape, augmenter, ids,
        {.seed = recipe.seed, .epoch = epoch, .micro_batch = augmenter->mixes() ? count : 0}));
  }

  page.section("As the network sees them");
  page.paragraph(fmt::format(
      "The first picture of each row is a stored training sample; the others show how the recipe {} "
      "augments it in its first {} epochs.",
      recipe.name, kEpochs));
  std::vector<report::Figure> figures;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::int32_t label = split.labels[ids[i]];
    const std::vector<std::string>& names = samples.info().class_names;
    figures.push_back(
        {report::contact_sheet(rows[i], std::ssize(rows[i])),
         fmt::format("{} {} ({})", recipe.data.train_split, ids[i],
                     names.empty() ? std::to_string(label) : names[static_cast<std::size_t>(label)])});
  }
  page.add(figures);
}

int inspect(const InspectOptions& options) {
  // 1. Check that the page and the figures can be written, and samples augmented, before the long work.
  require_outputs(options.html, options.figures);
  const data::DatasetReader reader(options.dataset);
  std::optional<Augmentation> augmentation;
  if (!options.augmented.empty()) augmentation = augmentation_of(reader, options.augmented);

  // 2. Inspect the dataset.
  explore::InspectionOptions work;
  work.seed = options.seed;
  work.sample = options.sample;
  constexpr int kSteps = 1000;
  std::string phase;
  std::optional<metrics::Progress> progress;  // of the phase
  work.progress = [&](std::string_view now, double done) {
    if (now != phase) {
      phase = now;
      progress.emplace(phase, done > 0 ? kSteps : 0, true);  // a phase that begins at 0 tells no more
    }
    progress->update(std::llround(done * kSteps), {});
  };
  const explore::Inspection found = explore::inspect(reader, work);
  progress.reset();

  // 3. Print the findings.
  fmt::print("{}: {} of {} ({}), {} classes\n", options.dataset, found.kind(),
             data::stored_shape(found.info.sample_shape).to_string(), data::name_of(found.info.sample_type),
             found.info.classes);
  if (!found.info.provenance.empty()) fmt::print("{}\n", found.info.provenance);
  const auto assumptions = data_prep::assumptions_from(found.info.assumptions, options.dataset);
  if (!assumptions.empty()) fmt::print("its source was taken for:\n{}", data_prep::to_text(assumptions));
  print_encoding(reader);
  print_groups(reader);
  print_classes(found);
  if (found.kind() == "tokens") {
    print_lengths(found);
  } else {
    print_values(found);
  }
  print_comparison(found);
  fmt::print("\n");
  for (const std::string& finding : report::findings(found)) fmt::print("note: {}\n", finding);

  // 4. Write the page, and the figures for a paper.
  if (options.html.empty() && options.figures.empty()) return EXIT_SUCCESS;
  const std::string made_by =
      fmt::format("Made by convoke {} inspect, seed {}, {} samples compared.", run::convoke_version(),
                  options.seed, format_count(std::ssize(found.comparison.samples)));
  report::Page page = report::dataset_page(found, made_by);
  if (augmentation) add_augmented(page, options.dataset, *augmentation);
  write_outputs(page, options.html, options.figures);
  return EXIT_SUCCESS;
}

}  // namespace

std::function<int()> add_inspect(CLI::App& parser) {
  auto options = std::make_shared<InspectOptions>();
  add_option(parser, "dataset", options->dataset, "DATASET", "A dataset that convoke prepare has written")
      ->required();
  CLI::Option* html =
      add_option(parser, "--html", options->html, "FILE.html",
                 "Write a page with pictures, charts and maps, which needs no network connection");
  add_option(parser, "--figures", options->figures, "FOLDER",
             "Write the charts (SVG and PDF, by gnuplot), tables (LaTeX and CSV) and pictures (PNG) into "
             "this folder");
  add_option(parser, "--augmented", options->augmented, "RECIPE",
             "Show on the page how this recipe augments the training samples")
      ->needs(html);
  add_option(parser, "--sample", options->sample, "N",
             "Number of samples that are compared with each other, for neighbors, maps and unusual "
             "samples")
      ->check(in_range(1, 50'000))
      ->capture_default_str();
  add_option(parser, "--seed", options->seed, "SEED",
             "Seed of the choice of samples; equal seeds give equal pages")
      ->capture_default_str();
  parser.footer(kInspectHelp);
  return [options] { return inspect(*options); };
}

}  // namespace convoke::app
