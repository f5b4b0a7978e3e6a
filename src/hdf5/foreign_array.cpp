#include "convoke/hdf5/foreign_array.hpp"

#include <fmt/format.h>

#include "convoke/core/error.hpp"
#include "library.hpp"

namespace convoke::hdf5 {
namespace {

constexpr const char* kUnreadable = "cannot be read";

Handle type_of(const Handle& dataset, const std::string& where) {
  return own(H5Dget_type(dataset.get()), H5Tclose, where, "cannot read its type");
}

void require_filters(const Handle& dataset, const std::string& where) {
  const Handle plist = own(H5Dget_create_plist(dataset.get()), H5Pclose, where, kUnreadable);
  const int filters = check(H5Pget_nfilters(plist.get()), where, kUnreadable);
  for (unsigned i = 0; i < static_cast<unsigned>(filters); ++i) {
    char name[32] = "";
    unsigned flags = 0, config = 0;
    std::size_t values = 0;
    const auto filter =
        check(H5Pget_filter2(plist.get(), i, &flags, &values, nullptr, sizeof name, name, &config), where,
              kUnreadable);
    if (H5Zfilter_avail(filter) > 0) continue;
    throw Error(fmt::format("{}: is compressed by \"{}\", which HDF5 cannot read here", where, name),
                "store it again, for example with compression=\"gzip\" in h5py");
  }
}

}  // namespace

ForeignArray::ForeignArray(Handle handle, const ForeignArray& from)
    : Dataset(std::move(handle), from.file_, from.path_, from.new_file_) {}

ElementType ForeignArray::readable_type() const {
  const LibraryLock lock;
  require_filters(handle_, where());
  const Handle type = type_of(handle_, where());
  const std::size_t bytes = check_size(H5Tget_size(type.get()), where(), kUnreadable);
  switch (check(H5Tget_class(type.get()), where(), kUnreadable)) {
    case H5T_ENUM:  // h5py's booleans have one byte
      return bytes == 1 ? ElementType::kUint8 : bytes <= 4 ? ElementType::kInt32 : ElementType::kInt64;
    case H5T_INTEGER: {
      const bool natural = check(H5Tget_sign(type.get()), where(), kUnreadable) == H5T_SGN_NONE;
      if (natural && bytes == 1) return ElementType::kUint8;
      return bytes + (natural ? 1 : 0) <= 4 ? ElementType::kInt32 : ElementType::kInt64;
    }
    case H5T_FLOAT:
      return bytes <= 4 ? ElementType::kFloat32 : ElementType::kFloat64;
    default:
      return ElementType::kOther;
  }
}

std::optional<Shape> ForeignArray::chunk() const {
  const LibraryLock lock;
  const Handle plist = own(H5Dget_create_plist(handle_.get()), H5Pclose, where(), "cannot read its layout");
  if (check(H5Pget_layout(plist.get()), where(), "cannot read its layout") != H5D_CHUNKED) return {};
  std::vector<hsize_t> extents(shape().rank());
  check(H5Pget_chunk(plist.get(), static_cast<int>(extents.size()), extents.data()), where(),
        "cannot read its layout");
  return Shape(std::vector<std::int64_t>(extents.begin(), extents.end()));
}

void ForeignArray::read_slices(std::size_t axis, std::int64_t first, ElementType type,
                               std::span<std::byte> bytes) const {
  const LibraryLock lock;
  const std::size_t values = bytes.size() / size_of(type);
  const Shape whole = shape();
  ensure(axis < whole.rank() && readable_type() != ElementType::kOther, "an axis of an array of numbers");
  std::vector<hsize_t> start(whole.rank(), 0), count;
  std::size_t of_slice = 1;
  for (std::size_t i = 0; i < whole.rank(); ++i) {
    count.push_back(static_cast<hsize_t>(whole[i]));
    if (i != axis) of_slice *= static_cast<std::size_t>(whole[i]);
  }
  ensure(of_slice > 0 && values % of_slice == 0 && first >= 0 &&
             first + static_cast<std::int64_t>(values / of_slice) <= whole[axis],
         "whole slices of the array");
  start[axis] = static_cast<hsize_t>(first);
  count[axis] = values / of_slice;
  const Handle file = own(H5Dget_space(handle_.get()), H5Sclose, where(), kUnreadable);
  check(H5Sselect_hyperslab(file.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr),
        where(), kUnreadable);
  const Handle memory = own(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr), H5Sclose,
                            where(), kUnreadable);
  check(H5Dread(handle_.get(), memory_type(type), memory.get(), file.get(), H5P_DEFAULT, bytes.data()),
        where(), kUnreadable);
}

bool ForeignArray::holds_texts() const {
  const LibraryLock lock;
  return check(H5Tget_class(type_of(handle_, where()).get()), where(), kUnreadable) == H5T_STRING;
}

std::vector<std::string> ForeignArray::texts() const {
  const LibraryLock lock;
  if (!holds_texts()) throw Error(fmt::format("{}: cannot be read as texts: it holds other values", where()));
  const auto count = static_cast<std::size_t>(shape().elements());
  if (count == 0) return {};
  return read_texts(
      type_of(handle_, where()).get(), count, where(), kUnreadable, [&](hid_t memory, void* values) {
        check(H5Dread(handle_.get(), memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), where(), kUnreadable);
      });
}

std::vector<ForeignArray> ForeignArray::referenced() const {
  const LibraryLock lock;
  constexpr const char* kNoReferences = "cannot be read as references";
  if (check(H5Tequal(type_of(handle_, where()).get(), H5T_STD_REF_OBJ), where(), kNoReferences) == 0)
    throw Error(fmt::format("{}: {}: it holds other values", where(), kNoReferences));
  std::vector<hobj_ref_t> references(static_cast<std::size_t>(shape().elements()));
  if (references.empty()) return {};
  check(H5Dread(handle_.get(), H5T_STD_REF_OBJ, H5S_ALL, H5S_ALL, H5P_DEFAULT, references.data()), where(),
        kNoReferences);
  std::vector<ForeignArray> arrays;
  for (const hobj_ref_t& reference : references) {
    Handle object = own(H5Rdereference2(handle_.get(), H5P_DEFAULT, H5R_OBJECT, &reference), H5Oclose,
                        where(), kNoReferences);
    if (H5Iget_type(object.get()) != H5I_DATASET)
      throw Error(fmt::format("{}: {}: one does not point to an array", where(), kNoReferences));
    refuse_values_elsewhere(object.get(), where());
    arrays.push_back(ForeignArray(std::move(object), *this));
  }
  return arrays;
}

}  // namespace convoke::hdf5
