#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace convoke::data_prep {

/// A feature of a tf.train.Example: its name and its first value. Views of the message's bytes.
struct TfFeature {
  enum class Kind { kNone, kBytes, kFloats, kIntegers };

  std::string_view name = {};
  Kind kind = Kind::kNone;
  std::size_t count = 0;                  ///< number of values
  std::span<const std::byte> bytes = {};  ///< the first value of kBytes
  float number = 0;                       ///< the first value of kFloats
  std::int64_t integer = 0;               ///< the first value of kIntegers

  std::string_view text() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
};

/// Returns the features of a serialised tf.train.Example, in order. Throws Error "is not a tf.train.Example",
/// beginning with `name`.
std::vector<TfFeature> parse_tf_example(std::span<const std::byte> message, const std::string& name);

}  // namespace convoke::data_prep
