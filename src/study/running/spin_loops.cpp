#include "convoke/study/running/spin_loops.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <barrier>
#include <thread>

#include "convoke/core/error.hpp"
#include "convoke/core/lookup.hpp"
#include "convoke/core/text.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/os/atomic_file.hpp"
#include "convoke/os/clock.hpp"
#include "convoke/os/processors.hpp"
#include "convoke/os/thread.hpp"

namespace convoke::study {
namespace {

constexpr int kCalibrations = 7;

using Four [[gnu::vector_size(16)]] = float;

// Time since `watch` was set; several threads may share it.
double seconds_of(std::uint64_t iterations, const os::Stopwatch& watch = {}) {
  [[maybe_unused]] const volatile float kept = spin(iterations);  // prevents removal by the compiler
  return watch.seconds();
}

// Returns the seconds of spin() on each of `cores` (logical CPUs), with one thread on each; starts when
// all threads are ready.
std::vector<double> spin_on(std::span<const int> cores, std::uint64_t iterations) {
  std::vector<double> seconds(cores.size());
  // One clock for all threads: waiting for a core counts too.
  os::Stopwatch watch;
  std::barrier all_there(std::ssize(cores), [&]() noexcept { watch = {}; });
  const auto loop = [&](std::size_t i) {
    os::allow_cpus_of_thread(
        cores.subspan(i, 1));  // unbound if the system refuses, or is another (CONVOKE_TOPOLOGY)
    all_there.arrive_and_wait();
    seconds[i] = seconds_of(iterations, watch);
  };
  std::vector<std::jthread> threads;
  try {
    while (threads.size() < cores.size())
      threads.push_back(os::start_thread([&loop, i = threads.size()] { loop(i); }));
  } catch (...) {  // the others must not wait for threads that do not exist
    for (std::size_t i = threads.size(); i < cores.size(); ++i) all_there.arrive_and_drop();
    throw;
  }
  threads.clear();
  return seconds;
}

double slowest(const std::vector<double>& seconds) { return *std::ranges::max_element(seconds); }

}  // namespace

// As many chains as hide the latency of a multiplication and an addition, and fit into registers. All
// converge to 4, and none starts there, because a compiler would see the fixed point.
float spin(std::uint64_t iterations) {
  constexpr int kChains = 12;
  Four chains[kChains];
#pragma GCC unroll kChains
  for (int i = 0; i < kChains; ++i) chains[i] = Four{} - static_cast<float>(i);
  for (std::uint64_t i = 0; i < iterations; ++i) {
#pragma GCC unroll kChains
    for (Four& each : chains) each = each * 0.75F + 1.0F;
  }
  Four sum{};
#pragma GCC unroll kChains
  for (const Four& each : chains) sum += each;
  return sum[0] + sum[1] + sum[2] + sum[3];
}

SpinLoops::SpinLoops(std::vector<int> cores, std::filesystem::path file, double loop_seconds)
    : cores_(std::move(cores)), file_(std::move(file)) {
  read();
  if (iterations_ > 0) return;
  constexpr std::uint64_t kProbe = 1 << 20;
  double fastest = seconds_of(kProbe);
  for (int i = 0; i < 4; ++i) fastest = std::min(fastest, seconds_of(kProbe));
  iterations_ = static_cast<std::uint64_t>(static_cast<double>(kProbe) * loop_seconds / fastest);
}

std::span<const int> SpinLoops::first(std::int64_t busy) const {
  return std::span(cores_).first(std::min(cores_.size(), static_cast<std::size_t>(busy)));
}

void SpinLoops::calibrate(std::int64_t busy) {
  const auto count = static_cast<std::int64_t>(first(busy).size());
  if (calibrated_.contains(count)) return;
  double best = slowest(spin_on(first(busy), iterations_));
  for (int i = 1; i < kCalibrations; ++i) best = std::min(best, slowest(spin_on(first(busy), iterations_)));
  calibrated_[count] = best;
  write();
}

double SpinLoops::slowdown(std::int64_t busy) {
  const double now = slowest(spin_on(first(busy), iterations_));
  double& quiet = calibrated_.at(static_cast<std::int64_t>(first(busy).size()));
  if (now >= quiet) return now / quiet - 1;
  correction_ = std::max(correction_, quiet / now - 1);
  quiet = now;
  return 0;
}

void SpinLoops::read() {
  const std::optional<Settings> settings = metrics::read_json(file_);
  if (!settings) return;
  const std::int64_t iterations = count_at(*settings, "multiply_add_steps").value_or(0);
  if (iterations <= 0) return;  // the file belongs to another loop
  iterations_ = static_cast<std::uint64_t>(iterations);
  const Settings& seconds = table_at(*settings, "seconds");
  for (const auto& [busy, value] : seconds.entries()) {
    const std::int64_t cores = parse_number<std::int64_t>(busy).value_or(0);
    const double each = number_at(seconds, busy);
    if (cores < 1 || !(each > 0)) {
      throw Error(fmt::format("{}: is damaged: \"{}\" busy cores take {} seconds", file_.string(),
                              one_line(busy), value.to_string()),
                  "remove the file: the study then calibrates its loops again");
    }
    calibrated_[cores] = each;
  }
}

// Jobs on one host may write the file at the same time: the last one wins.
void SpinLoops::write() const {
  Settings seconds;
  for (const auto& [busy, each] : calibrated_) seconds.set(fmt::format("{}", busy), each);
  os::replace_text(file_, metrics::to_json({{"multiply_add_steps", static_cast<std::int64_t>(iterations_)},
                                            {"seconds", std::move(seconds)}}) +
                              "\n");
}

}  // namespace convoke::study
