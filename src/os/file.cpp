#include "convoke/os/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>

#include "convoke/core/error.hpp"

namespace convoke::os {
namespace {

// By Access.
constexpr std::array kFlags{
    O_RDONLY | O_NONBLOCK,          // kRead: opening a pipe would wait for a writer
    O_WRONLY,                       // kWrite
    O_RDWR,                         // kReadWrite
    O_RDWR | O_CREAT,               // kCreate
    O_RDWR | O_CREAT | O_EXCL,      // kNew
    O_RDWR | O_CREAT | O_TRUNC,     // kTruncate
    O_WRONLY | O_CREAT | O_APPEND,  // kAppend
};

// Returns advice for the user.
std::string hint_for(int error_number) {
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return "free space on the disk, or write to another disk";
    case EMFILE:
      return "raise the number of files that a process may open: ulimit -n";
    default:
      return {};
  }
}

std::string kind_of(const struct stat& facts) {
  if (S_ISREG(facts.st_mode) || S_ISDIR(facts.st_mode)) return {};
  return S_ISFIFO(facts.st_mode) ? "a named pipe (FIFO)" : S_ISSOCK(facts.st_mode) ? "a socket" : "a device";
}

[[noreturn]] void throw_special(const std::filesystem::path& path, const std::string& kind) {
  throw Error(fmt::format("{}: is {}, not a file", path.string(), kind),
              "remove it, or name a file that holds the data");
}

}  // namespace

std::string special_kind(const std::filesystem::path& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 ? kind_of(facts) : "";
}

std::string reason_of(int error_number) { return std::generic_category().message(error_number); }

File::File(std::filesystem::path path, Access access, unsigned mode) : path_(std::move(path)) {
  int flags = kFlags[static_cast<std::size_t>(access)];
  do {
    descriptor_ = ::open(path_.c_str(), flags | O_CLOEXEC, mode);
    if (descriptor_ < 0 && errno == EWOULDBLOCK) flags &= ~O_NONBLOCK;  // a regular file with a lease
  } while (descriptor_ < 0 && (errno == EINTR || errno == EWOULDBLOCK));
  struct stat facts {};
  if (descriptor_ >= 0 && (access != Access::kRead || ::fstat(descriptor_, &facts) != 0)) return;
  if (descriptor_ >= 0) {
    if (kind_of(facts).empty()) return;
    ::close(std::exchange(descriptor_, -1));
    throw_special(path_, kind_of(facts));
  }
  const int error = errno;
  if (error == ENXIO) throw_special(path_, special_kind(path_));  // a socket cannot be opened
  const bool creates = (flags & O_CREAT) != 0;
  throw Error(
      fmt::format("{}: cannot be {}: {}", path_.string(), creates ? "created" : "opened", reason_of(error)),
      creates && error == ENOENT ? "does the folder exist?" : hint_for(error));
}

File File::in_memory(const std::string& name) {
  File file(name, ::memfd_create(name.c_str(), MFD_CLOEXEC));
  if (!file) file.fail("created", errno);
  return file;
}

// O_TMPFILE would not work on network file systems.
File File::unnamed(const std::filesystem::path& folder) {
  std::string name = (folder / ".convoke-XXXXXX").string();
  File file(folder, ::mkostemp(name.data(), O_CLOEXEC));
  if (!file)
    throw Error(fmt::format("{}: cannot create a file in it: {}", folder.string(), reason_of(errno)));
  ::unlink(name.c_str());
  return file;
}

