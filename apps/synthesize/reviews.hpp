#pragma once
#include "synthesize/stand_in.hpp"

namespace convoke::data_prep {

/// Reviews of films in the layout of IMDb's archive (train/pos/7_9.txt: number and stars; test/neg, ...), and
/// the same as one table (review, sentiment). Every opinion is a word of praise or blame with or without a
/// negation. Words of both kinds, and negations, are equally frequent in good and bad reviews, so that
/// counting words does not decide. Sentences about the film's story also praise, blame and negate.
std::unique_ptr<StandIn> make_reviews(const SynthesizeOptions& options);

}  // namespace convoke::data_prep
