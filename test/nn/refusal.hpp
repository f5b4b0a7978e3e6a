#pragma once
#include <string>
#include <vector>

#include "convoke/core/settings.hpp"
#include "convoke/nn/layer_table.hpp"
#include "support/error_of.hpp"

inline convoke::Value::Array list(std::initializer_list<convoke::Value> values) { return values; }

/// "message | hint" of the error that the layers end with, the last of which is in line 7; "" if there is
/// none.
inline std::string refusal(const convoke::Shape& input, std::vector<convoke::Settings> layers) {
  layers.back().set_where("recipe.toml:7");
  return refusal_of([&] { convoke::nn::build_graph(input, layers); });
}
