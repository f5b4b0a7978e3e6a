#pragma once
#include "synthesize/stand_in.hpp"

namespace convoke::data_prep {

/// Pictures of the back of the eye in five grades of diabetic retinopathy, as EyePACS (trainLabels.csv:
/// image, level; train/10_left.jpeg) or APTOS 2019 (train.csv: id_code, diagnosis; train_images/*.png) lay
/// them out. Disc, macula and vessels; lesions by grade: none; microaneurysms; also haemorrhages and
/// exudates; many of them, with cotton-wool spots; new vessels and bleeding before the retina. Two eyes of a
/// patient are alike.
std::unique_ptr<StandIn> make_fundus(const SynthesizeOptions& options);

}  // namespace convoke::data_prep
