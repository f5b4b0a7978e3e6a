#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace convoke::os {

/// Whether what was written survives a crash of the machine, for which the disk is waited for.
enum class Durability { kSynced, kUnsynced };

/// A file in the making: `target` is, at any moment and after any crash, either what it was or complete. It
/// is written under a name of its own in the same folder, which nobody else has, and renamed by commit(). A
/// file that is replaced keeps its mode; a symbolic link stays, and the file that it stands for is replaced.
class AtomicFile {
 public:
  /// Makes the temporary file, empty. Throws Error naming `target` if that cannot be, or if `target` is not
  /// replaceable (see below).
  explicit AtomicFile(const std::filesystem::path& target);
  ~AtomicFile();  ///< without commit() nothing remains of it
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// To be opened and written by the caller, and closed before commit().
  const std::filesystem::path& temporary() const { return temporary_; }
  /// Gives the file its name. Throws Error.
  void commit(Durability durability = Durability::kSynced);

 private:
  std::filesystem::path target_, temporary_;
};

/// Throws Error naming `target` if it is a folder, a device or a pipe, or a file that this program prints
/// into: for programs that want to know before they compute.
void require_replaceable(const std::filesystem::path& target);

/// Writes a file as above: `write` fills the temporary file. Whatever fails (a full disk, say) leaves
/// `target` untouched and no temporary behind, and is thrown as an Error that names `target`.
void replace_file(const std::filesystem::path& target,
                  const std::function<void(const std::filesystem::path& temporary)>& write,
                  Durability durability = Durability::kSynced);

/// The same for a text.
void replace_text(const std::filesystem::path& target, std::string_view text,
                  Durability durability = Durability::kSynced);

/// Gives `temporary`, a complete file or folder, the name `path`; a file or folder of that name is removed.
/// At any moment the name means the old or the new one, where the file system can exchange two folders.
/// Throws Error, and removes `temporary`, if it cannot be renamed.
void replace_path(const std::filesystem::path& temporary, const std::filesystem::path& path);

/// Whether a file of this name may be the temporary file of an AtomicFile.
bool is_temporary(const std::filesystem::path& file);

/// Removes what writers that were killed have left in `folder`. Only where nobody else writes there.
void remove_temporaries(const std::filesystem::path& folder);

/// A name in the folder of `file` that no file has, "FILE.0123456789ab.tmp"; the file is made, empty, with
/// `mode` before the umask. Throws Error naming `file`.
std::filesystem::path make_temporary(const std::filesystem::path& file, unsigned mode = 0666);

}  // namespace convoke::os
