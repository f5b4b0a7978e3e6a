#include "interop/refused.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "convoke/core/error.hpp"

namespace convoke::interop {
namespace {

// torch.save writes a zip with "<name>/data.pkl" first, or, before PyTorch 1.6, a pickle of protocol 2.
bool is_pickle(const Probe& probe) {
  const std::string& start = probe.beginning;
  const bool zip_of_pickle = start.starts_with("PK\x03\x04") && start.find("data.pkl") != std::string::npos;
  return zip_of_pickle || (start.size() > 2 && start[0] == '\x80' && start[1] >= 2 && start[1] <= 5);
}

bool is_saved_model(const Probe& probe) {
  return probe.file.filename() == "saved_model.pb" || std::filesystem::exists(probe.file / "saved_model.pb");
}

bool is_tflite(const Probe& probe) {
  return probe.beginning.size() > 8 && probe.beginning.substr(4, 4) == "TFL3";
}

struct Refused {
  bool (*recognises)(const Probe& probe);
  std::string_view what, advice;
};
constexpr std::array kRefused{
    Refused{
        is_pickle, "is a pickle, and reading a pickle can run any program",
        "convert it where you trust it, in Python:\n"
        "    import torch, safetensors.torch\n"
        "    safetensors.torch.save_file(torch.load(\"{0}\", weights_only=True), \"{1}.safetensors\")\n"
        "  for a whole model instead of a state dict: torch.onnx.export(model, example_input, \"{1}.onnx\")"},
    Refused{is_saved_model, "is a SavedModel of TensorFlow, a program rather than a list of layers",
            "write the model as model.keras: model.save(\"{1}.keras\"); or as ONNX:\n"
            "    python -m tf2onnx.convert --saved-model {0} --output {1}.onnx"},
    Refused{is_tflite, "is a TensorFlow Lite model",
            "write the model that it was made from as .keras, or convert it to ONNX:\n"
            "    python -m tf2onnx.convert --tflite {0} --output {1}.onnx"}};

auto refused(const Probe& probe) {
  return std::find_if(kRefused.begin(), kRefused.end(),
                      [&](const Refused& refused) { return refused.recognises(probe); });
}

}  // namespace

bool is_refused(const Probe& probe) { return refused(probe) != kRefused.end(); }

Imported refuse(const std::filesystem::path& file, const ImportOptions&) {
  const Refused& found = *refused(probe_of(file));
  throw Error(fmt::format("{}: {}", file.string(), found.what),
              fmt::format(fmt::runtime(found.advice), file.string(), file.stem().string()));
}

}  // namespace convoke::interop
