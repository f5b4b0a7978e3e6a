#include "studies/random_data.hpp"

#include <algorithm>
#include <limits>

#include "convoke/core/random.hpp"

namespace convoke::app {
namespace {

// 2,048 samples of the size of ImageNet's are 300 MB. So each word gives four bytes, and a small bias of the
// numbers, which no benchmark notices, is accepted.

void fill(std::vector<std::uint8_t>& bytes, RandomStream& random) {
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i, word >>= 8) {
    if (i % 4 == 0) word = random.next_word();
    bytes[i] = static_cast<std::uint8_t>(word);
  }
}

/// Numbers from 0 to below - 1.
void fill(std::vector<std::int32_t>& values, std::int64_t below, RandomStream& random) {
  for (std::int32_t& value : values) {
    value = static_cast<std::int32_t>(random.next_word() * static_cast<std::uint64_t>(below) >> 32);
  }
}

/// Numbers in [0, 1).
void fill(std::vector<float>& values, RandomStream& random) {
  for (float& value : values) value = static_cast<float>(random.next_word() >> 8) * 0x1p-24F;
}

/// The smallest vocabulary of the embeddings.
std::int64_t vocabulary_of(const nn::Graph& graph) {
  std::int64_t smallest = std::numeric_limits<std::int32_t>::max();
  for (const nn::Node& node : graph.nodes()) {
    if (node.layer == nullptr || node.layer->type() != "embedding") continue;
    const Settings settings = node.layer->settings();
    smallest = std::min(smallest, SettingsReader(settings, "embedding").require_int("vocabulary"));
  }
  return smallest;
}

bool of_images(const nn::ValueSpec& input) {
  return input.type != nn::ValueType::kToken && input.rank() == 3;
}

}  // namespace

RandomData::RandomData(const nn::Graph& graph, std::int64_t count, std::uint64_t seed)
    : input_(graph.input_shape()) {
  RandomStream random({seed, Purpose::kBench, 0, 0});
  const auto values = static_cast<std::size_t>(count * input_.elements());
  if (input_.type == nn::ValueType::kToken) {
    tokens_.resize(values);
    fill(tokens_, vocabulary_of(graph), random);
  } else if (of_images(input_)) {
    bytes_.resize(values);
    fill(bytes_, random);
  } else {
    numbers_.resize(values);
    fill(numbers_, random);
  }
  labels_.resize(static_cast<std::size_t>(count));
  fill(labels_, std::max<std::int64_t>(2, graph.output_shape().elements()), random);
}

data::BatchLoader RandomData::loader(std::shared_ptr<const data::Augmenter> augmenter) const {
  data::DatasetInfo info;
  info.sample_shape = input_;
  if (!bytes_.empty()) {
    return {{bytes_, labels_}, input_, data::normalization_from("unit", info), std::move(augmenter)};
  }
  info.sample_type = tokens_.empty() ? data::SampleType::kFloat32 : data::SampleType::kInt32;
  const data::Normalization as_it_is = data::normalization_from("none", info);
  if (!tokens_.empty()) return {{tokens_, labels_}, input_, as_it_is};
  return {{numbers_, labels_}, input_, as_it_is};
}

std::int64_t RandomData::count_for(const nn::Graph& graph, std::int64_t batch) {
  constexpr std::int64_t kSamples = 2048, kBytes = 32 << 20;
  const nn::ValueSpec input(graph.input_shape());
  const std::int64_t sample_bytes = input.elements() * (of_images(input) ? 1 : 4);
  return std::max<std::int64_t>(1, std::min(kSamples, kBytes / sample_bytes) / batch) * batch;
}

std::shared_ptr<const data::Augmenter> augmenter_of(const recipe::Recipe& recipe) {
  if (recipe.augment == data::AugmentOptions{}) return nullptr;
  return std::make_shared<const data::Augmenter>(recipe.augment, Shape(recipe.model.input),
                                                 data::SampleType::kUint8);
}

}  // namespace convoke::app
