#include "start.hpp"

#include "convoke/train/phases.hpp"

namespace convoke::app {
namespace {

const train::Stopwatch kSinceStart;  // runs from static initialisation, just before main

}  // namespace

double seconds_since_start() { return kSinceStart.seconds(); }

}  // namespace convoke::app
