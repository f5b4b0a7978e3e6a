#include "interop/onnx/operators.hpp"

#include <algorithm>
#include <array>

#include "interop/plain_layers.hpp"

namespace convoke::interop::onnx {
namespace {

constexpr std::array kFamilies{&kActivationOperators,    &kArithmeticOperators, &kAttentionOperators,
                               &kConcatOperators,        &kDenseOperators,      &kWindowOperators,
                               &kNormalizationOperators, &kPartsOperators,      &kQuantizedOperators,
                               &kRecurrentOperators,     &kResizeOperators,     &kStructureOperators};

// Operators that the pattern pass puts in the place of several nodes: see patterns.cpp.
constexpr std::array kRecognized{
    Operator{"AttentionOfHeads", convert_spelled_attention},
    Operator{"HardSigmoid6", convert_recognized_activation},
    Operator{"Normalize", convert_normalize},
    Operator{"Relu6", convert_recognized_activation},
    Operator{"Silu", convert_recognized_activation},
};

}  // namespace

std::optional<Operator> find_operator(const NodeProto& node) {
  if (node.domain == kRecognizedDomain) {
    if (const Operator* recognized = find_named(kRecognized, node.op)) return *recognized;
  } else if (!node.domain.empty()) {
    return std::nullopt;
  }
  for (const auto* family : kFamilies) {
    if (const Operator* own = find_named(*family, node.op)) return *own;
  }
  if (const PlainLayer* plain = find_plain_layer(&PlainLayer::onnx, node.op))
    return Operator{plain->onnx, convert_plain};
  if (find_element_function(&ElementFunction::onnx, node.op) == nullptr) return std::nullopt;
  return Operator{node.op, convert_function};
}

std::set<std::string_view> operator_names() {
  std::set<std::string_view> names;
  for (const auto* family : kFamilies) {
    for (const Operator& entry : *family) names.insert(entry.name);
  }
  for (const PlainLayer& entry : plain_layers()) names.insert(entry.onnx);
  for (const ElementFunction& entry : element_functions()) names.insert(entry.onnx);
  names.erase("");
  return names;
}

}  // namespace convoke::interop::onnx
