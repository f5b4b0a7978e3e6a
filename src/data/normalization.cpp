#include "convoke/data/normalization.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"

namespace convoke::data {
namespace {

Normalization same_for_all(const DatasetInfo& info, float scale) {
  const auto channels = static_cast<std::size_t>(channel_count(info.sample_type, info.sample_shape));
  return {std::vector<float>(channels, scale), std::vector<float>(channels, 0.0F)};
}

Normalization unit(const DatasetInfo& info, const std::string& where) {
  if (info.sample_type != SampleType::kUint8) {
    throw Error(
        fmt::format("{}: normalisation \"unit\" divides by 255 and is only for uint8; these samples are {}",
                    where, name_of(info.sample_type)),
        "set data.normalize to \"standard\" or \"none\"");
  }
  return same_for_all(info, 1.0F / 255.0F);
}

// (x - mean) / std; values that never vary are only shifted. A standard deviation below what float32 can
// distinguish from the mean is the rounding error of a constant.
Normalization standard(const DatasetInfo& info, const std::string& where) {
  if (info.channel_mean.empty()) {
    throw Error(
        fmt::format("{}: normalisation \"standard\" needs the attributes channel_mean and channel_std",
                    where),
        fmt::format("add both to the file: {} values each, from the training split (docs/formats.md); or set "
                    "data.normalize to \"none\"",
                    channel_count(info.sample_type, info.sample_shape)));
  }
  constexpr double kRounding = 1e-7;
  Normalization normalization;
  for (std::size_t c = 0; c < info.channel_mean.size(); ++c) {
    const double mean = info.channel_mean[c];
    const double scale = info.channel_std[c] > kRounding * std::abs(mean) ? 1.0 / info.channel_std[c] : 1.0;
    normalization.scale.push_back(static_cast<float>(scale));
    normalization.shift.push_back(static_cast<float>(-mean * scale));
  }
  return normalization;
}

Normalization none(const DatasetInfo& info, const std::string&) { return same_for_all(info, 1.0F); }

struct NormalizationEntry {
  std::string_view name;
  Normalization (*make)(const DatasetInfo&, const std::string& where);
};
constexpr std::array kNormalizations{NormalizationEntry{"unit", unit},
                                     NormalizationEntry{"standard", standard},
                                     NormalizationEntry{"none", none}};

}  // namespace

Normalization normalization_from(const std::string& name, const DatasetInfo& info, const std::string& where) {
  const NormalizationEntry& entry = find_in(kNormalizations, name, "normalisation");
  if (info.sample_type == SampleType::kInt32 && entry.make != none) {
    throw Error(fmt::format("{}: normalisation \"{}\" is for numbers; these samples are tokens", where, name),
                "leave data.normalize out, or set it to \"none\"");
  }
  return entry.make(info, where);
}

}  // namespace convoke::data
