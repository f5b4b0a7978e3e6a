#include "start.hpp"

#include "convoke/run/phases.hpp"

namespace convoke::app {
namespace {

const run::Stopwatch kSinceStart;  // runs from static initialisation, just before main

}  // namespace

double seconds_since_start() { return kSinceStart.seconds(); }

}  // namespace convoke::app
