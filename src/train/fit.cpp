#include "convoke/train/fit.hpp"

#include <fmt/format.h>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/hdf5/file.hpp"

namespace convoke::train {

void require_fit(const run::ModelDescription& model, const std::string& model_name,
                 const data::DatasetInfo& dataset, const std::filesystem::path& dataset_file) {
  if (model.graph.input_shape() != dataset.sample_shape) {
    throw Error(
        fmt::format("{} has samples of shape {}, but the model of {} takes {}", dataset_file.string(),
                    dataset.sample_shape.to_string(), model_name, model.graph.input_shape().to_string()),
        "give the dataset that belongs to the model, or change model.input and prepare the data alike");
  }
  const std::int64_t outputs = model.graph.output_shape().elements();
  if (!model.loss->fits(outputs, dataset.classes)) {
    throw Error(fmt::format("{} has {} classes, but the model of {} tells {} apart", dataset_file.string(),
                            dataset.classes, model_name, outputs),
                "give the dataset that belongs to the model, or change the units of its last layer");
  }
}

void require_split(const std::filesystem::path& dataset_file, const std::string& split) {
  const hdf5::File file = hdf5::File::open(dataset_file);
  if (file.has_group(split)) return;
  throw Error(fmt::format("{}: has no split \"{}\"{}", dataset_file.string(), split,
                          did_you_mean(split, file.children())),
              "its splits: " + join(file.children()));
}

}  // namespace convoke::train
