#include "convoke/os/mapped_file.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>

#include "convoke/core/error.hpp"

namespace convoke::os {

MappedFile::MappedFile(const File& file, std::size_t bytes) {
  void* const address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor(), 0);
  if (address == MAP_FAILED) {
    throw Error(fmt::format("{}: cannot be mapped into memory: {}", file.path().string(), reason_of(errno)));
  }
  bytes_ = {static_cast<std::byte*>(address), bytes};
}

MappedFile::~MappedFile() { ::munmap(bytes_.data(), bytes_.size()); }

}  // namespace convoke::os
