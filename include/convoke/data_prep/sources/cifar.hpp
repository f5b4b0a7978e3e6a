#pragma once
#include <filesystem>
#include <memory>

#include "convoke/data_prep/sources/source.hpp"
#include "convoke/data_prep/sources/source_options.hpp"

namespace convoke::data_prep {

/// True if `path` is a folder with a file of CIFAR-10 or CIFAR-100, in the binary or the Python version.
bool is_cifar(const std::filesystem::path& path);

/// Opens CIFAR-10, binary version: data_batch_1.bin .. data_batch_5.bin, test_batch.bin, names of the classes
/// in batches.meta.txt; or CIFAR-100 with its fine labels: train.bin, test.bin, fine_label_names.txt. Files
/// may end in .gz. Splits "train" and "test", pictures (3, 32, 32). Throws Error naming the file if it is
/// missing, if its size is not a multiple of a record's, if there is not one name per class, or if it is of
/// the pickled Python version. A label out of range is its item's fault.
/// https://www.cs.toronto.edu/~kriz/cifar.html
std::unique_ptr<Source> open_cifar(const std::filesystem::path& folder, const SourceOptions& options);

}  // namespace convoke::data_prep
