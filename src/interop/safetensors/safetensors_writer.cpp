#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "convoke/core/error.hpp"
#include "convoke/engine/canonical.hpp"
#include "convoke/os/atomic_file.hpp"
#include "interop/format.hpp"
#include "interop/safetensors/names.hpp"

namespace convoke::interop {
namespace {

constexpr std::size_t kAlignment = 8;  // of the numbers, as the format's own library writes

// The table of tensors. A batch norm of PyTorch also counts its steps: load_state_dict(strict=True) wants it.
class Table {
 public:
  void add(const std::string& name, const char* type, const Shape& shape, std::uint64_t bytes) {
    table_[name] = {{"dtype", type}, {"shape", shape.extents()}, {"data_offsets", {end_, end_ + bytes}}};
    end_ += bytes;
  }

  std::string text() const {
    std::string text = table_.dump();
    text.append((kAlignment - text.size() % kAlignment) % kAlignment, ' ');
    return text;
  }

 private:
  nlohmann::ordered_json table_{{"__metadata__", {{"format", "pt"}}}};
  std::uint64_t end_ = 0;
};

void write_at_end(os::File& file, std::uint64_t& at, std::span<const std::byte> bytes) {
  file.write_at(at, bytes);
  at += bytes.size();
}

}  // namespace

std::vector<std::filesystem::path> write_safetensors(const std::filesystem::path& path,
                                                     const run::ModelSet& models, const ExportOptions&) {
  if (models.members.size() != 1) {
    throw Error(fmt::format("{}: holds the weights of one network, but there are {} members", path.string(),
                            models.members.size()),
                "add --each-member, which writes a file for each");
  }
  const std::vector<engine::CanonicalParameter> parameters =
      engine::canonical_parameters(models.description.graph);
  const Naming naming = state_dict_names(models.description.graph).front();
  const std::span<const float> values(models.members.front().parameters);
  constexpr std::string_view kRunningMean = ".running_mean";
  const std::int64_t no_steps = 0;

  Table table;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    table.add(naming.entries[i].name, "F32", naming.entries[i].shape, parameters[i].size() * sizeof(float));
  }
  std::size_t counters = 0;
  for (const auto& [name, shape] : naming.entries) {
    if (!name.ends_with(kRunningMean)) continue;
    table.add(name.substr(0, name.size() - kRunningMean.size()) + ".num_batches_tracked", "I64", {},
              sizeof no_steps);
    ++counters;
  }
  const std::string text = table.text();
  const std::uint64_t length = text.size();
  os::replace_file(path, [&](const std::filesystem::path& temporary) {
    os::File file(temporary, os::Access::kWrite);
    std::uint64_t at = 0;
    write_at_end(file, at, std::as_bytes(std::span(&length, 1)));
    write_at_end(file, at, std::as_bytes(std::span(text)));
    write_at_end(file, at, std::as_bytes(values));
    for (std::size_t i = 0; i < counters; ++i) write_at_end(file, at, std::as_bytes(std::span(&no_steps, 1)));
    file.close();
  });
  return {path};
}

}  // namespace convoke::interop
