#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace convoke::os {

/// Returns the system's text for an error number: "No space left on device".
std::string reason_of(int error_number);

/// How a file is opened, and whether it is created.
enum class Access {
  kRead,
  kWrite,      ///< must exist; keeps its contents
  kReadWrite,  ///< must exist; keeps its contents
  kCreate,     ///< read and write; created if missing, else keeps its contents
  kNew,        ///< read and write; must not exist, not even as a link
  kTruncate,   ///< read and write; created, or emptied
  kAppend,     ///< write at the end; created if missing
};

/// An open file; the destructor closes it. Child processes do not inherit it. Errors are convoke::Error and
/// name the path. Reads and writes take an offset, so any number of threads may call them.
class File {
 public:
  File() = default;  ///< no file
  /// Throws Error if it cannot be opened. `mode`: of a created file, before the umask.
  File(std::filesystem::path path, Access access, unsigned mode = 0666);
  /// Takes ownership of an open descriptor; `path` is for messages.
  File(std::filesystem::path path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  /// Creates a file in memory, without a name on a disk; `name` is for messages.
  static File in_memory(const std::string& name);
  /// Creates a file in `folder` without a name, which disappears when it is closed. Throws Error if that
  /// fails.
  static File unnamed(const std::filesystem::path& folder);

  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  ~File();

  explicit operator bool() const { return descriptor_ >= 0; }
  /// The descriptor; this object keeps ownership.
  int descriptor() const { return descriptor_; }
  const std::filesystem::path& path() const { return path_; }

  std::uint64_t size() const;
  /// Reads exactly bytes.size() bytes at `offset`. Throws Error if reading fails or the file ends.
  void read_at(std::uint64_t offset, std::span<std::byte> bytes) const;
  /// Reads as many of these bytes as the file has, and returns their number.
  std::size_t read_some_at(std::uint64_t offset, std::span<std::byte> bytes) const;
  /// Asks the system to read these bytes ahead.
  void will_read(std::uint64_t offset, std::uint64_t bytes) const;
  /// Asks the system to remove these bytes from the page cache, so that the next read comes from the disk.
  void forget(std::uint64_t offset, std::uint64_t bytes) const;
  /// Returns the whole file as text.
  std::string text() const;

  /// Writes all bytes at `offset`. Throws Error, for example when the disk is full.
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  /// Begins to move to the disk what was written since the last call, and waits for what was written before
  /// it. A long file that calls this every few MiB needs only these of the page cache: pages on their way to
  /// the disk cannot be dropped, and a job at its memory limit would be ended for them. Does nothing on file
  /// systems that cannot do so.
  void write_back();
  /// Truncates the file, or extends it by zeros that take no space on the disk.
  void resize(std::uint64_t bytes);
  /// Reserves space on the disk for so many bytes.
  void allocate(std::uint64_t bytes);
  /// Returns when all data are on the disk. Does nothing on file systems that cannot sync.
  void sync() const;
  /// Closes the file. Throws Error if the file system reports a failed write only now.
  void close();

  /// Locks the file for this object (flock), until it is closed or the process ends. Returns false if another
  /// process holds the lock. Throws Error if the file system has no locks.
  bool try_lock(bool shared = false);

 private:
  [[noreturn]] void fail(const char* what, int error_number) const;

  std::filesystem::path path_;
  int descriptor_ = -1;
};

/// Creates a file without a name on a disk, which disappears when it is closed: in memory, or, where a
/// sandbox or an old kernel refuses that, in /dev/shm or the folder for temporary files. `name` is for
/// messages. Throws Error with the first reason if none of them works.
File scratch_file(const std::string& name);

/// Returns what a path is if it is neither a regular file nor a folder (links are followed): "a named pipe
/// (FIFO)", "a socket" or "a device". Empty for files, folders and paths that do not exist. File refuses to
/// read pipes, sockets and devices, without waiting for a writer.
std::string special_kind(const std::filesystem::path& path);

/// Returns a path by which this process can open `file` again, even if it has no name on a disk.
std::filesystem::path path_of(const File& file);

/// Returns when the names in `folder` are on the disk; "" is the current folder. Does nothing on file systems
/// that cannot sync a folder.
void sync_folder(const std::filesystem::path& folder);

/// The first bytes of a file as memory, which all processes that map the file share. The file may be closed
/// and removed.
class MappedFile {
 public:
  /// `file` must be open to read and write, and its disk must have space for so many bytes: otherwise a full
  /// disk would kill the process later. Throws Error.
  MappedFile(const File& file, std::size_t bytes);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<std::byte> bytes() const { return bytes_; }

 private:
  std::span<std::byte> bytes_;
};

/// A part of a file as read-only memory. The file may be closed, but its size must not decrease while the
/// part exists: reading beyond its end would kill the process.
class MappedPart {
 public:
  /// Throws Error naming the file if it ends before the part does.
  MappedPart(const File& file, std::uint64_t offset, std::uint64_t bytes);
  ~MappedPart();
  MappedPart(const MappedPart&) = delete;
  MappedPart& operator=(const MappedPart&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }
  /// Gives the memory of pages that were read back to the system, which reads them again when needed.
  void release() const;

 private:
  std::span<std::byte> pages_;
  std::span<const std::byte> bytes_;
};

/// A file that is read now and then, and closed if it was not read for longest when too many are open: half
/// of the files that the process may open (ulimit -n), at most 4,096. Thus a process reads any number of
/// files. Any number of threads may call open().
class RecentFile {
 public:
  explicit RecentFile(std::filesystem::path path) : path_(std::move(path)) {}
  ~RecentFile();
  RecentFile(const RecentFile&) = delete;
  RecentFile& operator=(const RecentFile&) = delete;

  /// Returns the open file, which stays open as long as the caller keeps it. Throws Error if it cannot be
  /// opened, or is another one than when it was opened first.
  std::shared_ptr<const File> open();

  /// Returns the number of files that are open, for tests.
  static std::size_t count_open();

 private:
  using Identity = std::pair<std::uint64_t, std::uint64_t>;  // number and size; device numbers may change
  static Identity identity_of(const File& file);

  const std::filesystem::path path_;
  // Guarded by a lock for all files.
  std::shared_ptr<const File> file_;
  std::list<RecentFile*>::iterator place_;  // if it is open
  std::optional<Identity> identity_;        // since it was open first
};

}  // namespace convoke::os
