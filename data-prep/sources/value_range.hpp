#pragma once
#include <string>

#include "convoke/data_prep/sources/source.hpp"

// The assumptions about a source with samples of fixed shape.

namespace convoke::data_prep {

/// Kind, type and shape of the samples: "images of uint8 (28, 28, 1)". `why`: the reason.
Assumption samples_taken(const SampleFormat& format, const std::string& why);

/// The number of classes, and where their names come from.
Assumption classes_taken(const Catalog& catalog);

/// The least and the largest value of the first samples, up to 32 MiB of them, as they will be stored, and
/// which data.normalize suits them. Doubtful if pictures are 0 to 255 in floating point, or 0 and 1 in bytes.
/// Samples that cannot be read are left out.
Assumption values_taken(Source& source);

}  // namespace convoke::data_prep
