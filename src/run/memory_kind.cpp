#include "convoke/run/memory_kind.hpp"

#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

namespace convoke::run {
namespace {

namespace fs = std::filesystem;

// SMBIOS 3.7, table 78: memory device, type.
constexpr std::array<std::pair<std::uint8_t, std::string_view>, 11> kKinds{{{0x13, "DDR2"},
                                                                            {0x18, "DDR3"},
                                                                            {0x1A, "DDR4"},
                                                                            {0x1D, "LPDDR3"},
                                                                            {0x1E, "LPDDR4"},
                                                                            {0x20, "HBM"},
                                                                            {0x21, "HBM2"},
                                                                            {0x22, "DDR5"},
                                                                            {0x23, "LPDDR5"},
                                                                            {0x24, "HBM3"},
                                                                            {0x1F, "persistent"}}};

// Returns "Registered-DDR4" from a memory controller that the kernel monitors.
std::string watched_kind() {
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator("/sys/devices/system/edac/mc", error)) {
    if (entry.path().filename() != "dimm_mem_type") continue;
    std::ifstream in(entry.path());
    std::string kind;
    if (std::getline(in, kind) && kind != "Unknown") return kind.substr(kind.rfind('-') + 1);
  }
  return {};
}

}  // namespace

// A structure: type, length of its fixed part, handle (2 bytes), ...; then strings, the last one ended by two
// zeros.
std::string memory_kind_in(std::span<const std::uint8_t> smbios) {
  constexpr std::uint8_t kMemoryDevice = 17, kEnd = 127;
  constexpr std::size_t kKindAt = 0x12;
  while (smbios.size() >= 4) {
    const std::uint8_t type = smbios[0];
    const std::size_t length = smbios[1];
    if (type == kEnd || length < 4 || length > smbios.size()) return {};
    if (type == kMemoryDevice && length > kKindAt) {
      for (const auto& [code, name] : kKinds) {
        if (smbios[kKindAt] == code) return std::string(name);
      }
    }
    std::size_t end = length;
    while (end + 1 < smbios.size() && (smbios[end] != 0 || smbios[end + 1] != 0)) ++end;
    if (end + 2 > smbios.size()) return {};
    smbios = smbios.subspan(end + 2);
  }
  return {};
}

std::string memory_kind() {
  if (std::string kind = watched_kind(); !kind.empty()) return kind;
  std::ifstream in("/sys/firmware/dmi/tables/DMI", std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  return memory_kind_in({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

}  // namespace convoke::run
