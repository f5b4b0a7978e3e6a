#pragma once
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convoke/core/shape.hpp"
#include "convoke/hdf5/handle.hpp"

// HDF5 files: groups of named arrays and attributes. Every failure is a convoke::Error that names the file,
// the object in it and HDF5's innermost reason; nothing is printed. Threads may use files of their own;
// they take turns, since HDF5 may be built without thread safety. Files are reproducible: the same calls
// write the same bytes (no time stamps).

namespace convoke::hdf5 {

class NewFile;

/// What an array stores. kOther: none of ours (16-bit numbers, text, compounds, ...).
enum class ElementType { kUint8, kInt32, kInt64, kFloat32, kFloat64, kOther };

/// "uint8", "float32", ...
std::string_view name_of(ElementType type);

/// The C++ types arrays are written from and read into. Reading converts from any numeric type, except from
/// floating point to integers.
template <class T>
concept Element = std::same_as<T, std::uint8_t> || std::same_as<T, std::int32_t> ||
    std::same_as<T, std::int64_t> || std::same_as<T, float> || std::same_as<T, double>;

/// Something that carries attributes: a group or a dataset.
class Object {
 public:
  /// "model.h5: /conv1/kernel", for messages.
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
  /// value counts as a list of one). Text of fixed or variable length; whole numbers are read as double too.
  /// Throws Error if there is none of that name or it is of another kind.
  template <class T>
  T attribute(const std::string& name) const;

 protected:
  Object(Handle handle, std::filesystem::path file, std::string path, std::weak_ptr<NewFile> new_file)
      : handle_(std::move(handle)),
        file_(std::move(file)),
        path_(std::move(path)),
        new_file_(std::move(new_file)) {}

  Handle handle_;
  std::filesystem::path file_;
  std::string path_;
  std::weak_ptr<NewFile> new_file_;  // that this is a part of; nothing in a file that is read
};

/// An n-dimensional array in a file, row-major. Rows are slices along the first axis.
class Dataset : public Object {
 public:
  Shape shape() const;
  ElementType type() const;

  /// The whole array. The span must have exactly shape().elements() values.
  template <Element T>
  void read(std::span<T> values) const;
  template <Element T>
  void write(std::span<const T> values);

  /// Rows first, first + 1, ...: as many as the span holds (a multiple of a row's elements).
  template <Element T>
  void read_rows(std::int64_t first, std::span<T> values) const;
  template <Element T>
  void write_rows(std::int64_t first, std::span<const T> values);

  /// Where the array's bytes begin in the file, if they lie there in one piece exactly as memory holds
  /// `type()` (contiguous, uncompressed, native byte order, allocated): then element i is at offset + i *
  /// size. Else nothing.
  std::optional<std::uint64_t> raw_offset() const;

 private:
  friend class Group;
  using Object::Object;
  bool write_directly(ElementType type, std::int64_t first_row, std::span<const std::byte> values);
};

/// A group: named groups and datasets. Names may be paths ("a/b"); groups on the way are made when writing.
class Group : public Object {
 public:
  /// True if a group or dataset of that name exists.
  bool contains(const std::string& name) const;
  bool has_group(const std::string& name) const;
  bool has_dataset(const std::string& name) const;
  /// Names of the groups and datasets directly in this one, in order of creation (in files of others that do
  /// not keep it: by name).
  std::vector<std::string> children() const;

  /// Throws Error if there is none of that name, or it is no group.
  Group group(const std::string& name) const;
  /// Creates the group, or opens it if it exists.
  Group create_group(const std::string& name);

  /// Throws Error if there is none of that name, or it is no dataset.
  Dataset dataset(const std::string& name) const;
  /// Contiguous, or with deflate 1..9 compressed in chunks of one row. Throws Error if the name is taken.
  Dataset create_dataset(const std::string& name, ElementType type, const Shape& shape, int deflate = 0);

  /// Creates a dataset of T's type and writes it. `values` must have shape.elements() values.
  template <Element T>
  Dataset write(const std::string& name, std::span<const T> values, const Shape& shape);
  /// One axis.
  template <Element T>
  Dataset write(const std::string& name, const std::vector<T>& values) {
    return write(name, std::span<const T>(values), Shape{static_cast<std::int64_t>(values.size())});
  }
  /// The whole array `name`, converted to T.
  template <Element T>
  std::vector<T> read(const std::string& name) const;

 protected:
  using Object::Object;
  /// `reserved`: contiguous, its place in the file taken at once and left unwritten.
  Dataset make_dataset(const std::string& name, ElementType type, const Shape& shape, int deflate,
                       bool reserved);

 private:
  std::string absolute(const std::string& name) const;
};

/// A file, which is its root group. Closing it ends every group and dataset opened through it.
///
/// The structure of a new file (groups, attributes, small arrays) is composed in memory and written by
/// close(): HDF5 1.10 crashes the process when it closes a file on a full disk, whereas an Error is wanted.
/// Arrays of a page or more go to the disk at once, so that a file takes no memory of its size; they can be
/// read once the file is closed. The caller fills arrays that are reserved with reserve().
class File : public Group {
 public:
  /// What becomes of a file that is there already: overwritten, or composed around the bytes that reserved
  /// arrays have in it (the same calls as before reserve the same places).
  enum class Existing { kReplace, kKeepReserved };

  /// A new, empty file. Write under a temporary name and rename. Throws Error if the file cannot be made.
  static File create(const std::filesystem::path& file, Existing existing = Existing::kReplace);
  /// Read only. Throws Error, each with its own message: no such file, not HDF5, truncated, damaged.
  static File open(const std::filesystem::path& file);

  const std::filesystem::path& file() const { return file_; }

  /// A contiguous dataset whose bytes the caller puts into file() itself, at raw_offset(), at any time, also
  /// after close(). Until then they read as zero.
  Dataset reserve(const std::string& name, ElementType type, const Shape& shape);

  /// Writes the rest, waits until it is on the disk (fsync), and closes. Throws Error, e.g. when the disk
  /// is full, and removes the file then. A new file that is destroyed without close() is removed too.
  void close();

  File(File&&) noexcept;
  File& operator=(File&&) noexcept;
  ~File();

 private:
  File(Handle file_handle, Handle root, const std::filesystem::path& file, std::shared_ptr<NewFile> output);

  Handle file_handle_;
  std::shared_ptr<NewFile> output_;  // nothing in a file that is read
};

}  // namespace convoke::hdf5
