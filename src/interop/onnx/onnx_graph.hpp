#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "convoke/core/shape.hpp"

// An ONNX graph that is written: nodes and initializers, and their file (onnx.proto of
// https://github.com/onnx/onnx).

namespace convoke::interop::onnx_export {

/// Element types of ONNX (TensorProto.DataType).
enum class OnnxType : std::int64_t { kFloat = 1, kInt32 = 6, kInt64 = 7, kBool = 9 };

struct OnnxAttribute {
  std::string name;
  std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>> value;
};
using OnnxAttributes = std::vector<OnnxAttribute>;

class OnnxGraph {
 public:
  /// Returns values when the file is written, so that few of them are in memory at a time.
  using MakeValues = std::function<std::vector<float>()>;

  /// Adds a node. Outputs that nobody reads may be "".
  void add_node(std::string_view op, std::string_view name, std::span<const std::string> inputs,
                std::span<const std::string> outputs, const OnnxAttributes& attributes = {});
  /// Add an initializer. Return its name, unique(wanted).
  std::string add_floats(const std::string& wanted, const Shape& shape, MakeValues make);
  std::string add_integers(const std::string& wanted, const Shape& shape,
                           std::span<const std::int64_t> values);
  /// The same for shared parameters: returns the name of the first one if `wanted` was added before.
  std::string add_shared_floats(const std::string& wanted, const Shape& shape, MakeValues make);
  /// Describe input and output, before others take their names; the batch is the symbol "batch".
  void add_input(std::string_view name, OnnxType type, const Shape& sample);
  void add_output(std::string_view name, const Shape& sample);
  void add_metadata(std::string_view key, std::string_view value);

  /// Returns `wanted`, or with a number if something has this name.
  std::string unique(const std::string& wanted);

  /// Writes the model and returns its files. If it takes more than `most_bytes`, its larger initializers go
  /// to FILE.data. Each file is replaced atomically. Throws Error naming the file.
  std::vector<std::filesystem::path> write(const std::filesystem::path& file, std::string_view graph_name,
                                           std::uint64_t most_bytes) const;

 private:
  struct Initializer {
    std::string header;  // TensorProto without its numbers or their place
    std::uint64_t bytes = 0;
    MakeValues make;
  };
  void write_model_file(const std::filesystem::path& file, std::string_view graph_name,
                        std::span<const std::string> headers, std::span<const std::uint64_t> offsets) const;
  void write_numbers(const std::filesystem::path& file, std::span<const std::uint64_t> offsets) const;
  static std::vector<float> values_of(const Initializer& initializer);

  std::string nodes_, values_, metadata_, whole_numbers_;  // fields of GraphProto and ModelProto
  std::vector<Initializer> initializers_;
  std::unordered_set<std::string> names_;                // of values and initializers
  std::unordered_map<std::string, std::string> shared_;  // names of initializers by the wanted ones
};

}  // namespace convoke::interop::onnx_export
