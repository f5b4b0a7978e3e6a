#include "mpi/banners.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace convoke::mpi {
namespace {

using ShowHelp = int (*)(const char*, const char*, bool, ...);

constexpr std::array<std::string_view, 2> kTried{"Open MPI v4.1.", "Open MPI v5.0."};

int print_nothing(const char*, const char*, bool, ...) { return 0; }

// In later versions it may be a function, whose first bytes must not be overwritten.
bool is_pointer(void* symbol) {
  Dl_info place{};
  void* found = nullptr;
  if (dladdr1(symbol, &place, &found, RTLD_DL_SYMENT) == 0 || found == nullptr) return false;
  const auto* const entry = static_cast<const ElfW(Sym)*>(found);
  return ELF64_ST_TYPE(entry->st_info) == STT_OBJECT && entry->st_size == sizeof(ShowHelp);
}

}  // namespace

bool silence_banners(const std::string& library_version) {
  const bool tried = std::any_of(kTried.begin(), kTried.end(),
                                 [&](std::string_view begin) { return library_version.starts_with(begin); });
  void* const symbol = tried ? dlsym(RTLD_DEFAULT, "opal_show_help") : nullptr;
  if (symbol == nullptr || !is_pointer(symbol)) return false;
  *static_cast<ShowHelp*>(symbol) = print_nothing;
  return true;
}

}  // namespace convoke::mpi
