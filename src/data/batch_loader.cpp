#include "convoke/data/batch_loader.hpp"

#include <algorithm>
#include <cassert>

#include "convert.hpp"

namespace convoke::data {
namespace {

// Sample ids[i] of `stored` to `out` + i * size, by convert_one(in, i, out).
template <class T, class Convert>
void gather(std::span<const T> stored, std::span<const std::uint32_t> ids, std::size_t size, float* out,
            Convert convert_one) {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    assert((ids[i] + std::size_t{1}) * size <= stored.size());
    convert_one(stored.data() + ids[i] * size, i, out + i * size);
  }
}

}  // namespace

BatchLoader::BatchLoader(Split split, Shape sample_shape, Normalization normalization,
                         std::shared_ptr<const Augmenter> augmenter)
    : split_(split),
      shape_(std::move(sample_shape)),
      normalization_(std::move(normalization)),
      augmenter_(std::move(augmenter)) {
  assert(may_have_rank(split_.type(), shape_.rank()));
  assert(values_in(split_.samples) == split_.labels.size() * static_cast<std::size_t>(shape_.elements()));
  assert(split_.weights.empty() || split_.weights.size() == split_.labels.size());
  assert(normalization_.scale.size() == static_cast<std::size_t>(channel_count(split_.type(), shape_)));
  assert(normalization_.shift.size() == normalization_.scale.size());
  assert(augmenter_ == nullptr || shape_.rank() == 3);
}

BatchLoader BatchLoader::in_view(const ViewKey& view) const {
  BatchLoader other = *this;
  other.view_ = view;
  return other;
}

void BatchLoader::load(std::span<const std::uint32_t> ids, std::span<float> samples,
                       std::span<std::int32_t> labels) const {
  load_pictures(ids, samples, view_ ? &*view_ : nullptr);
  load_labels(ids, labels);
}

void BatchLoader::load(std::span<const std::uint32_t> ids, std::span<float> samples, const Targets& targets,
                       const ViewKey& view) const {
  load_pictures(ids, samples, &view);
  load_labels(ids, targets.labels);
  if (mixes() && view.lane > 0) augmenter_->mix(view, ids, samples, targets);
}

void BatchLoader::load_pictures(std::span<const std::uint32_t> ids, std::span<float> samples,
                                const ViewKey* view) const {
  const auto size = static_cast<std::size_t>(shape_.elements());
  const std::size_t channels = normalization_.scale.size();
  const float* const scale = normalization_.scale.data();
  const float* const shift = normalization_.shift.data();
  assert(split_.type() != SampleType::kInt32 && samples.size() >= ids.size() * size);
  const auto image = [&](const auto* in, std::size_t, float* out) {
    convert_image(in, out, size / channels, channels, scale, shift);
  };
  const auto features = [&](const float* in, std::size_t, float* out) {
    convert_features(in, out, size / channels, channels, scale, shift);
  };
  const auto augmented = [&](const auto* in, std::size_t i, float* out) {
    augmenter_->picture(in, *view, view->sample(i, ids[i]), normalization_, out);
  };
  const bool augments = augmenter_ != nullptr && view != nullptr;
  if (split_.type() == SampleType::kUint8) {
    const auto stored = split_.values<std::uint8_t>();
    augments ? gather(stored, ids, size, samples.data(), augmented)
             : gather(stored, ids, size, samples.data(), image);
  } else {
    const auto stored = split_.values<float>();
    if (augments) {
      gather(stored, ids, size, samples.data(), augmented);
    } else if (shape_.rank() == 3) {
      gather(stored, ids, size, samples.data(), image);
    } else {
      gather(stored, ids, size, samples.data(), features);
    }
  }
}

void BatchLoader::load_tokens(std::span<const std::uint32_t> ids, std::span<std::int32_t> tokens,
                              std::span<std::int32_t> labels) const {
  const std::span<const std::int32_t> stored = split_.values<std::int32_t>();
  const auto length = static_cast<std::size_t>(shape_.elements());
  assert(tokens.size() >= ids.size() * length);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    assert(ids[i] < split_.labels.size());
    std::copy_n(stored.data() + ids[i] * length, length, tokens.data() + i * length);
  }
  load_labels(ids, labels);
}

void BatchLoader::load_weights(std::span<const std::uint32_t> ids, std::span<float> weights) const {
  assert(weights.size() >= ids.size());
  if (split_.weights.empty()) {
    std::fill_n(weights.begin(), ids.size(), 1.0F);
    return;
  }
  for (std::size_t i = 0; i < ids.size(); ++i) weights[i] = split_.weights[ids[i]];
}

void BatchLoader::load_labels(std::span<const std::uint32_t> ids, std::span<std::int32_t> labels) const {
  assert(labels.empty() || labels.size() >= ids.size());
  for (std::size_t i = 0; !labels.empty() && i < ids.size(); ++i) labels[i] = split_.labels[ids[i]];
}

}  // namespace convoke::data
