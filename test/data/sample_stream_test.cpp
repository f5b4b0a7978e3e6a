// Samples that are read when needed, or ahead of that, equal those in memory.
#include "convoke/data/sample_stream.hpp"

#include "convoke/data/batch_loader.hpp"
#include "convoke/data/read_ahead.hpp"
#include "convoke/data/shards.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"
#include "typed_example.hpp"

using convoke::Shape;
using namespace convoke::data;
namespace hdf5 = convoke::hdf5;

namespace {

using Ids = std::vector<std::uint32_t>;

constexpr std::int64_t kSamples = 500;

/// Writes `kSamples` uint8 images, float sequences or tokens to one file or to shards.
Shape write_kind(const fs::path& path, SampleType type, std::int64_t shards) {
  const Shape seen = type == SampleType::kUint8   ? Shape{3, 5, 4}
                     : type == SampleType::kInt32 ? Shape{6}
                                                  : Shape{5, 2};
  std::vector<SplitSize> splits{{"train", kSamples, type == SampleType::kFloat32}, {"validation", 10}};
  splits[1].weights = splits[0].weights;
  if (shards > 0) splits = in_shards(splits, shards);
  auto writer = DatasetWriter::create(path, typed_info(type, seen), splits);
  for (const SplitSize& split : splits) {
    const std::int64_t n = split.samples;
    const std::vector<float> weights = split.weights ? example_weights(n) : std::vector<float>();
    if (type == SampleType::kUint8) {
      std::vector<std::uint8_t> pixels(static_cast<std::size_t>(n * 60));
      for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(i * i % 253);
      writer.write(split.name, 0, pixels, example_labels(n), weights);
    } else if (type == SampleType::kInt32) {
      writer.write(split.name, 0, example_tokens(n, 6), example_labels(n), weights);
    } else {
      writer.write(split.name, 0, example_numbers(n, stored_shape(seen)), example_labels(n), weights);
    }
  }
  writer.finish();
  return seen;
}

Dataset open_streamed(const fs::path& path, std::size_t budget = 0) {
  return Dataset::open(path, {"train", "validation"}, private_storage(budget));
}

std::size_t sample_bytes(const Dataset& dataset) {
  return static_cast<std::size_t>(dataset.info().sample_shape.elements()) *
         size_of(dataset.info().sample_type);
}

/// Returns the samples `ids` as they lie in memory.
std::vector<std::byte> held(const Dataset& in_memory, std::span<const std::uint32_t> ids) {
  const std::span<const std::byte> all = bytes_of(in_memory.split("train").samples);
  const std::size_t size = sample_bytes(in_memory);
  std::vector<std::byte> bytes;
  for (const std::uint32_t id : ids) {
    bytes.insert(bytes.end(), all.begin() + static_cast<std::ptrdiff_t>(id * size),
                 all.begin() + static_cast<std::ptrdiff_t>((id + 1) * size));
  }
  return bytes;
}

std::vector<std::byte> copy(const std::byte* from, std::size_t bytes) { return {from, from + bytes}; }

/// Distributes micro-batches of 4 samples over `ranks`, as the engine does.
ReadAhead::Share share_of(std::int64_t rank, std::int64_t ranks) {
  return [=](std::int64_t samples) {
    const std::int64_t micro_batches = (samples + 3) / 4;
    const std::int64_t first = std::min(4 * (micro_batches * rank / ranks), samples);
    return SampleRange{first, std::min(4 * (micro_batches * (rank + 1) / ranks), samples) - first};
  };
}

}  // namespace

TEST_CASE("a loader gives the same from a stream as from memory, for every kind of samples") {
  const TemporaryFolder folder;
  const SampleType type = GENERATE(SampleType::kUint8, SampleType::kInt32, SampleType::kFloat32);
  const std::int64_t shards = GENERATE(0, 7);
  const Shape seen = write_kind(folder / "data", type, shards);
  const Dataset memory = Dataset::open(folder / "data", {"train", "validation"});
  const Dataset streamed = open_streamed(folder / "data");
  REQUIRE(memory.split("train").stream == nullptr);
  REQUIRE(streamed.split("train").stream != nullptr);
  CHECK(streamed.split("train").type() == type);
  CHECK(streamed.split("train").count() == kSamples);
  CHECK(streamed.split("train").largest_token == (type == SampleType::kInt32 ? 10 : -1));
  CHECK(std::ranges::equal(streamed.split("train").labels, memory.split("train").labels));
  CHECK(std::ranges::equal(streamed.split("train").weights, memory.split("train").weights));

  const auto channels = static_cast<std::size_t>(channel_count(type, seen));
  const Normalization normalization{std::vector<float>(channels, 0.5F), std::vector<float>(channels, -1.0F)};
  const BatchLoader a(memory.split("train"), seen, normalization);
  const BatchLoader b(streamed.split("train"), seen, normalization);
  Ids all(kSamples);
  std::iota(all.begin(), all.end(), 0U);
  const std::size_t size = static_cast<std::size_t>(seen.elements());
  for (const Ids& ids : {Ids{7, 3, 4, 5, 499, 0, 7}, Ids{71}, all}) {  // out of order, twice, across shards
    std::vector<std::int32_t> labels_a(ids.size()), labels_b(ids.size());
    if (type == SampleType::kInt32) {
      std::vector<std::int32_t> tokens_a(ids.size() * size), tokens_b(ids.size() * size);
      a.load_tokens(ids, tokens_a, labels_a);
      b.load_tokens(ids, tokens_b, labels_b);
      CHECK(tokens_a == tokens_b);
    } else {
      std::vector<float> values_a(ids.size() * size), values_b(ids.size() * size);
      a.load(ids, values_a, labels_a);
      b.load(ids, values_b, labels_b);
      CHECK(values_a == values_b);
    }
    CHECK(labels_a == labels_b);
  }
}

