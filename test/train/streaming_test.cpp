#include "convoke/data/dataset_writer.hpp"
#include "convoke/data/shards.hpp"
#include "convoke/run/node_memory.hpp"
#include "convoke/train/verdict.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/replaced_calls.hpp"
#include "support/slow_loss.hpp"
#include "support/tiny.hpp"
#include "support/training.hpp"
#include "support/world.hpp"

// Training on samples that do not fit into memory, and validation on a separate split, on 1 to 4 ranks.

using namespace convoke;
using namespace convoke::run;
using namespace convoke::train;
using tiny::Run;

namespace {

/// Pictures in a folder of shards, written by rank 0: 150 for training, 40 for validation, 30 for the test.
struct Stored {
  explicit Stored(const mpi::Communicator& world) : place(world), path(place / "shards") {
    mpi::on_root(world, [&] {
      const auto splits = data::in_shards({{"train", 150}, {"validation", 40}, {"test", 30}}, 5);
      auto writer = data::DatasetWriter::create(path, {.sample_shape = Shape{1, 8, 8}, .classes = 4}, splits);
      for (std::size_t i = 0; i < splits.size(); ++i) {
        const tiny::Pictures pictures = pictures_of(i);
        writer.write(splits[i].name, 0, pictures.samples, pictures.labels);
      }
      writer.finish();
    });
  }
  static tiny::Pictures pictures_of(std::size_t split) {
    constexpr std::size_t kCounts[] = {150, 40, 30};
    return tiny::Pictures(kCounts[split], 7 + split);
  }

  SharedFolder place;
  fs::path path;
};

/// A dataset that the ranks of the node stream, or keep in memory up to `budget`.
struct Opened {
  Opened(const Stored& stored, const mpi::Communicator& world, std::size_t budget)
      : storage(world, world.split_node(), budget),
        dataset(data::Dataset::open(stored.path, {"train", "validation"}, storage.storage())),
        training(loader("train")),
        validation(loader("validation")) {}

  data::BatchLoader loader(const char* split) const {
    return {dataset.split(split), Shape{1, 8, 8}, data::Normalization{{1.0F / 255}, {0}}};
  }

  NodeStorage storage;
  data::Dataset dataset;
  data::BatchLoader training, validation;
};

Training fit(const Job& job, const DataLoaders& loaders, const mpi::Communicator& world,
             const RunFolder& folder, bool resume = false) {
  require_trainable(job, loaders, split(world, job.ensemble.members), world);
  return tiny::train_all(job, loaders, world, folder, resume).training;
}

/// Returns the result of one rank with all samples in memory; every rank runs it alone.
TrainedMember alone(const Job& job, bool own_split, const mpi::Communicator& world) {
  const mpi::Communicator self = world.split(world.rank(), 0);
  const Run run(self);
  const tiny::Pictures pictures = Stored::pictures_of(0), others = Stored::pictures_of(1);
  const data::BatchLoader loader = pictures.loader(), validation = others.loader();
  return fit(job, DataLoaders(loader, own_split ? &validation : nullptr), self, run.folder).members.at(0);
}

constexpr std::size_t kLittle = 150 * 64 - 1;  // bytes: more than two steps of one rank need, but not all
constexpr std::size_t kNothing = 1;            // nothing can be read ahead

}  // namespace

TEST_CASE("an exact run on streamed samples is bit-identical to one on samples in memory") {
  const Stored stored(world());
  Job job = tiny::job();
  job.shuffle = GENERATE(data::Shuffle(true), data::Shuffle::chunks(64, 40 * 64, 5 * 64));
  job.samples.validation_split = 0.2;
  const TrainedMember expected = alone(job, false, world());
  for (const std::size_t budget : {kLittle, kNothing}) {
    const Opened opened(stored, world(), budget);
    REQUIRE(opened.dataset.split("train").stream != nullptr);
    for (const int threads : {1, 3}) {
      job.engine.threads = threads;
      const Run run(world());
      const Training result = fit(job, opened.training, world(), run.folder);
      CHECK(result.members[0].model.parameters == expected.model.parameters);
      CHECK(result.members[0].model.validation_accuracy == expected.model.validation_accuracy);
    }
  }
}

