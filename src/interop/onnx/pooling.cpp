#include <algorithm>

#include "interop/onnx/fold.hpp"
#include "interop/onnx/operators.hpp"

namespace convoke::interop::onnx {
namespace {

/// `layer`: over images; "1d" behind it, along sequences.
void pool(Call& call, const std::string& layer) {
  const View& input = call.view(0);
  const WindowAttributes window = read_window(call, {}, input);
  if (window.dilation != nn::Extent(1)) {
    call.refuse("has a dilated window", "Convoke's pooling layers have dilation 1");
  }
  const bool average = layer == "average_pool";
  if (!average && call.wants(1)) {
    call.refuse("gives the indices of its maxima, which Convoke does not compute");
  }
  Settings settings = window.settings(window.sequence ? layer + "1d" : layer, "size");
  settings.set("ceil", call.integer("ceil_mode", 0) != 0);
  if (average) settings.set("count_padding", call.integer("count_include_pad", 0) != 0);
  call.give(of_channels_first(call.graph(), call.add(settings, {channels_first(call, input)})));
}

/// Mean or maximum over some axes: of the channels over an image, or of the features over a sequence.
View reduced(Call& call, const View& x, const std::vector<std::size_t>& axes, const std::string& layer,
             bool keep) {
  const View::Axis gone = atoms_of(x, axes);
  View::Axis kept;
  for (int atom = 0; atom < static_cast<int>(x.atoms.size()); ++atom) {
    if (std::find(gone.begin(), gone.end(), atom) == gone.end()) kept.push_back(atom);
  }
  for (const std::size_t axis : axes) {
    if (x.has_batch(axis)) call.refuse("reduces over the samples of a batch");
  }
  View result = x;
  if (!gone.empty()) {
    const View from = with_channels(call.builder(), x, kept);
    const bool image = call.graph().node(from.node).shape.rank() == 3;
    result = call.elementwise(from, {{"layer", image ? layer : layer + "1d"}});
    const auto left = static_cast<std::ptrdiff_t>(kept.size());
    const int before = image ? 0 : static_cast<int>(gone.size());
    result.atoms = image ? std::vector<std::int64_t>(from.atoms.begin(), from.atoms.begin() + left)
                         : std::vector<std::int64_t>(from.atoms.end() - left, from.atoms.end());
    for (const std::size_t axis : axes) result.axes[axis].clear();
    for (View::Axis& axis : result.axes) {
      for (int& atom : axis) {
        if (atom != View::kBatch) atom -= before;
      }
    }
  }
  if (keep) return result;
  std::vector<View::Axis> left;
  for (std::size_t axis = 0; axis < result.rank(); ++axis) {
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) left.push_back(result.axes[axis]);
  }
  result.axes = std::move(left);
  return result;
}

constexpr const char *kMean = "global_average_pool", *kMax = "global_max_pool";

void global(Call& call, const char* layer) {
  const View& x = call.view(0);
  std::vector<std::size_t> axes;
  for (std::size_t axis = 2; axis < x.rank(); ++axis) axes.push_back(axis);
  call.give(reduced(call, x, axes, layer, true));
}

void reduce(Call& call, const char* layer) {
  const View& x = call.view(0);
  call.give(reduced(call, x, reduced_axes(call, x.rank()), layer, call.integer("keepdims", 1) != 0));
}

}  // namespace

void convert_max_pool(Call& call) { pool(call, "max_pool"); }
void convert_average_pool(Call& call) { pool(call, "average_pool"); }
void convert_global_average(Call& call) { global(call, kMean); }
void convert_global_max(Call& call) { global(call, kMax); }
void convert_reduce_mean(Call& call) { reduce(call, kMean); }
void convert_reduce_max(Call& call) { reduce(call, kMax); }

void convert_reduce_sum(Call& call) {
  const View& x = call.view(0);
  const std::vector<std::size_t> axes = reduced_axes(call, x.rank());
  const auto count = static_cast<double>(x.extent(atoms_of(x, axes)));
  const View mean = reduced(call, x, axes, kMean, call.integer("keepdims", 1) != 0);
  call.give(rescaled(call, mean, count, 0));
}

}  // namespace convoke::interop::onnx
