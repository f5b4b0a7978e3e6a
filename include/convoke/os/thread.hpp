#pragma once
#include <functional>
#include <thread>

namespace convoke::os {

/// Starts a thread that receives no signals (os/stop_signals.hpp). Throws Error if the system gives none.
std::jthread start_thread(std::function<void()> work);

/// Asks the system to give the calling thread its share of a core in turns that are as short as possible, so
/// that it need not wait for the end of a long turn of another program when it wakes (Linux 6.12; ignored by
/// older ones). The share stays the same. Programs that the thread starts do not inherit it.
void ask_for_short_turns();

}  // namespace convoke::os
