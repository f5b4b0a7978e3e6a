#include "samples_from.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "convoke/core/error.hpp"
#include "convoke/data/batch_loader.hpp"
#include "convoke/data_prep/image.hpp"
#include "convoke/data_prep/npy.hpp"
#include "convoke/train/fit.hpp"

namespace convoke::app {
namespace {

constexpr const char* kNpyHint =
    "a batch is (N, H, W, C), (N, C, H, W) or, with one channel, (N, H, W), in units of the stored samples "
    "(0..255)";

// (n, H, W, C) or (n, C, H, W) values v -> (n, C, H, W) inputs v * scale + shift.
template <class T>
std::vector<float> normalise(std::span<const T> values, const Shape& sample, bool channels_last,
                             const data::Normalization& normalization) {
  const auto channels = static_cast<std::size_t>(sample[0]);
  const auto area = static_cast<std::size_t>(sample[1] * sample[2]);
  std::vector<float> inputs(values.size());
  for (std::size_t start = 0; start < values.size(); start += channels * area) {
    for (std::size_t c = 0; c < channels; ++c) {
      for (std::size_t i = 0; i < area; ++i) {
        const std::size_t from = start + (channels_last ? i * channels + c : c * area + i);
        inputs[start + c * area + i] =
            static_cast<float>(values[from]) * normalization.scale[c] + normalization.shift[c];
      }
    }
  }
  return inputs;
}

SampleSource from_npy(const std::string& file, const run::ModelDescription& model) {
  auto array = std::make_shared<const data_prep::NpyArray>(data_prep::read_npy(file));
  const Shape sample = model.graph.input_shape();
  const std::vector<std::int64_t>& extents = array->shape.extents();
  const Shape one(std::vector<std::int64_t>(extents.begin() + (extents.empty() ? 0 : 1), extents.end()));
  const bool last =
      one == Shape{sample[1], sample[2], sample[0]} || (sample[0] == 1 && one == Shape{sample[1], sample[2]});
  if (!last && one != sample) {
    throw Error(fmt::format("{}: has shape {}, but the model takes samples of shape {}", file,
                            array->shape.to_string(), sample.to_string()),
                kNpyHint);
  }
  return {file, extents.front(),
          [=, normalization = model.normalization](std::int64_t first, std::int64_t n) {
            const auto size = static_cast<std::size_t>(sample.elements());
            return std::visit(
                [&](const auto& values) {
                  return normalise(std::span(values).subspan(static_cast<std::size_t>(first) * size,
                                                             static_cast<std::size_t>(n) * size),
                                   sample, last, normalization);
                },
                array->values);
          }};
}

SampleSource from_dataset(const std::string& file, const std::string& split,
                          const run::ModelDescription& model) {
  auto dataset = std::make_shared<const data::Dataset>(data::Dataset::open(file, {split}));
  train::require_fit(model, "this file", dataset->info(), file);
  const Shape sample = model.graph.input_shape();
  const data::BatchLoader loader(dataset->split(split), sample, model.normalization);
  return {file, loader.split().count(), [dataset, loader, sample](std::int64_t first, std::int64_t n) {
            std::vector<std::uint32_t> ids(static_cast<std::size_t>(n));
            std::iota(ids.begin(), ids.end(), static_cast<std::uint32_t>(first));
            std::vector<float> inputs(ids.size() * static_cast<std::size_t>(sample.elements()));
            loader.load(ids, inputs, {});
            return inputs;
          }};
}

SampleSource from_image(const std::string& file, const run::ModelDescription& model) {
  const Shape sample = model.graph.input_shape();
  return {file, 1, [file, sample, normalization = model.normalization](std::int64_t, std::int64_t) {
            data_prep::Image image = data_prep::decode_image(file, sample[0]);
            if (image.height != sample[1] || image.width != sample[2]) {
              image = data_prep::resize(image, sample[1], sample[2]);
            }
            return normalise(std::span<const std::uint8_t>(image.values), sample, true, normalization);
          }};
}

bool ends_with(const std::string& name, std::string_view ending) {
  return name.size() >= ending.size() &&
         std::equal(ending.rbegin(), ending.rend(), name.rbegin(),
                    [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); });
}

}  // namespace

SampleSource samples_from(const std::string& input, const std::string& split,
                          const run::ModelDescription& model) {
  if (model.graph.input_shape().rank() != 3) {
    throw Error(fmt::format("the model takes samples of shape {}; only images can be predicted so far",
                            model.graph.input_shape().to_string()));
  }
  if (ends_with(input, ".npy")) return from_npy(input, model);
  if (ends_with(input, ".h5") || ends_with(input, ".hdf5")) return from_dataset(input, split, model);
  return from_image(input, model);
}

}  // namespace convoke::app
