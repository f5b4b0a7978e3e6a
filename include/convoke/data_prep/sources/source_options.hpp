#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace convoke::data_prep {

/// How pictures become samples of one size.
struct PictureOptions {
  std::int64_t height = 0;    ///< 0: as the source's pictures, which must all have one size
  std::int64_t width = 0;     ///< 0: as height
  std::string fit = "area";   ///< a name of the table of fits: area, letter-box, crop, fundus
  std::int64_t channels = 0;  ///< 1: grey, 3: RGB; 0: as the first picture is stored (alpha is dropped)
};

/// Columns of a CSV; an empty name stands for the usual ones.
struct ColumnOptions {
  std::string path = {};
  std::string label = {};
  std::string split = {};
  std::string group = {};
  std::string weight = {};
  std::string text = {};
  std::vector<std::string> features = {};  ///< of a table; empty: all that have no other use
  std::string images_folder = {};          ///< where the pictures of a manifest are; empty: found beside it
};

/// How texts become tokens.
struct TextOptions {
  std::int64_t length = 0;           ///< tokens of a sample; 0: the 95th percentile of the training texts
  std::int64_t vocabulary = 10'000;  ///< at most, padding and the unknown token included
  std::string stop_words = "none";   ///< none | english
  std::string padding = "post";      ///< where shorter texts are filled up: pre | post
  std::string truncating = "post";   ///< where longer texts are cut: pre (their end is kept) | post
};

/// How the columns of a table become features.
struct TableOptions {
  std::string scale = "standard";  ///< none | standard | min-max | yeo-johnson (then standardised)
};

/// What a source may be told; each takes what concerns it.
struct SourceOptions {
  PictureOptions picture = {};
  ColumnOptions columns = {};
  TextOptions text = {};
  TableOptions table = {};
  std::vector<std::string> class_names = {};  ///< instead of the source's; one per class
};

}  // namespace convoke::data_prep
