#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convoke/core/shape.hpp"
#include "convoke/data/samples.hpp"
#include "convoke/data_prep/assumption.hpp"

namespace convoke::data_prep {

/// A sample as a source lists it, before it is decoded.
struct Item {
  std::string name;  ///< in messages and reports; unique: a path below the source, "train[17]", "line 17"
  std::string split = {};  ///< "train", "validation", "test", ... (canonical_split); empty: unknown
  std::int32_t label = 0;  ///< 0..classes-1
  std::string group = {};  ///< items of one group stay on one side of a split; empty: alone
  float weight = 1;        ///< its weight in the loss, if the catalog is weighted
  std::string fault = {};  ///< why it cannot be a sample, as known before decoding; empty: no known fault
};

/// The contents of a source.
struct Catalog {
  std::vector<Item> items;  ///< in the source's order, which does not depend on the file system
  std::int64_t classes = 0;
  std::vector<std::string> class_names = {};  ///< `classes` names, or none
  bool weighted = false;
  std::string provenance = {};               ///< a short text that says where the samples come from
  std::vector<std::string> notes = {};       ///< sentences for the user: what was left out or filled in
  std::vector<Assumption> assumptions = {};  ///< what the source was taken for; fit() may add some

  /// Returns the name of a class; its number if classes have no names.
  std::string class_name(std::int32_t label) const;
};

/// The format of all samples, which the dataset stores.
struct SampleFormat {
  Shape shape;  ///< a sample as networks see it: (C, H, W), (F), (L, F) or (L)
  data::SampleType type = data::SampleType::kUint8;
  std::int64_t vocabulary = 0;   ///< of tokens
  std::string preparation = {};  ///< JSON object: how a raw picture, text or row becomes such a sample

  std::size_t sample_bytes() const {
    return static_cast<std::size_t>(shape.elements()) * data::size_of(type);
  }
};

/// A sample as the source has it.
struct Original {
  std::int32_t height = 0;  ///< picture: pixels; text: words
  std::int32_t width = 0;   ///< picture: pixels; else 0
  std::uint64_t bytes = 0;  ///< as stored in the source
  /// The JPEG, PNG or BMP of a picture that already has the size of a sample. Else empty.
  std::vector<std::byte> encoded = {};
};

/// Samples in another format. Opening a source lists its samples but does not decode them. A source does not
/// know how many processes prepare together: each opens the source and reads its own items.
class Source {
 public:
  virtual ~Source() = default;

  const Catalog& catalog() const { return catalog_; }

  /// The file of each item; empty if items share files.
  virtual std::span<const std::filesystem::path> files() const { return {}; }

  /// Learns from the training items (without faults) what the samples need: a vocabulary, the means of
  /// columns, and forgets what it learned before, also what it added to the catalog. Called before format()
  /// and read(), in every process with the same items.
  virtual void fit(std::span<const std::size_t> training) { static_cast<void>(training); }

  virtual SampleFormat format() const = 0;

  /// Decodes an item into the values of a sample as they are stored, (H, W, C), (F), (L, F) or (L) of the
  /// format's type. Reading item by item in order is fast. Throws Error naming the file and the item if it is
  /// damaged.
  virtual Original read(std::size_t item, std::span<std::byte> sample) = 0;

 protected:
  Catalog catalog_;
};

/// Returns "name: reason", or the reason alone if it names the item already.
std::string with_name(const std::string& name, const std::string& reason);

/// The usual splits, in their order.
inline constexpr std::array<std::string_view, 3> kUsualSplits{"train", "validation", "test"};

/// True for one of them.
bool is_usual_split(std::string_view split);

/// Returns the usual name of a split: "valid", "val", "dev" and "validation" become "validation"; "training"
/// becomes "train", "testing" "test"; case does not count. Other names are only changed to lower case.
std::string canonical_split(const std::string& name);

/// The file that marks a folder as made by `convoke synthesize`, in its first line.
inline constexpr const char* kSyntheticMark = "SYNTHETIC.txt";

/// Returns that line, "synthetic, made by ...", of the folder `source` or one of the two enclosing folders
/// (for a CSV or a sub-folder); "" if there is none. The provenance of the dataset begins with it.
std::string synthetic_mark(const std::filesystem::path& source);

}  // namespace convoke::data_prep
