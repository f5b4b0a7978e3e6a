#include "convoke/run/verification.hpp"

#include "convoke/hdf5/file.hpp"
#include "convoke/run/checkpoint.hpp"
#include "convoke/run/model_file.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"
#include "support/tiny.hpp"

using namespace convoke::run;
using Lines = std::vector<std::string>;
using fs::path;

namespace {

void write_model(const path& file, const std::vector<float>& parameters) {
  convoke::run::write_model(file, tiny::description(), parameters);
}

void write_checkpoint(const path& folder, CheckpointState state, const Fingerprint& fingerprint = {}) {
  const Checkpoints checkpoints(folder, convoke::engine::canonical_parameters(tiny::graph()), fingerprint,
                                "name = \"tiny\"\n", 100);
  checkpoints.make_folder();
  checkpoints.save(state);
}

CheckpointState checked_state_at(std::int64_t epochs) {
  CheckpointState state;
  state.epochs_done = epochs;
  state.updates = 10 * epochs;
  state.parameters = tiny::parameters(static_cast<std::uint64_t>(epochs));
  state.optimizer = {tiny::parameters(100)};
  return state;
}

}  // namespace

TEST_CASE("equal models have no differences, and everything is counted") {
  const TemporaryFolder folder;
  write_model(folder / "a.h5", tiny::parameters(5));
  write_model(folder / "b.h5", tiny::parameters(5));
  const FileComparison found = compare_files(folder / "a.h5", folder / "b.h5");
  CHECK(found.differences == Lines{});
  CHECK(found.position.empty());
  CHECK(found.arrays == 8);  // two of the convolution, four of the batch norm, two of the dense layer
  CHECK(found.values == static_cast<std::int64_t>(tiny::parameters(5).size()));
}

TEST_CASE("the first value that differs is named, with the number of values and the largest distance") {
  const TemporaryFolder folder;
  std::vector<float> values = tiny::parameters(5);
  for (float& value : values) value = 0.5F;
  write_model(folder / "a.h5", values);
  // The convolution's weights have shape (8, 1, 3, 3): value 15 is the output 1, row 2, column 0.
  values[15] = 0.75F;
  values[20] = -0.5F;
  values.back() = std::nextafter(0.5F, 1.0F);
  write_model(folder / "b.h5", values);
  CHECK(compare_files(folder / "a.h5", folder / "b.h5").differences ==
        Lines{"/parameters/conv2d_1.weight[1, 0, 2, 0]: 0.5 and 0.75; 2 of 72 values differ, by at most 1",
              "/parameters/dense_1.bias[3]: 0.5 and 0.50000006; 1 of 4 values differ, by at most 5.96e-08"});
}

TEST_CASE("values are compared by their bits") {
  const TemporaryFolder folder;
  std::vector<float> values = tiny::parameters(5);
  values[0] = 0.0F;
  values[1] = std::nanf("");
  write_model(folder / "a.h5", values);
  write_model(folder / "same.h5", values);
  values[0] = -0.0F;
  write_model(folder / "b.h5", values);
  CHECK(compare_files(folder / "a.h5", folder / "same.h5").differences.empty());
  CHECK(compare_files(folder / "a.h5", folder / "b.h5").differences ==
        Lines{"/parameters/conv2d_1.weight[0, 0, 0, 0]: 0 and -0; 1 of 72 values differ, by at most 0"});
}

TEST_CASE("the files of two runs are compared in the order of training") {
  const TemporaryFolder folder;
  write_checkpoint(folder / "b/checkpoints", checked_state_at(1));
  for (const char* run : {"a", "b"}) {
    for (const int epochs : {2, 9, 10})
      write_checkpoint(folder / run / "checkpoints", checked_state_at(epochs));
    write_model(folder / run / "model.h5", tiny::parameters(5));
  }
  const RunFiles files = files_of_runs(folder / "a", folder / "b");
  CHECK(files.both == std::vector<path>{"checkpoints/epoch-0002.h5", "checkpoints/epoch-0009.h5",
                                        "checkpoints/epoch-0010.h5", "model.h5"});
  CHECK(files.only_a.empty());
  CHECK(files.only_b == std::vector<path>{"checkpoints/epoch-0001.h5"});
  CHECK(error_of([&] { files_of_runs(folder / "a", folder / "none"); }) ==
        (folder / "none").string() + ": has no checkpoint, model.h5 or ensemble.h5");
}

TEST_CASE("checkpoints differ in parameters, then in the optimizer, then in facts and recipes") {
  const TemporaryFolder folder;
  CheckpointState state = checked_state_at(3);
  write_checkpoint(folder / "a", state, {{"train.batch", "32"}});
  state.parameters[0] = 7;
  state.optimizer[0][0] = 8;
  state.loss_sum = 0.1;
  write_checkpoint(folder / "b", state, {{"train.batch", "64"}, {"train.micro_batch", "8"}});
  const FileComparison found = compare_files(folder / "a/epoch-0003.h5", folder / "b/epoch-0003.h5");
  CHECK(found.position == "step 30");
  REQUIRE(found.differences.size() == 5);
  CHECK(found.differences[0].starts_with("/parameters/conv2d_1.weight[0, 0, 0, 0]: "));
  CHECK(found.differences[1].starts_with("/optimizer-0/conv2d_1.weight[0, 0, 0, 0]: "));
  CHECK(found.differences[2] == "/ loss_sum: 0 and 0.1");
  CHECK(found.differences[3] == "/fingerprint train.batch: 32 and 64");
  CHECK(found.differences[4] == "/fingerprint train.micro_batch: absent and 8");
}

TEST_CASE("files of different kinds and damaged files are errors") {
  const TemporaryFolder folder;
  write_model(folder / "a.h5", tiny::parameters(5));
  write_checkpoint(folder.path(), checked_state_at(3));
  CHECK_THAT(error_of([&] { compare_files(folder / "a.h5", folder / "epoch-0003.h5"); }),
             Contains("a.h5 is of the kind model, but ") && EndsWith("epoch-0003.h5 of the kind checkpoint"));
  write_model(folder / "b.h5", tiny::parameters(6));
  std::fstream file(folder / "b.h5", std::ios::in | std::ios::out | std::ios::binary);
  const auto offset =
      convoke::hdf5::File::open(folder / "b.h5").dataset("parameters/conv2d_1.weight").raw_offset();
  REQUIRE(offset.has_value());
  file.seekp(static_cast<std::streamoff>(*offset));
  file.put('x');
  file.close();
  CHECK_THAT(error_of([&] { compare_files(folder / "a.h5", folder / "b.h5"); }),
             Contains("b.h5: /parameters/conv2d_1.weight: is damaged"));
}
