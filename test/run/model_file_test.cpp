#include "convoke/run/model_file.hpp"

#include "convoke/hdf5/file.hpp"
#include "convoke/nn/layers/resampling.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"
#include "support/full_disk.hpp"
#include "support/text.hpp"
#include "support/tiny.hpp"

using namespace convoke::engine;
using namespace convoke::run;
using namespace convoke::train;
namespace hdf5 = convoke::hdf5;

namespace {

Member member(std::int64_t index) {
  return {.index = index,
          .seed = 40 + static_cast<std::uint64_t>(index),
          .shard = "contiguous",
          .training_samples = 100,
          .validation_accuracy = index == 0 ? 0.5 : std::nan(""),
          .parameters = tiny::parameters(static_cast<std::uint64_t>(index))};
}

}  // namespace

TEST_CASE("a model file stores graph, normalization, names and parameters") {
  const TemporaryFolder folder;
  write_model(folder / "model.h5", tiny::description(), tiny::parameters(5));
  const ModelSet models = load_models(folder / "model.h5");
  CHECK(models.description.graph.summary() == tiny::graph().summary());
  CHECK(models.description.graph.input_shape() == convoke::Shape{1, 8, 8});
  CHECK(models.description.normalization.scale == tiny::description().normalization.scale);
  CHECK(models.description.normalization.shift == tiny::description().normalization.shift);
  CHECK(models.description.class_names == tiny::description().class_names);
  CHECK(models.description.class_name(2) == "c");
  REQUIRE(models.members.size() == 1);
  CHECK(models.members[0].parameters == tiny::parameters(5));
}

TEST_CASE("a written file is compared with its model, and a model that no file can give back is refused") {
  const TemporaryFolder folder;
  ModelSet models{.description = tiny::description(), .members = {}};
  models.members.emplace_back().parameters = tiny::parameters(5);
  write_model(folder / "model.h5", models.description, models.members[0].parameters);
  CHECK_NOTHROW(require_written(folder / "model.h5", models));
  CHECK_NOTHROW(require_storable(models.description));

  std::swap(models.members[0].parameters.front(), models.members[0].parameters.back());
  CHECK_THAT(error_of([&] { require_written(folder / "model.h5", models); }),
             Contains("model.h5: the written file could not be read by Convoke itself") &&
                 Contains("has other values"));

  // A rounding has no meaning between pixels, so that no reader takes it.
  convoke::nn::Graph graph({1, 4, 4});
  graph.add(std::make_shared<convoke::nn::Resize>(
                convoke::nn::ResizeOptions{.size = 8,
                                           .method = convoke::nn::ResizeOptions::Method::kBilinear,
                                           .rounding = convoke::nn::ResizeOptions::Rounding::kFloor}),
            {0});
  const ModelDescription resized{.graph = graph, .normalization = {{1}, {0}}, .class_names = {}};
  CHECK_THAT(error_of([&] { require_storable(resized); }), Contains("\"rounding\" is for method"));
}

TEST_CASE("a model of tokens has no normalization") {
  const TemporaryFolder folder;
  ModelDescription description = tiny::description();
  description.normalization = {};
  write_model(folder / "model.h5", description, tiny::parameters(5));
  const ModelSet models = load_models(folder / "model.h5");
  CHECK(models.description.normalization.scale.empty());
  CHECK(models.description.normalization.shift.empty());
}

TEST_CASE("a model file stores a reversed order of channels, and nothing if the order is the stored one") {
  const TemporaryFolder folder;
  ModelDescription description = tiny::description();
  write_model(folder / "plain.h5", description, tiny::parameters(5));
  CHECK_FALSE(hdf5::File::open(folder / "plain.h5").has_attribute("channel_order"));
  description.normalization.reversed = true;
  write_model(folder / "model.h5", description, tiny::parameters(5));
  CHECK(load_models(folder / "model.h5").description.normalization == description.normalization);
}

TEST_CASE("a model file says that its images are measured numbers, and nothing of other samples") {
  const TemporaryFolder folder;
  ModelDescription description = tiny::description();
  write_model(folder / "plain.h5", description, tiny::parameters(5));
  CHECK_FALSE(hdf5::File::open(folder / "plain.h5").has_attribute("samples"));
  description.float_images = true;
  write_model(folder / "model.h5", description, tiny::parameters(5));
  CHECK(load_models(folder / "model.h5").description.float_images);
}

