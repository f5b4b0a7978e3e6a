#include <algorithm>
#include <array>
#include <optional>

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
  return {arranged(builder, view, groups), std::move(order), axis, at, 1};
}

/// Returns the value as (axes before, this axis with the axes after it), if its numbers lie in this order.
std::optional<Along> in_memory_order(ModelBuilder& builder, const View& view, std::size_t axis) {
  const View::Axis& own = view.axes[axis];
  if (own.empty()) return std::nullopt;
  std::vector<std::size_t> before, after{axis};
  for (std::size_t i = 0; i < view.rank(); ++i) {
    const View::Axis atoms = atoms_of(view, {i});
    if (i != axis && !atoms.empty()) (atoms.front() < own.front() ? before : after).push_back(i);
  }
  const auto lies_before = [&](std::size_t a, std::size_t b) {
    return atoms_of(view, {a}).front() < atoms_of(view, {b}).front();
  };
  std::sort(before.begin(), before.end(), lies_before);
  std::sort(after.begin(), after.end(), lies_before);
  View::Axis all = atoms_of(view, before), rest = atoms_of(view, after);
  all.insert(all.end(), rest.begin(), rest.end());
  if (!std::is_sorted(all.begin(), all.end())) return std::nullopt;
  std::vector<std::vector<std::size_t>> order{after};
  if (!before.empty()) order.insert(order.begin(), before);
  std::vector<View::Axis> groups;
  for (const auto& axes : order) groups.push_back(atoms_of(view, axes));
  return Along{arranged(builder, view, groups), order, axis, order.size() - 1,
               view.extent(rest) / view.extent(own)};
}

}  // namespace

Along along(ModelBuilder& builder, const View& view, std::size_t axis) {
  const std::vector<std::size_t> natural = natural_order(builder, view);
  if (std::find(natural.begin(), natural.end(), axis) != natural.end()) {
    std::vector<std::vector<std::size_t>> order;
    for (const std::size_t one : natural) order.push_back({one});
    return place(builder, view, std::move(order), axis);
  }
  if (const auto together = in_memory_order(builder, view, axis)) return *together;
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
