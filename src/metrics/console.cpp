#include "convoke/metrics/console.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string_view>

#include "convoke/core/text.hpp"
#include "convoke/os/clock.hpp"
#include "convoke/os/standard_output.hpp"

namespace convoke::metrics {
namespace {

constexpr double kRedrawSeconds = 0.1;
constexpr double kPlainSeconds = 30;
constexpr std::string_view kEraseLine = "\r\x1b[K";

void add(std::string& line, const std::string& part) {
  if (part.empty()) return;
  if (!line.empty()) line += "  ";
  line += part;
}

std::string epoch_text(std::int64_t epoch, std::int64_t epochs) {
  if (epoch <= 0) return {};
  return epochs > 0 ? fmt::format("epoch {}/{}", epoch, epochs) : fmt::format("epoch {}", epoch);
}

std::string number_text(const std::string& name, double value) {
  if (std::isnan(value)) return {};
  return name + " " + (std::isinf(value) ? "not finite" : format_fixed(value, 4));
}

std::string rate_text(double images_per_second) {
  if (!(images_per_second > 0) || images_per_second > 1e15) return {};
  return format_count(std::llround(images_per_second)) + " images/s";
}

// Whole seconds: tenths would only flicker.
std::string remaining_text(double seconds) {
  return seconds < 59 ? format_fixed(std::ceil(seconds), 0) + " s" : format_duration(std::max(seconds, 60.0));
}

// The most important fields come first, since a narrow terminal cuts the line.
void add_fields(std::string& line, const EpochFields& fields) {
  add(line, epoch_text(fields.epoch, fields.epochs));
  add(line, number_text("loss", fields.loss));
  add(line, number_text("accuracy", fields.accuracy));
  add(line, number_text("validation loss", fields.validation_loss));
  add(line, number_text("validation objective", fields.validation_objective));
  add(line, number_text("validation accuracy", fields.validation_accuracy));
  add(line, rate_text(fields.images_per_second));
  if (fields.seconds > 0) add(line, format_duration(fields.seconds));
}

}  // namespace

Console standard_error() {
  return {.write =
              [](std::string_view text) {
                std::fwrite(text.data(), 1, text.size(), stderr);
                std::fflush(stderr);
              },
          .now = [watch = os::Stopwatch()] { return watch.seconds(); },
          .width = [terminal = std::make_shared<os::Terminal>()] { return terminal->width(); }};
}

std::string_view first_columns(std::string_view text, std::size_t columns) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool starts_character = (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80;
    if (starts_character && columns-- == 0) return text.substr(0, i);
  }
  return text;
}

void LiveBlock::clear() noexcept try {
  // Go to the first of the lines, and erase from there on.
  if (drawn_ > 0) console_.write(fmt::format("\x1b[{}A\r\x1b[J", drawn_));
  drawn_ = 0;
} catch (...) {
}

void LiveBlock::draw(const std::vector<std::string>& lines) noexcept try {
  const int width = console_.width();
  if (width <= 0) return;
  std::string text = drawn_ > 0 ? fmt::format("\x1b[{}A\r\x1b[J", drawn_) : std::string();
  // The last column stays free: writing there makes some terminals wrap.
  for (const std::string& line : lines) {
    text += std::string(first_columns(line, static_cast<std::size_t>(width - 1))) + "\n";
  }
  console_.write(text);
  drawn_ = lines.size();
} catch (...) {
}

void LiveBlock::note(std::string_view line) noexcept try {
  clear();
  console_.write(std::string(line) + "\n");
} catch (...) {
}

Progress::Progress(std::string title, std::int64_t total_steps, bool active)
    : title_(std::move(title)), total_steps_(total_steps) {
  if (active) console_ = standard_error();
}

Progress::Progress(std::string title, std::int64_t total_steps, Console console)
    : title_(std::move(title)), total_steps_(total_steps), console_(std::move(console)) {}

// mnist-ensemble  37 %  ETA 12 s  epoch 2/5  loss 0.1043  accuracy 0.9712  6,120 images/s
std::string Progress::line(std::int64_t step, const ProgressFields& fields, double now) const {
  std::string line = title_;
  if (total_steps_ > 0)
    add(line, std::to_string(std::clamp<std::int64_t>(100 * step / total_steps_, 0, 100)) + " %");
  if (step > start_->step && step < total_steps_) {
    const double seconds_per_step = (now - start_->seconds) / static_cast<double>(step - start_->step);
    add(line, "ETA " + remaining_text(seconds_per_step * static_cast<double>(total_steps_ - step)));
  }
  add_fields(line, fields);
  return line;
}

void Progress::update(std::int64_t step, const ProgressFields& fields) noexcept try {
  if (!console_) return;
  const double now = console_->now();
  if (now < next_) return;
  const int width = console_->width();
  const bool first = !start_;
  if (first) start_ = Mark{step, now};
  if (width > 0) {
    // The last column stays free: writing there makes some terminals wrap.
    const std::string text = line(step, fields, now);
    console_->write(std::string(kEraseLine) +
                    std::string(first_columns(text, static_cast<std::size_t>(width - 1))));
    live_ = true;
    next_ = now + kRedrawSeconds;
  } else {
    if (!first) keep(line(step, fields, now));
    next_ = now + kPlainSeconds;
  }
} catch (...) {
}

// epoch 2/5  loss 0.1043  accuracy 0.9712  validation loss 0.0931  validation accuracy 0.9733  6,120 images/s
// 9.8 s
void Progress::epoch_line(const EpochFields& fields) noexcept try {
  if (!console_) return;
  std::string line = title_;
  add_fields(line, fields);
  keep(line);
  if (console_->width() == 0) next_ = console_->now() + kPlainSeconds;
} catch (...) {
}

void Progress::note(std::string_view text) noexcept try {
  if (console_) keep(std::string(text));
} catch (...) {
}

void Progress::warn(std::string_view text) noexcept try {
  const std::string line = fmt::format("warning: {}: {}", title_, text);
  console_ ? keep(line) : fmt::print(stderr, "{}\n", line);
} catch (...) {
}

void Progress::finish() noexcept try {
  if (console_ && live_) console_->write(kEraseLine);
  live_ = false;
} catch (...) {
}

void Progress::keep(const std::string& text) {
  console_->write((live_ ? std::string(kEraseLine) : std::string()) + text + '\n');
  if (live_) next_ = console_->now();  // the live line comes back with the next update
  live_ = false;
}

}  // namespace convoke::metrics
