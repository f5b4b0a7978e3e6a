#include "convoke/hdf5/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <fstream>
#include <system_error>

#include "convoke/core/error.hpp"
#include "types.hpp"

namespace convoke::hdf5 {

bool thread_safe() {
  hbool_t safe = false;
  return H5is_library_threadsafe(&safe) >= 0 && safe;
}

namespace {

std::string reason_of(int error) { return std::generic_category().message(error); }

Handle access_properties() {
  Handle plist(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fclose_degree(plist.get(), H5F_CLOSE_STRONG);
  // Format of HDF5 1.8: attributes may exceed 64 KiB, groups keep their order.
  H5Pset_libver_bounds(plist.get(), H5F_LIBVER_V18, H5F_LIBVER_LATEST);
#if H5_VERSION_GE(1, 12, 1) || (!H5_VERSION_GE(1, 11, 0) && H5_VERSION_GE(1, 10, 7))
  // Cluster file systems often have no locks, and nobody writes a file that others read: it is renamed when
  // complete.
  H5Pset_file_locking(plist.get(), false, true);
#endif
  return plist;
}

Handle root_of(const Handle& file, const std::filesystem::path& path) {
  return own(H5Gopen2(file.get(), "/", H5P_DEFAULT), H5Gclose, path.string(), "is damaged");
}

// HDF5's signature stands at byte 0, or at 512, 1024, 2048, ... behind a block of the user's.
bool has_signature(std::ifstream& in, std::uintmax_t bytes) {
  static constexpr std::array kSignature{'\x89', 'H', 'D', 'F', '\r', '\n', '\x1a', '\n'};
  for (std::uintmax_t offset = 0; offset + kSignature.size() <= bytes;
       offset = std::max<std::uintmax_t>(512, 2 * offset)) {
    std::array<char, kSignature.size()> found{};
    in.seekg(static_cast<std::streamoff>(offset));
    if (in.read(found.data(), found.size()) && found == kSignature) return true;
  }
  return false;
}

void refuse_what_is_not_hdf5(const std::filesystem::path& file) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (status.type() == std::filesystem::file_type::not_found) {
    throw Error(fmt::format("{}: no such file", file.string()));
  }
  if (std::filesystem::is_directory(status)) {
    throw Error(fmt::format("{}: is a folder, not an HDF5 file", file.string()));
  }
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  if (!in) throw Error(fmt::format("{}: cannot be opened: {}", file.string(), reason_of(errno)));
  const std::uintmax_t bytes = std::filesystem::file_size(file, error);
  if (error) throw Error(fmt::format("{}: cannot be read: {}", file.string(), error.message()));
  if (bytes == 0) throw Error(fmt::format("{}: is empty", file.string()));
  if (!has_signature(in, bytes)) {
    throw Error(fmt::format("{}: is not an HDF5 file", file.string()));
  }
}

}  // namespace

/// Where a new file grows (memory) and where it goes.
struct File::Output {
  struct Range {
    std::uint64_t begin, end;
  };

  Output(const std::filesystem::path& file, Existing existing) : path(file) {
    const int truncate = existing == Existing::kReplace ? O_TRUNC : 0;
    target = ::open(file.c_str(), O_WRONLY | O_CREAT | truncate | O_CLOEXEC, 0666);
    if (target < 0) {
      const int error = errno;
      throw Error(fmt::format("{}: cannot be created: {}", file.string(), reason_of(error)),
                  error == ENOENT ? "does the folder exist?" : "");
    }
    memory = ::memfd_create("convoke-hdf5", MFD_CLOEXEC);
    if (memory < 0) give_up(errno);
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() {
    if (memory >= 0) ::close(memory);
    if (target >= 0) discard();
  }

  void discard() {
    ::close(target);
    target = -1;
    ::unlink(path.c_str());
  }

  [[noreturn]] void give_up(int error) {
    discard();
    throw Error(fmt::format("{}: cannot be written: {}", path.string(), reason_of(error)),
                error == ENOSPC || error == EDQUOT || error == EFBIG
                    ? "make room on the disk, or write elsewhere"
                    : "");
  }

  // Bytes [begin, end) of the memory to the same place in the target.
  void copy(std::uint64_t begin, std::uint64_t end) {
    std::vector<char> buffer(std::min<std::uint64_t>(end - begin, 4U << 20));
    while (begin < end) {
      const ssize_t got = ::pread(memory, buffer.data(), std::min<std::uint64_t>(buffer.size(), end - begin),
                                  static_cast<off_t>(begin));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) give_up(got < 0 ? errno : EIO);
      for (ssize_t done = 0; done < got;) {
        const ssize_t put = ::pwrite(target, buffer.data() + done, static_cast<std::size_t>(got - done),
                                     static_cast<off_t>(begin) + done);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) give_up(put < 0 ? errno : ENOSPC);
        done += put;
      }
      begin += static_cast<std::uint64_t>(got);
    }
  }

