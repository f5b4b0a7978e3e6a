#include "synthesize/synthesize.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <vector>

#include "convoke/data_prep/traces/io_features.hpp"

namespace convoke::data_prep {
namespace {

enum class AccessPattern { kFilePerProcess, kSharedContiguous, kSharedStrided };
constexpr std::array kAccessPatterns{"file-per-process", "shared-contiguous", "shared-strided"};

/// The k-th request of a process when it arrives.
struct Arrival {
  std::int64_t process, k;
};

/// The parameters of an observation.
struct Job {
  RandomStream random;
  AccessPattern pattern;
  std::int64_t request;   ///< bytes of one write of a process
  std::int64_t transfer;  ///< largest request at the server, in bytes: larger ones are cut
  std::int64_t files;     ///< used at the same time; process p writes to file p % files
  std::int64_t per_file;  ///< processes of a file
  std::int64_t part;      ///< requests in a process's part of a shared contiguous file
  std::int64_t window;    ///< requests that are observed
  std::int64_t pending;   ///< requests of a process that the server may take in any order
  bool in_step;           ///< processes write one after the other, as in collective calls, not independently
  double swaps;           ///< in step: how often neighbors arrive in the wrong order

  Job(const SynthesizeOptions& options, std::int64_t number, AccessPattern kind)
      : random(random_of(options, number)), pattern(kind) {
    const double d = options.difficulty;
    request = power(12, 20);
    transfer = std::int64_t{1} << (16 + random.below(4));
    files = power(0, 4);
    per_file = kind == AccessPattern::kFilePerProcess ? 1 : power(7 - 1.5 * d, 10);
    part = power(8, 12);
    window = whole(192, 320);
    pending = whole(5 - static_cast<std::int64_t>(2 * d), 8);
    in_step = kind == AccessPattern::kSharedStrided && random.uniform() < 0.5;
    swaps = (1 + 2 * d) * (0.02 + 0.03 * random.uniform());
  }

  std::int64_t whole(std::int64_t first, std::int64_t last) {
    return first + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(last - first + 1)));
  }
  // Returns 2 to a power that is uniform in low..high.
  std::int64_t power(double low, double high) {
    return static_cast<std::int64_t>(std::exp2(low + (high - low) * random.uniform()));
  }

  // Returns the offset of the k-th request of a process in its file.
  std::int64_t offset(const Arrival& arrival) const {
    const std::int64_t rank = arrival.process / files, k = arrival.k;
    switch (pattern) {
      case AccessPattern::kFilePerProcess:
        return k * request;
      case AccessPattern::kSharedContiguous:
        return (k / part * per_file * part + rank * part + k % part) * request;
      case AccessPattern::kSharedStrided:
        break;
    }
    return (k * per_file + rank) * request;
  }
};

std::vector<Arrival> arrivals_in_step(Job& job) {
  std::vector<Arrival> arrivals;
  const std::int64_t processes = job.files * job.per_file;
  const std::int64_t begun = job.whole(0, job.part / 2) * processes + job.whole(0, processes - 1);
  for (std::int64_t i = 0; i < job.window; ++i) {
    arrivals.push_back({(begun + i) % processes, (begun + i) / processes});
  }
  for (std::int64_t i = 0; i + job.files < job.window; ++i) {  // neighbors in a file are `files` apart
    if (job.random.uniform() >= job.swaps) continue;
    std::swap(arrivals[static_cast<std::size_t>(i)], arrivals[static_cast<std::size_t>(i + job.files)]);
    ++i;
  }
  return arrivals;
}

std::vector<Arrival> arrivals_independent(Job& job) {
  struct Process {
    std::int64_t next;
    std::vector<std::int64_t> pending = {};
  };
  std::map<std::int64_t, Process> processes;  // processes that have sent requests
  const std::int64_t begun = job.whole(0, job.part / 2);
  std::vector<Arrival> arrivals;
  while (static_cast<std::int64_t>(arrivals.size()) < job.window) {
    const std::int64_t p = job.whole(0, job.files * job.per_file - 1);
    const auto at = processes.find(p);
    Process& process = at != processes.end()
                           ? at->second
                           : processes.emplace(p, Process{begun + job.whole(0, 7)}).first->second;
    while (static_cast<std::int64_t>(process.pending.size()) < job.pending) {
      process.pending.push_back(process.next++);
    }
    const auto taken = process.pending.begin() + job.whole(0, job.pending - 1);
    arrivals.push_back({p, *taken});
    process.pending.erase(taken);
  }
  return arrivals;
}

// Computes the features of the requests that the server takes: those of processes, cut at the largest
// transfer.
IoFeatures observe(Job& job) {
  std::vector<Request> requests;
  for (const Arrival& arrival : job.in_step ? arrivals_in_step(job) : arrivals_independent(job)) {
    const std::int64_t begin = job.offset(arrival);
    for (std::int64_t cut = 0; cut < job.request && std::ssize(requests) < job.window; cut += job.transfer) {
      requests.push_back({.offset = begin + cut,
                          .size = std::min(job.transfer, job.request - cut),
                          .file = static_cast<std::int32_t>(arrival.process % job.files)});
    }
  }
  return io_features(requests);
}

}  // namespace

SyntheticData make_io_patterns(SynthesizeOptions options) {
  constexpr std::int64_t kThesis = 27238 + 11674;
  if (options.samples == 0) options.samples = kThesis;
  require_samples(options, 5, "traces need 5: all three patterns to train and one to test");
  return {.write_tables = [options](const std::filesystem::path& output) {
    std::string table = fmt::format("{},label\n", fmt::join(kIoFeatureNames, ","));
    for (std::int64_t i = 0; i < options.samples; ++i) {
      const auto pattern = static_cast<std::size_t>(i) % kAccessPatterns.size();
      Job job(options, i, static_cast<AccessPattern>(pattern));
      const IoFeatures seen = observe(job);
      table += fmt::format("{},{:.1f},{},{},{:.1f},{}\n", seen.smallest, seen.mean, seen.largest, seen.files,
                           seen.distance, kAccessPatterns[pattern]);
    }
    write_text(output / "synthetic-io-patterns.csv", table);
  }};
}

}  // namespace convoke::data_prep
