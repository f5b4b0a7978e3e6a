#include "convoke/run/run_status.hpp"

#include <chrono>
#include <exception>
#include <utility>

#include "convoke/core/error.hpp"
#include "convoke/core/keys.hpp"
#include "convoke/core/settings.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/os/atomic_file.hpp"

namespace convoke::run {
namespace {

constexpr std::array kStatusFields{
    field<&RunStatus::title>("title"),
    field<&RunStatus::epoch>("epoch"),
    field<&RunStatus::epochs>("epochs"),
    field<&RunStatus::step>("step"),
    field<&RunStatus::steps>("steps"),
    field<&RunStatus::loss>("loss"),
    field<&RunStatus::accuracy>("accuracy"),
    field<&RunStatus::images_per_second>("images_per_second"),
    field<&RunStatus::eta_seconds>("eta_seconds"),
    field<&RunStatus::job_seconds_left>("job_seconds_left"),
};

using namespace std::chrono_literals;

constexpr auto kInterval = 2s;

}  // namespace

StatusWriter::StatusWriter(std::filesystem::path file, Deadline job_end)
    : file_(std::move(file)),
      job_end_(job_end),
      writer_(std::in_place, kInterval, [this] { write_news(); }) {}

StatusWriter::~StatusWriter() {
  writer_.reset();
  write_news();
}

void StatusWriter::publish(const RunStatus& status) {
  const std::lock_guard lock(mutex_);
  if (!first_ || first_->title != status.title) first_ = Mark{status.title, status.step, {}};
  news_ = status;
  if (status.step <= first_->step) return;
  const double seconds_per_step = first_->since.seconds() / static_cast<double>(status.step - first_->step);
  news_->eta_seconds = static_cast<double>(status.steps - status.step) * seconds_per_step;
}

// Not synced: the status is worthless after a crash.
void StatusWriter::write_news() {
  std::optional<RunStatus> news;
  {
    const std::lock_guard lock(mutex_);
    news = std::exchange(news_, std::nullopt);
  }
  if (!news) return;
  if (job_end_) {
    news->job_seconds_left =
        std::chrono::duration<double>(*job_end_ - std::chrono::steady_clock::now()).count();
  }
  const std::string text = metrics::to_json(to_settings(kStatusFields, *news)) + "\n";
  try {
    os::replace_text(file_, text, os::Durability::kUnsynced);
  } catch (const std::exception&) {  // a status that cannot be written must not end the run
  }
}

std::optional<RunStatus> read_status(const std::filesystem::path& file) try {
  const std::optional<Settings> settings = metrics::read_json(file);
  if (!settings) return std::nullopt;
  return from_settings(kStatusFields, *settings, file.string());
} catch (const Error&) {
  return std::nullopt;
}

}  // namespace convoke::run
