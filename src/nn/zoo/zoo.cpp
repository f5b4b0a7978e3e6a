#include "convoke/nn/zoo.hpp"

#include <array>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "nn/zoo/lenet.hpp"
#include "nn/zoo/resnet.hpp"

namespace convoke::nn {
namespace {

using ZooMaker = Graph (*)(const ZooOptions&);

struct Entry {
  std::string_view name;
  ZooMaker make;
  std::array<std::int64_t, 3> input;  ///< of one sample; a shape of fewer axes ends in zeroes
};

// In alphabetical order, one to a line.
// clang-format off
constexpr std::array kZoo{
    Entry{"lenet5", lenet5, {1, 28, 28}},
    Entry{"resnet18", resnet18, {3, 224, 224}},
};
// clang-format on

const Entry& entry_of(const std::string& name) { return find_in(kZoo, name, "zoo model"); }

Shape input_of(const Entry& entry) {
  std::vector<std::int64_t> extents;
  for (const std::int64_t extent : entry.input) {
    if (extent > 0) extents.push_back(extent);
  }
  return Shape(extents);
}

}  // namespace

Graph make_zoo_model(const std::string& name, const ZooOptions& options) {
  const Entry& entry = entry_of(name);
  if (options.classes < 1) throw Error(name + ": classes must be at least 1");
  ZooOptions own = options;
  if (own.input.rank() == 0) own.input = input_of(entry);
  return entry.make(own);
}

std::vector<std::string> zoo_names() { return names_in(kZoo); }

Shape zoo_input(const std::string& name) { return input_of(entry_of(name)); }

}  // namespace convoke::nn
