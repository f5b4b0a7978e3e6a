#include "convoke/core/text.hpp"
#include "sections.hpp"

namespace convoke::recipe {
namespace {

using DataKey = Key<DataRecipe>;

constexpr std::array<Named<data::Sampling>, 2> kSamplings{
    {{"all", data::Sampling::kAll}, {"balanced", data::Sampling::kBalanced}}};
constexpr std::string_view kWindow = "256MiB";

// Reads a fraction of the training samples, or the name of a split.
void read_validation(SettingsReader& read, const KeyFacts& key, DataRecipe& data) {
  if (read.holds_text(key.name)) {
    data.validation_name = read.require_string(key.name);
    check_key(read, key, !data.validation_name.empty(), "a fraction, or the name of a split");
  } else {
    read_value(read, key, data.samples.validation_split);
  }
}

std::optional<Value> write_validation(const KeyFacts&, const DataRecipe& data) {
  return data.validation_name.empty() ? Value(data.samples.validation_split) : Value(data.validation_name);
}

void read_shuffle(SettingsReader& read, const KeyFacts& key, DataRecipe& data) {
  if (read.holds_text(key.name)) {
    check_key(read, key, read.require_string(key.name) == "chunks");
    data.shuffle = "chunks";
  } else {
    data.shuffle = read.get(key.name, true) ? "all" : "none";
  }
}

std::optional<Value> write_shuffle(const KeyFacts&, const DataRecipe& data) {
  return data.shuffle == "chunks" ? Value(data.shuffle) : Value(data.shuffle == "all");
}

std::uint64_t read_size(SettingsReader& read, const KeyFacts& key, std::string_view fallback) {
  const auto bytes = parse_bytes(read.get(key.name, std::string(fallback)));
  check_key(read, key, bytes.has_value());
  return *bytes;
}

void read_window(SettingsReader& read, const KeyFacts& key, DataRecipe& data) {
  data.window = read_size(read, key, kWindow);
}

std::optional<Value> write_window(const KeyFacts&, const DataRecipe& data) {
  return exact_bytes(data.window);
}

void read_memory(SettingsReader& read, const KeyFacts& key, DataRecipe& data) {
  if (read.get(key.name, "auto") != "auto") data.memory = read_size(read, key, "");
}

std::optional<Value> write_memory(const KeyFacts&, const DataRecipe& data) {
  return data.memory == 0 ? std::string("auto") : exact_bytes(data.memory);
}

constexpr std::array kDataKeys{
    key<&DataRecipe::path>({.name = "path",
                            .expected = "the path of a dataset",
                            .effect = Effect::kNone,
                            .required = true,
                            .help = "the dataset: a file, a folder of shards, or raw files that are prepared "
                                    "at their first use. It is searched in the working directory, the "
                                    "recipe's folder, `$CONVOKE_DATA` and `~/.cache/convoke`"}),
    key<&DataRecipe::train_split>({.name = "train_split", .help = "the name of the training split"}),
    key<&DataRecipe::test_split>(
        {.name = "test_split", .effect = Effect::kNone, .help = "the name of the test split"}),
    key<&DataRecipe::normalize>(
        {.name = "normalize",
         .noun = "normalization",
         .names = [] { return data::normalization_names(); },
         .fallback = "\"unit\"; \"none\" if model.input is not an image",
         .help =
             "`\"unit\"`: value / 255, for 8-bit images; `\"standard\"`: with mean and standard deviation of "
             "each channel or feature of the training split; `\"none\"`: as stored. The weights of zoo "
             "networks expect one of these, for 8-bit images of 3 channels: `\"imagenet\"`: (value / 255 − "
             "mean) / deviation of ImageNet, for torchvision's; `\"keras-tf\"`: value / 127.5 − 1, and "
             "`\"keras-caffe\"`: BGR − (103.939, 116.779, 123.68), as Keras' `preprocess_input`"}),
    DataKey{
        {.name = "validation_split",
         .range = {.least = 0, .below = 1},
         .help =
             "a fraction: hold out the last samples of the training split (of each shard, in an ensemble; "
             "with bootstrap shards, samples at random, from which no member draws) and evaluate them after "
             "every epoch. As in Keras, the number of the others is rounded down. If the dataset stores groups "
             "of samples, whole groups are held out, chosen by the seed. The name of a split, e.g. "
             "`\"validation\"`: every member is evaluated on the whole split, and trained on all training "
             "samples",
         .type = "number or text"},
        read_validation,
        write_validation},
    key<&DataRecipe::samples, &train::SampleOptions::fraction>(
        {.name = "fraction",
         .range = {.above = 0, .largest = 1},
         .effect = Effect::kNewResult,
         .help = "the share of the training samples (of each shard, in an ensemble) that is used, for "
                 "studies of how much data is enough. The seed selects the samples; those of a quarter are "
                 "among those of a half"}),
    DataKey{{.name = "shuffle",
             .expected = "true, false or \"chunks\"",
             .help = "`true`: a new random order in every epoch; `\"chunks\"`: an order in which files can "
                     "be read in large pieces, for datasets larger than memory",
             .type = "true or false, or text"},
            read_shuffle,
            write_shuffle},
    choice<kSamplings, &DataRecipe::samples, &train::SampleOptions::sampling>(
        {.name = "sampling",
         .effect = Effect::kNewResult,
         .help = "`\"all\"`: every sample once per epoch; `\"balanced\"`: "
                 "equally many samples of every class, N in total. "
                 "Samples of a small class occur several times, augmented "
                 "differently each time (with `model.cache_features`: alike within an epoch); "
                 "samples of a large class "
                 "take turns over the epochs"}),
    key<&DataRecipe::samples, &train::SampleOptions::bucket_by_length>(
        {.name = "bucket_by_length",
         .effect = Effect::kNewResult,
         .help =
             "of texts: the samples of a step are sorted by length, so that a masked `lstm` or `gru` computes "
             "fewer padded time steps. The gradient of the step stays the same up to rounding, unless the "
             "network has batch norms, whose micro-batches then have other samples"}),
    DataKey{{.name = "window",
             .expected = "a size like \"256MiB\"",
             .effect = Effect::kNewResult,
             .help = "with `shuffle = \"chunks\"`: the amount of data that is shuffled together",
             .type = "text"},
            read_window,
            write_window},
    DataKey{
        {.name = "memory",
         .expected = "\"auto\" or a size like \"512MiB\"",
         .effect = Effect::kNone,
         .help = "memory of a node for samples; a larger dataset is streamed from its files during training. "
                 "`\"auto\"`: half of the memory that the node, the control group and `ulimit -v` leave",
         .type = "text"},
        read_memory,
        write_memory},
};

void read_data(SettingsReader& read, const Settings&, Recipe& recipe) {
  DataRecipe& data = recipe.data;
  if (recipe.model.input.size() != 3)
    data.normalize = "none";  // features and tokens are not pixels of 0..255
  read_keys(kDataKeys, read, data);
  read.check("validation_split", data.validation_name != data.train_split,
             "a fraction, or a split other than data.train_split");
  read.check("window", data.shuffle == "chunks" || data.window == *parse_bytes(kWindow),
             "left out unless data.shuffle is \"chunks\"");
  const bool takes_all = data.samples.sampling == data::Sampling::kAll;
  read.check("sampling", data.shuffle != "none" || takes_all, "\"all\" where data.shuffle is false");
  read.check("sampling", data.shuffle != "chunks" || takes_all, "\"all\" where data.shuffle is \"chunks\"");
}

}  // namespace

Section data_section() {
  return section_of<kDataKeys, &Recipe::data>("data", "The samples and their order.", read_data);
}

std::vector<std::string> DataRecipe::training_splits() const {
  std::vector<std::string> splits{train_split};
  if (!validation_name.empty()) splits.push_back(validation_name);
  return splits;
}

data::Shuffle DataRecipe::shuffle_of(std::int64_t sample_bytes) const {
  if (shuffle != "chunks") return shuffle == "all";
  return data::Shuffle::chunks(sample_bytes, static_cast<std::int64_t>(window));
}

}  // namespace convoke::recipe
