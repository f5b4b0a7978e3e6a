#pragma once
#include "synthesize/stand_in.hpp"

namespace convoke::data_prep {

/// Tomato leaves, healthy or with one of nine diseases, in the layout of PlantVillage: train/ and valid/ with
/// a folder per class, a fifth of the pictures in valid. The classes differ in their lesions; hue, place,
/// pose and light of the leaf are random in each picture.
std::unique_ptr<StandIn> make_leaves(const SynthesizeOptions& options);

}  // namespace convoke::data_prep
