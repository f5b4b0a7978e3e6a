#pragma once
#include <functional>
#include <thread>

namespace convoke::os {

/// Starts a thread that receives no signals (os/stop_signals.hpp). Throws Error if the system gives none.
std::jthread start_thread(std::function<void()> work);

}  // namespace convoke::os
