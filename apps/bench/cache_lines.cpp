// Times the exchange of cache lines between two cores: a message there and back, and 384 kB that one core
// writes and the other core reads. The times show whether both cores share an L3 cache. A virtual machine may
// hide this.
//   g++ -std=c++20 -O2 -pthread apps/bench/cache_lines.cpp -o cache_lines && ./cache_lines [WRITER READER]
#include <emmintrin.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

constexpr int kFloats = 96 * 1024, kLine = 16;  // floats of the data, and of a line
alignas(4096) float values[kFloats];
alignas(128) std::atomic<int> turn{0};

void stay_on(int core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(core, &cores);
  if (sched_setaffinity(0, sizeof cores, &cores) == 0) return;
  std::fprintf(stderr, "error: this process may not use core %d\n", core);
  std::exit(1);
}

// Calls `work` in every second of `turns` turns, from turn `first` on.
template <class Work>
void take_turns(int core, int first, int turns, const Work& work) {
  stay_on(core);
  for (int mine = first; mine < turns; mine += 2) {
    while (turn.load(std::memory_order_acquire) != mine) {
    }
    work();
    turn.store(mine + 1, std::memory_order_release);
  }
}

template <class Write, class Read>
void alternate(int writer, int reader, int turns, const Write& write, const Read& read) {
  turn = 0;
  std::thread other([&] { take_turns(reader, 1, turns, read); });
  take_turns(writer, 0, turns, write);
  other.join();
}

double microseconds_of(void (*work)()) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> times) {
  std::ranges::sort(times);
  return times[times.size() / 2];
}

void write_lines() {
  for (int i = 0; i < kFloats; i += 4) _mm_store_ps(values + i, _mm_set1_ps(1));
}

void write_past_caches() {
  for (int i = 0; i < kFloats; i += 4) _mm_stream_ps(values + i, _mm_set1_ps(1));
  _mm_sfence();
}

void read_and_write_lines() {
  for (int i = 0; i < kFloats; i += kLine) values[i] += 1;
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
  const auto begin = std::chrono::steady_clock::now();
  alternate(
      writer, reader, 2 * kMessages, [] {}, [] {});
  const std::chrono::duration<double, std::nano> all = std::chrono::steady_clock::now() - begin;
  std::printf("a message there and back: %.0f ns\n", all.count() / kMessages);
  const auto compare = [&](const char* name, void (*write)(), void (*read)()) {
    std::vector<double> writes, reads;
    alternate(
        writer, reader, 400, [&] { writes.push_back(microseconds_of(write)); },
        [&] { reads.push_back(microseconds_of(read)); });
    std::printf("%-40s write %5.1f us, read %5.1f us\n", name, median(writes), median(reads));
  };
  compare("plain stores", write_lines, read_lines);
  compare("non-temporal stores", write_past_caches, read_lines);
  compare("plain stores, the reader writes, too", write_lines, read_and_write_lines);
}
