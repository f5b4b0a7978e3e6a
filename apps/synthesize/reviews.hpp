#pragma once
#include "synthesize/stand_in.hpp"

namespace convoke::data_prep {

/// Reviews of films, as IMDb's archive lays them out (train/pos/7_9.txt: number and stars; test/neg, ...),
/// and the same as one table (review, sentiment). Every opinion is a word of praise or blame with or without
/// a negation; words of both kinds, and negations, are as frequent in good reviews as in bad ones, so that
/// counting words does not decide. Around them, what the film is about, which also praises, blames and
/// negates.
std::unique_ptr<StandIn> make_reviews(const SynthesizeOptions& options);

}  // namespace convoke::data_prep
