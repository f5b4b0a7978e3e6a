#include "convoke/explore/inspection.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <set>
#include <span>

#include "convoke/explore/correlation.hpp"
#include "convoke/explore/gradients.hpp"
#include "convoke/explore/tsne.hpp"
#include "convoke/explore/vectors.hpp"

namespace convoke::explore {
namespace {

constexpr std::int64_t kComponents = 50;
constexpr std::size_t kRankOfImages = 3;
constexpr std::int64_t kRebuilt = 6;
constexpr double kSignificant = 0.01;
constexpr std::int64_t kNeighbors = 10;
constexpr std::int64_t kOwnNeighbors = 5;  // the k of far_from_their_class
constexpr std::int64_t kTrustNeighbors = 12;
constexpr std::size_t kSizeBins = 40;
constexpr std::uint64_t kDrawSample = 0, kDrawMapped = 1, kDrawRebuilt = 2, kDrawSheets = 100;

std::vector<std::int64_t> sizes_of(const data::DatasetReader& reader) {
  std::vector<std::int64_t> sizes;
  for (const auto& split : reader.splits()) sizes.push_back(split.count());
  return sizes;
}

Matrix columns_at(const Matrix& matrix, std::span<const std::int64_t> columns) {
  Matrix chosen(matrix.rows, std::ssize(columns));
  for (std::int64_t r = 0; r < chosen.rows; ++r) {
    for (std::int64_t c = 0; c < chosen.columns; ++c) {
      chosen(r, c) = matrix(r, columns[static_cast<std::size_t>(c)]);
    }
  }
  return chosen;
}

double distance_between(const Matrix& rows, std::int64_t a, std::int64_t b) {
  double squares = 0;
  for (std::int64_t c = 0; c < rows.columns; ++c)
    squares += (rows(a, c) - rows(b, c)) * (rows(a, c) - rows(b, c));
  return std::sqrt(squares);
}

std::vector<double> column_of(const Matrix& matrix, std::int64_t column) {
  std::vector<double> values;
  for (std::int64_t r = 0; r < matrix.rows; ++r) values.push_back(matrix(r, column));
  return values;
}

std::vector<Normality> normality_of(const Survey& survey) {
  std::vector<Normality> tests;
  for (std::int64_t c = 0; c < survey.rows.columns; ++c)
    tests.push_back(normality(column_of(survey.rows, c)));
  if (!tests.empty()) return tests;
  for (const Histogram& histogram : survey.histograms) {  // of 8-bit values: one bin for each value
    ByteCounts counts{};
    std::copy(histogram.counts.begin(), histogram.counts.end(), counts.begin());
    tests.push_back(normality(counts));
  }
  return tests;
}

// Averages images to few enough places that all their correlations can be shown.
PixelCorrelations pixel_correlations(const Vectors& vectors) {
  constexpr std::int64_t kMostSide = 14;
  const Shape shape = fit_within(vectors.shape, kMostSide);
  Matrix places(vectors.rows.rows, shape[0] * shape[1]);
  std::vector<double> image(static_cast<std::size_t>(shape.elements()));
  for (std::int64_t i = 0; i < places.rows; ++i) {
    area_average(vectors.rows.row(i).data(), vectors.shape, shape[0], shape[1], image.data());
    const Matrix mean = gray(shape, image);
    std::copy(mean.values.begin(), mean.values.end(), places.row(i).begin());
  }
  return {shape[0], shape[1], correlations(places)};
}

// Returns the pairs with the nearest vectors, among those that are neighbors by their principal components.
// Distances of vectors are never smaller than those. Different samples may have equal vectors, such as texts
// of the same words in another order; vectors of zeros, such as those of texts without common words, tell
// nothing.
std::vector<NearPair> nearest_pairs(const data::DatasetReader& reader, const Survey& survey,
                                    const Comparison& comparison, const Matrix& vectors,
                                    const Neighbors& neighbors, std::size_t most) {
  struct Candidate {
    double distance;
    std::int64_t a, b;
    auto operator<=>(const Candidate&) const = default;
  };
  const auto checksum = [&](std::int64_t i) {
    const SampleIndex& at = comparison.samples[static_cast<std::size_t>(i)];
    return survey.checksums[at.split][static_cast<std::size_t>(at.index)];
  };
  const auto is_zero = [&](std::int64_t i) {
    return std::ranges::all_of(vectors.row(i), [](double value) { return value == 0; });
  };
  std::set<Candidate> candidates;
  for (std::int64_t a = 0; a < vectors.rows; ++a) {
    for (std::int64_t r = 0; r < neighbors.k; ++r) {
      const std::int64_t b = neighbors.of(a, r);
      const double distance = distance_between(vectors, a, b);
      if (distance == 0 && (checksum(a) == checksum(b) || is_zero(a))) continue;
      candidates.insert({distance, std::min(a, b), std::max(a, b)});
    }
  }
  std::vector<NearPair> pairs;
  for (const Candidate& candidate : candidates) {
    if (pairs.size() == most) break;
    pairs.push_back({read_sample(reader, comparison.samples[static_cast<std::size_t>(candidate.a)]),
                     read_sample(reader, comparison.samples[static_cast<std::size_t>(candidate.b)]),
                     candidate.distance});
  }
  return pairs;
}

std::vector<Sample> sheet_of(const data::DatasetReader& reader, std::int32_t label,
                             const InspectionOptions& options) {
  for (std::size_t split = 0; split < reader.splits().size(); ++split) {
    std::vector<std::int64_t> members;
    const auto& labels = reader.splits()[split].labels;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (labels[i] == label) members.push_back(static_cast<std::int64_t>(i));
    }
    if (members.empty()) continue;
    std::vector<Sample> sheet;
    for (const std::int64_t pick : keyed_sample(std::ssize(members), options.sheet, options.seed,
                                                kDrawSheets + static_cast<std::uint64_t>(label))) {
      sheet.push_back(read_sample(reader, {split, members[static_cast<std::size_t>(pick)]}));
    }
    return sheet;
  }
  return {};
}

void compare(const data::DatasetReader& reader, const InspectionOptions& options, Inspection& result) {
  // 1. Convert a sample of all splits to vectors.
  Comparison& comparison = result.comparison;
  comparison.samples = sample_of_splits(sizes_of(reader), options.sample, options.seed, kDrawSample);
  for (const SampleIndex& at : comparison.samples) {
    comparison.labels.push_back(reader.splits()[at.split].labels[static_cast<std::size_t>(at.index)]);
  }
  std::vector<double> mean, deviation;
  for (const Moments& channel : result.survey.splits.front().channels) {
    mean.push_back(channel.mean);
    deviation.push_back(channel.deviation);
  }
  options.progress("reading a sample", 0);
  const Vectors vectors = vectors_of(reader, comparison.samples, mean, deviation);
  comparison.vectors = vectors.what;
  comparison.vector_shape = vectors.shape;

  // 2. Compute their principal components and neighbors.
  options.progress("principal components", 0);
  comparison.pca = pca(vectors.rows, kComponents);
  if (vectors.shape.rank() == kRankOfImages) {
    comparison.pixels = pixel_correlations(vectors);
    comparison.rebuilt = keyed_sample(vectors.rows.rows, kRebuilt, options.seed, kDrawRebuilt);
    comparison.originals = rows_at(vectors.rows, comparison.rebuilt);
  }
  const bool texts = reader.info().sample_type == data::SampleType::kInt32;
  for (std::int64_t c = 0; c < vectors.rows.columns && !texts; ++c)
    comparison.normal_columns += normality(column_of(vectors.rows, c)).p >= kSignificant ? 1 : 0;
  options.progress("nearest neighbors", 0);
  const Matrix& scores = comparison.pca.scores;
  const Neighbors neighbors = nearest_neighbors(scores, kNeighbors);
  comparison.neighbor_accuracy = neighbor_accuracy(neighbors, comparison.labels);
  result.near_pairs =
      nearest_pairs(reader, result.survey, comparison, vectors.rows, neighbors, options.listed);
  const auto show_all = [&](const std::vector<Atypical>& found, std::vector<Outlier>& shown) {
    for (const Atypical& each : found) {
      shown.push_back({read_sample(reader, comparison.samples[static_cast<std::size_t>(each.point)]), each});
    }
  };
  show_all(far_from_their_class(scores, comparison.labels, kOwnNeighbors, options.listed), result.far);
  show_all(suspect_labels(neighbors, comparison.labels, options.listed), result.suspect_labels);

  // 3. Map some of them.
  options.progress("t-SNE", 0);
  comparison.mapped = keyed_sample(scores.rows, options.mapped, options.seed, kDrawMapped);
  const Matrix mapped = rows_at(scores, comparison.mapped);
  TsneOptions map;
  map.perplexity = options.perplexity;
  map.seed = options.seed;
  comparison.tsne = tsne(mapped, map);
  comparison.pca_trust = trustworthiness(mapped, first_columns(mapped, 2), kTrustNeighbors);
  comparison.tsne_trust = trustworthiness(mapped, comparison.tsne, kTrustNeighbors);
}

std::vector<Extent> original_extents(const data::DatasetReader& reader) {
  const std::vector<std::int32_t> sizes =
      data::original_sizes(reader.path(), reader.splits().front().name);  // (N, 2)
  std::vector<Extent> extents;
  if (sizes.empty()) return extents;
  const bool texts = reader.info().sample_type == data::SampleType::kInt32;
  for (std::size_t axis = 0; axis < (texts ? 1 : 2); ++axis) {
    std::vector<float> values;
    for (std::size_t i = axis; i < sizes.size(); i += 2) values.push_back(static_cast<float>(sizes[i]));
    const auto least = static_cast<double>(*std::ranges::min_element(values));
    extents.push_back({texts       ? "length"
                       : axis == 0 ? "height"
                                   : "width",
                       box_plot(values), histogram_of_whole(values, least, kSizeBins)});
  }
  return extents;
}

std::optional<Extent> encoded_extent(const data::DatasetReader& reader) {
  const std::vector<std::int64_t> sizes = data::encoded_sizes(reader.path(), reader.splits().front().name);
  if (sizes.empty()) return {};
  std::vector<float> kilobytes;
  for (const std::int64_t bytes : sizes) kilobytes.push_back(static_cast<float>(bytes) / 1000);
  return Extent{"kB", box_plot(kilobytes), histogram(kilobytes, kSizeBins)};
}

// Correlates the mean images of classes: transposed, so that classes are columns.
Matrix correlations_of_means(const Survey& survey) {
  const std::vector<std::int64_t> known = survey.known_means();
  Matrix columns(survey.class_means.columns, std::ssize(known));
  for (std::int64_t v = 0; v < columns.rows; ++v) {
    for (std::int64_t c = 0; c < columns.columns; ++c) {
      columns(v, c) = survey.class_means(known[static_cast<std::size_t>(c)], v);
    }
  }
  return correlations(columns);
}

}  // namespace

