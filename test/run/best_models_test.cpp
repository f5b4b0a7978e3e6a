#include "convoke/run/best_models.hpp"

#include "convoke/core/random.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"
#include "support/full_disk.hpp"
#include "support/tiny.hpp"

using convoke::run::BestModels;
using convoke::run::Validated;
using fs::path;

namespace {

BestModels in(const TemporaryFolder& folder, std::int64_t kept) {
  return {folder.path(), kept, [](const Validated& validated) { return validated.loss; }};
}

// A model whose weights encode the step.
void keep(const BestModels& best, std::int64_t step, double loss) {
  best.keep(tiny::description(), tiny::parameters(static_cast<std::uint64_t>(step)),
            {.step = step, .loss = loss, .accuracy = 1 / (1 + loss)});
}

// Returns the steps of best.h5, best-2.h5, ... from their weights; checks that there is no other file.
std::vector<std::int64_t> steps_in(const TemporaryFolder& folder) {
  std::vector<std::int64_t> steps;
  for (std::size_t place = 1;; ++place) {
    const path file = folder / (place == 1 ? "best.h5" : "best-" + std::to_string(place) + ".h5");
    if (!exists(file)) break;
    const std::vector<float> weights = convoke::run::load_models(file).members.at(0).parameters;
    std::int64_t step = 0;
    while (weights != tiny::parameters(static_cast<std::uint64_t>(step)) && step < 1000) ++step;
    steps.push_back(step);
  }
  CHECK(entries_in(folder.path()).size() == steps.size());
  return steps;
}

using Steps = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("the best models of all validations are kept in order; the earlier one first if equal") {
  const TemporaryFolder folder;
  for (const std::int64_t kept : {1, 3}) {
    for (const auto& file : fs::directory_iterator(folder.path())) remove(file.path());
    convoke::RandomStream random({7, convoke::Purpose::kBench, 0, 0});
    std::vector<std::pair<double, std::int64_t>> all;  // sorted below
    for (std::int64_t step = 1; step <= 20; ++step) {
      const double loss = 0.25 * static_cast<double>(random.below(8));
      all.emplace_back(loss, step);
      std::sort(all.begin(), all.end());
      Steps expected;
      for (std::size_t i = 0; i < all.size() && std::ssize(expected) < kept; ++i) {
        expected.push_back(all[i].second);
      }
      const BestModels best = in(folder, kept);  // which knows only the files
      const bool among = std::count(expected.begin(), expected.end(), step) == 1;
      CHECK(best.admits({.step = step, .loss = loss}) == among);
      keep(best, step, loss);
      CHECK(steps_in(folder) == expected);
    }
  }
}

TEST_CASE("a best file is a model file that states its validation") {
  const TemporaryFolder folder;
  keep(in(folder, 1), 12, 0.1);
  const std::optional<Validated> found = convoke::run::validated_in(folder / "best.h5");
  REQUIRE(found);
  CHECK(found->step == 12);
  CHECK(found->loss == 0.1);
  CHECK(found->accuracy == 1 / 1.1);
  CHECK(convoke::run::load_models(folder / "best.h5").description.class_names.size() == 4);
  CHECK_FALSE(convoke::run::validated_in(folder / "none.h5"));
}

TEST_CASE("a run that goes back removes the models of later steps, and writes them again") {
  const TemporaryFolder folder;
  const auto first = [&] {
    keep(in(folder, 3), 10, 0.5);
    keep(in(folder, 3), 20, 0.9);
  };
  const auto second = [&] {
    keep(in(folder, 3), 30, 0.4);
    keep(in(folder, 3), 40, 0.6);
  };
  first();
  second();
  CHECK(steps_in(folder) == Steps{30, 10, 40});
  in(folder, 3).go_back_to(40);
  CHECK(steps_in(folder) == Steps{30, 10, 40});
  in(folder, 3).go_back_to(20);
  CHECK(steps_in(folder) == Steps{10});  // 20 was removed for 40
  second();
  CHECK(steps_in(folder) == Steps{30, 10, 40});
  in(folder, 2).go_back_to(40);  // fewer are kept from now on
  CHECK(steps_in(folder) == Steps{30, 10});
  in(folder, 0).go_back_to(0);  // none are kept, so no file is inspected
  CHECK(steps_in(folder) == Steps{30, 10});
  CHECK_FALSE(in(folder, 0).admits({.step = 50, .loss = 0}));
  in(folder, 2).go_back_to(0);
  CHECK(steps_in(folder).empty());
}

TEST_CASE("files that a killed process left between two names are put in order") {
  const TemporaryFolder folder;
  const BestModels best = in(folder, 3);
  for (const std::int64_t step : {1, 2, 3}) keep(best, step, 0.1 * static_cast<double>(step));
  SECTION("one model with two names") {
    fs::remove(folder / "best-3.h5");
    fs::create_hard_link(folder / "best-2.h5", folder / "best-3.h5");
    keep(best, 4, 0.15);
    CHECK(steps_in(folder) == Steps{1, 4, 2});
  }
  SECTION("a link that was not renamed") {
    fs::create_hard_link(folder / "best-2.h5", folder / "best.h5.link");
    keep(best, 4, 0.15);
    CHECK(steps_in(folder) == Steps{1, 4, 2});
  }
  SECTION("a gap") {
    fs::remove(folder / "best.h5");
    keep(best, 4, 0.15);
    CHECK(steps_in(folder) == Steps{4, 2, 3});
  }
  SECTION("places that contradict the content of the files") {
    fs::rename(folder / "best.h5", folder / "other.h5");
    fs::rename(folder / "best-3.h5", folder / "best.h5");
    fs::rename(folder / "other.h5", folder / "best-7.h5");
    best.go_back_to(3);
    CHECK(steps_in(folder) == Steps{1, 2, 3});
  }
}

TEST_CASE("files without a validation come last") {
  const TemporaryFolder folder;
  const BestModels best = in(folder, 3);
  convoke::run::write_model(folder / "best.h5", tiny::description(), tiny::parameters(100));
  keep(best, 1, 0.5);
  CHECK(steps_in(folder) == Steps{1, 100});
  best.go_back_to(1);
  CHECK(steps_in(folder) == Steps{1, 100});
  keep(best, 2, 0.6);
  keep(best, 3, 0.7);
  CHECK(steps_in(folder) == Steps{1, 2, 3});
  resize_file(folder / "best.h5", file_size(folder / "best.h5") / 2);  // damaged
  keep(best, 4, 0.8);
  CHECK(steps_in(folder) == Steps{2, 3, 4});
}

TEST_CASE("on a full disk the best models do not change") {
  const TemporaryFolder folder;
  const BestModels best = in(folder, 2);
  keep(best, 1, 0.5);
  keep(best, 2, 0.6);
  const std::string before[] = {bytes_of(folder / "best.h5"), bytes_of(folder / "best-2.h5")};
  {
    const FileSizeLimit full(4096);
    const std::string why = error_of([&] { keep(best, 3, 0.4); });
    INFO(why);
    CHECK(why.find((folder / "best.h5").string() + ": cannot be written: ") == 0);
  }
  CHECK(bytes_of(folder / "best.h5") == before[0]);
  CHECK(bytes_of(folder / "best-2.h5") == before[1]);
  CHECK(steps_in(folder) == Steps{1, 2});
  keep(best, 3, 0.4);  // with free space again
  CHECK(steps_in(folder) == Steps{3, 1});
}
