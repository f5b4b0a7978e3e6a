#pragma once
#include "synthesize/stand_in.hpp"

namespace convoke::data_prep {

/// Pictures of the back of the eye in five grades of diabetic retinopathy, in the layout of EyePACS
/// (trainLabels.csv: image, level; train/10_left.jpeg) or APTOS 2019 (train.csv: id_code, diagnosis;
/// train_images/*.png). They show disc, macula, vessels and lesions by grade: none; microaneurysms; also
/// haemorrhages and exudates; many of them, with cotton-wool spots; new vessels and bleeding in front of the
/// retina. The two eyes of a patient are similar.
std::unique_ptr<StandIn> make_fundus(const SynthesizeOptions& options);

}  // namespace convoke::data_prep
