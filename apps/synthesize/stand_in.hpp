#pragma once
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "convoke/core/random.hpp"
#include "synthesize/synthesize.hpp"

namespace convoke::data_prep {

/// A stand-in for a published data set: files that any process can make one by one in any order, and tables
/// of all of them.
class StandIn {
 public:
  virtual ~StandIn() = default;

  /// Folders below the output, parents first.
  virtual std::vector<std::filesystem::path> folders() const = 0;
  virtual std::int64_t files() const = 0;
  virtual void write_file(std::int64_t index, const std::filesystem::path& output) const = 0;
  virtual void write_tables(const std::filesystem::path& output) const = 0;
};

/// The random numbers of one made thing; `level` says what is numbered: 0 samples, 1 what several samples
/// share.
inline constexpr Purpose kSynthesize{16};
inline RandomStream random_of(const SynthesizeOptions& options, std::int64_t number,
                              std::uint32_t level = 0) {
  return RandomStream({options.seed, kSynthesize, level, static_cast<std::uint64_t>(number)});
}

/// Throws Error saying how many samples are needed, and why, if `options` asks for fewer, because `convoke
/// prepare` would refuse the result.
void require_samples(const SynthesizeOptions& options, std::int64_t needed, const std::string& why,
                     const std::string& hint = {});

/// Writes a text file. Throws Error naming it.
void write_text(const std::filesystem::path& file, const std::string& text);

}  // namespace convoke::data_prep
