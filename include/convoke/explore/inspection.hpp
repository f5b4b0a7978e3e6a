#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "convoke/data/dataset_reader.hpp"
#include "convoke/explore/atypical.hpp"
#include "convoke/explore/duplicates.hpp"
#include "convoke/explore/exhibit.hpp"
#include "convoke/explore/names.hpp"
#include "convoke/explore/neighbours.hpp"
#include "convoke/explore/pca.hpp"
#include "convoke/explore/survey.hpp"

namespace convoke::explore {

struct InspectionOptions {
  std::uint64_t seed = 0;
  std::int64_t sample = 5000;  ///< samples that are compared with each other
  std::int64_t mapped = 2000;  ///< of these, samples on the maps
  std::int64_t shown_classes = 40;
  std::int64_t sheet = 20;       ///< samples on a class' contact sheet
  std::size_t listed = 12;       ///< duplicates, atypical samples, ... that are shown
  std::int64_t correlated = 24;  ///< features whose correlations are shown
  double perplexity = 30;
  /// Called with what is being done and how much of it, in [0, 1].
  std::function<void(std::string_view what, double done)> progress = [](std::string_view, double) {};
};

/// Two samples, and how far apart they are.
struct NearPair {
  Exhibit first, second;
  double distance = 0;
};

/// A sample that stands out, and why.
struct Oddity {
  Exhibit sample;
  double score = 0;
  std::int32_t neighbours_label = -1;  ///< of among_strangers
};

/// A keyed sample of all splits, compared with each other: as vectors, in the space of their principal
/// components.
struct Comparison {
  std::vector<Place> places;
  std::vector<std::int32_t> labels;
  std::string vectors;                   ///< what they were made of
  Shape vector_shape;                    ///< (h, w, C) where a vector is an image
  Pca pca;                               ///< at most 50 components; scores: (n, components)
  std::vector<std::int64_t> mapped;      ///< which of them are on the maps, rising
  Matrix tsne;                           ///< (mapped, 2)
  double pca_trust = 0, tsne_trust = 0;  ///< trustworthiness of both maps; NaN of very few points
  double neighbour_accuracy = 0;
};

/// An extent that samples of the training split had before they were prepared.
struct OriginalExtent {
  std::string name;  ///< "height", "width" or "length"
  BoxPlot box;
  Histogram histogram;
};

/// All that is known of a dataset after it was looked at.
struct Inspection {
  std::string file;
  data::DatasetInfo info;
  Names names;
  Survey survey;
  std::vector<OriginalExtent> originals;  ///< of pictures two, of texts one; none if the dataset does not say
  Duplicates duplicates;
  std::vector<NearPair> equal_pairs;  ///< of `duplicates`
  Comparison comparison;
  std::vector<NearPair> near_pairs;          ///< of the sample: nearest but not equal, by the vectors
  std::vector<Oddity> far;                   ///< of the sample: farthest from their own class
  std::vector<Oddity> strangers;             ///< of the sample: among samples of another class
  std::vector<std::vector<Exhibit>> sheets;  ///< by shown class: some of its samples
  /// Measured numbers: of each feature or channel, how much of its variance the class explains.
  std::vector<double> correlation_ratios;
  /// Measured numbers: of the features in `correlated`, those that the class explains best, rising. 8-bit
  /// images: of the shown classes' mean images.
  Matrix correlations;
  std::vector<std::int64_t> correlated;

  /// "cat", or the number if classes have no names.
  std::string class_name(std::int32_t label) const;
  /// "images", "tokens", "features" or "sequences".
  std::string_view kind() const { return data::kind_of(info.sample_type, info.sample_shape); }
};

/// Reads all of the dataset once, and a sample of it again. A pure function of file and options.
Inspection inspect(const data::DatasetReader& reader, const InspectionOptions& options);

}  // namespace convoke::explore
