#include "convoke/data/stored_layout.hpp"

#include <algorithm>

#include "data/stored_dataset.hpp"

namespace convoke::data {

StoredLayout stored_layout(const std::filesystem::path& dataset, const std::string& split) {
  const Stored stored = read_structure(dataset, {split});
  const StoredSplit& found = stored.splits.front();
  StoredLayout layout;
  layout.samples = found.count;
  layout.sample_bytes = found.sample_bytes();
  layout.bytes = layout.sample_bytes * static_cast<std::uint64_t>(found.count);
  layout.files = found.samples.size();
  const StoredArray& pieces = found.is_encoded() ? found.encoded : found.samples;
  layout.contiguous =
      std::ranges::all_of(pieces, [](const StoredPiece& piece) { return piece.offset.has_value(); });
  if (found.is_encoded()) layout.encoded_bytes = static_cast<std::uint64_t>(found.ends.back());
  if (!found.samples.empty()) layout.first = found.samples.front().file;
  return layout;
}

}  // namespace convoke::data
