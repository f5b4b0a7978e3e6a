#include "convoke/doctor/demand.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/engine/busy_workers.hpp"
#include "convoke/os/memory.hpp"

namespace convoke::doctor {

std::uint64_t exchanged_bytes(const train::Job& job, int ranks) {
  return ranks > job.ensemble.members
             ? static_cast<std::uint64_t>(job.model.graph.trainable_count()) * sizeof(float)
             : 0;
}

std::vector<Finding> check_micro_batches(const train::Job& job, int ranks, std::int64_t samples) {
  const engine::EngineOptions step_options = engine::for_samples(job.engine, samples);
  const std::int64_t micro_batches = step_options.batch / step_options.micro_batch;
  const std::int64_t group = std::max<std::int64_t>(1, ranks / job.ensemble.members);
  const std::int64_t workers = group * job.engine.threads;
  const bool all = samples < job.engine.batch;  // a larger batch would not help
  const std::string step = fmt::format("a step of {} samples has {} of {}", all ? samples : job.engine.batch,
                                       counted(micro_batches, "micro-batch"), job.engine.micro_batch);
  const std::string setting =
      all ? "a smaller train.micro_batch"
          : engine::setting_for_workers(job.engine.batch, job.engine.micro_batch, workers);
  if (workers > micro_batches) {  // correct, but a waste of cores
    const std::int64_t helping = engine::helping_threads(step_options, static_cast<int>(group));
    const std::int64_t idle = workers - micro_batches - helping;
    return {warning("micro-batches",
                    fmt::format("{}, so of the {} worker threads{}{}{}", step, workers,
                                helping > 0 ? fmt::format(" {} only help others inside layers", helping) : "",
                                helping > 0 && idle > 0 ? ", and" : "",
                                idle > 0 ? fmt::format(" {} stay idle", idle) : ""),
                    fmt::format("use {}, or fewer ranks or threads", setting))};
  }
  if (const double busy = engine::busy_workers(micro_batches, workers);
      busy < 0.95 * static_cast<double>(workers)) {
    return {
        note("micro-batches",
             fmt::format("{}, which keep {:.3g} of {} worker threads busy: some have one more than others",
                         step, busy, workers),
             fmt::format("to keep all busy, use {}", setting))};
  }
  return {ok("micro-batches",
             fmt::format("{}: {}, for {} x {}{}", job.name, step, counted(group, "rank"),
                         counted(job.engine.threads, "thread"),
                         job.is_ensemble ? " for each of " + counted(job.ensemble.members, "member") : ""))};
}

std::vector<Finding> check_dataset(const data::StoredLayout& layout, const std::filesystem::path& dataset,
                                   bool streamed, bool shuffles_all) {
  std::vector<Finding> found;
  if (streamed) {
    found.push_back(
        note("dataset",
             fmt::format("the samples ({}) exceed data.memory, so they are read from {} during training",
                         format_bytes(layout.bytes), dataset.string())));
  }
  if (streamed && shuffles_all) {
    found.push_back(warning(
        "dataset",
        fmt::format("with data.shuffle = true, every sample ({}) is read separately",
                    format_bytes(layout.sample_bytes)),
        "set data.shuffle = \"chunks\", which reads pieces of 1 MiB and shuffles within data.window"));
  }
  if (layout.encoded_bytes > 0) {
    found.push_back(
        note("dataset", fmt::format("the samples ({}) are encoded pictures of {}, which are decoded {}",
                                    format_bytes(layout.bytes), format_bytes(layout.encoded_bytes),
                                    streamed ? "in every epoch" : "once, when they are loaded")));
  }
  if (!layout.contiguous) {
    found.push_back(
        {streamed ? Severity::kWarning : Severity::kNote, "dataset",
         fmt::format("{}: the samples are compressed or stored in chunks, which only one "
                     "thread of HDF5 can read: {}",
                     dataset.string(), streamed ? "in every epoch" : "once, when they are loaded"),
         "store them contiguously: h5repack -l CONTI -f NONE in.h5 out.h5"});
  }
  if (found.empty()) {
    found.push_back(ok("dataset", fmt::format("{}: {} samples, {} in {}, in memory once per host",
                                              dataset.string(), format_count(layout.samples),
                                              format_bytes(layout.bytes), counted(layout.files, "file"))));
  }
  return found;
}

std::vector<Finding> examine_memory(const Demand& demand, const mpi::Communicator& world) {
  const mpi::Communicator node = world.split_node();
  auto free = static_cast<double>(os::available_bytes());
  node.min(std::span(&free, 1));
  try {
    const std::uint64_t before = os::resident_bytes();
    const std::uint64_t predicted =
        train::require_trainable(demand.job, demand.loaders, demand.groups, world, demand.window_bytes());
    const std::uint64_t rank = predicted - std::min(predicted, before);
    world.min(std::span(&free, 1));  // the host with the least memory counts
    double most = static_cast<double>(rank) * node.size();
    world.max(std::span(&most, 1));
    return {
        ok("memory", fmt::format("a rank takes {} more, the {} of a host {}, the samples {}; {} are free",
                                 format_bytes(rank), counted(node.size(), "rank"),
                                 format_bytes(static_cast<std::uint64_t>(most)),
                                 demand.streamed ? "nothing (streamed)" : format_bytes(demand.window_bytes()),
                                 format_bytes(static_cast<std::uint64_t>(free))))};
  } catch (const Error& error) {  // on all ranks
    return {doctor::error("memory", error.what(), error.hint())};
  }
}

}  // namespace convoke::doctor
