#include "convoke/core/byte_size.hpp"
#include "convoke/recipe/section_reader.hpp"
#include "sections.hpp"

namespace convoke::recipe {
namespace {

constexpr std::array kNormalizations{Name{"unit"}, Name{"standard"}, Name{"none"}};
constexpr std::string_view kWindow = "256MiB";

// A fraction of the training samples, or the name of a split.
void read_validation(SectionReader& read, DataRecipe& data) {
  if (read.holds_text("validation_split")) {
    data.validation_name = read.require_string("validation_split");
    read.check("validation_split", !data.validation_name.empty(), "a fraction, or the name of a split");
    return;
  }
  data.validation_split = read.get("validation_split", data.validation_split);
  read.check("validation_split", data.validation_split >= 0 && data.validation_split < 1,
             "at least 0 and below 1");
}

std::uint64_t read_bytes(SectionReader& read, std::string_view key, std::string_view fallback,
                         std::string_view expected) {
  const auto bytes = parse_bytes(read.get(key, std::string(fallback)));
  read.check(key, bytes.has_value(), expected);
  return *bytes;
}

void read_shuffle(SectionReader& read, DataRecipe& data) {
  if (read.holds_text("shuffle")) {
    read.check("shuffle", read.require_string("shuffle") == "chunks", "true, false or \"chunks\"");
    data.shuffle = "chunks";
  } else {
    data.shuffle = read.get("shuffle", true) ? "all" : "none";
  }
  data.window = read_bytes(read, "window", kWindow, "a size like \"256MiB\"");
  read.check("window", data.shuffle == "chunks" || data.window == *parse_bytes(kWindow),
             "left out unless data.shuffle is \"chunks\"");
}

Value to_value(const std::string& shuffle) {
  if (shuffle == "chunks") return {shuffle};
  return {shuffle == "all"};
}

constexpr std::array<Named<data::Sampling>, 2> kSamplings{
    {{"all", data::Sampling::kAll}, {"balanced", data::Sampling::kBalanced}}};

}  // namespace

data::Shuffle DataRecipe::shuffle_of(std::int64_t sample_bytes) const {
  if (shuffle != "chunks") return shuffle == "all";
  return data::Shuffle::chunks(sample_bytes, static_cast<std::int64_t>(window));
}

DataRecipe read_data(const TomlDocument& document, const ModelRecipe& model) {
  SectionReader read(document, "data");
  DataRecipe data;
  if (model.input.size() != 3) data.normalize = "none";  // features and tokens are no pixels of 0..255
  data.path = read.require_string("path");
  read.check("path", !data.path.empty(), "the path of a dataset");
  data.train_split = read.get("train_split", data.train_split);
  data.test_split = read.get("test_split", data.test_split);
  data.normalize = read.get_entry("normalize", data.normalize, kNormalizations, "normalisation").name;
  read_validation(read, data);
  read.check("validation_split", data.validation_name != data.train_split,
             "another split than data.train_split, or a fraction of it");
  data.portion = read.get("portion", data.portion);
  read.check("portion", data.portion > 0 && data.portion <= 1, "above 0 and at most 1");
  read_shuffle(read, data);
  data.sampling = read.get_entry("sampling", "all", kSamplings, "sampling").value;
  read.check("sampling", data.shuffle != "none" || data.sampling == data::Sampling::kAll,
             "\"all\" where data.shuffle is false");
  read.check("sampling", data.shuffle != "chunks" || data.sampling == data::Sampling::kAll,
             "\"all\" where data.shuffle is \"chunks\"");
  if (read.get("memory", std::string("auto")) != "auto") {
    data.memory = read_bytes(read, "memory", "", "\"auto\" or a size like \"512MiB\"");
  }
  read.finish();
  return data;
}

Settings write(const DataRecipe& data) {
  return {{"path", data.path},
          {"train_split", data.train_split},
          {"test_split", data.test_split},
          {"normalize", data.normalize},
          {"validation_split",
           data.validation_name.empty() ? Value(data.validation_split) : Value(data.validation_name)},
          {"portion", data.portion},
          {"shuffle", to_value(data.shuffle)},
          {"sampling", data.sampling == data::Sampling::kAll ? "all" : "balanced"},
          {"window", exact_bytes(data.window)},
          {"memory", data.memory == 0 ? std::string("auto") : exact_bytes(data.memory)}};
}

}  // namespace convoke::recipe
