#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>

namespace convoke::os {

/// What the system says of an error number: "No space left on device".
std::string reason_of(int error_number);

/// How a file is opened, and what happens if it exists or does not.
enum class Access {
  kRead,
  kWrite,      ///< must exist; its bytes stay
  kReadWrite,  ///< likewise
  kCreate,     ///< read and write; made if it does not exist, else its bytes stay
  kTruncate,   ///< read and write; made, or emptied
  kAppend,     ///< write at its end; made if it does not exist
};

/// An open file, which it closes. Programs that are started do not inherit it. Errors are convoke::Error and
/// name the path. Reads and writes have a position of their own, so any number of threads may make them.
class File {
 public:
  File() = default;  ///< no file
  /// Throws Error if it cannot be opened. `mode`: of a file that is made, before the umask.
  File(std::filesystem::path path, Access access, unsigned mode = 0666);
  /// Takes over a descriptor of the system that is open; `path` is for messages.
  File(std::filesystem::path path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  /// A file in memory, without a name on any disk; `name` is for messages.
  static File in_memory(const std::string& name);
  /// A file in `folder` that has no name: nothing remains of it. Throws Error if it cannot be made.
  static File unnamed(const std::filesystem::path& folder);

  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  ~File();

  explicit operator bool() const { return descriptor_ >= 0; }
  /// Of the system; stays this object's.
  int descriptor() const { return descriptor_; }
  const std::filesystem::path& path() const { return path_; }

  std::uint64_t size() const;
  /// Reads exactly bytes.size() bytes at `offset`. Throws Error where reading fails or the file ends.
  void read_at(std::uint64_t offset, std::span<std::byte> bytes) const;
  /// Reads as many of these bytes as the file has, and returns their number.
  std::size_t read_some_at(std::uint64_t offset, std::span<std::byte> bytes) const;
  /// Asks the system to read these bytes ahead.
  void will_read(std::uint64_t offset, std::uint64_t bytes) const;
  /// Asks the system to keep no copy of these bytes in memory: what is read next comes from the disk.
  void forget(std::uint64_t offset, std::uint64_t bytes) const;
  /// The whole file as text.
  std::string text() const;

  /// Writes all bytes at `offset`. Throws Error, for example when the disk is full.
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  /// Cuts the file, or lets it end in zeros that take no room on the disk.
  void resize(std::uint64_t bytes);
  /// Takes room on the disk for so many bytes.
  void allocate(std::uint64_t bytes);
  /// Returns when all is on the disk. File systems that cannot sync are left alone.
  void sync() const;
  /// Closes it. Throws Error where a file system tells only now that it could not write.
  void close();

  /// Locks the file for this object (flock), until it is closed or the process ends. False if somebody else
  /// holds it. Throws Error where the file system has no locks.
  bool try_lock(bool shared = false);

 private:
  [[noreturn]] void fail(const char* what, int error_number) const;

  std::filesystem::path path_;
  int descriptor_ = -1;
};

/// Returns when the names in `folder` are on the disk; "" is the current folder. File systems that cannot
/// sync a folder are left alone.
void sync_folder(const std::filesystem::path& folder);

}  // namespace convoke::os
