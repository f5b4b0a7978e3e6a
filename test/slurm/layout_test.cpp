// Nodes, ranks and cores for cases computed by hand.
#include "convoke/slurm/layout.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"

using namespace convoke::slurm;

namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

Partition partition(std::int64_t nodes, int sockets, int cores, std::int64_t memory_mib = 64000) {
  Partition made;
  made.name = "batch";
  made.kinds = {{nodes, sockets, cores, 1, memory_mib}};
  return made;
}

Workload micro_batches(std::int64_t count) {
  Workload work;
  work.name = "net";
  work.most_workers = count;
  return work;
}

Layout worked_out(std::int64_t count, const Partition& of, Layout requested = {}) {
  return lay_out(micro_batches(count), requested, &of);
}

}  // namespace

TEST_CASE("one rank per socket, one thread per core, and as many nodes as the micro-batches keep busy") {
  const Layout layout = worked_out(64, partition(10, 2, 16));
  CHECK(layout.nodes == 4);
  CHECK(layout.ranks_per_node == 2);
  CHECK(layout.cpus_per_rank == 8);
  CHECK(worked_out(64, partition(3, 2, 16)).nodes == 3);   // not more than exist
  CHECK(worked_out(16, partition(10, 2, 48)).nodes == 1);  // 16 micro-batches do not fill a node of 48 cores
  CHECK(worked_out(16, partition(10, 2, 48)).workers() == 16);
  CHECK(worked_out(1, partition(10, 2, 48)).workers() == 1);
}

TEST_CASE("given sizes are kept, and the others fit them") {
  const Layout two = worked_out(16, partition(10, 2, 16), {.nodes = 2});
  CHECK(two.nodes == 2);
  CHECK(two.ranks_per_node == 2);
  CHECK(two.cpus_per_rank == 4);  // 16 micro-batches on 4 ranks
  const Layout single = worked_out(64, partition(10, 2, 16), {.cpus_per_rank = 1});
  CHECK(single.ranks_per_node == 16);
  CHECK(single.nodes == 4);
  const Layout all{.nodes = 7, .ranks_per_node = 3, .cpus_per_rank = 5};
  CHECK(lay_out(micro_batches(1000), all, nullptr).workers() == 105);
}

TEST_CASE("hardware threads do not count as cores") {
  Partition of = partition(4, 2, 16);
  of.kinds[0].threads_per_core = 2;
  const Layout layout = worked_out(1000, of);
  CHECK(layout.cpus_per_rank == 8);
  CHECK(layout.threads_per_core == 2);
}

TEST_CASE("memory is requested with a reserve of a quarter, and refused if no node has it") {
  Workload work = micro_batches(64);
  work.node_bytes = 2 * kGiB;
  work.rank_bytes = [](int threads, std::int64_t, std::int64_t) { return threads * kGiB; };
  const Partition of = partition(10, 2, 16, 64 * 1024);
  CHECK(lay_out(work, {}, &of).memory_mib == (2 + 16) * 1024 * 5 / 4);
  const Partition small = partition(10, 2, 16, 16 * 1024);
  const std::string error = error_of([&] { lay_out(work, {}, &small); });
  CHECK_THAT(error, Contains("net does not fit into memory: the 2 ranks of a node take 8.0 GiB each"));
  CHECK_THAT(error, Contains("at most 16.0 GiB"));
}

TEST_CASE("more nodes, cores or ranks than exist or have work are refused") {
  const Partition of = partition(4, 2, 16);
  CHECK_THAT(error_of([&] { worked_out(1000, of, {.nodes = 5}); }), Contains("5 nodes are more"));
  CHECK_THAT(error_of([&] { worked_out(1000, of, {.ranks_per_node = 4, .cpus_per_rank = 8}); }),
             Contains("4 ranks with 8 cores each"));
  CHECK_THAT(error_of([&] { worked_out(4, of, {.nodes = 4, .ranks_per_node = 2}); }),
             Contains("8 ranks are more than net can use"));
  CHECK_THAT(error_of([&] { lay_out(micro_batches(4), {.nodes = 1}, nullptr); }), Contains("are unknown"));
}

TEST_CASE("in a partition of unlike nodes, only those with the cores and the memory count") {
  Partition of = partition(4, 2, 16, 32 * 1024);
  of.kinds.push_back({2, 2, 16, 1, 64 * 1024});
  of.kinds.push_back({3, 1, 8, 1, 64 * 1024});
  CHECK(worked_out(1000, of).nodes == 6);
  CHECK(worked_out(1000, of, {.cpus_per_rank = 4}).nodes == 6);
  CHECK(worked_out(1000, of, {.ranks_per_node = 1, .cpus_per_rank = 8}).nodes == 9);
  CHECK_THAT(error_of([&] { worked_out(1000, of, {.nodes = 7}); }),
             Contains("needs 7 nodes with 16 cores, but partition batch has only 6"));
  Workload work = micro_batches(1000);
  work.rank_bytes = [](int, std::int64_t ranks, std::int64_t) { return (ranks > 4 ? 16 : 18) * kGiB; };
  const Layout layout = lay_out(work, {}, &of);
  CHECK(layout.nodes == 2);
  CHECK(layout.memory_mib == 45 * 1024);
  CHECK_THAT(error_of([&] { lay_out(work, {.nodes = 3}, &of); }),
             Contains("needs 3 nodes with 16 cores and 40.0 GiB of memory, but partition batch has only 2"));
}
