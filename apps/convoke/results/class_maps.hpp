#pragma once
#include "convoke/report/run_record.hpp"

namespace convoke::app {

/// Returns the run with the class-activation maps of its worst mistakes (train::GradCam), the mean over its
/// members, each scaled to at most 1. Without maps if it has no model file, if its dataset is missing or has
/// other samples than those of the test, or if the network has no maps.
report::RunRecord with_class_maps(report::RunRecord run);

}  // namespace convoke::app
