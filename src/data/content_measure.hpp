#pragma once
#include <vector>

#include "stored_dataset.hpp"

namespace convoke::data {

/// Fills in what follows from a dataset's content: mean and deviation of each channel of the training split
/// (the first, if none is called so), and the hash: the CRC-32 of the samples, the labels and the weights of
/// every split in turn, whatever files they lie in.
void measure(const std::vector<StoredSplit>& splits, DatasetInfo& info);

}  // namespace convoke::data
