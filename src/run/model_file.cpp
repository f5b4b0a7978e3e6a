#include "convoke/run/model_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/core/versions.hpp"
#include "convoke/data/samples.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/mpi/together.hpp"
#include "convoke/nn/layer_table.hpp"
#include "convoke/os/atomic_file.hpp"
#include "convoke/os/file.hpp"
#include "convoke/run/parameter_group.hpp"

namespace convoke::run {
namespace {

constexpr std::int64_t kModelVersion = 1;

std::vector<double> to_double(std::span<const float> values) { return {values.begin(), values.end()}; }
std::vector<float> to_float(const std::vector<double>& values) { return {values.begin(), values.end()}; }

// { "input": [1, 28, 28], "layers": [{ "layer": "conv2d", ... }, ...] }
std::string graph_to_json(const nn::Graph& graph) {
  Value::Array input;
  for (const std::int64_t extent : graph.input_shape().extents()) input.emplace_back(extent);
  Value::Array layers;
  for (Settings& layer : nn::describe_graph(graph)) layers.emplace_back(std::move(layer));
  return metrics::to_json(Settings{{"input", std::move(input)}, {"layers", std::move(layers)}});
}

nn::Graph graph_from_json(const std::string& json, const std::string& where) {
  const Settings settings = metrics::settings_from_json(json, where);
  SettingsReader read(settings, "graph");
  const Shape input(read.get("input", std::vector<std::int64_t>{}));
  std::vector<Settings> layers = read.tables("layers");
  read.finish();
  for (Settings& layer : layers) rename_layer_keys(layer);
  return nn::build_graph(nn::input_of(input, layers), layers);
}

void write_description(hdf5::File& file, const ModelDescription& description) {
  file.set_attribute("convoke_version", CONVOKE_VERSION);
  file.set_attribute("graph", graph_to_json(description.graph));
  file.set_attribute("normalization_scale", to_double(description.normalization.scale));
  file.set_attribute("normalization_shift", to_double(description.normalization.shift));
  // Written only if they differ from the defaults: models that were equal before these attributes existed
  // stay byte-identical.
  if (description.loss->settings() != nn::default_loss()->settings()) {
    file.set_attribute("loss", metrics::to_json(description.loss->settings()));
  }
  if (description.classes() != description.graph.output_shape().elements()) {
    file.set_attribute("classes", description.classes());
  }
  if (description.outputs_assumed) file.set_attribute("outputs", "assumed");
  if (description.normalization.reversed) file.set_attribute("channel_order", "reversed");
  if (description.precision == nn::Precision::kBfloat16) file.set_attribute("precision", "bf16");
  if (description.float_images) file.set_attribute("samples", "float32");
  if (!description.class_names.empty()) {
    file.set_attribute("class_names", std::span<const std::string>(description.class_names));
  }
  if (!description.preparation.empty()) {
    file.write("preparation",
               std::vector<std::uint8_t>(description.preparation.begin(), description.preparation.end()));
  }
}

// Samples are normalized by channel and classes are named by number: with sizes other than the graph's,
// arrays would be read beyond their end.
void require_sizes(const ModelDescription& description, const std::filesystem::path& file) {
  const nn::ValueSpec& input = description.graph.input_shape();
  const bool tokens = input.type == nn::ValueType::kToken;
  const std::int64_t channels =
      data::channel_count(tokens ? data::SampleType::kInt32 : data::SampleType::kFloat32, input);
  const auto& [scale, shift, reversed] = description.normalization;
  const bool none = scale.empty() && shift.empty();
  if (!none && (std::ssize(scale) != channels || std::ssize(shift) != channels)) {
    throw Error(fmt::format("{}: normalizes {} and {} channels, but its network takes {}", file.string(),
                            scale.size(), shift.size(), channels));
  }
  if (reversed && (none || input.rank() != 3)) {
    throw Error(fmt::format("{}: reverses channels, but its network takes no images", file.string()));
  }
  const std::size_t names = description.class_names.size();
  if (names > 0 && static_cast<std::int64_t>(names) != description.classes()) {
    throw Error(
        fmt::format("{}: has {} class names for {} classes", file.string(), names, description.classes()));
  }
}

ModelDescription read_description(const hdf5::File& file) {
  ModelDescription description{
      .graph = graph_from_json(file.attribute<std::string>("graph"), file.file().string() + ": graph"),
      .normalization = {to_float(file.attribute<std::vector<double>>("normalization_scale")),
                        to_float(file.attribute<std::vector<double>>("normalization_shift"))},
      .class_names = {}};
  if (file.has_attribute("loss")) {
    const std::string where = file.file().string() + ": loss";
    description.loss = nn::make_loss(metrics::settings_from_json(file.attribute<std::string>("loss"), where));
  }
  if (file.has_attribute("classes")) description.class_count = file.attribute<std::int64_t>("classes");
  description.outputs_assumed = file.has_attribute("outputs");
  if (file.has_attribute("channel_order")) {
    const auto order = file.attribute<std::string>("channel_order");
    if (order != "reversed") {
      throw Error(fmt::format("{}: has channels in the order \"{}\", which this version does not know",
                              file.file().string(), order));
    }
    description.normalization.reversed = true;
  }
  description.precision = nn::Precision::kFloat32;
  if (file.has_attribute("precision")) {
    const auto precision = file.attribute<std::string>("precision");
    if (precision != "bf16") {
      throw Error(fmt::format("{}: was trained in precision \"{}\", which this version does not know",
                              file.file().string(), precision));
    }
    description.precision = nn::Precision::kBfloat16;
  }
  if (file.has_attribute("samples")) {
    const auto samples = file.attribute<std::string>("samples");
    if (samples != "float32") {
      throw Error(fmt::format("{}: was trained on images of type \"{}\", which this version does not know",
                              file.file().string(), samples));
    }
    description.float_images = true;
  }
  if (file.has_attribute("class_names")) {
    description.class_names = file.attribute<std::vector<std::string>>("class_names");
    std::ranges::transform(description.class_names, description.class_names.begin(), one_line);
  }
  if (file.has_dataset("preparation")) {
    const std::vector<std::uint8_t> text = file.read<std::uint8_t>("preparation");
    description.preparation.assign(text.begin(), text.end());
  }
  require_sizes(description, file.file());
  return description;
}

void write_facts(hdf5::Group& group, const Member& member) {
  group.set_attribute("member", member.index);
  group.set_attribute("seed", static_cast<std::int64_t>(member.seed));
  group.set_attribute("shard", member.shard);
  group.set_attribute("training_samples", member.training_samples);
  if (!std::isnan(member.validation_accuracy)) {
    group.set_attribute("validation_accuracy", member.validation_accuracy);
  }
}

Member read_member(const hdf5::Group& group, std::span<const engine::CanonicalParameter> parameters) {
  Member member;
  member.index = group.attribute<std::int64_t>("member");
  member.seed = static_cast<std::uint64_t>(group.attribute<std::int64_t>("seed"));
  member.shard = one_line(group.attribute<std::string>("shard"));
  member.training_samples = group.attribute<std::int64_t>("training_samples");
  if (group.has_attribute("validation_accuracy")) {
    member.validation_accuracy = group.attribute<double>("validation_accuracy");
  }
  member.parameters = read_parameters(group, parameters);
  return member;
}

void fill_model(const std::filesystem::path& file, const ModelDescription& description,
                std::span<const float> parameters, const std::optional<Validated>& validated) {
  hdf5::File model = hdf5::File::create(file);
  write_format(model, "model", kModelVersion);
  write_description(model, description);
  if (validated) {
    model.set_attribute("step", validated->step);
    model.set_attribute("validation_loss", validated->loss);
    model.set_attribute("validation_accuracy", validated->accuracy);
  }
  hdf5::Group group = model.create_group("parameters");
  write_parameters(group, engine::canonical_parameters(description.graph), parameters);
  model.close();
}

void fill_ensemble(const std::filesystem::path& file, const ModelDescription& description,
                   std::span<const Member* const> members,
                   const std::function<std::span<const float>(std::size_t)>& parameters) {
  hdf5::File ensemble = hdf5::File::create(file);
  write_format(ensemble, "ensemble", kModelVersion);
  write_description(ensemble, description);
  for (std::size_t i = 0; i < members.size(); ++i) {
    hdf5::Group group = ensemble.create_group(fmt::format("member-{:03}", members[i]->index));
    write_facts(group, *members[i]);
    write_parameters(group, engine::canonical_parameters(description.graph), parameters(i));
  }
  ensemble.close();
}

auto own_parameters(std::span<const Member* const> members) {
  return [members](std::size_t i) { return std::span<const float>(members[i]->parameters); };
}

}  // namespace

std::string ModelDescription::class_name(std::int64_t label) const {
  return class_names.empty() ? std::to_string(label) : class_names.at(static_cast<std::size_t>(label));
}

void write_model(const std::filesystem::path& file, const ModelDescription& description,
                 std::span<const float> parameters, const std::optional<Validated>& validated,
                 const std::function<void()>& before_it_counts) {
  os::replace_file(file, [&](const std::filesystem::path& temporary) {
    fill_model(temporary, description, parameters, validated);
    if (before_it_counts) before_it_counts();
  });
}

std::optional<Validated> validated_in(const std::filesystem::path& path) try {
  const hdf5::File file = hdf5::File::open(path);
  if (!file.has_attribute("step")) return std::nullopt;
  return Validated{.step = file.attribute<std::int64_t>("step"),
                   .loss = file.attribute<double>("validation_loss"),
                   .accuracy = file.attribute<double>("validation_accuracy")};
} catch (const Error&) {
  return std::nullopt;
}

void write_ensemble(const std::filesystem::path& file, const ModelDescription& description,
                    std::span<const Member* const> members,
                    const std::function<std::span<const float>(std::size_t)>& parameters) {
  os::replace_file(file, [&](const std::filesystem::path& temporary) {
    fill_ensemble(temporary, description, members, parameters);
  });
}

void write_ensemble(const std::filesystem::path& file, const ModelDescription& description,
                    std::span<const Member* const> members) {
  write_ensemble(file, description, members, own_parameters(members));
}

std::filesystem::path find_model_file(const std::filesystem::path& file_or_run) {
  if (!std::filesystem::is_directory(file_or_run)) return file_or_run;
  for (const char* name : {"ensemble.h5", "model.h5"}) {
    if (std::filesystem::exists(file_or_run / name)) return file_or_run / name;
  }
  throw Error(fmt::format("{}: holds neither model.h5 nor ensemble.h5", file_or_run.string()),
              "pass a model file, or the folder of a complete run");
}

namespace {

ModelSet models_of(const hdf5::File& file) {
  const std::string format = read_format(file, kModelVersion);
  if (format != "model" && format != "ensemble") {
    throw Error(fmt::format("{}: holds a {}, not a model", file.file().string(), format),
                "pass a model file, a run or a recipe; a recipe names its dataset by data.path");
  }
  ModelSet models{.description = read_description(file), .members = {}, .ensemble = format == "ensemble"};
  const std::vector<engine::CanonicalParameter> parameters =
      engine::canonical_parameters(models.description.graph);
  if (format == "model") {
    models.members.emplace_back().parameters = read_parameters(file.group("parameters"), parameters);
  } else {
    for (const std::string& name : file.children()) {
      if (!file.has_group(name)) continue;
      models.members.push_back(read_member(file.group(name), parameters));
    }
    // Names are in alphabetical order, in which member-1000 comes before member-101.
    std::ranges::sort(models.members, {}, &Member::index);
  }
  if (models.members.empty()) throw Error(fmt::format("{}: has no members", file.file().string()));
  return models;
}

// Returns the bytes of the file that write_model() or write_ensemble() would write.
std::string bytes_of(const ModelSet& models) {
  const os::File memory = os::scratch_file("convoke-model");
  const std::filesystem::path file = os::path_of(memory);
  if (models.ensemble) {
    std::vector<const Member*> members;
    for (const Member& member : models.members) members.push_back(&member);
    fill_ensemble(file, models.description, members, own_parameters(members));
  } else {
    fill_model(file, models.description, models.members.front().parameters, {});
  }
  return memory.text();
}

constexpr const char* kBug = "this is a bug in Convoke: report it with the command and its input";

void require_same(const ModelDescription& read, const ModelDescription& written) {
  const bool same = read.graph.input_shape() == written.graph.input_shape() &&
                    nn::describe_graph(read.graph) == nn::describe_graph(written.graph) &&
                    read.loss->settings() == written.loss->settings() &&
                    read.normalization == written.normalization && read.classes() == written.classes() &&
                    read.float_images == written.float_images;
  if (!same) throw Error("it gives another network");
}

// For messages: no file has these names.
[[noreturn]] void refuse_unreadable(const std::string& what, const Error& error) {
  throw Error(fmt::format("{} could not be read by Convoke itself: {}", what, error.what()), kBug);
}

}  // namespace

void require_storable(const ModelDescription& description) {
  const os::File memory = os::scratch_file("convoke-model");
  try {
    hdf5::File written = hdf5::File::create(os::path_of(memory));
    write_description(written, description);
    written.close();
    const std::string bytes = memory.text();
    require_same(read_description(hdf5::File::open_image(std::as_bytes(std::span(bytes)), "the model")),
                 description);
  } catch (const Error& error) {
    refuse_unreadable("a file with this model", error);
  }
}

void require_written(const std::filesystem::path& path, const ModelSet& models) {
  try {
    const hdf5::File file = hdf5::File::open(path);
    require_same(read_description(file), models.description);
    const std::vector<engine::CanonicalParameter> parameters =
        engine::canonical_parameters(models.description.graph);
    for (const Member& member : models.members) {
      const hdf5::Group group =
          file.group(models.ensemble ? fmt::format("member-{:03}", member.index) : "parameters");
      for (const engine::CanonicalParameter& parameter : parameters) {
        const std::vector<float> read = read_parameter(group.dataset(parameter.name));
        const std::span<const float> written =
            std::span(member.parameters).subspan(parameter.offset, parameter.size());
        if (!std::ranges::equal(std::as_bytes(std::span(read)), std::as_bytes(written))) {
          throw Error(fmt::format("{} has other values", parameter.name));
        }
      }
    }
  } catch (const Error& error) {
    refuse_unreadable(fmt::format("{}: the written file", path.string()), error);
  }
}

ModelSet load_models(const std::filesystem::path& file_or_run) {
  return models_of(hdf5::File::open(find_model_file(file_or_run)));
}

ModelSet models_from_root(const mpi::Communicator& group, const std::function<ModelSet()>& read) {
  ModelSet models = ModelSet{.description = {.graph = nn::Graph({1}), .normalization = {}, .class_names = {}},
                             .members = {}};
  const std::string bytes = mpi::on_root(group, [&] {
    models = read();
    return group.size() == 1 ? std::string() : bytes_of(models);
  });
  if (group.root()) return models;
  return models_of(hdf5::File::open_image(std::as_bytes(std::span(bytes)), "the model of rank 0"));
}

}  // namespace convoke::run
