#pragma once
#include "synthesize/stand_in.hpp"

namespace convoke::data_prep {

/// Up to 525 species of birds in the layout of BIRDS-525: train/, valid/ and test/ with a folder per class,
/// and birds.csv. A species has one of 21 shapes and one of 25 plumages (5 pairs of colours by 5 textures);
/// pose, size, light and background are random in each picture. Of every ten pictures of a class, one is in
/// valid and one in test.
std::unique_ptr<StandIn> make_birds(const SynthesizeOptions& options);

}  // namespace convoke::data_prep
