#include "results/samples_from.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "convoke/archive/byte_reader.hpp"
#include "convoke/core/csv.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/data/shards.hpp"
#include "convoke/data_prep/files/npy.hpp"
#include "convoke/data_prep/pictures/read_picture.hpp"
#include "convoke/data_prep/preparation.hpp"
#include "convoke/data_prep/sources/source_table.hpp"
#include "convoke/pictures/decode.hpp"
#include "convoke/run/node_memory.hpp"
#include "convoke/train/fit.hpp"

namespace convoke::app {
namespace {

constexpr const char* kImagesHint =
    "an array is (N, H, W, C), (N, C, H, W) or, with one channel, (N, H, W), in units of the stored samples; "
    "choose one with --layout nhwc or nchw";
constexpr const char* kNumbersHint =
    "an array holds the samples one after the other, (N, ...), in units of the stored samples";

bool takes_images(const run::ModelDescription& model) { return model.graph.input_shape().rank() == 3; }

// Converts values v (n, ..., F) to v * scale + shift.
template <class T>
std::vector<float> normalize_features(std::span<const T> values, const data::Normalization& normalization) {
  const std::size_t features = normalization.scale.size();
  ensure(features > 0, "the model says how features are normalized");
  std::vector<float> inputs(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t f = i % features;
    inputs[i] = static_cast<float>(values[i]) * normalization.scale[f] + normalization.shift[f];
  }
  return inputs;
}

// Converts values v, (n, H, W, C) or (n, C, H, W), to inputs (n, C, H, W): v * scale + shift, in the
// order of channels that the network takes.
template <class T>
std::vector<float> normalize_images(std::span<const T> values, const Shape& sample, bool channels_last,
                                    const data::Normalization& normalization) {
  const auto channels = static_cast<std::size_t>(sample[0]);
  ensure(normalization.scale.size() == channels, "the model says how images are normalized");
  const auto area = static_cast<std::size_t>(sample[1] * sample[2]);
  std::vector<float> inputs(values.size());
  for (std::size_t start = 0; start < values.size(); start += channels * area) {
    for (std::size_t c = 0; c < channels; ++c) {
      for (std::size_t i = 0; i < area; ++i) {
        const std::size_t from = start + (channels_last ? i * channels + c : c * area + i);
        inputs[start + normalization.place(c) * area + i] =
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

/// Returns true if the samples of `batch` have their channels last. Throws Error if they do not fit the
/// model.
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
                image ? kImagesHint : kNumbersHint);
  }
  const bool wanted_last = layout == BatchLayout::kNhwc;
  throw Error(
      fmt::format("{}: has shape {}, but with --layout {} the model takes {}", file, batch.to_string(),
                  wanted_last ? "nhwc" : "nchw",
                  with_samples(extents.empty() ? 1 : extents.front(), (wanted_last ? last : sample).extents())
                      .to_string()),
      kImagesHint);
}

// Throws Error naming the first of the values (n, size) that is not finite in single precision or, if the
// model has a vocabulary, no token 0..vocabulary-1. `first`: the number of the first sample.
template <class T>
void require_values(std::span<const T> values, std::size_t size, std::int64_t first, std::int64_t vocabulary,
                    const std::string& file) {
  const bool tokens = vocabulary > 0;
  if (!tokens && std::is_integral_v<T>) return;
  const auto bad = std::ranges::find_if(values, [tokens, vocabulary](T value) {
    if (!tokens) return !std::isfinite(static_cast<float>(value));
    const auto number = static_cast<double>(value);
    return !(number >= 0 && number < static_cast<double>(vocabulary) && number == std::floor(number));
  });
  if (bad == values.end()) return;
  const auto sample =
      first + static_cast<std::int64_t>(static_cast<std::size_t>(bad - values.begin()) / size);
  const std::string what = fmt::format("{}: sample {} has the value {}", file, sample, *bad);
  if (!tokens) throw Error(what, "replace it, or leave the sample out");
  throw Error(fmt::format("{}, but the model takes tokens 0..{}", what, vocabulary - 1),
              "pass tokens as the training samples have them: whole numbers of the model's vocabulary");
}

// True if the normalization is made for pixels of 0..255, of which values of -1..1 would be a small part.
bool expects_pixels(const data::Normalization& normalization) {
  for (std::size_t c = 0; c < normalization.scale.size(); ++c) {
    const float scale = normalization.scale[c];
    if (scale < 0.1F || -normalization.shift[c] > scale) return true;
  }
  return false;
}

// Throws Error if samples from all parts of the array have fractions between -1 and 1, as other programs take
// pixels.
void require_pixels(data_prep::SampleArray& array, std::size_t size, const std::string& file) {
  constexpr std::size_t kMost = 64, kValues = 16 << 20;
  const auto count = static_cast<std::size_t>(array.shape()[0]);
  const std::size_t few = std::min(count, std::clamp<std::size_t>(kValues / size, 1, kMost));
  data_prep::NpyValues part = array.values(size);
  double least = 1, most = -1;
  bool whole = true;
  for (std::size_t i = 0; i < few; ++i) {
    array.read(i * count / few * size, part);
    const auto fits = [&](auto number) {  // NaN does not
      const auto value = static_cast<double>(number);
      least = std::min(least, value);
      most = std::max(most, value);
      whole = whole && value == std::trunc(value);
      return value >= -1 && value <= 1;
    };
    if (!std::visit([&](const auto& values) { return std::ranges::all_of(values, fits); }, part)) return;
  }
  if (whole || least == most) return;
  throw Error(
      fmt::format("{}: the values of {} of its samples lie between {:.3g} and {:.3g}, but the model "
                  "takes pixels of 0..255",
                  file, few, least, most),
      "multiply by 255; --raw takes samples that are normalized already, and gives the outputs of the "
      "last layer");
}

bool is_array(const std::string& input) {
  const std::string name = lower_case(input);
  return name.ends_with(".npy") || name.ends_with(".npz") || name.ends_with(".mat") ||
         data_prep::is_hdf5_arrays(input);
}

// Opens an array, with the axes that an option of `prepare` named; empty: the usual ones.
std::shared_ptr<data_prep::SampleArray> open_array(const std::string& input, const std::string& split,
                                                   const std::string& axes = {}) {
  const std::string name = lower_case(input);
  std::shared_ptr<data_prep::SampleArray> array;
  if (name.ends_with(".npy")) {
    array = std::make_shared<data_prep::NpyReader>(archive::open_plain(input));
  } else if (name.ends_with(".npz")) {
    array = data_prep::open_npz_samples(input, split);
  } else {
    array = data_prep::open_hdf5_samples(input, split, axes);
  }
  return axes.empty() ? array : data_prep::in_order(std::move(array), axes);
}

// Opens an array with the axes that `prepare` was told for the training samples, and prints them; null if it
// was told none, if it does not fit the model in that way, or if the user names a layout.
std::shared_ptr<data_prep::SampleArray> open_as_prepared(const std::string& input,
                                                         const SampleOptions& options,
                                                         const run::ModelDescription& model, bool root) {
  const std::string axes = data_prep::axes_in(model.preparation, "the model's preparation");
  if (axes.empty() || options.layout != BatchLayout::kAny) return nullptr;
  try {
    auto array = open_array(input, options.split, axes);
    channels_last(input, array->shape(), model.graph.input_shape(), BatchLayout::kNhwc);
    if (root) fmt::print(stderr, "note: {}: axes {}, as for `prepare`\n", input, axes);
    return array;
  } catch (const Error&) {  // it has other axes, or is damaged, which is reported when it is opened again
    return nullptr;
  }
}

// The samples of each call are read when they are needed, so a rank reads its part only.
SampleSource from_array(const std::string& file, const std::shared_ptr<data_prep::SampleArray>& array,
                        const SampleOptions& options, const run::ModelDescription& model) {
  const Shape sample = model.graph.input_shape();
  const bool last = channels_last(file, array->shape(), sample, options.layout);
  const data_prep::NpyValues type = array->values(0);
  const bool floating =
      std::holds_alternative<std::vector<float>>(type) || std::holds_alternative<std::vector<double>>(type);
  if (model.float_images && std::holds_alternative<std::vector<std::uint8_t>>(type)) {
    throw Error(
        fmt::format("{}: has images of 0..255 (uint8), but the model was trained on images of measured "
                    "numbers (float32)",
                    file),
        "pass an array of floats in the units of the training samples");
  }
  const bool tokens = model.graph.input_shape().type == nn::ValueType::kToken;
  data::Normalization normalization = model.normalization;
  if (tokens || (options.raw && floating)) {
    const auto channels = static_cast<std::size_t>(takes_images(model) ? sample[0] : sample.extents().back());
    normalization = {std::vector<float>(channels, 1.0F), std::vector<float>(channels, 0.0F)};
  }
  const bool images = takes_images(model);
  if (images && floating && !options.raw && !model.float_images && expects_pixels(normalization)) {
    require_pixels(*array, static_cast<std::size_t>(sample.elements()), file);
  }
  const std::int64_t vocabulary = tokens ? train::least_vocabulary(model.graph).value() : 0;
  return {file, array->shape().extents().front(), [=](std::int64_t first, std::int64_t n) {
            const auto size = static_cast<std::size_t>(sample.elements());
            data_prep::NpyValues part = array->values(static_cast<std::size_t>(n) * size);
            array->read(static_cast<std::uint64_t>(first) * size, part);
            return std::visit(
                [&](const auto& values) {
                  require_values(std::span(values), size, first, vocabulary, file);
                  return images ? normalize_images(std::span(values), sample, last, normalization)
                                : normalize_features(std::span(values), normalization);
                },
                part);
          }};
}

/// A dataset in the memory of the node.
struct HeldDataset {
  HeldDataset(const std::string& file, const std::string& split, const mpi::Communicator& world)
      : memory(world, world.split_node()), dataset(data::Dataset::open(file, {split}, memory.storage())) {}

  run::NodeStorage memory;
  data::Dataset dataset;
};

SampleSource from_dataset(const std::string& file, const SampleOptions& options,
                          const run::ModelDescription& model, const std::string& model_name,
                          const mpi::Communicator& world) {
  const std::string& split = options.split;
  const auto held = std::make_shared<HeldDataset>(file, split, world);
  const std::shared_ptr<const data::Dataset> dataset(held, &held->dataset);
  data::DatasetInfo info = dataset->info();
  const std::int64_t outputs = model.graph.output_shape().elements();
  if (options.raw && !model.loss->fits(outputs, info.classes)) info.classes = outputs;  // they are features
  train::require_fit(model, model_name, info, file);
  require_same_preparation(model, dataset->info(), file);
  train::require_vocabulary(model.graph, "the model", *dataset, split);
  const Shape sample = model.graph.input_shape();
  const data::BatchLoader loader = model.loader(dataset->split(split));
  return {file, loader.split().count(), [dataset, loader, sample](std::int64_t first, std::int64_t n) {
            std::vector<std::uint32_t> ids(static_cast<std::size_t>(n));
            std::iota(ids.begin(), ids.end(), static_cast<std::uint32_t>(first));
            return inputs_of(loader, ids, sample);
          }};
}

SampleSource from_image(const std::string& file, const run::ModelDescription& model) {
  if (model.float_images) {
    throw Error(fmt::format("{}: is a picture of 0..255, but the model was trained on images of measured "
                            "numbers (float32)",
                            file),
                "pass an array (.npy) or a dataset in the units of the training samples");
  }
  const Shape sample = model.graph.input_shape();
  data_prep::PictureOptions options{.height = sample[1], .width = sample[2], .channels = sample[0]};
  if (data_prep::preparation_kind(model.preparation, "the model") ==
      "picture") {  // as the training pictures were fitted
    options.fit = data_prep::picture_options(model.preparation, "the model").fit;
  }
  const data_prep::PictureReader reader(options);
  return {file, 1, [file, sample, reader, normalization = model.normalization](std::int64_t, std::int64_t) {
            std::vector<std::uint8_t> values(static_cast<std::size_t>(sample.elements()));
            reader.read(pictures::read_encoded(file), file, std::as_writable_bytes(std::span(values)));
            return normalize_images(std::span<const std::uint8_t>(values), sample, true, normalization);
          }};
}

}  // namespace

std::vector<float> inputs_of(const data::BatchLoader& loader, std::span<const std::uint32_t> ids,
                             const Shape& sample) {
  std::vector<float> inputs(ids.size() * static_cast<std::size_t>(sample.elements()));
  if (loader.sample_type() == data::SampleType::kInt32) {
    std::vector<std::int32_t> tokens(inputs.size());
    loader.load_tokens(ids, tokens, {});
    std::copy(tokens.begin(), tokens.end(), inputs.begin());
  } else {
    loader.load(ids, inputs, {});
  }
  return inputs;
}

SampleSource samples_from(const std::string& input, const SampleOptions& options,
                          const run::ModelDescription& model, const std::string& model_name,
                          const mpi::Communicator& world) {
  if (is_array(input)) {
    const auto prepared = open_as_prepared(input, options, model, world.root());
    return from_array(input, prepared ? prepared : open_array(input, options.split), options, model);
  }
  if (data_prep::has_hdf5_ending(input) || data::has_shards(input)) {
    return from_dataset(input, options, model, model_name, world);
  }
  if (is_raw_file(input)) return samples_from_raw_file(input, model, world.root());
  if (lower_case(input).ends_with(".gz")) {
    throw Error(fmt::format("{}: is compressed", input), "unpack it: gunzip --keep " + shell_word(input));
  }
  if (!takes_images(model)) {
    throw Error(fmt::format("{}: expected to be a picture, but the model takes samples of shape {}", input,
                            model.graph.input_shape().to_string()),
                "pass a dataset (.h5), a NumPy array (.npy, .npz), a CSV of rows or texts, or --text");
  }
  return from_image(input, model);
}

}  // namespace convoke::app
