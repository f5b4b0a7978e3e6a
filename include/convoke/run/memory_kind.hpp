#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace convoke::run {

/// The kind of this node's memory, "DDR5", as far as the system tells those who are not root; "" if it does
/// not. Times are those of a processor and its memory.
std::string memory_kind();

/// The same of the first module in a table of the firmware (SMBIOS structures of type 17); "" if it names
/// none, or is damaged. https://www.dmtf.org/standards/smbios
std::string memory_kind_in(std::span<const std::uint8_t> smbios);

}  // namespace convoke::run
