// Parts that all formats share: their documentation, their tensors, and files of other programs that are
// recognized and refused. The beginnings are those that the programs write.
#include "convoke/archive/zip.hpp"
#include "convoke/core/error.hpp"
#include "convoke/interop/model_io.hpp"
#include "interop/tensor.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"
#include "support/source_path.hpp"

using namespace convoke;
using namespace convoke::interop;

namespace {

struct Foreign {
  const char* name;
  std::string bytes;
  const char* what;
};

std::string filled(std::string beginning, std::size_t size = 64) {
  beginning.resize(size, '.');
  return beginning;
}

void check_refused(const fs::path& file, const char* what) {
  INFO(file.string());
  CHECK_THAT(error_of([&] { read_model(find_model(file)); }), StartsWith(file.string() + ": " + what));
  CHECK(!hint_of([&] { read_model(find_model(file)); }).empty());
  nn::Graph graph(nn::ValueSpec{2});
  CHECK_THAT(error_of([&] { read_weights(file, graph); }), Contains(what));
}

template <class T, std::size_t n>
std::vector<float> floats_of(NumberType type, const std::array<T, n>& stored) {
  const auto bytes = std::as_bytes(std::span(stored));
  return read_floats(tensor_in_memory("x", {static_cast<std::int64_t>(n)}, type, bytes));
}

}  // namespace

TEST_CASE("docs/interop-layers.md lists the operators and layers that the program knows") {
  const std::string page = bytes_of(source_path("docs/interop-layers.md"));
  const std::string mark = "<!-- printed by: convoke info --model-formats -->\n\n";
  INFO("to update it, replace the part below the mark by the output of `convoke info --model-formats`");
  REQUIRE_THAT(page, Contains(mark));
  CHECK(page.substr(page.find(mark) + mark.size()) == layer_reference());
}

TEST_CASE("files of other programs are named by their contents, with what converts them") {
  const TemporaryFolder folder;
  for (const Foreign& foreign : {
           Foreign{"a.pt", filled("\x80\x02\x8a\nl\xfc\x9c"), "is a pickle"},
           Foreign{"a.onnx", "version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
                   "is a pointer of Git LFS"},
           Foreign{"b.onnx", "<!DOCTYPE html>\n<html>", "is a web page"},
           Foreign{"a.tflite", filled(std::string("\x1c\0\0\0TFL3", 8)), "is a TensorFlow Lite model"},
           Foreign{"a.ort", filled(std::string("\x10\0\0\0ORTM", 8)),
                   "is in the format of ONNX Runtime's builds"},
           Foreign{"m.ckpt.index", filled("", 56) + "\x57\xfb\x80\x8b\x24\x75\x47\xdb",
                   "is a checkpoint of TensorFlow"},
           Foreign{"m.ckpt.data-00000-of-00001", filled(""), "is a checkpoint of TensorFlow"},
           Foreign{"frozen.pb", filled("\n\x1c\n\x05input\x12\x0bPlaceholder"), "is a graph of TensorFlow"},
           Foreign{"a.mlmodel", filled("\x08\x04\x12\x20\n\x0a\n\x05image"), "is a Core ML model"},
           Foreign{"a.xml", "<?xml version=\"1.0\"?>\n<net name=\"m\" version=\"11\">",
                   "is an OpenVINO model"},
           Foreign{"a.gguf", filled("GGUF"), "is a language model"},
           Foreign{"a.npy", filled("\x93NUMPY"), "is an archive of NumPy arrays"},
           Foreign{"a.h5", filled("\x1f\x8b\x08"), "is compressed"},
           Foreign{"a.keras", "", "is empty"},
       }) {
    write_file(folder.path() / foreign.name, foreign.bytes);
    check_refused(folder.path() / foreign.name, foreign.what);
  }
  check_refused(folder.path() / "m.ckpt", "is a checkpoint of TensorFlow");  // no file has this name itself
}

TEST_CASE("zip files of PyTorch are told apart by their entries") {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "model.pt";
  const archive::ZipEntry pickle{.name = "model/data.pkl", .text = "x"};
  const auto with = [&](const std::vector<archive::ZipEntry>& entries) { archive::write_zip(file, entries); };
  with({pickle, {.name = "model/version", .text = "3"}});
  check_refused(file, "is a pickle");
  CHECK_THAT(hint_of([&] { read_model(file); }), Contains("state = torch.load(\"" + file.string()) &&
                                                     Contains("\"model.safetensors\"") &&
                                                     Contains("{k: v.clone()"));
  with({pickle, {.name = "model/constants.pkl", .text = "x"}});
  check_refused(file, "is TorchScript");
  with({{.name = "model/archive_format", .text = "pt2"}, {.name = "model/models/model.json", .text = "{}"}});
  check_refused(file, "is a program that torch.export wrote");
  write_file(file, std::string("PK\x03\x04", 4) + std::string(26, '\0') + "archive/data.pkl");  // truncated
  check_refused(file, "is a pickle");
}

