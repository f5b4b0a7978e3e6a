#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "convoke/run/model_file.hpp"

namespace convoke::app {

/// Samples to label, from one input of the command line.
struct SampleSource {
  std::string name;
  std::int64_t count = 0;
  /// Samples first .. first + n - 1 as the network takes them: (n, C, H, W), (n, L, F) or (n, F), normalised.
  std::function<std::vector<float>(std::int64_t first, std::int64_t n)> load;
};

/// How the axes of a .npy batch of images stand; kAny: as its shape says, channels last where both fit.
enum class BatchLayout { kAny, kNhwc, kNchw };

struct SampleOptions {
  std::string split = "test";  ///< of datasets and .npz archives
  BatchLayout layout = BatchLayout::kAny;
  bool raw = false;  ///< floating-point values of .npy batches are taken as they are, not normalised
};

/// An image file (decoded to the model's channels and fitted to its height and width as the training pictures
/// were), a .npy batch (or
/// the samples of a split in an .npz) of numbers in units of the stored samples: features (N, F), sequences
/// (N, L, F), tokens (N, L), images (N, H, W, C), (N, C, H, W) or, with one channel, (N, H, W); a split of a
/// dataset (.h5); or raw texts or rows (.csv, .tsv, .txt), see samples_from_raw_file. Throws Error naming the
/// file where it does not fit the model.
SampleSource samples_from(const std::string& input, const SampleOptions& options,
                          const run::ModelDescription& model);

}  // namespace convoke::app
