#include "convoke/engine/gradient_verification.hpp"

#include <bit>

#include "convoke/engine/replica.hpp"
#include "convoke/engine/step_engine.hpp"
#include "convoke/os/environment.hpp"
#include "engine/engine_options.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/other_loss.hpp"
#include "support/tiny.hpp"
#include "support/world.hpp"

// A rank that computes wrong bits, on 1 to 4 ranks.

using namespace convoke;
using namespace convoke::engine;

namespace {

constexpr std::uint64_t kRight = 7, kWrong = 8;

std::string name_of(int rank) { return fmt::format("rank {} (host {})", rank, os::host_name()); }

/// Verifies a step in which the owner has `first`, and a rank computes `of_rank(rank, call)` at each call.
template <class OfRank>
std::string message(const GradientVerification::Check& check, std::uint64_t first, const OfRank& of_rank) {
  const mpi::Communicator group = world();
  GradientVerification verification(group, 1);
  int calls = 0;
  const std::string text =
      error_of([&] { verification.run(check, first, [&] { return of_rank(group.rank(), calls++); }); });
  CHECK(text == group.broadcast(text));
  return text;
}

/// Has another gradient each time, as on a processor that computes wrong bits.
class WrongLoss final : public tiny::OtherLoss {
 public:
  nn::LossSums compute(const nn::LossInputs& samples, float* gradient) const override {
    const nn::LossSums sums = OtherLoss::compute(samples, gradient);
    if (gradient != nullptr) gradient[0] += 0.01F * static_cast<float>(++calls_);
    return sums;
  }

 private:
  mutable int calls_ = 0;
};

EngineOptions verifying_options(std::int64_t every, int threads) {
  EngineOptions options = engine::options(Reduction::kExact, threads);
  options.verify_every = every;
  return options;
}

}  // namespace

TEST_CASE("the majority of the results tells which ranks are wrong") {
  using Results = std::vector<std::vector<std::uint64_t>>;
  CHECK(wrong_ranks(Results{{1, 1}, {2, 2}}).empty());
  CHECK(wrong_ranks(Results{{1, 2}, {2, 2}}) == std::vector{0});
  CHECK(wrong_ranks(Results{{2, 2}, {1, 1}, {2}}) == std::vector{1});
  CHECK(wrong_ranks(Results{{3, 1}, {1, 1}, {2}, {1}}) == std::vector{0, 2});
  CHECK(wrong_ranks(Results{{1, 2}, {3, 4}}).empty());
}

TEST_CASE("the digest depends on every bit") {
  std::vector<float> values(100, 0.5F);
  const std::uint64_t before = digest_of(values);
  for (const std::size_t i : {0, 57, 99}) {
    for (int bit = 0; bit < 32; ++bit) {
      std::vector<float> other = values;
      other[i] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(other[i]) ^ 1U << bit);
      CHECK(digest_of(other) != before);
    }
  }
}

TEST_CASE("all micro-batches and all pairs of ranks come in turn, and the owner has the micro-batch") {
  const mpi::Communicator group = world();
  const GradientVerification verification(group, 10);
  const MicroBatchShares shares(group.size());
  std::set<std::int64_t> micro_batches;
  std::set<std::pair<int, int>> pairs;
  for (std::int64_t step = 10; step <= 2400; step += 10) {
    CHECK(verification.due(step));
    CHECK_FALSE(verification.due(step + 1));
    const GradientVerification::Check check = verification.check_of(step, 8, shares);
    const MicroBatchRange range = shares.micro_batches(8, check.owner);
    CHECK((check.micro_batch >= range.first && check.micro_batch < range.first + range.count));
    CHECK((check.owner != check.checker || group.size() == 1));
    micro_batches.insert(check.micro_batch);
    pairs.emplace(check.owner, check.checker);
  }
  CHECK(micro_batches.size() == 8);
  const int size = group.size();
  CHECK(std::ssize(pairs) == (size == 1 ? 1 : size * (size - 1)));
}

TEST_CASE("a rank that is always wrong is named with its host; of two ranks, both") {
  const int size = world().size();
  const GradientVerification::Check check{.step = 120, .micro_batch = 3, .owner = 0, .checker = size - 1};
  CHECK(message(check, kRight, [](int, int) { return kRight; }).empty());
  if (size == 1) return;
  for (const int wrong : {0, size - 1}) {
    const std::string text = message(check, wrong == 0 ? kWrong : kRight,
                                     [&](int rank, int) { return rank == wrong ? kWrong : kRight; });
    CHECK_THAT(text, Contains("in step 120, " + name_of(0) + " and " + name_of(size - 1) +
                              " both computed micro-batch 3"));
    if (size == 2) {
      CHECK_THAT(text, Contains("no majority tells which one is wrong"));
    } else {
      CHECK_THAT(text, Contains("the other results show that " + name_of(wrong) + " is wrong"));
    }
  }
}