TEST_CASE("a model file whose sizes contradict its network is refused before they are used") {
  const TemporaryFolder folder;
  ModelDescription description = tiny::description();
  SECTION("normalization") {
    description.normalization.scale.push_back(1);
    write_model(folder / "model.h5", description, tiny::parameters(5));
    CHECK_THAT(error_of([&] { load_models(folder / "model.h5"); }),
               Contains("model.h5: normalizes 2 and 1 channels, but its network takes 1"));
  }
  SECTION("class names") {
    description.class_names.pop_back();
    write_model(folder / "model.h5", description, tiny::parameters(5));
    CHECK_THAT(error_of([&] { load_models(folder / "model.h5"); }), Contains("class names for"));
  }
}

TEST_CASE("a model stores the preparation of raw samples, of any length") {
  const TemporaryFolder folder;
  ModelDescription description = tiny::description();
  description.preparation = R"({"kind":"text","vocabulary":["été"]})" + std::string(200'000, ' ');
  write_model(folder / "model.h5", description, tiny::parameters(5));
  CHECK(load_models(folder / "model.h5").description.preparation == description.preparation);
  const Member one = member(0);
  const Member* const members[] = {&one};
  write_ensemble(folder / "ensemble.h5", description, members);
  const ModelSet models = load_models(folder / "ensemble.h5");
  CHECK(models.description.preparation == description.preparation);
  CHECK(models.members.size() == 1);
}

TEST_CASE("equal models give byte-identical files") {
  const TemporaryFolder folder;
  write_model(folder / "a.h5", tiny::description(), tiny::parameters(5));
  fs::last_write_time(folder / "a.h5", fs::file_time_type::clock::now() - std::chrono::hours(1));
  ::sleep(1);  // HDF5's time stamps, if stored, have a resolution of seconds
  write_model(folder / "sub-a-longer-name.h5", tiny::description(), tiny::parameters(5));
  CHECK(bytes_of(folder / "a.h5") == bytes_of(folder / "sub-a-longer-name.h5"));
  write_model(folder / "b.h5", tiny::description(), tiny::parameters(6));
  CHECK(bytes_of(folder / "a.h5") != bytes_of(folder / "b.h5"));
}

TEST_CASE("an ensemble file stores its members and their facts") {
  const TemporaryFolder folder;
  const Member first = member(0);
  const Member third = member(2);  // the second left the vote
  const Member* const members[] = {&first, &third};
  write_ensemble(folder / "ensemble.h5", tiny::description(), members);
  const ModelSet models = load_models(folder.path());  // a run folder works too
  REQUIRE(models.members.size() == 2);
  CHECK(models.members[0].seed == 40);
  CHECK(models.members[0].shard == "contiguous");
  CHECK(models.members[0].training_samples == 100);
  CHECK(models.members[0].validation_accuracy == 0.5);
  CHECK(models.members[0].parameters == first.parameters);
  CHECK(models.members[1].index == 2);
  CHECK(std::isnan(models.members[1].validation_accuracy));
  CHECK(models.members[1].parameters == third.parameters);
}

TEST_CASE("a graph that is not a chain is stored correctly") {
  const TemporaryFolder folder;
  const std::vector<convoke::Settings> layers{
      {{"layer", "conv2d"}, {"name", "a"}, {"filters", 4}, {"kernel", 3}, {"padding", "same"}},
      {{"layer", "conv2d"}, {"name", "b"}, {"filters", 4}, {"kernel", 3}, {"padding", "same"}},
      {{"layer", "add"}, {"inputs", convoke::Value::Array{"a", "b"}}, {"activation", "relu"}},
      {{"layer", "flatten"}},
      {{"layer", "dense"}, {"units", 3}}};
  ModelDescription description{.graph = convoke::nn::build_graph(convoke::Shape{1, 8, 8}, layers),
                               .normalization = {{1}, {0}},
                               .class_names = {}};
  const std::vector<float> parameters(static_cast<std::size_t>(description.graph.parameter_count()), 0.5F);
  write_model(folder / "model.h5", description, parameters);
  const ModelSet models = load_models(folder / "model.h5");
  CHECK(models.description.graph.summary() == description.graph.summary());
  CHECK(models.description.class_name(2) == "2");
}

TEST_CASE("files that are not models are refused with the reason") {
  const TemporaryFolder folder;
  const fs::path file = folder / "model.h5";
  const auto refused = [&] { return error_of([&] { load_models(file); }); };

  CHECK(contains(refused(), file.string()));
  CHECK(contains(error_of([&] { load_models(folder.path()); }), "neither model.h5 nor ensemble.h5"));

  write_file(file, "PK\x03\x04 not HDF5");
  CHECK(contains(refused(), file.string()));

  {
    hdf5::File other = hdf5::File::create(file);
    other.set_attribute("keras_version", "2.4");
    other.close();
  }
  CHECK(contains(refused(), "not from Convoke"));

  write_model(file, tiny::description(), tiny::parameters(5));
  const std::string good = bytes_of(file);

  write_file(file, good.substr(0, good.size() - 100));
  CHECK(contains(refused(), file.string()));

  const float value = tiny::parameters(5)[5];
  const std::size_t at = good.find(std::string(reinterpret_cast<const char*>(&value), sizeof value));
  REQUIRE(at != std::string::npos);
  std::string damaged = good;
  damaged[at + 1] = static_cast<char>(damaged[at + 1] ^ 0x10);
  write_file(file, damaged);
  CHECK(contains(refused(), "checksum"));

  {
    hdf5::File newer = hdf5::File::create(file);
    newer.set_attribute("convoke_format", "model");
    newer.set_attribute("format_version", 99);
    newer.close();
  }
  CHECK(contains(refused(), "was written by a newer Convoke (format 99, this one reads up to 1)"));
}

TEST_CASE("a model that does not fit on the disk is an error that names the file") {
  const TemporaryFolder folder;
  const FileSizeLimit full(1000);
  CHECK(contains(error_of([&] { write_model(folder / "model.h5", tiny::description(), tiny::parameters()); }),
                 (folder / "model.h5").string()));
  CHECK(fs::is_empty(folder.path()));
}

namespace {

ModelDescription named() {
  return {
      .graph = convoke::nn::build_graph(
          {1, 6, 6},
          {{{"layer", "conv2d"}, {"filters", 2}, {"kernel", 3}, {"activation", "relu"}, {"name", "stem/a"}},
           {{"layer", "flatten"}},
           {{"layer", "dense"}, {"units", 3}, {"activation", "softmax"}, {"name", "head"}}}),
      .normalization = {{1}, {0}},
      .class_names = {}};
}

std::vector<float> counting_up(const convoke::nn::Graph& graph) {
  std::vector<float> values(canonical_values(canonical_parameters(graph)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  return values;
}

}  // namespace

TEST_CASE(
    "parameters lie flat in their group, whatever the names: a list of arrays, as docs/formats.md reads it") {
  const TemporaryFolder folder;
  const std::vector<float> parameters = counting_up(named().graph);
  write_model(folder / "model.h5", named(), parameters);
  const hdf5::File file = hdf5::File::open(folder / "model.h5");
  const hdf5::Group group = file.group("parameters");
  CHECK(group.children() == std::vector<std::string>{"stem.a.conv2d.weight", "stem.a.conv2d.bias",
                                                     "head.dense.weight", "head.dense.bias"});
  for (const std::string& name : group.children()) CHECK(group.has_dataset(name));
  CHECK(load_models(folder / "model.h5").members.at(0).parameters == parameters);
}

TEST_CASE(
    "members come in the order of their indices, also beyond 999, where the order of their names differs") {
  const TemporaryFolder folder;
  std::vector<Member> members;
  for (const std::int64_t index : {1001, 2, 10000, 999, 101, 1000}) members.push_back(member(index));
  std::vector<const Member*> listed;
  for (const Member& each : members) listed.push_back(&each);
  write_ensemble(folder / "ensemble.h5", tiny::description(), listed);
  const ModelSet models = load_models(folder / "ensemble.h5");
  REQUIRE(models.members.size() == members.size());
  std::ranges::sort(members, {}, &Member::index);
  for (std::size_t i = 0; i < members.size(); ++i) {
    CHECK(models.members[i].index == members[i].index);
    CHECK(models.members[i].parameters == members[i].parameters);
  }
}