TEST_CASE("rank 0 looks at all shards, and each rank at one") {
  const Stored stored(world());  // 5 shards of training samples, and 2 of validation samples
  replaced::counts.h5fopen = 0;
  const Opened opened(stored, world(), kNothing);
  CHECK(replaced::counts.h5fopen == (world().root() ? 5 + 2 : 0) + 1);
  CHECK(opened.dataset.split("train").count() == 150);
  CHECK(opened.dataset.split("validation").count() == 40);
}

TEST_CASE("ranks of unlike speed read their own shares of the samples, and train the same model") {
  const Stored stored(world());
  Job job = tiny::job();
  job.engine.micro_batch = 4;
  job.loop.epochs = 3;
  job.shuffle = data::Shuffle::chunks(64, 40 * 64, 5 * 64);
  const TrainedMember expected = alone(job, false, world());
  job.engine.balance = true;
  const bool slow = world().rank() == world().size() - 1 && world().size() > 1;
  if (slow) job.engine.loss = std::make_shared<const tiny::SlowLoss>();
  const Opened opened(stored, world(), kLittle);
  const Run run(world());
  const tiny::Result result = tiny::train_all(job, opened.training, world(), run.folder);
  CHECK(result.training.members[0].model.parameters == expected.model.parameters);
  std::int64_t samples[] = {result.phases.samples};
  world().sum(samples);
  CHECK(samples[0] == 3 * 150);
  if (slow) CHECK(result.phases.samples < 3 * 150 / world().size());

  // The speeds are measured again when the run goes on, perhaps on other ranks.
  const mpi::Communicator fewer = world().split(world().rank() == 0 ? 0 : 1, 0);
  job.loop.epochs = 4;
  if (world().rank() == 0) {
    const Opened again(stored, fewer, kLittle);
    const tiny::Result more = tiny::train_all(job, again.training, fewer, run.folder, true);
    CHECK(more.training.members[0].epochs_done == 4);
  }
}

TEST_CASE("a streamed run that is interrupted within an epoch ends like an uninterrupted run") {
  const Stored stored(world());
  Job job = tiny::job();
  job.shuffle = data::Shuffle::chunks(64, 40 * 64, 5 * 64);
  const TrainedMember expected = alone(job, false, world());
  const Opened opened(stored, world(), kLittle);
  const Run run(world());
  const Training stopped =
      tiny::interrupted(world(), [&] { return fit(job, opened.training, world(), run.folder); });
  CHECK(bool(stopped.interrupted_by));
  CHECK(stopped.members[0].samples_processed == 32);
  const Training result = fit(job, opened.training, world(), run.folder, true);
  CHECK(result.members[0].samples_processed == 2 * 150 - 32);
  CHECK(result.members[0].model.parameters == expected.model.parameters);
}

TEST_CASE("members of an ensemble stream their shards, and validate on a separate split") {
  const Stored stored(world());
  Job job = tiny::ensemble_job(2, GENERATE(data::Sharding::kContiguous, data::Sharding::kBootstrap));
  job.samples.validation_split = 0.5;  // ignored, because there is a separate split
  job.shuffle = data::Shuffle::chunks(64, 40 * 64, 5 * 64);
  const Opened opened(stored, world(), GENERATE(kLittle, std::size_t{1} << 20));
  const Run run(world());
  const DataLoaders loaders(opened.training, &opened.validation);
  const tiny::Result result = tiny::train_all(job, loaders, world(), run.folder);
  const tiny::Pictures others = Stored::pictures_of(1);
  for (const TrainedMember& member : result.training.members) {
    CHECK(member.model.training_samples == 75);
    const double expected = tiny::plain_score(member.parameters(), others).accuracy;  // on one rank
    CHECK(member.model.validation_accuracy == Approx(expected).epsilon(1e-12));
  }
}

