#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstring>

#include "convoke/core/error.hpp"
#include "library.hpp"
#include "new_file.hpp"

namespace convoke::hdf5 {
namespace {

std::vector<hsize_t> extents_of(hid_t space, const std::string& where) {
  constexpr const char* kCannot = "cannot read its shape";
  const int rank = check(H5Sget_simple_extent_ndims(space), where, kCannot);
  std::vector<hsize_t> extents(static_cast<std::size_t>(rank));
  if (rank > 0) check(H5Sget_simple_extent_dims(space, extents.data(), nullptr), where, kCannot);
  return extents;
}

/// A part of a dataset's rows: the selection in the file and the same selection in memory.
struct Rows {
  Handle file = {}, memory = {};
};

Rows select_rows(hid_t dataset, const std::string& where, std::int64_t first, std::size_t values) {
  Rows rows;
  rows.file = own(H5Dget_space(dataset), H5Sclose, where, "cannot read its shape");
  std::vector<hsize_t> count = extents_of(rows.file.get(), where);
  if (count.empty()) throw Error(fmt::format("{}: a single value has no rows", where));
  std::size_t row_values = 1;
  for (std::size_t axis = 1; axis < count.size(); ++axis) row_values *= count[axis];
  const hsize_t total = count[0];
  if (row_values == 0 || values % row_values != 0) {
    throw Error(fmt::format("{}: {} values are not a whole number of rows of {}", where, values, row_values));
  }
  count[0] = values / row_values;
  if (first < 0 || static_cast<hsize_t>(first) > total || count[0] > total - static_cast<hsize_t>(first)) {
    throw Error(fmt::format("{}: rows {} to {} do not exist; there are {}", where, first,
                            first + static_cast<std::int64_t>(count[0]) - 1, total));
  }
  std::vector<hsize_t> start(count.size(), 0);
  start[0] = static_cast<hsize_t>(first);
  check(H5Sselect_hyperslab(rows.file.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr),
        where, "cannot select rows");
  rows.memory = own(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr), H5Sclose, where,
                    "cannot select rows");
  return rows;
}

// HDF5 has no bfloat16: h5py stores NumPy's as opaque values of two bytes.
bool is_bfloat16(hid_t type, const std::string& where) {
  constexpr const char* kCannot = "cannot read its type";
  return check(H5Tget_class(type), where, kCannot) == H5T_OPAQUE &&
         check_size(H5Tget_size(type), where, kCannot) == sizeof(std::uint16_t);
}

void read_selection(hid_t dataset, const std::string& where, hid_t memory, hid_t file, ElementType wanted,
                    std::span<std::byte> values) {
  const Handle type = own(H5Dget_type(dataset), H5Tclose, where, "cannot read its type");
  const H5T_class_t kind = check(H5Tget_class(type.get()), where, "cannot read its type");
  if (wanted == ElementType::kFloat32 && is_bfloat16(type.get(), where)) {
    std::vector<std::uint16_t> halves(values.size() / sizeof(float));
    check(H5Dread(dataset, type.get(), memory, file, H5P_DEFAULT, halves.data()), where, "cannot be read");
    for (std::size_t i = 0; i < halves.size(); ++i) {
      const std::uint32_t bits = std::uint32_t{halves[i]} << 16;
      std::memcpy(values.data() + i * sizeof bits, &bits, sizeof bits);
    }
    return;
  }
  const bool floating = wanted == ElementType::kFloat32 || wanted == ElementType::kFloat64;
  if (kind != H5T_INTEGER && !(kind == H5T_FLOAT && floating)) {
    throw Error(fmt::format("{}: cannot be read as {}: it holds {}", where, name_of(wanted),
                            kind == H5T_FLOAT ? "floating-point numbers" : "other values than numbers"));
  }
  check(H5Dread(dataset, memory_type(wanted), memory, file, H5P_DEFAULT, values.data()), where,
        "cannot be read");
}

// True if the array lies, or will lie, in one piece in the file exactly as `ours` in memory.
bool is_raw(hid_t dataset, ElementType ours, const std::string& where) {
  if (ours == ElementType::kOther) return false;
  const Handle stored = own(H5Dget_type(dataset), H5Tclose, where, "cannot read its type");
  if (check(H5Tequal(stored.get(), memory_type(ours)), where, "cannot read its type") == 0) {
    return false;  // the other byte order
  }
  constexpr const char* kCannot = "cannot read its layout";
  const Handle plist = own(H5Dget_create_plist(dataset), H5Pclose, where, kCannot);
  return check(H5Pget_layout(plist.get()), where, kCannot) == H5D_CONTIGUOUS;
}

void expect_size(const Dataset& dataset, std::size_t values) {
  const Shape shape = dataset.shape();
  if (static_cast<std::int64_t>(values) != shape.elements()) {
    throw Error(fmt::format("{}: has shape {}, {} values, not {}", dataset.where(), shape.to_string(),
                            shape.elements(), values));
  }
}

}  // namespace

