#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "convoke/core/shape.hpp"
#include "convoke/data/dataset_reader.hpp"

// Samples of a dataset: which ones, drawn at random, and their values and names, to be shown.

namespace convoke::explore {

/// The index of a sample.
struct SampleIndex {
  std::size_t split = 0;   ///< index in DatasetReader::splits()
  std::int64_t index = 0;  ///< in that split

  friend bool operator==(const SampleIndex&, const SampleIndex&) = default;
  friend auto operator<=>(const SampleIndex&, const SampleIndex&) = default;
};

/// Draws `wanted` of the numbers 0..count-1, or all if there are no more, ascending; every choice is equally
/// likely. `draw` distinguishes samples with the same seed. R. Floyd, in J. Bentley, CACM 30(9), 1987.
std::vector<std::int64_t> keyed_sample(std::int64_t count, std::int64_t wanted, std::uint64_t seed,
                                       std::uint64_t draw);

/// Draws `wanted` samples of all splits together, whose sizes are given; in the order of the dataset.
std::vector<SampleIndex> sample_of_splits(std::span<const std::int64_t> sizes, std::int64_t wanted,
                                          std::uint64_t seed, std::uint64_t draw);

/// Calls `use` with the values of a sample: a vector of the type that the dataset has.
template <class Use>
void with_values(const data::DatasetReader& reader, SampleIndex at, const Use& use) {
  const auto read = [&]<class T>(T) {
    std::vector<T> values(reader.sample_size());
    reader.read(at.split, at.index, std::span(values));
    use(values);
  };
  switch (reader.info().sample_type) {
    case data::SampleType::kUint8:
      return read(std::uint8_t{});
    case data::SampleType::kInt32:
      return read(std::int32_t{});
    case data::SampleType::kFloat32:
      return read(float{});
  }
}

/// A sample to be shown.
struct Sample {
  SampleIndex at;
  std::int32_t label = 0;
  Shape shape;                 ///< (H, W, C), (L, F), (F) or (L); for a large image: of its thumbnail
  std::vector<double> values;  ///< in units of the stored values; averages over areas for a large image
};

/// Largest side of thumbnails, in pixels; smaller images are not changed.
constexpr std::int64_t kLargestSide = 72;

/// Reads one sample.
Sample read_sample(const data::DatasetReader& reader, SampleIndex at);

/// Averages an image (H, W, C) to (h, w, C), h <= H, w <= W: each pixel is the mean of the source pixels in
/// its area.
template <class T>
void area_average(const T* image, const Shape& stored, std::int64_t h, std::int64_t w, double* out);

/// Returns (h, w, C) with the proportions of `stored` (H, W, C) and no side above `largest`; each side has at
/// least 1 pixel.
Shape fit_within(const Shape& stored, std::int64_t largest);

/// The names of a dataset's tokens and features in its preparation (docs/formats.md); empty if it has none.
struct Names {
  std::vector<std::string> words;     ///< of each token
  std::vector<std::string> features;  ///< of each feature: "age", "color=red"
};

/// Throws Error naming `where` if the preparation is not JSON.
Names names_of(const data::DatasetInfo& info, const std::string& where);

}  // namespace convoke::explore
