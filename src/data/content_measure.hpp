#pragma once
#include <vector>

#include "convoke/data/dataset_writer.hpp"
#include "stored_dataset.hpp"

namespace convoke::data {

/// Fills in the attributes that follow from a dataset's content: mean and standard deviation of each channel
/// of the training split (the first split if there is no "train"), and the hash: the CRC-32 of the samples,
/// the labels and the weights of every split in turn. The result does not depend on the number of files.
/// `given` reads the samples of splits[i], instead of from the files; may be empty.
void measure(const std::vector<StoredSplit>& splits, DatasetInfo& info,
             const DatasetWriter::ReadSamples& given = {});

}  // namespace convoke::data