Shape Dataset::shape() const {
  const LibraryLock lock;
  const Handle space = own(H5Dget_space(handle_.get()), H5Sclose, where(), "cannot read its shape");
  const std::vector<hsize_t> extents = extents_of(space.get(), where());
  return Shape(std::vector<std::int64_t>(extents.begin(), extents.end()));
}

ElementType Dataset::type() const {
  const LibraryLock lock;
  return element_type_of(own(H5Dget_type(handle_.get()), H5Tclose, where(), "cannot read its type").get(),
                         where());
}

void Dataset::read_all(ElementType type, std::span<std::byte> values) const {
  const LibraryLock lock;
  expect_size(*this, values.size() / size_of(type));
  read_selection(handle_.get(), where(), H5S_ALL, H5S_ALL, type, values);
}

// Gives an array of a new file, unless it is small, its place by writing the first number, as HDF5 would do
// when it writes all. The values then bypass HDF5. Returns true if that was done.
bool Dataset::write_directly(ElementType element, std::int64_t first_row, std::span<const std::byte> values) {
  constexpr std::uint64_t kSmallest = 4096;
  const std::shared_ptr<NewFile> file = new_file_.lock();
  if (!file || values.empty()) return false;
  std::uint64_t begin = 0;
  {
    const LibraryLock lock;
    const Shape extents = shape();
    const std::uint64_t bytes = static_cast<std::uint64_t>(extents.elements()) * size_of(element);
    if (bytes < kSmallest || type() != element || !is_raw(handle_.get(), element, where())) return false;
    std::optional<std::uint64_t> offset = raw_offset();
    if (!offset) {
      const Handle first = own(H5Dget_space(handle_.get()), H5Sclose, where(), "cannot read its shape");
      const std::vector<hsize_t> origin(extents.rank(), 0), one(extents.rank(), 1);
      const Handle single = own(H5Screate(H5S_SCALAR), H5Sclose, where(), "cannot be written");
      check(H5Sselect_hyperslab(first.get(), H5S_SELECT_SET, origin.data(), nullptr, one.data(), nullptr),
            where(), "cannot be written");
      check(H5Dwrite(handle_.get(), memory_type(element), single.get(), first.get(), H5P_DEFAULT,
                     values.data()),
            where(), "cannot be written");
      offset = place_in_file();
      file->reserve(*offset, *offset + bytes);
    }
    begin =
        *offset + static_cast<std::uint64_t>(first_row) * (bytes / static_cast<std::uint64_t>(extents[0]));
  }
  file->write(begin, values);
  return true;
}

void Dataset::write_all(ElementType type, std::span<const std::byte> values) {
  expect_size(*this, values.size() / size_of(type));
  if (write_directly(type, 0, values)) return;
  const LibraryLock lock;
  check(H5Dwrite(handle_.get(), memory_type(type), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), where(),
        "cannot be written");
}

void Dataset::read_rows(std::int64_t first, ElementType type, std::span<std::byte> values) const {
  const LibraryLock lock;
  const Rows rows = select_rows(handle_.get(), where(), first, values.size() / size_of(type));
  read_selection(handle_.get(), where(), rows.memory.get(), rows.file.get(), type, values);
}

void Dataset::write_rows(std::int64_t first, ElementType type, std::span<const std::byte> values) {
  const LibraryLock lock;
  const Rows rows = select_rows(handle_.get(), where(), first, values.size() / size_of(type));
  if (write_directly(type, first, values)) return;
  check(H5Dwrite(handle_.get(), memory_type(type), rows.memory.get(), rows.file.get(), H5P_DEFAULT,
                 values.data()),
        where(), "cannot be written");
}

std::optional<std::uint64_t> Dataset::raw_offset() const {
  const LibraryLock lock;
  if (!is_raw(handle_.get(), type(), where())) return {};
  const haddr_t offset = H5Dget_offset(handle_.get());
  if (offset == HADDR_UNDEF) return {};  // not written yet
  return offset;
}

std::uint64_t Dataset::place_in_file() const {
  const std::optional<std::uint64_t> offset = raw_offset();
  if (!offset) throw Error(fmt::format("{}: has no place in the file", where()), "is the disk full?");
  return *offset;
}

std::uint64_t Dataset::stored_bytes() const {
  const LibraryLock lock;
  return H5Dget_storage_size(handle_.get());
}

void Dataset::expect_stored() const {
  // Deflate makes bytes at most so much smaller. A few zeroes need not be stored at all.
  constexpr std::uint64_t kMostPerByte = 1032, kFew = 1U << 20;
  const auto numbers = static_cast<std::uint64_t>(shape().elements());
  if (numbers <= kFew + kMostPerByte * stored_bytes()) return;
  throw Error(fmt::format("{}: has {} numbers, but {} bytes were written", where(), numbers, stored_bytes()),
              "the file is damaged, or its numbers were never written");
}

}  // namespace convoke::hdf5
