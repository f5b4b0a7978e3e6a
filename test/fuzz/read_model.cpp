// Reads any bytes as a model file of any format: each input is a model or an Error, never a crash. With
// libFuzzer (preset "fuzz") it searches for new inputs; otherwise replay.cpp runs it on the corpus and on
// changed copies.
#include <cstddef>
#include <cstdint>
#include <span>

#include "convoke/core/error.hpp"
#include "convoke/interop/model_io.hpp"
#include "convoke/nn/zoo.hpp"
#include "convoke/os/file.hpp"

using namespace convoke;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const nn::Graph graph = nn::make_zoo_model("lenet5");
  os::File file = os::File::in_memory("fuzz");
  file.write_at(0, std::as_bytes(std::span(data, size)));
  try {
    interop::read_model(os::path_of(file));
  } catch (const Error&) {  // the right answer for most inputs
  }
  try {
    interop::read_weights(os::path_of(file), graph, {.zoo = "lenet5"});
  } catch (const Error&) {
  }
  return 0;
}
