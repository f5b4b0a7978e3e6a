#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "convoke/core/error.hpp"
#include "library.hpp"

namespace convoke::hdf5 {
namespace {

bool keeps_creation_order(hid_t group, const std::string& where) {
  constexpr const char* kCannot = "cannot read its properties";
  const Handle plist = own(H5Gget_create_plist(group), H5Pclose, where, kCannot);
  unsigned flags = 0;
  check(H5Pget_link_creation_order(plist.get(), &flags), where, kCannot);
  return (flags & H5P_CRT_ORDER_INDEXED) != 0;
}

bool is_a(const Handle& object, H5I_type_t type, const std::string& where) {
  return object && check(H5Iget_type(object.get()), where, "cannot be opened") == type;
}

// Returns the object called `name`, or an empty handle. Checks link by link, because HDF5 reports an error
// for a missing group on the path; a dangling link counts as absent.
Handle open_object(hid_t group, const std::string& name, const std::string& where) {
  constexpr const char* kCannot = "cannot be opened";
  const auto open = [&](const std::string& path) {
    return own(H5Oopen(group, path.c_str(), H5P_DEFAULT), H5Oclose, where, kCannot);
  };
  std::string parent;
  std::size_t end = 0;
  while (end != std::string::npos) {
    end = name.find('/', end + 1);
    const std::string head = name.substr(0, end);
    if (head == "/") continue;
    if (head.empty()) return {};
    const htri_t found = H5Lexists(group, head.c_str(), H5P_DEFAULT);
    if (found < 0 && !parent.empty() && !is_a(open(parent), H5I_GROUP, where)) return {};  // within a dataset
    if (check(found, where, kCannot) == 0) return {};
    if (check(H5Oexists_by_name(group, head.c_str(), H5P_DEFAULT), where, kCannot) == 0) return {};
    parent = head;
  }
  return open(name);
}

Handle open_as(hid_t group, const std::string& name, const std::string& where, H5I_type_t type,
               const char* kind) {
  const LibraryLock lock;
  Handle object = open_object(group, name, where);
  if (!object) throw Error(fmt::format("{}: no such {}", where, kind));
  if (!is_a(object, type, where)) throw Error(fmt::format("{}: is not a {}", where, kind));
  if (type == H5I_DATASET) refuse_values_elsewhere(object.get(), where);
  return object;
}

}  // namespace

// A file from elsewhere must not make us read other files (library.cpp turns links to other files off).
void refuse_values_elsewhere(hid_t dataset, const std::string& where) {
  constexpr const char* kCannot = "cannot read its layout";
  const Handle plist = own(H5Dget_create_plist(dataset), H5Pclose, where, kCannot);
  if (check(H5Pget_layout(plist.get()), where, kCannot) == H5D_VIRTUAL ||
      check(H5Pget_external_count(plist.get()), where, kCannot) > 0) {
    throw Error(fmt::format("{}: its values are in other files", where),
                "copy it with h5repack, so that one file holds all");
  }
}

std::string Group::absolute(const std::string& name) const {
  if (name.starts_with('/')) return name;
  return path_ == "/" ? "/" + name : path_ + "/" + name;
}

std::string Group::place(const std::string& name) const {
  return fmt::format("{}: {}", file_.string(), absolute(name));
}

bool Group::contains(const std::string& name) const {
  const LibraryLock lock;
  return static_cast<bool>(open_object(handle_.get(), name, place(name)));
}

bool Group::has_group(const std::string& name) const {
  const LibraryLock lock;
  return is_a(open_object(handle_.get(), name, place(name)), H5I_GROUP, place(name));
}

bool Group::has_dataset(const std::string& name) const {
  const LibraryLock lock;
  return is_a(open_object(handle_.get(), name, place(name)), H5I_DATASET, place(name));
}

std::vector<std::string> Group::children() const {
  const LibraryLock lock;
  const H5_index_t index = keeps_creation_order(handle_.get(), where()) ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
  H5G_info_t info{};
  check(H5Gget_info(handle_.get(), &info), where(), "cannot list its contents");
  std::vector<std::string> names;
  for (hsize_t i = 0; i < info.nlinks; ++i) {
    const auto name_at = [&](char* out, std::size_t bytes) {
      return static_cast<std::size_t>(
          check(H5Lget_name_by_idx(handle_.get(), ".", index, H5_ITER_INC, i, out, bytes, H5P_DEFAULT),
                where(), "cannot list its contents"));
    };
    std::string name(name_at(nullptr, 0), '\0');
    name_at(name.data(), name.size() + 1);
    names.push_back(std::move(name));
  }
  return names;
}

Group Group::group(const std::string& name) const {
  const std::string path = absolute(name);
  return {open_as(handle_.get(), name, place(name), H5I_GROUP, "group"), file_, path, new_file_};
}

Group Group::create_group(const std::string& name) {
  const LibraryLock lock;
  if (contains(name)) return group(name);
  // Goes link by link, so that the groups on the path keep the order of creation too.
  if (const std::size_t slash = name.rfind('/'); slash != std::string::npos && slash > 0) {
    return create_group(name.substr(0, slash)).create_group(name.substr(slash + 1));
  }
  const std::string path = absolute(name);
  const Handle plist = creation_properties(H5P_GROUP_CREATE, place(name));
  return {own(H5Gcreate2(handle_.get(), name.c_str(), H5P_DEFAULT, plist.get(), H5P_DEFAULT), H5Gclose,
              place(name), "cannot create the group"),
          file_, path, new_file_};
}

Dataset Group::dataset(const std::string& name) const {
  const std::string path = absolute(name);
  return {open_as(handle_.get(), name, place(name), H5I_DATASET, "dataset"), file_, path, new_file_};
}

Dataset Group::make_dataset(const std::string& name, ElementType type, const Shape& shape, int deflate,
                            bool reserved) {
  const LibraryLock lock;
  assert(deflate >= 0 && deflate <= 9 && type != ElementType::kOther);
  if (const std::size_t slash = name.rfind('/'); slash != std::string::npos && slash > 0) {
    return create_group(name.substr(0, slash))
        .make_dataset(name.substr(slash + 1), type, shape, deflate, reserved);
  }
  const std::string path = absolute(name);
  const std::string where = place(name);
  if (contains(name)) throw Error(fmt::format("{}: exists already", where));

  std::vector<hsize_t> extents;
  for (std::size_t axis = 0; axis < shape.rank(); ++axis)
    extents.push_back(static_cast<hsize_t>(shape[axis]));
  const char* const what = "cannot create the dataset";
  const Handle space =
      own(extents.empty() ? H5Screate(H5S_SCALAR)
                          : H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr),
          H5Sclose, where, what);
  const Handle plist = creation_properties(H5P_DATASET_CREATE, where);
  if (reserved) {
    check(H5Pset_alloc_time(plist.get(), H5D_ALLOC_TIME_EARLY), where, what);
    check(H5Pset_fill_time(plist.get(), H5D_FILL_TIME_NEVER), where, what);
  }
  if (deflate > 0 && !extents.empty() && shape.elements() > 0) {
    std::vector<hsize_t> row = extents;
    row[0] = 1;
    check(H5Pset_chunk(plist.get(), static_cast<int>(row.size()), row.data()), where, what);
    check(H5Pset_deflate(plist.get(), static_cast<unsigned>(deflate)), where, what);
  }
  return {own(H5Dcreate2(handle_.get(), name.c_str(), file_type(type), space.get(), H5P_DEFAULT, plist.get(),
                         H5P_DEFAULT),
              H5Dclose, where, what),
          file_, path, new_file_};
}

Dataset Group::create_dataset(const std::string& name, ElementType type, const Shape& shape, int deflate) {
  return make_dataset(name, type, shape, deflate, false);
}

}  // namespace convoke::hdf5
