#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convoke/core/shape.hpp"

// HDF5 files: groups of named arrays and attributes. Every failure is a convoke::Error that names the file,
// the object in it and HDF5's innermost reason; HDF5 prints no messages. Each thread may use different files;
// threads take turns, because HDF5 may be built without thread safety. Files are reproducible: the same calls
// write the same bytes (no time stamps).

namespace convoke::os {
class File;
class MappedPart;
}  // namespace convoke::os

namespace convoke::hdf5 {

class NewFile;

/// Owns an HDF5 identifier (a hid_t) and the function that closes it. Move only; ignores errors of closing.
class Handle {
 public:
  using Id = std::int64_t;
  using Close = int (*)(Id);

  Handle() = default;
  Handle(Id id, Close close) : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Handle() { reset(); }

  Id get() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }
  /// Closes now; returns the result of the closing function (negative: failure), or 0 if there was no
  /// identifier.
  int reset();

 private:
  Id id_ = -1;
  Close close_ = nullptr;
};

/// The type of an array's elements. kOther: an unsupported type (16-bit numbers, text, compounds, ...).
enum class ElementType { kUint8, kInt32, kInt64, kFloat32, kFloat64, kOther };

/// Returns "uint8", "float32", ...
std::string_view name_of(ElementType type);

/// The C++ types for writing and reading arrays. Reading converts from any numeric type, except from floating
/// point to integers. Opaque values of two bytes, as which h5py stores bfloat16, are read as float.
template <class T>
concept Element = std::same_as<T, std::uint8_t> || std::same_as<T, std::int32_t> ||
    std::same_as<T, std::int64_t> || std::same_as<T, float> || std::same_as<T, double>;

template <Element T>
constexpr ElementType element_type() {
  if constexpr (std::same_as<T, std::uint8_t>) return ElementType::kUint8;
  if constexpr (std::same_as<T, std::int32_t>) return ElementType::kInt32;
  if constexpr (std::same_as<T, std::int64_t>) return ElementType::kInt64;
  if constexpr (std::same_as<T, float>) return ElementType::kFloat32;
  if constexpr (std::same_as<T, double>) return ElementType::kFloat64;
}

/// An object with attributes: a group or a dataset.
class Object {
 public:
  /// Returns "model.h5: /conv1/kernel", for messages.
  std::string where() const;
  /// Absolute path within the file, "/conv1/kernel".
  const std::string& path() const { return path_; }

  bool has_attribute(const std::string& name) const;
  std::vector<std::string> attribute_names() const;

  /// Writes an attribute, replacing one of that name. Text is UTF-8 of variable length.
  void set_attribute(const std::string& name, std::string_view value);
  void set_attribute(const std::string& name, double value);
  void set_attribute(const std::string& name, std::int64_t value);
  void set_attribute(const std::string& name, int value) { set_attribute(name, std::int64_t{value}); }
  void set_attribute(const std::string& name, std::span<const std::string> values);
  void set_attribute(const std::string& name, std::span<const double> values);
  void set_attribute(const std::string& name, std::span<const std::int64_t> values);

  /// Reads an attribute as T: std::string, double, std::int64_t or a std::vector of one of them (a single
  /// value counts as a list of one). Text has fixed or variable length; whole numbers can be read as double.
  /// Throws Error if there is no attribute of that name, or it has another type.
  template <class T>
  T attribute(const std::string& name) const;
  /// Returns an attribute of any of these types as text, for messages: lists separated by commas, numbers
  /// with all their digits.
  std::string attribute_text(const std::string& name) const;

 protected:
  Object(Handle handle, std::filesystem::path file, std::string path, std::weak_ptr<NewFile> new_file)
      : handle_(std::move(handle)),
        file_(std::move(file)),
        path_(std::move(path)),
        new_file_(std::move(new_file)) {}

  Handle handle_;
  std::filesystem::path file_;
  std::string path_;
  std::weak_ptr<NewFile> new_file_;  // the new file that this belongs to; empty for a file that is read
};

/// An n-dimensional array in a file, row-major. Rows are slices along the first axis.
class Dataset : public Object {
 public:
  Shape shape() const;
  ElementType type() const;

  /// Reads the whole array. The span must have exactly shape().elements() values.
  template <Element T>
  void read(std::span<T> values) const {
    read_all(element_type<T>(), std::as_writable_bytes(values));
  }
  template <Element T>
  void write(std::span<const T> values) {
    write_all(element_type<T>(), std::as_bytes(values));
  }

  /// Reads the rows first, first + 1, ...: as many as the span holds (a multiple of a row's elements).
  /// `type`: of the values in memory.
  void read_rows(std::int64_t first, ElementType type, std::span<std::byte> values) const;
  void write_rows(std::int64_t first, ElementType type, std::span<const std::byte> values);
  template <Element T>
  void read_rows(std::int64_t first, std::span<T> values) const {
    read_rows(first, element_type<T>(), std::as_writable_bytes(values));
  }
  template <Element T>
  void write_rows(std::int64_t first, std::span<const T> values) {
    write_rows(first, element_type<T>(), std::as_bytes(values));
  }

  /// Returns the offset of the array's bytes in the file if they lie in one piece exactly as `type()` in
  /// memory (contiguous, uncompressed, native byte order, allocated): then element i is at offset + i * size.
  /// Else none.
  std::optional<std::uint64_t> raw_offset() const;

