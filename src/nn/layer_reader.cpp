#include "convoke/nn/layer_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "convoke/core/error.hpp"

namespace convoke::nn {
namespace {

constexpr std::string_view kInteger = "integer", kNumber = "number", kExtent = "number or [height, width]",
                           kBorder = "number, [height, width] or [top, bottom, left, right]";

std::string quoted(std::string_view name) { return fmt::format("\"{}\"", name); }

/// "a", "b" or "c".
std::string alternatives(const std::vector<std::string_view>& names) {
  std::string text;
  for (const std::string_view& name : names) {
    const bool last = &name == &names.back();
    text += (text.empty() ? "" : last ? " or " : ", ") + quoted(name);
  }
  return text;
}

std::optional<Padding> named_padding(const std::string& text, bool causal) {
  if (text == "valid") return Padding::valid();
  if (text == "same") return Padding::same();
  if (text == "causal" && causal) return Padding::causal();
  return std::nullopt;
}

bool any_negative(const std::vector<std::int64_t>& list) {
  return std::any_of(list.begin(), list.end(), [](std::int64_t amount) { return amount < 0; });
}

std::string_view name_of(Padding::Kind kind) {
  return kind == Padding::Kind::kSame ? "same" : kind == Padding::Kind::kCausal ? "causal" : "valid";
}

/// Returns `key` as text, or "" if it is a number.
std::string text_of(SettingsReader& read, std::string_view key) {
  try {
    return read.get(key, std::string());
  } catch (const Error&) {
    return {};
  }
}

const Settings kNothing;

}  // namespace

LayerReader::LayerReader(const Settings& settings, std::string_view layer)
    : LayerReader(settings, layer, false) {}
LayerReader::LayerReader(const Settings& settings, std::string_view layer, bool describing)
    : SettingsReader(settings, fmt::format("layer \"{}\"", layer)), describing_(describing) {}

LayerReader LayerReader::describing() { return {kNothing, "", true}; }

bool LayerReader::given(std::string_view key, std::string_view kind, std::optional<Value> fallback,
                        std::string_view help) {
  if (describing_) {
    keys_.push_back({std::string(key), std::string(kind), false, std::move(fallback), std::string(help)});
  }
  return has(key);
}

bool LayerReader::given_required(std::string_view key, std::string_view kind, std::string_view help) {
  given(key, kind, std::nullopt, help);
  if (describing_) {
    keys_.back().required = true;
    return false;
  }
  require_value(key);
  return true;
}

void LayerReader::check(std::string_view key, bool holds, std::string_view expected) const {
  if (!describing_) SettingsReader::check(key, holds, expected);
}

void LayerReader::require(bool holds, const std::string& message, const std::string& hint) const {
  if (!holds && !describing_) fail(message, hint);
}

bool LayerReader::get(std::string_view key, bool fallback, std::string_view help) {
  return given(key, "true or false", fallback, help) ? SettingsReader::get(key, fallback) : fallback;
}

std::int64_t LayerReader::get(std::string_view key, std::int64_t fallback, std::string_view help) {
  return given(key, kInteger, fallback, help) ? SettingsReader::get(key, fallback) : fallback;
}

double LayerReader::get(std::string_view key, double fallback, std::string_view help) {
  return given(key, kNumber, fallback, help) ? SettingsReader::get(key, fallback) : fallback;
}

std::string LayerReader::text(std::string_view key, std::string_view help) {
  return given(key, "text", std::nullopt, help) ? SettingsReader::get(key, "") : "";
}

std::vector<std::string> LayerReader::texts(std::string_view key, std::string_view help) {
  if (!given(key, "list of texts", std::nullopt, help)) return {};
  return SettingsReader::get(key, std::vector<std::string>{});
}

double LayerReader::require_number(std::string_view key, std::string_view help) {
  return given_required(key, kNumber, help) ? SettingsReader::get(key, 0.0) : 0;
}

std::vector<double> LayerReader::require_numbers(std::string_view key, std::string_view kind,
                                                 std::string_view help) {
  if (!given_required(key, kind, help)) return {};
  return SettingsReader::get(key, std::vector<double>{});
}

std::vector<std::int64_t> LayerReader::require_integers(std::string_view key, std::string_view kind,
                                                        std::string_view help) {
  if (!given_required(key, kind, help)) return {};
  return SettingsReader::get(key, std::vector<std::int64_t>{});
}

std::int64_t LayerReader::count(std::string_view key, std::int64_t fallback, std::string_view help) {
  const std::int64_t number = get(key, fallback, help);
  check(key, number >= 1, "at least 1");
  return number;
}

std::int64_t LayerReader::require_count(std::string_view key, std::string_view help) {
  const std::int64_t number = given_required(key, kInteger, help) ? require_int(key) : 1;
  check(key, number >= 1, "at least 1");
  return number;
}

std::string LayerReader::choice(std::string_view key, std::string_view fallback,
                                const std::vector<std::string_view>& names, std::string_view help) {
  const std::string all = alternatives(names);
  const std::string name(fallback);
  const std::string chosen = given(key, all, Value(name), help) ? SettingsReader::get(key, name) : name;
  check(key, std::find(names.begin(), names.end(), chosen) != names.end(), all);
  return chosen;
}

Extent LayerReader::read_extent(std::string_view key, std::int64_t least) {
  const auto list = SettingsReader::get(key, std::vector<std::int64_t>{});
  if (list.empty() || list.size() > 2 || *std::min_element(list.begin(), list.end()) < least) {
    fail(fmt::format("\"{0}\" must be a number >= {1} or [height, width], each >= {1}", key, least));
  }
  return {list.front(), list.back()};
}

Extent LayerReader::extent(std::string_view key, Extent fallback, std::string_view help) {
  return given(key, kExtent, write_extent(fallback), help) ? read_extent(key, 1) : fallback;
}

Extent LayerReader::require_extent(std::string_view key, std::string_view help) {
  return given_required(key, kExtent, help) ? read_extent(key, 1) : Extent(1);
}

std::optional<Extent> LayerReader::optional_extent(std::string_view key, std::string_view help) {
  if (!given(key, kExtent, std::nullopt, help)) return std::nullopt;
  return read_extent(key, 1);
}

std::optional<Extent> LayerReader::extent_or_auto(std::string_view key, std::string_view help) {
  if (!given(key, "\"auto\", number or [height, width]", Value("auto"), help)) return std::nullopt;
  const std::string text = text_of(*this, key);
  if (text == "auto") return std::nullopt;
  if (!text.empty()) fail(fmt::format("\"{}\" must be \"auto\", a number >= 0 or [height, width]", key));
  return read_extent(key, 0);
}

Padding LayerReader::padding(std::string_view key, Padding fallback, std::string_view help) {
  if (!given(key, fmt::format("\"valid\", \"same\", {}", kBorder), write_padding(fallback), help))
    return fallback;
  const std::string text = text_of(*this, key);
  if (const auto named = named_padding(text, false)) return *named;
  const auto list =
      text.empty() ? SettingsReader::get(key, std::vector<std::int64_t>{}) : std::vector<std::int64_t>{};
  const std::size_t count = list.size();
  if ((count != 1 && count != 2 && count != 4) || any_negative(list)) {
    fail(
        fmt::format("\"{}\" must be \"valid\", \"same\", a number >= 0, [height, width] or [top, bottom, "
                    "left, right]",
                    key));
  }
  if (count == 4) return Padding::by({list[0], list[2]}, {list[1], list[3]});
  return Padding::by({list.front(), list.back()});
}

Padding LayerReader::padding1d(std::string_view key, Padding fallback, bool causal, std::string_view help) {
  const std::string_view third = causal ? "\"causal\", " : "";
  if (!given(key, fmt::format("\"valid\", \"same\", {}number or [before, after]", third),
             write_padding1d(fallback), help))
    return fallback;
  const std::string text = text_of(*this, key);
  if (const auto named = named_padding(text, causal)) return *named;
  const auto list =
      text.empty() ? SettingsReader::get(key, std::vector<std::int64_t>{}) : std::vector<std::int64_t>{};
  if (list.empty() || list.size() > 2 || any_negative(list)) {
    fail(fmt::format("\"{}\" must be \"valid\", \"same\", {}a number >= 0 or [before, after]", key, third));
  }
  return Padding::by({0, list.front()}, {0, list.back()});
}

Border LayerReader::border(std::string_view key, std::optional<std::int64_t> fallback,
                           std::string_view help) {
  const bool there =
      fallback ? given(key, kBorder, Value(*fallback), help) : given_required(key, kBorder, help);
  if (!there) return fallback.value_or(0);
  const auto list = SettingsReader::get(key, std::vector<std::int64_t>{});
  const std::size_t count = list.size();
  if ((count != 1 && count != 2 && count != 4) || any_negative(list)) {
    fail(fmt::format("\"{}\" must be a number >= 0, [height, width] or [top, bottom, left, right]", key));
  }
  if (count == 4) return {{list[0], list[2]}, {list[1], list[3]}};
  return Extent(list.front(), list.back());
}

Initializer LayerReader::initializer(std::string_view key, const Initializer& fallback,
                                     std::string_view help) {
  return given(key, "name or table", fallback.write(), help) ? Initializer(table(key)) : fallback;
}

Initializers LayerReader::initializers() {
  const Initializers defaults;
  return {initializer("initializer", defaults.weight, "initial values of the weights"),
          initializer("bias_initializer", defaults.bias, "initial values of the biases")};
}

Value write_extent(Extent extent) {
  if (extent.height == extent.width) return extent.height;
  return Value::Array{extent.height, extent.width};
}

Value write_padding(const Padding& padding) {
  if (padding.kind != Padding::Kind::kExplicit) return name_of(padding.kind);
  const Extent &before = padding.before, &after = padding.after;
  if (before == after) return write_extent(before);
  return Value::Array{before.height, after.height, before.width, after.width};
}

Value write_padding1d(const Padding& padding) {
  if (padding.kind != Padding::Kind::kExplicit) return name_of(padding.kind);
  if (padding.before == padding.after) return padding.before.width;
  return Value::Array{padding.before.width, padding.after.width};
}

Value write_border(const Border& border) { return write_padding(Padding::by(border.before, border.after)); }

}  // namespace convoke::nn
