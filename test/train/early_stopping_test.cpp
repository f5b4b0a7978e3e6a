#include "convoke/train/early_stopping.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"

using namespace convoke;
using namespace convoke::train;

namespace {

struct Course {
  std::vector<std::int64_t> best;  // evaluations that were the best so far, from 1
  std::int64_t stopped = 0;        // 0: never
};

Course course(const EarlyStopping& rule, const std::vector<double>& losses,
              const std::vector<double>& accuracies = {}) {
  Course result;
  run::BestSoFar best;
  for (std::size_t i = 0; i < losses.size() && !best.stopped; ++i) {
    const auto evaluation = static_cast<std::int64_t>(i) + 1;
    const engine::Score score{1, accuracies.empty() ? 0 : accuracies[i], losses[i]};
    if (rule.record(score, 10 * evaluation, best)) result.best.push_back(evaluation);
    if (best.stopped) result.stopped = evaluation;
    CHECK(best.updates == (result.best.empty() ? 0 : 10 * result.best.back()));
  }
  return result;
}

const std::vector<double> kLosses{1.0, 0.8, 0.85, 0.79, 0.795, 0.79, 0.81, 0.7, 0.9, 0.9, 0.9, 0.9};

}  // namespace

// From Keras 3.15, EarlyStopping(monitor, patience, min_delta), with on_epoch_end(epoch, {"val_loss": loss,
// ...}): the values of best_epoch + 1, and stopped_epoch + 1.
TEST_CASE("early stopping decides as Keras does") {
  const auto with = [](std::int64_t patience, double min_delta) {
    return EarlyStopping({.patience = patience, .min_delta = min_delta});
  };
  Course found = course(with(0, 0), kLosses);
  CHECK(found.best == std::vector<std::int64_t>{1, 2});
  CHECK(found.stopped == 3);
  found = course(with(1, 0), kLosses);
  CHECK(found.stopped == 3);
  found = course(with(3, 0), kLosses);
  CHECK(found.best == std::vector<std::int64_t>{1, 2, 4});
  CHECK(found.stopped == 7);
  found = course(with(4, 0), kLosses);
  CHECK(found.best == std::vector<std::int64_t>{1, 2, 4, 8});
  CHECK(found.stopped == 12);
  found = course(with(3, 0.05), kLosses);
  CHECK(found.best == std::vector<std::int64_t>{1, 2});
  CHECK(found.stopped == 5);
  found = course(with(6, 0.05), kLosses);
  CHECK(found.best == std::vector<std::int64_t>{1, 2, 8});
  CHECK(found.stopped == 0);
}

TEST_CASE("early stopping by accuracy, and no early stopping") {
  const EarlyStopping rule({.monitor = "validation_accuracy", .patience = 2});
  const std::vector<double> accuracies{0.5, 0.6, 0.6, 0.7, 0.7, 0.65, 0.9};
  const Course found = course(rule, std::vector<double>(7, 1.0), accuracies);
  CHECK(found.best == std::vector<std::int64_t>{1, 2, 4});
  CHECK(found.stopped == 6);
  CHECK(course(EarlyStopping(), kLosses).stopped == 0);
  CHECK(course(EarlyStopping(), kLosses).best == std::vector<std::int64_t>{1, 2, 4, 8});
}

TEST_CASE("a validation whose loss is not finite is never the best, not even the first") {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  for (const char* const monitor : {"validation_loss", "validation_accuracy"}) {
    const EarlyStopping rule({.monitor = monitor, .patience = 2});
    Course found = course(rule, {nan, 3.0, -infinity, 2.0, infinity, nan}, {0.9, 0.5, 0.9, 0.6, 0.9, 0.9});
    CHECK(found.best == std::vector<std::int64_t>{2, 4});
    CHECK(found.stopped == 6);
    found = course(rule, {infinity, nan, 1.0}, {0.9, 0.9, 0.9});
    CHECK(found.best.empty());
    CHECK(found.stopped == 2);
  }
}

TEST_CASE("early stopping is read and written back, and wrong values are refused") {
  const EarlyStopping rule = EarlyStopping::read({{"patience", 3}, {"min_delta", 0.5}});
  CHECK(rule.stops());
  CHECK(rule.restores_best());
  CHECK(rule.monitor() == "validation_loss");
  CHECK(EarlyStopping::read(rule.settings()).settings() == rule.settings());
  CHECK_FALSE(EarlyStopping::read({}).stops());
  CHECK(EarlyStopping::read({}).settings().empty());
  CHECK(error_of([] {
          EarlyStopping::read({{"monitor", "validation_loss"}});
        }) == "early_stopping: \"patience\" is missing");
  CHECK(error_of([] {
          EarlyStopping::read({{"patience", -1}});
        }) == "early_stopping: \"patience\" must be at least 0, but is -1");
  CHECK(error_of([] {
          EarlyStopping::read({{"patience", 1}, {"monitor", "validation_los"}});
        }).find("unknown monitor \"validation_los\" (did you mean \"validation_loss\"?)") == 0);
}
