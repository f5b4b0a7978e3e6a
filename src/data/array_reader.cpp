#include "array_reader.hpp"

#include <algorithm>

#include "convoke/core/error.hpp"
#include "dataset_parts.hpp"

namespace convoke::data {

ArrayReader::ArrayReader(StoredArray pieces, SampleType type, std::size_t row_bytes)
    : pieces_(std::move(pieces)), type_(type), row_bytes_(row_bytes) {
  for (const StoredPiece& piece : pieces_) {
    direct_ = direct_ && piece.offset.has_value();
    files_.emplace_back(piece.file);
  }
}

std::size_t ArrayReader::index_of(std::int64_t row) const {
  return static_cast<std::size_t>(&data::piece_of(pieces_, row) - pieces_.data());
}

void ArrayReader::read(std::int64_t first, std::span<std::byte> rows) const {
  ensure(rows.size() % row_bytes_ == 0, "whole rows are read");
  for (std::size_t index = rows.empty() ? 0 : index_of(first); !rows.empty(); ++index) {
    ensure(index < pieces_.size(), "rows within the array");
    const std::int64_t inside = first - pieces_[index].first;
    const auto there = static_cast<std::size_t>(pieces_[index].count - inside) * row_bytes_;
    const std::span<std::byte> part = rows.first(std::min(rows.size(), there));
    read_piece(index, inside, part);
    rows = rows.subspan(part.size());
    first += static_cast<std::int64_t>(part.size() / row_bytes_);
  }
}

void ArrayReader::read_piece(std::size_t index, std::int64_t first, std::span<std::byte> rows) const {
  const StoredPiece& piece = pieces_[index];
  if (!piece.offset) {
    const hdf5::File file = hdf5::File::open(piece.file);
    return file.dataset(piece.path).read_rows(first, element_type_of(type_), rows);
  }
  files_[index].open()->read_at(*piece.offset + static_cast<std::uint64_t>(first) * row_bytes_, rows);
}

void ArrayReader::will_need(std::int64_t first, std::int64_t count) const {
  while (count > 0) {
    const std::size_t index = index_of(first);
    const StoredPiece& piece = pieces_[index];
    const std::int64_t there = std::min(count, piece.first + piece.count - first);
    if (piece.offset) {
      files_[index].open()->will_read(
          *piece.offset + static_cast<std::uint64_t>(first - piece.first) * row_bytes_,
          static_cast<std::uint64_t>(there) * row_bytes_);
    }
    first += there;
    count -= there;
  }
}

}  // namespace convoke::data
