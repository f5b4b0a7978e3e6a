#include "convoke/train/soup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "convoke/core/error.hpp"
#include "convoke/core/fixed_point.hpp"
#include "convoke/mpi/together.hpp"
#include "convoke/run/model_file.hpp"
#include "convoke/train/ensemble.hpp"
#include "convoke/train/verdict.hpp"
#include "convoke/vote/soup.hpp"

namespace convoke::train {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 18;  // values that are summed at a time

engine::Score score(engine::Evaluator& evaluator, std::span<const float> parameters,
                    const data::BatchLoader& loader, std::span<const std::uint32_t> ids,
                    const mpi::Communicator& world) {
  mpi::together(world, [&] { evaluator.load(parameters); });
  return engine::score(evaluator, loader, ids, world);
}

}  // namespace

//   average = sum_m share_m p_m, in fixed point, so that the order of the members does not matter
std::vector<float> average(std::span<const TrainedMember* const> mine, std::span<const double> shares,
                           std::size_t values, const mpi::Communicator& world) {
  std::vector<float> mean(values);
  std::vector<double> terms;
  std::vector<std::int64_t> sum;
  bool finite = true;
  for (std::size_t first = 0; first < values; first += kPiece) {
    const std::size_t count = std::min(kPiece, values - first);
    terms.resize(count);
    sum.assign(2 * count, 0);
    for (const TrainedMember* member : mine) {
      const double share = shares[static_cast<std::size_t>(member->model.index)];
      if (share == 0) continue;
      const std::span<const float> piece = member->parameters().subspan(first, count);
      std::transform(piece.begin(), piece.end(), terms.begin(),
                     [share](float value) { return share * static_cast<double>(value); });
      finite = wide_fixed_point_add(terms, sum) && finite;
      if (member->stored) member->stored->release();
    }
    world.sum(sum);
    wide_fixed_point_to_double(sum, terms);
    std::transform(terms.begin(), terms.end(), mean.begin() + static_cast<std::ptrdiff_t>(first),
                   [](double value) { return static_cast<float>(value); });
  }
  mpi::together(world, [&] {
    if (!finite) throw Error("a member has a parameter that is not finite, or too large for an average");
  });
  return mean;
}

void require_soups(const Job& job, const DataLoaders& loaders) {
  for (const std::string& name : job.ensemble.soups) {
    if (vote::needs_of_soup(name) == vote::SoupNeeds::kNothing || loaders.validation != nullptr) continue;
    if (!samples_of(job, loaders, 0).validation.empty()) continue;
    throw Error(fmt::format("a {} soup needs the validation accuracy of the members, but there are no "
                            "validation samples",
                            name),
                "set data.validation_split, or leave the soup out of ensemble.soups");
  }
}

std::vector<SoupOutcome> make_soups(const Job& job, const Training& training, const Verdict& verdict,
                                    const Groups& groups, const mpi::Communicator& world,
                                    const DataLoaders* loaders, const data::BatchLoader& test,
                                    engine::Evaluator& evaluator, const run::RunFolder& folder) {
  std::vector<const TrainedMember*> mine;
  for (const TrainedMember& member : training.members) {
    if (groups.group.root() && member.failure.empty()) mine.push_back(&member);
  }
  std::vector<double> accuracies;
  for (const TrainedMember& member : verdict.members) {
    if (member.failure.empty()) accuracies.push_back(member.model.validation_accuracy);
  }
  const bool trials = std::ranges::any_of(job.ensemble.soups, [](const std::string& name) {
    return vote::needs_of_soup(name) == vote::SoupNeeds::kTrials;
  });
  const std::optional<CommonValidation> validation =
      trials && loaders != nullptr ? std::optional(common_validation(job, *loaders)) : std::nullopt;
  const std::vector<std::uint32_t> test_ids = all_ids(test.split());
  const auto mix = [&](std::span<const double> shares) {
    std::vector<double> of_member(static_cast<std::size_t>(job.ensemble.members));
    for (std::size_t i = 0; i < shares.size(); ++i) {
      of_member[static_cast<std::size_t>(verdict.voters[i])] = shares[i];
    }
    return average(mine, of_member, evaluator.parameter_values(), world);
  };
  const auto trial = [&](std::span<const double> shares) {
    ensure(validation.has_value(), "a soup that makes trials has validation samples");
    return score(evaluator, mix(shares), validation->loader, validation->ids, world).accuracy;
  };
  std::vector<SoupOutcome> soups;
  for (const std::string& name : job.ensemble.soups) {
    SoupOutcome& soup = soups.emplace_back(SoupOutcome{name, {}, {}});
    soup.shares = vote::find_soup(name)(accuracies, trial);
    const std::vector<float> parameters = mix(soup.shares);
    soup.score = score(evaluator, parameters, test, test_ids, world);
    mpi::on_root(world, [&] {
      run::write_model(folder.file(fmt::format("soup-{}.h5", name)), job.model, parameters);
    });
  }
  return soups;
}

}  // namespace convoke::train
