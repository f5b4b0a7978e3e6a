#include "page_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <system_error>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/report/figures.hpp"
#include "convoke/run/atomic_file.hpp"

namespace convoke::app {
namespace {

void require_writable(const std::filesystem::path& file) {
  const std::string hint = "name a file in a folder that exists and that you may write to";
  if (std::filesystem::is_directory(file)) throw Error(file.string() + ": is a folder", hint);
  const std::filesystem::path trial = file.string() + ".tmp";
  errno = 0;
  const bool written = static_cast<bool>(std::ofstream(trial));
  const std::string reason = std::generic_category().message(errno);
  std::error_code ignored;
  std::filesystem::remove(trial, ignored);
  if (!written) throw Error(fmt::format("{}: cannot be written: {}", file.string(), reason), hint);
}

void require_folder(const std::filesystem::path& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) {
    throw Error(fmt::format("{}: cannot be made: {}", folder.string(), failed.message()),
                "name a folder that is not there, or one that you may write to");
  }
  require_writable(folder / "figure");
}

void write_page(const report::Page& page, const std::filesystem::path& file) {
  const std::string html = page.html();
  run::replace_text(file, html);
  fmt::print("{}: {}\n", file.string(), format_bytes(html.size()));
}

void write_figures(const report::Page& page, const std::filesystem::path& folder) {
  const report::FiguresWritten written =
      report::write_figures(page.charts(), page.tables(), folder, page.galleries());
  if (!written.notice.empty()) fmt::print(stderr, "note: {}\n", written.notice);
  fmt::print("{}: {} files\n", folder.string(), written.files.size());
}

}  // namespace

void require_outputs(const std::filesystem::path& html, const std::filesystem::path& figures) {
  if (!html.empty()) {
    report::require_charts();
    require_writable(html);
  }
  if (!figures.empty()) require_folder(figures);
}

void write_outputs(const report::Page& page, const std::filesystem::path& html,
                   const std::filesystem::path& figures) {
  if (!html.empty()) write_page(page, html);
  if (!figures.empty()) write_figures(page, figures);
}

void write_page_or_warn(const std::function<report::Page()>& make, const std::filesystem::path& file) {
  const auto warn = [&](const std::exception& error, const std::string& hint) {
    fmt::print(stderr, "warning: there is no {}: {}{}{}\n", file.filename().string(), error.what(),
               hint.empty() ? "" : "; hint: ", hint);
  };
  try {
    report::require_charts();
    run::replace_text(file, make().html());
  } catch (const Error& error) {
    warn(error, error.hint());
  } catch (const std::exception& error) {
    warn(error, {});
  }
}

}  // namespace convoke::app
