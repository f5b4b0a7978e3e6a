#include "convoke/os/waiting.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

namespace convoke::os {

const int EventCount::kSpins = 2000;

void EventCount::advance() {
  count_.fetch_add(1);
  if (sleepers_.load() > 0) ::syscall(SYS_futex, &count_, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

// Returns at once if an event came after `seen`; a signal also wakes.
void EventCount::sleep(std::uint32_t seen) {
  ::syscall(SYS_futex, &count_, FUTEX_WAIT, seen, nullptr, nullptr, 0);
}

}  // namespace convoke::os
