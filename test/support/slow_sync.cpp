// Replaces fsync(2) in a program that preloads this: files of checkpoints need two seconds, as on a busy
// disk.
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <string>
#include <string_view>

extern "C" int fsync(int descriptor) {
  std::array<char, 4096> path{};
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t length = ::readlink(link.c_str(), path.data(), path.size() - 1);
  if (length > 0 && std::string_view(path.data()).find("/checkpoints/") != std::string_view::npos) ::sleep(2);
  return static_cast<int>(::syscall(SYS_fsync, descriptor));
}
