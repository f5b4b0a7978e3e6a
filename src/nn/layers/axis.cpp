#include "convoke/nn/layers/axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"

namespace convoke::nn {
namespace {

std::vector<std::string> axes_of(std::size_t rank) {
  if (rank == 3) return {"channels", "height", "width"};
  if (rank == 2) return {"time", "features"};
  return {"features"};
}

}  // namespace

std::size_t Axis::in(const Shape& shape) const {
  const std::vector<std::string> axes = axes_of(shape.rank());
  const bool last = shape.rank() < 3 && name_ == "channels";
  const auto it = std::find(axes.begin(), axes.end(), last ? "features" : name_);
  if (it == axes.end()) {
    throw Error(fmt::format("its input {} has no axis \"{}\"", shape.with_batch(), name_),
                "its axes are " + join(axes));
  }
  return static_cast<std::size_t>(it - axes.begin());
}

std::vector<std::string> axis_names() { return {"channels", "height", "width", "time", "features"}; }

void read_value(SettingsReader& read, const KeyFacts& key, Axis& value) {
  std::string name = value.name();
  read_value(read, key, name);
  value = std::move(name);
}

Value to_value(const KeyFacts&, const Axis& value) { return value.name(); }

}  // namespace convoke::nn
