#include "convoke/hdf5/file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <span>
#include <system_error>

#include "convoke/core/error.hpp"
#include "convoke/os/file.hpp"
#include "library.hpp"
#include "new_file.hpp"

namespace convoke::hdf5 {

namespace {

constexpr const char* kNoProperties = "its properties cannot be set";

Handle access_properties(const std::string& where) {
  Handle plist = own(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, where, kNoProperties);
  check(H5Pset_fclose_degree(plist.get(), H5F_CLOSE_STRONG), where, kNoProperties);
  // The format of HDF5 1.8, in which attributes may exceed 64 KiB and groups keep their order.
  check(H5Pset_libver_bounds(plist.get(), H5F_LIBVER_V18, H5F_LIBVER_LATEST), where, kNoProperties);
#if H5_VERSION_GE(1, 12, 1) || (!H5_VERSION_GE(1, 11, 0) && H5_VERSION_GE(1, 10, 7))
  // Cluster file systems often have no locks. No process writes a file that others read, because it is
  // renamed when it is complete.
  check(H5Pset_file_locking(plist.get(), false, true), where, kNoProperties);
#endif
  return plist;
}

Handle root_of(const Handle& file, const std::filesystem::path& path) {
  return own(H5Gopen2(file.get(), "/", H5P_DEFAULT), H5Gclose, path.string(), "is damaged");
}

// HDF5's signature is at byte 0, or at 512, 1024, 2048, ... after a user block.
bool has_signature(const os::File& file, std::uint64_t bytes) {
  static constexpr std::array kSignature{'\x89', 'H', 'D', 'F', '\r', '\n', '\x1a', '\n'};
  for (std::uint64_t offset = 0; offset + kSignature.size() <= bytes;
       offset = std::max<std::uint64_t>(512, 2 * offset)) {
    std::array<char, kSignature.size()> found{};
    file.read_at(offset, std::as_writable_bytes(std::span(found)));
    if (found == kSignature) return true;
  }
  return false;
}

void require_hdf5(const std::filesystem::path& file) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (status.type() == std::filesystem::file_type::not_found) {
    throw Error(fmt::format("{}: no such file", file.string()));
  }
  if (std::filesystem::is_directory(status)) {
    throw Error(fmt::format("{}: is a folder, not an HDF5 file", file.string()));
  }
  const os::File in(file, os::Access::kRead);
  const std::uint64_t bytes = in.size();
  if (bytes == 0) throw Error(fmt::format("{}: is empty", file.string()));
  if (!has_signature(in, bytes)) {
    throw Error(
        fmt::format("{}: is not an HDF5 file", file.string()),
        "`convoke prepare` writes one from samples, `convoke import` from a model of another program");
  }
}

// By default HDF5 copies an image into the property list and again into each file that is opened. These
// functions give it the same memory each time. `udata` is the address of the image.

void* lend(std::size_t, H5FD_file_image_op_t, void* udata) { return udata; }

void* copy(void* to, const void* from, std::size_t bytes, H5FD_file_image_op_t, void*) {
  return to == from ? to : std::memcpy(to, from, bytes);
}

// HDF5 reallocates only files that grow.
void* refuse_growth(void*, std::size_t, H5FD_file_image_op_t, void*) { return nullptr; }

herr_t keep(void*, H5FD_file_image_op_t, void*) { return 0; }
void* same_udata(void* udata) { return udata; }
herr_t keep_udata(void*) { return 0; }

// Makes the files that are opened with `access` read `image`, the bytes of an HDF5 file, in place.
void lend_image(const Handle& access, std::span<const std::byte> image, const std::string& where) {
  constexpr const char* kCannot = "cannot be read from memory";
  constexpr std::size_t kGrowth = 1U << 16;  // of a file that is written
  // HDF5's types have no const, but it does not change the bytes of a file that is read.
  auto* const bytes = const_cast<std::byte*>(image.data());
  H5FD_file_image_callbacks_t callbacks{lend, copy, refuse_growth, keep, same_udata, keep_udata, bytes};
  check(H5Pset_fapl_core(access.get(), kGrowth, false), where, kCannot);
  check(H5Pset_file_image_callbacks(access.get(), &callbacks), where, kCannot);
  check(H5Pset_file_image(access.get(), bytes, image.size()), where, kCannot);
}

}  // namespace

