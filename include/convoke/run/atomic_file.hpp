#pragma once
#include <filesystem>
#include <functional>
#include <string_view>

namespace convoke::run {

/// Throws Error naming `target` if it is a folder, a device or a pipe, or a file that this program prints
/// into: for programs that want to know before they compute.
void require_replaceable(const std::filesystem::path& target);

/// Writes a file such that `target` is, at any moment and after any crash, either what it was or complete:
/// `write` fills a temporary file beside it, which is then synced to disk and renamed. Whatever fails (a full
/// disk, say) leaves `target` untouched and no temporary behind, and is thrown as an Error that names
/// `target`. What is not replaceable is refused before `write` is called;
/// a symbolic link stays, and the file that it stands for is replaced.
void replace_file(const std::filesystem::path& target,
                  const std::function<void(const std::filesystem::path& temporary)>& write);

/// The same for a text.
void replace_text(const std::filesystem::path& target, std::string_view text);

}  // namespace convoke::run
