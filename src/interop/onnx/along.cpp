#include <algorithm>
#include <array>

#include "convoke/core/error.hpp"
#include "interop/onnx/view.hpp"

namespace convoke::interop::onnx {

std::string_view Along::name() const {
  static constexpr std::array<std::string_view, 3> kImage{"channels", "height", "width"};
  static constexpr std::array<std::string_view, 2> kSequence{"time", "features"};
  if (order.size() == 3) return kImage[at];
  return order.size() == 2 ? kSequence[at] : "features";
}

View Along::with(std::size_t node, std::int64_t extent) const {
  View result = view;
  result.node = node;
  // The atoms of the node's axes lie in order: those of this axis begin after those of the axes before it.
  std::size_t first = 0;
  for (std::size_t i = 0; i < at; ++i) first += atoms_of(view, order[i]).size();
  const std::size_t old = view.axes[axis].size(), now = extent == 1 ? 0 : 1;
  const auto begin = result.atoms.begin() + static_cast<std::ptrdiff_t>(first);
  result.atoms.erase(begin, begin + static_cast<std::ptrdiff_t>(old));
  if (now == 1) result.atoms.insert(result.atoms.begin() + static_cast<std::ptrdiff_t>(first), extent);
  for (View::Axis& other : result.axes) {
    for (int& atom : other) {
      if (atom >= static_cast<int>(first + old)) atom += static_cast<int>(now) - static_cast<int>(old);
    }
  }
  result.axes[axis] = now == 1 ? View::Axis{static_cast<int>(first)} : View::Axis{};
  return result;
}

namespace {

Along place(ModelBuilder& builder, const View& view, std::vector<std::vector<std::size_t>> order,
            std::size_t axis) {
  std::vector<View::Axis> groups;
  std::size_t at = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    groups.push_back(atoms_of(view, order[i]));
    if (order[i] == std::vector<std::size_t>{axis}) at = i;
  }
  return {arranged(builder, view, groups), std::move(order), axis, at};
}

}  // namespace

Along along(ModelBuilder& builder, const View& view, std::size_t axis) {
  const std::vector<std::size_t> natural = natural_order(builder, view);
  if (std::find(natural.begin(), natural.end(), axis) != natural.end()) {
    std::vector<std::vector<std::size_t>> order;
    for (const std::size_t one : natural) order.push_back({one});
    return place(builder, view, std::move(order), axis);
  }
  std::vector<std::size_t> before, after;
  for (std::size_t i = 0; i < view.rank(); ++i) {
    if (i != axis) (i < axis ? before : after).push_back(i);
  }
  return place(builder, view, {before, {axis}, after}, axis);
}

Along along(ModelBuilder& builder, const View& view, const Along& like) {
  return place(builder, view, like.order, like.axis);
}

}  // namespace convoke::interop::onnx
