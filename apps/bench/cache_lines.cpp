// What it costs two cores to exchange cache lines: a message there and back, and 384 kB that one core writes
// and the other one reads, in turns. Tells whether they share an L3 cache, also where a virtual machine does
// not.
//   g++ -std=c++20 -O2 -pthread apps/bench/cache_lines.cpp -o cache_lines && ./cache_lines [WRITER READER]
#include <emmintrin.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

namespace {

constexpr int kFloats = 96 * 1024, kLine = 16;  // floats of the data, and of a line
alignas(4096) float values[kFloats];
alignas(128) std::atomic<int> turn{0};

// Runs `work` on a core in every second of `turns` turns, from turn `first` on. Returns the median
// microseconds.
double take_turns(int core, int first, int turns, const std::function<void()>& work) {
  using std::chrono::steady_clock;
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(core, &cores);
  if (sched_setaffinity(0, sizeof cores, &cores) != 0) {
    std::fprintf(stderr, "error: this process may not use core %d\n", core);
    std::exit(1);
  }
  std::vector<double> times;
  for (int mine = first; mine < turns; mine += 2) {
    while (turn.load(std::memory_order_acquire) != mine) {
    }
    const auto begin = steady_clock::now();
    work();
    times.push_back(std::chrono::duration<double, std::micro>(steady_clock::now() - begin).count());
    turn.store(mine + 1, std::memory_order_release);
  }
  std::ranges::sort(times);
  return times[times.size() / 2];
}

struct Result {
  double write, read, seconds;
};

Result alternate(int writer, int reader, int turns, const std::function<void()>& write,
                 const std::function<void()>& read) {
  turn = 0;
  Result result{};
  const auto begin = std::chrono::steady_clock::now();
  std::thread other([&] { result.read = take_turns(reader, 1, turns, read); });
  result.write = take_turns(writer, 0, turns, write);
  other.join();
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

void write_lines() {
  for (int i = 0; i < kFloats; i += kLine) values[i] += 1;
}

void write_past_caches() {
  for (int i = 0; i < kFloats; i += 4) _mm_stream_ps(values + i, _mm_set1_ps(1));
  _mm_sfence();
}

void read_lines() {
  [[maybe_unused]] static volatile float result;
  float sum = 0;
  for (int i = 0; i < kFloats; i += kLine) sum += values[i];
  result = sum;
}

}  // namespace

int main(int count, char** arguments) {
  const int writer = count > 2 ? std::atoi(arguments[1]) : 0,
            reader = count > 2 ? std::atoi(arguments[2]) : 1;
  constexpr int kMessages = 100000;
  const Result messages = alternate(
      writer, reader, kMessages, [] {}, [] {});
  std::printf("a message there and back: %.0f ns\n", messages.seconds / kMessages * 2e9);
  const auto compare = [&](const char* name, void (*write)(), void (*read)()) {
    const Result result = alternate(writer, reader, 400, write, read);
    std::printf("%-40s write %5.1f us, read %5.1f us\n", name, result.write, result.read);
  };
  compare("plain stores", write_lines, read_lines);
  compare("non-temporal stores", write_past_caches, read_lines);
  compare("plain stores, the reader writes, too", write_lines, write_lines);
}
