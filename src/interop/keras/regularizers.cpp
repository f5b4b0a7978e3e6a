#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "interop/keras/call.hpp"
#include "interop/keras/composition.hpp"

// The penalties l1 sum |w| + l2 sum w^2 of a layer's weights: "kernel_regularizer" and others.

namespace convoke::interop::keras {
namespace {

constexpr std::array<std::string_view, 5> kOfWeights{"kernel_regularizer", "recurrent_regularizer",
                                                     "depthwise_regularizer", "pointwise_regularizer",
                                                     "embeddings_regularizer"};
constexpr std::array<std::string_view, 4> kOfOthers{"bias_regularizer", "activity_regularizer",
                                                    "beta_regularizer", "gamma_regularizer"};

struct Penalty {
  double l1 = 0, l2 = 0;
  friend bool operator==(const Penalty&, const Penalty&) = default;
};

// {"class_name": "L2", "config": {"l2": 0.01}}; older versions write the numbers as arrays without axes.
std::optional<Penalty> penalty_of(const Json& regularizer) {
  const std::string kind = text_of(member(regularizer, "class_name"));
  const Json& config = member(regularizer, "config");
  if ((kind != "L1" && kind != "L2" && kind != "L1L2") || !config.is_object()) return std::nullopt;
  const auto factor = [&](const char* key) {
    const Json& value = member(config, key);
    return value.is_number() ? std::max(0.0, value.get<double>()) : 0.0;
  };
  return Penalty{factor("l1"), factor("l2")};
}

}  // namespace

void penalize(const Call& call, const Config& config, std::size_t node) {
  std::optional<Penalty> common;
  bool left_out =
      std::any_of(kOfOthers.begin(), kOfOthers.end(), [&](std::string_view key) { return config.has(key); });
  for (const std::string_view key : kOfWeights) {
    if (!config.json().contains(key)) continue;
    const std::optional<Penalty> own = config.has(key) ? penalty_of(config.at(key)) : Penalty{};
    left_out = left_out || !own || (common && common != own);
    if (!common) common = own;
  }
  if (common && *common != Penalty{} && !left_out) call.builder().penalize(node, common->l1, common->l2);
  if (!left_out) return;
  call.note(
      fmt::format("{} \"{}\" has penalties that a layer of Convoke has not (other than l1 and l2, or not "
                  "on all weights alike); they were left out",
                  call.options().class_name, call.name()));
}

}  // namespace convoke::interop::keras

namespace convoke::interop::keras_export {

// The weights "kernel", "recurrent_kernel" and "embeddings" have the settings "kernel_regularizer",
// "recurrent_regularizer" and "embeddings_regularizer".
void add_regularizers(const std::vector<KerasWeight>& weights, const nn::ParameterOptions& options,
                      Json& config) {
  if (options.l1 == 0 && options.l2 == 0) return;
  Json& own = config.contains("layer") ? config["layer"]["config"] : config;  // of a Bidirectional
  for (const KerasWeight& weight : weights) {
    const bool kernel = weight.name.ends_with("kernel");
    if (!kernel && weight.name != "embeddings") continue;
    const std::string name =
        kernel && weight.name != "kernel" ? weight.name.substr(0, weight.name.find('_')) : weight.name;
    own[name + "_regularizer"] = {{"module", "keras.regularizers"},
                                  {"class_name", "L1L2"},
                                  {"config", {{"l1", options.l1}, {"l2", options.l2}}},
                                  {"registered_name", nullptr}};
  }
}

}  // namespace convoke::interop::keras_export
