#include "convoke/explore/vectors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "convoke/core/random.hpp"
#include "convoke/core/text.hpp"

namespace convoke::explore {

namespace {

constexpr std::size_t kImageRank = 3;
constexpr std::int64_t kMostTokens = 1000;
constexpr double kLargestByte = 255;

// Returns the largest size with the image's proportions that has at most kMostColumns values.
Shape reduced(const Shape& stored) {
  std::int64_t side = std::max(stored[0], stored[1]);
  while (side > 1 && fit_within(stored, side).elements() > kMostColumns) --side;
  return fit_within(stored, side);
}

Vectors byte_images(const data::DatasetReader& reader, std::span<const SampleIndex> places) {
  const Shape stored = data::stored_shape(reader.info().sample_shape);
  const Shape shape = reduced(stored);
  Vectors vectors{Matrix(static_cast<std::int64_t>(places.size()), shape.elements()), shape, "pixels"};
  if (shape != stored) vectors.what = fmt::format("pixels, averaged to {} x {}", shape[0], shape[1]);
  std::vector<std::uint8_t> image(reader.sample_size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    reader.read(places[i].split, places[i].index, std::span(image));
    const std::span<double> row = vectors.rows.row(static_cast<std::int64_t>(i));
    area_average(image.data(), stored, shape[0], shape[1], row.data());
    for (double& value : row) value /= kLargestByte;
  }
  return vectors;
}

/// Adds many features up in few columns; column and sign are keyed by the feature.
class FeatureHash {
 public:
  explicit FeatureHash(std::int64_t features) {
    for (std::int64_t f = 0; f < features; ++f) {
      RandomStream random({0, Purpose::kExplore, 2, static_cast<std::uint64_t>(f)});
      column_.push_back(random.below(static_cast<std::uint64_t>(kMostColumns)));
      sign_.push_back(random.below(2) == 0 ? 1.0 : -1.0);
    }
  }
  void add(std::span<const double> features, std::span<double> row) const {
    for (std::size_t f = 0; f < features.size(); ++f) row[column_[f]] += sign_[f] * features[f];
  }

