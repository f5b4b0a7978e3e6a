#pragma once
#include <filesystem>
#include <functional>
#include <string_view>

namespace convoke::run {

/// Writes a file such that `target` is, at any moment and after any crash, either what it was or complete:
/// `write` fills a temporary file beside it, which is then synced to disk and renamed. Whatever fails (a full
/// disk, say) leaves `target` untouched and no temporary behind, and is thrown as an Error that names
/// `target`.
void replace_file(const std::filesystem::path& target,
                  const std::function<void(const std::filesystem::path& temporary)>& write);

/// The same for a text.
void replace_text(const std::filesystem::path& target, std::string_view text);

}  // namespace convoke::run