File::File(Handle file_handle, Handle root, const std::filesystem::path& file,
           std::shared_ptr<NewFile> output)
    : Group(std::move(root), file, "/", output),
      file_handle_(std::move(file_handle)),
      output_(std::move(output)) {}

File::File(File&&) noexcept = default;
File& File::operator=(File&&) noexcept = default;
File::~File() = default;

File File::create(const std::filesystem::path& file, Existing existing) {
  const LibraryLock lock;
  auto output = std::make_shared<NewFile>(file, existing == Existing::kReplace);
  const Handle access = access_properties(file.string());
  // write_directly writes one number of an array so that the array gets its place; without a sieve buffer,
  // HDF5 writes only this number.
  check(H5Pset_sieve_buf_size(access.get(), 0), file.string(), kNoProperties);
  // The default driver resolves the real path of a link, and a memfd has none.
  check(H5Pset_fapl_stdio(access.get()), file.string(), "cannot be created");
  const Handle creation = creation_properties(H5P_FILE_CREATE, file.string());
  const std::string structure = output->structure();
  Handle handle = own(H5Fcreate(structure.c_str(), H5F_ACC_TRUNC, creation.get(), access.get()), H5Fclose,
                      file.string(), "cannot be created");
  Handle root = root_of(handle, file);
  return {std::move(handle), std::move(root), file, std::move(output)};
}

File File::open_read_only(const Handle& access, const std::filesystem::path& file) {
  Handle handle(H5Fopen(file.c_str(), H5F_ACC_RDONLY, access.get()), H5Fclose);
  if (!handle) {
    const std::string reason = innermost_reason();
    // HDF5: "truncated file: eof = 1000, sblock->base_addr = 0, stored_eof = 2048".
    const bool truncated = reason.starts_with("truncated file");
    throw Error(
        fmt::format("{}: is {} (HDF5: {})", file.string(), truncated ? "truncated" : "damaged", reason),
        truncated ? "it was not written or copied completely; create or copy it again" : "");
  }
  Handle root = root_of(handle, file);
  return {std::move(handle), std::move(root), file, nullptr};
}

File File::open(const std::filesystem::path& file) {
  const LibraryLock lock;
  require_hdf5(file);
  return open_read_only(access_properties(file.string()), file);
}

File File::open_image(std::span<const std::byte> bytes, const std::filesystem::path& name) {
  const LibraryLock lock;
  if (bytes.empty()) throw Error(fmt::format("{}: is empty", name.string()));
  const Handle access = access_properties(name.string());
  lend_image(access, bytes, name.string());
  return open_read_only(access, name);
}

File File::open_part(const os::File& file, std::uint64_t offset, std::uint64_t bytes,
                     const std::filesystem::path& name) {
  if (bytes == 0) throw Error(fmt::format("{}: is empty", name.string()));
  auto part = std::make_shared<const os::MappedPart>(file, offset, bytes);
  File opened = open_image(part->bytes(), name);
  opened.part_ = std::move(part);
  return opened;
}

void File::release_memory() const {
  if (part_ != nullptr) part_->release();
}

Dataset File::reserve(const std::string& name, ElementType type, const Shape& shape) {
  assert(output_ != nullptr);
  Dataset dataset = make_dataset(name, type, shape, 0, true);
  if (shape.elements() > 0) {
    const std::uint64_t offset = dataset.place_in_file();
    output_->reserve(offset, offset + static_cast<std::uint64_t>(shape.elements()) * size_of(type));
  }
  return dataset;
}

void File::close() {
  const LibraryLock lock;
  if (output_ != nullptr)
    check(H5Fflush(file_handle_.get(), H5F_SCOPE_LOCAL), file_.string(), "cannot be written");
  handle_.reset();
  if (file_handle_.reset() < 0) fail(file_.string(), "cannot be closed");
  if (const std::shared_ptr<NewFile> output = std::move(output_)) output->finish();
}

}  // namespace convoke::hdf5
