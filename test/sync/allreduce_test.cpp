#include "convoke/sync/allreduce.hpp"

#include <mpi.h>

#include "support/catch.hpp"
#include "support/counted_allocations.hpp"
#include "support/replaced_calls.hpp"
#include "support/world.hpp"

// Counts the costs of a step: allocations, and the collectives that reach MPI.

using namespace convoke;
using sync::AllReduce;
using sync::Exchange;

namespace {

constexpr int kWaitingTag = 7;

/// What finish_gradients waits for: a sum of MPI, from its first test to its end. Tells a rank when this one
/// waits.
struct Waits {
  int count = 0;
  double seconds = 0;
  MPI_Request request = MPI_REQUEST_NULL;  // the newest that was tested, since when
  std::chrono::steady_clock::time_point began;
};
Waits waits;
int tell_waiting = -1;  // the rank that is told when this one waits next

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void receive_waiting() {
  PMPI_Recv(nullptr, 0, MPI_BYTE, MPI_ANY_SOURCE, kWaitingTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int measured_test(MPI_Request* request, int* done, MPI_Status* status) {
  if (tell_waiting >= 0) PMPI_Send(nullptr, 0, MPI_BYTE, tell_waiting, kWaitingTag, MPI_COMM_WORLD);
  tell_waiting = -1;
  const MPI_Request before = *request;
  if (std::exchange(waits.request, before) != before) waits.began = std::chrono::steady_clock::now();
  const int code = PMPI_Test(request, done, status);
  if (before == MPI_REQUEST_NULL || *done == 0) return code;
  ++waits.count;
  waits.seconds += seconds_since(waits.began);
  return code;
}

std::vector<int> slice_bytes;  // of the started sums

int measured_alltoall(const void* out, int bytes, MPI_Datatype type, void* in, int in_bytes,
                      MPI_Datatype in_type, MPI_Comm comm, MPI_Request* request) {
  slice_bytes.push_back(bytes);
  return PMPI_Ialltoall(out, bytes, type, in, in_bytes, in_type, comm, request);
}

/// Returns element i of rank r in step s; small whole numbers, so that sums are exact in any order.
std::int64_t gradient(int r, std::size_t i, int s) {
  return static_cast<std::int64_t>(i % 97) * (r + 1) + s - r;
}

/// Returns the sum of gradient() over ranks 0..n-1, in closed form: (i mod 97) n(n+1)/2 + n s - n(n-1)/2.
std::int64_t sum_of_gradients(int n, std::size_t i, int s) {
  return static_cast<std::int64_t>(i % 97) * n * (n + 1) / 2 + n * s - n * (n - 1) / 2;
}

template <class T>
Exchange exchange_of(std::vector<T>& values) {
  Exchange exchange;
  if constexpr (std::is_same_v<T, float>) {
    exchange.floats = values;
  } else {
    exchange.fixed = values;
  }
  return exchange;
}

template <class T>
void fill(std::vector<T>& values, int step) {
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<T>(gradient(world().rank(), i, step));
}

template <class T>
std::size_t wrong(const std::vector<T>& values, int step) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    count += values[i] != static_cast<T>(sum_of_gradients(world().size(), i, step));
  return count;
}

/// Runs a step of a rank that reports its gradients in slices of `slice` elements, or not before the end if
/// it is 0.
void step_in_slices(AllReduce& strategy, std::size_t size, std::size_t slice) {
  strategy.begin_step();
  for (std::size_t end = slice; slice != 0 && end < size + slice; end += slice)
    strategy.gradients_ready(std::min(end, size));
  strategy.finish_gradients();
}

}  // namespace

TEMPLATE_TEST_CASE("every rank gets the sum, for all sizes of buckets and slices", "", float, std::int64_t) {
  const std::size_t size = GENERATE(std::size_t{1}, std::size_t{16}, std::size_t{1000}, std::size_t{20'011});
  for (const std::size_t bucket_bytes : {std::size_t{0}, size * sizeof(TestType) / 5 + 1})
    for (const std::size_t slice : {std::size_t{0}, size / 3 + 1, size / 40 + 1}) {
      std::vector<TestType> gradients(size);
      AllReduce strategy(world(), exchange_of(gradients), {.bucket_bytes = bucket_bytes});
      for (int step = 0; step < 2; ++step) {
        fill(gradients, step);
        step_in_slices(strategy, size, slice);
        INFO("size " << size << ", bucket " << bucket_bytes << ", slice " << slice << ", step " << step);
        CHECK(wrong(gradients, step) == 0);
      }
    }
}

TEST_CASE("buckets are equal, consist of whole cache lines, and cover the exchange once") {
  if (world().size() == 1) return;
  std::vector<float> gradients(1000);
  AllReduce strategy(world(), {gradients, {}, 0},
                     {.bucket_bytes = 1200});  // 4000 bytes: 4 buckets of 250, so 256
  REQUIRE(strategy.buckets() == 4);
  const replaced::InFront measured(replaced::ialltoall, measured_alltoall);
  slice_bytes.clear();
  step_in_slices(strategy, 1000, 0);
  const auto slice = [](int elements) { return (elements + world().size() - 1) / world().size() * 4; };
  CHECK(slice_bytes == std::vector<int>{slice(256), slice(256), slice(256), slice(232)});
}

TEST_CASE("a bucket starts when its last element is ready, and not before") {
  if (world().size() == 1) return;
  std::vector<float> gradients(1000);
  AllReduce strategy(world(), {gradients, {}, 0}, {.bucket_bytes = 1200});  // ends at 256, 512, 768, 1000
  strategy.begin_step();
  replaced::counts = {};
  const auto started_at = [&](std::size_t end) {
    strategy.gradients_ready(end);
    return replaced::counts.ialltoall;
  };
  CHECK(started_at(0) == 0);
  CHECK(started_at(255) == 0);
  CHECK(started_at(256) == 1);
  CHECK(started_at(256) == 1);
  CHECK(started_at(767) == 2);
  CHECK(started_at(999) == 3);
  CHECK(started_at(1000) == 4);
  strategy.finish_gradients();
  CHECK(replaced::counts.ialltoall == 4);
}

TEST_CASE("a step starts one sum for each bucket; a single rank makes none") {
  std::vector<float> gradients(200'000);  // 800,000 bytes, so 9 buckets
  AllReduce strategy(world(), exchange_of(gradients), {});
  for (int step = 0; step < 5; ++step) {
    fill(gradients, step);
    replaced::counts = {};
    step_in_slices(strategy, gradients.size(), 777);
    CHECK(replaced::counts.ialltoall == (world().size() == 1 ? 0 : 9));
    CHECK(replaced::counts.ialltoall == static_cast<int>(strategy.buckets()));
    CHECK(replaced::counts.collectives() == replaced::counts.ialltoall + replaced::counts.iallgather);
    CHECK(wrong(gradients, step) == 0);
  }
}

TEST_CASE("a step does not allocate memory") {
  std::vector<float> gradients(93'322);
  AllReduce strategy(world(), exchange_of(gradients), {});
  const long before = test::allocations();
  for (int step = 0; step < 5; ++step) step_in_slices(strategy, gradients.size(), 5000);
  const long after = test::allocations();
  CHECK(after == before);
  CHECK(before > 0);  // the counter works
}

TEST_CASE("a late or idle rank makes the others wait only in finish_gradients") {
  const replaced::InFront measured(replaced::test, measured_test);
  const std::size_t size = 20'000;
  std::vector<float> gradients(size);
  AllReduce strategy(world(), exchange_of(gradients), {.bucket_bytes = 8000});
  for (int step = 0; step < 2 * world().size(); ++step) {
    const int late = step % world().size();
    fill(gradients, step);
    strategy.begin_step();
    if (world().rank() == late) {
      for (int other = 1; other < world().size(); ++other) receive_waiting();
      if (step % 2 == 0) strategy.gradients_ready(size);  // all at once, or (odd steps) only by finishing
    } else {
      for (std::size_t end = 0; end <= size; end += 1000) strategy.gradients_ready(end);
      tell_waiting = late;
    }
    waits = {};
    convoke::Timeline timeline(256);
    const convoke::Timeline::Use use(timeline);
    const auto begin = std::chrono::steady_clock::now();
    strategy.finish_gradients();
    const double all_seconds = seconds_since(begin);
    INFO("step " << step);
    CHECK(wrong(gradients, step) == 0);
    // Those on time were waiting for the late one when it began, and that counts; alone, there is nobody to
    // wait for.
    if (world().rank() != late) CHECK(waits.count == 2 * static_cast<int>(strategy.buckets()));
    CHECK(timeline.seconds(convoke::Activity::kWait) >= waits.seconds);
    CHECK(timeline.seconds(convoke::Activity::kWait) <= all_seconds);
  }
}

TEST_CASE("running sums make progress while gradients arrive") {
  if (world().size() == 1) return;
  const std::size_t size = 400'000;
  std::vector<float> gradients(size);
  AllReduce strategy(world(), exchange_of(gradients), {.bucket_bytes = 400'000});
  fill(gradients, 0);
  strategy.begin_step();
  // The sums of the first three buckets arrive by polling only; ten seconds allow for a very busy machine.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  std::size_t missing = 1;
  while (missing > 0 && std::chrono::steady_clock::now() < deadline) {
    for (int poll = 0; poll < 100; ++poll) strategy.gradients_ready(size - 1);
    missing = 0;
    for (std::size_t i = 0; i < 300'000; ++i)
      missing += gradients[i] != static_cast<float>(sum_of_gradients(world().size(), i, 0));
  }
  CHECK(missing == 0);
  strategy.finish_gradients();
  CHECK(wrong(gradients, 0) == 0);
}

TEST_CASE("with bf16 only the first bf16_elements are rounded") {
  std::vector<float> gradients(1000);
  for (std::size_t i = 0; i < gradients.size(); ++i)
    gradients[i] = 1.0F + static_cast<float>(i) / 1024 + static_cast<float>(world().rank());
  AllReduce strategy(world(), {gradients, {}, 600}, {.bucket_bytes = 500, .wire = sync::Wire::kBfloat16});
  replaced::counts = {};
  step_in_slices(strategy, gradients.size(), 70);
  const auto ranks = static_cast<float>(world().size());
  std::size_t near = 0, equal = 0;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const float sum = ranks * (1.0F + static_cast<float>(i) / 1024) + ranks * (ranks - 1) / 2;
    near += std::abs(gradients[i] - sum) < sum / 100;
    equal += gradients[i] == sum;
  }
  CHECK(near == gradients.size());
  CHECK(equal >= 400);
  if (world().size() == 1) return;
  CHECK(equal < 500);
  CHECK(replaced::counts.ialltoall ==
        5 + 4);  // of 600 and of 400 elements in buckets of 125, rounded up to 128
}

TEST_CASE("groups exchange among themselves") {
  const mpi::Communicator all = world();
  const int color = all.rank() % 2;
  const mpi::Communicator group = all.split(color, 0);
  std::vector<float> gradients(1000, static_cast<float>(color + 1));
  AllReduce strategy(group, exchange_of(gradients), {.bucket_bytes = 1000});
  replaced::counts = {};
  step_in_slices(strategy, gradients.size(), 100);
  CHECK(gradients == std::vector<float>(1000, static_cast<float>((color + 1) * group.size())));
  CHECK(replaced::counts.ialltoall == (group.size() == 1 ? 0 : 4));
}

TEST_CASE("an empty exchange makes no collectives") {
  std::vector<float> gradients;
  AllReduce strategy(world(), exchange_of(gradients), {});
  replaced::counts = {};
  step_in_slices(strategy, 0, 0);
  CHECK(replaced::counts.ialltoall == 0);
}

TEST_CASE("the size of a bucket depends only on the exchange") {
  CHECK(sync::bucket_bytes_for(1000) == 96 * 1024);
  CHECK(sync::bucket_bytes_for(8'000'000) == 500'000);
  CHECK(sync::bucket_bytes_for(std::size_t{100} << 20) == 1024 * 1024);
}
