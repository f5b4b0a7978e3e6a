// Replaces fsync(2) in a program that preloads this: files of checkpoints need a second to reach the disk, as
// if it were busy.
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <string>
#include <string_view>

namespace {

std::string path_of(int descriptor) {
  std::array<char, 4096> path{};
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t length = ::readlink(link.c_str(), path.data(), path.size());
  return {path.data(), length > 0 ? static_cast<std::size_t>(length) : 0};
}

}  // namespace

extern "C" int fsync(int descriptor) {
  if (path_of(descriptor).find("/checkpoints/") != std::string::npos) ::sleep(1);
  return static_cast<int>(::syscall(SYS_fsync, descriptor));
}
