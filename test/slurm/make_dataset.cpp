// make_dataset OUTPUT [TRAIN [SIDE [CLASSES]]]: writes small pictures that train quickly, as in the tests of
// the program. OUTPUT is a dataset (x.h5), or a folder for four files in MNIST's format.
// make_dataset OUTPUT.h5 --sparse GIB: writes black pictures of 224 x 224 x 3 of that size, which need no
// space on the disk.
#include "apps/place.hpp"
#include "convoke/hdf5/file.hpp"

namespace {

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