TEST_CASE("a rank that was wrong once is named, also of one or two ranks") {
  const int size = world().size();
  const GradientVerification::Check check{.step = 120, .micro_batch = 3, .owner = 0, .checker = size - 1};
  CHECK_THAT(message(check, kWrong, [](int, int) { return kRight; }),
             Contains("the other results show that " + name_of(0) + " is wrong"));
  CHECK_THAT(message(check, kRight,
                     [&](int rank, int call) { return rank == size - 1 && call == 0 ? kWrong : kRight; }),
             Contains("the other results show that " + name_of(size - 1) + " is wrong"));
}

TEST_CASE("verified training has the same bits, and says what was verified") {
  const mpi::Communicator group = world();
  const EngineTask task(128, {{"name", "adam"}});
  const auto trained = [&](const EngineOptions& options) {
    StepEngine engine = task.engine(options, group);
    std::int64_t micro_batches = 0;
    for (std::uint32_t i = 0; i < 20; ++i) {
      const auto step =
          std::span(task.ids).subspan(i % 4 * 32, i % 4 == 3 ? 21 : 32);  // the last micro-batch is smaller
      engine.step(i / 4, step, 1e-3);
      micro_batches += engine.take_verification().micro_batches;
    }
    CHECK(micro_batches == (options.verify_every == 0 ? 0 : 20 / options.verify_every));
    const std::span<float> parameters = engine.parameters();
    return std::vector<float>(parameters.begin(), parameters.end());
  };
  for (const int threads : {1, 2}) {
    for (const bool share : {true, false}) {
      EngineOptions plain = verifying_options(0, threads), verified = verifying_options(1, threads),
                    rarely = verifying_options(7, threads);
      plain.sharing = verified.sharing = rarely.sharing =
          share ? engine::ModelSharing::kHost : engine::ModelSharing::kNone;
      const std::vector<float> expected = trained(plain);
      CHECK(trained(verified) == expected);
      CHECK(trained(rarely) == expected);
    }
  }
}

TEST_CASE("a bit that flips in the parameters of one node is found, and names the node") {
  const mpi::Communicator group = world();
  if (group.size() == 1) return;  // it computes the same wrong bits twice
  const EngineTask task;
  EngineOptions apart = verifying_options(1, 1);
  apart.sharing = engine::ModelSharing::kNone;
  StepEngine engine = task.engine(apart, group);
  engine.step(0, task.ids, 0.01);
  const int faulty = group.size() - 1;
  if (group.rank() == faulty) {
    float& weight = engine.parameters()[engine.layout().slot("dense_1.weight").offset];
    weight = std::bit_cast<float>(std::bit_cast<std::uint32_t>(weight) ^ 1U << 20);
  }
  const std::string text = error_of([&] {
    for (int step = 0; step < 40; ++step) engine.step(0, task.ids, 0.01);
  });
  CHECK(text == group.broadcast(text));
  CHECK_THAT(text, Contains("silent data corruption: in step "));
  CHECK_THAT(text, Contains(name_of(faulty)));
  if (group.size() > 2)
    CHECK_THAT(text, Contains("the other results show that " + name_of(faulty) + " is wrong"));
}

TEST_CASE("of ranks that train on their own, one that computes wrong bits ends all with silent corruption") {
  const EngineTask task;
  EngineOptions own = verifying_options(1, 1);
  if (world().rank() == world().size() - 1) own.loss = std::make_shared<WrongLoss>();
  const auto strategy = sync::make_strategy({{"name", "local-sgd"}});
  Replica replica(task.graph, own, task.loader, *task.optimizer, world(), *strategy, 0);
  replica.step(0, task.ids, 0.01, {});
  CHECK_THROWS_AS(replica.synchronize(), SilentCorruption);
}

TEST_CASE("micro-batches of synchronized batch norms cannot be verified alone") {
  const nn::Graph graph =
      nn::build_graph(Shape{1, 8, 8}, {{{"layer", "batch_norm"}, {"synchronized", true}},
                                       {{"layer", "flatten"}},
                                       {{"layer", "dense"}, {"units", 4}, {"activation", "softmax"}}});
  const EngineTask task(32, {{"name", "sgd"}}, graph);
  CHECK_THAT(error_of([&] { task.engine(verifying_options(1, 1), world()); }),
             Contains("synchronized batch norms cannot be verified alone"));
}
