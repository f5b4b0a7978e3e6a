#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace convoke::run {

/// Returns the kind of this node's memory, e.g. "DDR5", if the system shows it to users other than root;
/// otherwise "". Training times depend on both processor and memory.
std::string memory_kind();

/// Returns the kind of the first memory module in a table of the firmware (SMBIOS structures of type 17); ""
/// if the table has none or is damaged. https://www.dmtf.org/standards/smbios
std::string memory_kind_in(std::span<const std::uint8_t> smbios);

}  // namespace convoke::run
