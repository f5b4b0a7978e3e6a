#pragma once
#include <filesystem>
#include <memory>
#include <string>

#include "convoke/data_prep/files/npy.hpp"
#include "convoke/data_prep/sources/source.hpp"
#include "convoke/data_prep/sources/source_options.hpp"

namespace convoke::data_prep {

/// True if `path` is an .npz file, or a folder with an .npy file that has a name of samples or labels.
bool is_numpy(const std::filesystem::path& path);

/// Opens arrays of NumPy: the members of an .npz archive or the .npy files of a folder. A name is a word for
/// samples (x, images, data, features, tokens, ...) or labels (y, labels, targets, ...) and, before or after
/// it, a split: x_train and y_train, test_images and test_labels, images and labels. Arrays with other names
/// are ignored.
///
/// Samples: images uint8 (N, H, W), (N, H, W, C); features float (N, F) or uint8 (N, F); sequences float (N,
/// L, F); images of measured numbers float (N, H, W, C); tokens int32 or int64 (N, L). float64 becomes
/// float32, int64 becomes int32. Labels: whole numbers (N) or (N, 1), or one-hot (N, K). Throws Error naming
/// file and array: damaged, Python objects, another type or shape, samples without equally many labels,
/// ambiguous names, fewer than 2 classes. An invalid label or token is its item's fault.
std::unique_ptr<Source> open_numpy(const std::filesystem::path& path, const SourceOptions& options);

/// Opens the samples of `split` in an .npz archive, without labels: the array with that name, else the only
/// array of samples, else the only array. Throws Error naming the arrays if there is none, or if it is
/// damaged.
std::shared_ptr<SampleArray> open_npz_samples(const std::filesystem::path& npz, const std::string& split);

/// Returns `array`, whose samples are its first axis and whose other axes have the order of the letters of
/// `axes` (ArrayOptions), as (N, H, W, C), (N, H, W), (N, L, F), (N, L) or (N, F). It is read in whole
/// samples. Throws Error if it has another number of axes, or if the letters fit no kind of samples.
std::shared_ptr<SampleArray> in_order(std::shared_ptr<SampleArray> array, const std::string& axes);

}  // namespace convoke::data_prep