TEST_CASE("folders of other programs are named") {
  const TemporaryFolder folder;
  write_file(folder.path() / "saved" / "saved_model.pb", "x");
  check_refused(folder.path() / "saved", "is a SavedModel of TensorFlow");
  write_file(folder.path() / "bert" / "model.safetensors", "x");
  check_refused(folder.path() / "bert", "is a folder of Hugging Face");
}

TEST_CASE("a length in front of safetensors is no mark of another format") {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "w.safetensors";
  std::string table = R"({"a.weight":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}})";
  table.resize(0x280, ' ');  // 80 02, as a pickle begins
  const std::uint64_t length = table.size();
  write_file(file, std::string(reinterpret_cast<const char*>(&length), sizeof length) + table +
                       std::string(16, '\0'));
  CHECK_THAT(error_of([&] { read_model(file); }), Contains("holds weights without the network"));
}

TEST_CASE("half precision numbers are read exactly") {
  // IEEE 754: one, -2, the largest, the smallest normal, the smallest subnormal, -0
  const std::array<std::uint16_t, 6> halves{0x3C00, 0xC000, 0x7BFF, 0x0400, 0x0001, 0x8000};
  const std::vector<float> values = floats_of(NumberType::kFloat16, halves);
  CHECK(values == std::vector<float>{1, -2, 65504, 0x1p-14F, 0x1p-24F, -0.0F});
  CHECK(std::signbit(values[5]));
  CHECK(std::isinf(floats_of(NumberType::kFloat16, std::array<std::uint16_t, 1>{0x7C00})[0]));
  CHECK(std::isnan(floats_of(NumberType::kFloat16, std::array<std::uint16_t, 1>{0x7C01})[0]));
  CHECK(floats_of(NumberType::kBfloat16, std::array<std::uint16_t, 2>{0x3F80, 0xC049}) ==
        std::vector<float>{1, -3.140625F});
}

TEST_CASE("whole numbers and doubles are converted") {
  CHECK(floats_of(NumberType::kInt8, std::array<std::int8_t, 2>{-3, 127}) == std::vector<float>{-3, 127});
  CHECK(floats_of(NumberType::kInt64, std::array<std::int64_t, 1>{1LL << 40}) == std::vector<float>{0x1p40F});
  CHECK(floats_of(NumberType::kFloat64, std::array<double, 1>{0.5}) == std::vector<float>{0.5F});
  const std::array<float, 1> real{1};
  CHECK_THROWS_AS(
      read_integers(tensor_in_memory("x", {1}, NumberType::kFloat32, std::as_bytes(std::span(real)))), Error);
}

TEST_CASE("a tensor whose shape and bytes disagree is refused") {
  const std::array<float, 4> values{};
  const auto bytes = std::as_bytes(std::span(values));
  CHECK_THROWS_WITH(tensor_in_memory("w", {5}, NumberType::kFloat32, bytes),
                    Contains("tensor w: has 16 bytes, but (5) of float32 needs 20"));
  CHECK_THROWS_AS(tensor_in_memory("w", {-4}, NumberType::kFloat32, bytes), Error);
  CHECK_THROWS_AS(tensor_in_memory("w", {1LL << 40, 1LL << 40}, NumberType::kFloat32, bytes), Error);
}

TEST_CASE("axes are permuted as by a slow loop") {
  const Shape shape{2, 3, 4, 5};
  std::vector<float> values(120), out(120);
  for (std::size_t i = 0; i < 120; ++i) values[i] = static_cast<float>(i);
  const std::array<std::size_t, 4> axes{2, 0, 3, 1};
  permute(values, shape, axes, out);
  std::size_t at = 0;
  for (std::size_t c = 0; c < 4; ++c)
    for (std::size_t a = 0; a < 2; ++a)
      for (std::size_t d = 0; d < 5; ++d)
        for (std::size_t b = 0; b < 3; ++b) CHECK(out[at++] == values[((a * 3 + b) * 4 + c) * 5 + d]);
}
