#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "convoke/core/random.hpp"
#include "convoke/data_prep/sources/source.hpp"
#include "convoke/data_prep/team.hpp"

namespace convoke::data_prep {

struct SynthesizeOptions {
  std::string kind = {};              ///< "shapes", ...
  std::filesystem::path output = {};  ///< the folder to create
  std::int64_t samples = 0;           ///< 0: the kind's default
  double difficulty = 0.5;            ///< 0 (clean) to 1: how well the differences between classes are hidden
  std::uint64_t seed = 1;
  std::int64_t height = 0, width = 0;  ///< of pictures, pixels; 0: the kind's default
  std::int64_t classes = 0;            ///< of shapes, at least 2; 0: 10
  std::int64_t channels = 0;           ///< of shapes, 1 or 3; 0: 3
  /// Called with files done and to do by this process; may be empty.
  std::function<void(std::int64_t done, std::int64_t total)> progress = {};
};

/// Writes the folder `output` with synthetic data. File names begin
/// with "synthetic", pictures have a comment that says so, and the folder has kSyntheticMark with the
/// options. Each sample is a pure function of (options, its number); the processes share the samples. Throws
/// Error for an unknown kind, an option that is out of range or that the kind does not have, or an output
/// that exists and is not empty, or cannot be written; then there is no output.
void synthesize(const SynthesizeOptions& options, const Team& team = {});

/// The kinds of synthetic data: {"shapes", "what it is"}, ... for help texts.
struct SyntheticKind {
  std::string name, description;
};
std::vector<SyntheticKind> synthetic_kinds();

// Functions of each kind of data, and those that their files share.

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
