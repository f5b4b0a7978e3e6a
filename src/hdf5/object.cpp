#include <fmt/format.h>

#include <type_traits>

#include "convoke/core/error.hpp"
#include "library.hpp"

// Attributes.

namespace convoke::hdf5 {
namespace {

Handle one_axis(std::size_t count) {
  const hsize_t extent = count;
  return {H5Screate_simple(1, &extent, nullptr), H5Sclose};
}

Handle single() { return {H5Screate(H5S_SCALAR), H5Sclose}; }

std::string cannot_write(const std::string& name) {
  return fmt::format("cannot write attribute \"{}\"", name);
}

/// `space` may be a failure.
void write_attribute(const Handle& object, const std::string& where, const std::string& name, hid_t file,
                     hid_t memory, const Handle& space, const void* values) {
  const std::string what = cannot_write(name);
  check(space.get(), where, what.c_str());
  if (check(H5Aexists(object.get(), name.c_str()), where, what.c_str()) > 0) {
    check(H5Adelete(object.get(), name.c_str()), where, what.c_str());
  }
  const Handle attribute =
      own(H5Acreate2(object.get(), name.c_str(), file, space.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
          where, what.c_str());
  if (check(H5Sget_simple_extent_npoints(space.get()), where, what.c_str()) == 0)
    return;  // HDF5 would still ask for values
  check(H5Awrite(attribute.get(), memory, values), where, what.c_str());
}

void write_texts(const Handle& object, const std::string& where, const std::string& name, const Handle& space,
                 std::span<const char* const> texts) {
  const std::string what = cannot_write(name);
  const Handle type = own(H5Tcopy(H5T_C_S1), H5Tclose, where, what.c_str());
  check(H5Tset_size(type.get(), H5T_VARIABLE), where, what.c_str());
  check(H5Tset_cset(type.get(), H5T_CSET_UTF8), where, what.c_str());
  write_attribute(object, where, name, type.get(), type.get(), space, static_cast<const void*>(texts.data()));
}

/// An attribute opened for reading.
struct Stored {
  LibraryLock lock;  // until all is read

  Stored(const Handle& object, const std::string& place, const std::string& name)
      : where(place), what(fmt::format("cannot read attribute \"{}\"", name)) {
    if (check(H5Aexists(object.get(), name.c_str()), where, what.c_str()) == 0) {
      throw Error(fmt::format("{}: has no attribute \"{}\"", where, name));
    }
    attribute = own(H5Aopen(object.get(), name.c_str(), H5P_DEFAULT), H5Aclose, where, what.c_str());
    type = own(H5Aget_type(attribute.get()), H5Tclose, where, what.c_str());
    space = own(H5Aget_space(attribute.get()), H5Sclose, where, what.c_str());
    kind = check(H5Tget_class(type.get()), where, what.c_str());
    // A null space has no values; h5py writes it for empty lists.
    count = static_cast<std::size_t>(check(H5Sget_simple_extent_npoints(space.get()), where, what.c_str()));
  }

  [[noreturn]] void wrong_kind(const char* expected) const {
    const char* found = kind == H5T_INTEGER  ? "whole numbers"
                        : kind == H5T_FLOAT  ? "floating-point numbers"
                        : kind == H5T_STRING ? "text"
                                             : "another type";
    throw Error(fmt::format("{}: {}: it holds {}, not {}", where, what, found, expected));
  }

  void read(hid_t memory, void* values) const {
    if (count > 0) check(H5Aread(attribute.get(), memory, values), where, what.c_str());
  }

  std::string where, what;
  Handle attribute, type, space;
  H5T_class_t kind{};
  std::size_t count = 0;
};

void read_values(const Stored& stored, std::vector<std::int64_t>& values) {
  if (stored.kind != H5T_INTEGER) stored.wrong_kind("whole numbers");
  values.resize(stored.count);
  stored.read(H5T_NATIVE_INT64, values.data());
}

void read_values(const Stored& stored, std::vector<double>& values) {
  if (stored.kind != H5T_INTEGER && stored.kind != H5T_FLOAT) stored.wrong_kind("numbers");
  values.resize(stored.count);
  stored.read(H5T_NATIVE_DOUBLE, values.data());
}

void read_values(const Stored& stored, std::vector<std::string>& values) {
  values.resize(stored.count);
  if (values.empty()) return;  // of any type: NumPy stores an empty list as a list of numbers
  if (stored.kind != H5T_STRING) stored.wrong_kind("text");
  values = read_texts(stored.type.get(), stored.count, stored.where, stored.what.c_str(),
                      [&](hid_t memory, void* texts) { stored.read(memory, texts); });
}

template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};

// Texts end at a zero byte, so the part after one would be lost.
void require_no_zero(std::string_view text, const std::string& where, const std::string& name) {
  if (text.find('\0') == std::string_view::npos) return;
  throw Error(
      fmt::format("{}: the attribute \"{}\" cannot be a text that contains a zero byte", where, name));
}

}  // namespace

std::string Object::where() const { return fmt::format("{}: {}", file_.string(), path_); }

bool Object::has_attribute(const std::string& name) const {
  const LibraryLock lock;
  return check(H5Aexists(handle_.get(), name.c_str()), where(), "cannot read attributes") > 0;
}

std::vector<std::string> Object::attribute_names() const {
  const LibraryLock lock;
  std::vector<std::string> names;
  const auto add = [](hid_t, const char* name, const H5A_info_t*, void* out) -> herr_t {
    try {  // an exception must not pass through HDF5
      static_cast<std::vector<std::string>*>(out)->emplace_back(name);
      return 0;
    } catch (...) {
      return -1;
    }
  };
  hsize_t position = 0;
  check(H5Aiterate2(handle_.get(), H5_INDEX_NAME, H5_ITER_INC, &position, add, &names), where(),
        "cannot read attributes");
  return names;
}

void Object::set_attribute(const std::string& name, std::string_view value) {
  const LibraryLock lock;
  require_no_zero(value, where(), name);
  const std::string terminated(value);
  const char* const text = terminated.c_str();
  write_texts(handle_, where(), name, single(), {&text, 1});
}

void Object::set_attribute(const std::string& name, double value) {
  const LibraryLock lock;
  write_attribute(handle_, where(), name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, single(), &value);
}

void Object::set_attribute(const std::string& name, std::int64_t value) {
  const LibraryLock lock;
  write_attribute(handle_, where(), name, H5T_STD_I64LE, H5T_NATIVE_INT64, single(), &value);
}

void Object::set_attribute(const std::string& name, std::span<const std::string> values) {
  const LibraryLock lock;
  std::vector<const char*> texts;
  for (const std::string& value : values) {
    require_no_zero(value, where(), name);
    texts.push_back(value.c_str());
  }
  write_texts(handle_, where(), name, one_axis(values.size()), texts);
}

void Object::set_attribute(const std::string& name, std::span<const double> values) {
  const LibraryLock lock;
  write_attribute(handle_, where(), name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, one_axis(values.size()),
                  values.data());
}

void Object::set_attribute(const std::string& name, std::span<const std::int64_t> values) {
  const LibraryLock lock;
  write_attribute(handle_, where(), name, H5T_STD_I64LE, H5T_NATIVE_INT64, one_axis(values.size()),
                  values.data());
}

template <class T>
T Object::attribute(const std::string& name) const {
  const Stored stored(handle_, where(), name);
  if constexpr (IsVector<T>::value) {
    T values;
    read_values(stored, values);
    return values;
  } else {
    std::vector<T> values;
    read_values(stored, values);
    if (values.size() != 1) {
      throw Error(
          fmt::format("{}: {}: it holds {} values instead of one", stored.where, stored.what, values.size()));
    }
    return values.front();
  }
}

std::string Object::attribute_text(const std::string& name) const {
  const Stored stored(handle_, where(), name);
  const auto read_as = [&](auto values) {
    read_values(stored, values);
    return fmt::format("{}", fmt::join(values, ", "));
  };
  if (stored.kind == H5T_STRING) return read_as(std::vector<std::string>());
  if (stored.kind == H5T_INTEGER) return read_as(std::vector<std::int64_t>());
  return read_as(std::vector<double>());
}

template std::string Object::attribute(const std::string&) const;
template double Object::attribute(const std::string&) const;
template std::int64_t Object::attribute(const std::string&) const;
template std::vector<std::string> Object::attribute(const std::string&) const;
template std::vector<double> Object::attribute(const std::string&) const;
template std::vector<std::int64_t> Object::attribute(const std::string&) const;

}  // namespace convoke::hdf5
