#include "convoke/metrics/json.hpp"
#include "convoke/run/trace_file.hpp"
#include "convoke/train/summary.hpp"
#include "support/catch.hpp"
#include "support/other_loss.hpp"
#include "support/training.hpp"
#include "support/world.hpp"

using namespace convoke;
using namespace convoke::train;

namespace {

/// A complete event, in microseconds.
struct Complete {
  std::string name, category;
  double begin = 0, end = 0;
};

struct Trace {
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<Complete>> rows;  // by pid and tid
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> thread_names;
  std::map<std::int64_t, std::string> process_names;
  std::int64_t dropped = -1;

  /// Names of a rank's events of a category, over all of its rows.
  std::multiset<std::string> names(std::int64_t rank, const std::string& category) const {
    std::multiset<std::string> found;
    for (const auto& [row, events] : rows) {
      for (const Complete& event : events) {
        if (row.first == rank && event.category == category) found.insert(event.name);
      }
    }
    return found;
  }
};

/// Reads a trace, and requires that every event has the fields of its kind, with values of the right types,
/// and no others (SettingsReader::finish).
Trace read_trace(const fs::path& file) {
  Trace trace;
  const std::optional<Settings> root = metrics::read_json(file);
  REQUIRE(root.has_value());
  SettingsReader top(*root, "trace");
  CHECK(top.require_string("displayTimeUnit") == "ms");
  const Settings other = top.table("otherData");
  trace.dropped = std::get<std::int64_t>(other.find("dropped_events")->data());
  for (const Settings& entry : top.tables("traceEvents")) {
    SettingsReader event(entry, "event");
    const std::string kind = event.require_string("ph"), name = event.require_string("name");
    const std::pair row(event.require_int("pid"), event.require_int("tid"));
    if (kind == "M") {
      const Settings arguments = event.table("args");
      REQUIRE(arguments.entries().size() == 1);
      if (name == "thread_name")
        trace.thread_names[row] = std::get<std::string>(arguments.find("name")->data());
      if (name == "process_name")
        trace.process_names[row.first] = std::get<std::string>(arguments.find("name")->data());
    } else {
      REQUIRE(kind == "X");
      const double begin = std::get<double>(entry.find("ts")->data());
      const double length = std::get<double>(entry.find("dur")->data());
      event.find("ts");
      event.find("dur");
      REQUIRE(begin >= 0);
      REQUIRE(length >= 0);
      trace.rows[row].push_back({name, event.require_string("cat"), begin, begin + length});
      if (event.find("args") != nullptr) {
        const Settings arguments = event.table("args");
        REQUIRE(arguments.entries().size() == 1);
        CHECK((arguments.find("step") != nullptr || arguments.find("bucket") != nullptr));
      }
    }
    event.finish();
  }
  top.finish();
  return trace;
}

/// Requires that two events of a row are apart or one is within the other: viewers draw nothing else.
void require_nesting(const std::vector<Complete>& events) {
  constexpr double kRounding = 2e-3;  // times are rounded to nanoseconds
  std::vector<Complete> open;
  double last = 0;
  for (const Complete& event : events) {
    REQUIRE(event.begin >= last);
    last = event.begin;
    while (!open.empty() && open.back().end <= event.begin + kRounding) open.pop_back();
    if (!open.empty()) {
      CAPTURE(open.back().name, open.back().end, event.name, event.begin, event.end);
      REQUIRE(event.end <= open.back().end + kRounding);
    }
    open.push_back(event);
  }
}

/// A loss that makes its thread lose the core for 4 ms, as other programs do.
class SleepingLoss final : public tiny::OtherLoss {
 public:
  nn::LossSums compute(const nn::LossInputs& samples, float* gradient) const override {
    std::this_thread::sleep_for(std::chrono::milliseconds(4));
    return OtherLoss::compute(samples, gradient);
  }
};

}  // namespace

