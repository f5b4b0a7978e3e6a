#include "new_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "convoke/os/file.hpp"

namespace convoke::hdf5 {

NewFile::NewFile(const std::filesystem::path& file, bool empty)
    : target_(file, empty ? os::Access::kTruncate : os::Access::kCreate),
      memory_(os::scratch_file("structure of " + file.filename().string().substr(0, 200))) {}

NewFile::~NewFile() {
  if (target_) discard();
}

void NewFile::discard() {
  std::error_code ignored;
  std::filesystem::remove(target_.path(), ignored);
  target_ = {};
}

std::string NewFile::structure() const { return fmt::format("/proc/self/fd/{}", memory_.descriptor()); }

void NewFile::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  try {
    while (!bytes.empty()) {
      const std::span<const std::byte> piece = bytes.first(std::min(bytes.size(), kPiece - unsent_));
      target_.write_at(offset, piece);
      offset += piece.size();
      bytes = bytes.subspan(piece.size());
      unsent_ = (unsent_ + piece.size()) % kPiece;
      if (unsent_ == 0) target_.write_back();
    }
  } catch (...) {
    discard();
    throw;
  }
}

// Copies bytes [begin, end) of the memory to the same place in the target.
void NewFile::copy(std::uint64_t begin, std::uint64_t end) {
  std::vector<std::byte> buffer;
  for (; begin < end; begin += buffer.size()) {
    buffer.resize(std::min<std::uint64_t>(end - begin, kPiece));
    memory_.read_at(begin, buffer);
    write(begin, buffer);
  }
}

void NewFile::finish() {
  const std::uint64_t bytes = memory_.size();
  std::sort(reserved_.begin(), reserved_.end(), [](Range a, Range b) { return a.begin < b.begin; });
  std::uint64_t begin = 0;
  for (const Range& range : reserved_) {
    copy(begin, range.begin);
    begin = range.end;
  }
  copy(begin, bytes);
  target_.resize(bytes);  // a reserved array may be the last part
  target_.sync();
  const std::filesystem::path path = target_.path();
  try {
    target_.close();
  } catch (...) {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
    throw;
  }
}

}  // namespace convoke::hdf5