TEST_CASE("splits are held in memory as far as the budget allows") {
  const TemporaryFolder folder;
  write_kind(folder / "x.h5", SampleType::kUint8, 0);
  const Dataset small = open_streamed(folder / "x.h5", 10 * 60);  // enough for 10 samples of 60 bytes
  CHECK(small.split("train").stream != nullptr);
  CHECK(small.split("validation").stream == nullptr);
  CHECK(small.split("train").stream->memory() == 0);
  const Dataset large = open_streamed(folder / "x.h5", kSamples * 60 + 599);
  CHECK(large.split("train").stream == nullptr);
  CHECK(large.split("validation").stream->memory() == 599);
}

namespace {

/// Loads an epoch from `first_step` on as the two workers of a rank do; true if all samples were right.
bool take_epoch(const Dataset& memory, const Split& split, const EpochPlan& plan, std::int64_t first_step,
                const ReadAhead::Share& share) {
  const std::size_t size = sample_bytes(memory);
  const auto same = [&](std::span<const std::uint32_t> ids) {
    return ids.empty() || copy(split.stream->fetch(ids), ids.size() * size) == held(memory, ids);
  };
  std::atomic<bool> good = true;
  ReadAhead ahead(*split.stream, plan, first_step, share);
  for (std::int64_t step = first_step; step < plan.steps(); ++step) {
    const std::span<const std::uint32_t> all = plan.step(step);
    const SampleRange mine = share(static_cast<std::int64_t>(all.size()));
    const auto part = all.subspan(static_cast<std::size_t>(mine.first), static_cast<std::size_t>(mine.count));
    std::thread other([&] {
      if (!same(part.subspan(part.size() / 2))) good = false;
    });
    if (!same(part.first(part.size() / 2))) good = false;
    if (!same(Ids{1, 9, 10, 2})) good = false;  // samples that were not announced
    other.join();
    ahead.step_done();
  }
  return good;
}

}  // namespace

TEST_CASE("reading ahead gives every rank its samples, for any order and memory") {
  const TemporaryFolder folder;
  const SampleType type = GENERATE(SampleType::kUint8, SampleType::kInt32, SampleType::kFloat32);
  write_kind(folder / "data", type, 7);
  const Dataset memory = Dataset::open(folder / "data", {"train"});
  Ids ids(kSamples - 3);
  std::iota(ids.begin(), ids.end(), 2U);
  for (const std::size_t budget : {0, 2 * 24 * 40, 100 * 64}) {  // for no step, for few steps, for many
    const Dataset dataset = open_streamed(folder / "data", budget);
    for (const Shuffle& shuffle : {Shuffle(false), Shuffle(true), Shuffle::chunks(60, 4800, 600)}) {
      const EpochPlan plan(ids, 5, 1, 24, shuffle);
      for (const auto& share : {share_of(0, 1), share_of(0, 3), share_of(2, 3)}) {
        CHECK(take_epoch(memory, dataset.split("train"), plan, 0, share));
      }
      CHECK(take_epoch(memory, dataset.split("train"), plan, 13, share_of(0, 2)));
      CHECK(take_epoch(memory, dataset.split("train"), plan, plan.steps(), share_of(0, 1)));
    }
  }
}