TEST_CASE("members on any number of ranks neither share nor part a group of a streamed dataset") {
  const SharedFolder place(world());
  const fs::path folder = place / "groups";
  mpi::on_root(world(), [&] {
    auto splits = data::in_shards({{"train", 150}}, 5);
    splits.front().groups = true;
    auto writer = data::DatasetWriter::create(folder, {.sample_shape = Shape{1, 8, 8}, .classes = 4}, splits);
    const tiny::Pictures pictures = Stored::pictures_of(0);
    std::vector<std::int32_t> groups;
    for (std::int32_t i = 0; i < 150; ++i) groups.push_back(i * i % 97);
    writer.write("train", 0, pictures.samples, pictures.labels, {}, {}, groups);
    writer.finish();
  });
  Job job = tiny::ensemble_job(3, GENERATE(data::Sharding::kContiguous, data::Sharding::kStratified));
  job.loop.epochs = 1;
  job.samples.validation_split = 0.25;
  run::NodeStorage memory(world(), world().split_node(), GENERATE(kNothing, std::size_t{1} << 20));
  const data::Dataset dataset = data::Dataset::open(folder, {"train"}, memory.storage());
  const data::BatchLoader loader(dataset.split("train"), job.model.graph.input_shape(),
                                 job.model.normalization);
  std::vector<std::set<std::int32_t>> parts;
  std::vector<std::size_t> sizes;
  std::size_t samples = 0;
  for (std::int64_t member = 0; member < 3; ++member) {
    const data::Holdout ids = samples_of(job, loader, member);
    for (const auto* part : {&ids.train, &ids.validation}) {
      parts.emplace_back();
      for (const std::uint32_t id : *part) parts.back().insert(static_cast<std::int32_t>(id * id % 97));
      CHECK_FALSE(part->empty());
      samples += part->size();
    }
    sizes.push_back(ids.train.size());
  }
  CHECK(samples == 150);
  std::size_t members_of_parts = 0;
  std::set<std::int32_t> all;
  for (const auto& part : parts) {
    members_of_parts += part.size();
    all.insert(part.begin(), part.end());
  }
  CHECK(members_of_parts == all.size());  // each group is in one part
  const Run run(world());
  const tiny::Result result = tiny::train_all(job, loader, world(), run.folder);
  for (const TrainedMember& member : result.training.members)
    CHECK(static_cast<std::size_t>(member.model.training_samples) ==
          sizes[static_cast<std::size_t>(member.model.index)]);
  const std::vector<std::string> notes = group_notes(job, loader);
  CHECK(notes.front() ==
        fmt::format("150 samples in {} groups that stay whole; the largest has 4", all.size()));
}

