#include "convoke/data/batch_loader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "convert.hpp"
#include "convoke/core/error.hpp"

namespace convoke::data {
namespace {

/// The samples `ids`: within a split in memory, or one after the other where a stream has put them. `size`:
/// values of a sample.
template <class T>
class Located {
 public:
  Located(const Split& split, std::span<const std::uint32_t> ids, std::size_t size)
      : ids_(ids),
        size_(size),
        streamed_(split.stream != nullptr),
        first_(streamed_ ? reinterpret_cast<const T*>(split.stream->fetch(ids)) : split.values<T>().data()) {
    ensure(std::all_of(ids.begin(), ids.end(), [&](std::uint32_t id) { return id < split.labels.size(); }),
           "a sample id lies within the split");
  }

  /// Sample ids[i].
  const T* operator[](std::size_t i) const { return first_ + (streamed_ ? i : ids_[i]) * size_; }

 private:
  std::span<const std::uint32_t> ids_;
  std::size_t size_;
  bool streamed_;
  const T* first_;
};

// Converts sample ids[i] to `out` + i * size, by convert_one(in, i, out).
template <class T, class Convert>
void gather(const Split& split, std::span<const std::uint32_t> ids, std::size_t size, float* out,
            Convert convert_one) {
  const Located<T> at(split, ids, size);
  for (std::size_t i = 0; i < ids.size(); ++i) convert_one(at[i], i, out + i * size);
}

}  // namespace

BatchLoader::BatchLoader(Split split, Shape sample_shape, Normalization normalization,
                         std::shared_ptr<const Augmenter> augmenter)
    : split_(split),
      shape_(std::move(sample_shape)),
      normalization_(std::move(normalization)),
      augmenter_(std::move(augmenter)) {
  ensure(may_have_rank(split_.type(), shape_.rank()), "samples of this type may have this shape");
  ensure(split_.stream ||
             values_in(split_.samples) == split_.labels.size() * static_cast<std::size_t>(shape_.elements()),
         "a sample for each label");
  ensure(split_.weights.empty() || split_.weights.size() == split_.labels.size(), "a weight for each label");
  const auto channels = static_cast<std::size_t>(channel_count(split_.type(), shape_));
  if (normalization_.scale.size() != channels || normalization_.shift.size() != channels) {
    throw Error(fmt::format("samples of shape {} have {} channels, but the normalization has {}",
                            shape_.to_string(), channels, normalization_.scale.size()));
  }
  ensure(augmenter_ == nullptr || shape_.rank() == 3, "only images are augmented");
  ensure(!normalization_.reversed || shape_.rank() == 3, "only images have an order of channels");
}

BatchLoader BatchLoader::in_view(const ViewKey& view) const {
  BatchLoader other = *this;
  other.view_ = view;
  return other;
}

BatchLoader BatchLoader::with_soft_labels(std::span<const float> soft_labels) const {
  BatchLoader other = *this;
  other.split_.soft_labels = soft_labels;
  ensure(soft_labels.size() == split_.labels.size() * other.soft_classes(),
         "as many soft labels for each sample");
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
  if (mixes() && view.micro_batch > 0) augmenter_->mix(view, ids, samples, targets);
}

void BatchLoader::load_pictures(std::span<const std::uint32_t> ids, std::span<float> samples,
                                const ViewKey* view) const {
  const auto size = static_cast<std::size_t>(shape_.elements());
  const std::size_t channels = normalization_.scale.size();
  const float* const scale = normalization_.scale.data();
  const float* const shift = normalization_.shift.data();
  ensure(split_.type() != SampleType::kInt32 && samples.size() >= ids.size() * size, "room for the samples");
  const auto image = [&](const auto* in, std::size_t, float* out) {
    convert_image(in, out, size / channels, channels, scale, shift);
    if (normalization_.reversed) reverse_channels(out, size / channels, channels);
  };
  const auto features = [&](const float* in, std::size_t, float* out) {
    convert_features(in, out, size / channels, channels, scale, shift);
  };
  const auto augmented = [&](const auto* in, std::size_t i, float* out) {
    augmenter_->picture(in, *view, view->sample(i, ids[i]), normalization_, out);
  };
  const bool augments = augmenter_ != nullptr && view != nullptr;
  if (split_.type() == SampleType::kUint8) {
    augments ? gather<std::uint8_t>(split_, ids, size, samples.data(), augmented)
             : gather<std::uint8_t>(split_, ids, size, samples.data(), image);
  } else if (augments) {
    gather<float>(split_, ids, size, samples.data(), augmented);
  } else if (shape_.rank() == 3) {
    gather<float>(split_, ids, size, samples.data(), image);
  } else {
    gather<float>(split_, ids, size, samples.data(), features);
  }
}

void BatchLoader::load_tokens(std::span<const std::uint32_t> ids, std::span<std::int32_t> tokens,
                              std::span<std::int32_t> labels) const {
  const auto length = static_cast<std::size_t>(shape_.elements());
  ensure(tokens.size() >= ids.size() * length, "room for the tokens");
  const Located<std::int32_t> at(split_, ids, length);
  for (std::size_t i = 0; i < ids.size(); ++i) std::copy_n(at[i], length, tokens.data() + i * length);
  load_labels(ids, labels);
}

void BatchLoader::load_weights(std::span<const std::uint32_t> ids, std::span<float> weights) const {
  ensure(weights.size() >= ids.size(), "room for the weights");
  if (split_.weights.empty()) {
    std::fill_n(weights.begin(), ids.size(), 1.0F);
    return;
  }
  for (std::size_t i = 0; i < ids.size(); ++i) weights[i] = split_.weights[ids[i]];
}

void BatchLoader::load_soft_labels(std::span<const std::uint32_t> ids, std::span<float> soft_labels) const {
  const std::size_t classes = soft_classes();
  ensure(soft_labels.size() >= ids.size() * classes, "room for the soft labels");
  for (std::size_t i = 0; i < ids.size(); ++i) {
    std::copy_n(split_.soft_labels.data() + ids[i] * classes, classes, soft_labels.data() + i * classes);
  }
}

void BatchLoader::load_labels(std::span<const std::uint32_t> ids, std::span<std::int32_t> labels) const {
  ensure(labels.empty() || labels.size() >= ids.size(), "room for the labels");
  for (std::size_t i = 0; !labels.empty() && i < ids.size(); ++i) labels[i] = split_.labels[ids[i]];
}

}  // namespace convoke::data