TEST_CASE("samples read ahead are in memory, and only this rank's share") {
  const TemporaryFolder folder;
  write_kind(folder / "x.h5", SampleType::kUint8, 0);
  Ids ids(kSamples);
  std::iota(ids.begin(), ids.end(), 0U);
  const Dataset dataset = open_streamed(folder / "x.h5", kSamples * 60 - 1);
  const EpochPlan plan(ids, 1, 0, 24);
  {
    ReadAhead ahead(*dataset.split("train").stream, plan, 0, share_of(1, 3));
    const std::byte* found = ahead.find(plan.step(0).subspan(8, 4));
    REQUIRE(found != nullptr);
    CHECK(found + 4 * 60 == ahead.find(plan.step(0).subspan(12, 4)));  // not a copy
    CHECK(dataset.split("train").stream->fetch(plan.step(0).subspan(8, 4)) == found);
    CHECK(ahead.find(plan.step(0).first(4)) == nullptr);  // the share of rank 0
    CHECK(ahead.find(plan.step(0).subspan(12, 8)) == nullptr);
    CHECK(ahead.find(ids) == nullptr);
  }
  // Two steps need more memory than there is, so the samples are not read ahead.
  const Dataset poor = open_streamed(folder / "x.h5", 10 * 60 + 2 * 24 * 60 - 1);  // memory for validation
  ReadAhead none(*poor.split("train").stream, plan, 0, share_of(0, 1));
  CHECK(poor.split("train").stream->fetch(plan.step(0)) != nullptr);
}

TEST_CASE("a file that becomes shorter or unreadable gives an error to the thread that needs its samples") {
  const TemporaryFolder folder;
  write_kind(folder / "data", SampleType::kFloat32, 4);
  Ids ids(kSamples);
  std::iota(ids.begin(), ids.end(), 0U);
  const Dataset dataset = open_streamed(folder / "data", 8000);
  const Split& split = dataset.split("train");
  const fs::path shard = folder / "data/train-00002-of-00004.h5";
  fs::resize_file(shard, fs::file_size(shard) / 2);
  CHECK_THAT(error_of([&] { split.stream->fetch(ids); }), Contains("train-00002-of-00004.h5: is truncated"));

  const EpochPlan plan(ids, 1, 0, 24, false);
  std::string message;
  std::int64_t steps = 0;
  {
    ReadAhead ahead(*split.stream, plan, 0, share_of(0, 1));
    message = error_of([&] {
      for (; steps < plan.steps(); ++steps) {
        split.stream->fetch(plan.step(steps));
        ahead.step_done();
      }
    });
  }
  CHECK_THAT(message, Contains("train-00002-of-00004.h5: is truncated"));
  CHECK(steps >= 250 / 24 - 8);  // blocks of 8000 / 2 bytes that had been read before were used
}

TEST_CASE("samples are checked even if they are not held in memory") {
  const TemporaryFolder folder;
  const fs::path path = folder / "x.h5";
  const auto write = [&](auto samples, hdf5::ElementType type, const Shape& shape, std::int32_t label) {
    std::vector<std::int32_t> labels = example_labels(4);
    labels[3] = label;
    foreign(path, type, shape, samples, 0, labels).close();
    return error_of([&] { Dataset::open(path, {"train"}, private_storage(0)); });
  };
  std::vector<float> numbers = example_numbers(4, Shape{5});
  const Shape table{4, 5}, texts{4, 6};
  CHECK(write(numbers, hdf5::ElementType::kFloat32, table, 0).empty());
  CHECK_THAT(write(numbers, hdf5::ElementType::kFloat32, table, 3),
             Contains("x.h5: /train/labels: sample 3 has label 3, outside 0..2"));
  numbers[13] = NAN;
  CHECK_THAT(write(numbers, hdf5::ElementType::kFloat32, table, 0),
             Contains("x.h5: /train/samples: sample 2 has the value nan at position 3"));
  std::vector<std::int32_t> tokens = example_tokens(4, 6);
  tokens[7] = -1;
  CHECK_THAT(write(tokens, hdf5::ElementType::kInt32, texts, 0),
             Contains("sample 1 has token -1 at position 1"));
}

TEST_CASE("compressed samples are streamed through HDF5") {
  const TemporaryFolder folder;
  const std::vector<float> numbers = example_numbers(20, Shape{5});
  foreign(folder / "x.h5", hdf5::ElementType::kFloat32, Shape{20, 5}, numbers, 6).close();
  const Dataset dataset = Dataset::open(folder / "x.h5", {"train"}, private_storage(399));
  Ids ids(20);
  std::iota(ids.begin(), ids.end(), 0U);
  const EpochPlan plan(ids, 1, 0, 4);
  ReadAhead ahead(*dataset.split("train").stream, plan, 0, share_of(0, 1));  // idle: HDF5 has one thread
  const auto* row = reinterpret_cast<const float*>(dataset.split("train").stream->fetch(plan.step(2)));
  for (std::size_t i = 0; i < 4; ++i) CHECK(row[5 * i + 1] == numbers[5 * plan.step(2)[i] + 1]);
}
