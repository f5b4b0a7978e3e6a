#include "convoke/doctor/demand.hpp"

#include "convoke/train/memory.hpp"
#include "doctor/told.hpp"
#include "support/catch.hpp"
#include "support/tiny.hpp"

namespace doctor = convoke::doctor;
namespace train = convoke::train;
using doctor::Severity;

TEST_CASE("workers without a micro-batch are found") {
  train::Job job = tiny::job();  // 32 samples in micro-batches of 8
  job.engine.threads = 3;
  CHECK(
      told(doctor::check_micro_batches(job, 2)) ==
      "warning: a step of 32 samples has 4 micro-batches of 8, so of the 6 worker threads 2 stay idle | use "
      "train.batch=48 with train.reference_batch=32, or fewer ranks or threads");
  job.engine.reduction = convoke::engine::Reduction::kFast;
  const auto idle_of = [&](int ranks, int threads) {
    job.engine.threads = threads;
    return doctor::check_micro_batches(job, ranks)[0].evidence;
  };
  CHECK(idle_of(1, 8).ends_with("so of the 8 worker threads 4 only help others inside layers"));
  CHECK(idle_of(2, 5).ends_with(
      "so of the 10 worker threads 4 only help others inside layers, and 2 stay idle"));
  CHECK(idle_of(8, 2).ends_with(
      "so of the 16 worker threads 4 only help others inside layers, and 8 stay idle"));
  job.engine.reduction = convoke::engine::Reduction::kExact;
  CHECK(idle_of(1, 8).ends_with("so of the 8 worker threads 4 stay idle"));
  job.engine.threads = 3;
  CHECK(
      told(doctor::check_micro_batches(job, 1)[0]) ==
      "note: a step of 32 samples has 4 micro-batches of 8, which keep 2 of 3 worker threads busy: some have "
      "one more than others | to keep all busy, use train.batch=48 with train.reference_batch=32");
  job.engine.threads = 2;
  CHECK(doctor::check_micro_batches(job, 2)[0].severity == Severity::kOk);
  CHECK(
      told(doctor::check_micro_batches(job, 2, 20)[0]) ==
      "warning: a step of 20 samples has 3 micro-batches of 8, so of the 4 worker threads 1 stay idle | use "
      "a smaller train.micro_batch, or fewer ranks or threads");
  job.is_ensemble = true, job.ensemble.members = 2, job.engine.threads = 4;  // every rank has a separate step
  CHECK_THAT(told(doctor::check_micro_batches(job, 2)[0]),
             StartsWith("ok: tiny: a step of 32 samples has 4 micro-batches of 8, for 1 rank x 4 threads for "
                        "each of 2 members |"));
}

TEST_CASE("exchanged and stored values are counted in floats") {
  train::Job job = tiny::job();
  const auto parameters = static_cast<std::uint64_t>(job.model.graph.parameter_count());
  const auto trainable = static_cast<std::uint64_t>(job.model.graph.trainable_count());
  CHECK(doctor::exchanged_bytes(job, 1) == 0);
  CHECK(doctor::exchanged_bytes(job, 2) == 4 * trainable);
  CHECK(train::checkpoint_bytes(job) == 4 * parameters * 3);  // Adam's two moments
  job.ensemble.members = 2;
  CHECK(doctor::exchanged_bytes(job, 2) == 0);
}

TEST_CASE("the storage of samples is compared with their access") {
  convoke::data::StoredLayout layout{
      .samples = 1000, .bytes = 784'000, .sample_bytes = 784, .files = 4, .contiguous = true};
  CHECK_THAT(told(doctor::check_dataset(layout, "d.h5", false, true)),
             StartsWith("ok: d.h5: 1,000 samples, 765.6 KiB in 4 files, in memory once per host |"));
  const auto jumping = doctor::check_dataset(layout, "d.h5", true, true);
  REQUIRE(jumping.size() == 2);
  CHECK(jumping[0].severity == Severity::kNote);
  CHECK(jumping[1].severity == Severity::kWarning);
  CHECK(doctor::check_dataset(layout, "d.h5", true, false).size() == 1);
  layout.contiguous = false;
  const std::string packed = told(doctor::check_dataset(layout, "d.h5", false, true));
  CHECK_THAT(packed, StartsWith("note: "));
  CHECK_THAT(packed, EndsWith(" | store them contiguously: h5repack -l CONTI -f NONE in.h5 out.h5"));
  CHECK(doctor::check_dataset(layout, "d.h5", true, false)[1].severity == Severity::kWarning);

  layout = {.samples = 1000, .bytes = 784'000, .sample_bytes = 784, .encoded_bytes = 98'000};
  CHECK(doctor::check_dataset(layout, "d.h5", false, true).at(0).evidence ==
        "the samples (765.6 KiB) are encoded pictures of 95.7 KiB, which are decoded once, when they are "
        "loaded");
  const auto decoded = doctor::check_dataset(layout, "d.h5", true, false);
  REQUIRE(decoded.size() == 2);
  CHECK_THAT(told(decoded[1]), StartsWith("note: ") && Contains("which are decoded in every epoch"));
}
