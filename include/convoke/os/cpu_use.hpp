#pragma once
#include <filesystem>
#include <span>

namespace convoke::os {

/// A share of the cores from which on other programs are mentioned: the system itself takes a few hundredths.
inline constexpr double kNotableUse = 0.05;

/// Returns the time for which any program has kept the logical CPUs `cpus` of this host busy since its start,
/// in seconds, in steps of a hundredth; also that which a hypervisor gave to others. NaN if `statistics`, in
/// the form of proc_stat(5), does not have these CPUs.
double busy_seconds(std::span<const int> cpus, const std::filesystem::path& statistics = "/proc/stat");

}  // namespace convoke::os
