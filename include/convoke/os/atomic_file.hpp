#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace convoke::os {

/// Whether a written file survives a crash of the machine; kSynced waits for the disk.
enum class Durability { kSynced, kUnsynced };

/// A file that is written atomically: at any moment and after any crash, `target` is either unchanged or
/// complete. It is written under a unique name in the same folder and renamed by commit(). A replaced file
/// keeps its mode; if `target` is a symbolic link, the link stays and the file that it points to is replaced.
class AtomicFile {
 public:
  /// Creates the temporary file, empty. Throws Error naming `target` if that fails, or if `target` is not
  /// replaceable (see below).
  explicit AtomicFile(const std::filesystem::path& target);
  ~AtomicFile();  ///< without commit(), removes the temporary file
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// The file that the caller opens, writes, and closes before commit().
  const std::filesystem::path& temporary() const { return temporary_; }
  /// Renames the file to its final name. Throws Error.
  void commit(Durability durability = Durability::kSynced);

 private:
  std::filesystem::path target_, temporary_;
};

/// True if `name` exists in a folder that everybody can write to, such as /tmp, and neither this user nor the
/// owner of that folder made it: it may be there to mislead a program.
bool is_foreign(const std::filesystem::path& name);

/// Throws Error naming `target` if it is a folder, a device, a pipe, or the file that this program's output
/// goes to. For programs that check before they compute.
void require_replaceable(const std::filesystem::path& target);

/// Throws Error naming `target` if it is the file `input`, by whatever name or link: writing it would destroy
/// what is read.
void require_other_file(const std::filesystem::path& target, const std::filesystem::path& input);

/// Writes a file atomically: `write` fills the temporary file. On any failure (for example a full disk),
/// `target` stays unchanged, no temporary file remains, and an Error that names `target` is thrown.
void replace_file(const std::filesystem::path& target,
                  const std::function<void(const std::filesystem::path& temporary)>& write,
                  Durability durability = Durability::kSynced);

/// Does the same for a text.
void replace_text(const std::filesystem::path& target, std::string_view text,
                  Durability durability = Durability::kSynced);

/// Renames `temporary`, a complete file or folder, to `path`; a file or folder of that name is removed. If
/// the file system can exchange two folders, the name refers to the old or the new one at any moment. Throws
/// Error, and removes `temporary`, if renaming fails.
void replace_path(const std::filesystem::path& temporary, const std::filesystem::path& path);

/// True if a file of this name may be the temporary file of an AtomicFile.
bool is_temporary(const std::filesystem::path& file);

/// Removes files that killed writers left in `folder`. Call it only if no other process writes there.
void remove_temporaries(const std::filesystem::path& folder);

/// Returns an unused name in the folder of `file`, "FILE.0123456789ab.tmp", and creates the file, empty, with
/// `mode` before the umask. Throws Error naming `file`.
std::filesystem::path make_temporary(const std::filesystem::path& file, unsigned mode = 0666);

}  // namespace convoke::os
