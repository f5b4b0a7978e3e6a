// make_dataset OUTPUT [TRAIN [SIDE [CLASSES]]]: writes small pictures that train quickly, as in the tests of
// the program. OUTPUT is a dataset (x.h5), or a folder for four files in MNIST's format.
#include <cstdlib>

#include "apps/place.hpp"

namespace {

// Big-endian: magic number, extents, bytes.
template <class Bytes>
void write_idx(const fs::path& file, const std::vector<std::int64_t>& extents, const Bytes& values) {
  std::string bytes{'\0', '\0', '\x08', static_cast<char>(extents.size())};
  for (const std::int64_t extent : extents) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(extent >> shift & 0xFF);
  }
  for (const auto value : values) bytes += static_cast<char>(value);
  write_text(file, bytes);
}

void write_idx_files(const fs::path& folder, std::int64_t train, std::int64_t side, std::int64_t classes) {
  fs::create_directories(folder);
  for (const bool test : {false, true}) {
    const std::int64_t count = test ? 60 : train;
    const Pictures pictures(count, side, classes, test ? 2 : 1);
    const std::string name = test ? "t10k" : "train";
    write_idx(folder / (name + "-images-idx3-ubyte"), {count, side, side}, pictures.samples);
    write_idx(folder / (name + "-labels-idx1-ubyte"), {count}, pictures.labels);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return EXIT_FAILURE;
  const auto number = [&](int i, std::int64_t fallback) {
    return argc > i ? std::int64_t{std::atoll(argv[i])} : fallback;
  };
  const fs::path output = argv[1];
  if (output.extension() == ".h5") {
    write_dataset(output, number(2, 160), number(3, 8), number(4, 4));
  } else {
    write_idx_files(output, number(2, 160), number(3, 8), number(4, 4));
  }
  return EXIT_SUCCESS;
}
