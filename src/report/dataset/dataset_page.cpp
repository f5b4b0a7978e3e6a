#include "convoke/report/dataset_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "convoke/core/text.hpp"
#include "shown.hpp"

namespace convoke::report {
namespace {

constexpr double kStrongImbalance = 10;
constexpr std::size_t kMostNamed = 8;
constexpr std::int64_t kColorChannels = 3;

std::int64_t all_samples(const explore::Inspection& found) {
  std::int64_t all = 0;
  for (const explore::SplitSurvey& split : found.survey.splits) all += split.count;
  return all;
}

void add_overview(Page& page, const Shown& shown, const std::string& made_by) {
  const explore::Inspection& found = shown.found;
  page.section("Overview");
  for (const std::string& finding : findings(found)) page.warning(finding);
  std::vector<std::pair<std::string, std::string>> facts{
      {"Samples", format_count(all_samples(found))},
      {"Kind", fmt::format("{} ({})", found.kind(), data::name_of(found.info.sample_type))},
      {"Shape of a sample", data::stored_shape(found.info.sample_shape).to_string()},
      {"Classes", format_count(found.info.classes)},
      {"Imbalance", fmt::format("{:.3g} : 1", imbalance(found))},
      {"Equal samples", format_count(found.duplicates.repeated)},
      {"Nearest neighbors' vote", fmt::format("{:.1f} % right", 100 * found.comparison.neighbor_accuracy)},
  };
  if (found.info.vocabulary > 0) facts.emplace_back("Vocabulary", format_count(found.info.vocabulary));
  if (!found.info.content_hash.empty()) facts.emplace_back("Content hash", found.info.content_hash);
  page.facts(facts);
  page.paragraph(fmt::format(
      "Imbalance: the size of the largest class of {} over that of the smallest. Nearest neighbors: "
      "the 10 nearest of {} samples, by principal components, vote on the class; a trained network "
      "should be right more often.",
      found.survey.splits.front().name, format_count(std::ssize(found.comparison.samples))));
  if (!found.info.provenance.empty()) page.paragraph("Source: " + found.info.provenance);
  page.paragraph(made_by);
}

}  // namespace

double imbalance(const explore::Inspection& inspection) {
  std::int64_t least = 0;
  std::int64_t most = 0;
  for (const std::int64_t count : inspection.survey.splits.front().class_counts) {
    if (count == 0) continue;
    least = least == 0 ? count : std::min(least, count);
    most = std::max(most, count);
  }
  return least > 0 ? static_cast<double>(most) / static_cast<double>(least) : 1;
}

int digits_for(const explore::Moments& moments) {
  constexpr int kFewest = 5;
  const double largest = std::max(std::abs(moments.minimum), std::abs(moments.maximum));
  return std::max(kFewest, digits_for(largest, moments.deviation / 10));
}

std::vector<std::string> findings(const explore::Inspection& found) {
  std::vector<std::string> sentences;
  const auto& splits = found.survey.splits;
  for (const explore::SplitSurvey& split : splits) {
    std::vector<std::string> empty;
    for (std::size_t k = 0; k < split.class_counts.size(); ++k) {
      if (split.class_counts[k] == 0) empty.push_back(found.class_name(static_cast<std::int32_t>(k)));
    }
    if (!empty.empty()) {
      sentences.push_back(fmt::format("Split {} has no samples of {} of {} classes: {}.", split.name,
                                      empty.size(), split.class_counts.size(), listing(empty, kMostNamed)));
    }
  }
  const explore::Duplicates& duplicates = found.duplicates;
  for (std::size_t b = 0; b < splits.size(); ++b) {
    for (std::size_t a = 0; a < b; ++a) {
      if (duplicates.between[a][b] == 0) continue;
      sentences.push_back(fmt::format("{} of the {} samples of {} are also in {}.",
                                      format_count(duplicates.between[a][b]), format_count(splits[b].count),
                                      splits[b].name, splits[a].name));
    }
  }
  if (duplicates.contradictory > 0) {
    sentences.push_back(fmt::format("{} samples equal another sample with a different label.",
                                    format_count(duplicates.contradictory)));
  }
  std::size_t constant = 0;
  for (const explore::Moments& channel : splits.front().channels) constant += channel.deviation > 0 ? 0 : 1;
  if (constant > 0) {
    sentences.push_back(fmt::format("{} of {} {} are constant in {}.", constant,
                                    splits.front().channels.size(),
                                    found.kind() == "images" ? "channels" : "features", splits.front().name));
  }
  if (const double ratio = imbalance(found); ratio >= kStrongImbalance) {
    sentences.push_back(fmt::format(
        "The largest class has {:.3g} times as many training samples as the smallest, so accuracy alone is "
        "misleading.",
        ratio));
  }
  return sentences;
}

Page dataset_page(const explore::Inspection& inspection, const std::string& made_by) {
  const Shown shown{inspection};
  Page page(inspection.file,
            fmt::format("{} {} in {} classes", format_count(all_samples(inspection)),
                        shown.tokens() ? "texts" : inspection.kind(), inspection.info.classes));
  add_overview(page, shown, made_by);
  add_classes(page, shown);
  add_originals(page, shown);
  add_encoded(page, shown);
  if (shown.tokens()) {
    add_lengths_and_words(page, shown);
  } else {
    add_values(page, shown);
    add_samples(page, shown);
    if (shown.images()) add_gradients(page, shown);
    add_correlations(page, shown);
  }
  add_maps(page, shown);
  add_reconstruction(page, shown);
  add_duplicates(page, shown);
  add_outliers(page, shown);
  return page;
}

std::string Shown::of_classes() const {
  const auto shown = std::ssize(found.survey.shown_classes);
  if (shown == found.info.classes) return "";
  return fmt::format("The {} classes with most training samples, of {}.", shown,
                     format_count(found.info.classes));
}

std::string Shown::place(explore::SampleIndex place) const {
  return fmt::format("{} {}", found.survey.splits[place.split].name, place.index);
}

std::string Shown::channel_name(std::size_t channel) const {
  const std::int64_t channels = data::channel_count(found.info.sample_type, found.info.sample_shape);
  if (!images()) {
    return found.names.features.empty() ? fmt::format("feature {}", channel) : found.names.features[channel];
  }
  if (channels == 1) return "gray";
  if (channels == kColorChannels && found.info.sample_type == data::SampleType::kUint8) {
    return channel == 0 ? "red" : channel == 1 ? "green" : "blue";
  }
  return fmt::format("channel {}", channel);
}

Picture Shown::picture(const Shape& shape, std::span<const double> values) const {
  if (found.info.sample_type == data::SampleType::kUint8) {
    return picture_of(shape, values, [](double value, std::size_t) { return value; });
  }
  const auto& channels = found.survey.splits.front().channels;
  return picture_of(shape, values, [&](double value, std::size_t c) {
    return level_between(channels[c].minimum, channels[c].maximum, value);
  });
}

Picture Shown::relief(const Shape& shape, std::span<const double> values) const {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return picture_of(shape, values, [&](double value, std::size_t) {
    return largest > 0 ? 127.5 + 127.5 * value / largest : 127.5;
  });
}

}  // namespace convoke::report
