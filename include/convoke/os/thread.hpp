#pragma once
#include <functional>
#include <thread>

namespace convoke::os {

/// Starts a thread that receives no signals (os/stop_signals.hpp). Throws Error if the system gives none.
std::jthread start_thread(std::function<void()> work);

/// Asks the system for the shortest time slices for the calling thread, so that it need not wait for the end
/// of a long slice of another program when it wakes (Linux 6.12; ignored by older ones). Its share
/// of the core stays the same. Programs that the thread starts do not inherit it.
void request_short_time_slices();

}  // namespace convoke::os