 private:
  std::vector<std::uint64_t> column_;
  std::vector<double> sign_;
};

// Treats a sequence (L, F) as an image of L rows, one column and F channels, which is averaged over time.
Shape as_image(const Shape& stored) {
  if (stored.rank() == kImageRank) return stored;
  return stored.rank() == 2 ? Shape{stored[0], 1, stored[1]} : Shape{1, 1, stored[0]};
}

Vectors numbers(const data::DatasetReader& reader, std::span<const SampleIndex> places,
                std::span<const double> mean, std::span<const double> deviation) {
  const Shape stored = as_image(data::stored_shape(reader.info().sample_shape));
  const auto channels = static_cast<std::size_t>(stored[2]);
  const bool hashed = stored[2] > kMostColumns;
  const Shape shape = reduced(stored);
  const std::int64_t columns = hashed ? kMostColumns : shape.elements();
  Vectors vectors{Matrix(static_cast<std::int64_t>(places.size()), columns),
                  reader.info().sample_shape.rank() == kImageRank && !hashed ? shape : Shape{},
                  "standardized values"};
  if (hashed) {
    vectors.what = fmt::format("standardized values, hashed to {} columns", kMostColumns);
  } else if (shape != stored) {
    vectors.what = fmt::format("standardized values, averaged to {}", shape.to_string());
  }
  const FeatureHash hash(hashed ? shape.elements() : 0);
  std::vector<float> sample(reader.sample_size());
  std::vector<double> averaged(static_cast<std::size_t>(shape.elements()));
  for (std::size_t i = 0; i < places.size(); ++i) {
    reader.read(places[i].split, places[i].index, std::span(sample));
    area_average(sample.data(), stored, shape[0], shape[1], averaged.data());
    for (std::size_t v = 0; v < averaged.size(); ++v) {
      const double spread = deviation[v % channels];
      averaged[v] = spread > 0 ? (averaged[v] - mean[v % channels]) / spread : 0;
    }
    const std::span<double> row = vectors.rows.row(static_cast<std::int64_t>(i));
    if (hashed) {
      hash.add(averaged, row);
    } else {
      std::copy(averaged.begin(), averaged.end(), row.begin());
    }
  }
  return vectors;
}

/// The distinct tokens of a text without padding, and their frequencies.
using Bag = std::vector<std::pair<std::int32_t, double>>;

Bag bag_of(std::vector<std::int32_t>& tokens) {
  std::ranges::sort(tokens);
  Bag bag;
  for (const std::int32_t token : tokens) {
    if (token == 0) continue;
    if (bag.empty() || bag.back().first != token) bag.emplace_back(token, 0.0);
    bag.back().second += 1;
  }
  return bag;
}

//   x_t = count_t (ln(n / n_t) + 1), over the length of the vector
Vectors texts(const data::DatasetReader& reader, std::span<const SampleIndex> places) {
  std::vector<Bag> bags;
  std::map<std::int32_t, std::int64_t> having;  // by token: the number of samples that have it
  for (const SampleIndex& place : places) {
    std::vector<std::int32_t> tokens(reader.sample_size());
    reader.read(place.split, place.index, std::span(tokens));
    bags.push_back(bag_of(tokens));
    for (const auto& [token, count] : bags.back()) ++having[token];
  }
  std::vector<std::int32_t> tokens;
  std::vector<std::int64_t> counts;
  for (const auto& [token, count] : having) {
    tokens.push_back(token);
    counts.push_back(count);
  }
  const auto kept = largest<std::size_t>(counts, kMostTokens);
  std::map<std::int32_t, std::size_t> column;
  for (std::size_t c = 0; c < kept.size(); ++c) column[tokens[kept[c]]] = c;

  Vectors vectors{
      Matrix(static_cast<std::int64_t>(places.size()), std::max<std::int64_t>(1, std::ssize(kept))),
      {},
      fmt::format("tf-idf of the {} most common tokens", format_count(std::ssize(kept)))};
  for (std::size_t i = 0; i < bags.size(); ++i) {
    const std::span<double> row = vectors.rows.row(static_cast<std::int64_t>(i));
    double squares = 0;
    for (const auto& [token, count] : bags[i]) {
      const auto at = column.find(token);
      if (at == column.end()) continue;
      const auto samples = static_cast<double>(having[token]);
      const double value = count * (std::log(static_cast<double>(places.size()) / samples) + 1);
      row[at->second] = value;
      squares += value * value;
    }
    for (double& value : row) value = squares > 0 ? value / std::sqrt(squares) : 0;
  }
  return vectors;
}

}  // namespace

Vectors vectors_of(const data::DatasetReader& reader, std::span<const SampleIndex> places,
                   std::span<const double> mean, std::span<const double> deviation) {
  switch (reader.info().sample_type) {
    case data::SampleType::kUint8:
      return byte_images(reader, places);
    case data::SampleType::kInt32:
      return texts(reader, places);
    default:
      return numbers(reader, places, mean, deviation);
  }
}

Matrix first_columns(const Matrix& matrix, std::int64_t columns) {
  Matrix first(matrix.rows, std::min(columns, matrix.columns));
  for (std::int64_t r = 0; r < matrix.rows; ++r) {
    std::copy_n(matrix.row(r).begin(), first.columns, first.row(r).begin());
  }
  return first;
}

Matrix rows_at(const Matrix& matrix, std::span<const std::int64_t> rows) {
  Matrix chosen(std::ssize(rows), matrix.columns);
  for (std::int64_t i = 0; i < chosen.rows; ++i) {
    std::copy_n(matrix.row(rows[static_cast<std::size_t>(i)]).begin(), matrix.columns, chosen.row(i).begin());
  }
  return chosen;
}

}  // namespace convoke::explore