std::string Inspection::class_name(std::int32_t label) const {
  return info.class_names.empty() ? std::to_string(label) : info.class_names[static_cast<std::size_t>(label)];
}

Inspection inspect(const data::DatasetReader& reader, const InspectionOptions& options) {
  Inspection result;
  const std::filesystem::path path = reader.path().lexically_normal();
  result.file = (path.has_filename() ? path : path.parent_path()).filename().string();
  result.info = reader.info();
  result.names = names_of(result.info, reader.path().string());

  // 1. Read the whole dataset once.
  const auto sizes = sizes_of(reader);
  const auto all = static_cast<double>(std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}));
  result.survey = survey(
      reader,
      {.seed = options.seed, .shown_classes = options.shown_classes, .progress = [&](std::int64_t done) {
         options.progress("reading", static_cast<double>(done) / all);
       }});
  result.originals = original_extents(reader);
  result.encoded = encoded_extent(reader);
  result.duplicates = find_duplicates(reader, result.survey.checksums, options.listed);
  for (const Duplicates::Pair& pair : result.duplicates.examples) {
    result.equal_pairs.push_back({read_sample(reader, pair.first), read_sample(reader, pair.second), 0});
  }
  result.normality = normality_of(result.survey);
  if (result.survey.rows.rows > 0) {
    result.correlation_ratios = correlation_ratios(result.survey.rows, result.survey.row_labels);
    result.correlated = largest<std::int64_t>(result.correlation_ratios, options.correlated);
    std::ranges::sort(result.correlated);
    const Matrix columns = columns_at(result.survey.rows, result.correlated);
    result.correlations = correlations(columns);
    result.rank_correlations = rank_correlations(columns);
  } else if (result.survey.class_means.rows > 0) {
    result.correlations = correlations_of_means(result.survey);
  }

  // 2. Compare a sample pair by pair.
  compare(reader, options, result);

  // 3. Choose the samples to show of each class.
  for (const std::int32_t label : result.survey.shown_classes) {
    result.sheets.push_back(sheet_of(reader, label, options));
  }
  return result;
}

}  // namespace convoke::explore
