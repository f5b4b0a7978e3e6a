#pragma once
#include <cstdint>
#include <string>

namespace convoke::os {

/// The number of this process.
std::int64_t process_number();

/// When a process of this host was started, in ticks since the host's start, which tells it from later ones
/// of its number. Empty if it does not run: there is none, or it has ended and waits to be reaped (a zombie).
std::string start_of_process(std::int64_t number);

/// Where numbers of processes mean what they mean to this one: containers have numbers of their own.
std::string process_space();

/// How this process was called: the program and its arguments, with spaces between.
std::string command_line();

/// The name of the process that started this one: "prterun"; empty if it cannot be told.
std::string parent_name();

}  // namespace convoke::os
