#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "convoke/data/dataset_reader.hpp"
#include "convoke/explore/distribution.hpp"
#include "convoke/explore/duplicates.hpp"
#include "convoke/explore/neighbors.hpp"
#include "convoke/explore/pca.hpp"
#include "convoke/explore/sample.hpp"
#include "convoke/explore/survey.hpp"

namespace convoke::explore {

struct InspectionOptions {
  std::uint64_t seed = 0;
  std::int64_t sample = 5000;  ///< samples that are compared with all others
  std::int64_t mapped = 2000;  ///< samples of these that are on the maps
  std::int64_t shown_classes = 40;
  std::int64_t sheet = 20;       ///< samples on a class's contact sheet
  std::size_t listed = 12;       ///< duplicates, atypical samples, ... that are shown
  std::int64_t correlated = 24;  ///< features whose correlations are shown
  double perplexity = 30;
  /// Called with the current work and its finished share, in [0, 1].
  std::function<void(std::string_view what, double done)> progress = [](std::string_view, double) {};
};

/// Two samples, and the distance between them.
struct NearPair {
  Sample first, second;
  double distance = 0;
};

/// An unusual sample, and why.
struct Outlier {
  Sample sample;
  Atypical why;
};

/// Correlations of places of the image: pixels, or means of areas of pixels, all channels together.
struct PixelCorrelations {
  std::int64_t height = 0, width = 0;  ///< in places
  Matrix correlations;                 ///< (height x width, height x width), places row by row
};

/// A keyed sample of all splits, compared pair by pair: as vectors, in the space of their principal
/// components.
struct Comparison {
  std::vector<SampleIndex> samples;
  std::vector<std::int32_t> labels;
  std::string vectors;                   ///< how the vectors were made
  Shape vector_shape;                    ///< (h, w, C) if a vector is an image
  Pca pca;                               ///< at most 50 components; scores: (n, components)
  PixelCorrelations pixels;              ///< images only
  std::int64_t normal_columns = 0;       ///< of the vectors: those for which normality is not rejected at 1 %
  std::vector<std::int64_t> rebuilt;     ///< indices of samples that are shown as made of few components
  Matrix originals;                      ///< their vectors
  std::vector<std::int64_t> mapped;      ///< indices of the samples on the maps, ascending
  Matrix tsne;                           ///< (mapped, 2)
  double pca_trust = 0, tsne_trust = 0;  ///< trustworthiness of both maps; NaN for very few points
  double neighbor_accuracy = 0;
};

/// The distribution of a size of the training samples.
struct Extent {
  std::string name;  ///< "height", "width", "length" or "kB"
  BoxPlot box;
  Histogram histogram;
};

/// The results of inspecting a dataset.
struct Inspection {
  std::string file;
  data::DatasetInfo info;
  Names names;
  Survey survey;
  std::vector<Extent> originals;  ///< before preparing: two for pictures, one for texts; empty if unknown
  std::optional<Extent> encoded;  ///< of the pictures in the file, if they are encoded
  Duplicates duplicates;
  std::vector<NearPair> equal_pairs;  ///< of `duplicates`
  Comparison comparison;
  std::vector<NearPair> near_pairs;         ///< in the sample: nearest by the vectors, but not equal
  std::vector<Outlier> far;                 ///< in the sample: farthest from their own class
  std::vector<Outlier> suspect_labels;      ///< in the sample: among samples of another class
  std::vector<std::vector<Sample>> sheets;  ///< for each shown class: some of its samples
  /// Measured numbers: the share of each feature's or channel's variance that the class explains.
  std::vector<double> correlation_ratios;
  /// For each channel or feature of the training split: 8-bit values: of all values, others: of survey.rows.
  std::vector<Normality> normality;
  /// Measured numbers: correlations of the features in `correlated`, those that the class explains best,
  /// ascending. 8-bit images: correlations of the shown classes' mean images.
  Matrix correlations;
  Matrix rank_correlations;  ///< of the features in `correlated`, by Spearman
  std::vector<std::int64_t> correlated;

  /// Returns "cat", or the number if classes have no names.
  std::string class_name(std::int32_t label) const;
  /// Returns "images", "tokens", "features" or "sequences".
  std::string_view kind() const { return data::kind_of(info.sample_type, info.sample_shape); }
};

/// Reads the whole dataset once, and a sample of it again. A pure function of file and options.
Inspection inspect(const data::DatasetReader& reader, const InspectionOptions& options);

}  // namespace convoke::explore