TEST_CASE("a member whose samples cannot be read leaves the vote, and a resumed run tries it again") {
  const Stored stored(world());
  Job job = tiny::ensemble_job(2, data::Sharding::kContiguous);
  job.loop.epochs = 3;
  job.shuffle = data::Shuffle::chunks(64, 40 * 64, 5 * 64);
  const Opened opened(stored, world(), GENERATE(kLittle, kNothing));
  const DataLoaders loaders(opened.training, &opened.validation);
  const Run whole_run(world());
  const Training whole = fit(job, loaders, world(), whole_run.folder);

  const Run run(world());
  Job begun = job;
  begun.loop.epochs = 1;
  fit(begun, loaders, world(), run.folder);
  const auto file = stored.path / "train-00004-of-00005.h5";  // read only by member 1
  const std::string bytes = bytes_of(file);
  world().barrier();
  if (world().root()) fs::resize_file(file, 64);
  world().barrier();
  Training broken = fit(job, loaders, world(), run.folder, true);
  REQUIRE(broken.members.size() == whole.members.size());
  for (std::size_t i = 0; i < whole.members.size(); ++i) {
    const TrainedMember& member = broken.members[i];
    if (member.model.index == 1) {
      CHECK_THAT(member.failure, Contains("train-00004-of-00005.h5"));
      CHECK(member.parameters().empty());
    } else {
      CHECK(member.failure.empty());
      CHECK(std::ranges::equal(member.parameters(), whole.members[i].parameters()));
    }
  }
  CHECK_FALSE(bool(broken.interrupted_by));
  const tiny::Pictures test = Stored::pictures_of(2);
  Phases phases;
  const Verdict verdict =
      gather_and_vote(job, broken, split(world(), 2), world(), test.loader(), run.folder, phases);
  CHECK(verdict.voters == std::vector<std::int64_t>{0});
  CHECK_THAT(verdict.members.at(1).failure, Contains("train-00004-of-00005.h5"));

  world().barrier();
  if (world().root()) write_file(file, bytes);
  world().barrier();
  const Training resumed = fit(job, loaders, world(), run.folder, true);
  for (std::size_t i = 0; i < whole.members.size(); ++i) {
    CHECK(resumed.members.at(i).failure.empty());
    CHECK(std::ranges::equal(resumed.members.at(i).parameters(), whole.members[i].parameters()));
  }
}

TEST_CASE("if no member is left, the error gives the reason of each; a single model ends the job at once") {
  const Stored stored(world());
  Job job = tiny::job();
  const Opened opened(stored, world(), kNothing);
  world().barrier();
  if (world().root()) {
    for (const char* const shard : {"1", "4"}) {
      fs::resize_file(stored.path / fmt::format("train-0000{}-of-00005.h5", shard), 64);
    }
  }
  world().barrier();
  {
    const Run run(world());
    CHECK_THAT(error_of([&] { fit(job, opened.training, world(), run.folder); }), Contains("-of-00005.h5"));
  }
  job = tiny::ensemble_job(2, data::Sharding::kContiguous);
  const Run run(world());
  Training training = fit(job, opened.training, world(), run.folder);
  const tiny::Pictures test = Stored::pictures_of(2);
  Phases phases;
  const std::string error = error_of(
      [&] { gather_and_vote(job, training, split(world(), 2), world(), test.loader(), run.folder, phases); });
  CHECK(error.starts_with("no member is left to vote: member 0: "));
  CHECK(error.find("train-00001-of-00005.h5") < error.find("; member 1: "));
  CHECK(error.find("train-00004-of-00005.h5") > error.find("; member 1: "));
}

TEST_CASE("early stopping monitors a separate split") {
  const Stored stored(world());
  Job job = tiny::job();
  job.loop.epochs = 30;
  job.loop.learning_rate = 0.02;
  job.loop.early_stopping =
      EarlyStopping({.monitor = "validation_accuracy", .patience = 2, .restore_best = true});
  const TrainedMember expected = alone(job, true, world());
  CHECK(expected.stopped_at > 0);
  const Opened opened(stored, world(), kLittle);
  const Run run(world());
  const Training result = fit(job, DataLoaders(opened.training, &opened.validation), world(), run.folder);
  CHECK(result.members[0].stopped_at == expected.stopped_at);
  CHECK(result.members[0].model.parameters == expected.model.parameters);
  if (world().root()) CHECK(fs::exists(run.folder.checkpoints() / "best.h5"));
}

TEST_CASE("the ranks of a node fill its memory together") {
  const Stored stored(world());
  const Opened opened(stored, world(), 1 << 20);
  const tiny::Pictures pictures = Stored::pictures_of(0);
  const data::Split& split = opened.dataset.split("train");
  REQUIRE(split.stream == nullptr);
  CHECK(std::equal(pictures.samples.begin(), pictures.samples.end(), split.values<std::uint8_t>().begin()));
  CHECK(std::equal(pictures.labels.begin(), pictures.labels.end(), split.labels.begin()));
}
