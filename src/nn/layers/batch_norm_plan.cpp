#include "nn/layers/batch_norm_plan.hpp"

#include <utility>

namespace convoke::nn {

BatchNormKept::BatchNormKept(PlanBuilder& plan, const BatchNormShape& shape, std::int64_t micro_batches,
                             const Desc& dst, std::vector<Ref>& uses) {
  const std::int64_t count = micro_batches * shape.in.padded_channels();
  for (Ref* statistic : {&mean, &scale, &variance}) uses.push_back(*statistic = plan.allocate_numbers(count));
  if (!shape.pooled()) return;
  winners = plan.allocate_bytes(elements_of(dst) * sizeof(std::int32_t));
  x_hat = plan.allocate_bytes(elements_of(dst) * sizeof(float));
  uses.insert(uses.end(), {winners, x_hat});
}

void offer_recomputation(PlanBuilder& plan, const Node& node, const BatchNormPlan& norm,
                         const BatchNormKept& kept, std::vector<Ref> uses) {
  if (norm.shape.pooled()) return;  // it would cost more, and the winners are kept anyway
  uses.push_back(norm.y.ref);
  BatchNormShape given = norm.shape;
  given.frozen = true;
  with_stored_type(norm.x.desc, [&](auto zero) {
    using T = decltype(zero);
    plan.offer_recomputation(
        node, "again" + norm.what.substr(std::string_view("forward").size()),
        [=](const Frame& frame) { normalize<T>(norm, given, kept, frame); }, std::move(uses), norm.y);
  });
}

}  // namespace convoke::nn
