#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace convoke::data_prep {

/// The conversion of pictures to samples of one size.
struct PictureOptions {
  std::int64_t height = 0;    ///< 0: the size of the source's pictures, which must be the same
  std::int64_t width = 0;     ///< 0: equal to height
  std::string fit = "area";   ///< a name of the table of fits: area, letter-box, crop, fundus
  std::int64_t channels = 0;  ///< 1: gray, 3: RGB; 0: as the first picture is stored (alpha is dropped)
};

/// Columns of a CSV; an empty name means the usual names.
struct ColumnOptions {
  std::string path = {};
  std::string label = {};
  std::string split = {};
  std::string group = {};
  std::string weight = {};
  std::string text = {};
  std::vector<std::string> features = {};    ///< of a table or of I/O traces; empty: all without another use
  std::vector<std::string> categories = {};  ///< features whose numbers name categories
  std::string images_folder = {};            ///< folder of a manifest's pictures; empty: near the manifest
};

/// How tables and texts are read; empty: as their contents suggest.
struct ReadingOptions {
  std::string encoding = {};   ///< a name of text_encodings()
  std::string separator = {};  ///< of the cells: one character, or "tab"
  std::string quoting = {};    ///< csv | none
  std::string header = {};     ///< yes | no
  std::string decimal = {};    ///< point | comma

  bool operator==(const ReadingOptions&) const = default;
};

/// The reading of arrays.
struct ArrayOptions {
  /// A letter for each axis: N samples, H, W and C height, width and channels, L and F length and features.
  /// "NCHW", "HWCN", "NLF", ...; empty: by the type and the number of axes.
  std::string axes = {};
};

/// The conversion of texts to tokens.
struct TextOptions {
  std::int64_t length = 0;           ///< tokens of a sample; 0: the 95th percentile of the training texts
  std::int64_t vocabulary = 10'000;  ///< at most, including padding and the unknown token
  std::string stop_words = "none";   ///< none | english | nltk
  std::string padding = "post";      ///< the end at which shorter texts are padded: pre | post
  std::string truncating = "post";   ///< the end at which longer texts are cut: pre (keeps the end) | post
};

/// The conversion of a table's columns to features.
struct TableOptions {
  std::string scale = "standard";  ///< none | standard | min-max | yeo-johnson (then standardized)
};

/// The conversion of traces of I/O to samples.
struct TraceOptions {
  std::string window = "256";  ///< length of a window: a number of requests, or seconds ("0.5s")
};

/// Options of all sources; each source uses those that concern it.
struct SourceOptions {
  PictureOptions picture = {};
  ColumnOptions columns = {};
  ReadingOptions reading = {};
  ArrayOptions arrays = {};
  TextOptions text = {};
  TableOptions table = {};
  TraceOptions traces = {};
  std::filesystem::path output = {};          ///< `prepare` writes there and beside it; no part of the source
  bool splits_are_drawn = false;              ///< the source's splits are not used
  std::vector<std::string> class_names = {};  ///< replace the source's names; one per class
  std::vector<std::string> given = {};  ///< options of the command line, "--size": the kind must have them
};

}  // namespace convoke::data_prep
