#include "convoke/nn/layers/axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
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
                "it has " + join(axes));
  }
  return static_cast<std::size_t>(it - axes.begin());
}

Axis Axis::read(SettingsReader& read) {
  static constexpr std::array<std::string_view, 5> kNames{"channels", "height", "width", "time", "features"};
  const std::string name = read.get("axis", "channels");
  const bool known = std::find(kNames.begin(), kNames.end(), name) != kNames.end();
  if (!known) read.fail("\"axis\" must be \"channels\", \"height\", \"width\", \"time\" or \"features\"");
  return name;
}

}  // namespace convoke::nn
