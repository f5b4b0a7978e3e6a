#include "convoke/run/checkpoint_interval.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <optional>

#include "convoke/core/error.hpp"

namespace convoke::run {
namespace {

struct Quantity {
  double number;
  std::string unit;  ///< without blanks before it
};

// Parses "10 min" into 10 and "min". Empty if the text does not begin with a number from 0 to 1e15.
std::optional<Quantity> quantity(const std::string& text) {
  constexpr double kMost = 1e15;
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || !std::isfinite(number) || number < 0 || number > kMost) return std::nullopt;
  std::string unit(end);
  unit.erase(0, unit.find_first_not_of(' '));
  return Quantity{number, unit};
}

// Returns the seconds of a unit of time; 0 for other units.
double seconds_of(const std::string& unit) {
  if (unit == "s" || unit == "seconds") return 1;
  if (unit == "min" || unit == "minutes") return 60;
  if (unit == "h" || unit == "hours") return 3600;
  return 0;
}

}  // namespace

CheckpointInterval CheckpointInterval::from(const std::string& text) {
  const auto refuse = [&]() -> CheckpointInterval {
    throw Error(
        fmt::format("\"{}\" is not an interval", text),
        R"(write epochs as 2 or "2 epochs", steps as "500 steps", time as "90 s", "10 min" or "1 h")");
  };
  const std::optional<Quantity> given = quantity(text);
  if (!given) return refuse();
  if (const double unit = seconds_of(given->unit); unit > 0) {
    return {.epochs = 0, .steps = 0, .seconds = given->number * unit};
  }
  if (given->number != std::floor(given->number)) return refuse();
  const auto count = static_cast<std::int64_t>(given->number);
  if (given->unit.empty() || given->unit == "epochs" || given->unit == "epoch") return {.epochs = count};
  if (given->unit == "steps" || given->unit == "step") return {.epochs = 0, .steps = count};
  return refuse();
}

std::string CheckpointInterval::to_string() const {
  if (steps > 0) return fmt::format("{} steps", steps);
  if (seconds > 0) return fmt::format("{} s", seconds);
  return fmt::format("{}", epochs);
}

double seconds_from(const std::string& text) {
  const std::optional<Quantity> given = quantity(text);
  const double unit = !given ? 0 : given->unit.empty() ? 1 : seconds_of(given->unit);
  if (unit > 0) return given->number * unit;
  throw Error(fmt::format("\"{}\" is not a time", text), R"(write "90 s", "10 min" or "1.5 h")");
}

}  // namespace convoke::run
