#include "convoke/os/stack_probe.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <thread>

namespace convoke::os {
namespace {

using namespace std::chrono_literals;

constexpr int kSignal = SIGURG;
constexpr int kOwnFrames = 2;  // the handler, and the return from it

std::array<void*, 64> addresses;
std::atomic<int> depth{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler stores it");

// Calls only backtrace(), which allocates nothing after its first call.
void write_addresses(int) { depth.store(::backtrace(addresses.data(), addresses.size())); }

std::string demangled(const char* symbol) {
  int failed = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(symbol, nullptr, nullptr, &failed), &std::free);
  return failed == 0 ? name.get() : symbol;
}

// A call without a symbol has its offset in the file, which `addr2line -Cfe FILE OFFSET` resolves.
std::string text_of(void* address) {
  Dl_info place{};
  if (::dladdr(address, &place) == 0 || place.dli_fname == nullptr) return fmt::format("{}", address);
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const std::string file = std::filesystem::path(place.dli_fname).filename().string();
  if (place.dli_sname == nullptr) {
    return fmt::format("{}: {:#x}", file, at - reinterpret_cast<std::uintptr_t>(place.dli_fbase));
  }
  return fmt::format("{}: {} + {:#x}", file, demangled(place.dli_sname),
                     at - reinterpret_cast<std::uintptr_t>(place.dli_saddr));
}

}  // namespace

StackProbe::StackProbe() : thread_(::pthread_self()) {
  ::backtrace(addresses.data(), 1);  // loads the library that later calls need
  struct sigaction action {};
  action.sa_handler = write_addresses;
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  ::sigaction(kSignal, &action, &before_);
}

StackProbe::~StackProbe() { ::sigaction(kSignal, &before_, nullptr); }

std::vector<std::string> StackProbe::calls(std::chrono::milliseconds patience) const {
  depth = 0;
  if (::pthread_kill(thread_, kSignal) != 0) return {};
  for (auto waited = 0ms; depth == 0 && waited < patience; waited += 1ms) std::this_thread::sleep_for(1ms);
  std::vector<std::string> texts;
  for (int i = kOwnFrames; i < depth; ++i) texts.push_back(text_of(addresses[static_cast<std::size_t>(i)]));
  return texts;
}

}  // namespace convoke::os
