#pragma once
#include "synthesize/stand_in.hpp"

namespace convoke::data_prep {

/// Tomato leaves, healthy or with one of nine diseases, as PlantVillage lays them out: train/ and valid/ with
/// a folder per class, a fifth of the pictures in valid. What tells the classes apart are the lesions; hue,
/// place, pose and light of the leaf are drawn for each picture.
std::unique_ptr<StandIn> make_leaves(const SynthesizeOptions& options);

}  // namespace convoke::data_prep
