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
    "(0..255); --layout nhwc or nchw says which";

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

Shape with_samples(std::int64_t count, const std::vector<std::int64_t>& sample) {
  std::vector<std::int64_t> extents{count};
  extents.insert(extents.end(), sample.begin(), sample.end());
  return Shape(std::move(extents));
}

/// Do the samples of `batch` have their channels last? Throws Error if they do not fit the model.
bool channels_last(const std::string& file, const Shape& batch, const Shape& sample, BatchLayout layout) {
  const std::vector<std::int64_t>& extents = batch.extents();
  const Shape one(std::vector<std::int64_t>(extents.begin() + (extents.empty() ? 0 : 1), extents.end()));
  const bool image = sample.rank() == 3;
  const Shape last = image ? Shape{sample[1], sample[2], sample[0]} : sample;
  const bool plain = image && sample[0] == 1 && one == Shape{sample[1], sample[2]};
  const bool fits_last = image && (one == last || plain);
  const bool fits_first = one == sample || plain;
  if (layout != BatchLayout::kNchw && fits_last) return true;
  if (!extents.empty() && (!image || layout != BatchLayout::kNhwc) && fits_first) return false;
  if (!image || layout == BatchLayout::kAny) {
    throw Error(fmt::format("{}: has shape {}, but the model takes samples of shape {}", file,
                            batch.to_string(), sample.to_string()),
                image ? kNpyHint : "a batch has one axis more, of the samples, in front");
  }
  const bool wanted_last = layout == BatchLayout::kNhwc;
  throw Error(
      fmt::format("{}: has shape {}, but with --layout {} the model takes {}", file, batch.to_string(),
                  wanted_last ? "nhwc" : "nchw",
                  with_samples(extents.empty() ? 1 : extents.front(), (wanted_last ? last : sample).extents())
                      .to_string()),
      kNpyHint);
}

SampleSource from_npy(const std::string& file, const SampleOptions& options,
                      const run::ModelDescription& model) {
  auto array = std::make_shared<const data_prep::NpyArray>(data_prep::read_npy(file));
  const Shape sample = model.graph.input_shape();
  const bool last = channels_last(file, array->shape, sample, options.layout);
  const bool floating = std::holds_alternative<std::vector<float>>(array->values) ||
                        std::holds_alternative<std::vector<double>>(array->values);
  data::Normalization normalization = model.normalization;
  if (options.raw && floating) {
    const auto channels = static_cast<std::size_t>(sample[0]);
    normalization = {std::vector<float>(channels, 1.0F), std::vector<float>(channels, 0.0F)};
  } else if (sample.rank() != 3) {
    throw Error(
        fmt::format("{}: holds integers, but the model takes samples of shape {}; only images are normalised",
                    file, sample.to_string()),
        "give float32 values, as the network takes them");
  }
  // What is no image passes for one: (L, F) for (L, F, 1), (F) for (F, 1, 1).
  std::vector<std::int64_t> axes = sample.extents();
  axes.resize(3, 1);
  return {file, array->shape.extents().front(), [=, image = Shape(axes)](std::int64_t first, std::int64_t n) {
            const auto size = static_cast<std::size_t>(sample.elements());
            return std::visit(
                [&](const auto& values) {
                  return normalise(std::span(values).subspan(static_cast<std::size_t>(first) * size,
                                                             static_cast<std::size_t>(n) * size),
                                   image, last, normalization);
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

SampleSource samples_from(const std::string& input, const SampleOptions& options,
                          const run::ModelDescription& model) {
  const bool npy = ends_with(input, ".npy");
  if (model.graph.input_shape().type == nn::ValueType::kToken) {
    throw Error("the model takes tokens; only numbers can be predicted so far");
  }
  if (model.graph.input_shape().rank() != 3 && !(options.raw && npy)) {
    throw Error(fmt::format("the model takes samples of shape {}; only images can be predicted so far",
                            model.graph.input_shape().to_string()),
                "convoke predict --raw takes .npy batches of any shape");
  }
  if (npy) return from_npy(input, options, model);
  if (ends_with(input, ".h5") || ends_with(input, ".hdf5")) return from_dataset(input, options.split, model);
  return from_image(input, model);
}

}  // namespace convoke::app
