#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "convoke/core/shape.hpp"
#include "convoke/data/samples.hpp"

namespace convoke::data_prep {

/// One sample as a source lists it, before it is decoded.
struct Item {
  std::string name;  ///< in messages and reports; unique: a path below the source, "train[17]", "line 17"
  std::string split = {};  ///< "train", "validation", "test", ... (canonical_split); empty: it does not say
  std::int32_t label = 0;  ///< 0..classes-1
  std::string group = {};  ///< items of one group stay on one side of a split; empty: alone
  float weight = 1;        ///< what it counts in the loss, if the catalogue is weighted
  std::string fault = {};  ///< why it can be no sample, known without decoding; empty: nothing is known
};

/// What a source holds.
struct Catalogue {
  std::vector<Item> items;  ///< in the source's order, which does not depend on the file system's
  std::int64_t classes = 0;
  std::vector<std::string> class_names = {};  ///< `classes` names, or none
  bool weighted = false;
  std::string provenance = {};  ///< where the samples come from, in a few words
  std::vector<std::string> notes =
      {};  ///< what the user should know, a sentence each: what was left out, filled in
};

/// What all samples are, as the dataset will say.
struct SampleFormat {
  Shape shape;  ///< as networks see a sample: (C, H, W), (F), (L, F) or (L)
  data::SampleType type = data::SampleType::kUint8;
  std::int64_t vocabulary = 0;   ///< of tokens
  std::string preparation = {};  ///< JSON object: how to turn a raw picture, text or row into such a sample
};

/// How a sample was before it was fitted.
struct Original {
  std::int32_t height = 0;  ///< of a picture, pixels; of a text, words
  std::int32_t width = 0;   ///< of a picture, pixels; else 0
  std::uint64_t bytes = 0;  ///< as stored in the source
};

/// Samples in some foreign form. Opening one has read what there is, not yet the samples. Nothing here knows
/// how many processes prepare together: each opens the source and reads the items that are its own.
class Source {
 public:
  virtual ~Source() = default;

  virtual const Catalogue& catalogue() const = 0;

  /// Learns from the training items (without faults) what all samples are made with: a vocabulary, the means
  /// of columns. Called once, before format() and read(), in every process with the same items.
  virtual void fit(std::span<const std::size_t> training) { static_cast<void>(training); }

  virtual SampleFormat format() const = 0;

  /// Decodes an item into the values of a sample as they are stored, (H, W, C), (F), (L, F) or (L) of the
  /// format's type. Reading on, item by item, is fast. Throws Error naming the file, and within it the item,
  /// if it is damaged.
  virtual Original read(std::size_t item, std::span<std::byte> sample) = 0;
};

/// The usual name of a split: "valid", "val", "dev" and "validation" are "validation"; "training" is "train",
/// "testing" "test"; upper case as lower case. Others stay as they are, in lower case.
std::string canonical_split(const std::string& name);

}  // namespace convoke::data_prep
