#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "convoke/archive/zip.hpp"
#include "convoke/core/error.hpp"
#include "convoke/os/file.hpp"
#include "interop/format.hpp"

namespace convoke::interop {
namespace {

namespace fs = std::filesystem;

bool begins(const Probe& probe, std::string_view text) { return probe.beginning.starts_with(text); }
bool has_at_4(const Probe& probe, std::string_view text) {
  return probe.beginning.size() > 8 && std::string_view(probe.beginning).substr(4, 4) == text;
}
bool contains(const Probe& probe, std::string_view text) {
  return probe.beginning.find(text) != std::string::npos;
}

// A zip file of PyTorch has its entries in a folder of the archive's name.
bool zip_has(const Probe& probe, std::string_view ending) {
  if (!begins(probe, "PK\x03\x04")) return false;
  try {
    return std::ranges::any_of(archive::ZipFile(probe.file).members(),
                               [&](const auto& member) { return member.name.ends_with(ending); });
  } catch (const Error&) {
    return contains(probe, ending);  // damaged: its first entry says enough
  }
}

bool is_torch_script(const Probe& probe) { return zip_has(probe, "/constants.pkl"); }

bool is_exported_program(const Probe& probe) {
  return zip_has(probe, "serialized_exported_program.json") || zip_has(probe, "/models/model.json");
}

// torch.save writes a zip file or, before PyTorch 1.6, a pickle of protocol 2.
bool is_pickle(const Probe& probe) {
  const std::string& start = probe.beginning;
  return zip_has(probe, "/data.pkl") ||
         (start.size() > 2 && start[0] == '\x80' && start[1] >= 2 && start[1] <= 5);
}

bool is_saved_model(const Probe& probe) {
  return probe.file.filename() == "saved_model.pb" || fs::exists(probe.file / "saved_model.pb");
}

// A graph of nodes {name, op, ...}; the first ones are inputs or weights.
bool is_frozen_graph(const Probe& probe) {
  return begins(probe, "\n") && (contains(probe, "\x12\x0bPlaceholder") || contains(probe,
                                                                                    "\x12\x05"
                                                                                    "Const"));
}

// PREFIX.index is a table in LevelDB's format, whose last bytes are a magic number. PREFIX itself is no file.
bool is_checkpoint(const Probe& probe) {
  if (fs::is_directory(probe.file)) return fs::is_regular_file(probe.file / "checkpoint");
  if (!fs::exists(probe.file)) return fs::exists(probe.file.string() + ".index");
  if (probe.file.filename().string().find(".data-0000") != std::string::npos) return true;
  constexpr std::string_view kMagic("\x57\xfb\x80\x8b\x24\x75\x47\xdb", 8);
  const os::File file(probe.file, os::Access::kRead);
  if (file.size() < kMagic.size()) return false;
  std::string end(kMagic.size(), '\0');
  file.read_at(file.size() - end.size(), std::as_writable_bytes(std::span(end)));
  return end == kMagic;
}

// Core ML's fields are a version and a description, which begins with its input; ONNX's second one is a text.
bool is_core_ml(const Probe& probe) {
  const std::string& start = probe.beginning;
  return (start.size() > 5 && start[0] == '\x08' && start[2] == '\x12' &&
          (start[4] == '\x0a' || (start[3] < 0 && start[5] == '\x0a'))) ||
         fs::exists(probe.file / "coremldata.bin") ||
         (probe.file.extension() == ".mlpackage" && fs::exists(probe.file / "Manifest.json"));
}

bool is_open_vino(const Probe& probe) { return contains(probe, "<net name=") && contains(probe, "<?xml"); }

bool is_pointer(const Probe& probe) {
  return begins(probe, "version https://git-lfs.github.com/spec") || begins(probe, "/annex/objects/");
}

bool is_web_page(const Probe& probe) {
  const std::size_t start = probe.beginning.find_first_not_of(" \t\r\n");
  if (start == std::string::npos) return false;
  std::string text = probe.beginning.substr(start, 16);
  std::ranges::transform(text, text.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
  return text.starts_with("<!doctype html") || text.starts_with("<html") ||
         contains(probe, "<Code>AccessDenied</Code>");
}

bool is_packed(const Probe& probe) {
  return begins(probe, "\x1f\x8b") || begins(probe, "BZh") ||
         begins(probe,
                "\xfd"
                "7zXZ") ||
         begins(probe, "7z\xbc\xaf") || begins(probe, "\x28\xb5\x2f\xfd") ||
         (probe.beginning.size() > 262 && probe.beginning.substr(257, 5) == "ustar");
}

bool is_numpy(const Probe& probe) { return begins(probe, "\x93NUMPY") || zip_has(probe, ".npy"); }

bool is_gguf(const Probe& probe) { return begins(probe, "GGUF") || begins(probe, "lmgg"); }
bool is_tflite(const Probe& probe) { return has_at_4(probe, "TFL3"); }
bool is_ort(const Probe& probe) { return has_at_4(probe, "ORTM"); }
bool is_tensor_rt(const Probe& probe) { return begins(probe, "ptrt") || begins(probe, "ftrt"); }
bool is_ncnn(const Probe& probe) { return begins(probe, "7767517"); }
bool is_empty(const Probe& probe) { return fs::is_regular_file(probe.file) && probe.beginning.empty(); }

bool is_hugging_face(const Probe& probe) {
  return fs::exists(probe.file / "model.safetensors") ||
         fs::exists(probe.file / "model.safetensors.index.json");
}

struct Refused {
  bool (*recognizes)(const Probe& probe);
  std::string_view what, advice;  ///< {0}: the file; {1}: the name of a new one, without its ending
};
constexpr std::array kRefused{
    Refused{is_empty, "is empty", "get the file again"},
    Refused{is_pointer, "is a pointer of Git LFS or git-annex, and the model itself is not here",
            "get it: git lfs pull, or git annex get {0}"},
    Refused{is_web_page, "is a web page, not a model: the download has failed, or needs a login",
            "get the file again, and look at its first line: head -n 1 {0}"},
    Refused{is_torch_script, "is TorchScript, a program rather than a list of layers",
            "convert it where you trust it, in Python, with the shape of your samples:\n"
            "    import torch\n"
            "    model = torch.jit.load(\"{0}\", map_location=\"cpu\").eval()\n"
            "    torch.onnx.export(model, (torch.zeros(1, 3, 224, 224),), \"{1}.onnx\", dynamo=False)"},
    Refused{is_exported_program, "is a program that torch.export wrote",
            "convert it where you trust it, in Python:\n"
            "    import torch\n"
            "    program = torch.export.load(\"{0}\")\n"
            "    torch.onnx.export(program, (), \"{1}.onnx\", dynamo=True)"},
    Refused{
        is_pickle, "is a pickle, and reading a pickle can run any program",
        "convert it where you trust it, in Python (the weights may lie within, as {{\"state_dict\": ...}}):\n"
        "    import torch, safetensors.torch\n"
        "    state = torch.load(\"{0}\", map_location=\"cpu\", weights_only=True)\n"
        "    tensors = lambda x: {{k: v.clone().contiguous() for k, v in x.items() if torch.is_tensor(v)}} "
        "if isinstance(x, dict) else {{}}\n"
        "    safetensors.torch.save_file(max(map(tensors, [state, *state.values()]), key=len), "
        "\"{1}.safetensors\")\n"
        "  then: convoke import {1}.safetensors --zoo NETWORK --output model.h5\n"
        "  for a whole model instead of its weights, use its class and export it:\n"
        "    model = torch.load(\"{0}\", map_location=\"cpu\", weights_only=False).eval()\n"
        "    torch.onnx.export(model, (torch.zeros(1, 3, 224, 224),), \"{1}.onnx\")"},
    Refused{is_saved_model, "is a SavedModel of TensorFlow, a program rather than a list of layers",
            "if Keras wrote it, save it again, in Python:\n"
            "    tf_keras.models.load_model(\"{0}\").save(\"{1}.keras\")\n"
            "  otherwise convert it to ONNX:\n"
            "    python -m tf2onnx.convert --saved-model {0} --output {1}.onnx"},
    Refused{is_checkpoint, "is a checkpoint of TensorFlow, which has weights but not the layers",
            "build the model in Python, load its weights and save it whole:\n"
            "    model.load_weights(\"{0}\"); model.save(\"{1}.keras\")\n"
            "  (with Keras 3, use tf_keras for this; the name is that of the files without .index)"},
    Refused{
        is_frozen_graph, "is a graph of TensorFlow, a program rather than a list of layers",
        "convert it to ONNX, with the names of its input and output:\n"
        "    python -m tf2onnx.convert --graphdef {0} --inputs INPUT:0 --outputs OUTPUT:0 --output {1}.onnx"},
    Refused{is_tflite, "is a TensorFlow Lite model",
            "write the model that it was made from as .keras, or convert it to ONNX:\n"
            "    python -m tf2onnx.convert --tflite {0} --output {1}.onnx"},
    Refused{is_ort,
            "is in the format of ONNX Runtime's builds for small devices (.ort), whose layers are fused",
            "take the .onnx file that it was made from"},
    Refused{is_core_ml, "is a Core ML model", "take the model that it was made from, as ONNX or .keras"},
    Refused{is_open_vino, "is an OpenVINO model", "take the model that it was made from, as ONNX or .keras"},
    Refused{is_tensor_rt, "is an engine of TensorRT, built for one GPU",
            "take the ONNX file that it was made from"},
    Refused{is_ncnn, "is an ncnn model", "take the model that it was made from, as ONNX"},
    Refused{is_gguf, "is a language model in llama.cpp's format",
            "Convoke has convolutional and small recurrent networks: take another model"},
    Refused{is_numpy, "is an archive of NumPy arrays, not a model",
            "if it is a dataset: convoke prepare {0} --output data.h5; if it has weights, build the model in "
            "Python, load them and save it whole, as .keras or ONNX"},
    Refused{is_packed, "is compressed", "unpack it, and name the model in it"},
    Refused{is_hugging_face, "is a folder of Hugging Face",
            "name the file in it: convoke import {0}/model.safetensors --zoo NETWORK --output model.h5 (or "
            "{0}/model.safetensors.index.json)"},
};

const Refused* find_refused(const Probe& probe) {
  // The length in front of its table may look like the mark of another format.
  if (is_safetensors(probe)) return kRefused.end();
  return std::find_if(kRefused.begin(), kRefused.end(),
                      [&](const Refused& refused) { return refused.recognizes(probe); });
}

}  // namespace

bool is_refused(const Probe& probe) { return find_refused(probe) != kRefused.end(); }

void require_not_refused(const Probe& probe) {
  const Refused* const found = find_refused(probe);
  if (found == kRefused.end()) return;
  fs::path file = probe.file;
  if (!file.has_filename() || file.filename() == "saved_model.pb") file = file.parent_path();
  throw Error(fmt::format("{}: {}", probe.file.string(), found->what),
              fmt::format(fmt::runtime(found->advice), file.string(), file.stem().string()));
}

}  // namespace convoke::interop
