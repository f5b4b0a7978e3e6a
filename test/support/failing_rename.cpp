// Replaces rename(2) in a program that links or preloads this. While a file "<target>.full" exists, the next
// rename to <target> fails as on a full disk, and the file is removed.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>

extern "C" int rename(const char* from, const char* to) noexcept {
  const std::string mark = std::string(to) + ".full";
  if (::unlink(mark.c_str()) != 0) return ::renameat(AT_FDCWD, from, AT_FDCWD, to);
  errno = ENOSPC;
  return -1;
}
