// replay COPIES FOLDER...: runs the fuzz target on every small file of the folders and on COPIES changed
// copies of each: bytes overwritten, pieces cut out, doubled or truncated, always the same ones.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <span>
#include <string>

#include "convoke/core/random.hpp"
#include "support/bytes_of.hpp"

using namespace convoke;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr std::uintmax_t kMostBytes = 200'000;

void run_target(const std::string& bytes) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

std::string changed(std::string bytes, RandomStream& random) {
  const auto place = [&] { return static_cast<std::size_t>(random.below(bytes.size())); };
  for (std::uint64_t change = 0; change < 1 + random.below(4) && !bytes.empty(); ++change) {
    const std::size_t at = place();
    switch (random.below(5)) {
      case 0:
        bytes[at] = static_cast<char>(random.below(256));
        break;
      case 1:
        bytes[at] = static_cast<char>(random.below(2) == 0 ? 0xFF : 0x7F);
        break;
      case 2:
        bytes.erase(at, random.below(16));
        break;
      case 3:
        bytes.insert(at, bytes.substr(place(), random.below(64)));
        break;
      default:
        bytes.resize(at);
    }
  }
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t copies = std::stoull(argv[1]);
  std::uint64_t inputs = 0;
  for (const std::string folder : std::span(argv + 2, static_cast<std::size_t>(argc - 2))) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (!entry.is_regular_file() || entry.file_size() > kMostBytes) continue;
      const std::string original = bytes_of(entry.path());
      run_target(original);
      for (std::uint64_t copy = 0; copy < copies; ++copy) {
        RandomStream random({copy, Purpose::kBench, 0, original.size()});
        run_target(changed(original, random));
      }
      inputs += 1 + copies;
    }
  }
  std::cout << inputs << " inputs\n";
  return inputs == 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
