// replay COPIES FOLDER...: runs the fuzz target on every small file of the folders and on changed copies of
// each: COPIES truncated ones, COPIES with one bit flipped, and COPIES with bytes overwritten, pieces cut out
// or doubled, always the same ones. Ends with an error if an input takes more than kMostSeconds, or the
// process more than kMostMemory.
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <span>
#include <string>

#include "convoke/core/random.hpp"
#include "support/files.hpp"

using namespace convoke;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr std::uintmax_t kMostBytes = 200'000;  // of a file
constexpr time_t kMostSeconds = 20;             // of a processor for an input; sanitizers need some
constexpr long kMostMemory = 1L << 31;          // bytes of the process

std::string name_of_input;  // for the message of the timer

void tell_of_slow_input(int /*signal*/) {
  const std::string message = "more than " + std::to_string(kMostSeconds) + " s for " + name_of_input + "\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, message.data(), message.size());
  std::_Exit(EXIT_FAILURE);
}

void set_timer(time_t seconds) {
  const itimerval timer{{0, 0}, {seconds, 0}};
  setitimer(ITIMER_PROF, &timer, nullptr);
}

long peak_memory() {  // bytes
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024;
}

struct Totals {
  std::uint64_t inputs = 0;
  double slowest = 0;  // seconds
  std::string slowest_name = {};
};

void run_target(const std::string& bytes, const std::string& name, Totals& totals) {
  name_of_input = name;
  set_timer(kMostSeconds);
  const auto start = std::chrono::steady_clock::now();
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  set_timer(0);
  ++totals.inputs;
  if (seconds > totals.slowest) {
    totals.slowest = seconds;
    totals.slowest_name = name;
  }
}

std::string changed(std::string bytes, RandomStream& random) {
  const auto place = [&] { return static_cast<std::size_t>(random.below(bytes.size())); };
  for (std::uint64_t change = 0; change < 1 + random.below(4) && !bytes.empty(); ++change) {
    const std::size_t at = place();
    switch (random.below(4)) {
      case 0:
        bytes[at] = static_cast<char>(random.below(256));
        break;
      case 1:
        bytes[at] = static_cast<char>(random.below(2) == 0 ? 0xFF : 0x7F);
        break;
      case 2:
        bytes.erase(at, random.below(16));
        break;
      default:
        bytes.insert(at, bytes.substr(place(), random.below(64)));
    }
  }
  return bytes;
}

std::string with_flipped_bit(std::string bytes, RandomStream& random) {
  if (bytes.empty()) return bytes;
  const auto at = static_cast<std::size_t>(random.below(bytes.size()));
  bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
  return bytes;
}

void run_copies(const std::string& original, std::uint64_t copies, const std::string& name, Totals& totals) {
  for (std::uint64_t copy = 0; copy < copies; ++copy) {
    RandomStream random({copy, Purpose::kBench, 0, original.size()});
    const std::string number = ", copy " + std::to_string(copy);
    run_target(original.substr(0, original.size() * copy / copies), name + " truncated" + number, totals);
    run_target(with_flipped_bit(original, random), name + " with a flipped bit" + number, totals);
    run_target(changed(original, random), name + " changed" + number, totals);
  }
}

}  // namespace

int main(int argc, char** argv) {
  signal(SIGPROF, tell_of_slow_input);
  const std::uint64_t copies = std::stoull(argv[1]);
  Totals totals;
  for (const std::string folder : std::span(argv + 2, static_cast<std::size_t>(argc - 2))) {
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (!entry.is_regular_file() || entry.file_size() > kMostBytes) continue;
      const std::string original = bytes_of(entry.path());
      const long memory = peak_memory();
      run_target(original, entry.path(), totals);
      run_copies(original, copies, entry.path(), totals);
      if (peak_memory() > kMostMemory && memory <= kMostMemory) {
        std::cerr << "more than " << (kMostMemory >> 20) << " MiB for " << entry.path() << " or a copy\n";
        return EXIT_FAILURE;
      }
    }
  }
  std::cout << totals.inputs << " inputs, at most " << (peak_memory() >> 20) << " MiB; the slowest took "
            << static_cast<int>(totals.slowest * 1000) << " ms: " << totals.slowest_name << "\n";
  return totals.inputs == 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
