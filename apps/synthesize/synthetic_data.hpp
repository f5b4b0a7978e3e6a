#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "convoke/core/random.hpp"
#include "synthesize/synthesize.hpp"

namespace convoke::data_prep {

/// Synthetic data: files that any process can make one by one in any order, and tables of all of them. The
/// functions write below a folder; an empty one writes nothing.
struct SyntheticData {
  std::vector<std::filesystem::path> folders = {};  ///< below the output, parents first
  std::int64_t files = 0;
  std::function<void(std::int64_t index, const std::filesystem::path& output)> write_file = {};
  std::function<void(const std::filesystem::path& output)> write_tables = {};
};

/// The random numbers of a sample.
inline constexpr Purpose kSynthesize{16};
inline RandomStream random_of(const SynthesizeOptions& options, std::int64_t number) {
  return RandomStream({options.seed, kSynthesize, 0, static_cast<std::uint64_t>(number)});
}

/// Throws Error saying how many samples are needed, and why, if `options` asks for fewer, because `convoke
/// prepare` would refuse the result.
void require_samples(const SynthesizeOptions& options, std::int64_t needed, const std::string& why);

/// Writes a text file. Throws Error naming it.
void write_text(const std::filesystem::path& file, const std::string& text);

/// Pictures of shapes (H, W, 1 or 3) in a folder for each class. Classes 0 to 23 are 6 forms by 4 fillings;
/// later ones have two or more of these shapes. Place, size, direction, colors and whether the shape is
/// darker or lighter than the background are random in each picture, so that no pixel tells the class.
SyntheticData make_shapes(SynthesizeOptions options);

/// A table of three access patterns as an I/O server sees them (a file per process, a shared file in
/// contiguous parts, a shared file strided by requests): the smallest, mean and largest request, the number
/// of files, and the mean distance between neighboring requests to the same file, in bytes. Each row comes
/// from a simulation of single requests: processes with several pending requests or in step, requests that
/// are cut at the largest transfer, windows of some hundred arrivals.
SyntheticData make_io_patterns(SynthesizeOptions options);

/// Reviews of films in the layout of IMDb's archive (train/pos/7_9.txt: number and stars; test/neg, ...), and
/// the same as one table (review, sentiment). Every opinion is a word of praise or blame with or without a
/// negation. Words of both kinds, and negations, are equally frequent in good and bad reviews, so that
/// counting words does not decide. Sentences about the film's story also praise, blame and negate.
SyntheticData make_reviews(SynthesizeOptions options);

}  // namespace convoke::data_prep
