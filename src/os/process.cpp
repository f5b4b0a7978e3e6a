#include "convoke/os/process.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

namespace convoke::os {
namespace {

std::string first_line(const std::string& file) {
  std::string line;
  std::getline(std::ifstream(file, std::ios::binary), line);
  return line;
}

}  // namespace

std::int64_t process_number() { return ::getpid(); }

// /proc/<pid>/stat: the number, the name in parentheses, which may contain any character, and then fields,
// counted from 3: the state, ..., the 22nd is the start.
std::string start_of_process(std::int64_t number) {
  const std::string text = first_line(fmt::format("/proc/{}/stat", number));
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream fields(text.substr(name_end + 1));
  std::string state, field;
  fields >> state;
  if (state == "Z" || state == "X") return {};
  for (int i = 4; i <= 22; ++i) fields >> field;
  return fields ? field : std::string();
}

bool has_children(std::int64_t number) {
  std::error_code unknown;
  for (const auto& thread :
       std::filesystem::directory_iterator(fmt::format("/proc/{}/task", number), unknown)) {
    std::ifstream children(thread.path() / "children");
    for (std::int64_t child = 0; children >> child;) {
      if (!start_of_process(child).empty()) return true;
    }
  }
  return false;
}

std::string process_space() {
  std::error_code unknown;
  return std::filesystem::read_symlink("/proc/self/ns/pid", unknown).string();
}

std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string line;
  std::string word;
  while (std::getline(file, word, '\0')) line += (line.empty() ? "" : " ") + word;
  return line;
}

std::string parent_name() { return first_line(fmt::format("/proc/{}/comm", ::getppid())); }

}  // namespace convoke::os