  void write() {
    const off_t bytes = ::lseek(memory, 0, SEEK_END);
    if (bytes < 0) give_up(errno);
    std::sort(reserved.begin(), reserved.end(), [](Range a, Range b) { return a.begin < b.begin; });
    std::uint64_t begin = 0;
    for (const Range& range : reserved) {
      copy(begin, range.begin);
      begin = range.end;
    }
    copy(begin, std::max<std::uint64_t>(begin, static_cast<std::uint64_t>(bytes)));
    if (::ftruncate(target, bytes) != 0) give_up(errno);  // a reserved array may be last
    if (::fsync(target) != 0 && errno != EINVAL) give_up(errno);
    if (::close(std::exchange(target, -1)) != 0) {
      const int error = errno;
      ::unlink(path.c_str());
      throw Error(fmt::format("{}: cannot be written: {}", path.string(), reason_of(error)));
    }
  }

  std::filesystem::path path;
  int target = -1;
  int memory = -1;
  std::vector<Range> reserved;  // filled in the target by the caller: not copied
};

File::File(Handle file_handle, Handle root, const std::filesystem::path& file, std::unique_ptr<Output> output)
    : Group(std::move(root), file, "/"), file_handle_(std::move(file_handle)), output_(std::move(output)) {}

File::File(File&&) noexcept = default;
File& File::operator=(File&&) noexcept = default;
File::~File() = default;

File File::create(const std::filesystem::path& file, Existing existing) {
  be_quiet();
  auto output = std::make_unique<Output>(file, existing);
  const Handle access = access_properties();
  // The default driver looks up the real path behind a link, and a memfd has none.
  check(H5Pset_fapl_stdio(access.get()), file.string(), "cannot be created");
  const Handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  H5Pset_obj_track_times(creation.get(), false);
  H5Pset_link_creation_order(creation.get(), H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
  const std::string memory = fmt::format("/proc/self/fd/{}", output->memory);
  Handle handle = own(H5Fcreate(memory.c_str(), H5F_ACC_TRUNC, creation.get(), access.get()), H5Fclose,
                      file.string(), "cannot be created");
  Handle root = root_of(handle, file);
  return {std::move(handle), std::move(root), file, std::move(output)};
}

File File::open(const std::filesystem::path& file) {
  be_quiet();
  refuse_what_is_not_hdf5(file);
  const Handle access = access_properties();
  Handle handle(H5Fopen(file.c_str(), H5F_ACC_RDONLY, access.get()), H5Fclose);
  if (!handle) {
    const std::string reason = innermost_reason();
    // HDF5: "truncated file: eof = 1000, sblock->base_addr = 0, stored_eof = 2048".
    const bool truncated = reason.starts_with("truncated file");
    throw Error(
        fmt::format("{}: is {} (HDF5: {})", file.string(), truncated ? "truncated" : "damaged", reason),
        truncated ? "it was not written or copied to its end; make it again" : "");
  }
  Handle root = root_of(handle, file);
  return {std::move(handle), std::move(root), file, nullptr};
}

Dataset File::reserve(const std::string& name, ElementType type, const Shape& shape) {
  assert(output_ != nullptr);
  Dataset dataset = make_dataset(name, type, shape, 0, true);
  if (shape.elements() > 0) {
    const std::uint64_t offset = dataset.raw_offset().value();
    const std::uint64_t bytes = static_cast<std::uint64_t>(shape.elements()) * H5Tget_size(memory_type(type));
    output_->reserved.push_back({offset, offset + bytes});
  }
  return dataset;
}

void File::close() {
  be_quiet();
  if (output_ != nullptr)
    check(H5Fflush(file_handle_.get(), H5F_SCOPE_LOCAL), file_.string(), "cannot be written");
  handle_.reset();
  if (file_handle_.reset() < 0) fail(file_.string(), "cannot be closed");
  if (output_ != nullptr) {
    const std::unique_ptr<Output> output = std::move(output_);
    output->write();
  }
}

}  // namespace convoke::hdf5