TEST_CASE("the trace of a run has the layers, buckets and phases of all ranks on one clock") {
  const tiny::Run run(world());
  const tiny::Pictures pictures(160);
  const data::BatchLoader loader = pictures.loader();
  Job job = tiny::job(engine::Reduction::kFast);
  job.samples.validation_split = 0.2;
  job.engine.threads = 2;
  job.engine.sharing = engine::ModelSharing::kNone;
  job.engine.bucket_bytes = 1024;
  run::Phases phases(4096);
  const mpi::ClockReading clock = mpi::read_root_clock(world());
  train_members(job, loader, split(world(), 1), world(), run.folder, false, true, phases);
  const auto file = run.folder.file("trace.json");
  run::write_trace(file, *phases.timeline, clock, world());
  if (!world().root()) return;

  const Trace trace = read_trace(file);
  CHECK(trace.dropped == 0);
  REQUIRE(static_cast<int>(trace.process_names.size()) == world().size());
  for (const auto& [row, events] : trace.rows) {
    CAPTURE(row.first, row.second);
    CHECK(trace.thread_names.count(row) == 1);
    require_nesting(events);
  }
  double first_step_ends = 0, first_step_begins = 0;
  for (std::int64_t rank = 0; rank < world().size(); ++rank) {
    CAPTURE(rank);
    CHECK(trace.thread_names.at({rank, 0}) == "main");
    CHECK(trace.names(rank, "step").count("step") == 8);  // 128 samples, batches of 32, two epochs
    CHECK(trace.names(rank, "update").count("update") == 8);
    CHECK(trace.names(rank, "evaluation").count("evaluation") == 2);
    CHECK(trace.names(rank, "load").count("load") == 1);
    if (rank == 0) CHECK(!trace.names(rank, "checkpoint").empty());
    // Every layer of every pass, once per segment of micro-batches that the rank ran.
    const std::size_t passes = trace.names(rank, "forward").count("forward");
    CHECK(passes >= 8);
    CHECK(trace.names(rank, "data").size() == passes);
    CHECK(trace.names(rank, "loss").size() == passes);
    CHECK(trace.names(rank, "backward").count("backward") == passes);
    const auto layers = [&](const char* category, const std::string& beginning) {
      const std::multiset<std::string> names = trace.names(rank, category);
      return static_cast<std::size_t>(std::count_if(
          names.begin(), names.end(), [&](const std::string& name) { return name.starts_with(beginning); }));
    };
    CHECK(layers("forward", "conv2d_1 forward") == passes);
    CHECK(layers("forward", "dense_1 forward") == passes);
    CHECK(layers("backward", "conv2d_1 backward weights") == passes);
    CHECK(layers("backward", "dense_1 backward weights") == passes);
    const std::size_t flights = trace.names(rank, "flight").size();
    CHECK((world().size() == 1 ? flights == 0 : flights > 8 && flights % 8 == 0));
    CHECK(trace.names(rank, "exchange").size() == (world().size() == 1 ? 0U : 8U));
    // A step ends with sums of all ranks, so no rank ends its first step before the last one begins it.
    for (const Complete& event : trace.rows.at({rank, 0})) {
      if (event.category != "step") continue;
      first_step_begins = std::max(first_step_begins, event.begin);
      first_step_ends = rank == 0 ? event.end : std::min(first_step_ends, event.end);
      break;
    }
  }
  CHECK(first_step_begins <= first_step_ends + 1000);
}

TEST_CASE("a full track keeps the newest steps, and the trace says how many events are missing") {
  const tiny::Run run(world());
  Timeline timeline(100);
  for (int i = 0; i < 250; ++i) timeline.main().record({10 * i, 10 * i + 5, nullptr, i, Activity::kStep});
  run::write_trace(run.folder.file("trace.json"), timeline, mpi::read_root_clock(world()), world());
  if (!world().root()) return;
  const Trace trace = read_trace(run.folder.file("trace.json"));
  CHECK(trace.dropped == 150 * world().size());
  CHECK(trace.names(0, "step").size() == 100);
}

TEST_CASE("a trace that cannot be written is an error on all ranks, and nobody waits") {
  Timeline timeline(100);
  timeline.main().record({0, 5, nullptr, 0, Activity::kStep});
  CHECK_THROWS_WITH(
      run::write_trace("/no/such/folder/trace.json", timeline, mpi::read_root_clock(world()), world()),
      Contains("/no/such/folder/trace.json"));
}

TEST_CASE("two million events at most are kept, and 1 MiB by a thread") {
  CHECK(run::trace_events(1) == 32768);
  CHECK(run::trace_events(1000) == 2000);
  CHECK(run::trace_events(1000000) == 1024);
  CHECK(32768 * sizeof(Event) == 1 << 20);
}

namespace {

/// Trains on images of 128 x 128 pixels, which a small network processes faster than they are augmented.
/// Returns the rank for which the others wait.
std::optional<run::Straggler> straggler_of(Job job, const mpi::Communicator& world) {
  constexpr std::size_t kImages = 256, kPixels = 128 * 128;
  const std::vector<std::uint8_t> samples(kImages * kPixels, 100);
  std::vector<std::int32_t> labels(kImages);
  for (std::size_t i = 0; i < kImages; ++i) labels[i] = static_cast<std::int32_t>(i % 4);
  const Shape shape{1, 128, 128};
  job.model.graph = nn::build_graph(
      shape,
      {{{"layer", "max_pool"}, {"size", 64}}, {{"layer", "flatten"}}, {{"layer", "dense"}, {"units", 4}}});
  job.loop.epochs = 4;
  const data::BatchLoader loader(data::Split{samples, labels}, shape, {{1.0F / 255}, {0}}, job.augmenter);
  const tiny::Run run(world);
  const tiny::Result result = tiny::train_all(job, DataLoaders(loader), world, run.folder);
  return run::find_straggler(mpi::all_gather(world, run::times_of(result.phases)));
}

}  // namespace

TEST_CASE("a rank that is made slow is named with its cause") {
  if (world().size() != 2) return;  // more ranks would share the cores of a small machine
  for (const std::string cause : {"data", "other programs"}) {
    Job job =
        tiny::job(engine::Reduction::kFast);  // with exact sums, the other rank would take its micro-batches
    if (world().rank() == 1 && cause == "data") {
      data::AugmentOptions slow;
      slow.randaugment = 20;
      job.augmenter = std::make_shared<data::Augmenter>(slow, Shape{1, 128, 128}, data::SampleType::kUint8);
    }
    if (world().rank() == 1 && cause == "other programs") job.engine.loss = std::make_shared<SleepingLoss>();
    // On a busy machine, other programs may be the larger cause for a moment.
    std::optional<run::Straggler> found;
    for (int attempt = 0; attempt < 4 && (!found || found->rank != 1 || found->cause != cause); ++attempt) {
      found = straggler_of(job, world());
    }
    CAPTURE(cause);
    CHECK(found.has_value());
    if (!found) continue;
    CAPTURE(found->evidence);
    CHECK(found->rank == 1);
    CHECK(found->cause == cause);
  }
}
