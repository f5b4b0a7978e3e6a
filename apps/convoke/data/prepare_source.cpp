#include "data/dataset_for.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

#include "convoke/core/text.hpp"
#include "convoke/metrics/console.hpp"
#include "convoke/mpi/together.hpp"
#include "convoke/os/clock.hpp"

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

}  // namespace convoke::app
