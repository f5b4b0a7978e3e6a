#include "section_reader.hpp"
#include "sections.hpp"

namespace convoke::recipe {
namespace {

constexpr std::array kNormalizations{Name{"unit"}, Name{"standard"}, Name{"none"}};

constexpr std::array<Named<data::Sampling>, 2> kSamplings{
    {{"all", data::Sampling::kAll}, {"balanced", data::Sampling::kBalanced}}};

}  // namespace

DataRecipe read_data(const TomlDocument& document, const ModelRecipe& model) {
  SectionReader read(document, "data");
  DataRecipe data;
  if (model.input.size() != 3) data.normalize = "none";  // features and tokens are no pixels of 0..255
  data.path = read.require_string("path");
  read.check("path", !data.path.empty(), "the path of a dataset");
  data.train_split = read.get("train_split", data.train_split);
  data.test_split = read.get("test_split", data.test_split);
  data.normalize = read.get_entry("normalize", data.normalize, kNormalizations, "normalisation").name;
  data.validation_split = read.get("validation_split", data.validation_split);
  read.check("validation_split", data.validation_split >= 0 && data.validation_split < 1,
             "at least 0 and below 1");
  data.shuffle = read.get("shuffle", data.shuffle);
  data.sampling = read.get_entry("sampling", "all", kSamplings, "sampling").value;
  read.check("sampling", data.shuffle || data.sampling == data::Sampling::kAll,
             "\"all\" where data.shuffle is false");
  read.finish();
  return data;
}

Settings write(const DataRecipe& data) {
  return {{"path", data.path},
          {"train_split", data.train_split},
          {"test_split", data.test_split},
          {"normalize", data.normalize},
          {"validation_split", data.validation_split},
          {"shuffle", data.shuffle},
          {"sampling", data.sampling == data::Sampling::kAll ? "all" : "balanced"}};
}

}  // namespace convoke::recipe
