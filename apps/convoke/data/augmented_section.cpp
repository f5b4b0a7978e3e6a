#include "data/augmented_section.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "convoke/core/error.hpp"
#include "convoke/data/augmenter.hpp"
#include "convoke/data/dataset.hpp"
#include "convoke/recipe/recipe.hpp"
#include "convoke/report/picture.hpp"

namespace convoke::app {
namespace {

constexpr std::uint32_t kSamples = 12;
constexpr std::uint32_t kEpochs = 7;

}  // namespace

void add_augmented(report::Page& page, const std::filesystem::path& dataset, const std::string& recipe_name) {
  const recipe::Recipe recipe = recipe::Recipe::load(recipe_name);
  if (recipe.augment == data::AugmentOptions{}) {
    throw Error(fmt::format("{}: the recipe does not augment samples", recipe_name),
                "add a section [augment], or leave --augmented out");
  }
  const data::Dataset samples = data::Dataset::open(dataset, {recipe.data.train_split});
  const data::Split& split = samples.split(recipe.data.train_split);
  const Shape& shape = samples.info().sample_shape;
  const auto augmenter = std::make_shared<const data::Augmenter>(recipe.augment, shape, split.type());
  if (split.type() != data::SampleType::kUint8)
    throw Error(
        fmt::format("{}: the samples are not 8-bit pictures, so they cannot be shown", dataset.string()));

  // Samples from all parts of the split. Each epoch takes all of them, since mixtures need partners.
  std::vector<std::uint32_t> ids;
  const auto count = static_cast<std::uint32_t>(std::min<std::int64_t>(kSamples, split.count()));
  for (std::uint32_t i = 0; i < count; ++i)
    ids.push_back(static_cast<std::uint32_t>(split.count() * i / count));
  const auto size = static_cast<std::size_t>(shape.elements());
  std::vector<std::vector<report::Picture>> rows(ids.size());
  const auto add = [&](const auto& pixels) {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto begin = pixels.begin() + static_cast<std::ptrdiff_t>(i * size);
      rows[i].push_back({shape[2], shape[1], shape[0], {begin, begin + static_cast<std::ptrdiff_t>(size)}});
    }
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

}  // namespace convoke::app
