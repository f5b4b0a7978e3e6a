#pragma once
#include <cstdint>
#include <string>

namespace convoke::os {

/// Returns the number of this process.
std::int64_t process_number();

/// Returns the start of a process of this host, in ticks since the host's start, which distinguishes it from
/// later processes with its number. Empty if it does not run: it does not exist, or has ended and waits to be
/// reaped (a zombie).
std::string start_of_process(std::int64_t number);

/// True if the process has started others that still run.
bool has_children(std::int64_t number);

/// Identifies the namespace of process numbers: each container has separate numbers.
std::string process_space();

/// Returns the command line of this process: the program and its arguments, separated by spaces.
std::string command_line();

/// Returns the name of the process that started this one: "prterun"; empty if unknown.
std::string parent_name();

}  // namespace convoke::os
