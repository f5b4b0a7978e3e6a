#include "convoke/explore/sample.hpp"

#include <algorithm>
#include <numeric>
#include <type_traits>
#include <unordered_set>

#include "convoke/core/lookup.hpp"
#include "convoke/core/random.hpp"
#include "convoke/core/settings.hpp"
#include "convoke/metrics/json.hpp"

namespace convoke::explore {
namespace {

constexpr std::size_t kPictureRank = 3;

// A numeric column gives one feature, a column of categories one for each category.
void add_column(const Settings& column, std::vector<std::string>& features) {
  const std::string name = text_at(column, "name");
  if (column.find("categories") == nullptr) features.push_back(name);
  for (const Value& category : list_at(column, "categories")) {
    features.push_back(name + "=" + category.plain_text());
  }
}

}  // namespace

std::vector<std::int64_t> keyed_sample(std::int64_t count, std::int64_t wanted, std::uint64_t seed,
                                       std::uint64_t draw) {
  if (wanted >= count) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(count));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  RandomStream random({seed, Purpose::kExplore, 1, draw});
  std::unordered_set<std::int64_t> taken;
  for (std::int64_t last = count - wanted; last < count; ++last) {
    const auto pick = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(last + 1)));
    if (!taken.insert(pick).second) taken.insert(last);
  }
  std::vector<std::int64_t> chosen(taken.begin(), taken.end());
  std::ranges::sort(chosen);
  return chosen;
}

std::vector<SampleIndex> sample_of_splits(std::span<const std::int64_t> sizes, std::int64_t wanted,
                                          std::uint64_t seed, std::uint64_t draw) {
  const std::int64_t count = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  std::vector<SampleIndex> chosen;
  std::size_t split = 0;
  std::int64_t before = 0;  // samples of the splits before this one
  for (const std::int64_t number : keyed_sample(count, wanted, seed, draw)) {
    while (number - before >= sizes[split]) before += sizes[split++];
    chosen.push_back({split, number - before});
  }
  return chosen;
}

Sample read_sample(const data::DatasetReader& reader, SampleIndex at) {
  const Shape stored = data::stored_shape(reader.info().sample_shape);
  Sample sample{at, reader.splits()[at.split].labels[static_cast<std::size_t>(at.index)], stored, {}};
  with_values(reader, at, [&](const auto& values) {
    if (stored.rank() != kPictureRank) {
      sample.values.assign(values.begin(), values.end());
      return;
    }
    sample.shape = fit_within(stored, kLargestSide);
    sample.values.resize(static_cast<std::size_t>(sample.shape.elements()));
    if constexpr (!std::is_same_v<decltype(values), const std::vector<std::int32_t>&>) {  // no image
      area_average(values.data(), stored, sample.shape[0], sample.shape[1], sample.values.data());
    }
  });
  return sample;
}

//   out[y][x][c] = mean of image[v][u][c] over v in [y H / h, (y + 1) H / h), u in [x W / w, (x + 1) W / w)
template <class T>
void area_average(const T* image, const Shape& stored, std::int64_t h, std::int64_t w, double* out) {
  const std::int64_t height = stored[0];
  const std::int64_t width = stored[1];
  const std::int64_t channels = stored[2];
  for (std::int64_t y = 0; y < h; ++y) {
    for (std::int64_t x = 0; x < w; ++x) {
      const std::int64_t top = y * height / h, bottom = (y + 1) * height / h;
      const std::int64_t left = x * width / w, right = (x + 1) * width / w;
      const double area = static_cast<double>((bottom - top) * (right - left));
      for (std::int64_t c = 0; c < channels; ++c) {
        double sum = 0;
        for (std::int64_t v = top; v < bottom; ++v) {
          for (std::int64_t u = left; u < right; ++u) {
            sum += static_cast<double>(image[(v * width + u) * channels + c]);
          }
        }
        out[(y * w + x) * channels + c] = sum / area;
      }
    }
  }
}

template void area_average(const std::uint8_t*, const Shape&, std::int64_t, std::int64_t, double*);
template void area_average(const float*, const Shape&, std::int64_t, std::int64_t, double*);
template void area_average(const double*, const Shape&, std::int64_t, std::int64_t, double*);

Shape fit_within(const Shape& stored, std::int64_t largest) {
  const std::int64_t side = std::max(stored[0], stored[1]);
  if (side <= largest) return stored;
  const auto scaled = [&](std::int64_t extent) { return std::max<std::int64_t>(1, extent * largest / side); };
  return {scaled(stored[0]), scaled(stored[1]), stored[2]};
}

Names names_of(const data::DatasetInfo& info, const std::string& where) {
  Names names;
  if (info.preparation.empty()) return names;
  const Settings preparation = metrics::settings_from_json(info.preparation, where + ": preparation");
  for (const Value& word : list_at(preparation, "vocabulary")) names.words.push_back(word.plain_text());
  for (const Settings& column : tables_at(preparation, "columns")) add_column(column, names.features);
  // If features were removed, the numbers do not match and the names would be wrong.
  const auto features = static_cast<std::size_t>(data::channel_count(info.sample_type, info.sample_shape));
  if (names.features.size() != features) names.features.clear();
  return names;
}

}  // namespace convoke::explore
