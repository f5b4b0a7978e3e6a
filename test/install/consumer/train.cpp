// A program outside Convoke's tree: trains a recipe on the ranks that it has, on samples that it makes
// itself.
#include <convoke/data/dataset_writer.hpp>
#include <convoke/mpi/session.hpp>
#include <convoke/recipe/run.hpp>
#include <cstdint>
#include <iostream>
#include <vector>

using namespace convoke;

namespace {

// Images of 8 x 8 in two classes: the left half is bright, or the right one.
void write_samples(const std::string& file) {
  constexpr std::int64_t kCount = 64;
  std::vector<std::uint8_t> samples;
  std::vector<std::int32_t> labels;
  for (std::int32_t i = 0; i < kCount; ++i) {
    labels.push_back(i % 2);
    for (int pixel = 0; pixel < 64; ++pixel) {
      samples.push_back(static_cast<std::uint8_t>((pixel % 8 < 4) == (labels.back() == 0) ? 200 : 20));
    }
  }
  data::DatasetInfo info;
  info.sample_shape = Shape{1, 8, 8};
  info.classes = 2;
  auto writer = data::DatasetWriter::create(file, info, {{"train", kCount}, {"test", kCount}});
  writer.write("train", 0, samples, labels);
  writer.write("test", 0, samples, labels);
  writer.finish();
}

constexpr const char* kRecipe = R"(
name = "consumer"
[data]
path = "halves.h5"
[model]
input = [1, 8, 8]
layers = [
  { layer = "conv2d", filters = 4, kernel = 3, activation = "relu" },
  { layer = "flatten" },
  { layer = "dense", units = 2, activation = "softmax" },
]
[train]
epochs = 5
batch = 16
optimizer = { name = "adam", learning_rate = 0.01 }
)";

}  // namespace

int main() {
  const mpi::Session session;
  const mpi::Communicator& world = session.world();
  if (world.root()) write_samples("halves.h5");
  world.barrier();

  recipe::Run run(recipe::Recipe::parse(kRecipe, "consumer.toml"), world, run::survey(world));
  std::cout << run.job().model.graph.summary() << "rank " << world.rank() << " of " << world.size() << "\n";
  const auto folder = run::RunFolder::create(run.recipe().name, "run", false, world);
  const recipe::Outcome outcome = run.train(folder);
  std::cout << train::summary_text(run.job(), *outcome.verdict, outcome.cost);
  std::cout << "accuracy " << outcome.verdict->report.accuracy << "\n";
}
