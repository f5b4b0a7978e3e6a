#pragma once
#include "synthesize/stand_in.hpp"

namespace convoke::data_prep {

/// Up to 525 species of birds, as BIRDS-525 lays them out: train/, valid/ and test/ with a folder per class,
/// and birds.csv. A species is one of 21 shapes with one of 25 plumages (5 pairs of colours by 5 textures);
/// pose, size, light and what is behind the bird are drawn for each picture. Of every ten pictures of a class
/// one is in valid and one in test.
std::unique_ptr<StandIn> make_birds(const SynthesizeOptions& options);

}  // namespace convoke::data_prep
