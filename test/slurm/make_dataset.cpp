// make_dataset OUTPUT [TRAIN [SIDE [CLASSES]]]: writes small pictures that train quickly, as in the tests of
// the program. OUTPUT is a dataset (x.h5), or a folder for four files in MNIST's format.
// make_dataset OUTPUT.h5 --sparse GIB: writes black pictures of 224 x 224 x 3 of that size, which need no
// space on the disk.
#include "apps/place.hpp"
#include "convoke/hdf5/file.hpp"

namespace {

// Big-endian: magic number, extents, bytes.
template <class Bytes>
void write_idx(const fs::path& file, const std::vector<std::int64_t>& extents, const Bytes& values) {
  std::string bytes{'\0', '\0', '\x08', static_cast<char>(extents.size())};
  for (const std::int64_t extent : extents) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(extent >> shift & 0xFF);
  }
  for (const auto value : values) bytes += static_cast<char>(value);
  write_file(file, bytes);
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

// Arrays that are allocated and never written are holes in the file. The training split has so many bytes.
void write_sparse(const fs::path& file, double bytes) {
  constexpr std::int64_t kSide = 224, kChannels = 3, kTest = 100;
  const auto train = static_cast<std::int64_t>(bytes / (kSide * kSide * kChannels));
  convoke::hdf5::File dataset = convoke::hdf5::File::create(file);
  dataset.set_attribute("convoke_format", "dataset");
  dataset.set_attribute("format_version", 1);
  dataset.set_attribute("classes", 2);
  for (const auto& [split, count] : {std::pair("train", train), std::pair("test", kTest)}) {
    dataset.reserve(std::string(split) + "/samples", convoke::hdf5::ElementType::kUint8,
                    convoke::Shape{count, kSide, kSide, kChannels});
    std::vector<std::int32_t> labels;
    for (std::int64_t i = 0; i < count; ++i) labels.push_back(static_cast<std::int32_t>(i % 2));
    dataset.write(std::string(split) + "/labels", labels);
  }
  dataset.close();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return EXIT_FAILURE;
  const auto number = [&](int i, std::int64_t fallback) {
    return argc > i ? std::int64_t{std::atoll(argv[i])} : fallback;
  };
  const fs::path output = argv[1];
  if (argc > 3 && std::string_view(argv[2]) == "--sparse") {
    write_sparse(output, std::atof(argv[3]) * 1024 * 1024 * 1024);
    return EXIT_SUCCESS;
  }
  if (output.extension() == ".h5") {
    write_dataset(output, number(2, 160), number(3, 8), number(4, 4));
  } else {
    write_idx_files(output, number(2, 160), number(3, 8), number(4, 4));
  }
  return EXIT_SUCCESS;
}
