#include "data/dataset_for.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <span>
#include <system_error>
#include <vector>

#include "convoke/core/checksum.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/data_prep/files/file_stamp.hpp"
#include "convoke/data_prep/sources/source_table.hpp"
#include "convoke/metrics/console.hpp"
#include "convoke/mpi/together.hpp"
#include "convoke/os/clock.hpp"
#include "convoke/os/environment.hpp"

namespace convoke::app {
namespace {

data_prep::Team team_of(const mpi::Communicator& world) {
  return {world.rank(), world.size(), [&world] { world.barrier(); },
          [&world](std::span<std::uint64_t> numbers) { world.broadcast(std::as_writable_bytes(numbers)); },
          [&world](std::span<const double> mine) { return mpi::gather_values(world, mine); }};
}

void print_findings(const data_prep::PrepareReport& report) {
  if (report.taken_up > 0)
    fmt::print("  {} had been decoded by a run that was cut short\n", counted(report.taken_up, "sample"));
  if (report.left_out > 0) fmt::print("  {} left out: unreadable\n", counted(report.left_out, "sample"));
  if (report.duplicates > 0) {
    fmt::print("  {} of equal samples, {} of them in two splits\n", counted(report.duplicates, "pair"),
               format_count(report.leaks));
  }
  if (report.near_duplicates > 0) {
    fmt::print("  {} of pictures that look the same, {} of them in two splits\n",
               counted(report.near_duplicates, "pair"), format_count(report.near_duplicate_leaks));
  }
  if (!report.list.empty()) fmt::print("  listed in {}\n", report.list.string());
  if (!report.absent.empty()) fmt::print("  classes without a training sample: {}\n", listing(report.absent));
}

void print_work(const data_prep::PrepareReport& report) {
  fmt::print("  {:<8} {:>12} {:>12} {:>14}\n", "rank", "samples", "time", "samples/s");
  for (std::size_t rank = 0; rank < report.work.size(); ++rank) {
    const data_prep::PrepareReport::Work& work = report.work[rank];
    const double rate = work.seconds > 0 ? static_cast<double>(work.samples) / work.seconds : 0;
    fmt::print("  {:<8} {:>12} {:>12} {:>14}\n", rank, format_count(work.samples),
               format_duration(work.seconds), format_count(std::llround(rate)));
  }
}

// The bytes of encoded pictures, and of the pixels that the dataset would hold otherwise.
void print_encoding(const data_prep::PrepareReport& report) {
  std::int64_t encoded = 0, samples = 0;
  for (const data::SplitSize& split : report.splits) {
    if (split.encoded_ends.empty()) return;
    encoded += split.encoded_ends.back();
    samples += split.samples;
  }
  fmt::print("  {}\n",
             encoding_text(static_cast<std::uint64_t>(encoded),
                           static_cast<std::uint64_t>(samples * report.info.sample_shape.elements())));
}

void print_splits(const data_prep::PrepareReport& report) {
  for (const data::SplitSize& split : report.splits)
    fmt::print("  {:<12} {:>12} samples\n", split.name, format_count(split.samples));
  fmt::print("  splits: {}{}\n", report.split_rule, report.shuffled ? "; samples shuffled" : "");
  for (const std::string& note : report.notes) fmt::print("  {}\n", note);
}

void print_rehearsal(const data_prep::PrepareReport& report) {
  fmt::print("samples of {} in {} classes\n", report.info.sample_shape.to_string(), report.info.classes);
  print_splits(report);
  fmt::print("dry run: nothing was written\n");
}

void print_report(const data_prep::PrepareReport& report, const std::filesystem::path& output) {
  fmt::print("{}: samples of {} in {} classes, {} (the source's: {})\n", output.string(),
             report.info.sample_shape.to_string(), report.info.classes, format_bytes(report.bytes),
             format_bytes(report.source_bytes));
  print_splits(report);
  print_encoding(report);
  print_findings(report);
  print_work(report);
}

}  // namespace

std::string encoding_text(std::uint64_t encoded, std::uint64_t pixels) {
  return fmt::format("encoded pictures of {}; their pixels are {:.1f} times as many bytes ({})",
                     format_bytes(encoded), static_cast<double>(pixels) / static_cast<double>(encoded),
                     format_bytes(pixels));
}

data_prep::PrepareReport prepare_source(data_prep::PrepareOptions options, const mpi::Communicator& world) {
  std::unique_ptr<metrics::Progress> progress;
  const os::Stopwatch watch;
  options.progress = [&](std::int64_t done, std::int64_t total) {
    if (progress == nullptr) progress = std::make_unique<metrics::Progress>("prepare", total, world.root());
    const double rate = static_cast<double>(done * world.size()) / std::max(watch.seconds(), 1e-9);
    progress->update(done, {.images_per_second = rate});
  };
  if (world.root()) {
    options.announce = [&](std::span<const data_prep::Assumption> assumptions) {
      fmt::print("{} is taken for:\n{}", options.source.string(), data_prep::to_text(assumptions));
      std::fflush(stdout);
    };
  }
  data_prep::PrepareReport report = data_prep::prepare(options, team_of(world));
  if (progress != nullptr) progress->finish();
  if (world.root() && options.dry_run) print_rehearsal(report);
  if (world.root() && !options.dry_run) print_report(report, options.output);
  return report;
}

namespace {

namespace fs = std::filesystem;

fs::path cache_folder() {
  if (const auto cache = os::variable("XDG_CACHE_HOME")) return fs::path(*cache) / "convoke";
  if (const auto home = os::variable("HOME")) return fs::path(*home) / ".cache/convoke";
  throw Error("neither XDG_CACHE_HOME nor HOME is set, so there is no folder for the cache",
              "set one of them, or make the dataset with `convoke prepare` and name it in data.path");
}

// Samples get the shape of the network's input.
data_prep::SourceOptions sample_options(const recipe::Recipe& recipe) {
  const std::vector<std::int64_t>& input = recipe.model.input;
  data_prep::SourceOptions options;
  if (input.size() == 3) {
    options.picture.channels = input[0];
    options.picture.height = input[1];
    options.picture.width = input[2];
  }
  if (input.size() == 1) options.text.length = input[0];
  return options;
}

// The dataset of `source` for this recipe. A changed source gets another name.
fs::path place_in_cache(const fs::path& source, const recipe::Recipe& recipe) {
  std::vector<fs::path> files = data_prep::files_below(source);
  if (data_prep::is_manifest(source)) {
    const auto opened = data_prep::open_source(source, sample_options(recipe));
    files.insert(files.end(), opened->files().begin(), opened->files().end());
  }
  // 3: how sources are read; another number where that changes.
  std::string identity = fmt::format("3 {} {:08x}", source.string(), data_prep::checksum_of(files));
  for (const std::int64_t extent : recipe.model.input) identity += fmt::format(" {}", extent);
  const std::uint32_t key = crc32(std::as_bytes(std::span(identity)));
  return cache_folder() / "prepared" / fmt::format("{}-{:08x}.h5", source.stem().string(), key);
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    throw Error(
        fmt::format("{}: cannot be created: {}", folder.string(), error.message()),
        "set XDG_CACHE_HOME to a folder that you may write to, or make the dataset with `convoke prepare` "
        "and name it in data.path");
  }
}

}  // namespace

fs::path dataset_for(const recipe::Recipe& recipe, const mpi::Communicator& world) {
  const fs::path path = fs::absolute(recipe::resolve_dataset(recipe)).lexically_normal();
  const std::string cached = mpi::on_root(world, [&] {
    if (!data_prep::is_source(path)) return std::string();
    const fs::path place = place_in_cache(path, recipe);
    if (!fs::exists(place)) make_folder(place.parent_path());
    return place.string();
  });
  if (cached.empty()) return path;
  const bool is_new = mpi::any_of(world, world.root() && !fs::exists(cached));
  if (world.root()) {
    fmt::print("{}: not a dataset but a source; {} {}\n", path.string(),
               is_new ? "preparing" : "using the prepared", cached);
  }
  if (is_new) prepare_source({.source = path, .output = cached, .samples = sample_options(recipe)}, world);
  return cached;
}

}  // namespace convoke::app
