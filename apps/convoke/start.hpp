#pragma once

namespace convoke::app {

/// Seconds since the program was loaded, just before main.
double seconds_since_start();

}  // namespace convoke::app