  /// Returns the bytes that the array takes in the file, which are fewer than its elements' if it is
  /// compressed or partly unwritten. Throws Error if other files hold its values.
  std::uint64_t stored_bytes() const;

  /// Throws Error if the array has more elements than deflate can make of the bytes in the file: reading all
  /// would need memory for nothing.
  void expect_stored() const;

 private:
  friend class Group;
  friend class File;
  using Object::Object;
  void read_all(ElementType type, std::span<std::byte> values) const;
  void write_all(ElementType type, std::span<const std::byte> values);
  std::uint64_t place_in_file() const;  ///< raw_offset(), which must exist
  bool write_directly(ElementType type, std::int64_t first_row, std::span<const std::byte> values);
};

/// A group: named groups and datasets. Names may be paths ("a/b"); writing creates the groups on the path.
class Group : public Object {
 public:
  /// True if a group or dataset of that name exists.
  bool contains(const std::string& name) const;
  bool has_group(const std::string& name) const;
  bool has_dataset(const std::string& name) const;
  /// Names of the groups and datasets directly in this one, in order of creation (by name in files of other
  /// programs that do not store this order).
  std::vector<std::string> children() const;

  /// Throws Error if there is no object of that name, or it is not a group.
  Group group(const std::string& name) const;
  /// Creates the group, or opens it if it exists.
  Group create_group(const std::string& name);

  /// Throws Error if there is no object of that name, or it is not a dataset.
  Dataset dataset(const std::string& name) const;
  /// Creates a contiguous dataset or, with deflate 1..9, one compressed in chunks of one row. Throws Error if
  /// the name is taken.
  Dataset create_dataset(const std::string& name, ElementType type, const Shape& shape, int deflate = 0);

  /// Creates a dataset of T's type and writes it. `values` must have shape.elements() values.
  template <Element T>
  Dataset write(const std::string& name, std::span<const T> values, const Shape& shape) {
    Dataset dataset = create_dataset(name, element_type<T>(), shape);
    dataset.write(values);
    return dataset;
  }
  /// Creates a dataset with one axis.
  template <Element T>
  Dataset write(const std::string& name, const std::vector<T>& values) {
    return write(name, std::span<const T>(values), Shape{static_cast<std::int64_t>(values.size())});
  }
  /// Reads the whole array `name`, converted to T.
  template <Element T>
  std::vector<T> read(const std::string& name) const {
    const Dataset stored = dataset(name);
    std::vector<T> values(static_cast<std::size_t>(stored.shape().elements()));
    stored.read(std::span<T>(values));
    return values;
  }

 protected:
  using Object::Object;
  /// `reserved`: contiguous, with space in the file at once, which stays unwritten.
  Dataset make_dataset(const std::string& name, ElementType type, const Shape& shape, int deflate,
                       bool reserved);

 private:
  std::string absolute(const std::string& name) const;
  std::string place(const std::string& name) const;  ///< "<file>: <path>", for messages
};

/// A file, which is its root group. Closing it invalidates every group and dataset opened through it.
///
/// The structure of a new file (groups, attributes, small arrays) is composed in memory and written by
/// close(), because HDF5 1.10 crashes the process when it closes a file on a full disk, instead of reporting
/// an error. Arrays of a page or more are written to the disk at once, so that a file does not need memory of
/// its size; they can be read after the file is closed. The caller fills arrays reserved with reserve().
class File : public Group {
 public:
  /// How create() treats an existing file: it is overwritten, or the structure is composed around the bytes
  /// of reserved arrays in it (the same calls as before reserve the same places).
  enum class Existing { kReplace, kKeepReserved };

  /// Creates a new, empty file. Write under a temporary name and rename. Throws Error if the file cannot be
  /// created.
  static File create(const std::filesystem::path& file, Existing existing = Existing::kReplace);
  /// Opens a file read only. Throws Error, each with a separate message: no such file, not HDF5, truncated,
  /// damaged.
  static File open(const std::filesystem::path& file);
  /// Opens a file whose bytes are in memory, read only; they must outlive it. `name` is for messages. Throws
  /// Error as open().
  static File open_image(std::span<const std::byte> bytes, const std::filesystem::path& name);
  /// Opens a file that is a part of another one, read only: an entry of a zip file. Only what is read of it
  /// needs memory.
  static File open_part(const os::File& file, std::uint64_t offset, std::uint64_t bytes,
                        const std::filesystem::path& name);
  /// Gives back the memory of what was read of a part. It is read again when it is needed.
  void release_memory() const;

  const std::filesystem::path& file() const { return file_; }

  /// Reserves a contiguous dataset. The caller writes its bytes to file() at raw_offset(), at any time, also
  /// after close(). Until then they read as zero.
  Dataset reserve(const std::string& name, ElementType type, const Shape& shape);

  /// Writes the rest, waits until it is on the disk (fsync), and closes. On failure, e.g. a full disk, throws
  /// Error and removes the file. A new file that is destroyed without close() is also removed.
  void close();

  File(File&&) noexcept;
  File& operator=(File&&) noexcept;
  ~File();

 private:
  File(Handle file_handle, Handle root, const std::filesystem::path& file, std::shared_ptr<NewFile> output);
  static File open_read_only(const Handle& access, const std::filesystem::path& file);

  std::shared_ptr<const os::MappedPart> part_;  // empty for a whole file; outlives the handle
  Handle file_handle_;
  std::shared_ptr<NewFile> output_;  // empty for a file that is read
};

}  // namespace convoke::hdf5
