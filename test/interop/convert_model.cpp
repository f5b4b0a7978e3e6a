// interop_convert IN OUT FORMAT [--raw-input]: writes a model file of any format as FORMAT.
// interop_convert --samples FOLDER: writes the sample models (sample_models.txt) as FOLDER/<name>.h5, one of
// them also as FOLDER/ensemble.h5, whose members are in FOLDER/members/.
// For check_onnx_export.py and check_keras_export.py.
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string_view>

#include "convoke/core/error.hpp"
#include "convoke/interop/model_io.hpp"
#include "sample_models.hpp"

using namespace convoke;

namespace {

void write_samples(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  for (const SampleModel& sample : sample_models()) {
    interop::write_model(folder / (std::string(sample.name) + ".h5"), make_sample(sample), "convoke");
  }
  run::ModelSet ensemble = make_sample(sample_model("classifier"), 3);
  interop::write_model(folder / "ensemble.h5", ensemble, "convoke");
  std::filesystem::create_directories(folder / "members");
  for (const run::Member& member : ensemble.members) {
    const std::string name = std::to_string(member.index) + ".h5";
    run::write_model(folder / "members" / name, ensemble.description, member.parameters);
  }
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc == 3 && std::string_view(argv[1]) == "--samples") {
    write_samples(argv[2]);
    return EXIT_SUCCESS;
  }
  const bool raw = argc == 5 && std::string_view(argv[4]) == "--raw-input";
  if (argc != 4 && !raw) {
    std::cerr << "usage: interop_convert IN OUT FORMAT [--raw-input] | --samples FOLDER\n";
    return 2;
  }
  const interop::Imported imported = interop::read_model(argv[1]);
  interop::write_model(argv[2], imported.models, argv[3], {.raw_input = raw});
  return EXIT_SUCCESS;
} catch (const Error& error) {
  std::cerr << "error: " << error.what() << "\n  hint: " << error.hint() << "\n";
  return EXIT_FAILURE;
}