File::File(File&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

File& File::operator=(File&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

File::~File() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void File::fail(const char* what, int error_number) const {
  throw Error(fmt::format("{}: cannot be {}: {}", path_.string(), what, reason_of(error_number)),
              hint_for(error_number));
}

std::uint64_t File::size() const {
  struct stat facts {};
  if (::fstat(descriptor_, &facts) != 0) fail("read", errno);
  return static_cast<std::uint64_t>(facts.st_size);
}

std::size_t File::read_some_at(std::uint64_t offset, std::span<std::byte> bytes) const {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got =
        ::pread(descriptor_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("read", errno);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

void File::read_at(std::uint64_t offset, std::span<std::byte> bytes) const {
  const std::size_t got = read_some_at(offset, bytes);
  if (got == bytes.size()) return;
  throw Error(fmt::format("{}: is truncated: it ends at byte {}, {} bytes early", path_.string(),
                          offset + got, bytes.size() - got));
}

void File::will_read(std::uint64_t offset, std::uint64_t bytes) const {
  ::posix_fadvise(descriptor_, static_cast<off_t>(offset), static_cast<off_t>(bytes), POSIX_FADV_WILLNEED);
}

void File::forget(std::uint64_t offset, std::uint64_t bytes) const {
  ::posix_fadvise(descriptor_, static_cast<off_t>(offset), static_cast<off_t>(bytes), POSIX_FADV_DONTNEED);
}

std::string File::text() const {
  std::string text(size(), '\0');
  text.resize(read_some_at(0, std::as_writable_bytes(std::span(text))));
  return text;
}

void File::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) fail("written", put < 0 ? errno : ENOSPC);
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    offset += static_cast<std::uint64_t>(put);
  }
}

void File::resize(std::uint64_t bytes) {
  if (::ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) fail("written", errno);
}

void File::allocate(std::uint64_t bytes) {
  int error = EINTR;  // a signal ends the call, also with SA_RESTART
  while (error == EINTR) error = ::posix_fallocate(descriptor_, 0, static_cast<off_t>(bytes));
  if (error != 0) fail("written", error);
}

void File::write_back() {
  if (::sync_file_range(descriptor_, 0, 0, SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE) == 0) return;
  if (errno == EIO || errno == ENOSPC || errno == EDQUOT) fail("written", errno);  // fsync does not repeat it
}

void File::sync() const {
  if (::fsync(descriptor_) != 0 && errno != EINVAL) fail("written", errno);
}

void File::close() {
  if (::close(std::exchange(descriptor_, -1)) != 0) fail("written", errno);
}

bool File::try_lock(bool shared) {
  if (::flock(descriptor_, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0) return true;
  if (errno != EWOULDBLOCK) fail("locked", errno);
  return false;
}

std::filesystem::path path_of(const File& file) {
  return "/proc/self/fd/" + std::to_string(file.descriptor());
}

void sync_folder(const std::filesystem::path& folder) {
  File(folder.empty() ? "." : folder, Access::kRead).sync();
}

namespace {

std::optional<File> unnamed_in(const std::filesystem::path& folder) try {
  return File::unnamed(folder);
} catch (const Error&) {
  return std::nullopt;
}

}  // namespace

File scratch_file(const std::string& name) try { return File::in_memory(name); } catch (const Error&) {
  std::error_code unknown;
  for (const auto& folder :
       {std::filesystem::path("/dev/shm"), std::filesystem::temp_directory_path(unknown)}) {
    if (std::optional<File> file = unnamed_in(folder)) return std::move(*file);
  }
  throw;
}

MappedFile::MappedFile(const File& file, std::size_t bytes) {
  void* const address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor(), 0);
  if (address == MAP_FAILED) {
    throw Error(fmt::format("{}: cannot be mapped into memory: {}", file.path().string(), reason_of(errno)));
  }
  bytes_ = {static_cast<std::byte*>(address), bytes};
}

MappedFile::~MappedFile() { ::munmap(bytes_.data(), bytes_.size()); }

MappedPart::MappedPart(const File& file, std::uint64_t offset, std::uint64_t bytes) {
  const std::uint64_t size = file.size();
  if (bytes == 0 || offset > size || bytes > size - offset) {
    throw Error(fmt::format("{}: ends before a part that is read", file.path().string()));
  }
  const std::uint64_t before = offset % static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  void* const address = ::mmap(nullptr, bytes + before, PROT_READ, MAP_PRIVATE, file.descriptor(),
                               static_cast<off_t>(offset - before));
  if (address == MAP_FAILED) {
    throw Error(fmt::format("{}: cannot be mapped into memory: {}", file.path().string(), reason_of(errno)));
  }
  pages_ = {static_cast<std::byte*>(address), bytes + before};
  bytes_ = pages_.subspan(before);
}

MappedPart::~MappedPart() { ::munmap(pages_.data(), pages_.size()); }

void MappedPart::release() const { ::madvise(pages_.data(), pages_.size(), MADV_DONTNEED); }

namespace {

std::size_t most_open() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return static_cast<std::size_t>(std::clamp<rlim_t>(limit.rlim_cur / 2, 1, 4096));
}

// All files that are open; the file that was used last comes first.
struct OpenFiles {
  std::mutex mutex;
  std::list<RecentFile*> recent;
  const std::size_t most = most_open();
};

// Never destroyed: files of static objects may be closed last.
OpenFiles& open_files() {
  static OpenFiles& files = *new OpenFiles;
  return files;
}

}  // namespace

RecentFile::~RecentFile() {
  OpenFiles& all = open_files();
  const std::lock_guard lock(all.mutex);
  if (file_) all.recent.erase(place_);
}

// A slow file system must not stop threads that read other files, so the lock is not held during the call.
std::shared_ptr<const File> RecentFile::open() {
  OpenFiles& all = open_files();
  {
    const std::lock_guard lock(all.mutex);
    if (file_) {
      all.recent.splice(all.recent.begin(), all.recent, place_);
      return file_;
    }
  }
  auto opened = std::make_shared<const File>(path_, Access::kRead);
  const Identity identity = identity_of(*opened);
  std::shared_ptr<const File> closed;  // without the lock
  const std::lock_guard lock(all.mutex);
  if (identity_.value_or(identity) != identity) {
    throw Error(path_.string() + ": was replaced by another file while it is in use",
                "start again, and leave the files of a running job alone");
  }
  identity_ = identity;
  if (file_) return file_;  // another thread was faster
  file_ = std::move(opened);
  place_ = all.recent.insert(all.recent.begin(), this);
  if (all.recent.size() > all.most) {
    closed = std::exchange(all.recent.back()->file_, nullptr);
    all.recent.pop_back();
  }
  return file_;
}

std::size_t RecentFile::count_open() {
  OpenFiles& all = open_files();
  const std::lock_guard lock(all.mutex);
  return all.recent.size();
}

RecentFile::Identity RecentFile::identity_of(const File& file) {
  struct stat facts {};
  if (::fstat(file.descriptor(), &facts) != 0) {
    throw Error(file.path().string() + ": cannot be read: " + reason_of(errno));
  }
  return {static_cast<std::uint64_t>(facts.st_ino), static_cast<std::uint64_t>(facts.st_size)};
}

}  // namespace convoke::os
